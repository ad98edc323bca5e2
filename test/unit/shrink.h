/*-------------------------------------------------------------------------
 *
 * shrink.h
 *		The reverse of growth, for tests: a filter one level down.
 *
 * The extension does not need it, as cf_canonical() places keys anew.
 * unit_shrink() moves each fingerprint by itself, as growth does, and so tells
 * whether growth has lost a bit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SHRINK_H
#define SHRINK_H

#include "core/evict.h"

/* A fingerprint one level down, if it is found at j in the given half. */
static inline uint32_t
fingerprint_down(const CuckooHeader *h, uint32_t j, uint32_t fp, uint32_t half)
{
	uint32_t	fixed = fp & 0xff;
	uint32_t	ext = fp >> CUCKOO_FIXED_BITS;
	CuckooHeader below = *h;

	below.level--;
	ext = ext << 1 | (half ^ cuckoo_growth_flip(&below, j, fixed));
	return fixed | ext << CUCKOO_FIXED_BITS;
}

/*
 * Collects the fingerprints of a bucket one level down, eight at most.  Returns
 * their number.
 */
static inline int
merged_bucket(const CuckooTable *from, uint32_t pos, uint32_t j,
			  uint32_t merged[2 * CUCKOO_SLOTS])
{
	uint32_t	half_buckets = from->header->buckets / 2;
	int			n = 0;

	for (uint32_t half = 0; half < 2; half++)
	{
		uint32_t	slots[CUCKOO_SLOTS];

		cuckoo_table_get(from, pos + half * half_buckets, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
			if (slots[i] != 0)
				merged[n++] = fingerprint_down(from->header, j, slots[i], half);
	}
	return n;
}

/*
 * Writes the filter to `image`, one level down.  The caller calls
 * cuckoo_header_set_level(h, old->level - 1) first.  `image` is zeroed memory of
 * the size of *h.  Returns CUCKOO_OK, or CUCKOO_FULL if the items do not fit
 * there; then the contents of `image` are undefined.
 */
static inline CuckooStatus
unit_shrink(const CuckooHeader *old, const uint8_t *old_image, CuckooHeader *h,
			uint8_t *image)
{
	CuckooTable from = {old, (uint8_t *) old_image + CUCKOO_HEADER_SIZE, NULL};
	CuckooTable to = {h, image + CUCKOO_HEADER_SIZE, NULL};

	CUCKOO_ASSERT(h->level == old->level - 1 && h->base == old->base);
	if (h->items > (uint64_t) h->buckets * CUCKOO_SLOTS)
		return CUCKOO_FULL;

	/* first the fingerprints that find room where they are, then the others */
	for (int overflow = 0; overflow < 2; overflow++)
	{
		uint32_t	j = 0;

		for (uint32_t pos = 0; pos < h->buckets; pos++)
		{
			uint32_t	merged[2 * CUCKOO_SLOTS] = {0};
			int			n = merged_bucket(&from, pos, j, merged);

			if (!overflow)
				cuckoo_table_put(&to, pos, merged);
			for (int i = CUCKOO_SLOTS; overflow && i < n; i++)
			{
				CuckooPair	pair = {
					merged[i], pos, cuckoo_partner(h, pos, merged[i])
				};

				if (cuckoo_table_insert(&to, pair) != CUCKOO_OK)
					return CUCKOO_FULL;
			}
			if (++j == h->base)
				j = 0;
		}
	}
	cuckoo_header_write(h, image);
	return CUCKOO_OK;
}

#endif							/* SHRINK_H */
