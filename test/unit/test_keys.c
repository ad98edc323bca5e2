/*-------------------------------------------------------------------------
 *
 * test_keys.c
 *		Filters as runs of keys: what is taken apart is what the model holds,
 *		and the laws of combining hold byte for byte.
 *
 * Families of filters have one geometry, of any width, with and without
 * windows, and overlap.  Each of their filters was filled in its own way:
 * added in any order, once or twice, deleted in part, grown and shrunk, or
 * left empty.
 *
 * With a second argument more and larger families.
 *
 *-------------------------------------------------------------------------
 */
#include "family.h"

#include <math.h>

static void
test_families(void)
{
	int			rounds = unit_long ? 4000 : 200;

	for (int i = 0; i < rounds; i++)
	{
		uint32_t	base = 2 * (1 + (uint32_t) unit_below(i % 2 == 0 ? 40 : 600));
		int			bits = 9 + (int) unit_below(24);
		CuckooHeader h;

		if (i % 5 == 0)
			base = 128 * (1 + (uint32_t) unit_below(40));
		if (i % 50 == 0)
			base = 128 * (32 + (uint32_t) unit_below(8));
		h = unit_header(base, bits, 8);
		check_family(h, 1 + unit_below(base * (i % 3 == 0 ? 20 : 3)), UINT32_MAX);
	}
	printf("%d families of %d filters, %" PRIu64 " keys combined\n", rounds,
		   FILTERS, merged_keys);
}

/* Built in one go, and from parts by the sum: the same bytes. */
static void
test_parts(void)
{
	for (int round = 0; round < (unit_long ? 200 : 8); round++)
	{
		CuckooHeader h;
		uint64_t	capacity = 1 + unit_below(200000);
		uint64_t	n = 1 + unit_below(capacity);
		int			parts = 1 + (int) unit_below(100);
		Run			all = {unit_alloc(n * sizeof(uint64_t)), n};
		Run			sum = {NULL, 0};
		bool		windows = round % 2;
		uint64_t   *scratch = unit_alloc(n * sizeof(uint64_t));

		if (windows)
			capacity += 1000000 + unit_below(3000000);
		CHECK(cuckoo_header_sized(&h, capacity, 8 + (int) unit_below(8), 0) ==
			  CUCKOO_OK && h.windows == windows, "%" PRIu64, capacity);
		for (uint64_t i = 0; i < n; i++)
			all.keys[i] = unit_random();
		for (int part = 0; part < parts; part++)
		{
			uint64_t	from = n * part / parts;
			uint64_t	to = n * (part + 1) / parts;
			Run			run = {unit_alloc((to - from) * sizeof(uint64_t)), 0};
			Run			larger;

			memcpy(run.keys, all.keys + from, (to - from) * sizeof(uint64_t));
			cuckoo_keys_of_hashes(&h, run.keys, to - from, scratch);
			run.n = cuckoo_keys_limit(run.keys, to - from, CUCKOO_MAX_COPIES);
			larger = combined(CUCKOO_MERGE_SUM, sum, run);
			free(sum.keys);
			free(run.keys);
			sum = larger;
		}
		cuckoo_keys_of_hashes(&h, all.keys, n, scratch);
		all.n = cuckoo_keys_limit(all.keys, n, CUCKOO_MAX_COPIES);
		check_same(&h, all, sum, "all = part + part + ...");
		free(scratch);
	}
	printf("sums of up to 100 parts\n");
}

/*
 * Images of others may hold a key up to eight times, which counts as two:
 * combined, they are what the images of two are.  The surplus takes no level.
 */
