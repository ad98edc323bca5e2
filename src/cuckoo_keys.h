/*-------------------------------------------------------------------------
 *
 * cuckoo_keys.h
 *		A filter as a sorted run of keys: taken apart, combined, put together.
 *
 * Every entry of a filter, at any growth level, stands for a 64-bit key: its
 * pair of base buckets, and its fingerprint at level 0.  So a filter is a
 * multiset of keys, each once or twice.  Growth changes only their places.
 * Filters that agree in geometry and seed are combined by their keys, whatever
 * their levels.
 *
 * A run is an array of keys in ascending order.  A key that is in it twice
 * stands for two or more elements that look the same.
 *
 * Equal runs give equal images, because the order in which keys are placed
 * depends only on the keys and the level.  Such an image is canonical.
 *
 * A key is also a hash: that of an element with the same entry, whose first
 * base bucket is the smaller of the two.  So functions that take a hash, such
 * as cuckoo_contains(), cuckoo_insert() and cuckoo_build(), take a key as
 * well.
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
 * `scratch` have room for h->items keys.  Returns CUCKOO_OK, or
 * CUCKOO_BAD_ITEMS if a corrupt image has another number of entries.
 */
extern CuckooStatus cuckoo_keys_read(const CuckooHeader *h,
									 const uint8_t *image, uint64_t *keys,
									 uint64_t *scratch);

/*
 * Replaces `n` hashes of distinct elements, in any order, by the run of their
 * keys, and returns its length.  `scratch` has room for n keys.
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
 * has room for both runs, or for the shorter one if it is an intersection.
 * CUCKOO_MERGE_UNION of a run and an empty one copies the run.
 */
extern uint64_t cuckoo_keys_merge(CuckooMerge how, const uint64_t *a,
								  uint64_t a_count, const uint64_t *b,
								  uint64_t b_count, uint64_t *out);

/* The length of their intersection. */
extern uint64_t cuckoo_keys_common(const uint64_t *a, uint64_t a_count,
								   const uint64_t *b, uint64_t b_count);

/*
 * An estimate of how many elements two filters of one geometry have in common,
 * given the number of common keys.  It subtracts the expected chance matches.
 * The standard error is about the square root of their number, which is
 * 2 * a * b / (m0 * 2^f0) for disjoint sets of a and b elements.
 */
extern double cuckoo_overlap(const CuckooHeader *a, const CuckooHeader *b,
							 uint64_t common);

/*
 * Sets *h, whose geometry is that of the keys, to the lowest level that may
 * hold `n` keys.  Returns CUCKOO_OK, or a failure of
 * cuckoo_header_set_level().
 */
extern CuckooStatus cuckoo_keys_level(CuckooHeader *h, uint64_t n);

/*
 * Brings keys that are in the order of level `from` into the order in which
 * they are placed at the level of *h, which is not lower.  A run is in the
 * order of level 0.  `scratch` has room for n keys.  The result is in `keys`
 * or in `scratch`; its address is returned.
 */
extern uint64_t *cuckoo_keys_order(const CuckooHeader *h, int from,
								   uint64_t *keys, uint64_t n,
								   uint64_t *scratch);

#endif							/* CUCKOO_KEYS_H */
