/*-------------------------------------------------------------------------
 *
 * test_build.c
 *		Batch build: everything found, copies as in the model, the same bytes
 *		again, exact fits that fit, the rate asked for.
 *
 * With a second argument also 1e7 elements, and more seeds.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "naive.h"
#include "unit.h"

#include <math.h>

#define PROBES	1000000

/* Least significant digit first; qsort takes most of the test otherwise. */
static void
sort_hashes(uint64_t *a, uint64_t n)
{
	uint64_t   *from = a;
	uint64_t   *to = unit_alloc(n * sizeof(uint64_t));
	uint64_t   *spare = to;

	for (int shift = 0; shift < 64; shift += 8)
	{
		uint64_t	places[257] = {0};
		uint64_t   *swap = from;

		for (uint64_t i = 0; i < n; i++)
			places[(from[i] >> shift & 0xff) + 1]++;
		for (int i = 0; i < 256; i++)
			places[i + 1] += places[i];
		for (uint64_t i = 0; i < n; i++)
			to[places[from[i] >> shift & 0xff]++] = from[i];
		from = to;
		to = swap;
	}
	free(spare);
}

/* Sorted distinct hashes; returns how many are left of n. */
static uint64_t
distinct(uint64_t *a, uint64_t n)
{
	uint64_t	k = 0;

	sort_hashes(a, n);
	for (uint64_t i = 0; i < n; i++)
		if (i == 0 || a[i] != a[k - 1])
			a[k++] = a[i];
	return k;
}

static uint64_t *
random_hashes(uint64_t n)
{
	uint64_t   *a = unit_alloc(n * sizeof(uint64_t));

	for (uint64_t i = 0; i < n; i++)
		a[i] = unit_random();
	return a;
}

/* Builds into memory of its own. */
static CuckooStatus
build(UnitFilter *f, const CuckooHeader *geometry, const uint64_t *hashes,
	  uint64_t n)
{
	void	   *slots = unit_alloc(cuckoo_build_size(geometry));
	CuckooStatus status;

	/* whatever was in the workspace */
	memset(slots, 0xa5, cuckoo_build_size(geometry));
	f->h = *geometry;
	f->h.family = CUCKOO_FAMILY_INTEGER;
	f->image = NULL;
	status = cuckoo_build(&f->h, hashes, n, slots);
	if (status == CUCKOO_OK)
	{
		f->image = unit_alloc(cuckoo_image_size(&f->h));
		memset(f->image, 0x5a, cuckoo_image_size(&f->h));
		cuckoo_build_pack(&f->h, slots, f->image);
	}
	free(slots);
	return status;
}

/* An exact fit, enlarged until it fits; returns how often it was enlarged. */
static int
build_exact(UnitFilter *f, const uint64_t *hashes, uint64_t n, int bits)
{
	CuckooHeader h;
	int			enlarged = 0;
	int			percent = 1;

	CHECK(cuckoo_header_exact(&h, n, bits, unit_seed) == CUCKOO_OK,
		  "%" PRIu64 " items", n);
	while (build(f, &h, hashes, n) != CUCKOO_OK)
	{
		CHECK(cuckoo_header_enlarge(&h, percent) == CUCKOO_OK,
			  "%" PRIu64 " items", n);
		percent *= 2;
		if (++enlarged == 12)
		{
			CHECK(false, "%" PRIu64 " items do not fit %" PRIu32 " buckets", n,
				  h.base);
			exit(unit_end());
		}
	}
	return enlarged;
}

static uint64_t
not_found(const UnitFilter *f, const uint64_t *hashes, uint64_t n)
{
	uint64_t	lost = 0;

	for (uint64_t i = 0; i < n; i++)
		lost += !cuckoo_contains(&f->h, f->image, hashes[i]);
	return lost;
}

static NaiveClass
class_of(const CuckooHeader *h, uint64_t hash)
{
	return naive_class(h->base, h->windows, h->base_bits, hash);
}

