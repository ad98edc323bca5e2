/*-------------------------------------------------------------------------
 *
 * fuzz_corrupt.c
 *		Images that pass the check of the header, and no other: what a damaged
 *		page is.
 *
 * Nothing may be read or written out of bounds, nor be undefined, in whatever
 * looks into such an image or changes it.  All lookups give one answer.  The
 * core's own assertions are off, as in a release.
 *
 *-------------------------------------------------------------------------
 */
#include "family.h"
#include "fuzz.h"

#define HASHES	10				/* more than two parts of a batch */

static void
look(const UnitFilter *f, const uint64_t *hashes, size_t n)
{
	bool		found[HASHES];

	cuckoo_contains_batch(&f->h, f->image, hashes, n, found);
	for (size_t i = 0; i < n; i++)
	{
		int			copies = cuckoo_copies(&f->h, f->image, hashes[i]);
		CuckooProbe probe;

		cuckoo_probe_init(&probe, &f->h, hashes[i]);
		CHECK(found[i] == (copies > 0) &&
			  found[i] == cuckoo_contains(&f->h, f->image, hashes[i]) &&
			  copies == cuckoo_probe_copies(&probe, &f->h,
											f->image + probe.offset[0],
											f->image + probe.offset[1]),
			  "%d copies", copies);
		cuckoo_prefetch(&f->h, f->image, hashes[i]);
	}
}

/* As cf_union() and the like do. */
static void
combine(const UnitFilter *f, CuckooMerge how, uint64_t *hashes)
{
	Run			run = {unit_alloc(f->h.items * sizeof(uint64_t)), f->h.items};
	uint64_t   *scratch = unit_alloc(f->h.items * sizeof(uint64_t));

	if (cuckoo_keys_read(&f->h, f->image, run.keys, scratch) == CUCKOO_OK)
	{
		CuckooOverlap overlap;
		UnitFilter	built;
		Run			result;

		run.n = cuckoo_keys_limit(run.keys, run.n, 1 + unit_below(2));
		result = combined(how, run, run);
		built = filter_of(&f->h, result);
		unit_filter_free(&built);
		free(result.keys);
		cuckoo_overlap(&f->h, run.n, run.n,
					   cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, run.keys,
										 run.n, run.keys, run.n, NULL), &overlap);
		for (uint64_t i = 0; i < run.n && i < HASHES; i++)
			hashes[i] = run.keys[i];
	}
	free(run.keys);
	free(scratch);
}

static void
fuzz(void)
{
	UnitFilter	f;
	uint64_t	size;

	f.image = fuzz_image(MEND_HEADER, &size);
	if (cuckoo_header_read(&f.h, f.image, size) == CUCKOO_OK)
	{
		uint64_t	hashes[HASHES];

		for (int i = 0; i < HASHES; i++)
			hashes[i] = unit_random();
		cuckoo_capacity(&f.h);
		cuckoo_max_items(&f.h);
		cuckoo_fpp_now(&f.h);
		look(&f, hashes, HASHES);
		if (fuzz_share(0, 4))
			combine(&f, (CuckooMerge) unit_below(3), hashes);
		look(&f, hashes, HASHES);
		for (int i = 0; i < HASHES; i++)
			if (i % 8 == 7 && f.h.buckets < 512)
				unit_filter_grow(&f);
			else if (i % 8 == 3 && f.h.level > 0)
				unit_filter_shrink(&f);
			else if (i % 2 == 0)
				cuckoo_insert(&f.h, f.image, hashes[i], 1 + i % 3 % 2);
			else
				cuckoo_remove(&f.h, f.image, hashes[i / 2]);
	}
	free(f.image);
}
