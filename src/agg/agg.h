/*-------------------------------------------------------------------------
 *
 * agg/agg.h
 *		States of cf_agg: their type, bytes and operations.
 *
 * A state is a set of 64-bit hashes, and the parameters of the filter to build.
 * cuckoo_new_state() creates a state, and cuckoo_open_state() opens one.
 * cuckoo_add_hash() and cuckoo_merge_states() add to it.  cuckoo_get_hashes()
 * returns its hashes.
 *
 * SQL values, and states for other processes, are flat: a varlena with these
 * bytes.
 *
 *	bytes	field (CUCKOO_STATE_AT_... below), little-endian
 *	0-1		magic "CS"
 *	2		version, 1
 *	3		element family
 *	4		fingerprint bits that give the requested fpp
 *	5		0
 *	6-7		tag of the element type (family "other"), else 0
 *	8-15	seed
 *	16-23	capacity; 0 for an exact fit
 *	24-31	number of hashes
 *	32-		hashes, 8 bytes each
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGG_H
#define CUCKOO_AGG_H

#include "compat.h"
#include "core/core.h"
#include "element/element.h"
#include "filter/filter.h"

/* The parameters of the filter.  States with different ones do not combine. */
typedef struct CuckooAggParams
{
	uint64		seed;
	int64		capacity;		/* 0 for an exact fit */
	uint16		tag;
	uint8		family;
	uint8		bits;			/* as in CuckooHeader.fpp_bits */
} CuckooAggParams;

/* ---- flat states ---- */

#define CUCKOO_STATE_VERSION		1

enum
{
	CUCKOO_STATE_AT_MAGIC = 0,
	CUCKOO_STATE_AT_VERSION = 2,
	CUCKOO_STATE_AT_FAMILY = 3,
	CUCKOO_STATE_AT_BITS = 4,
	CUCKOO_STATE_AT_RESERVED = 5,
	CUCKOO_STATE_AT_TAG = 6,
	CUCKOO_STATE_AT_SEED = 8,
	CUCKOO_STATE_AT_CAPACITY = 16,
	CUCKOO_STATE_AT_COUNT = 24,
	CUCKOO_STATE_AT_HASHES = 32
};

/* The number of hashes that fit in a flat state of `bytes` bytes. */
#define CUCKOO_FLAT_ROOM(bytes) \
	(((bytes) - VARHDRSZ - CUCKOO_STATE_AT_HASHES) / sizeof(uint64))

static inline Size
cuckoo_flat_count(const struct varlena *flat)
{
	return (Size) cuckoo_load64((uint8 *) VARDATA(flat) +
								CUCKOO_STATE_AT_COUNT);
}

/* The size of a flat state of `count` hashes, without room for more. */
static inline Size
cuckoo_flat_size(Size count)
{
	return VARHDRSZ + CUCKOO_STATE_AT_HASHES + count * sizeof(uint64);
}

static inline void
cuckoo_flat_read_params(const struct varlena *flat, CuckooAggParams *params)
{
	uint8	   *bytes = (uint8 *) VARDATA(flat);

	params->family = bytes[CUCKOO_STATE_AT_FAMILY];
	params->bits = bytes[CUCKOO_STATE_AT_BITS];
	params->tag = (uint16) cuckoo_load64(bytes + CUCKOO_STATE_AT_TAG);
	params->seed = cuckoo_load64(bytes + CUCKOO_STATE_AT_SEED);
	params->capacity = (int64) cuckoo_load64(bytes + CUCKOO_STATE_AT_CAPACITY);
}

/* Returns why a flat state from outside is invalid, or NULL. */
extern const char *cuckoo_flat_problem(const struct varlena *flat);

/* Throws error XX001 if the header of a stored flat state is invalid. */
extern void cuckoo_check_flat(const struct varlena *flat);

/* ---- states of either shape ---- */

/* A large state in memory, see agg/state.c. */
typedef struct CuckooExpandedState
{
	ExpandedObjectHeader hdr;
	CuckooAggParams params;
	uint64	   *hashes;
	Size		count;
	Size		sorted;			/* hashes of the sorted, distinct run */
	Size		room;
} CuckooExpandedState;

/* An open state.  Either flat or expanded is NULL. */
typedef struct CuckooAggState
{
	Datum		datum;			/* the argument, or the new state */
	bool		ours;			/* a flat state may be changed in place */
	CuckooExpandedState *expanded;
	struct varlena *flat;
	CuckooAggParams params;
} CuckooAggState;

/* Creates a state without hashes, for state->params. */
extern void cuckoo_new_state(CuckooAggState *state);

/*
 * Opens a state.  Checks the header of a state that is not ours, which may
 * throw an error.
 */
extern void cuckoo_open_state(CuckooAggState *state, Datum datum, bool ours);

/*
 * Adds a hash and returns the state.  A new expanded state is created below
 * `context`, and a new flat state in the current context.
 */
extern Datum cuckoo_add_hash(CuckooAggState *state, uint64 hash,
							 MemoryContext context);

/* Returns the union of two states in *a; memory as in cuckoo_add_hash(). */
extern Datum cuckoo_merge_states(CuckooAggState *a, CuckooAggState *b,
								 MemoryContext context);

/* Returns the hashes, sorted and distinct, and their number in *n. */
extern const uint64 *cuckoo_get_hashes(CuckooAggState *state, Size *n);

#endif							/* CUCKOO_AGG_H */
