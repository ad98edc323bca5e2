/*-------------------------------------------------------------------------
 *
 * core/core.h
 *		The interface of the core: cuckoo filters of 64-bit hashes.
 *
 * A filter is an image (core/format.h), with the CuckooHeader that
 * cuckoo_header_read() decodes from it.  A lookup finds every element that was
 * inserted and not removed.  README explains the code.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CORE_H
#define CUCKOO_CORE_H

#include "core/format.h"

/* ---- looking up, core/lookup.c ---- */

/* True if the filter contains the element.  Reads two buckets. */
extern bool cuckoo_contains(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/* Counts the copies of the element: 0, 1, or 2 for two or more. */
extern int	cuckoo_copies(const CuckooHeader *h, const uint8_t *image,
						  uint64_t hash);

/*
 * Sets found[i] to cuckoo_contains() of hashes[i], for n hashes.  Several
 * times as fast as single lookups if the image is larger than the processor's
 * cache.
 */
extern void cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
								  const uint64_t *hashes, size_t n,
								  bool *found);

/* Prefetches the buckets of a hash, some elements before they are used. */
extern void cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/*
 * A lookup in an image that is not in memory:
 *
 *	cuckoo_probe_init()		sets two offsets and a length in the image
 *	the caller				fetches `length` bytes from each offset
 *	cuckoo_probe_copies()	returns the same as cuckoo_copies()
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

/*
 * ---- changing, core/change.c ----
 *
 * These functions change the image and *h together.  A change that fails
 * leaves both as they were.
 */

/*
 * True if a filter without room for another element is so empty that its
 * elements must be crafted to collide: more than 64 buckets, and a load factor
 * below one eighth.
 *
 * Five fingerprints of one pair of buckets, each added twice, block the pair.
 * Ordinary elements blocked a pair in one of 50,000 filters that grew from 64
 * to 1000 buckets, at load factors of 0.23 and more.  To get below one eighth,
 * a filter would have to grow for this reason twice in a row.  So crafted
 * elements can make a filter at most 16 times as large as its contents.
 */
static inline bool
cuckoo_is_crafted(const CuckooHeader *h, uint64_t items)
{
	return h->buckets > 64 && 2 * items < h->buckets;
}

/*
 * Adds one copy, unless the filter contains `max_copies` (1 or 2).  Writes only
 * the number of items to the header of the image.  Returns
 *
 *	CUCKOO_OK			added
 *	CUCKOO_UNCHANGED	the filter contains `max_copies`
 *	CUCKOO_FULL			no room: grow the filter and retry
 *	CUCKOO_LAST_LEVEL	no room, and no bit to grow by
 *	CUCKOO_CRAFTED		no room, and growing would not help
 */
extern CuckooStatus cuckoo_insert(CuckooHeader *h, uint8_t *image,
								  uint64_t hash, int max_copies);

/*
 * Removes the element if the filter contains one copy.  Returns CUCKOO_OK or
 * CUCKOO_UNCHANGED.
 */
extern CuckooStatus cuckoo_remove(CuckooHeader *h, uint8_t *image,
								  uint64_t hash);

/*
 * Writes the filter, grown by one level, to `image`, zeroed memory of its
 * size.  *h is a copy of *old after cuckoo_header_set_level(h, old->level +
 * 1).  This cannot fail.
 */
extern void cuckoo_grow(const CuckooHeader *old, const uint8_t *old_image,
						CuckooHeader *h, uint8_t *image);

/*
 * ---- building, core/build.c ----
 *
 * cuckoo_build() stores the fingerprints of sorted hashes in a workspace of
 * unpacked slots, and cuckoo_build_pack() packs the slots to an image.  Equal
 * hashes give equal images.
 */

/*
 * The size of the workspace in bytes.  It is aligned like memory of malloc().
 */
extern uint64_t cuckoo_build_size(const CuckooHeader *h);

/*
 * Stores `n` sorted hashes or keys, at most two copies of each, with the
 * geometry and level of *h, and sets h->items.  Returns CUCKOO_OK, or
 * CUCKOO_FULL if they need a larger geometry or a higher level; then `slots`
 * is useless.
 */
extern CuckooStatus cuckoo_build(CuckooHeader *h, const uint64_t *hashes,
								 uint64_t n, uint32_t *slots);

/* Writes the image, with its header, from the workspace of cuckoo_build(). */
extern void cuckoo_build_pack(const CuckooHeader *h,
							  const uint32_t *slots, uint8_t *image);

/*
 * ---- keys, core/keys.c ----
 *
 * cuckoo_keys_read() and cuckoo_keys_of_hashes() make sorted runs of keys.
 * The functions below them combine runs.  cuckoo_keys_level() sets the level
 * for cuckoo_build(), whose keys cuckoo_sort_bits() orders by the bits of the
 * segment, from CUCKOO_FIXED_BITS to CUCKOO_FIXED_BITS + level - 1.  README,
 * "Keys", explains keys.
 */

