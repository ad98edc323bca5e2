/*-------------------------------------------------------------------------
 *
 * cuckoo_lookup.h
 *		Is an element in the filter, and how often?
 *
 * Lookups read an image, whole or in parts, by the CuckooHeader that
 * cuckoo_header_read() made of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LOOKUP_H
#define CUCKOO_LOOKUP_H

#include "cuckoo_format.h"

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

#endif							/* CUCKOO_LOOKUP_H */
