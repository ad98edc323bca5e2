/*-------------------------------------------------------------------------
 *
 * cuckoo_keys.h
 *		A filter as a sorted run of keys: taken apart, combined, put together.
 *
 * Every entry of a filter, at any growth level, stands for a 64-bit key: which
 * pair of base buckets it belongs to, and its fingerprint at level 0.  So a
 * filter of one geometry is a multiset of keys, each once or twice, and growth
 * is only a way to lay it out.  Filters that agree in geometry and seed are
 * combined by their keys, whatever their levels.
 *
 * A run is an array of keys in ascending order.  A key that is in it twice
 * stands for two elements or more that look the same.
 *
 * Equal runs give equal images: keys are placed in an order that depends on
 * them and the level alone.  Such an image is canonical.
 *
 * A key is a hash.  Its element has the smaller of the two base buckets for its
 * first, and the same entry.  So what takes a hash (cuckoo_contains(),
 * cuckoo_insert(), cuckoo_build()) takes a key as well.
 *
 *	bits	of a key
 *	32-63	floor(j * ceil(2^64 / m0) / 2^32) + 1, j being the smaller bucket
 *	0-31	the fingerprint at level 0, f0 bits
 *
 * All memory is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEYS_H
#define CUCKOO_KEYS_H

#include "cuckoo_format.h"

/*
 * Takes an image apart: writes the run of its keys to `keys`.  Both `keys` and
 * `scratch` have room for h->items keys.  CUCKOO_OK, or CUCKOO_BAD_ITEMS if the
 * image has another number of entries, as a corrupt one may.
 */
extern CuckooStatus cuckoo_keys_read(const CuckooHeader *h,
									 const uint8_t *image, uint64_t *keys,
									 uint64_t *scratch);

/*
 * Makes `n` hashes, of distinct elements and in any order, the run of their
 * keys, and returns its length.  `scratch` has room for as many.
 */
extern uint64_t cuckoo_keys_of_hashes(const CuckooHeader *h, uint64_t *hashes,
									  uint64_t n, uint64_t *scratch);

/* How runs are combined: what becomes of the copies of each key. */
typedef enum CuckooMerge
{
	CUCKOO_MERGE_UNION,			/* the larger number of the two */
	CUCKOO_MERGE_SUM,			/* their sum, at most two */
	CUCKOO_MERGE_INTERSECTION	/* the smaller number */
} CuckooMerge;

/*
 * Combines two runs of one geometry to a third, and returns its length.  `out`
 * has room for both; of an intersection, for the shorter.  CUCKOO_MERGE_UNION
 * of a run with an empty one copies it.
 */
extern uint64_t cuckoo_keys_merge(CuckooMerge how, const uint64_t *a,
								  uint64_t a_count, const uint64_t *b,
								  uint64_t b_count, uint64_t *out);

/* The length of their intersection. */
extern uint64_t cuckoo_keys_common(const uint64_t *a, uint64_t a_count,
								   const uint64_t *b, uint64_t b_count);

/*
 * Elements that two filters of one geometry have in common, given how many keys
 * they have in common: less what chance makes look the same.  The standard
 * error is about the square root of the number of chance matches, which is
 * 2 * a * b / (m0 * 2^f0) for disjoint sets of a and b elements.
 */
extern double cuckoo_overlap(const CuckooHeader *a, const CuckooHeader *b,
							 uint64_t common);

/*
 * Sets *h, whose geometry and family are those of the keys, to the least level
 * that may hold `n` keys.  CUCKOO_OK, or as cuckoo_header_set_level().
 */
extern CuckooStatus cuckoo_keys_level(CuckooHeader *h, uint64_t n);

/*
 * Brings a run, or one that was ordered for level `from`, into the order in
 * which keys are placed at the level of *h, which is not lower.  Returns where
 * the result is: in `keys`, or in `scratch`, which has room for as many.
 */
extern uint64_t *cuckoo_keys_order(const CuckooHeader *h, int from,
								   uint64_t *keys, uint64_t n,
								   uint64_t *scratch);

#endif							/* CUCKOO_KEYS_H */
