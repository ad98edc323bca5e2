/*-------------------------------------------------------------------------
 *
 * core/bucket.h
 *		One bucket of an image: reading, comparing, changing and writing it.
 *
 * README, "Buckets", has the layout: a code for the four low nibbles, and four
 * lanes.  Functions with "narrow" in their names are for f <= 17, where a
 * bucket fits in a word.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUCKET_H
#define CUCKOO_BUCKET_H

#include "core/format.h"
#include "core/tables.h"

/* The bits of a bucket, and above them bits of the next bucket. */
typedef struct CuckooBits
{
	uint64_t	lo;
	uint64_t	hi;				/* of a wide bucket only */
} CuckooBits;

/* ---- where a bucket is ---- */

/*
 * The offset of the bucket at position `pos` from the first bucket: in bytes
 * if `whole`, which saves lookups an instruction, otherwise in bits.  `whole`
 * is a constant.  It may be true only if buckets are whole bytes (f is odd).
 * Otherwise every other bucket begins at bit 4 of a byte.
 */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_offset(const CuckooHeader *h, uint64_t pos, bool whole)
{
	return pos * (whole ? h->bucket_bytes : h->bucket_bits);
}

/* The byte in which the bucket at `offset` begins. */
static CUCKOO_INLINE uint64_t
cuckoo_offset_byte(uint64_t offset, bool whole)
{
	return whole ? offset : offset >> 3;
}

/* The bit of that byte at which the bucket begins: 0 or 4. */
static CUCKOO_INLINE int
cuckoo_offset_bit(uint64_t offset, bool whole)
{
	return whole ? 0 : (int) (offset & 7);
}

/* The word that begins with the bucket.  A narrow bucket fits in it. */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_word(const uint8_t *buckets, uint64_t offset, bool whole)
{
	return cuckoo_load64(buckets + cuckoo_offset_byte(offset, whole)) >>
		cuckoo_offset_bit(offset, whole);
}

/* Changes a narrow bucket by XOR, without changing its neighbors. */
static CUCKOO_INLINE void
cuckoo_bucket_xor(uint8_t *buckets, uint64_t offset, bool whole,
				  uint64_t change)
{
	uint8_t    *p = buckets + cuckoo_offset_byte(offset, whole);

	cuckoo_store64(p, cuckoo_load64(p) ^
				   change << cuckoo_offset_bit(offset, whole));
}

/* The byte in which the bucket at `pos` begins. */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_byte(const CuckooHeader *h, uint64_t pos)
{
	return cuckoo_offset_byte(cuckoo_bucket_offset(h, pos, false), false);
}

/* Loads the bucket at `pos`, whose first byte is at `p`. */
static CUCKOO_INLINE CuckooBits
cuckoo_bucket_load_at(const uint8_t *p, const CuckooHeader *h, uint64_t pos)
{
	int			bit = cuckoo_offset_bit(cuckoo_bucket_offset(h, pos, false),
										false);
	CuckooBits	b = {cuckoo_load64(p) >> bit, 0};

	if (h->bits > CUCKOO_NARROW_BITS)
	{
		uint64_t	next = cuckoo_load64(p + 8);

		b.lo |= next << 1 << (63 - bit);
		b.hi = next >> bit;
	}
	return b;
}

/* Loads the bucket at `pos` from the buckets of an image. */
static CUCKOO_INLINE CuckooBits
cuckoo_bucket_load(const uint8_t *buckets, const CuckooHeader *h, uint64_t pos)
{
	return cuckoo_bucket_load_at(buckets + cuckoo_bucket_byte(h, pos), h, pos);
}

/* ---- comparing a fingerprint with all slots ---- */

/*
 * A fingerprint, repeated so that one operation compares it with all slots.
 * Lanes of a narrow bucket are compared in place, above the code.  Lanes of a
 * wide bucket are compared in two words, which begin with a lane.
 */
typedef struct CuckooPattern
{
	uint64_t	lanes;			/* its lane, in every lane */
	uint32_t	nibbles;		/* its low nibble, four times */
} CuckooPattern;

