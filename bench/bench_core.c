/*-------------------------------------------------------------------------
 *
 * bench_core.c
 *		Micro-benchmark of the core, without PostgreSQL.
 *
 * usage: bench_core [n ...]		(default 1e5 1e6 1e7 3e7)
 *
 * For each n, at fpp 0.001, in nanoseconds per item:
 *
 *	reads		the reference: a word of each of two random lines, see below
 *	absent		lookups of elements that were never added
 *	present		lookups of elements that were added
 *	batched		lookups of absent elements, 1000 at a time
 *	build		batch build of n items (placing and packing, sorted hashes)
 *	delete		deletes of present elements, in random order
 *	deletes		the same, each prefetched AHEAD deletes before, as in
 *				cf_delete_all()
 *	insert		one by one, from empty to load factor 0.95 at a fixed level
 *	last 5%		the same, the last twentieth of the items
 *
 * The first table also has the bits per item and the measured false-positive
 * rate.  The second table has all figures as multiples of the reference, and
 * the limit of a ratio behind it.
 *
 * The reference costs as much as reading two unrelated places of the filter, a
 * cache line each, and nothing else.  Its loop is that of the lookups: a
 * counter gives a key (splitmix64), and the key gives the places, here by one
 * multiplication each.  They are aligned lines of the filter's own memory.  One
 * word of each is read, because reading more would take longer than the cache
 * misses that the reference stands for.  No iteration waits for another, so the
 * processor overlaps as many as it can hold.  The memory comes from malloc(), as
 * in PostgreSQL, without huge pages.
 *
 * Lookups and reads run over the whole filter in random order.  PROBES of them
 * are timed, after as many that are not.  Figures are medians of ROUNDS rounds,
 * and ratios are medians of the rounds' ratios.  Each round builds its filter
 * again.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 199309L
#include "core/core.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS		5
#define PROBES		1000000
#define CHUNK		1000		/* hashes of one call; divides PROBES */
#define AHEAD		16
#define ABSENT_KEYS	(UINT64_C(1) << 40) /* where keys never added begin */

enum
{
	READ, ABSENT, PRESENT, BATCHED, BUILD, DELETE, DELETES, INSERT, LAST, FIGURES
};

static const char *const titles[FIGURES] = {
	"read", "absent", "present", "batched", "build", "delete", "deletes",
	"insert", "last 5%"
};

/* The limits, in multiples of the reference; 0 is none. */
static const struct
{
	double		items;
	double		limit[FIGURES];
}			limits[] = {
	{1e5, {0, 2.2, 3.2, 0, 0, 5, 0, 0, 0}},
	{1e6, {0, 2.2, 3.2, 0, 8, 5, 0, 0, 0}},
	{1e7, {0, 2.2, 3.2, 0, 0, 4, 0, 0, 0}},
	{3e7, {0, 2.2, 3.2, 1.2, 3.5, 4, 0, 0, 0}}
};

#define N_LIMITS	((int) (sizeof(limits) / sizeof(limits[0])))

typedef struct Result
{
	uint64_t	items;
	double		bits;
	double		fpp;
	double		time[FIGURES];
	double		ratio[FIGURES];
} Result;

