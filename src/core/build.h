/*-------------------------------------------------------------------------
 *
 * core/build.h
 *		Building a filter from all its elements at once.
 *
 * The same hashes give the same image.  Elements with the same fingerprint and
 * buckets leave at most two copies, as with cuckoo_insert().
 *
 * cuckoo_build() takes the sorted distinct hashes.  It places their
 * fingerprints into unpacked slots of two or four bytes each, in the caller's
 * workspace.  cuckoo_build_pack() packs these slots once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUILD_H
#define CUCKOO_BUILD_H

#include "core/format.h"

/* The size in bytes of the workspace, which is aligned as malloc() does. */
extern uint64_t cuckoo_build_size(const CuckooHeader *h);

/*
 * Places `n` hashes, sorted and distinct, into `slots`, with the geometry and
 * level of *h, and counts them in h->items.  Returns CUCKOO_OK, or CUCKOO_FULL
 * if they do not fit.  Then retry with a larger geometry or a higher level.
 */
extern CuckooStatus cuckoo_build(CuckooHeader *h, const uint64_t *hashes,
								 uint64_t n, void *slots);

/* Writes the image, with its header, from the slots of cuckoo_build(). */
extern void cuckoo_build_pack(const CuckooHeader *h, void *slots,
							  uint8_t *image);

#endif							/* CUCKOO_BUILD_H */
