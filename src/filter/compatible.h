/*-------------------------------------------------------------------------
 *
 * filter/compatible.h
 *		Which filters can be combined.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMPATIBLE_H
#define CUCKOO_COMPATIBLE_H

#include "filter/filter.h"

/* True if the keys of both filters mean the same. */
extern bool cuckoo_is_compatible(const CuckooHeader *a, const CuckooHeader *b);

/* Throws an error that says in what they differ, unless they are compatible. */
extern void cuckoo_check_compatible(const CuckooHeader *a,
									const CuckooHeader *b);

/*
 * Gives *h what it lacks and another filter has, before both are combined: the
 * family, and the geometry and seed if it is neutral.  Of two neutral filters
 * the result is the one with the lower fpp, whatever their order.
 */
extern void cuckoo_adopt(CuckooHeader *h, const CuckooHeader *other);

#endif							/* CUCKOO_COMPATIBLE_H */
