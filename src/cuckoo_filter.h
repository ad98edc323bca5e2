/*-------------------------------------------------------------------------
 *
 * cuckoo_filter.h
 *		Operations on one filter: contains, copies, insert, remove, grow,
 *		shrink.
 *
 * All work on an image in the caller's memory and the CuckooHeader that
 * cuckoo_header_read() made of it, which they keep in step.  Elements are
 * 64-bit hashes.
 *
 * A filter holds at most two copies of what looks the same to it, that is of
 * one fingerprint in one pair of buckets.  Two means "two or more": further
 * inserts and all removes leave it as it is.  So repeated elements cannot fill
 * their buckets, and no remove of an element that was inserted can take
 * another one with it.  What looks the same does so at every growth level.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "cuckoo_format.h"
#include "cuckoo_validate.h"

#define CUCKOO_MAX_COPIES	2

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

/* Is an element like this in the filter?  Reads two buckets. */
extern bool cuckoo_contains(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/* How many copies: 0, 1, or 2 for two or more. */
extern int	cuckoo_copies(const CuckooHeader *h, const uint8_t *image,
						  uint64_t hash);

/*
 * found[i] = cuckoo_contains(hashes[i]) for n hashes, several times as fast
 * where the image is larger than the processor's cache.
 */
extern void cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
								  const uint64_t *hashes, size_t n,
								  bool *found);

/*
 * Has the processor fetch what a lookup or a change of the element reads; worth
 * it for an element that follows some others.
 */
extern void cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/*
 * A lookup in an image of which only parts are at hand: cuckoo_probe_init()
 * says which, `length` bytes from each of the two offsets of the image on, and
 * cuckoo_probe_copies() looks into these bytes; 0, 1, or 2 for two or more.
 */
typedef struct CuckooProbe
{
	uint64_t	offset[2];
	int			length;
	uint32_t	fp;
	uint32_t	pos[2];
} CuckooProbe;

extern void cuckoo_probe_init(CuckooProbe *probe, const CuckooHeader *h,
							  uint64_t hash);
extern int	cuckoo_probe_copies(const CuckooProbe *probe,
								const CuckooHeader *h,
								const uint8_t *bytes0, const uint8_t *bytes1);

/*
 * Adds one copy unless `max_copies` (1 or 2) are there.
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

/*
 * A table of buckets for placing fingerprints: those of an image, or slots
 * unpacked for a batch build (four a bucket, filled from the first on).
 */
typedef struct CuckooTable
{
	const CuckooHeader *header;
	uint8_t    *buckets;
	uint32_t   *slots;			/* used unless NULL */
} CuckooTable;

/*
 * Makes room for `fp` in the full bucket `pos` by a walk of evictions and puts
 * it there.  `random` seeds the choice of victims.  CUCKOO_OK, or CUCKOO_FULL
 * with the table as it was.
 */
extern CuckooStatus cuckoo_evict(const CuckooTable *table, uint32_t fp,
								 uint32_t pos, uint64_t random);

#endif							/* CUCKOO_FILTER_H */
