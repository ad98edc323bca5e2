/*-------------------------------------------------------------------------
 *
 * core/bucket.h
 *		One semi-sorted bucket: loading, matching, packing and storing.
 *
 * Equal contents of a bucket are equal bits, whatever the order of the slots.
 * Four fingerprints of f bits take 4f - 4 bits, so a bucket saves one bit per
 * item (Fan et al., CoNEXT 2014, section 5.2).
 *
 * The fingerprints are sorted by their low nibble, and equal nibbles by value.
 * Their low nibbles are one of 3876 multisets, and the first 12 bits hold its
 * number, the "code".  After these bits come the "lanes" in the same order: the
 * other f - 4 bits of each fingerprint.  Empty slots are zero and sort first.
 *
 * Bucket i begins at bit i * (4f - 4), which is a multiple of 4.  It is read
 * with one unaligned 64-bit load for f <= 17 ("narrow" buckets), and with two
 * otherwise ("wide" buckets).  The zero bytes at the end of an image keep these
 * loads in bounds.
 *
 * A probe compares all lanes at once, and looks up the nibbles only if a lane
 * agrees.  For an absent element this is rare.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUCKET_H
#define CUCKOO_BUCKET_H

#include "core/format.h"
#include "core/tables.h"

/* The bits of a bucket; above them are bits of its neighbor. */
typedef struct CuckooBits
{
	uint64_t	lo;
	uint64_t	hi;				/* f > CUCKOO_NARROW_BITS only */
} CuckooBits;

/*
 * The place of a bucket: its distance from the first bucket.  It is counted in
 * bits or, if `whole`, in bytes, which saves lookups an instruction.  `whole`
 * is a constant, which may be true only if buckets are whole bytes (f is odd).
 */
static CUCKOO_INLINE uint64_t
cuckoo_place_of(const CuckooHeader *h, uint64_t pos, bool whole)
{
	return pos * (whole ? h->bucket_bytes : h->bucket_bits);
}

/* The byte in which the bucket at a place begins. */
static CUCKOO_INLINE uint64_t
cuckoo_place_byte(uint64_t place, bool whole)
{
	return whole ? place : place >> 3;
}

/* How many bits into that byte: 0 or 4. */
static CUCKOO_INLINE int
cuckoo_place_shift(uint64_t place, bool whole)
{
	return whole ? 0 : (int) (place & 7);
}

/* The word that begins with a bucket, which is all of a narrow one. */
static CUCKOO_INLINE uint64_t
cuckoo_place_word(const uint8_t *buckets, uint64_t place, bool whole)
{
	return cuckoo_load64(buckets + cuckoo_place_byte(place, whole)) >>
		cuckoo_place_shift(place, whole);
}

/* Changes a narrow bucket by XOR. */
static CUCKOO_INLINE void
cuckoo_place_change(uint8_t *buckets, uint64_t place, bool whole,
					uint64_t change)
{
	uint8_t    *p = buckets + cuckoo_place_byte(place, whole);

	cuckoo_store64(p, cuckoo_load64(p) ^
				   change << cuckoo_place_shift(place, whole));
}

/* The byte in which the bucket at `pos` begins. */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_byte(const CuckooHeader *h, uint64_t pos)
{
	return cuckoo_place_byte(cuckoo_place_of(h, pos, false), false);
}

/* Loads the bucket at `pos`, which begins in the byte at `p`. */
static CUCKOO_INLINE CuckooBits
cuckoo_bucket_load_at(const uint8_t *p, const CuckooHeader *h, uint64_t pos)
{
	int			off = cuckoo_place_shift(cuckoo_place_of(h, pos, false), false);
	CuckooBits	b;

	b.lo = cuckoo_load64(p) >> off;
	b.hi = 0;
	if (h->bits > CUCKOO_NARROW_BITS)
	{
		uint64_t	next = cuckoo_load64(p + 8);

		b.lo |= next << 1 << (63 - off);
		b.hi = next >> off;
	}
	return b;
}

/* Loads the bucket at `pos` from the buckets of an image. */
static CUCKOO_INLINE CuckooBits
cuckoo_bucket_load(const uint8_t *buckets, const CuckooHeader *h, uint64_t pos)
{
	return cuckoo_bucket_load_at(buckets + cuckoo_bucket_byte(h, pos), h, pos);
}

/*
 * The top bit of each lane of the result tells whether that lane of x is not
 * zero.  The other bits mean nothing.  `rest` has all bits of the lanes except
 * the top ones.
 */
static inline uint64_t
cuckoo_used_lanes(uint64_t x, uint64_t rest)
{
	return ((x & rest) + rest) | x;
}

