/*-------------------------------------------------------------------------
 *
 * core/lookup.h
 *		Whether an element is in the filter, and in how many copies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LOOKUP_H
#define CUCKOO_LOOKUP_H

#include "core/format.h"

/* True if the filter contains the element.  Reads two buckets. */
extern bool cuckoo_contains(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/* The copies of the element: 0, 1, or 2 for two or more. */
extern int	cuckoo_copies(const CuckooHeader *h, const uint8_t *image,
						  uint64_t hash);

/*
 * Sets found[i] to what cuckoo_contains() returns for hashes[i], for n hashes.
 * This is several times as fast as single lookups if the image is larger than
 * the processor's cache.
 */
extern void cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
								  const uint64_t *hashes, size_t n,
								  bool *found);

/* Prefetches what a lookup or a change reads.  Call it some elements ahead. */
extern void cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/*
 * A lookup in an image that is not in memory.  cuckoo_probe_init() says which
 * parts of the image to fetch: `length` bytes from each of the two offsets on.
 * cuckoo_probe_copies() takes these bytes, and returns what cuckoo_copies()
 * would.
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

#endif							/* CUCKOO_LOOKUP_H */
