/*-------------------------------------------------------------------------
 *
 * cuckoo_change.h
 *		Insert, remove, grow, shrink.
 *
 * Changes keep an image and its CuckooHeader in step.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CHANGE_H
#define CUCKOO_CHANGE_H

#include "cuckoo_format.h"

/*
 * Whether a filter that has no room for another of `items` elements owes that
 * to elements made to collide: it has more than 64 buckets, and a load under
 * one eighth.
 *
 * Five classes of elements in one pair of buckets, each added twice, are enough
 * to block one, and among honest elements some do: one in 50,000 fills through
 * 64 to 1000 buckets meets them, at loads down to 0.23.  To get under one
 * eighth a filter would have to grow so twice on end.  What crafted elements
 * can make of a filter is so bounded to 16 times the size of its content.
 */
static inline bool
cuckoo_is_crafted(const CuckooHeader *h, uint64_t items)
{
	return h->buckets > 64 && 2 * items < h->buckets;
}

/*
 * Adds one copy unless `max_copies` (1 or 2) are there.  Of the header in the
 * image only the number of items is written.
 *
 * CUCKOO_OK, CUCKOO_UNCHANGED, or, with nothing changed:
 *	CUCKOO_FULL			the filter should grow
 *	CUCKOO_LAST_LEVEL	it should, but no bit is left
 *	CUCKOO_CRAFTED		cuckoo_is_crafted(): growing would not end
 */
extern CuckooStatus cuckoo_insert(CuckooHeader *h, uint8_t *image,
								  uint64_t hash, int max_copies);

/* Removes the element if one copy is there; CUCKOO_OK or CUCKOO_UNCHANGED. */
extern CuckooStatus cuckoo_remove(CuckooHeader *h, uint8_t *image,
								  uint64_t hash);

/*
 * Writes the filter, one level up, to `image`, zeroed memory of the size that
 * *h has after cuckoo_header_set_level(h, old->level + 1).  Cannot fail.
 */
extern void cuckoo_grow(const CuckooHeader *old, const uint8_t *old_image,
						CuckooHeader *h, uint8_t *image);

/*
 * The same one level down.  CUCKOO_OK, or CUCKOO_FULL when the items do not
 * fit there; then `image` is garbage.
 */
extern CuckooStatus cuckoo_shrink(const CuckooHeader *old,
								  const uint8_t *old_image,
								  CuckooHeader *h, uint8_t *image);

#endif							/* CUCKOO_CHANGE_H */
