/*-------------------------------------------------------------------------
 *
 * cuckoo_tables.h
 *		The constant tables of the core.
 *
 * They stand below all that reads them: the header of a filter points to its
 * moves (cuckoo_format.h), buckets are taken apart by code (cuckoo_bucket.h),
 * positions are found by core (cuckoo_index.h).  cuckoo_tables.c says how the
 * entries are made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLES_H
#define CUCKOO_TABLES_H

#include "cuckoo_port.h"

/*
 * What buckets and their contents need.  These tables are one object, as the
 * address of each would cost an instruction.
 */
typedef struct CuckooTables
{
	/* of a code, slot 0 in the low bits; of what is no code, all zero */
	uint16_t	nibbles[4096];
	uint16_t	core_nibbles[256];	/* a core's low one, four times; 0 is 1 */
	uint16_t	slot_nibbles[16];	/* all ones where bit i is set, slot i */
	uint16_t	up_to_slot[9];	/* by 2^i: the nibbles up to slot i */
	uint16_t	lower_codes[256];	/* of nibbles 0 and 1: a code is these */
	uint16_t	upper_codes[256];	/* less those of nibbles 2 and 3 */
	uint16_t	zero_codes[4096];	/* code of a zero and three nibbles */
} CuckooTables;

extern const CuckooTables cuckoo_tables;

/*
 * What follows from a core in filters without windows and with; a CuckooHeader
 * points to the moves of its filter.  The move of 0, which 1 replaces, is that
 * of 1.
 *
 * A move is one word, to be read at once.  Its high half is the low one of H
 * for far, which is 0 for no core (test_index.c), and 0 for near; its low half
 * is P at the last level << 8 for far, d for near.
 */
typedef uint64_t CuckooMove;

extern const CuckooMove cuckoo_moves[2][256];

#endif							/* CUCKOO_TABLES_H */
