/*-------------------------------------------------------------------------
 *
 * test_sort.c
 *		Sorted words, against qsort().
 *
 * usage: test_sort [seed [long]]
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "core/core.h"

static int
compare(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* A word of one of some kinds: random, or with bits that many words share. */
static uint64_t
some_word(int kind, uint64_t i)
{
	uint64_t	r = unit_random();

	switch (kind)
	{
		case 0:
			return r;
		case 1:					/* hashes of few values */
			return r % 16 * UINT64_C(0x9e3779b97f4a7c15);
		case 2:					/* equal high bits */
			return r >> 40;
		case 3:					/* equal low bits, and a few high ones */
			return r & UINT64_C(0xf0000fff00000000);
		default:				/* in descending order */
			return ~i;
	}
}

static void
test_words(uint64_t n, int kind, int low, uint64_t places)
{
	uint64_t   *words = unit_alloc((n + 1) * sizeof(uint64_t));
	uint64_t   *sorted = unit_alloc((n + 1) * sizeof(uint64_t));
	uint64_t   *scratch = unit_alloc((n + 1) * sizeof(uint64_t));

	for (uint64_t i = 0; i < n; i++)
		words[i] = sorted[i] = some_word(kind, i);
	qsort(sorted, (size_t) n, sizeof(uint64_t), compare);
	cuckoo_sort(words, n, scratch, low, places);
	CHECK(memcmp(words, sorted, n * sizeof(uint64_t)) == 0,
		  "%" PRIu64 " words of kind %d, by %d bits and %" PRIu64 " places", n,
		  kind, low, places);
	free(words);
	free(sorted);
	free(scratch);
}

/* Words that agree in the bits to sort by take longer, but are sorted, too. */
static void
test_sort(void)
{
	for (int i = 0; i < (unit_long ? 20000 : 1000); i++)
	{
		uint64_t	n = unit_below(i % 20 == 0 ? 20000 : 600);
		int			low = i % 2 == 0 ? 0 : (int) unit_below(33);

		test_words(n, i % 5, low, i % 3 == 0 ? 4 * n : unit_random() >> unit_below(64));
	}
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_sort");
	TEST(test_sort());
	return unit_end();
}