static CUCKOO_INLINE CuckooPattern
cuckoo_pattern(uint32_t fp, const CuckooHeader *h)
{
	CuckooPattern p = {h->lane_ones * (fp >> 4), (fp & 15) * 0x1111};

	return p;
}

/*
 * Lanes of two narrow buckets that match a pattern: the highest bits of these
 * lanes.  False hits are possible, but only in lanes above a true hit of the
 * same bucket.  So the lowest bit of `first` and of `any` is right, and so is
 * every bit that is clear.
 */
typedef struct CuckooLaneHits
{
	uint64_t	first;			/* hits in the first bucket */
	uint64_t	any;			/* hits in either bucket */
	uint64_t	both;			/* hits in both buckets */
} CuckooLaneHits;

/*
 * Compares the lanes of two buckets with a pattern, by Mycroft's test for a
 * zero byte (Warren, Hacker's Delight, 6-1): (x - ones) & ~x & tops.
 *
 * Vector registers do not save instructions here.  They leave the general
 * registers to the next lookups (README, "Lookups").
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
	__m128i		zero = _mm_andnot_si128(x, _mm_sub_epi64(x, ones));
	__m128i		here = _mm_and_si128(zero, tops);
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

/* The highest bits of lanes that are zero: an exact test, unlike Mycroft's. */
static inline uint64_t
cuckoo_zero_lanes(uint64_t x, const CuckooHeader *h)
{
	uint64_t	rest = h->lane_rest;

	return ~(((x & rest) + rest) | x) & h->lane_tops;
}

/* The bits of a bucket from bit `at` up, at most 64; 1 <= at <= 127. */
static inline uint64_t
cuckoo_bits_from(CuckooBits b, int at)
{
	return at < 64 ? b.lo >> at | b.hi << (64 - at) : b.hi >> (at - 64);
}

/* The lanes that match, as cuckoo_bucket_matches() needs them; 0 for none. */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_lane_hits(CuckooBits b, CuckooPattern p, const CuckooHeader *h)
{
	uint64_t	lower,
				upper;

	if (h->bits <= CUCKOO_NARROW_BITS)
		return cuckoo_zero_lanes(b.lo ^ p.lanes, h);

	lower = cuckoo_bits_from(b, CUCKOO_CODE_BITS);
	upper = cuckoo_bits_from(b, CUCKOO_CODE_BITS + 2 * (h->bits - 4));

	/* two lanes a word; hits of the upper word are shifted down by one bit */
	return cuckoo_zero_lanes(lower ^ p.lanes, h) |
		cuckoo_zero_lanes(upper ^ p.lanes, h) >> 1;
}

/*
 * Converts lane hits of a narrow bucket to slots: bit i is slot i.
 *
 * Multiplying four bits at distance d by four bits at distance d - 1 puts the
 * four bits side by side.  The factor places them at the top of the product.
 */
static inline uint32_t
cuckoo_narrow_slots(uint64_t hits, uint64_t gather)
{
	return (uint32_t) (hits * gather >> 60);
}

/* Converts lane hits of a wide bucket to slots. */
static inline uint32_t
cuckoo_wide_slots(uint64_t hits, int lane)
{
	/* slot 2 is bit 0, slot 0 bit 1, slot 3 bit `lane`, slot 1 the next bit */
	hits >>= lane - 2;
	return (uint32_t) ((hits >> 1 & 1) | (hits >> lane & 2) |
					   (hits & 1) << 2 | (hits >> lane & 1) << 3);
}

/*
 * The slots with the low nibble of the pattern, in the low four bits.  Higher
 * bits are undefined.  Nibbles are compared and gathered like lanes.
 */
static inline uint32_t
cuckoo_nibble_matches(uint64_t bucket, CuckooPattern p)
{
	uint32_t	x = p.nibbles ^
		cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK];

	return (~(((x & 0x7777) + 0x7777) | x) & 0x8888) * UINT32_C(0x249) >> 12;
}

/*
 * The slots that contain the fingerprint of the pattern, given the lane hits.
 */
