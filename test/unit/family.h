/*-------------------------------------------------------------------------
 *
 * family.h
 *		Filters of one geometry as runs of keys, their models, and the laws of
 *		combining them: for test_keys.c, and for the fuzzers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FAMILY_H
#define FAMILY_H

#include "core/core.h"
#include "naive.h"
#include "unit.h"

#define FILTERS		3			/* of a family */

/* Filters grow up to so many buckets. */
#ifndef MOST_BUCKETS
#define MOST_BUCKETS	(1 << 20)
#endif

static uint64_t merged_keys;

typedef struct Run
{
	uint64_t   *keys;
	uint64_t	n;
} Run;

static inline Run
run_of(const UnitFilter *f)
{
	Run			run = {unit_alloc(f->h.items * sizeof(uint64_t)), f->h.items};
	uint64_t   *scratch = unit_alloc(f->h.items * sizeof(uint64_t));

	CHECK(cuckoo_keys_read(&f->h, f->image, run.keys, scratch) == CUCKOO_OK,
		  "%" PRIu64 " items", f->h.items);
	free(scratch);
	return run;
}

static inline Run
combined(CuckooMerge how, Run a, Run b)
{
	Run			run = {unit_alloc((a.n + b.n) * sizeof(uint64_t)), 0};

	run.n = cuckoo_keys_merge(how, a.keys, a.n, b.keys, b.n, run.keys);
	merged_keys += a.n + b.n;
	return run;
}

static inline bool
same_run(Run a, Run b)
{
	return a.n == b.n && memcmp(a.keys, b.keys, a.n * sizeof(uint64_t)) == 0;
}

/* The canonical filter of a run; no image if no level holds it. */
static inline UnitFilter
filter_of(const CuckooHeader *geometry, Run run)
{
	UnitFilter	f = {*geometry, NULL};
	uint64_t   *keys = unit_alloc(run.n * sizeof(uint64_t));
	uint64_t   *scratch = unit_alloc(run.n * sizeof(uint64_t));
	uint64_t   *ordered = keys;
	CuckooStatus status = cuckoo_keys_level(&f.h, run.n);
	int			from = 0;

	memcpy(keys, run.keys, run.n * sizeof(uint64_t));
	while (status == CUCKOO_OK && f.image == NULL)
	{
		void	   *slots = unit_alloc(cuckoo_build_size(&f.h));

		ordered = cuckoo_sort_bits(ordered, run.n, ordered == keys ? scratch : keys,
								   CUCKOO_FIXED_BITS + from,
								   CUCKOO_FIXED_BITS + f.h.level);
		from = f.h.level;
		status = cuckoo_build(&f.h, ordered, run.n, slots);
		if (status == CUCKOO_OK)
		{
			CHECK(f.h.items <= run.n, "%" PRIu64 " of %" PRIu64, f.h.items, run.n);
			f.image = unit_alloc(cuckoo_image_size(&f.h));
			cuckoo_build_pack(&f.h, slots, f.image);
		}
		else
			status = cuckoo_is_crafted(&f.h, run.n) ? CUCKOO_CRAFTED
				: cuckoo_header_set_level(&f.h, f.h.level + 1);
		free(slots);
	}
	free(keys);
	free(scratch);
	return f;
}

static inline bool
same_image(const UnitFilter *a, const UnitFilter *b)
{
	if (a->image == NULL || b->image == NULL)
		return a->image == b->image;
	return cuckoo_image_size(&a->h) == cuckoo_image_size(&b->h) &&
		memcmp(a->image, b->image, cuckoo_image_size(&a->h)) == 0;
}

/* Compares the filter of a run with another one, and forgets both. */
static inline void
check_same(const CuckooHeader *geometry, Run run, Run other, const char *law)
{
	UnitFilter	a = filter_of(geometry, run);
	UnitFilter	b = filter_of(geometry, other);

	CHECK(same_run(run, other), "%s: other keys", law);
	CHECK(same_image(&a, &b), "%s: other bytes", law);
	unit_filter_free(&a);
	unit_filter_free(&b);
	free(run.keys);
	free(other.keys);
}

static inline NaiveClass
hash_class(const CuckooHeader *h, uint64_t hash)
{
	return naive_class(h->base, h->windows, h->base_bits, hash);
}