/*
 * Lanes of two narrow buckets that agree with the lane of a fingerprint.  The
 * top bit of each such lane is set, and perhaps that of lanes above one in the
 * same bucket.  So the lowest bit of `first` and of `any` is certainly a hit.
 * A lane that is clear in `both` does not agree in both buckets.  All other
 * bits are clear.
 */
typedef struct CuckooLaneHits
{
	uint64_t	first;			/* in the first bucket */
	uint64_t	any;			/* in either */
	uint64_t	both;			/* in each */
} CuckooLaneHits;

/*
 * Compares the lanes of two buckets with `lanes`, which has the wanted lane in
 * every lane position.  This is Mycroft's test for a zero byte (Warren,
 * Hacker's Delight, 6-1): (x - ones) & ~x & tops.
 *
 * Vector registers do not save instructions here.  They leave the general
 * registers to the lookups that follow (core/match.h, on narrow buckets).
 */
static CUCKOO_INLINE CuckooLaneHits
cuckoo_pair_lane_hits(uint64_t bucket1, uint64_t bucket2, uint64_t lanes,
					  const CuckooHeader *h)
{
	CuckooLaneHits hits;
#if CUCKOO_SSE2
	__m128i		x = _mm_xor_si128(_mm_set_epi64x((int64_t) bucket2,
												 (int64_t) bucket1),
								  _mm_set1_epi64x((int64_t) lanes));
	__m128i		ones = _mm_set1_epi64x((int64_t) h->lane_ones);
	__m128i		tops = _mm_set1_epi64x((int64_t) h->lane_tops);
	__m128i		below = _mm_andnot_si128(x, _mm_sub_epi64(x, ones));
	__m128i		here = _mm_and_si128(below, tops);
	__m128i		there = _mm_shuffle_epi32(here, _MM_SHUFFLE(1, 0, 3, 2));

	hits.first = (uint64_t) _mm_cvtsi128_si64(here);
	hits.any = (uint64_t) _mm_cvtsi128_si64(_mm_or_si128(here, there));
	hits.both = (uint64_t) _mm_cvtsi128_si64(_mm_and_si128(here, there));
#else
	uint64_t	x1 = bucket1 ^ lanes;
	uint64_t	x2 = bucket2 ^ lanes;
	uint64_t	hits1 = (x1 - h->lane_ones) & ~x1 & h->lane_tops;
	uint64_t	hits2 = (x2 - h->lane_ones) & ~x2 & h->lane_tops;

	hits.first = hits1;
	hits.any = hits1 | hits2;
	hits.both = hits1 & hits2;
#endif
	return hits;
}

/*
 * A fingerprint prepared for comparison with all slots of a bucket at once.
 *
 * The lanes of a narrow bucket are compared in place, after the code.  Those of
 * a wide bucket are compared in two words, each of which begins with a lane.
 */
typedef struct CuckooPattern
{
	uint64_t	lanes;			/* its lane in every lane position */
	uint32_t	nibbles;		/* its low nibble in every nibble position */
} CuckooPattern;

static CUCKOO_INLINE CuckooPattern
cuckoo_pattern(uint32_t fp, const CuckooHeader *h)
{
	CuckooPattern p = {h->lane_ones * (fp >> 4), (fp & 15) * 0x1111};

	return p;
}

/* The lanes of slots 2 and 3 of a wide bucket. */
static inline uint64_t
cuckoo_upper_lanes(CuckooBits b, int lane)
{
	int			shift = CUCKOO_CODE_BITS + 2 * lane;	/* 40 to 68 */

	return shift < 64 ? b.lo >> shift | b.hi << (64 - shift)
		: b.hi >> (shift - 64);
}

/* The lanes of slots 0 and 1 of a wide bucket. */
static inline uint64_t
cuckoo_lower_lanes(CuckooBits b)
{
	return b.lo >> CUCKOO_CODE_BITS | b.hi << (64 - CUCKOO_CODE_BITS);
}

/*
 * The slots that agree with the pattern in all bits except the low nibble.  The
 * result is zero for none, else a value for cuckoo_bucket_matches().  Unlike
 * that of cuckoo_pair_lane_hits(), it is exact.
 */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_lane_hits(CuckooBits b, CuckooPattern p, const CuckooHeader *h)
{
	uint64_t	rest = h->lane_rest;
	uint64_t	tops = h->lane_tops;

	if (h->bits <= CUCKOO_NARROW_BITS)
		return ~cuckoo_used_lanes(b.lo ^ p.lanes, rest) & tops;

	/* two lanes in each word; the top bits of the upper go one bit lower */
	return (~cuckoo_used_lanes(cuckoo_lower_lanes(b) ^ p.lanes, rest) & tops) |
		(~cuckoo_used_lanes(cuckoo_upper_lanes(b, h->bits - 4) ^ p.lanes,
							rest) & tops) >> 1;
}

