/*-------------------------------------------------------------------------
 *
 * core/match.h
 *		Finding a fingerprint in its two buckets, for lookup.c and change.c.
 *
 * cuckoo_image_matches() works for every filter.  Functions with "narrow" in
 * their names are parts of faster functions for filters with narrow buckets:
 * README, "Lookups".
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_MATCH_H
#define CUCKOO_MATCH_H

#include "core/bucket.h"
#include "core/position.h"

/*
 * The slots of a pair of buckets that contain its fingerprint: bits 0 to 3 for
 * the first bucket, whose bytes begin at p1, and 4 to 7 for the second.  The
 * only branch is whether any lane matches: README, "Lookups".
 */
static CUCKOO_INLINE uint32_t
cuckoo_pair_matches(const CuckooHeader *h, CuckooPair pair,
					const uint8_t *p1, const uint8_t *p2)
{
	CuckooBits	b1 = cuckoo_bucket_load_at(p1, h, pair.pos1);
	CuckooBits	b2 = cuckoo_bucket_load_at(p2, h, pair.pos2);
	CuckooPattern pattern = cuckoo_pattern(pair.fp, h);
	uint64_t	hits1 = cuckoo_bucket_lane_hits(b1, pattern, h);
	uint64_t	hits2 = cuckoo_bucket_lane_hits(b2, pattern, h);

	if (CUCKOO_LIKELY((hits1 | hits2) == 0))
		return 0;
	return cuckoo_bucket_matches(b1, pattern, hits1, h) |
		cuckoo_bucket_matches(b2, pattern, hits2, h) << CUCKOO_SLOTS;
}

/* Like cuckoo_pair_matches(), for the buckets of an image. */
static CUCKOO_INLINE uint32_t
cuckoo_image_matches(const CuckooHeader *h, const uint8_t *image,
					 CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;

	return cuckoo_pair_matches(h, pair,
							   buckets + cuckoo_bucket_byte(h, pair.pos1),
							   buckets + cuckoo_bucket_byte(h, pair.pos2));
}

/* The copies, given the matching slots: 0, 1, or 2 for two or more. */
static inline int
cuckoo_copies_of(uint32_t matches)
{
	return (matches != 0) + ((matches & (matches - 1)) != 0);
}

/*
 * CUCKOO_NARROW_KINDS(M) defines a function for each kind of filter with
 * narrow buckets, by a macro M(name, grown, whole).  CUCKOO_BY_KIND(prefix) is
 * the table, indexed by CuckooKind, of the functions prefix_name.
 */
#define CUCKOO_NARROW_KINDS(M) \
	M(whole, false, true) \
	M(whole_grown, true, true) \
	M(shared, false, false) \
	M(shared_grown, true, false)

#define CUCKOO_BY_KIND(prefix) { \
	[CUCKOO_WHOLE] = prefix##_whole, \
	[CUCKOO_WHOLE_GROWN] = prefix##_whole_grown, \
	[CUCKOO_SHARED] = prefix##_shared, \
	[CUCKOO_SHARED_GROWN] = prefix##_shared_grown, \
	[CUCKOO_ANY] = prefix##_any \
}

/* The lane pattern of a hash, and the offsets of its two narrow buckets. */
typedef struct CuckooNarrowPair
{
	uint64_t	lanes;			/* CuckooPattern.lanes */
	uint64_t	offset1;		/* of cuckoo_bucket_offset() */
	uint64_t	offset2;
} CuckooNarrowPair;

/*
 * The lane of a fingerprint does not depend on the low nibble of the hash, the
 * only part that cuckoo_fingerprint() changes.
 */
static CUCKOO_INLINE CuckooNarrowPair
cuckoo_narrow_pair(const CuckooHeader *h, uint64_t hash, bool grown, bool whole)
{
	CuckooPair	positions = cuckoo_positions(h, hash, grown);
	CuckooNarrowPair pair;

	/* gcc needs the fewest registers in this order */
	pair.offset2 = cuckoo_bucket_offset(h, positions.pos2, whole);
	pair.offset1 = cuckoo_bucket_offset(h, positions.pos1, whole);
	pair.lanes = h->lane_factor *
		(grown ? ((uint32_t) hash & h->ext_mask) >> h->level | (hash & 0xf0)
		 : (uint32_t) hash & h->lane_mask);
	return pair;
}

/* True if these slots all have the low nibble of the fingerprint. */
static CUCKOO_INLINE bool
cuckoo_narrow_nibbles_agree(uint64_t bucket, uint64_t hash, uint32_t slots)
{
	uint32_t	differ = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK] ^
		cuckoo_tables.fixed_nibbles[hash & 0xff];

	return (differ & cuckoo_tables.slot_nibbles[slots]) == 0;
}

#endif							/* CUCKOO_MATCH_H */