/* A filter of the geometry, and what it holds by the model. */
static inline void
fill(UnitFilter *f, NaiveModel *model, const CuckooHeader *geometry,
	 const uint64_t *universe, uint64_t size)
{
	uint64_t	n = unit_below(8) == 0 ? 0 : unit_below(size + 1);
	uint64_t	from = unit_below(size);
	int			copies = 1 + (int) unit_below(2);
	int			levels = (int) unit_below(4);

	unit_filter_init(f, geometry);
	naive_model_init(model, n);
	for (uint64_t i = 0; i < n; i++)
	{
		uint64_t	hash = universe[(from + i * 7919) % size];
		NaiveClass	c = hash_class(geometry, hash);
		int			count = naive_count(model, c);

		if (unit_filter_add(f, hash, copies) == CUCKOO_OK)
			naive_set(model, c, count + 1);
	}
	for (uint64_t i = 0; i < n / 3 && unit_below(3) == 0; i++)
	{
		uint64_t	hash = universe[(from + unit_below(n) * 7919) % size];

		if (cuckoo_remove(&f->h, f->image, hash) == CUCKOO_OK)
			naive_set(model, hash_class(geometry, hash), 0);
	}
	while (levels-- > 0 && f->h.buckets < MOST_BUCKETS)
		if (levels % 2 == 0)
			unit_filter_grow(f);
		else if (f->h.level > 0)
			unit_filter_shrink(f);
}

/* A run is in order, and has the copies that the model has of each class. */
static inline void
check_run(const CuckooHeader *h, Run run, const NaiveModel *model)
{
	uint64_t	disorder = 0;
	uint64_t	wrong = 0;

	for (uint64_t i = 0; i < run.n; i++)
	{
		NaiveClass	c = hash_class(h, run.keys[i]);
		int			copies = 1 + ((i > 0 && run.keys[i - 1] == run.keys[i]) ||
								  (i + 1 < run.n && run.keys[i + 1] == run.keys[i]));

		disorder += i > 0 && run.keys[i] < run.keys[i - 1];
		wrong += naive_count(model, c) != copies;
		wrong += naive_scale(run.keys[i], h->base) != c.low;
	}
	CHECK(disorder == 0, "%" PRIu64 " keys out of order", disorder);
	CHECK(wrong == 0, "%" PRIu64 " of %" PRIu64 " keys unlike the model", wrong,
		  run.n);
	CHECK(run.n == model->sum, "%" PRIu64 " keys, not %" PRIu64, run.n,
		  model->sum);
}

/* A combination of runs is that of their models, class by class. */
static inline void
check_merge(CuckooMerge how, const CuckooHeader *h, Run a, Run b,
			const NaiveModel *of_a, const NaiveModel *of_b)
{
	Run			run = combined(how, a, b);
	NaiveModel	expected;

	naive_model_init(&expected, run.n);
	for (uint64_t i = 0; i < a.n + b.n; i++)
	{
		NaiveClass	c = hash_class(h, i < a.n ? a.keys[i] : b.keys[i - a.n]);
		int			x = naive_count(of_a, c);
		int			y = naive_count(of_b, c);

		if (how == CUCKOO_MERGE_UNION)
			naive_set(&expected, c, x > y ? x : y);
		else if (how == CUCKOO_MERGE_SUM)
			naive_set(&expected, c, x + y > 2 ? 2 : x + y);
		else
			naive_set(&expected, c, x < y ? x : y);
	}
	check_run(h, run, &expected);
	if (how == CUCKOO_MERGE_INTERSECTION)
		CHECK(cuckoo_keys_merge(how, a.keys, a.n, b.keys, b.n, NULL) == run.n,
			  "%" PRIu64 " in common", run.n);
	naive_model_free(&expected);
	free(run.keys);
}

/* f(f(a, b), c) and f(a, f(b, c)) */
static inline void
check_associative(CuckooMerge how, const CuckooHeader *h, const Run *runs,
				  const char *law)
{
	Run			ab = combined(how, runs[0], runs[1]);
	Run			bc = combined(how, runs[1], runs[2]);

	check_same(h, combined(how, ab, runs[2]), combined(how, runs[0], bc), law);
	free(ab.keys);
	free(bc.keys);
}

/* The bits of `laws` say which laws are checked. */
static inline void
check_laws(const CuckooHeader *h, const Run *runs, uint32_t laws)
{
	Run			a = runs[0];
	Run			b = runs[1];
	Run			none = {NULL, 0};
	Run			either = combined(CUCKOO_MERGE_UNION, a, b);
	Run			both = combined(CUCKOO_MERGE_INTERSECTION, a, b);

#define UNION(x, y)	combined(CUCKOO_MERGE_UNION, x, y)
#define SUM(x, y)	combined(CUCKOO_MERGE_SUM, x, y)
#define BOTH(x, y)	combined(CUCKOO_MERGE_INTERSECTION, x, y)
#define LAW(i, x, y, law) \
	if (laws >> (i) & 1) \
		check_same(h, x, y, law)
	LAW(0, UNION(a, b), UNION(b, a), "a | b = b | a");
	LAW(1, UNION(a, a), UNION(a, none), "a | a = a");
	LAW(2, UNION(none, a), UNION(a, none), "empty | a = a | empty");
	LAW(3, SUM(a, b), SUM(b, a), "a + b = b + a");
	LAW(4, SUM(a, none), UNION(a, none), "a + empty = a");
	LAW(5, BOTH(a, b), BOTH(b, a), "a & b = b & a");
	LAW(6, BOTH(a, a), UNION(a, none), "a & a = a");
	LAW(7, BOTH(a, either), UNION(a, none), "a & (a | b) = a");
	LAW(8, UNION(a, both), UNION(a, none), "a | (a & b) = a");
	if (laws >> 9 & 1)
		check_associative(CUCKOO_MERGE_UNION, h, runs, "(a | b) | c = a | (b | c)");
	if (laws >> 10 & 1)
		check_associative(CUCKOO_MERGE_SUM, h, runs, "(a + b) + c = a + (b + c)");
	if (laws >> 11 & 1)
		check_associative(CUCKOO_MERGE_INTERSECTION, h, runs,
						  "(a & b) & c = a & (b & c)");
	free(either.keys);
	free(both.keys);
}

