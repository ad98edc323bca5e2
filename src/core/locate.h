/*-------------------------------------------------------------------------
 *
 * core/locate.h
 *		Entries that say where a value is: the code of index/ for a hash and a
 *		block number.
 *
 * A value's hash chooses a page and `ext_bits` bits of the fingerprint.  The
 * rest of an entry (its bucket in the page, its core byte and `payload_bits`
 * further bits of the fingerprint) encodes the block:
 *
 *		x = (offset(hash) + block * factor) mod modulus
 *		x = payload * cells + bucket * 254 + core - 1
 *
 * A page has cells = 254 * page_buckets, and modulus = cells * 2^payload_bits.
 * `factor` has an inverse, so whoever has the hash computes the block from x:
 * exactly one of 0 to modulus - 1, and blocks that differ by a multiple of
 * `modulus` look alike.  An entry that was moved to its partner bucket has the
 * x of another block, so a reader decodes both buckets, and finds one wrong
 * block beside the right one.  Entries of other values with the same ext bits
 * decode to blocks as good as random, most of them beyond the table's end.
 *
 * Example: page_buckets = 2 and payload_bits = 1 give cells = 508 and modulus =
 * 1016.  factor = 627 has the inverse 619, as 627 * 619 mod 1016 = 1.  With
 * offset 100, block 3 is x = (100 + 3 * 627) mod 1016 = 965 = 508 + 254 + 203:
 * payload 1, bucket 1, core byte 204.  Back: (965 - 100) * 619 mod 1016 = 3.
 *
 * The payload is the top of the fingerprint, so the ext bits can be dropped
 * from the lower end, one for each split of a page:
 *
 *		fingerprint at level g = payload | ext >> g | core byte
 *
 * The core byte is 1 to 254.  255 is left for the mark (index/insert.c).
 *
 * Only the top `hash_bits` of a hash count, so a hash and a block fit in one
 * word while an index is built (cuckoo_locator_word()).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LOCATE_H
#define CUCKOO_LOCATE_H

#include "core/geometry.h"

/* Core bytes of ordinary entries are 1 to this. */
#define CUCKOO_LOCATE_CORES		254
#define CUCKOO_CORE_MARK		255

/* Fewer ext bits would let pages split too seldom. */
#define CUCKOO_LOCATE_LEAST_EXT	8

/* A locator, as chosen, and what cuckoo_locator_derive() computes from it. */
typedef struct CuckooLocator
{
	uint32_t	pages;			/* of level 0 */
	uint32_t	page_buckets;
	uint8_t		base_bits;		/* of a fingerprint at level 0 */
	uint8_t		payload_bits;
	uint8_t		hash_bits;		/* 32 to 64 */

	uint8_t		ext_bits;
	uint32_t	cells;
	uint64_t	modulus;		/* at most 2^32 */
	uint64_t	factor;
	uint64_t	inverse;
} CuckooLocator;

/* Where a hash is in an index: its page, bucket and fingerprint at level 0. */
typedef struct CuckooLocation
{
	uint32_t	number;			/* of the page, at level 0 */
	uint32_t	bucket;			/* in the page */
	uint32_t	fingerprint;
} CuckooLocation;

/* Computes the derived fields.  False if the chosen ones are impossible. */
extern bool cuckoo_locator_derive(CuckooLocator *l);

/*
 * The payload bits for a table of `blocks`: the fewest that give a modulus of
 * 16 * blocks, as far as the ext bits and the limit of the modulus allow.
 */
extern int	cuckoo_locate_payload_bits(int base_bits, uint32_t page_buckets,
									   double blocks);

/* The finalizer of SplitMix64 (Steele, Lea, Flood: OOPSLA 2014). */
static inline uint64_t
cuckoo_mix64(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The bits of a hash that count, and below them a block, if it fits there. */
static inline uint64_t
cuckoo_locator_word(const CuckooLocator *l, uint64_t hash, uint32_t block)
{
	return (hash & ~cuckoo_low_mask(64 - l->hash_bits)) | block;
}

static inline uint32_t
cuckoo_locator_block(const CuckooLocator *l, uint64_t word)
{
	return (uint32_t) (word & cuckoo_low_mask(64 - l->hash_bits));
}

/* What the hash, without its block, chooses. */
typedef struct CuckooLocated
{
	uint32_t	number;			/* of the page */
	uint32_t	ext;
	uint64_t	offset;			/* below modulus */
} CuckooLocated;

static inline CuckooLocated
cuckoo_locate_hash(const CuckooLocator *l, uint64_t hash)
{
	uint64_t	known = cuckoo_locator_word(l, hash, 0);
	uint64_t	mixed = cuckoo_mix64(known);
	CuckooLocated result;

	result.number = cuckoo_scale(known, l->pages);
	result.ext = (uint32_t) (mixed & cuckoo_low_mask(l->ext_bits));
	/* bits that ext does not use: it has at most 24 */
	result.offset = (mixed >> 24) % l->modulus;
	return result;
}

/* The location of a hash and a block. */
static inline CuckooLocation
cuckoo_locate(const CuckooLocator *l, uint64_t hash, uint32_t block)
{
	CuckooLocated at = cuckoo_locate_hash(l, hash);
	uint64_t	x = (at.offset +
					 block % l->modulus * l->factor % l->modulus) % l->modulus;
	uint32_t	cell = (uint32_t) (x % l->cells);
	uint32_t	payload = (uint32_t) (x / l->cells);
	CuckooLocation result;

	result.number = at.number;
	result.bucket = cell / CUCKOO_LOCATE_CORES;
	result.fingerprint = (payload << l->ext_bits | at.ext) << CUCKOO_CORE_BITS |
		(cell % CUCKOO_LOCATE_CORES + 1);
	return result;
}

/*
 * The mark of a hash: an entry that stands for all blocks of all values with
 * its page and ext bits.
 */
static inline CuckooLocation
cuckoo_locate_mark(const CuckooLocator *l, uint64_t hash)
{
	CuckooLocated at = cuckoo_locate_hash(l, hash);
	uint64_t	mixed = cuckoo_mix64((uint64_t) at.number << 32 | at.ext);
	CuckooLocation result;

	result.number = at.number;
	result.bucket = cuckoo_scale(mixed, l->page_buckets);
	result.fingerprint = at.ext << CUCKOO_CORE_BITS | CUCKOO_CORE_MARK;
	return result;
}

/*
 * The lowest block of an entry whose ext bits are those of the hash, if the
 * entry's bucket is `bucket`.  The core byte must not be that of a mark.
 */
static inline uint64_t
cuckoo_located_block(const CuckooLocator *l, const CuckooLocated *at,
					 int level, uint32_t fingerprint, uint32_t bucket)
{
	int			above = CUCKOO_CORE_BITS + l->ext_bits - level;
	uint64_t	payload = (uint64_t) fingerprint >> above;
	uint64_t	cell = (uint64_t) bucket * CUCKOO_LOCATE_CORES +
		(fingerprint & 0xff) - 1;
	uint64_t	x = payload * l->cells + cell;

	return (x + l->modulus - at->offset) % l->modulus * l->inverse % l->modulus;
}

#endif							/* CUCKOO_LOCATE_H */
