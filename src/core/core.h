/*-------------------------------------------------------------------------
 *
 * core/core.h
 *		The core: cuckoo filters of 64-bit hashes, in the caller's memory.
 *
 * A filter is an image (core/format.h), which the operations read and change
 * together with the CuckooHeader that cuckoo_header_read() decoded from it.
 * core/geometry.h chooses its size.  It is built from many elements at once
 * (cuckoo_build()) or changed one by one (cuckoo_insert(), cuckoo_remove(),
 * cuckoo_grow()), and cuckoo_contains() finds elements in it.  Filters are
 * combined and compared by their keys (cuckoo_keys_read() and what follows).
 *
 * A lookup never misses an element that was inserted, and removing an inserted
 * element never removes another one if two copies were allowed (max_copies).
 *
 * A filter holds at most two copies of one fingerprint in one pair of buckets,
 * so that repeated elements cannot fill their buckets.  Two copies mean "two or
 * more", and further inserts and removes do not change them.  Elements that
 * share a fingerprint and a pair of buckets do so at every growth level.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CORE_H
#define CUCKOO_CORE_H

#include "core/format.h"
#include "core/locate.h"

/* ---- looking up, core/lookup.c ---- */

/* True if the filter contains the element.  Reads two buckets. */
extern bool cuckoo_contains(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/* The copies of the element: 0, 1, or 2 for two or more. */
extern int	cuckoo_copies(const CuckooHeader *h, const uint8_t *image,
						  uint64_t hash);

/*
 * Sets found[i] to what cuckoo_contains() returns for hashes[i], for n hashes.
 * This is several times as fast as single lookups if the image is larger than
 * the processor's cache.
 */
extern void cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
								  const uint64_t *hashes, size_t n,
								  bool *found);

/* Prefetches what a lookup or a change reads.  Call it some elements ahead. */
extern void cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/*
 * A lookup in an image that is not in memory.  cuckoo_probe_init() says which
 * parts of the image to fetch: `length` bytes from each of the two offsets on.
 * cuckoo_probe_copies() takes these bytes, and returns what cuckoo_copies()
 * would.
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

/* An entry of an image: its fingerprint, its bucket and its partner bucket. */
typedef struct CuckooEntry
{
	uint32_t	fp;
	uint32_t	pos;
	uint32_t	partner;
} CuckooEntry;

/*
 * Finds all entries whose fingerprints agree with `value` in the bits of
 * `mask`, which are contiguous and above the core byte.  Reads the whole image.
 * `out` has room for all slots of the image.  Returns the number of entries.
 */
extern uint32_t cuckoo_find_entries(const CuckooHeader *h,
									const uint8_t *image, uint32_t mask,
									uint32_t value, CuckooEntry *out);

/*
 * ---- changing, core/change.c ----
 *
 * Changes keep an image and its CuckooHeader in step.  A change that fails
 * leaves both as they were.
 */

/*
 * True if a filter of `items` elements that has no room for another one must
 * have been given elements crafted to collide: it has more than 64 buckets and
 * a load factor below one eighth.
 *
 * Five fingerprints in one pair of buckets, each added twice, block the pair.
 * This happens with honest elements in one of 50,000 fills through 64 to 1000
 * buckets, at load factors down to 0.23, but to get below one eighth a filter
 * would have to grow for this reason twice in a row.  Crafted elements can
 * therefore make a filter at most 16 times as large as its contents.
 */
static inline bool
cuckoo_is_crafted(const CuckooHeader *h, uint64_t items)
{
	return h->buckets > 64 && 2 * items < h->buckets;
}

/*
 * Adds one copy, unless the filter holds `max_copies` (1 or 2) already.  Of the
 * image's header, only the number of items is written.
 *
 * Returns CUCKOO_OK or CUCKOO_UNCHANGED or, with nothing changed:
 *	CUCKOO_FULL			the filter should grow
 *	CUCKOO_LAST_LEVEL	the filter should grow, but no bit is left
 *	CUCKOO_CRAFTED		cuckoo_is_crafted(): growing would not help
 */