/* The canonical form holds what the filter does, however that is laid out. */
static inline void
check_canonical(const UnitFilter *f, Run run, const NaiveModel *model)
{
	UnitFilter	canonical = filter_of(&f->h, run);
	UnitFilter	grown = {f->h, unit_alloc(cuckoo_image_size(&f->h))};

	memcpy(grown.image, f->image, cuckoo_image_size(&f->h));
	if (canonical.image != NULL)
	{
		uint64_t	size = cuckoo_image_size(&canonical.h);
		Run			again = run_of(&canonical);
		uint64_t	wrong = 0;

		CHECK(unit_validate(canonical.image, size) == CUCKOO_OK, "%s",
			  cuckoo_status_text(unit_validate(canonical.image, size)));
		for (uint64_t i = 0; i < run.n; i++)
			wrong += cuckoo_copies(&canonical.h, canonical.image, run.keys[i]) !=
				naive_count(model, hash_class(&f->h, run.keys[i]));
		CHECK(wrong == 0, "%" PRIu64 " of %" PRIu64 " copies", wrong, run.n);
		CHECK(same_run(again, run), "canonical form has other keys");
		free(again.keys);
	}
	for (int i = 0; i < 2 && grown.h.buckets < MOST_BUCKETS &&
		 unit_filter_grow(&grown) == CUCKOO_OK; i++)
	{
		Run			again = run_of(&grown);

		CHECK(same_run(again, run), "other keys at level %d", grown.h.level);
		free(again.keys);
	}
	unit_filter_free(&canonical);
	unit_filter_free(&grown);
}

/* An element's key is that of its hash, which is found in its place. */
static inline void
check_hashes(const CuckooHeader *h, const uint64_t *universe, uint64_t n)
{
	Run			run = {unit_alloc(n * sizeof(uint64_t)), 0};
	uint64_t   *scratch = unit_alloc(n * sizeof(uint64_t));
	NaiveModel	model;

	naive_model_init(&model, n);
	for (uint64_t i = 0; i < n; i++)
	{
		NaiveClass	c = hash_class(h, universe[i]);
		int			count = naive_count(&model, c);

		naive_set(&model, c, count < 2 ? count + 1 : 2);
	}
	memcpy(run.keys, universe, n * sizeof(uint64_t));
	cuckoo_keys_of_hashes(h, run.keys, n, scratch);
	run.n = cuckoo_keys_limit(run.keys, n, CUCKOO_MAX_COPIES);
	check_run(h, run, &model);
	naive_model_free(&model);
	free(run.keys);
	free(scratch);
}

/* The bits of a family's checks: a law, a merge, a canonical form, the hashes. */
#define FAMILY_CHECKS	(12 + 3 + FILTERS + 1)

/* `checks` says which are made. */
static inline void
check_family(CuckooHeader geometry, uint64_t size, uint32_t checks)
{
	uint64_t   *universe = unit_alloc(size * sizeof(uint64_t));
	UnitFilter	filters[FILTERS];
	NaiveModel	models[FILTERS];
	Run			runs[FILTERS];

	for (uint64_t i = 0; i < size; i++)
		universe[i] = unit_random();
	if (checks >> (15 + FILTERS) & 1)
		check_hashes(&geometry, universe, size);
	for (int i = 0; i < FILTERS; i++)
	{
		fill(&filters[i], &models[i], &geometry, universe, size);
		runs[i] = run_of(&filters[i]);
		check_run(&geometry, runs[i], &models[i]);
		if (checks >> (15 + i) & 1)
			check_canonical(&filters[i], runs[i], &models[i]);
	}
	for (CuckooMerge how = CUCKOO_MERGE_UNION;
		 how <= CUCKOO_MERGE_INTERSECTION; how++)
		if (checks >> (12 + (int) how) & 1)
			check_merge(how, &geometry, runs[0], runs[1], &models[0], &models[1]);
	check_laws(&geometry, runs, checks);
	for (int i = 0; i < FILTERS; i++)
	{
		unit_filter_free(&filters[i]);
		naive_model_free(&models[i]);
		free(runs[i].keys);
	}
	free(universe);
}

#endif							/* FAMILY_H */