/*
 * Writes the sorted run of an image to `keys`.  `keys` and `scratch` have room
 * for h->items keys.  Returns CUCKOO_OK, or CUCKOO_BAD_ITEMS if the image,
 * which must be corrupt, has another number of fingerprints.
 */
extern CuckooStatus cuckoo_keys_read(const CuckooHeader *h,
									 const uint8_t *image, uint64_t *keys,
									 uint64_t *scratch);

/*
 * Replaces `n` hashes, in any order, by the sorted run of their keys.
 * `scratch` has room for n keys.
 */
extern void cuckoo_keys_of_hashes(const CuckooHeader *h, uint64_t *hashes,
								  uint64_t n, uint64_t *scratch);

/*
 * Keeps at most `copies` copies of each key, and returns the new length.  A
 * run may have more than two copies if hashes collide, or if another program
 * wrote the image.
 */
extern uint64_t cuckoo_keys_limit(uint64_t *keys, uint64_t n, uint64_t copies);

/* What a merge does with the copies of each key. */
typedef enum CuckooMerge
{
	CUCKOO_MERGE_UNION,			/* the larger number of copies */
	CUCKOO_MERGE_SUM,			/* the sum, at most two */
	CUCKOO_MERGE_INTERSECTION	/* the smaller number of copies */
} CuckooMerge;

/*
 * Merges two runs of one geometry to `out`, and returns its length.  `out` has
 * room for both runs; for an intersection, for the shorter run.  If `out` is
 * NULL, returns only the length of an intersection.
 */
extern uint64_t cuckoo_keys_merge(CuckooMerge how, const uint64_t *a,
								  uint64_t a_count, const uint64_t *b,
								  uint64_t b_count, uint64_t *out);

/*
 * A sorted run.  A counted run has distinct keys: times[i] is the number of
 * filters that contain keys[i].  Otherwise `times` is NULL.
 */
typedef struct CuckooRun
{
	uint64_t   *keys;
	uint32_t   *times;
	uint64_t	count;
} CuckooRun;

/*
 * Merges two counted runs, and adds up their numbers to at most `most`.  *out
 * has room for both.  Sets out->count and returns it.
 *
 *	a = {A: 3, B: 1}, b = {A: 1, C: 2}, most = 3: out = {A: 3, B: 1, C: 2}
 */
extern uint64_t cuckoo_keys_count(const CuckooRun *a, const CuckooRun *b,
								  uint32_t most, CuckooRun *out);

/* Sets times[i] of all keys to 1. */
extern void cuckoo_keys_once(CuckooRun *run);

/*
 * Writes the keys with times[i] >= `least` to `keys`, which has room for all
 * keys.  Returns their number.
 */
extern uint64_t cuckoo_keys_at_least(const CuckooRun *run, uint32_t least,
									 uint64_t *keys);

/*
 * Sets *h to the lowest level that may have room for `n` keys.  Returns
 * CUCKOO_OK, or a failure of cuckoo_header_set_level().
 */
extern CuckooStatus cuckoo_keys_level(CuckooHeader *h, uint64_t n);

/* ---- estimates, core/estimate.c ---- */

/*
 * The estimated numbers of elements of filters a and b, and of common
 * elements.
 */
typedef struct CuckooOverlap
{
	double		a;
	double		b;
	double		common;			/* may be negative for disjoint sets */
	double		standard_error; /* of `common` */
} CuckooOverlap;

/*
 * Estimates the overlap of two filters of geometry *h from three numbers of
 * distinct keys: in a, in b, and in both.  The estimates have no bias.
 *
 * If the sets are disjoint, about 258/256 * 2 * a * b / (m0 * 2^f0) keys match
 * by chance, and the standard error is about the square root of this number.
 */
extern void cuckoo_overlap(const CuckooHeader *h, uint64_t a_keys,
						   uint64_t b_keys, uint64_t common_keys,
						   CuckooOverlap *overlap);

/* ---- sorting, core/sort.c ---- */

/*
 * Sorts words in ascending order, in place.  Almost all words should differ in
 * their `low` lowest bits, or in their log2(places) highest bits; otherwise it
 * is slower.  `scratch` has room for n words.  Whenever interrupts are
 * checked, `words` is a permutation of the input.
 */
extern void cuckoo_sort(uint64_t *words, uint64_t n, uint64_t *scratch,
						int low, uint64_t places);

/*
 * Sorts words by their bits `low` to `high` - 1.  The sort is stable.  Returns
 * the result, which is in `words` or in `scratch`.
 */
extern uint64_t *cuckoo_sort_bits(uint64_t *words, uint64_t n,
								  uint64_t *scratch, int low, int high);

#endif							/* CUCKOO_CORE_H */