/*
 * Lane hits of a narrow bucket as slots: bit i is slot i.
 *
 * A multiplication by four bits at distance d - 1 gathers four bits at distance
 * d: the product has them side by side, and all others elsewhere.  The factor
 * puts them into the highest bits of the product.
 */
static inline uint32_t
cuckoo_narrow_slots(uint64_t hits, uint64_t gather)
{
	return (uint32_t) (hits * gather >> 60);
}

/*
 * The slots that have the low nibble of the pattern.  Bits above the lowest
 * four mean nothing.
 */
static inline uint32_t
cuckoo_nibble_matches(uint64_t bucket, CuckooPattern p)
{
	uint32_t	x = p.nibbles ^
		cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK];

	return (~(((x & 0x7777) + 0x7777) | x) & 0x8888) * UINT32_C(0x249) >> 12;
}

/* The slots that hold the fingerprint of the pattern, given the lane hits. */
static CUCKOO_INLINE uint32_t
cuckoo_bucket_matches(CuckooBits b, CuckooPattern p, uint64_t hits,
					  const CuckooHeader *h)
{
	int			lane = h->bits - 4;

	if (h->bits <= CUCKOO_NARROW_BITS)
		return cuckoo_nibble_matches(b.lo, p) &
			cuckoo_narrow_slots(hits, h->lane_gather);
	hits >>= lane - 2;
	return cuckoo_nibble_matches(b.lo, p) &
		(uint32_t) ((hits >> 1 & 1) | (hits >> lane & 2) |
					(hits & 1) << 2 | (hits >> lane & 1) << 3);
}

/*
 * How full is the bucket that begins in this word?  Under CUCKOO_CODES_ZERO if
 * it has room, and mostly the less the emptier it is.
 *
 * Empty slots sort first.  So if there is one, the lane of slot 0 is zero, and
 * the code below it one of those whose first nibble is zero.  The more of them,
 * the smaller the code, unless fingerprints have a nibble of zero too.  The
 * lowest two bits are clear: callers put the number of a slot there.
 */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_fullness(uint64_t word, const CuckooHeader *h)
{
	return word & ((h->lane_size << CUCKOO_CODE_BITS) - 4);
}

/* The code of four nibbles in ascending order. */
static inline uint32_t
cuckoo_code(uint32_t nibbles)
{
	return (uint32_t) (cuckoo_tables.lower_codes[nibbles & 0xff] -
					   cuckoo_tables.upper_codes[nibbles >> 8]);
}

/*
 * What is to be changed, by XOR, to add an entry to a narrow bucket that has
 * room.  Its slot 0 is empty, so its code begins with a zero.  The slots that
 * sort before the entry, 0 to i, move down by one.
 *
 * A table tells by the nibbles which slots sort after the entry, and for which
 * the lanes decide.  These are compared by subtraction, all at once.  If a
 * corrupt bucket is not in order, still no other slot is lost.
 */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_add(uint64_t bucket, CuckooPattern e, const CuckooHeader *h)
{
	const CuckooTables *tables = &cuckoo_tables;
	uint64_t	code = bucket & CUCKOO_CODE_MASK;
	uint64_t	lanes = bucket & ~(uint64_t) CUCKOO_CODE_MASK;
	uint32_t	addition = tables->additions[code << 4 | (e.nibbles & 15)];
	const CuckooOrder *order = &tables->orders[h->bits - 8][addition >> 12];
	int			lane = h->bits - 4;
	uint64_t	difference = (lanes | h->lane_tops) - (e.lanes & h->lane_rest);
	uint64_t	after,
				mask,
				moved;

	CUCKOO_ASSERT(code < CUCKOO_CODES_ZERO);

	/* the top bits of lanes not smaller; the lowest bits of slots after i */
	after = (lanes | ~e.lanes) & ((e.lanes ^ lanes) | difference) &
		order->equal;
	after = after >> (lane - 1) | order->after;

	/* all bits up to slot i, which may end where the word does */
	mask = (after - 1) & ~after;
	moved = lanes & mask;
	return bucket ^ lanes ^ moved ^ moved >> lane ^
		(e.lanes & (mask ^ mask >> lane)) ^ (addition & CUCKOO_CODE_MASK);
}

/* The same to put it in the place of slot i; those before move up by one. */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_replace(uint64_t bucket, int i, CuckooPattern e,
					  const CuckooHeader *h)
{
	int			lane = h->bits - 4;
	uint64_t	lanes = bucket & ~(uint64_t) CUCKOO_CODE_MASK;
	uint32_t	nibbles = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK];

	lanes ^= (lanes ^ lanes << lane) &
		cuckoo_low_mask(CUCKOO_CODE_BITS + (i + 1) * lane);
	nibbles ^= (nibbles ^ nibbles << 4) & ((UINT32_C(16) << 4 * i) - 1);
	lanes |= cuckoo_tables.zero_codes[nibbles >> 4];
	return bucket ^ lanes ^ cuckoo_narrow_add(lanes, e, h);
}

