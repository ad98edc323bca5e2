/*-------------------------------------------------------------------------
 *
 * bench.c
 *		Probes a second of processor time, which other processes hardly change.
 *
 * usage: bench FILE
 *
 * FILE is the image of a filter of the integers from 1 on, or of the texts
 * 'https://example.com/' || i.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoofilter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PROBES	1000000
#define LONGEST	40				/* bytes of a text */

static char image[64 << 20];
static size_t size;
static cuckoofilter *filter;
static int64_t first;			/* the first integer to probe */
static char texts[PROBES][LONGEST];
static int	lengths[PROBES];
static uint64_t hashes[PROBES];
static bool found[PROBES];

/* Each returns how many it found. */

static size_t
load(void)
{
	cuckoofilter *f;

	if (cuckoofilter_open(image, size, &f) != CUCKOOFILTER_OK)
		return 0;
	cuckoofilter_close(f);
	return cuckoofilter_items(filter);
}

static size_t
contains_int64(void)
{
	size_t		n = 0;

	for (int64_t i = 0; i < PROBES; i++)
		n += cuckoofilter_contains_int64(filter, first + i) == 1;
	return n;
}

static size_t
contains_text(void)
{
	size_t		n = 0;

	for (int i = 0; i < PROBES; i++)
		n += cuckoofilter_contains_text(filter, texts[i],
										(size_t) lengths[i]) == 1;
	return n;
}

static size_t
contains_hashes(void)
{
	size_t		n = 0;

	cuckoofilter_contains_hashes(filter, hashes, PROBES, found);
	for (int i = 0; i < PROBES; i++)
		n += found[i];
	return n;
}

static size_t
hash_int64(void)
{
	for (int64_t i = 0; i < PROBES; i++)
		cuckoofilter_hash_int64(filter, first + i, &hashes[i]);
	return contains_hashes();
}

static size_t
hash_text(void)
{
	for (int i = 0; i < PROBES; i++)
		cuckoofilter_hash_text(filter, texts[i], (size_t) lengths[i],
							   &hashes[i]);
	return contains_hashes();
}

/* All that is probed from the middle of the filter on, half of it members. */
static void
measure(const char *what, size_t count, size_t members, size_t (*run) (void))
{
	double		best = 1e9;

	for (int i = 0; i < 5; i++)
	{
		clock_t		start = clock();
		size_t		n = run();
		double		seconds = (double) (clock() - start) / CLOCKS_PER_SEC;

		if (n < members)
		{
			fprintf(stderr, "members are missing\n");
			exit(1);
		}
		best = seconds < best ? seconds : best;
	}
	printf("%-45s %14.0f a second\n", what, (double) count / best);
}

int
main(int argc, char **argv)
{
	FILE	   *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	size_t		items;
	size_t		members;

	if (file == NULL)
		return 2;
	size = fread(image, 1, sizeof(image), file);
	fclose(file);
	if (cuckoofilter_open(image, size, &filter) != CUCKOOFILTER_OK)
		return 2;
	items = cuckoofilter_items(filter);
	members = items / 2 < PROBES ? items / 2 : PROBES;
	first = (int64_t) (items - members + 1);
	for (int i = 0; i < PROBES; i++)
		lengths[i] = snprintf(texts[i], LONGEST, "https://example.com/%" PRId64,
							  first + i);
	printf("%zu items, family %s, %zu bytes\n", items,
		   cuckoofilter_family_name(cuckoofilter_family(filter)), size);
	measure("cuckoofilter_open, items", items, items, load);
	if (cuckoofilter_family(filter) == CUCKOOFILTER_INTEGER)
	{
		measure("cuckoofilter_contains_int64", PROBES, members, contains_int64);
		measure("cuckoofilter_hash_int64, contains_hashes", PROBES, members,
				hash_int64);
	}
	else
	{
		measure("cuckoofilter_contains_text", PROBES, members, contains_text);
		measure("cuckoofilter_hash_text, contains_hashes", PROBES, members,
				hash_text);
	}
	cuckoofilter_close(filter);
	return 0;
}
