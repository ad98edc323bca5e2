/*-------------------------------------------------------------------------
 *
 * cuckoo_build.h
 *		A filter from all its elements at once.
 *
 * Takes the sorted distinct hashes, places their fingerprints into unpacked
 * slots, four bytes each, in the caller's workspace, and packs these once.
 * The same hashes give the same image.  Elements that look the same to the
 * filter leave two copies at most, as in cuckoo_filter.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUILD_H
#define CUCKOO_BUILD_H

#include "cuckoo_format.h"

/* Slots, of four bytes, that cuckoo_build() needs as its workspace. */
static inline uint64_t
cuckoo_build_slots(const CuckooHeader *h)
{
	return (uint64_t) h->buckets * 4;
}

/*
 * Places `n` hashes, sorted and distinct, into `slots`, with the geometry and
 * level of *h, and counts them in h->items.  CUCKOO_OK; CUCKOO_FULL when they
 * do not fit: retry with a larger geometry or a higher level.
 */
extern CuckooStatus cuckoo_build(CuckooHeader *h, const uint64_t *hashes,
								 uint64_t n, uint32_t *slots);

/* Writes the image of what cuckoo_build() placed, header and all. */
extern void cuckoo_build_pack(const CuckooHeader *h, const uint32_t *slots,
							  uint8_t *image);

#endif							/* CUCKOO_BUILD_H */
