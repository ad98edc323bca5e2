/*-------------------------------------------------------------------------
 *
 * core/locate.h
 *		Entries that say where a value is: encodes a hash and a block number
 *		of a table, for src/index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LOCATE_H
#define CUCKOO_LOCATE_H

#include "core/geometry.h"

/*
 * The core bytes of ordinary entries are 1 to 254.  255 is the mark (README of
 * src/index, "Marks").
 */
#define CUCKOO_LOCATE_CORES		254
#define CUCKOO_CORE_MARK		255

/* The least number of ext bits; with fewer, pages could hardly split. */
#define CUCKOO_LOCATE_LEAST_EXT	8

/*
 * The geometry of entries, as chosen, and below it fields that
 * cuckoo_locator_derive() computes.
 */
typedef struct CuckooLocator
{
	uint32_t	pages;			/* N, of level 0 */
	uint32_t	page_buckets;
	uint8_t		base_bits;		/* f0 */
	uint8_t		payload_bits;
	uint8_t		hash_bits;		/* 32 to 64: top bits of a hash in use */

	uint8_t		ext_bits;
	uint32_t	cells;
	uint64_t	modulus;		/* at most 2^32 */
	uint64_t	factor;
	uint64_t	inverse;
} CuckooLocator;

/* The entry of a hash and a block: page, bucket and fingerprint at level 0. */
typedef struct CuckooLocation
{
	uint32_t	number;			/* of the page, 0 to N - 1 */
	uint32_t	bucket;			/* in the page */
	uint32_t	fingerprint;
} CuckooLocation;

/*
 * Computes the derived fields.  Returns false if the chosen ones are invalid.
 */
extern bool cuckoo_locator_derive(CuckooLocator *l);

/*
 * The payload bits for a table of `blocks` blocks: the fewest that give a
 * modulus of 16 * blocks, within the limits of ext bits and modulus.
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

/*
 * The top `hash_bits` of a hash, and below them a block, if it fits.  So a
 * hash and a block are one word while an index is built.
 */
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

/* The parts of an entry that follow from the hash alone. */
typedef struct CuckooLocated
{
	uint32_t	number;			/* of the page */
	uint32_t	ext;
	uint64_t	offset;			/* of x, below `modulus` */
} CuckooLocated;

static inline CuckooLocated
cuckoo_locate_hash(const CuckooLocator *l, uint64_t hash)
{
	uint64_t	known = cuckoo_locator_word(l, hash, 0);
	uint64_t	mixed = cuckoo_mix64(known);
	CuckooLocated result;

	result.number = cuckoo_scale(known, l->pages);
	result.ext = (uint32_t) (mixed & cuckoo_low_mask(l->ext_bits));
	/* ext has at most the low 24 bits */
	result.offset = (mixed >> 24) % l->modulus;
	return result;
}

/*
 * Encodes a hash and a block.
 *
 * The hash gives the page, the ext bits and an offset.  The bucket in the
 * page, the core byte and the payload encode the block as x:
 *
 *	x = (offset + block * factor) mod modulus
 *	x = payload * cells + bucket * 254 + core - 1
 *	cells = 254 * page_buckets
 *	modulus = cells * 2^payload_bits
 *
 * `factor` has an inverse modulo `modulus`, so the hash and x give the block,
 * except that blocks that differ by `modulus` have the same x.
 *
 * Example: page_buckets = 2, payload_bits = 1: cells = 508, modulus = 1016.
 * factor = 627 has the inverse 619, as 627 * 619 mod 1016 = 1.  With offset
 * 100, block 3 is x = (100 + 3 * 627) mod 1016 = 965 = 508 + 254 + 203:
 * payload 1, bucket 1, core byte 204.  Back: (965 - 100) * 619 mod 1016 = 3.
 *
 * The payload is the top of the fingerprint, so splits of a page can drop ext
 * bits from the lower end:
 *
 *	fingerprint at level g = payload | ext >> g | core byte
 */
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
 * The mark of a hash: an entry for all blocks of all values with its page and
 * ext bits.
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
 * Decodes an entry at `level`, with ext bits of the hash *at, in bucket
 * `bucket`.  Returns the lowest of its blocks.  The caller decodes an entry
 * with both buckets, since an eviction may have moved it: one result is right,
 * and the other is a random block.  Entries of other values with the same ext
 * bits give random blocks, too; most of them are beyond the end of the table.
 * The entry must not be a mark.
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
