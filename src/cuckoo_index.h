/*-------------------------------------------------------------------------
 *
 * cuckoo_index.h
 *		From a 64-bit hash to a fingerprint and its two buckets, and from one
 *		bucket to the other.
 *
 * A filter has m0 base buckets (even, any size) and a growth level g; its
 * m0 * 2^g buckets are 2^g segments of m0, position = segment * m0 + j.  The
 * hash gives
 *
 *	core	8 bits, never 0; stays in the fingerprint for ever
 *	ext		f0 - 8 bits; the g low ones choose the segment, the rest are
 *			stored above the core
 *	j1		hash * m0 / 2^64
 *
 * and H(core), a fixed 64-bit hash of the core, gives the other bucket:
 *
 *	near	filter with windows, core mod 4 != 0: j2 = j1 XOR d, d in 1..127,
 *			in the same segment.  Both lie in one window of 128 buckets.
 *	far		j2 = (s - j1) mod m0, s odd, so never j1 itself (m0 is even).  Of
 *			the two, the smaller j is in segment e = the low bits of ext, the
 *			other in e XOR P, P = g bits of H.
 *
 * Both maps undo themselves whatever m0 is, so no size needs to be a power of
 * two, and the pair follows from the fingerprint and either position alone:
 * cuckoo_alternate() is an involution.
 *
 * Growth to level g + 1 reads the lowest ext bit of a stored fingerprint:
 * clear, the entry stays; set, it moves up by all present buckets; for the
 * larger j of a far pair the bit is flipped where P gets a new bit.
 * cuckoo_growth_flip() is the flip.  No hash is needed, nothing is evicted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

#include "cuckoo_format.h"
#include "cuckoo_tables.h"

/*
 * A fingerprint at the filter's level and its two positions.  These are 64 bits
 * so that lookups need no instruction to extend them.
 */
typedef struct CuckooPair
{
	uint32_t	fp;
	uint64_t	pos1;
	uint64_t	pos2;
} CuckooPair;

static inline bool
cuckoo_is_far(CuckooMove move)
{
	return move >> 32 != 0;
}

/* d, 0 for far */
static inline uint32_t
cuckoo_near_step(CuckooMove move)
{
	return (uint32_t) move & 0xff;
}

/* P at the last level, 0 for near */
static inline uint32_t
cuckoo_far_segment(CuckooMove move)
{
	return (uint32_t) move >> 8;
}

static inline uint32_t
cuckoo_far_bucket(const CuckooHeader *h, CuckooMove move, uint32_t j)
{
	uint32_t	s = (uint32_t) ((move >> 32) * h->base >> 32) | 1;

	return s - j + (s < j ? h->base : 0);
}

/* A fingerprint as stored: a core of 0 is replaced by 1. */
static inline uint32_t
cuckoo_fingerprint(uint32_t fp)
{
	return fp + ((fp & 0xff) == 0);
}

/*
 * The positions of a hash; the fingerprint is left out.  `grown` says whether
 * the level is not 0; it is an argument for callers that have found it out.
 *
 * Near or far, the sign of s - j1 and the order of j1 and j2 are as good as
 * random: they are selected, not branched on, as a branch would be mispredicted
 * every fourth time.
 */
static CUCKOO_INLINE CuckooPair
cuckoo_positions(const CuckooHeader *h, uint64_t hash, bool grown)
{
	CuckooMove	move = h->moves[hash & 0xff];
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint32_t	if_far = cuckoo_far_bucket(h, move, j1);
	uint32_t	if_near = j1 ^ (uint32_t) move;
	uint64_t	j2 = cuckoo_select(cuckoo_is_far(move), if_far, if_near);
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

static CUCKOO_INLINE CuckooPair
cuckoo_pair(const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	pair = cuckoo_positions(h, hash, h->level > 0);

	pair.fp = cuckoo_fingerprint(((uint32_t) hash & h->ext_mask) >> h->level |
								 ((uint32_t) hash & 0xff));
	return pair;
}

/*
 * The other position of a fingerprint (its core is not 0) found at `pos`.
 *
 * Near or far is selected here too.  It is by a mask, as compilers make a
 * branch of cuckoo_select() where that leaves one of the two uncomputed.
 */
static CUCKOO_INLINE uint32_t
cuckoo_alternate(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	CuckooMove	move = h->moves[fp & 0xff];
	uint64_t	far = cuckoo_opaque(0 - (uint64_t) cuckoo_is_far(move));
	uint32_t	if_near = pos ^ (uint32_t) move;
	uint32_t	if_far;

	/* near: m0 is a multiple of the window, and d smaller: no need to divide */
	if (h->level == 0)
		if_far = cuckoo_far_bucket(h, move, pos);
	else
	{
		uint32_t	segment = pos / h->base;
		uint32_t	p = cuckoo_far_segment(move) & h->level_mask;

		if_far = (segment ^ p) * h->base +
			cuckoo_far_bucket(h, move, pos - segment * h->base);
	}
	return if_near ^ ((if_near ^ if_far) & (uint32_t) far);
}

/*
 * Is the lowest ext bit at level `level` of an entry at j flipped to give the
 * half it is in at the next level?
 */
static inline uint32_t
cuckoo_growth_flip(const CuckooHeader *h, uint32_t j, uint32_t core, int level)
{
	CuckooMove	move = h->moves[core];

	if (!cuckoo_is_far(move) || j < cuckoo_far_bucket(h, move, j))
		return 0;
	return cuckoo_far_segment(move) >> level & 1;
}

#endif							/* CUCKOO_INDEX_H */
