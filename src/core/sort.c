/*-------------------------------------------------------------------------
 *
 * core/sort.c
 *		Sorting hashes and keys, whose bits are random.
 *
 * Counting passes, from the lowest digit up (Knuth, The Art of Computer
 * Programming, 5.2.5), over the bits in which almost all words differ.  Then
 * insertion sorts of the words that are equal in these bits.  A sort by
 * comparison would take a third of the time of cf_agg.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"

/* The counters of a pass fit in the L1 cache.  Fewer words need no pass. */
#define DIGIT_BITS		CUCKOO_LIMIT(11, 4)
#define SMALL_SORT		CUCKOO_LIMIT(200, 12)

/* A stable sort by `bits` bits of the words, from bit `shift` up. */
static void
sort_pass(const uint64_t *from, uint64_t *to, uint64_t n, int shift, int bits)
{
	uint64_t	offsets[1 << DIGIT_BITS];
	uint32_t	mask = (UINT32_C(1) << bits) - 1;
	uint64_t	sum = 0;

	cuckoo_check_interrupts();
	memset(offsets, 0, (mask + 1) * sizeof(uint64_t));
	for (uint64_t i = 0; i < n; i++)
		offsets[from[i] >> shift & mask]++;
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		uint64_t	count = offsets[digit];

		offsets[digit] = sum;
		sum += count;
	}
	for (uint64_t i = 0; i < n; i++)
		to[offsets[from[i] >> shift & mask]++] = from[i];
}

uint64_t *
cuckoo_sort_bits(uint64_t *words, uint64_t n, uint64_t *scratch, int low,
				 int high)
{
	int			passes = (high - low + DIGIT_BITS - 1) / DIGIT_BITS;

	/* passes of about equal width */
	for (; passes > 0; passes--)
	{
		int			bits = (high - low + passes - 1) / passes;
		uint64_t   *sorted = scratch;

		sort_pass(words, sorted, n, low, bits);
		scratch = words;
		words = sorted;
		low += bits;
	}
	return words;
}

static void
sort_in_place(uint64_t *words, uint64_t n, uint64_t *scratch, int low, int high)
{
	if (cuckoo_sort_bits(words, n, scratch, low, high) != words)
		memcpy(words, scratch, n * sizeof(uint64_t));
}

static void
insertion_sort(uint64_t *words, uint64_t n)
{
	for (uint64_t i = 1; i < n; i++)
	{
		uint64_t	word = words[i];
		uint64_t	k = i;

		for (; k > 0 && words[k - 1] > word; k--)
			words[k] = words[k - 1];
		words[k] = word;
	}
}

void
cuckoo_sort(uint64_t *words, uint64_t n, uint64_t *scratch, int low,
			uint64_t places)
{
	int			high = 64;		/* first of the high bits */
	uint64_t	end;

	if (n < SMALL_SORT)
	{
		insertion_sort(words, n);
		return;
	}
	do
		high--;
	while ((places >>= 1) != 0 && high > low);
	sort_in_place(words, n, scratch, 0, low);
	sort_in_place(words, n, scratch, high, 64);

	/*
	 * sort words with equal high bits, which may differ between `low` and
	 * `high`
	 */
	for (uint64_t i = 0; i < n; i = end)
	{
		bool		sorted = true;

		for (end = i + 1;
			 end < n && (words[end] ^ words[i]) >> high == 0;
			 end++)
			sorted &= words[end - 1] <= words[end];
		if (!sorted && end - i < SMALL_SORT)
			insertion_sort(words + i, end - i);
		else if (!sorted)
			sort_in_place(words + i, end - i, scratch + i, 0, high);
	}
}