static volatile uint64_t sink;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static inline uint64_t
key(uint64_t i)
{
	uint64_t	z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int
compare(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static int
compare_double(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

static void *
need(size_t size)
{
	void	   *p = malloc(size);

	if (p == NULL)
	{
		fprintf(stderr, "out of memory (%zu bytes)\n", size);
		exit(1);
	}
	return p;
}

static double
median(const double *figures)
{
	double		sorted[ROUNDS];

	memcpy(sorted, figures, sizeof(sorted));
	qsort(sorted, ROUNDS, sizeof(double), compare_double);
	return sorted[ROUNDS / 2];
}

/*
 * The loops.  Each takes the filter, the number of its first key, which other
 * calls do not use, and the number of items of the filter.  It gives a sum, so
 * that the compiler drops nothing.
 */
typedef uint64_t (*Loop) (const CuckooHeader *h, const uint8_t *image,
						  uint64_t first, uint64_t n);

static uint64_t
loop_read(const CuckooHeader *h, const uint8_t *image, uint64_t first,
		  uint64_t n)
{
	uint64_t	skip = (64 - (uintptr_t) image % 64) % 64;
	uint64_t	lines = (cuckoo_image_size(h) - skip) / 64;
	uint64_t	sum = 0;

	(void) n;
	image += skip;
	for (uint64_t i = first; i < first + PROBES; i++)
	{
		uint64_t	k = key(i);

		sum += cuckoo_load64(image + ((k >> 32) * lines >> 32) * 64);
		sum += cuckoo_load64(image + ((k & 0xffffffff) * lines >> 32) * 64);
	}
	return sum;
}

static uint64_t
loop_absent(const CuckooHeader *h, const uint8_t *image, uint64_t first,
			uint64_t n)
{
	uint64_t	sum = 0;

	(void) n;
	for (uint64_t i = first; i < first + PROBES; i++)
		sum += cuckoo_contains(h, image, key(i));
	return sum;
}

static uint64_t
loop_present(const CuckooHeader *h, const uint8_t *image, uint64_t first,
			 uint64_t n)
{
	uint64_t	sum = 0;

	first %= n;
	for (uint64_t left = PROBES; left > 0; first = 0)
	{
		uint64_t	end = left < n - first ? first + left : n;

		left -= end - first;
		for (uint64_t i = first; i < end; i++)
			sum += cuckoo_contains(h, image, key(i));
	}
	return sum;
}

static uint64_t
loop_batched(const CuckooHeader *h, const uint8_t *image, uint64_t first,
			 uint64_t n)
{
	uint64_t	sum = 0;

	(void) n;
	for (uint64_t i = first; i < first + PROBES; i += CHUNK)
	{
		uint64_t	hashes[CHUNK];
		bool		found[CHUNK];

		for (int k = 0; k < CHUNK; k++)
			hashes[k] = key(i + (uint64_t) k);
		cuckoo_contains_batch(h, image, hashes, CHUNK, found);
		for (int k = 0; k < CHUNK; k++)
			sum += found[k];
	}
	return sum;
}

/* Nanoseconds of one iteration, warm. */
static double
timed(Loop loop, const CuckooHeader *h, const uint8_t *image, uint64_t first,
	  uint64_t n, uint64_t *sum)
{
	double		start;

	sink += loop(h, image, first, n);
	start = now();
	*sum = loop(h, image, first + PROBES, n);
	return (now() - start) / PROBES;
}

static void
round_of(uint64_t n, uint64_t round, const uint64_t *hashes, Result *result,
		 double seen[FIGURES])
{
	CuckooHeader h;
	CuckooStatus status = cuckoo_header_exact(&h, n, cuckoo_fpp_bits(0.001), 0);
	uint64_t	size = cuckoo_image_size(&h);
	uint64_t	absent = ABSENT_KEYS + 4 * round * PROBES;
	uint64_t	deletes = (n < PROBES ? n : PROBES) / 2;
	uint64_t	sum;
	uint8_t    *image;
	void	   *slots;
	double		start = now();

	slots = need(cuckoo_build_size(&h));
	image = need(size);
	if (status == CUCKOO_OK)
		status = cuckoo_build(&h, hashes, n, slots);
	if (status != CUCKOO_OK)
	{
		fprintf(stderr, "build of %" PRIu64 ": %s\n", n,
				cuckoo_status_text(status));
		exit(1);
	}
	cuckoo_build_pack(&h, slots, image);
	seen[BUILD] = (now() - start) / (double) n;
	free(slots);
	result->bits = (double) size * 8 / (double) n;

	seen[READ] = timed(loop_read, &h, image, absent, n, &sum);
	sink += sum;
	seen[ABSENT] = timed(loop_absent, &h, image, absent, n, &sum);
	result->fpp = (double) sum / PROBES;
	seen[PRESENT] = timed(loop_present, &h, image, 2 * round * PROBES, n, &sum);
	if (sum != PROBES)
	{
		fprintf(stderr, "false negatives\n");
		exit(1);
	}
	seen[BATCHED] = timed(loop_batched, &h, image, absent + 2 * PROBES, n, &sum);
	sink += sum;

	sum = 0;
	start = now();
	for (uint64_t i = 0; i < deletes; i++)
		sum += cuckoo_remove(&h, image, key(i)) == CUCKOO_OK;
	seen[DELETE] = (now() - start) / (double) deletes;
	start = now();
	for (uint64_t i = deletes; i < 2 * deletes; i++)
	{
		cuckoo_prefetch(&h, image, key(i + AHEAD));
		sum += cuckoo_remove(&h, image, key(i)) == CUCKOO_OK;
	}
	seen[DELETES] = (now() - start) / (double) deletes;
	sink += sum;

	memset(image, 0, size);
	h.items = 0;
	cuckoo_header_write(&h, image);
	start = seen[LAST] = now();
	for (uint64_t i = 0; i < n; i++)
	{
		if (i == n - n / 20)
			seen[LAST] = now();
		if (cuckoo_insert(&h, image, key(i), 2) > CUCKOO_UNCHANGED)
		{
			fprintf(stderr, "full at load %.4f\n",
					(double) i / (4.0 * h.buckets));
			break;
		}
	}
	seen[INSERT] = (now() - start) / (double) n;
	seen[LAST] = (now() - seen[LAST]) / ((double) n / 20);
	free(image);
}

static void
bench(uint64_t n, Result *result)
{
	double		seen[ROUNDS][FIGURES];
	uint64_t   *hashes = need(n * sizeof(uint64_t));

	for (uint64_t i = 0; i < n; i++)
		hashes[i] = key(i);
	qsort(hashes, n, sizeof(uint64_t), compare);

	result->items = n;
	for (int round = 0; round < ROUNDS; round++)
		round_of(n, (uint64_t) round, hashes, result, seen[round]);
	for (int figure = 0; figure < FIGURES; figure++)
	{
		double		times[ROUNDS];
		double		ratios[ROUNDS];

		for (int round = 0; round < ROUNDS; round++)
		{
			times[round] = seen[round][figure];
			ratios[round] = seen[round][figure] / seen[round][READ];
		}
		result->time[figure] = median(times);
		result->ratio[figure] = median(ratios);
	}
	free(hashes);
}

int
main(int argc, char **argv)
{
	int			n_results = argc > 1 ? argc - 1 : N_LIMITS;
	Result	   *results = need((size_t) n_results * sizeof(Result));

	printf("nanoseconds\n%10s %6s %8s", "items", "bits", "fpp");
	for (int figure = 0; figure < FIGURES; figure++)
		printf(" %8s", titles[figure]);
	printf("\n");
	for (int i = 0; i < n_results; i++)
	{
		Result	   *r = &results[i];

		bench((uint64_t) (argc > 1 ? strtod(argv[i + 1], NULL)
						  : limits[i].items), r);
		printf("%10" PRIu64 " %6.2f %8.5f", r->items, r->bits, r->fpp);
		for (int figure = 0; figure < FIGURES; figure++)
			printf(" %8.2f", r->time[figure]);
		printf("\n");
		fflush(stdout);
	}

	printf("\nmultiples of read, and their limits\n%10s", "items");
	for (int figure = READ + 1; figure < FIGURES; figure++)
		printf(" %8s %4s", titles[figure], "");
	printf("\n");
	for (int i = 0; i < n_results; i++)
	{
		Result	   *r = &results[i];
		const double *limit = NULL;

		for (int k = 0; k < N_LIMITS; k++)
			if ((double) r->items == limits[k].items)
				limit = limits[k].limit;
		printf("%10" PRIu64, r->items);
		for (int figure = READ + 1; figure < FIGURES; figure++)
		{
			printf(" %8.2f", r->ratio[figure]);
			if (limit != NULL && limit[figure] > 0)
				printf(" %4.2f", limit[figure]);
			else
				printf(" %4s", "-");
		}
		printf("\n");
	}
	free(results);
	return 0;
}