static void
test_surplus(void)
{
	uint64_t	most = 0;

	for (int round = 0; round < (unit_long ? 4000 : 400); round++)
	{
		CuckooHeader h = unit_header(2 * (1 + (uint32_t) unit_below(40)),
									 12 + (int) unit_below(21), 8);
		UnitFilter	f[2];
		Run			all[2];
		Run			held[2];
		CuckooHeader level = h;

		for (int i = 0; i < 2; i++)
		{
			unit_filter_init(&f[i], &h);
			for (uint32_t k = 0; k < h.base / 2; k++)
			{
				uint64_t	hash = unit_mix(unit_below(2 * h.base) + 1) + unit_seed;

				for (int copies = 1 + (int) unit_below(8); copies > 0; copies--)
					cuckoo_insert(&f[i].h, f[i].image, hash, 8);
			}
			if (unit_below(4) == 0)
				unit_filter_grow(&f[i]);
			all[i] = run_of(&f[i]);
			held[i] = run_of(&f[i]);
			held[i].n = 0;
			for (uint64_t k = 0; k < all[i].n; k++)
				if (k < 2 || all[i].keys[k - 2] != all[i].keys[k])
					held[i].keys[held[i].n++] = all[i].keys[k];
			most = all[i].n - held[i].n > most ? all[i].n - held[i].n : most;
		}
		for (CuckooMerge how = CUCKOO_MERGE_UNION;
			 how <= CUCKOO_MERGE_INTERSECTION; how++)
		{
			Run			run = combined(how, all[0], all[1]);

			run.n = cuckoo_keys_limit(run.keys, run.n, CUCKOO_MAX_COPIES);
			check_same(&h, run, combined(how, held[0], held[1]), "at most two");
		}
		CHECK(cuckoo_keys_limit(all[0].keys, all[0].n, CUCKOO_MAX_COPIES) ==
			  held[0].n && cuckoo_keys_level(&level, held[0].n) == CUCKOO_OK &&
			  level.level == 0, "%" PRIu64 " keys", held[0].n);
		for (int i = 0; i < 2; i++)
		{
			unit_filter_free(&f[i]);
			free(all[i].keys);
			free(held[i].keys);
		}
	}
	CHECK(most > 20, "%" PRIu64, most);
	printf("keys more than twice, up to %" PRIu64 " too many\n", most);
}

/* Every base bucket comes back from its key, of any number of buckets. */
static void
test_bases(void)
{
	static const uint32_t bases[] = {
		2, 4, 6, 10, 126, 128, 254, 4096, 99998, 1 << 20, 153391690
	};

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
	{
		CuckooHeader h = unit_header(bases[i], 32, 8);
		uint64_t	wrong = 0;

		for (uint32_t k = 0; k < 100000; k++)
		{
			uint32_t	j = k < bases[i] ? k : bases[i] - 1 -
				(uint32_t) unit_below(k % 2 == 0 ? 1000 : bases[i]) % bases[i];
			uint64_t	key = naive_unscale(j, h.base) +
				(UINT64_C(1) << 33) + (unit_random() & 0xffffffff);
			NaivePair	p = naive_pair(h.base, h.windows, h.base_bits, 0, key);

			cuckoo_keys_of_hashes(&h, &key, 1, NULL);
			wrong += naive_scale(key, h.base) !=
				(p.j[0] < p.j[1] ? p.j[0] : p.j[1]);
		}
		CHECK(wrong == 0, "%" PRIu64 " with %" PRIu32 " base buckets", wrong,
			  bases[i]);
	}
	printf("keys of %zu numbers of base buckets\n",
		   sizeof(bases) / sizeof(bases[0]));
}

/* The distinct keys of hashes. */
static Run
distinct_keys(const CuckooHeader *h, const uint64_t *hashes, uint64_t n)
{
	Run			run = {unit_alloc(n * sizeof(uint64_t)), n};
	uint64_t   *scratch = unit_alloc(n * sizeof(uint64_t));

	memcpy(run.keys, hashes, n * sizeof(uint64_t));
	cuckoo_keys_of_hashes(h, run.keys, n, scratch);
	run.n = cuckoo_keys_limit(run.keys, n, 1);
	free(scratch);
	return run;
}

/* An estimate within five of its standard errors of the truth. */
static void
test_overlap(void)
{
	double		most = 0;

	for (int round = 0; round < (unit_long ? 400 : 40); round++)
	{
		uint64_t	a = 1000 + unit_below(round % 2 == 0 ? 100000 : 2000);
		uint64_t	b = 1000 + unit_below(100000);
		uint64_t	common = round % 4 == 0 ? 0 : unit_below((a < b ? a : b) + 1);
		uint64_t   *hashes = unit_alloc((a + b) * sizeof(uint64_t));
		CuckooHeader h;
		CuckooOverlap found;
		Run			run_a,
					run_b;
		double		errors;

		CHECK(cuckoo_header_sized(&h, a > b ? a : b, 8 + (int) unit_below(8),
								  0) == CUCKOO_OK, "%" PRIu64, a);
		for (uint64_t i = 0; i < a + b; i++)
			hashes[i] = unit_random();
		run_a = distinct_keys(&h, hashes, a);
		run_b = distinct_keys(&h, hashes + a - common, b);
		cuckoo_overlap(&h, run_a.n, run_b.n,
					   cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, run_a.keys,
										 run_a.n, run_b.keys, run_b.n, NULL),
					   &found);
		/* few matches are not distributed normally: allow two more */
		errors = (fabs(found.common - (double) common) - 2) /
			fmax(found.standard_error, 0.5);
		CHECK(errors <= 5, "%" PRIu64 " of %" PRIu64 " and %" PRIu64
			  " in common: %g, standard error %g", common, a, b, found.common,
			  found.standard_error);
		most = fmax(most, errors);
		free(hashes);
		free(run_a.keys);
		free(run_b.keys);
	}
	printf("overlap against the truth, %.1f standard errors at most\n", most);
}

