/*-------------------------------------------------------------------------
 *
 * core/match.h
 *		Finding an element's fingerprint in its two buckets, for lookups and
 *		changes.
 *
 * This header is internal to core/lookup.c and core/change.c.
 * cuckoo_image_matches() serves every filter.  The functions with "narrow" in
 * their names are parts of faster ones for filters with narrow buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_MATCH_H
#define CUCKOO_MATCH_H

#include "core/bucket.h"
#include "core/position.h"

/*
 * The slots of a pair of buckets that hold its fingerprint: bits 0 to 3 for the
 * first bucket, whose bytes begin at p1, and 4 to 7 for the second.
 *
 * Both buckets are loaded before either is examined.  The only branch is
 * whether any lane agrees, which almost always tells whether the element is
 * present.  A branch on the bucket or on the number of copies would be
 * unpredictable, and keep the processor from starting the next lookups
 * meanwhile.
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

/* The same in an image. */
static CUCKOO_INLINE uint32_t
cuckoo_image_matches(const CuckooHeader *h, const uint8_t *image,
					 CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;

	return cuckoo_pair_matches(h, pair,
							   buckets + cuckoo_bucket_byte(h, pair.pos1),
							   buckets + cuckoo_bucket_byte(h, pair.pos2));
}

/* The copies for given matching slots: 0, 1, or 2 for two or more. */
static inline int
cuckoo_copies_of(uint32_t matches)
{
	return (matches != 0) + ((matches & (matches - 1)) != 0);
}

/*
 * The processor runs several lookups at a time, so that their cache misses
 * overlap.  The fewer instructions a lookup has, the more lookups run at a
 * time, because every result occupies a register until the loads before it are
 * done.
 *
 * Therefore each kind of filter with narrow buckets has its own functions, in
 * which `grown` (the level is not 0) and `whole` (buckets are whole bytes) are
 * constants.  A macro M(name, grown, whole) defines them, and
 * CUCKOO_NARROW_KINDS() calls it for each kind.  CUCKOO_BY_KIND(prefix) is the
 * table, indexed by CuckooKind, of the functions prefix_name.
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

/* What is compared with the narrow buckets of a hash, and where they are. */
typedef struct CuckooNarrowPair
{
	uint64_t	lanes;			/* as in CuckooPattern */
	uint64_t	offset1;		/* see cuckoo_bucket_offset() */
	uint64_t	offset2;
} CuckooNarrowPair;

/*
 * The lane of the fingerprint in every lane position.  It does not depend on
 * the low nibble of the hash, the only part that cuckoo_fingerprint() changes.
 */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_lanes(const CuckooHeader *h, uint64_t hash, bool grown)
{
	return h->lane_factor *
		(grown ? ((uint32_t) hash & h->ext_mask) >> h->level | (hash & 0xf0)
		 : (uint32_t) hash & h->lane_mask);
}

static CUCKOO_INLINE CuckooNarrowPair
cuckoo_narrow_pair(const CuckooHeader *h, uint64_t hash, bool grown, bool whole)
{
	CuckooPair	positions = cuckoo_positions(h, hash, grown, false);
	CuckooNarrowPair pair;

	/* in this order, gcc needs the fewest registers */
	pair.offset2 = cuckoo_bucket_offset(h, positions.pos2, whole);
	pair.offset1 = cuckoo_bucket_offset(h, positions.pos1, whole);
	pair.lanes = cuckoo_narrow_lanes(h, hash, grown);
	return pair;
}

/* True if the low nibble of the fingerprint is in all of these slots. */
static CUCKOO_INLINE bool
cuckoo_narrow_nibbles_agree(uint64_t bucket, uint64_t hash, uint32_t slots)
{
	uint32_t	differ = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK] ^
		cuckoo_tables.core_nibbles[hash & 0xff];

	return (differ & cuckoo_tables.slot_nibbles[slots]) == 0;
}

#endif							/* CUCKOO_MATCH_H */
