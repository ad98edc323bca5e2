/*-------------------------------------------------------------------------
 *
 * index/entry.h
 *		Entries: a row of a table and some bits of a hash, in 40 bits.
 *
 * README, "Entries", explains them.  This code needs no PostgreSQL.
 * test/unit/test_entry.c tests it alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ENTRY_H
#define CUCKOO_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef CUCKOO_IN_POSTGRES
#include "pg_config.h"			/* BLCKSZ, for entry.c too */
#endif

/* PostgreSQL's header of a page, and CuckooPageHeader */
#define CUCKOO_HEADERS			48

/*
 * The buckets of a page, an odd number.  A page of 8 kB has 203: 24 bytes of
 * PostgreSQL's header, 203 * 8 * 5 bytes of slots, 24 bytes of our header.
 * With CUCKOO_SMALL_PAGES a page has few slots, so that tests split often.
 */
#ifdef CUCKOO_SMALL_PAGES
#define CUCKOO_PAGE_BUCKETS		31
#elif defined(BLCKSZ)
#define CUCKOO_PAGE_BUCKETS		(((BLCKSZ - CUCKOO_HEADERS) / 40 - 1) | 1)
#else
#define CUCKOO_PAGE_BUCKETS		203
#endif

#define CUCKOO_BUCKET_SLOTS		8
#define CUCKOO_PAGE_SLOTS		(CUCKOO_PAGE_BUCKETS * CUCKOO_BUCKET_SLOTS)
#define CUCKOO_PAIRS			((CUCKOO_PAGE_BUCKETS - 1) / 2) /* Q */
#define CUCKOO_SLOT_BITS		40

/* If a tag has more rows, they go to a chain before the page is split. */
#define CUCKOO_HOT_ROWS			(CUCKOO_PAGE_SLOTS / 4)

/*
 * The most bits of an offset and of a position.  11 bits are enough for the
 * rows of a heap page of 32 kB.
 */
#define CUCKOO_MOST_OFFSET_BITS		11
#define CUCKOO_MOST_POSITION_BITS	(CUCKOO_SLOT_BITS - 2)

/* How the entries of a page are encoded, stored in its header. */
typedef struct CuckooEntryEncoding
{
	uint32_t	salt;			/* of the hash of slots */
	uint8_t		level;			/* bits of the hash in the page's segment */
	uint8_t		position_bits;	/* of pq + 1; the tag has the other bits */
	uint8_t		offset_bits;
	uint8_t		has_chain;		/* some entry links to a chain */
} CuckooEntryEncoding;

typedef struct CuckooEntry
{
	uint64_t	tag;
	uint32_t	block;
	uint16_t	offset;			/* 0: `block` is the head of a chain */
} CuckooEntry;

/* The slots of a page: the high 32 bits and the low 8 bits of each. */
typedef struct CuckooSlots
{
	uint32_t	high[CUCKOO_PAGE_SLOTS];
	uint8_t		low[CUCKOO_PAGE_SLOTS];
} CuckooSlots;

/* Slots to be written.  An insert moves at most two entries. */
#define CUCKOO_MOST_WRITES	3

typedef struct CuckooWrites
{
	int			n;
	struct
	{
		uint32_t	at;			/* number of a slot */
		uint64_t	slot;
	}			write[CUCKOO_MOST_WRITES];
} CuckooWrites;

/* ---- encoding ---- */

/* The finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t
cuckoo_mix64(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t
cuckoo_bit_mask(int bits)
{
	return (UINT64_C(1) << bits) - 1;
}

/* The number of bits of n; 0 for 0. */
static inline int
cuckoo_bits_of(uint64_t n)
{
	int			bits = 0;

	for (; n != 0; n >>= 1)
		bits++;
	return bits;
}

static inline int
cuckoo_tag_bits(const CuckooEntryEncoding *encoding)
{
	return CUCKOO_SLOT_BITS - encoding->position_bits;
}

/* The position bits that the rows of block 0 to `block` need. */
static inline int
cuckoo_position_bits(uint32_t block, int offset_bits)
{
	uint64_t	last = ((uint64_t) block + 1) << offset_bits;

	return cuckoo_bits_of((last - 1) / CUCKOO_PAIRS + 1);
}

/* True if the encoding can store the row, or the link to the chain. */
static inline bool
cuckoo_can_encode(const CuckooEntryEncoding *encoding, uint32_t block,
				  uint16_t offset)
{
	uint64_t	position = (uint64_t) block << encoding->offset_bits | offset;

	return offset >> encoding->offset_bits == 0 &&
		(position / CUCKOO_PAIRS + 1) >> encoding->position_bits == 0;
}

/*
 * The slots of a value have different hashes, which choose the sum of the two
 * buckets of a pair, and rotate the pairs.
 */
typedef struct CuckooPairing
{
	uint32_t	sum;			/* of the two buckets, modulo w */
	uint32_t	rotation;		/* below Q */
} CuckooPairing;

static inline CuckooPairing
cuckoo_pairing(const CuckooEntryEncoding *encoding, uint64_t slot)
{
	uint64_t	m = cuckoo_mix64(slot ^ (uint64_t) encoding->salt <<
								 CUCKOO_SLOT_BITS);
	CuckooPairing pairing;

	pairing.sum = (uint32_t) ((m >> 32) * CUCKOO_PAGE_BUCKETS >> 32);
	pairing.rotation = (uint32_t) ((m & UINT32_MAX) * CUCKOO_PAIRS >> 32);
	return pairing;
}

/* The other bucket of a pair. */
static inline uint32_t
cuckoo_other_bucket(CuckooPairing pairing, uint32_t bucket)
{
	return pairing.sum >= bucket ? pairing.sum - bucket :
		pairing.sum + CUCKOO_PAGE_BUCKETS - bucket;
}

