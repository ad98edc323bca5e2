/*-------------------------------------------------------------------------
 *
 * core/position.h
 *		The fingerprint and the two buckets of a hash.
 *
 * README, "Positions" and "Growth", explains the code; FORMAT.md, "Hash to
 * position", specifies it.  cuckoo_pair() starts from a hash, cuckoo_partner()
 * from a stored fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_POSITION_H
#define CUCKOO_POSITION_H

#include "core/format.h"
#include "core/tables.h"

/*
 * A fingerprint at the filter's level, and its two positions.  Positions have
 * 64 bits, so lookups need no instruction to extend them.
 */
typedef struct CuckooPair
{
	uint32_t	fp;
	uint64_t	pos1;
	uint64_t	pos2;
} CuckooPair;

/* True if j2 = (s - j1) mod m0, false if j2 = j1 XOR d. */
static inline bool
cuckoo_is_reflection(CuckooMapping mapping)
{
	return mapping >> 32 != 0;
}

/* P at the last level; 0 for near.  A filter uses the low g bits. */
static inline uint32_t
cuckoo_far_segment(CuckooMapping mapping)
{
	return (uint32_t) mapping >> 8;
}

/* The reflection of j: (s - j) mod m. */
static inline uint32_t
cuckoo_reflected(CuckooMapping mapping, uint32_t m, uint32_t j)
{
	uint32_t	s = (uint32_t) ((mapping >> 32) * m >> 32) | 1;

	return s - j + (s < j ? m : 0);
}

/* The partner of base bucket j.  Selects instead of branching. */
static CUCKOO_INLINE uint64_t
cuckoo_partner_base(const CuckooHeader *h, CuckooMapping mapping, uint32_t j)
{
	return cuckoo_select(cuckoo_is_reflection(mapping),
						 cuckoo_reflected(mapping, h->base, j),
						 j ^ (uint32_t) mapping);
}

/*
 * All bits if c, else none.  Use it where compilers turn cuckoo_select() into
 * a branch, to skip the computation of one value.
 */
static inline uint32_t
cuckoo_mask_if(bool c)
{
	return (uint32_t) cuckoo_opaque(0 - (uint64_t) c);
}

/* The stored fingerprint: a fixed byte of 0 is replaced by 1. */
static inline uint32_t
cuckoo_fingerprint(uint32_t fp)
{
	return fp + ((fp & 0xff) == 0);
}

/*
 * The positions of a hash, without the fingerprint.  `grown`: the level is not
 * 0.  Some callers pass a constant.
 */
static CUCKOO_INLINE CuckooPair
cuckoo_positions(const CuckooHeader *h, uint64_t hash, bool grown)
{
	CuckooMapping mapping = h->mappings[hash & 0xff];
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint64_t	j2 = cuckoo_partner_base(h, mapping, j1);
	CuckooPair	pair = {0, j1, j2};

	if (grown)
	{
		uint32_t	larger = cuckoo_mask_if(j1 > j2);
		uint32_t	p = cuckoo_far_segment(mapping);
		uint32_t	e = (uint32_t) hash >> CUCKOO_FIXED_BITS;
		uint32_t	segment1 = e ^ (p & larger);
		uint32_t	segment2 = segment1 ^ p;

		/* the low g bits of e and P */
		pair.pos1 += (segment1 & h->level_mask) * h->base;
		pair.pos2 += (segment2 & h->level_mask) * h->base;
	}
	return pair;
}

/*
 * cuckoo_partner() without its checks.  An XOR maps pos as it maps j, because
 * m0 is then a multiple of 128.  cuckoo_scale() computes pos / m0.
 */
static CUCKOO_INLINE uint32_t
cuckoo_partner_unchecked(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	CuckooMapping mapping = h->mappings[fp & 0xff];
	uint32_t	mask = cuckoo_mask_if(cuckoo_is_reflection(mapping));
	uint32_t	xored = pos ^ (uint32_t) mapping;
	uint32_t	reflected;

	if (h->level == 0)
		reflected = cuckoo_reflected(mapping, h->base, pos);
	else
	{
		uint32_t	segment = cuckoo_scale(h->base_inverse, pos);
		uint32_t	p = cuckoo_far_segment(mapping) & h->level_mask;

		reflected = (segment ^ p) * h->base +
			cuckoo_reflected(mapping, h->base, pos - segment * h->base);
	}
	return xored ^ ((xored ^ reflected) & mask);
}

/* The other position of a stored fingerprint (fixed byte not 0) at `pos`. */
static CUCKOO_INLINE uint32_t
cuckoo_partner(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	uint32_t	other = cuckoo_partner_unchecked(h, pos, fp);

	CUCKOO_ASSERT(other != pos && other < h->buckets);
	CUCKOO_ASSERT(cuckoo_partner_unchecked(h, other, fp) == pos);
	return other;
}

/* The fingerprint and the positions of a hash. */
static CUCKOO_INLINE CuckooPair
cuckoo_pair(const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	pair = cuckoo_positions(h, hash, h->level > 0);
	uint32_t	fixed = (uint32_t) hash & 0xff;

	/* fixed | (ext >> g) << 8 */
	pair.fp = cuckoo_fingerprint(fixed |
								 ((uint32_t) hash & h->ext_mask) >> h->level);
	CUCKOO_ASSERT(cuckoo_partner(h, (uint32_t) pair.pos1, pair.fp) ==
				  pair.pos2);
	return pair;
}

/*
 * Growth moves a fingerprint up if its lowest ext bit XOR this result is 1.
 * The result is 1 at the larger base bucket of a far pair if bit g of P is set;
 * else 0.
 */
static inline uint32_t
cuckoo_growth_flip(const CuckooHeader *h, uint32_t j, uint32_t fixed)
{
	CuckooMapping mapping = h->mappings[fixed];

	if (!cuckoo_is_reflection(mapping) ||
		j < cuckoo_reflected(mapping, h->base, j))
		return 0;
	return cuckoo_far_segment(mapping) >> h->level & 1;
}

#endif							/* CUCKOO_POSITION_H */
