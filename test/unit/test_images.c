/*-------------------------------------------------------------------------
 *
 * test_images.c
 *		Images are the same on every machine, byte for byte.
 *
 * Makes images in every way there is from elements that never change, and
 * compares digests of their bytes with those that were found on x86-64.  The
 * seed on the command line changes nothing.
 *
 * A digest changes when elements come to lie in other places, which readers of
 * an image do not notice; then the new one belongs in the table below.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "unit.h"

/* FNV-1a over all images of a way */
static uint64_t digest;
static int	images;

static void
take(const UnitFilter *f)
{
	for (uint64_t i = 0; i < cuckoo_image_size(&f->h); i++)
		digest = (digest ^ f->image[i]) * UINT64_C(0x100000001b3);
	images++;
}

/* Filters of every width, exact fits from few buckets to enough for windows. */
static bool
next_geometry(CuckooHeader *h, uint64_t *n, int round)
{
	static const uint64_t sizes[] = {0, 1, 7, 100, 1000, 5000, 65000};
	int			bits = 8 + round / 7;

	*n = sizes[round % 7] + unit_below(sizes[round % 7] / 10 + 1);
	return bits <= 32 &&
		cuckoo_header_exact(h, *n, bits, unit_random()) == CUCKOO_OK;
}

/* The same by capacity, with segments as windows or without windows. */
static bool
next_sized(CuckooHeader *h, uint64_t n, int round)
{
	return cuckoo_header_sized(h, round % 2 ? n : 1500000 + 20 * n,
							   h->fpp_bits, 1) == CUCKOO_OK;
}

static void
build(UnitFilter *f, const CuckooHeader *h, const uint64_t *hashes, uint64_t n)
{
	void	   *slots = unit_alloc(cuckoo_build_size(h));
	CuckooHeader built = *h;

	if (cuckoo_build(&built, hashes, n, slots) == CUCKOO_OK)
	{
		unit_filter_init(f, &built);
		cuckoo_build_pack(&built, slots, f->image);
		take(f);
		unit_filter_free(f);
	}
	else
		digest ^= 1;			/* full */
	free(slots);
}

/* Sorted distinct hashes, some of which look the same to a filter. */
static void
built_images(void)
{
	CuckooHeader h;
	UnitFilter	f;
	uint64_t	n;

	for (int round = 0; next_geometry(&h, &n, round); round++)
	{
		uint64_t   *hashes = unit_alloc(n * sizeof(uint64_t));
		uint64_t	step = UINT64_MAX / (n + 1);

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = i % 5 == 4 ? hashes[i - 1] + (UINT64_C(1) << 32) :
				step * i + unit_below(step / 2);
		build(&f, &h, hashes, n);
		if (next_sized(&h, n, round))
		{
			while (CUCKOO_TARGET_ITEMS(h.buckets) < n)
				CHECK(cuckoo_header_set_level(&h, h.level + 1) == CUCKOO_OK,
					  "round %d", round);
			build(&f, &h, hashes, n);
		}
		free(hashes);
	}
}

/* Elements added one by one, some twice; grown if full; some deleted again. */
static void
changed_images(void)
{
	CuckooHeader h;
	UnitFilter	f;
	uint64_t	n;

	for (int round = 0; next_geometry(&h, &n, round); round++)
	{
		uint64_t	start;

		if (!next_sized(&h, n, round))
			continue;
		unit_filter_init(&f, &h);
		start = unit_state;
		for (uint64_t i = 0; i < n; i++)
		{
			uint64_t	hash = unit_random();

			unit_filter_add(&f, hash, 2);
			if (i % 7 == 0)
				unit_filter_add(&f, hash, 2);
		}
		take(&f);

		unit_state = start;
		for (uint64_t i = 0; i < n - n / 4; i++)
			cuckoo_remove(&f.h, f.image, unit_random());
		take(&f);
		while (f.h.level > 0 && unit_filter_shrink(&f) == CUCKOO_OK)
			take(&f);
		unit_filter_free(&f);
	}
}

/* Builds near the load at which they fail, so that evictions reach their limits. */
static void
full_images(void)
{
	CuckooHeader h;
	UnitFilter	f;

	for (int round = 0; round < 400; round++)
	{
		uint64_t	n;
		uint64_t   *hashes;

		CHECK(cuckoo_header_sized(&h, UINT64_C(60) << round % 9, 8 + round % 5,
								  1) == CUCKOO_OK, "round %d", round);
		for (int i = round % 4 < 3 ? round % 4 : 30; i > 0; i--)
			(void) cuckoo_header_set_level(&h, h.level + 1);
		n = (uint64_t) h.buckets * (3870 + unit_below(50)) / 1000;
		hashes = unit_alloc(n * sizeof(uint64_t));
		for (uint64_t i = 0; i < n; i++)
			hashes[i] = UINT64_MAX / n * i + unit_below(UINT64_MAX / n);
		build(&f, &h, hashes, n);
		free(hashes);
	}
}

static void
check(const char *way, void (*make) (void), uint64_t expected)
{
	digest = UINT64_C(0xcbf29ce484222325);
	images = 0;
	unit_state = 1;
	make();
	printf("%s: %d images, digest %016" PRIx64 "\n", way, images, digest);
	CHECK(digest == expected, "%s, not %016" PRIx64, way, expected);
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_images");
	TEST(check("built", built_images, UINT64_C(0xebf0c4327c7569ec)));
	TEST(check("changed", changed_images, UINT64_C(0x2f021b549d9bbbaa)));
	TEST(check("full", full_images, UINT64_C(0x8865d7d2cd00cddf)));
	return unit_end();
}