static void
check_build(const UnitFilter *f, const uint64_t *hashes, uint64_t n,
			bool with_model)
{
	uint64_t	size = cuckoo_image_size(&f->h);
	CuckooHeader h;

	CHECK(not_found(f, hashes, n) == 0, "%" PRIu64 " items", n);
	CHECK(unit_validate(f->image, size) == CUCKOO_OK, "%" PRIu64 " items: %s",
		  n, cuckoo_status_text(unit_validate(f->image, size)));
	CHECK(cuckoo_header_read(&h, f->image, size) == CUCKOO_OK &&
		  h.items == f->h.items && h.items <= n, "%" PRIu64 " items", n);
	if (with_model)
	{
		NaiveModel	model;
		uint64_t	wrong = 0;

		naive_model_init(&model, n);
		for (uint64_t i = 0; i < n; i++)
		{
			NaiveClass	c = class_of(&f->h, hashes[i]);
			int			count = naive_count(&model, c);

			if (count < 2)
				naive_set(&model, c, count + 1);
		}
		for (uint64_t i = 0; i < n; i++)
			wrong += cuckoo_copies(&f->h, f->image, hashes[i]) !=
				naive_count(&model, class_of(&f->h, hashes[i]));
		for (uint64_t i = 0; i < 200; i++)
		{
			uint64_t	hash = unit_random();

			wrong += cuckoo_copies(&f->h, f->image, hash) !=
				naive_count(&model, class_of(&f->h, hash));
		}
		CHECK(wrong == 0, "%" PRIu64 " of %" PRIu64 " items: other copies", wrong, n);
		CHECK(model.sum == f->h.items, "%" PRIu64 " items: %" PRIu64
			  " stored, not %" PRIu64, n, f->h.items, model.sum);
		naive_model_free(&model);
	}
}

static void
check_again(const UnitFilter *f, const uint64_t *hashes, uint64_t n)
{
	CuckooHeader h = f->h;
	UnitFilter	g;

	h.items = unit_random();
	CHECK(build(&g, &h, hashes, n) == CUCKOO_OK, "%" PRIu64 " items again", n);
	CHECK(g.image != NULL &&
		  memcmp(f->image, g.image, cuckoo_image_size(&f->h)) == 0,
		  "%" PRIu64 " items: other bytes", n);
	unit_filter_free(&g);
}

/* A set with elements that look the same to most filters. */
static uint64_t
add_twins(uint64_t *a, uint64_t n)
{
	for (uint64_t i = 1; i < n; i += 5)
	{
		/* hash bits that neither fingerprint nor position use */
		a[i] = a[unit_below(i)] ^ UINT64_C(1) << (32 + unit_below(4));
		if (i % 3 == 0)
			a[i - 1] = a[i] ^ UINT64_C(1) << 31;
	}
	return distinct(a, n);
}

static void
test_small(void)
{
	static const uint64_t limits[] = {10, 30, 100, 300, 1000, 2001};
	uint64_t	limit = 0;
	uint64_t	tried = 0;
	uint64_t	enlarged = 0;

	printf("builds of 0 to 2000 that needed a larger table:");
	for (uint64_t n = 0; n <= 2000; n++)
	{
		for (int round = 0; round < (n < 100 ? 20 : 2); round++)
		{
			int			bits = 8 + (int) unit_below(25);
			uint64_t   *a = random_hashes(n);
			UnitFilter	f;
			uint64_t	k;

			k = round % 2 == 1 ? add_twins(a, n) : distinct(a, n);
			if (round % 2 == 0)
			{
				tried++;
				enlarged += build_exact(&f, a, k, bits) > 0;
			}
			else
				build_exact(&f, a, k, bits);
			check_build(&f, a, k, true);
			if (n % 16 == 0)
				check_again(&f, a, k);
			unit_filter_free(&f);
			free(a);
		}
		if (n + 1 == limits[limit])
		{
			printf(" to %" PRIu64 ": %" PRIu64 "/%" PRIu64, n, enlarged, tried);
			enlarged = tried = 0;
			limit++;
		}
	}
	printf("\n");
}

static void
test_spread(void)
{
	static const uint64_t sizes[] = {
		5000, 16000, 20000, 31130, 62000, 62300, 70000, 131072, 300000,
		996148, 1000000, 10000000
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		uint64_t	n = sizes[i];
		uint64_t   *a;
		uint64_t	k;
		UnitFilter	f;

		if (n > 1000000 && !unit_long)
			continue;
		a = random_hashes(n);
		k = i % 2 == 0 ? distinct(a, n) : add_twins(a, n);
		build_exact(&f, a, k, i % 3 == 0 ? 8 + (int) unit_below(17) : 13);
		check_build(&f, a, k, true);
		check_again(&f, a, k);
		unit_filter_free(&f);
		free(a);
	}
	printf("builds of 5000 to %s: found, copies, items, bytes\n",
		   unit_long ? "1e7" : "1e6");
}