static CUCKOO_INLINE uint32_t
cuckoo_bucket_matches(CuckooBits b, CuckooPattern p, uint64_t hits,
					  const CuckooHeader *h)
{
	return cuckoo_nibble_matches(b.lo, p) &
		(h->bits <= CUCKOO_NARROW_BITS
		 ? cuckoo_narrow_slots(hits, h->lane_gather)
		 : cuckoo_wide_slots(hits, h->bits - 4));
}

/*
 * The fullness of the bucket that begins in this word: below CUCKOO_CODES_ZERO
 * if it has room, and usually less for an emptier bucket.  The two lowest bits
 * are clear: callers may put a slot number there.
 *
 * Empty slots sort first.  If there is one, the lane of slot 0 is zero, and
 * the code is one of the codes whose first nibble is zero.  More empty slots
 * give a smaller code, unless fingerprints have nibbles of zero, too.
 */
static CUCKOO_INLINE uint64_t
cuckoo_bucket_fullness(uint64_t word, const CuckooHeader *h)
{
	return word & ((h->lane_size << CUCKOO_CODE_BITS) - 4);
}

/*
 * ---- changing a narrow bucket in place ----
 *
 * Adding: slot 0 is empty.  The slots up to slot i, which sort before the
 * fingerprint, move down by one, and the fingerprint becomes slot i.  Slots
 * above i stay.  Removing is the reverse.  The functions return the change for
 * cuckoo_bucket_xor().
 */

/*
 * The highest bits of lanes that are not less than the lane of the pattern.
 * If the highest bits are equal, the other bits decide, by a subtraction that
 * cannot borrow from the next lane.
 */
static CUCKOO_INLINE uint64_t
cuckoo_lanes_not_less(uint64_t lanes, uint64_t pattern, const CuckooHeader *h)
{
	uint64_t	rest = (lanes | h->lane_tops) - (pattern & h->lane_rest);

	return (lanes | ~pattern) & ((pattern ^ lanes) | rest);
}

/*
 * Adds fingerprint e to a bucket that has room.
 *
 * Looks up, by code and nibble: the new code, the slots that sort after e, and
 * the slots with the same nibble, whose lanes must be compared.  In a corrupt,
 * unsorted bucket e may land in the wrong order, but no slot is lost.
 *
 * Example: f = 13, so lanes have 9 bits; slots {0, 0x12, 0x34, 0x34}, e =
 * 0x24.
 *
 *	bucket			00180c020011b	code 11b (0 2 4 4), lanes 0 1 3 3
 *	e.lanes			0010080402000	lane 2, four times; its nibble is 4
 *	order->after	1000000000000	lowest bit after slot 3
 *	order->equal	0804000000000	highest bits of slots 2 and 3, nibble 4
 *	after			1008040000000	lanes 3 and 3 are not less than 2
 *	up_to_i			000003fffffff	code, lanes 0 and 1: so i = 1
 *	moved			0000000200000	lane of slot 1, which moves to slot 0
 *	added			0000000400000	lane of e in slot 1
 *	result			00180c040169c	code 69c (2 4 4 4), lanes 1 2 3 3
 */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_add(uint64_t bucket, CuckooPattern e, const CuckooHeader *h)
{
	const CuckooTables *tables = &cuckoo_tables;
	int			lane = h->bits - 4;
	uint64_t	code = bucket & CUCKOO_CODE_MASK;
	uint64_t	lanes = bucket & ~(uint64_t) CUCKOO_CODE_MASK;
	uint32_t	addition = tables->additions[code << 4 | (e.nibbles & 15)];
	uint32_t	new_code = addition & CUCKOO_CODE_MASK;
	const CuckooOrder *order = &tables->orders[h->bits - 8][addition >> 12];

	/* lowest bits of the lanes after e; the first one is lane i + 1 */
	uint64_t	not_less = cuckoo_lanes_not_less(lanes, e.lanes, h);
	uint64_t	after = (not_less & order->equal) >> (lane - 1) | order->after;
	uint64_t	up_to_i = (after - 1) & ~after; /* every bit, if no lane is
												 * after e */
	uint64_t	moved = lanes & up_to_i;
	uint64_t	added = e.lanes & (up_to_i ^ up_to_i >> lane);

	CUCKOO_ASSERT(code < CUCKOO_CODES_ZERO);
	return bucket ^ (lanes ^ moved ^ moved >> lane ^ added) ^ new_code;
}

