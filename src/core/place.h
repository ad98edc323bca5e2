/*-------------------------------------------------------------------------
 *
 * core/place.h
 *		The fingerprint and the two buckets of a 64-bit hash, and the other
 *		bucket of a fingerprint.
 *
 * The fingerprint and either of its positions give the other position:
 * cuckoo_alternate() is an involution.  This holds for any even number of base
 * buckets, so no size needs to be a power of two.
 *
 * A filter has m0 base buckets and a growth level g.  Its m0 * 2^g buckets are
 * 2^g segments of m0 buckets, with position = segment * m0 + j.  The hash gives
 *
 *	core	8 bits, never 0; they always stay in the fingerprint
 *	ext		f0 - 8 bits; the g low ones choose the segment, the rest are
 *			stored above the core
 *	j1		hash * m0 / 2^64
 *
 * H(core), a fixed 64-bit hash of the core, gives the other bucket:
 *
 *	near	filter with windows, core mod 4 != 0: both in one window, and so in
 *			one segment.  If m0 < 256, the segment is the window, and j2 is as
 *			for far.  Else j2 = j1 XOR d, d in 1..127, in a window of 128.
 *	far		j2 = (s - j1) mod m0, s odd, so never j1 itself (m0 is even).  The
 *			smaller j is in segment e, the low bits of ext.  The other is in
 *			segment e XOR P, where P is g bits of H.
 *
 * Growth to level g + 1 reads the lowest ext bit of a stored fingerprint.  If
 * it is clear, the entry stays.  If it is set, the entry moves up by the
 * present number of buckets.  For the larger j of a far pair, the bit is first
 * flipped if P gets a new bit; cuckoo_growth_flip() tells.  Growth needs no
 * hashes and evicts nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLACE_H
#define CUCKOO_PLACE_H

#include "core/format.h"
#include "core/tables.h"

/*
 * A fingerprint at the filter's level and its two positions.  The positions
 * have 64 bits, so that lookups need no instruction to extend them.
 */
typedef struct CuckooPair
{
	uint32_t	fp;
	uint64_t	pos1;
	uint64_t	pos2;
} CuckooPair;

/* Is j2 = (s - j1) mod m0, and not j1 XOR d? */
static inline bool
cuckoo_is_reflection(CuckooMove move)
{
	return move >> 32 != 0;
}

/* The distance d, 0 for a reflection. */
static inline uint32_t
cuckoo_near_step(CuckooMove move)
{
	return (uint32_t) move & 0xff;
}

/* P at the last level, 0 for near. */
static inline uint32_t
cuckoo_far_segment(CuckooMove move)
{
	return (uint32_t) move >> 8;
}

static inline uint32_t
cuckoo_reflected(const CuckooHeader *h, CuckooMove move, uint32_t j)
{
	uint32_t	s = (uint32_t) ((move >> 32) * h->base >> 32) | 1;

	return s - j + (s < j ? h->base : 0);
}

/* The stored form of a fingerprint: a core of 0 is replaced by 1. */
static inline uint32_t
cuckoo_fingerprint(uint32_t fp)
{
	return fp + ((fp & 0xff) == 0);
}

/*
 * The positions of a hash, without the fingerprint.  `grown` says that the
 * level is not 0.  It is an argument because some callers know it already.
 *
 * The code selects, and does not branch, by the kind of move, by the sign of
 * s - j1 and by the order of j1 and j2.  These are as good as random, and a
 * branch would be mispredicted every fourth time.
 */
static CUCKOO_INLINE CuckooPair
cuckoo_positions(const CuckooHeader *h, uint64_t hash, bool grown)
{
	CuckooMove	move = h->moves[hash & 0xff];
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint32_t	reflected = cuckoo_reflected(h, move, j1);
	uint32_t	stepped = j1 ^ (uint32_t) move;
	uint64_t	j2 = cuckoo_select(cuckoo_is_reflection(move), reflected,
								   stepped);
	CuckooPair	pair = {0, j1, j2};

	if (grown)
	{
		uint32_t	larger = (uint32_t) cuckoo_opaque(0 - (uint64_t) (j1 > j2));
		uint32_t	p = cuckoo_far_segment(move);
		uint32_t	ext = (uint32_t) hash >> CUCKOO_CORE_BITS;
		uint32_t	segment = ext ^ (p & larger);

		pair.pos1 += (segment & h->level_mask) * h->base;
		pair.pos2 += ((segment ^ p) & h->level_mask) * h->base;
	}
	return pair;
}

/*
 * The code selects here too.  It does so by a mask, because compilers make a
 * branch of cuckoo_select() if that leaves one of the two uncomputed.
 */
static CUCKOO_INLINE uint32_t
cuckoo_partner(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	CuckooMove	move = h->moves[fp & 0xff];
	uint32_t	mask = (uint32_t)
		cuckoo_opaque(0 - (uint64_t) cuckoo_is_reflection(move));
	uint32_t	stepped = pos ^ (uint32_t) move;
	uint32_t	reflected;

	/* m0 is a multiple of the window and d is smaller: no division needed */
	if (h->level == 0)
		reflected = cuckoo_reflected(h, move, pos);
	else
	{
		/* pos / m0 */
		uint32_t	segment = cuckoo_scale(h->base_inverse, pos);
		uint32_t	p = cuckoo_far_segment(move) & h->level_mask;

		reflected = (segment ^ p) * h->base +
			cuckoo_reflected(h, move, pos - segment * h->base);
	}
	return stepped ^ ((stepped ^ reflected) & mask);
}

/* The other position of a stored fingerprint (core not 0) at `pos`. */
static CUCKOO_INLINE uint32_t
cuckoo_alternate(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	uint32_t	other = cuckoo_partner(h, pos, fp);

	CUCKOO_ASSERT(other != pos && other < h->buckets);
	CUCKOO_ASSERT(cuckoo_partner(h, other, fp) == pos);
	return other;
}

static CUCKOO_INLINE CuckooPair
cuckoo_pair(const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	pair = cuckoo_positions(h, hash, h->level > 0);

	pair.fp = cuckoo_fingerprint(((uint32_t) hash & h->ext_mask) >> h->level |
								 ((uint32_t) hash & 0xff));
	CUCKOO_ASSERT(cuckoo_alternate(h, (uint32_t) pair.pos1, pair.fp) ==
				  pair.pos2);
	return pair;
}

/*
 * Must the lowest ext bit of an entry at j be flipped, when the filter grows
 * from `level`, to tell which half of the buckets the entry moves to?
 */
static inline uint32_t
cuckoo_growth_flip(const CuckooHeader *h, uint32_t j, uint32_t core, int level)
{
	CuckooMove	move = h->moves[core];

	if (!cuckoo_is_reflection(move) || j < cuckoo_reflected(h, move, j))
		return 0;
	return cuckoo_far_segment(move) >> level & 1;
}

#endif							/* CUCKOO_PLACE_H */
