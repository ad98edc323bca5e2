/*-------------------------------------------------------------------------
 *
 * overlap.c
 *		The error of cf_overlap: pairs of sets whose overlap is known.
 *
 * The sets are as large as the capacity of their filters, twice as large, and
 * a thousandth.  For each fpp it prints the mean error over many pairs, in
 * elements and in its own standard errors.  "Spread" is the root mean square of
 * the errors, and "stated" the standard error that cf_overlap_info() returns.
 *
 * Filters are their keys, so none is built.  In sets with copies every second
 * element was added twice, as cf_add() does.
 *
 *	make build/overlap && build/overlap [PAIRS [CAPACITY]]
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Keys
{
	uint64_t   *keys;
	uint64_t	n;
} Keys;

static uint64_t state;

/* splitmix64 */
static uint64_t
next_random(void)
{
	uint64_t	z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void *
alloc(uint64_t n)
{
	void	   *memory = malloc((size_t) (n > 0 ? n : 1) * sizeof(uint64_t));

	if (memory == NULL)
		exit(1);
	return memory;
}

/* The keys of n hashes, of which every second one comes twice with copies. */
static Keys
keys_of(const CuckooHeader *h, const uint64_t *hashes, uint64_t n, bool copies)
{
	uint64_t	all = copies ? n + n / 2 : n;
	Keys		run = {alloc(all), 0};
	uint64_t   *scratch = alloc(all);

	for (uint64_t i = 0; i < all; i++)
		run.keys[i] = i < n ? hashes[i] : hashes[(i - n) * 2];
	cuckoo_keys_of_hashes(h, run.keys, all, scratch);
	run.n = cuckoo_keys_limit(run.keys, all, 1);
	free(scratch);
	return run;
}

static bool
measure(double fpp, uint64_t capacity, uint64_t a, uint64_t b,
		uint64_t common, bool copies, int pairs)
{
	CuckooHeader h;
	uint64_t   *hashes = alloc(a + b);
	double		sum = 0,
				squares = 0,
				expected = 0,
				mean,
				deviation,
				error;

	if (cuckoo_header_sized(&h, capacity, cuckoo_fpp_bits(fpp), 0) != CUCKOO_OK)
		exit(1);
	for (int pair = 0; pair < pairs; pair++)
	{
		CuckooOverlap overlap;
		Keys		run_a,
					run_b;
		uint64_t	matches;

		for (uint64_t i = 0; i < a + b - common; i++)
			hashes[i] = next_random();
		run_a = keys_of(&h, hashes, a, copies);
		run_b = keys_of(&h, hashes + a - common, b, copies);
		matches = cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, run_a.keys,
									run_a.n, run_b.keys, run_b.n, NULL);
		cuckoo_overlap(&h, run_a.n, run_b.n, matches, &overlap);
		error = overlap.common - (double) common;
		sum += error;
		squares += error * error;
		expected += overlap.standard_error * overlap.standard_error;
		free(run_a.keys);
		free(run_b.keys);
	}
	mean = sum / pairs;
	deviation = sqrt(squares / pairs);
	error = sqrt(expected / pairs / pairs);
	printf("%5g | %9" PRIu64 " | %9" PRIu64 " | %9" PRIu64 " | %7" PRIu64 " | %s | %9.3f | %5.2f | %8.3f | %8.3f\n",
		   fpp, capacity, a, b, common, copies ? "yes" : "no ", mean,
		   error > 0 ? mean / error : 0, deviation, sqrt(expected / pairs));
	free(hashes);
	return fabs(mean) <= 3 * error || pairs == 1;
}

int
main(int argc, char **argv)
{
	static const double rates[] = {0.5, 0.03, 0.01, 0.001};
	int			pairs = argc > 1 ? (int) strtol(argv[1], NULL, 10) : 300;
	uint64_t	capacity = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	int			rows = 0,
				good = 0;

	printf("  fpp |  capacity |         a |         b |  common | copies | mean error | s.e. | spread | stated\n");
	for (int r = 0; r < 4; r++)
		for (int size = 0; size < 3; size++)
			for (int kind = 0; kind < 6; kind++)
			{
				uint64_t	a = size == 0 ? capacity : size == 1 ? 2 * capacity :
					capacity / 1000;
				uint64_t	b = kind % 3 == 2 ? a / 100 : a;
				uint64_t	common = kind % 3 == 1 ? b / 10 : kind % 3 == 2 ?
					b / 2 : 0;

				rows++;
				good += measure(rates[r], capacity, a, b, common, kind >= 3,
								pairs);
			}
	printf("%d of %d mean errors are within 3 standard errors\n", good, rows);
	return rows - good > 1;
}