/*
 * Encodes an entry that cuckoo_can_encode().  Returns the slot, and sets
 * *first and *second to its buckets, which differ.
 */
static inline uint64_t
cuckoo_encode(const CuckooEntryEncoding *encoding, const CuckooEntry *entry,
			  uint32_t *first, uint32_t *second)
{
	uint64_t	position = (uint64_t) entry->block << encoding->offset_bits |
		entry->offset;
	uint64_t	slot = entry->tag << encoding->position_bits |
		(position / CUCKOO_PAIRS + 1);
	CuckooPairing pairing = cuckoo_pairing(encoding, slot);
	uint32_t	pair = (uint32_t) (position % CUCKOO_PAIRS) + pairing.rotation;
	uint32_t	twice;

	/* the buckets have the sum `sum` and the difference `pair` + 1, modulo w */
	pair = (pair >= CUCKOO_PAIRS ? pair - CUCKOO_PAIRS : pair) + 1;
	twice = pair + pairing.sum;
	*first = (twice % 2 == 0 ? twice : twice + CUCKOO_PAGE_BUCKETS) / 2;
	if (*first >= CUCKOO_PAGE_BUCKETS)
		*first -= CUCKOO_PAGE_BUCKETS;
	*second = cuckoo_other_bucket(pairing, *first);
	return slot;
}

/*
 * Decodes a slot that is not 0, in one of its two buckets.  Returns false if
 * the slot is impossible, because the page is corrupt.
 */
static inline bool
cuckoo_decode(const CuckooEntryEncoding *encoding, uint64_t slot,
			  uint32_t bucket, CuckooEntry *entry)
{
	CuckooPairing pairing = cuckoo_pairing(encoding, slot);
	uint32_t	other = cuckoo_other_bucket(pairing, bucket);
	uint32_t	apart = bucket > other ? bucket - other : other - bucket;
	uint64_t	quotient = slot & cuckoo_bit_mask(encoding->position_bits);
	uint64_t	position;

	if (apart > CUCKOO_PAIRS)
		apart = CUCKOO_PAGE_BUCKETS - apart;
	if (apart == 0 || quotient == 0)
		return false;
	apart = apart - 1 + CUCKOO_PAIRS - pairing.rotation;
	position = (quotient - 1) * CUCKOO_PAIRS +
		(apart >= CUCKOO_PAIRS ? apart - CUCKOO_PAIRS : apart);
	entry->tag = slot >> encoding->position_bits;
	entry->block = (uint32_t) (position >> encoding->offset_bits);
	entry->offset = (uint16_t)
		(position & cuckoo_bit_mask(encoding->offset_bits));
	return position >> encoding->offset_bits < UINT32_MAX;
}

/* ---- slots ---- */

static inline uint64_t
cuckoo_slot(const CuckooSlots *slots, uint32_t at)
{
	return (uint64_t) slots->high[at] << 8 | slots->low[at];
}

static inline void
cuckoo_set_slot(CuckooSlots *slots, uint32_t at, uint64_t slot)
{
	slots->high[at] = (uint32_t) (slot >> 8);
	slots->low[at] = (uint8_t) slot;
}

/*
 * Writes the numbers of the slots that have the tag to found[], which has room
 * for all slots, and returns how many there are.
 */
extern uint32_t cuckoo_find_tag(const CuckooSlots *slots,
								const CuckooEntryEncoding *encoding,
								uint64_t tag, uint16_t *found);

/*
 * Plans to insert an entry, with at most two moves.  Returns false if the page
 * is full.  The caller then writes with cuckoo_write_slots().
 */
extern bool cuckoo_plan_insert(const CuckooSlots *slots,
							   const CuckooEntryEncoding *encoding,
							   const CuckooEntry *entry, CuckooWrites *writes);

extern void cuckoo_write_slots(CuckooSlots *slots, const CuckooWrites *writes);

/*
 * Decodes all entries into entries[], which has room for all slots.  Returns
 * their number, or -1 if a slot is impossible.
 */
extern int	cuckoo_list_entries(const CuckooSlots *slots,
								const CuckooEntryEncoding *encoding,
								CuckooEntry *entries);

/*
 * Fills the slots with n entries that the encoding can encode.  Tries salts,
 * beginning with the salt in *encoding, and stores the salt that it used, and
 * has_chain.  Returns false if the entries do not fit.
 */
extern bool cuckoo_fill_slots(CuckooSlots *slots, CuckooEntryEncoding *encoding,
							  const CuckooEntry *entries, int n);

/*
 * Raises the bits of an encoding as far as the entries need.  Tags then lose
 * their top bits: the caller applies cuckoo_truncate_tags().  Call it for all
 * entries of a page, because more bits of offsets make all positions larger.
 */
extern void cuckoo_widen(CuckooEntryEncoding *encoding,
						 const CuckooEntry *entries, int n);

extern void cuckoo_truncate_tags(CuckooEntry *entries, int n,
								 const CuckooEntryEncoding *encoding);

/*
 * Distributes n entries to two halves, by the lowest bit of their tags, which
 * the tags then lose.  Returns the number of entries of the first half, which
 * come first.
 */
extern int	cuckoo_part_entries(const CuckooEntry *entries, int n,
								CuckooEntry *halves);

/*
 * Finds the tag that most of the rows have; links do not count.  Returns its
 * number of rows, and sorts the entries by tag.
 */
extern int	cuckoo_hottest_tag(CuckooEntry *entries, int n, uint64_t *tag);

/* True if a tag has more than CUCKOO_HOT_ROWS rows.  May sort the entries. */
extern bool cuckoo_has_hot_tag(CuckooEntry *entries, int n);

#endif							/* CUCKOO_ENTRY_H */
