/*-------------------------------------------------------------------------
 *
 * core/tables.h
 *		The constant tables of the core.
 *
 * The moves, to which the header of a filter points, give positions
 * (core/position.h).  The other tables serve buckets (core/bucket.h).
 * core/tables.c says how the entries are computed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLES_H
#define CUCKOO_TABLES_H

#include "core/port.h"

/* The parts of a bucket, see core/bucket.h. */
#define CUCKOO_CODES		3876	/* sorted quadruples of nibbles */
#define CUCKOO_CODE_BITS	12
#define CUCKOO_CODE_MASK	0xfff
#define CUCKOO_CODES_ZERO	816 /* codes that begin with a zero nibble */
#define CUCKOO_NARROW_BITS	17	/* largest f whose bucket is one word */

/*
 * Which slots of a narrow bucket sort after an added fingerprint, by their
 * nibbles.  Where nibbles are equal, the lanes decide.
 */
typedef struct CuckooOrder
{
	uint64_t	after;			/* lowest bits of slots after it, and of what
								 * follows the bucket */
	uint64_t	equal;			/* highest bits of slots with its nibble */
} CuckooOrder;

/*
 * Tables for buckets.  They are one object, because loading the address of each
 * table would cost an instruction.
 */
typedef struct CuckooTables
{
	/* nibbles of a code, slot 0 in the low bits; zero for invalid codes */
	uint16_t	nibbles[4096];
	uint16_t	core_nibbles[256];	/* a core's low nibble, four times */
	uint16_t	slot_nibbles[16];	/* nibble i is 0xf if bit i is set */
	uint16_t	up_to_slot[9];	/* by 2^i: the nibbles up to slot i */
	uint16_t	lower_codes[256];	/* of nibbles 0 and 1: a code is these */
	uint16_t	upper_codes[256];	/* less those of nibbles 2 and 3 */
	uint16_t	zero_codes[4096];	/* code of a zero and three nibbles */

	/*
	 * By a code that begins with a zero, times 16, plus a nibble that takes
	 * the place of this zero: the new code, and << 12 which row of orders
	 */
	uint16_t	additions[CUCKOO_CODES_ZERO * 16];
	CuckooOrder orders[CUCKOO_NARROW_BITS - 7][16]; /* from f = 8 on */
} CuckooTables;

extern const CuckooTables cuckoo_tables;

#define CUCKOO_WINDOW		128 /* least number of buckets in a window */

/*
 * How to get from one bucket to the other: the move of each core, in filters
 * without windows, with each segment as a window, with windows of 128, and with
 * pages.  A CuckooHeader points to the moves of its filter.  A core of 0 is
 * replaced by 1 and has the same move.
 *
 * A move is one word, so that one load reads it.  For a reflection, its high
 * half is the low half of H, which is not 0 for any core (test_index.c).  Its
 * low half is P at the last level << 8, with P = 0 for near.  For a step within
 * 128 buckets, its high half is 0 and its low half is d.
 */
typedef uint64_t CuckooMapping;

enum
{
	CUCKOO_NO_WINDOWS,
	CUCKOO_SEGMENTS,
	CUCKOO_WINDOWS,
	CUCKOO_PAGES,
	CUCKOO_MAPPINGS
};

extern const CuckooMapping cuckoo_mappings[CUCKOO_MAPPINGS][256];

#endif							/* CUCKOO_TABLES_H */