/*
 * The mean of squared errors against that of squared standard errors, for small
 * filters with twice their capacity, where chance matches are many.  Where all
 * is in common, errors are of second order, and each term of the variance
 * counts.
 */
static void
test_standard_error(void)
{
	enum
	{
		N = 2000
	};
	int			rounds = unit_long ? 5000 : 1000;
	double		limit = 5 * sqrt(2.0 / rounds);
	uint64_t	hashes[2 * N];
	CuckooHeader h;

	CHECK(cuckoo_header_sized(&h, N / 2, 8, 0) == CUCKOO_OK, "%d", N / 2);
	for (int common = 0; common <= N; common += N / 2)
	{
		double		squares = 0;
		double		variances = 0;

		for (int round = 0; round < rounds; round++)
		{
			CuckooOverlap found;
			Run			a,
						b;

			for (int i = 0; i < 2 * N; i++)
				hashes[i] = unit_random();
			a = distinct_keys(&h, hashes, N);
			b = distinct_keys(&h, hashes + N - common, N);
			cuckoo_overlap(&h, a.n, b.n,
						   cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, a.keys,
											 a.n, b.keys, b.n, NULL), &found);
			squares += (found.common - common) * (found.common - common);
			variances += found.standard_error * found.standard_error;
			free(a.keys);
			free(b.keys);
		}
		CHECK(fabs(squares / variances - 1) <= limit,
			  "%d of %d in common: errors %g, standard errors %g", common, N,
			  sqrt(squares / rounds), sqrt(variances / rounds));
		printf("%d of %d in common: errors %.2f, standard errors %.2f\n", common,
			   N, sqrt(squares / rounds), sqrt(variances / rounds));
	}
	/* fewer matches than chance gives: still nothing in common */
	{
		CuckooOverlap none,
					few;

		cuckoo_overlap(&h, N, N, 0, &none);
		cuckoo_overlap(&h, N, N, 10, &few);
		CHECK(none.common < few.common && few.common < 0 &&
			  none.standard_error == few.standard_error,
			  "%g (%g) and %g (%g)", none.common, none.standard_error,
			  few.common, few.standard_error);
	}
}

/* The keys that n elements are expected to have, one fixed byte at a time. */
static double
naive_expected(const CuckooHeader *h, double n)
{
	double		keys = 0;

	for (int fixed = 1; fixed < 256; fixed++)
		for (int half = 0; half < 2; half++)
		{
			double		cells = ldexp(h->base, h->base_bits - 8) / 4;
			double		chance = (fixed == 1 ? 2.0 : 1.0) / 256;

			keys += cells * (1 - exp(-n * chance / (2 * cells)));
		}
	return keys;
}

/*
 * The expected numbers of keys give back the numbers of elements: a key or two
 * off, because numbers are rounded.  A formula that left something out would be
 * off by hundreds.
 */
static void
test_expectation(void)
{
	static const double sizes[][3] = {
		{1000000, 1000000, 10000}, {1000000, 1000000, 0},
		{1000000, 10000, 5000}, {10000, 1000000, 0}, {500000, 500000, 500000},
		{0, 1000000, 0}
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		CuckooHeader h = unit_header(263158, 8, 8);
		double		a = sizes[i][0];
		double		b = sizes[i][1];
		double		common = sizes[i][2];
		double		in_a = rint(naive_expected(&h, a));
		double		in_b = rint(naive_expected(&h, b));
		double		in_either = rint(naive_expected(&h, a + b - common));
		CuckooOverlap found;

		cuckoo_overlap(&h, (uint64_t) in_a, (uint64_t) in_b,
					   (uint64_t) (in_a + in_b - in_either), &found);
		CHECK(fabs(found.common - common) < 3 && fabs(found.a - a) < 1 &&
			  fabs(found.b - b) < 1, "%g, %g and %g in common: %.1f, %.1f, %.1f",
			  a, b, common, found.a, found.b, found.common);
	}
	printf("overlap from expected numbers of keys\n");
}

