/*-------------------------------------------------------------------------
 *
 * bench_core.c
 *		Micro-benchmark of the core, without PostgreSQL.
 *
 * usage: bench_core [n ...]		(default 1e5 1e6 1e7 3e7)
 *
 * For each n, at fpp 0.001, prints nanoseconds an item:
 *
 *	read		one random 64-byte line of an array of the filter's size, each
 *				address known beforehand, so that reads overlap
 *	build		batch build of n items (placing and packing, sorted hashes)
 *	absent		lookup of what was never added
 *	present		lookup of what was
 *	delete		of what is there, from a filter in random order
 *	insert		one by one, from empty to load 0.95 at a fixed level
 *	last 5%		the same, of the last twentieth of the items
 *
 * and the bits an item and the measured false-positive rate.  Figures are the
 * median of three rounds; keys are splitmix64 of a counter.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 199309L
#include "cuckoo_build.h"
#include "cuckoo_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS	3
#define PROBES	1000000

static volatile uint64_t sink;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static uint64_t
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
	void	   *p = calloc(1, size);

	if (p == NULL)
	{
		fprintf(stderr, "out of memory (%zu bytes)\n", size);
		exit(1);
	}
	return p;
}

static double
median(double *figures)
{
	qsort(figures, ROUNDS, sizeof(double), compare_double);
	return figures[ROUNDS / 2];
}

/* nanoseconds of one overlapping random read in `size` bytes */
static double
random_read(const uint8_t *bytes, uint64_t size, uint64_t salt)
{
	uint64_t	lines = size / 64;
	uint64_t	sum = 0;
	double		start = now();

	for (uint64_t i = 0; i < PROBES; i++)
		sum += bytes[(key(i ^ salt) >> 32) * lines >> 32 << 6];
	sink += sum;
	return (now() - start) / PROBES;
}

enum
{
	READ, BUILD, ABSENT, PRESENT, DELETE, INSERT, LAST, FIGURES
};

static void
bench(uint64_t n)
{
	double		seen[FIGURES][ROUNDS];
	double		fpp = 0,
				bits = 0;
	uint64_t   *hashes = need(n * sizeof(uint64_t));
	uint64_t   *random = need(n * sizeof(uint64_t));

	for (uint64_t i = 0; i < n; i++)
		random[i] = hashes[i] = key(i);
	qsort(hashes, n, sizeof(uint64_t), compare);

	for (int round = 0; round < ROUNDS; round++)
	{
		CuckooHeader h;
		CuckooStatus status = cuckoo_header_exact(&h, n, cuckoo_fpp_bits(0.001), 0);
		uint64_t	size = cuckoo_image_size(&h);
		uint8_t    *image = need(size);
		uint32_t   *slots = need(cuckoo_build_slots(&h) * sizeof(uint32_t));
		uint64_t	found = 0;
		uint64_t	deletes = n < PROBES ? n : PROBES;
		double		start;

		start = now();
		if (status == CUCKOO_OK)
			status = cuckoo_build(&h, hashes, n, slots);
		if (status != CUCKOO_OK)
		{
			fprintf(stderr, "build of %" PRIu64 ": %s\n", n,
					cuckoo_status_text(status));
			exit(1);
		}
		cuckoo_build_pack(&h, slots, image);
		seen[BUILD][round] = (now() - start) / (double) n;
		free(slots);
		bits = (double) size * 8 / (double) n;

		seen[READ][round] = random_read(image, size, (uint64_t) round << 50);

		start = now();
		for (uint64_t i = 0; i < PROBES; i++)
			found += cuckoo_contains(&h, image, key((i + 1) << 32 | (uint64_t) round));
		seen[ABSENT][round] = (now() - start) / PROBES;
		fpp = (double) found / PROBES;

		found = 0;
		start = now();
		for (uint64_t i = 0; i < PROBES; i++)
			found += cuckoo_contains(&h, image, key(i * 7919 % n));
		seen[PRESENT][round] = (now() - start) / PROBES;
		if (found != PROBES)
		{
			fprintf(stderr, "false negatives\n");
			exit(1);
		}

		start = now();
		for (uint64_t i = 0; i < deletes; i++)
			sink += cuckoo_remove(&h, image, random[i]) == CUCKOO_OK;
		seen[DELETE][round] = (now() - start) / (double) deletes;

		memset(image, 0, size);
		h.items = 0;
		cuckoo_header_write(&h, image);
		start = now();
		for (uint64_t i = 0; i < n; i++)
		{
			if (i == n - n / 20)
				seen[LAST][round] = now();
			if (cuckoo_insert(&h, image, random[i], 2) > CUCKOO_UNCHANGED)
			{
				fprintf(stderr, "full at load %.4f\n",
						(double) i / (4.0 * h.buckets));
				break;
			}
		}
		seen[INSERT][round] = (now() - start) / (double) n;
		seen[LAST][round] = (now() - seen[LAST][round]) / (double) (n / 20);
		free(image);
	}
	printf("%10" PRIu64 " %7.2f %8.5f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f\n",
		   n, bits, fpp, median(seen[READ]), median(seen[BUILD]),
		   median(seen[ABSENT]), median(seen[PRESENT]), median(seen[DELETE]),
		   median(seen[INSERT]), median(seen[LAST]));
	fflush(stdout);
	free(hashes);
	free(random);
}

int
main(int argc, char **argv)
{
	printf("%10s %7s %8s %7s %7s %7s %7s %7s %7s %7s\n", "items", "bits",
		   "fpp", "read", "build", "absent", "present", "delete", "insert",
		   "last 5%");
	if (argc == 1)
	{
		bench(100000);
		bench(1000000);
		bench(10000000);
		bench(30000000);
	}
	for (int i = 1; i < argc; i++)
		bench((uint64_t) strtod(argv[i], NULL));
	return 0;
}
