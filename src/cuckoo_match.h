/*-------------------------------------------------------------------------
 *
 * cuckoo_match.h
 *		An element's fingerprint and its two buckets: what lookups and changes
 *		share.
 *
 * Internal: for cuckoo_lookup.c and cuckoo_change.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_MATCH_H
#define CUCKOO_MATCH_H

#include "cuckoo_bucket.h"
#include "cuckoo_index.h"

/*
 * Which slots of the two buckets of a pair hold its fingerprint: bits 0 to 3
 * those of the first, 4 to 7 those of the second.
 *
 * Both buckets are loaded before either is looked at.  Whether any lane agrees
 * is the only branch, as it says almost for sure whether the element is there;
 * one on which bucket it is in, or how often, would be a toss-up, and keep the
 * processor from beginning with the next lookups meanwhile.
 */
static CUCKOO_INLINE uint32_t
cuckoo_pair_matches(const CuckooHeader *h, CuckooPair pair,
					const uint8_t *p1, const uint8_t *p2)
{
	CuckooBits	b1 = cuckoo_bucket_load_at(p1, pair.pos1, h->bits);
	CuckooBits	b2 = cuckoo_bucket_load_at(p2, pair.pos2, h->bits);
	CuckooPattern pattern = cuckoo_pattern(pair.fp, h, h->bits);
	uint64_t	hits1 = cuckoo_bucket_lane_hits(b1, &pattern);
	uint64_t	hits2 = cuckoo_bucket_lane_hits(b2, &pattern);

	if (CUCKOO_LIKELY((hits1 | hits2) == 0))
		return 0;
	return cuckoo_bucket_matches(b1, &pattern, hits1) |
		cuckoo_bucket_matches(b2, &pattern, hits2) << CUCKOO_SLOTS;
}

/* The same in an image. */
static CUCKOO_INLINE uint32_t
cuckoo_image_matches(const CuckooHeader *h, const uint8_t *image,
					 CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	const uint8_t *p1 = buckets + cuckoo_bucket_byte(pair.pos1, h->bits);
	const uint8_t *p2 = buckets + cuckoo_bucket_byte(pair.pos2, h->bits);

	return cuckoo_pair_matches(h, pair, p1, p2);
}

/* Copies, given the matching slots: 0, 1, or 2 for two or more. */
static inline int
cuckoo_copies_of(uint32_t matches)
{
	return (matches != 0) + ((matches & (matches - 1)) != 0);
}

/*
 * Lookups in filters whose buckets are narrow, as they mostly are, with fewer
 * instructions.  On their number depends how many lookups the processor has in
 * hand at a time, all of which wait for memory together: every result takes a
 * register until the loads before it are done.
 *
 * So each kind of filter has functions of its own, in which `grown` (the level
 * is not 0) and `whole` (buckets are whole bytes) are constants.  They are made
 * by a macro M(name, grown, whole) that CUCKOO_NARROW_KINDS() calls for each
 * kind; tables by CuckooKind choose among them.
 */
#define CUCKOO_NARROW_KINDS(M) \
	M(whole, false, true) \
	M(whole_grown, true, true) \
	M(shared, false, false) \
	M(shared_grown, true, false)

/*
 * The place of a bucket: where it begins, from the first bucket on, in bytes if
 * buckets are whole bytes, else in bits.
 */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_place(const CuckooHeader *h, uint64_t pos, bool whole)
{
	return pos * (whole ? h->bucket_bytes : h->bucket_bits);
}

static CUCKOO_INLINE uint64_t
cuckoo_narrow_byte(uint64_t place, bool whole)
{
	return CUCKOO_HEADER_SIZE + (whole ? place : place >> 3);
}

/* How many bits into that byte: 0 or 4. */
static CUCKOO_INLINE int
cuckoo_narrow_shift(uint64_t place, bool whole)
{
	return whole ? 0 : (int) (place & 7);
}

static CUCKOO_INLINE uint64_t
cuckoo_narrow_bucket(const uint8_t *image, uint64_t place, bool whole)
{
	return cuckoo_load64(image + cuckoo_narrow_byte(place, whole)) >>
		cuckoo_narrow_shift(place, whole);
}

/*
 * The lane of the fingerprint in every lane position, from the hash without its
 * low nibble: that is all that cuckoo_fingerprint() would change.
 */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_lanes(const CuckooHeader *h, uint64_t hash, bool grown)
{
	return h->lane_factor *
		(grown ? ((uint32_t) hash & h->ext_mask) >> h->level | (hash & 0xf0)
		 : (uint32_t) hash & h->lane_mask);
}

#endif							/* CUCKOO_MATCH_H */