extern CuckooStatus cuckoo_insert(CuckooHeader *h, uint8_t *image,
								  uint64_t hash, int max_copies);

/*
 * Removes the element if the filter holds one copy.  Returns CUCKOO_OK or
 * CUCKOO_UNCHANGED.
 */
extern CuckooStatus cuckoo_remove(CuckooHeader *h, uint8_t *image,
								  uint64_t hash);

/*
 * Writes the filter to `image`, one level up.  *h is a copy of *old after
 * cuckoo_header_set_level(h, old->level + 1), and `image` is zeroed memory of
 * its size.  This cannot fail.
 */
extern void cuckoo_grow(const CuckooHeader *old, const uint8_t *old_image,
						CuckooHeader *h, uint8_t *image);

/* True if an insert needs no eviction, and changes one bucket only. */
extern bool cuckoo_has_room(const CuckooHeader *h, const uint8_t *image,
							uint64_t hash);

/*
 * Splits a filter by the lowest ext bit of its entries, which both halves
 * lose.  *h has the geometry of *old with one bit less; its items are not used,
 * nor are the headers of the images.  The halves are zeroed memory.  Returns
 * the number of items of `upper`.
 */
extern uint64_t cuckoo_split(const CuckooHeader *old, const uint8_t *old_image,
							 const CuckooHeader *h, uint8_t *lower,
							 uint8_t *upper);

/*
 * ---- building, core/build.c ----
 *
 * cuckoo_build() takes the sorted hashes of all elements, and places their
 * fingerprints into unpacked slots of two or four bytes each, in a workspace of
 * cuckoo_build_size() bytes; cuckoo_build_pack() then packs each slot once.
 *
 * The same hashes give the same image.  Of elements with the same fingerprint
 * and buckets two copies are kept, as with cuckoo_insert().
 */

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

/*
 * ---- keys, core/keys.c ----
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
 */

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
 * A run of keys.  If its keys are counted, they are distinct, and times[i] is
 * the number of filters that contain keys[i].  Otherwise `times` is NULL.
 */
typedef struct CuckooRun
{
	uint64_t   *keys;
	uint32_t   *times;
	uint64_t	count;
} CuckooRun;

/*
 * Merges two counted runs, and adds up their numbers, up to `most`.  *out has
 * room for both, and is set to the result.  Returns its length.
 */
extern uint64_t cuckoo_keys_count(const CuckooRun *a, const CuckooRun *b,
								  uint32_t most, CuckooRun *out);

/* Sets all numbers to 1. */
extern void cuckoo_keys_once(CuckooRun *run);

/*
 * Writes the keys whose number is at least `least` to `keys`, which has room
 * for all.  Returns how many there are.
 */
extern uint64_t cuckoo_keys_at_least(const CuckooRun *run, uint32_t least,
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

/* ---- estimates, core/estimate.c ---- */

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

/* ---- sorting, core/sort.c ---- */

/*
 * Sorts words in ascending order, in place.  Almost all of them should differ
 * in their `low` lowest bits, or in the highest log2(places).  Then the time is
 * in proportion to their number, otherwise somewhat longer.  `scratch` has room
 * for n words.  Whenever interrupts are checked, `words` holds what it held
 * before, in some order.
 */
extern void cuckoo_sort(uint64_t *words, uint64_t n, uint64_t *scratch,
						int low, uint64_t places);

/*
 * Sorts words by bits `low` to `high` - 1, and keeps the order of those that
 * agree in them.  The result is in `words` or in `scratch`; its address is
 * returned.
 */
extern uint64_t *cuckoo_sort_bits(uint64_t *words, uint64_t n,
								  uint64_t *scratch, int low, int high);

#endif							/* CUCKOO_CORE_H */
