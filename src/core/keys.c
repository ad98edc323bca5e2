/*-------------------------------------------------------------------------
 *
 * core/keys.c
 *		Converts a filter to a sorted run of keys, merges runs, and chooses
 *		the level for a run.  README, "Keys", explains keys.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "core/bucket.h"
#include "core/position.h"

/*
 * The most items for which a level is tried: 3.92 of the 4 slots of a bucket.
 * Some sets of keys do not fit above 3.85; no set was seen to fit above 3.92.
 */
#define MOST_ITEMS(buckets)	((uint64_t) (buckets) * 98 / 25)

/* The key of a fingerprint and a pair of base buckets; j is the smaller one. */
static inline uint64_t
make_key(const CuckooHeader *h, uint32_t j, uint32_t fp)
{
	return ((j * h->base_inverse >> 32) + 1) << 32 | fp;
}

/* ---- reading ---- */

/* The key of a fingerprint in segment `segment` at base bucket j. */
static inline uint64_t
stored_key(const CuckooHeader *h, uint32_t segment, uint32_t j, uint32_t fp)
{
	CuckooMapping mapping = h->mappings[fp & 0xff];
	uint32_t	other = (uint32_t) cuckoo_partner_base(h, mapping, j);
	uint32_t	ext;

	if (other < j)
	{
		/* P is 0 for near */
		segment ^= cuckoo_far_segment(mapping) & h->level_mask;
		j = other;
	}
	ext = (fp >> CUCKOO_FIXED_BITS) << h->level | segment;
	return make_key(h, j, ext << CUCKOO_FIXED_BITS | (fp & 0xff));
}

CuckooStatus
cuckoo_keys_read(const CuckooHeader *h, const uint8_t *image, uint64_t *keys,
				 uint64_t *scratch)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	n = 0;
	uint32_t	segment = 0;
	uint32_t	j = 0;

	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		uint32_t	slots[CUCKOO_SLOTS];

		cuckoo_pause(pos);
		cuckoo_bucket_unpack(cuckoo_bucket_load(buckets, h, pos),
							 h->bits, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			if (slots[i] == 0)
				continue;
			if (n == h->items)
				return CUCKOO_BAD_ITEMS;
			keys[n++] = stored_key(h, segment, j, slots[i]);
		}
		if (++j == h->base)
		{
			j = 0;
			segment++;
		}
	}
	if (n != h->items)
		return CUCKOO_BAD_ITEMS;
	cuckoo_sort(keys, n, scratch, h->base_bits, h->base);
	return CUCKOO_OK;
}

/* The key of a hash. */
static inline uint64_t
hash_key(const CuckooHeader *h, uint64_t hash)
{
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint32_t	j2 = (uint32_t) cuckoo_partner_base(h, h->mappings[hash & 0xff],
													j1);
	uint32_t	fp = (uint32_t) hash & (uint32_t) cuckoo_low_mask(h->base_bits);

	return make_key(h, j1 < j2 ? j1 : j2, cuckoo_fingerprint(fp));
}

void
cuckoo_keys_of_hashes(const CuckooHeader *h, uint64_t *hashes, uint64_t n,
					  uint64_t *scratch)
{
	for (uint64_t i = 0; i < n; i++)
	{
		cuckoo_pause(i);
		hashes[i] = hash_key(h, hashes[i]);
	}
	cuckoo_sort(hashes, n, scratch, h->base_bits, h->base);
}

uint64_t
cuckoo_keys_limit(uint64_t *keys, uint64_t n, uint64_t copies)
{
	uint64_t	kept = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		cuckoo_pause(i);
		keys[kept] = keys[i];
		kept += kept < copies || keys[kept - copies] != keys[i];
	}
	return kept;
}

/* ---- merging ---- */

/*
 * Merges two runs: each step takes the smaller first key of both runs, or both
 * keys if they are equal.  Does not branch on which key is smaller, because
 * this is unpredictable.  `how` is a constant.  For example, with runs {A, B}
 * and {A, C}:
 *
 *	union			{A, B, C}
 *	sum				{A, A, B, C}
 *	intersection	{A}
 */
