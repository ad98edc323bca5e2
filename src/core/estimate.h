/*-------------------------------------------------------------------------
 *
 * core/estimate.h
 *		How many elements two filters have in common, by the numbers of their
 *		distinct keys (core/keys.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ESTIMATE_H
#define CUCKOO_ESTIMATE_H

#include "core/geometry.h"

/*
 * Estimates of the numbers of elements of two filters, and of those that they
 * have in common.
 */
typedef struct CuckooOverlap
{
	double		a;
	double		b;
	double		common;			/* may be below 0, if there are none */
	double		standard_error; /* of `common` */
} CuckooOverlap;

/*
 * These estimates for two filters of the geometry *h.  They follow from the
 * numbers of distinct keys: those of a, those of b, and those in both.  Copies
 * do not matter, and the estimates have no bias.  For disjoint sets of a and b
 * elements, 258/256 * 2 * a * b / (m0 * 2^f0) matches are expected by chance.
 * The standard error is then about the square root of this.
 */
extern void cuckoo_overlap(const CuckooHeader *h, uint64_t a_keys,
						   uint64_t b_keys, uint64_t common_keys,
						   CuckooOverlap *overlap);

#endif							/* CUCKOO_ESTIMATE_H */
