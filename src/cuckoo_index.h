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

extern const uint64_t cuckoo_core_hash[256];
extern const uint8_t cuckoo_near_step[256];

/* A fingerprint at the filter's level and its two positions. */
typedef struct CuckooPair
{
	uint32_t	fp;
	uint32_t	pos1;
	uint32_t	pos2;
} CuckooPair;

static inline bool
cuckoo_is_near(const CuckooHeader *h, uint32_t core)
{
	return h->windows && (core & 3) != 0;
}

static inline uint32_t
cuckoo_far_bucket(const CuckooHeader *h, uint32_t core, uint32_t j)
{
	uint64_t	low = cuckoo_core_hash[core] & 0xffffffff;
	uint32_t	s = (uint32_t) (low * h->base >> 32) | 1;

	return s - j + (s < j ? h->base : 0);
}

/* P: by how much the segments of a far pair differ. */
static inline uint32_t
cuckoo_far_segment(const CuckooHeader *h, uint32_t core)
{
	return (uint32_t) (cuckoo_core_hash[core] >> 32) &
		((UINT32_C(1) << h->level) - 1);
}

/*
 * The pair of a hash at a level, which is h->level and an argument only for a
 * caller that has found it to be 0.
 *
 * Near or far and the sign of s - j1 are as good as random: they are selected,
 * not branched on, as a branch would be mispredicted every fourth time.
 */
static CUCKOO_INLINE CuckooPair
cuckoo_pair_at(const CuckooHeader *h, uint64_t hash, int level)
{
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint32_t	fp = (uint32_t) hash & h->base_mask;
	uint32_t	core;
	uint32_t	step;
	uint32_t	j2;
	CuckooPair	pair;

	fp += (fp & 0xff) == 0;
	core = fp & 0xff;
	step = cuckoo_near_step[core] & h->near_mask;
	j2 = cuckoo_far_bucket(h, core, j1);
	j2 = step != 0 ? j1 ^ step : j2;
	pair.fp = fp;
	pair.pos1 = j1;
	pair.pos2 = j2;
	if (level > 0)
	{
		uint32_t	segment = fp >> CUCKOO_CORE_BITS &
			((UINT32_C(1) << level) - 1);
		uint32_t	shift = cuckoo_far_segment(h, core) &
			((uint32_t) (step != 0) - 1);

		segment ^= shift & (0 - (uint32_t) (j1 > j2));
		pair.fp = fp >> CUCKOO_CORE_BITS >> level << CUCKOO_CORE_BITS | core;
		pair.pos1 += segment * h->base;
		pair.pos2 += (segment ^ shift) * h->base;
	}
	return pair;
}

static CUCKOO_INLINE CuckooPair
cuckoo_pair(const CuckooHeader *h, uint64_t hash)
{
	return cuckoo_pair_at(h, hash, h->level);
}

/* The other position of a fingerprint (its core is not 0) found at `pos`. */
static inline uint32_t
cuckoo_alternate(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	uint32_t	core = fp & 0xff;
	uint32_t	segment;
	uint32_t	j;

	/* m0 is a multiple of the window, and d smaller: no need to divide */
	if (cuckoo_is_near(h, core))
		return pos ^ cuckoo_near_step[core];
	if (h->level == 0)
		return cuckoo_far_bucket(h, core, pos);
	segment = pos / h->base;
	j = pos - segment * h->base;
	return (segment ^ cuckoo_far_segment(h, core)) * h->base +
		cuckoo_far_bucket(h, core, j);
}

/*
 * Is the lowest ext bit at level `level` of an entry at j flipped to give the
 * half it is in at the next level?
 */
static inline uint32_t
cuckoo_growth_flip(const CuckooHeader *h, uint32_t j, uint32_t core, int level)
{
	if (cuckoo_is_near(h, core) || j < cuckoo_far_bucket(h, core, j))
		return 0;
	return (uint32_t) (cuckoo_core_hash[core] >> 32 >> level) & 1;
}

#endif							/* CUCKOO_INDEX_H */