/* How often a set of n elements does not fit at first. */
static void
fit_rate(uint64_t from, uint64_t to, uint64_t rounds)
{
	uint64_t	failures = 0;
	uint64_t	with_windows = 0;

	for (uint64_t i = 0; i < rounds; i++)
	{
		uint64_t	n = from + unit_below(to - from + 1);
		uint64_t   *a = random_hashes(n);
		uint64_t	k = distinct(a, n);
		UnitFilter	f;

		failures += build_exact(&f, a, k, 13) > 0;
		with_windows += f.h.windows;
		if (i % 16 == 0)
			CHECK(not_found(&f, a, k) == 0, "%" PRIu64 " items", n);
		unit_filter_free(&f);
		free(a);
	}
	printf("exact fit of %" PRIu64 " to %" PRIu64 ": %" PRIu64 " of %" PRIu64
		   " did not fit at first (%" PRIu64 " with windows)\n", from, to,
		   failures, rounds, with_windows);
	if (from >= 20000)
		CHECK(failures == 0, "%" PRIu64 " of %" PRIu64 " at %" PRIu64 " to %"
			  PRIu64, failures, rounds, from, to);
}

static void
test_fit(void)
{
	uint64_t	more = unit_long ? 60 : 1;

	fit_rate(2000, 5000, 100 * more);
	fit_rate(5000, 20000, 50 * more);
	fit_rate(20000, 62259, 20 * more);
	fit_rate(16384 * 19 / 5, 70000, 50 * more);
	fit_rate(70000, 500000, 5 * more);
}

static void
check_rate(const UnitFilter *f, double asked, const char *what)
{
	uint64_t	hits = 0;
	double		rate;

	for (uint64_t i = 0; i < PROBES; i++)
		hits += cuckoo_contains(&f->h, f->image, unit_random());
	rate = (double) hits / PROBES;
	printf("  %s, asked %g: %d bits, level %d, load %.4f, fpp %g, formula %g\n",
		   what, asked, f->h.bits, f->h.level,
		   (double) f->h.items / f->h.buckets / 4, rate, cuckoo_fpp_now(&f->h));
	CHECK(rate <= 1.1 * asked, "%s, asked %g: %g", what, asked, rate);
	CHECK(cuckoo_fpp_now(&f->h) <= asked, "%s, asked %g: formula %g", what, asked,
		  cuckoo_fpp_now(&f->h));
	CHECK(fabs(rate - cuckoo_fpp_now(&f->h)) <= 0.05 * rate +
		  5 * sqrt((rate + 1e-6) / PROBES),
		  "%s, asked %g: %g, formula %g", what, asked, rate,
		  cuckoo_fpp_now(&f->h));
}

static void
test_rates(void)
{
	static const double asked[] = {0.03, 0.01, 0.001, 0.0001};
	static const uint64_t sizes[] = {100000, 4500000};

	printf("rates:\n");
	for (size_t k = 0; k < (unit_long ? 2 : 1); k++)
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		{
			uint64_t	n = sizes[k];
			uint64_t   *a = random_hashes(n);
			int			bits = cuckoo_fpp_bits(asked[i]);
			CuckooHeader h;
			UnitFilter	f;
			CuckooStatus status;

			n = distinct(a, n);
			build_exact(&f, a, n, bits);
			check_rate(&f, asked[i], "exact");
			unit_filter_free(&f);

			/* by capacity, at the level where it is reached */
			CHECK(cuckoo_header_sized(&h, n, bits, 0) == CUCKOO_OK, "sized");
			CHECK(cuckoo_header_set_level(&h, h.base_bits - h.fpp_bits) ==
				  CUCKOO_OK, "sized");
			CHECK(h.bits == bits, "%d bits", h.bits);
			status = build(&f, &h, a, n);
			CHECK(status == CUCKOO_OK, "sized for %" PRIu64 " at %g: %s", n,
				  asked[i], cuckoo_status_text(status));
			if (status == CUCKOO_OK)
			{
				check_build(&f, a, n, false);
				check_rate(&f, asked[i], "sized");
				unit_filter_free(&f);
			}
			free(a);
		}
}