/* Empties slot i, given the highest bit of its lane, and `slot` = 1 << i. */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_remove(uint64_t bucket, uint64_t top, uint32_t slot,
					 const CuckooHeader *h)
{
	uint64_t	lanes = bucket & ~(uint64_t) CUCKOO_CODE_MASK;
	uint32_t	nibbles = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK];
	uint64_t	up_to_i = top * 2 - 1;

	/* shift by a lane; a product needs fewer instructions */
	lanes *= h->lane_size;
	nibbles ^= (nibbles ^ nibbles << 4) & cuckoo_tables.up_to_slot[slot];
	return ((bucket ^ lanes) & up_to_i) ^
		cuckoo_tables.zero_codes[nibbles >> 4];
}

/* Replaces slot i by fingerprint e. */
static CUCKOO_INLINE uint64_t
cuckoo_narrow_replace(uint64_t bucket, int i, CuckooPattern e,
					  const CuckooHeader *h)
{
	int			next = CUCKOO_CODE_BITS + (i + 1) * (h->bits - 4);
	uint64_t	change = cuckoo_narrow_remove(bucket, UINT64_C(1) << (next - 1),
											  UINT32_C(1) << i, h);

	return change ^ cuckoo_narrow_add(bucket ^ change, e, h);
}

/* ---- unpacking and packing ---- */

/*
 * Unpacks a bucket into its slots.  The code of a corrupt image may be out of
 * range.  It counts as four zero nibbles.
 */
static inline void
cuckoo_bucket_unpack(CuckooBits b, int f, uint32_t slots[CUCKOO_SLOTS])
{
	int			lane = f - 4;
	uint32_t	mask = (uint32_t) cuckoo_low_mask(lane);
	uint32_t	nibbles = cuckoo_tables.nibbles[b.lo & CUCKOO_CODE_MASK];
	uint64_t	lower = cuckoo_bits_from(b, CUCKOO_CODE_BITS);
	uint64_t	upper = f <= CUCKOO_NARROW_BITS ? lower >> 2 * lane
		: cuckoo_bits_from(b, CUCKOO_CODE_BITS + 2 * lane);

	slots[0] = ((uint32_t) lower & mask) << 4 | (nibbles & 15);
	slots[1] = ((uint32_t) (lower >> lane) & mask) << 4 | (nibbles >> 4 & 15);
	slots[2] = ((uint32_t) upper & mask) << 4 | (nibbles >> 8 & 15);
	slots[3] = ((uint32_t) (upper >> lane) & mask) << 4 | nibbles >> 12;
}

/* The sort key of slots: the low nibble, then the lane. */
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

/* The code of four nibbles in ascending order. */
static inline uint32_t
cuckoo_code(uint32_t nibbles)
{
	return (uint32_t) (cuckoo_tables.lower_codes[nibbles & 0xff] -
					   cuckoo_tables.upper_codes[nibbles >> 8]);
}

/* Packs slots, in any order, to a bucket. */
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
	uint64_t	offset = cuckoo_bucket_offset(h, pos, false);
	uint8_t    *p = buckets + cuckoo_offset_byte(offset, false);
	int			bit = cuckoo_offset_bit(offset, false);
	int			bits = (int) h->bucket_bits;
	uint64_t	mask = cuckoo_low_mask(bits) << bit;

	cuckoo_store64(p, (cuckoo_load64(p) & ~mask) | b.lo << bit);
	if (h->bits > CUCKOO_NARROW_BITS)
	{
		mask = cuckoo_low_mask(bits + bit - 64);
		cuckoo_store64(p + 8, (cuckoo_load64(p + 8) & ~mask) |
					   b.hi << bit | b.lo >> 1 >> (63 - bit));
	}
}

#endif							/* CUCKOO_BUCKET_H */
