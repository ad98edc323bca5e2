/*-------------------------------------------------------------------------
 *
 * core/change.h
 *		Inserting, removing and growing.
 *
 * Changes keep an image and its CuckooHeader in step.  A change that fails
 * leaves both as they were.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CHANGE_H
#define CUCKOO_CHANGE_H

#include "core/format.h"

/*
 * True if a filter of `items` elements that has no room for another one must
 * have been given elements crafted to collide: it has more than 64 buckets and
 * a load factor below one eighth.
 *
 * Five fingerprints in one pair of buckets, each added twice, block the pair.
 * This happens with honest elements in one of 50,000 fills through 64 to 1000
 * buckets, at load factors down to 0.23, but to get below one eighth a filter
 * would have to grow for this reason twice in a row.  Crafted elements can
 * therefore make a filter at most 16 times as large as its contents.
 */
static inline bool
cuckoo_is_crafted(const CuckooHeader *h, uint64_t items)
{
	return h->buckets > 64 && 2 * items < h->buckets;
}

/*
 * Adds one copy, unless the filter holds `max_copies` (1 or 2) already.  Of the
 * image's header, only the number of items is written.
 *
 * Returns CUCKOO_OK or CUCKOO_UNCHANGED or, with nothing changed:
 *	CUCKOO_FULL			the filter should grow
 *	CUCKOO_LAST_LEVEL	the filter should grow, but no bit is left
 *	CUCKOO_CRAFTED		cuckoo_is_crafted(): growing would not help
 */
extern CuckooStatus cuckoo_insert(CuckooHeader *h, uint8_t *image,
								  uint64_t hash, int max_copies);

/*
 * Removes the element if the filter holds one copy.  Returns CUCKOO_OK or
 * CUCKOO_UNCHANGED.
 */
extern CuckooStatus cuckoo_remove(CuckooHeader *h, uint8_t *image,
								  uint64_t hash);

/*
 * Writes the filter to `image`, one level up.  *h is a copy of *old after
 * cuckoo_header_set_level(h, old->level + 1), and `image` is zeroed memory of
 * its size.  This cannot fail.
 */
extern void cuckoo_grow(const CuckooHeader *old, const uint8_t *old_image,
						CuckooHeader *h, uint8_t *image);

#endif							/* CUCKOO_CHANGE_H */