static CUCKOO_INLINE uint64_t
merge(CuckooMerge how, const uint64_t *a, uint64_t a_count, const uint64_t *b,
	  uint64_t b_count, uint64_t *out)
{
	uint64_t	i = 0;
	uint64_t	j = 0;
	uint64_t	n = 0;

	for (uint64_t step = 0; i < a_count && j < b_count; step++)
	{
		uint64_t	x = a[i];
		uint64_t	y = b[j];

		cuckoo_pause(step);
		if (how != CUCKOO_MERGE_INTERSECTION || out != NULL)
			out[n] = x < y ? x : y;
		i += x <= y;
		if (how == CUCKOO_MERGE_SUM)
		{
			/* takes equal keys one by one, at most two copies */
			j += y < x;
			n += n < CUCKOO_MAX_COPIES ||
				out[n - CUCKOO_MAX_COPIES] != out[n];
		}
		else
		{
			j += y <= x;
			n += how == CUCKOO_MERGE_UNION || x == y;
		}
	}
	if (how == CUCKOO_MERGE_INTERSECTION)
		return n;

	/* the rest of one run; for a sum, it may repeat the last key */
	if (i == a_count)
	{
		a = b;
		i = j;
		a_count = b_count;
	}
	for (; i < a_count; i++)
	{
		out[n] = a[i];
		n += how == CUCKOO_MERGE_UNION || n < CUCKOO_MAX_COPIES ||
			out[n - CUCKOO_MAX_COPIES] != out[n];
	}
	return n;
}

uint64_t
cuckoo_keys_merge(CuckooMerge how, const uint64_t *a, uint64_t a_count,
				  const uint64_t *b, uint64_t b_count, uint64_t *out)
{
	switch (how)
	{
		case CUCKOO_MERGE_UNION:
			return merge(CUCKOO_MERGE_UNION, a, a_count, b, b_count, out);
		case CUCKOO_MERGE_SUM:
			return merge(CUCKOO_MERGE_SUM, a, a_count, b, b_count, out);
		case CUCKOO_MERGE_INTERSECTION:
			break;
	}
	return merge(CUCKOO_MERGE_INTERSECTION, a, a_count, b, b_count, out);
}

uint64_t
cuckoo_keys_count(const CuckooRun *a, const CuckooRun *b,
				  uint32_t most, CuckooRun *out)
{
	uint64_t	i = 0;
	uint64_t	j = 0;
	uint64_t	n = 0;

	/* without a branch on which key is smaller, as in merge() */
	for (; i < a->count && j < b->count; n++)
	{
		uint64_t	x = a->keys[i];
		uint64_t	y = b->keys[j];
		uint32_t	in_a = x <= y;
		uint32_t	in_b = y <= x;
		uint64_t	times = (uint64_t) (a->times[i] & (0 - in_a)) +
			(b->times[j] & (0 - in_b));

		cuckoo_pause(n);
		out->keys[n] = x < y ? x : y;
		out->times[n] = times < most ? (uint32_t) times : most;
		i += in_a;
		j += in_b;
	}
	if (i == a->count)
	{
		a = b;
		i = j;
	}
	for (; i < a->count; i++, n++)
	{
		out->keys[n] = a->keys[i];
		out->times[n] = a->times[i];
	}
	out->count = n;
	return n;
}

void
cuckoo_keys_once(CuckooRun *run)
{
	for (uint64_t i = 0; i < run->count; i++)
	{
		cuckoo_pause(i);
		run->times[i] = 1;
	}
}

uint64_t
cuckoo_keys_at_least(const CuckooRun *run, uint32_t least, uint64_t *keys)
{
	uint64_t	n = 0;

	for (uint64_t i = 0; i < run->count; i++)
	{
		cuckoo_pause(i);
		keys[n] = run->keys[i];
		n += run->times[i] >= least;
	}
	return n;
}

/* ---- building ---- */

CuckooStatus
cuckoo_keys_level(CuckooHeader *h, uint64_t n)
{
	CuckooStatus status = cuckoo_header_set_level(h, 0);

	while (status == CUCKOO_OK && MOST_ITEMS(h->buckets) < n)
	{
		status = cuckoo_header_set_level(h, h->level + 1);
		/* try the last level while there are slots */
		if (status != CUCKOO_OK && n <= (uint64_t) h->buckets * CUCKOO_SLOTS)
			return CUCKOO_OK;
	}
	return status;
}
