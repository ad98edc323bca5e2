/*-------------------------------------------------------------------------
 *
 * core/tables.h
 *		The constant tables of the core, which core/tables.c computes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLES_H
#define CUCKOO_TABLES_H

#include "core/port.h"

/* Parts of a bucket: README, "Buckets". */
#define CUCKOO_CODES		3876	/* sorted quadruples of nibbles */
#define CUCKOO_CODE_BITS	12
#define CUCKOO_CODE_MASK	0xfff
#define CUCKOO_CODES_ZERO	816 /* codes whose first nibble is zero */
#define CUCKOO_NARROW_BITS	17	/* the largest f of a narrow bucket */

/*
 * The slots of a narrow bucket that sort after a new fingerprint, by their
 * nibbles.  For slots with the same nibble, the lanes decide.
 */
typedef struct CuckooOrder
{
	uint64_t	after;			/* lowest bits of slots after it, and the
								 * first bit after the bucket */
	uint64_t	equal;			/* highest bits of slots with its nibble */
} CuckooOrder;

/*
 * Tables for buckets.  They are one object, because loading the address of
 * each table would need an instruction.
 */
typedef struct CuckooTables
{
	/* nibbles of a code, slot 0 in the low bits; zero for invalid codes */
	uint16_t	nibbles[4096];
	uint16_t	fixed_nibbles[256]; /* low nibble of a fixed byte, four times */
	uint16_t	slot_nibbles[16];	/* nibble i is 0xf if bit i is set */
	uint16_t	up_to_slot[9];	/* [1 << i]: nibbles 0 to i are 0xf */
	/* a code is lower_codes[nibbles 0 and 1] - upper_codes[nibbles 2 and 3] */
	uint16_t	lower_codes[256];
	uint16_t	upper_codes[256];
	uint16_t	zero_codes[4096];	/* code of nibble 0 and three others */

	/*
	 * additions[code * 16 + nibble], for a code whose first nibble is zero.
	 * Bits 0 to 11: the code with `nibble` instead of that zero.  Bits 12 to
	 * 15: the row of orders[].
	 */
	uint16_t	additions[CUCKOO_CODES_ZERO * 16];
	CuckooOrder orders[CUCKOO_NARROW_BITS - 7][16]; /* from f = 8 up */
} CuckooTables;

extern const CuckooTables cuckoo_tables;

#define CUCKOO_WINDOW		128 /* least buckets of a window */

/*
 * The partner mapping of a fixed byte, in one word, so that one load reads it:
 *
 *	reflection		low half of H << 32 | P at the last level << 8; P = 0 for
 *					near.  The low half of H is not 0 for any fixed byte.
 *	XOR with d		d
 *
 * README, "Positions", explains H, P and d.  There are three tables: for
 * filters without windows, with segments as windows, and with windows of 128
 * buckets.  CuckooHeader.mappings points to the table of the filter.
 */
typedef uint64_t CuckooMapping;

enum
{
	CUCKOO_NO_WINDOWS,
	CUCKOO_SEGMENTS,
	CUCKOO_WINDOWS,
	CUCKOO_MAPPINGS
};

extern const CuckooMapping cuckoo_mappings[CUCKOO_MAPPINGS][256];

#endif							/* CUCKOO_TABLES_H */
