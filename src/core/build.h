/*-------------------------------------------------------------------------
 *
 * core/build.h
 *		Building a filter from all its elements at once.
 *
 * cuckoo_build() takes the sorted hashes, and places their fingerprints into
 * unpacked slots of two or four bytes each, in a workspace of
 * cuckoo_build_size() bytes; cuckoo_build_pack() then packs each slot once.
 *
 * The same hashes give the same image.  Of elements with the same fingerprint
 * and buckets two copies are kept, as with cuckoo_insert().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUILD_H
#define CUCKOO_BUILD_H

#include "core/format.h"

/* The size in bytes of the workspace, which is aligned as malloc() does. */
extern uint64_t cuckoo_build_size(const CuckooHeader *h);

/*
 * Places `n` sorted hashes or keys, each at most twice, into `slots`, with the
 * geometry and level of *h, and counts them in h->items.  Returns CUCKOO_OK, or
 * CUCKOO_FULL if they need a larger geometry or a higher level.
 */
extern CuckooStatus cuckoo_build(CuckooHeader *h, const uint64_t *hashes,
								 uint64_t n, void *slots);

/* Writes the image, with its header, from the slots of cuckoo_build(). */
extern void cuckoo_build_pack(const CuckooHeader *h, void *slots,
							  uint8_t *image);

#endif							/* CUCKOO_BUILD_H */
