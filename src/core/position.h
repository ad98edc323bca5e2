/*-------------------------------------------------------------------------
 *
 * core/position.h
 *		The fingerprint and the two buckets of a hash.
 *
 * This is "Hash to place" of FORMAT.md.  cuckoo_pair() gives the fingerprint
 * and both positions of a hash, cuckoo_positions() only the positions.
 * cuckoo_partner() leads from either position of a stored fingerprint to the
 * other one, without the hash.  This works for any even number of base buckets,
 * so no size needs to be a power of two.
 *
 * A filter has m0 base buckets and a growth level g.  Its m0 * 2^g buckets are
 * 2^g segments of m0 buckets, with position = segment * m0 + j.  The hash gives
 *
 *	core	8 bits, never 0; they always stay in the fingerprint
 *	ext		f0 - 8 bits; e, the g low ones, chooses the segment, and the rest
 *			is stored above the core
 *	j1		hash * m0 / 2^64
 *
 * H(core), a fixed 64-bit hash of the core, gives the other bucket:
 *
 *	near	filter with windows, core mod 4 != 0: both are in segment e, and in
 *			one window.  If m0 < 256, the segment is the window, and j2 is as
 *			for far.  Else j2 = j1 XOR d, d in 1..127, in a window of 128.
 *	page	filter with pages of w buckets, every core: both are in segment e
 *			and in one page, and j2 is as for far, with w for m0 and both
 *			counted from the beginning of the page.
 *	far		j2 = (s - j1) mod m0, s odd, so never j1 itself (m0 is even).  The
 *			smaller j is in segment e, the other in segment e XOR P, where P
 *			is g bits of H.
 *
 * Growth to level g + 1 takes the lowest ext bit from a stored fingerprint.  If
 * it is set, the entry moves up by the present number of buckets, otherwise it
 * stays.  For the larger j of a far pair, the bit is first flipped if P gets a
 * new bit, which cuckoo_growth_flip() tells.  Therefore growth needs no hashes
 * and evicts nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_POSITION_H
#define CUCKOO_POSITION_H

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

/* True if j2 = (s - j1) mod m0, false if j2 = j1 XOR d. */
static inline bool
cuckoo_is_reflection(CuckooMapping mapping)
{
	return mapping >> 32 != 0;
}

/* P at the last level, of which a filter uses the low g bits; 0 for near. */
static inline uint32_t
cuckoo_far_segment(CuckooMapping mapping)
{
	return (uint32_t) mapping >> 8;
}

/* (s - j) mod m */
static inline uint32_t
cuckoo_reflected(CuckooMapping mapping, uint32_t m, uint32_t j)
{
	uint32_t	s = (uint32_t) ((mapping >> 32) * m >> 32) | 1;

	return s - j + (s < j ? m : 0);
}

/* The same within the page of a base bucket or position. */
static inline uint32_t
cuckoo_reflected_in_page(const CuckooHeader *h, CuckooMapping mapping,
						 uint32_t pos)
{
	uint32_t	i = pos % h->page;

	return pos - i + cuckoo_reflected(mapping, h->page, i);
}

/* j XOR d; means nothing for a reflection. */
static inline uint32_t
cuckoo_xor_partner(CuckooMapping mapping, uint32_t j)
{
	return j ^ (uint32_t) mapping;
}

/*
 * j2 for j1, and j1 for j2, if the filter has no pages or only one.
 *
 * This function and those below select and do not branch, because the kind of
 * move, the sign of s - j1 and the order of j1 and j2 are as good as random: a
 * branch would be mispredicted every fourth time.
 */
static CUCKOO_INLINE uint64_t
cuckoo_partner_base(const CuckooHeader *h, CuckooMapping mapping, uint32_t j)
{
	return cuckoo_select(cuckoo_is_reflection(mapping),
						 cuckoo_reflected(mapping, h->base, j),
						 cuckoo_xor_partner(mapping, j));
}

/*
 * All bits if c, else none.  It serves where compilers make a branch of
 * cuckoo_select(), because that leaves one of the two values uncomputed.
 */
static inline uint32_t
cuckoo_mask_if(bool c)
{
	return (uint32_t) cuckoo_opaque(0 - (uint64_t) c);
}

/* The stored form of a fingerprint: a core of 0 is replaced by 1. */
static inline uint32_t
cuckoo_fingerprint(uint32_t fp)
{
	return fp + ((fp & 0xff) == 0);
}

/*
 * The positions of a hash, without the fingerprint.  `grown` says that the
 * level is not 0, and `paged` that there are pages; if there is one, this need
 * not be said.  They are arguments because some callers know them already.
 */
static CUCKOO_INLINE CuckooPair
cuckoo_positions(const CuckooHeader *h, uint64_t hash, bool grown, bool paged)
{
	CuckooMapping	mapping = h->mappings[hash & 0xff];
	uint32_t	j1 = cuckoo_scale(hash, h->base);
	uint64_t	j2 = paged ? cuckoo_reflected_in_page(h, mapping, j1)
		: cuckoo_partner_base(h, mapping, j1);
	CuckooPair	pair = {0, j1, j2};

	if (grown)
	{
		uint32_t	larger = cuckoo_mask_if(j1 > j2);
		uint32_t	p = cuckoo_far_segment(mapping);
		uint32_t	e = (uint32_t) hash >> CUCKOO_CORE_BITS;
		uint32_t	segment1 = e ^ (p & larger);
		uint32_t	segment2 = segment1 ^ p;

		/* e and P are the g low bits */
		pair.pos1 += (segment1 & h->level_mask) * h->base;
		pair.pos2 += (segment2 & h->level_mask) * h->base;
	}
	return pair;
}

/*
 * cuckoo_partner() without its checks.  A step is the same for pos as for j,
 * because m0 is then a multiple of 128.  cuckoo_scale() computes pos / m0.
 */
static CUCKOO_INLINE uint32_t
cuckoo_partner_unchecked(const CuckooHeader *h, uint32_t pos, uint32_t fp)
{
	CuckooMapping	mapping = h->mappings[fp & 0xff];
	uint32_t	mask = cuckoo_mask_if(cuckoo_is_reflection(mapping));
	uint32_t	xored = cuckoo_xor_partner(mapping, pos);
	uint32_t	reflected;

	if (h->page != 0)			/* a segment is whole pages */
		return cuckoo_reflected_in_page(h, mapping, pos);
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

/* The other position of a stored fingerprint (core not 0) at `pos`. */
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
	CuckooPair	pair = cuckoo_positions(h, hash, h->level > 0,
										h->page != 0);
	uint32_t	core = (uint32_t) hash & 0xff;

	/* core | (ext >> g) << 8 */
	pair.fp = cuckoo_fingerprint(core |
								 ((uint32_t) hash & h->ext_mask) >> h->level);
	CUCKOO_ASSERT(cuckoo_partner(h, (uint32_t) pair.pos1, pair.fp) ==
				  pair.pos2);
	return pair;
}

/*
 * 1 if the lowest ext bit of an entry at base bucket j must be flipped, when
 * the filter grows from `level`, to tell which half of the buckets the entry
 * moves to; else 0.
 */
static inline uint32_t
cuckoo_growth_flip(const CuckooHeader *h, uint32_t j, uint32_t core, int level)
{
	CuckooMapping	mapping = h->mappings[core];

	if (!cuckoo_is_reflection(mapping) ||
		j < cuckoo_reflected(mapping, h->base, j))
		return 0;				/* in a page P is 0 */
	return cuckoo_far_segment(mapping) >> level & 1;
}

#endif							/* CUCKOO_POSITION_H */