/* Keys are counted with the number of runs that have them. */
static void
test_counted(void)
{
	for (int round = 0; round < (unit_long ? 400 : 40); round++)
	{
		uint32_t	most = 1 + (uint32_t) unit_below(6);
		int			universe = 1 + (int) unit_below(300);
		uint32_t	times[300] = {0};
		CuckooRun	sum = {unit_alloc(sizeof(uint64_t)), unit_alloc(sizeof(uint32_t)), 0};
		uint64_t	kept[300];
		uint64_t	n = 0;
		uint64_t	wrong = 0;

		for (int runs = (int) unit_below(8); runs > 0; runs--)
		{
			CuckooRun	run = {unit_alloc(300 * sizeof(uint64_t)),
			unit_alloc(300 * sizeof(uint32_t)), 0};
			CuckooRun	next = {unit_alloc(600 * sizeof(uint64_t)),
			unit_alloc(600 * sizeof(uint32_t)), 0};

			for (int key = 0; key < universe; key++)
				if (unit_below(3) == 0)
				{
					uint32_t	add = 1 + (uint32_t) unit_below(most);

					run.keys[run.count] = (uint64_t) key << 33 | 1;
					run.times[run.count++] = add;
					times[key] = times[key] + add < most ? times[key] + add : most;
				}
			CHECK(cuckoo_keys_count(&sum, &run, most, &next) == next.count,
				  "%" PRIu64, next.count);
			free(sum.keys);
			free(sum.times);
			free(run.keys);
			free(run.times);
			sum = next;
		}
		for (int key = 0; key < universe; key++)
			if (times[key] > 0)
			{
				wrong += n >= sum.count || sum.keys[n] != ((uint64_t) key << 33 | 1) ||
					sum.times[n] != times[key];
				n++;
			}
		CHECK(wrong == 0 && n == sum.count, "%" PRIu64 " of %" PRIu64, wrong, n);
		for (uint32_t least = 1; least <= most; least++)
		{
			uint64_t	found = cuckoo_keys_at_least(&sum, least, kept);

			n = 0;
			for (uint64_t i = 0; i < sum.count; i++)
				if (sum.times[i] >= least)
					wrong += n >= found || kept[n++] != sum.keys[i];
			CHECK(wrong == 0 && n == found, "%" PRIu64 " of %" PRIu64, n, found);
		}
		cuckoo_keys_once(&sum);
		CHECK(cuckoo_keys_at_least(&sum, 1, kept) == sum.count &&
			  cuckoo_keys_at_least(&sum, 2, kept) == 0, "%" PRIu64, sum.count);
		free(sum.keys);
		free(sum.times);
	}
	printf("keys with numbers\n");
}

/* An image whose number of items is wrong is noticed, and nothing overrun. */
static void
test_corrupt(void)
{
	CuckooHeader h = unit_header(40, 12, 8);
	UnitFilter	f;
	uint64_t	keys[41];
	uint64_t	scratch[41];

	unit_filter_init(&f, &h);
	for (int i = 0; i < 40; i++)
		CHECK(unit_filter_add(&f, unit_random(), 2) == CUCKOO_OK, "%d", i);
	for (int items = 0; items < 40; items++)
	{
		f.h.items = (uint64_t) items;
		keys[items] = scratch[items] = 7;
		CHECK(cuckoo_keys_read(&f.h, f.image, keys, scratch) ==
			  CUCKOO_BAD_ITEMS, "%d items", items);
		CHECK(keys[items] == 7 && scratch[items] == 7, "%d items: overrun", items);
	}
	f.h.items = 41;
	CHECK(cuckoo_keys_read(&f.h, f.image, keys, scratch) == CUCKOO_BAD_ITEMS,
		  "41 items");
	unit_filter_free(&f);
	printf("numbers of items that are wrong\n");
}

/* The least level that may hold so many keys; only the last may be full. */
static void
test_levels(void)
{
	CuckooHeader h = unit_header(10, 10, 8);

	CHECK(cuckoo_keys_level(&h, 0) == CUCKOO_OK && h.level == 0, "none");
	CHECK(cuckoo_keys_level(&h, 39) == CUCKOO_OK && h.level == 0, "39");
	CHECK(cuckoo_keys_level(&h, 40) == CUCKOO_OK && h.level == 1, "40");
	CHECK(cuckoo_keys_level(&h, 160) == CUCKOO_OK && h.level == 2, "160");
	CHECK(cuckoo_keys_level(&h, 161) == CUCKOO_LAST_LEVEL, "161");
	printf("levels for numbers of keys\n");
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_keys");
	naive_init();
	TEST(test_bases());
	TEST(test_families());
	TEST(test_parts());
	TEST(test_surplus());
	TEST(test_overlap());
	TEST(test_standard_error());
	TEST(test_expectation());
	TEST(test_counted());
	TEST(test_corrupt());
	TEST(test_levels());
	return unit_end();
}
