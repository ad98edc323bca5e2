/*-------------------------------------------------------------------------
 *
 * core/keys.h
 *		A filter as a sorted run of keys: taken apart, combined, put together.
 *
 * cuckoo_keys_read() and cuckoo_keys_of_hashes() make runs,
 * cuckoo_keys_merge() and the functions below it combine them, and
 * cuckoo_keys_level() and cuckoo_keys_order() prepare one for
 * cuckoo_build(), which makes a filter of it.
 *
 * Every entry of a filter, at any growth level, stands for a 64-bit key: its
 * pair of base buckets, and its fingerprint at level 0.  A filter is therefore
 * a multiset of keys, each once or twice, and growth changes only their places.
 * Filters that agree in geometry and seed are combined by their keys, whatever
 * their levels.
 *
 * A run is an array of keys in ascending order.  A key that is in it twice
 * stands for two or more elements that look the same.  Equal runs give equal
 * images, because the order in which keys are placed depends only on the keys
 * and the level.  Such an image is canonical.
 *
 * A key is also a hash: that of an element with the same entry, whose first
 * base bucket is the smaller of the two.  Functions that take a hash, such
 * as cuckoo_contains(), cuckoo_insert() and cuckoo_build(), therefore take a
 * key as well.
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

#include "core/format.h"

/*
 * Takes an image apart: writes the run of its keys to `keys`.  Both `keys` and
 * `scratch` have room for h->items keys.  Returns CUCKOO_OK, or
 * CUCKOO_BAD_ITEMS if a corrupt image has another number of entries.
 */
extern CuckooStatus cuckoo_keys_read(const CuckooHeader *h,
									 const uint8_t *image, uint64_t *keys,
									 uint64_t *scratch);

/*
 * Replaces `n` hashes, in any order, by the run of their keys.  `scratch` has
 * room for n keys.
 */
extern void cuckoo_keys_of_hashes(const CuckooHeader *h, uint64_t *hashes,
								  uint64_t n, uint64_t *scratch);

/*
 * Keeps at most so many copies of each key of a run.  Returns the new length.
 * More than two can come from elements whose hashes collide, or from an image
 * that somebody else wrote.
 */
extern uint64_t cuckoo_keys_limit(uint64_t *keys, uint64_t n, uint64_t copies);

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
 */
extern uint64_t cuckoo_keys_merge(CuckooMerge how, const uint64_t *a,
								  uint64_t a_count, const uint64_t *b,
								  uint64_t b_count, uint64_t *out);

/* The length of their intersection. */
extern uint64_t cuckoo_keys_common(const uint64_t *a, uint64_t a_count,
								   const uint64_t *b, uint64_t b_count);

/*
 * Distinct keys in ascending order, and for each in how many runs it is.  This
 * is how one counts in how many of several filters an element is.
 */
typedef struct CuckooCounted
{
	uint64_t   *keys;
	uint32_t   *times;
	uint64_t	count;
} CuckooCounted;

/*
 * Adds up the numbers of two of them, up to `most`.  *out has room for both,
 * and is set to the result.  Returns its length.
 */
extern uint64_t cuckoo_keys_count(const CuckooCounted *a,
								  const CuckooCounted *b, uint32_t most,
								  CuckooCounted *out);

/* Sets all numbers to 1. */
extern void cuckoo_keys_once(CuckooCounted *run);

/*
 * Writes the keys whose number is at least `least` to `keys`, which has room
 * for all.  Returns how many there are.
 */
extern uint64_t cuckoo_keys_at_least(const CuckooCounted *run, uint32_t least,
									 uint64_t *keys);

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