/*
 * Unpacks a bucket into its slots.  Only a corrupt image has a code out of
 * range, which counts as that of four zero nibbles.
 */
static inline void
cuckoo_bucket_unpack(CuckooBits b, int f, uint32_t slots[CUCKOO_SLOTS])
{
	int			lane = f - 4;
	uint32_t	mask = (uint32_t) cuckoo_low_mask(lane);
	uint32_t	nibbles = cuckoo_tables.nibbles[b.lo & CUCKOO_CODE_MASK];
	uint64_t	lower = cuckoo_lower_lanes(b);
	uint64_t	upper = f <= CUCKOO_NARROW_BITS ? lower >> 2 * lane
		: cuckoo_upper_lanes(b, lane);

	slots[0] = ((uint32_t) lower & mask) << 4 | (nibbles & 15);
	slots[1] = ((uint32_t) (lower >> lane) & mask) << 4 | (nibbles >> 4 & 15);
	slots[2] = ((uint32_t) upper & mask) << 4 | (nibbles >> 8 & 15);
	slots[3] = ((uint32_t) (upper >> lane) & mask) << 4 | nibbles >> 12;
}

/* A fingerprint's place in the order of a bucket: low nibble, then value. */
static inline uint32_t
cuckoo_slot_rank(uint32_t fp)
{
	return fp << 28 | fp >> 4;
}

static inline void
cuckoo_rank_sort(uint32_t *a, uint32_t *b)
{
	uint32_t	x = *a,
				y = *b;

	*a = x < y ? x : y;
	*b = x < y ? y : x;
}

/* Packs slots, in any order, into a bucket. */
static inline CuckooBits
cuckoo_bucket_pack(const uint32_t slots[CUCKOO_SLOTS], int f)
{
	int			lane = f - 4;
	uint32_t	mask = (uint32_t) cuckoo_low_mask(lane);
	uint32_t	r[CUCKOO_SLOTS];
	uint64_t	lower,
				upper;
	CuckooBits	b;

	for (int i = 0; i < CUCKOO_SLOTS; i++)
		r[i] = cuckoo_slot_rank(slots[i]);
	cuckoo_rank_sort(&r[0], &r[1]);
	cuckoo_rank_sort(&r[2], &r[3]);
	cuckoo_rank_sort(&r[0], &r[2]);
	cuckoo_rank_sort(&r[1], &r[3]);
	cuckoo_rank_sort(&r[1], &r[2]);

	lower = (uint64_t) (r[1] & mask) << lane | (r[0] & mask);
	upper = (uint64_t) (r[3] & mask) << lane | (r[2] & mask);
	b.lo = cuckoo_code(r[0] >> 28 | (r[1] >> 24 & 0xf0) |
					   (r[2] >> 20 & 0xf00) | (r[3] >> 16 & 0xf000));
	b.lo |= lower << CUCKOO_CODE_BITS;
	b.hi = lower >> (64 - CUCKOO_CODE_BITS);
	if (CUCKOO_CODE_BITS + 2 * lane < 64)
	{
		b.lo |= upper << (CUCKOO_CODE_BITS + 2 * lane);
		b.hi |= upper >> (64 - CUCKOO_CODE_BITS - 2 * lane);
	}
	else
		b.hi |= upper << (CUCKOO_CODE_BITS + 2 * lane - 64);
	return b;
}

/* Stores the result of cuckoo_bucket_pack() as the bucket at `pos`. */
static CUCKOO_INLINE void
cuckoo_bucket_store(uint8_t *buckets, const CuckooHeader *h, uint64_t pos,
					CuckooBits b)
{
	uint64_t	place = cuckoo_place_of(h, pos, false);
	uint8_t    *p = buckets + cuckoo_place_byte(place, false);
	int			off = cuckoo_place_shift(place, false);
	int			bits = (int) h->bucket_bits;
	uint64_t	mask = cuckoo_low_mask(bits) << off;

	cuckoo_store64(p, (cuckoo_load64(p) & ~mask) | b.lo << off);
	if (h->bits > CUCKOO_NARROW_BITS)
	{
		mask = cuckoo_low_mask(bits + off - 64);
		cuckoo_store64(p + 8, (cuckoo_load64(p + 8) & ~mask) |
					   b.hi << off | b.lo >> 1 >> (63 - off));
	}
}

#endif							/* CUCKOO_BUCKET_H */