/* A build at any level holds what inserts and growth make, in any places. */
static void
test_levels(void)
{
	uint64_t	failures = 0;
	uint64_t	builds = 0;

	for (int round = 0; round < (unit_long ? 2000 : 40); round++)
	{
		uint64_t	capacity = 1 + unit_below(round % 10 == 0 ? 200000 : 20000);
		int			bits = 8 + (int) unit_below(17);
		uint64_t	n = capacity;
		uint64_t   *a = random_hashes(n);
		CuckooHeader h;
		UnitFilter	f;
		int			reached;

		n = round % 2 == 0 ? distinct(a, n) : add_twins(a, n);
		CHECK(cuckoo_header_sized(&h, capacity, bits, 0) == CUCKOO_OK, "sized");
		reached = h.base_bits - h.fpp_bits;
		for (int level = reached; level <= reached + 2; level++)
		{
			CuckooStatus status;

			if (cuckoo_header_set_level(&h, level) != CUCKOO_OK)
				break;
			status = build(&f, &h, a, n);
			if (level == reached && round % 2 == 0 && n >= 1000)
			{
				builds++;
				failures += status != CUCKOO_OK;
			}
			if (status != CUCKOO_OK)
			{
				/* random elements fit one level up, but twins may fill a pair */
				CHECK(status == CUCKOO_FULL && (level == reached || round % 2 == 1),
					  "%" PRIu64 " items at level %d: %s", n, level,
					  cuckoo_status_text(status));
				continue;
			}
			check_build(&f, a, n, true);
			check_again(&f, a, n);
			unit_filter_free(&f);
		}
		free(a);
	}
	printf("built at levels: %" PRIu64 " of %" PRIu64
		   " sets of 1000 and more did not fit at declared capacity\n", failures,
		   builds);
}

/* Inputs made to collide get an answer, and soon. */
static void
test_crafted(void)
{
	int			fitted = 0;
	int			refused = 0;

	for (int kind = 0; kind < 6; kind++)
		for (uint64_t n = 10; n <= (unit_long ? 1000000 : 100000); n *= 10)
			for (int bits = n < 100000 ? 8 : 20; bits <= 32; bits += 12)
			{
				uint64_t   *a = random_hashes(n);
				UnitFilter	f;
				CuckooHeader h;
				CuckooStatus status = CUCKOO_FULL;
				uint64_t	first = a[0];
				uint64_t	k;

				for (uint64_t i = 0; i < n; i++)
					switch (kind)
					{
						case 0: /* top and low bits equal */
							a[i] = (first & UINT64_C(0xffffff00000000ff)) | i << 8;
							break;
						case 1: /* one class */
							a[i] = (first & UINT64_C(0xfffffff0000000ff)) | i << 36 >> 4;
							a[i] &= ~UINT64_C(0xffffff00);
							break;
						case 2: /* one fixed byte */
							a[i] = (a[i] & ~UINT64_C(0xff)) | (first & 0xff);
							break;
						case 3: /* one first bucket */
							a[i] = (a[i] & UINT64_C(0xffffffff)) |
								(first & ~UINT64_C(0xffffffff));
							break;
						case 4: /* consecutive */
							a[i] = first + i;
							break;
						case 5: /* two fingerprints */
							a[i] = (a[i] & ~UINT64_C(0xffffffff)) | (i & 1 ? 7 : 8);
							break;
					}
				k = distinct(a, n);
				CHECK(cuckoo_header_exact(&h, k, bits, 0) == CUCKOO_OK, "exact");
				for (int tries = 0; tries < 3 && status == CUCKOO_FULL; tries++)
				{
					status = build(&f, &h, a, k);
					if (status == CUCKOO_FULL)
						CHECK(cuckoo_header_enlarge(&h, 1 + tries * 10) == CUCKOO_OK, "enlarge");
				}
				if (status == CUCKOO_OK)
				{
					fitted++;
					check_build(&f, a, k, true);
					unit_filter_free(&f);
				}
				else
					refused++;
				CHECK(status == CUCKOO_OK || status == CUCKOO_FULL, "status %d",
					  (int) status);
				free(a);
			}
	printf("crafted: %d sets fitted, %d did not\n", fitted, refused);
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_build");
	naive_init();
	TEST(test_small());
	TEST(test_spread());
	TEST(test_levels());
	TEST(test_fit());
	TEST(test_rates());
	TEST(test_crafted());
	return unit_end();
}
