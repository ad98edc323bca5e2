/*-------------------------------------------------------------------------
 *
 * index/handler.h
 *		The options of an index and its element type, for the files of index/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_HANDLER_H
#define CUCKOO_INDEX_HANDLER_H

#include "element/element.h"
#include "index/page.h"

#include "access/amapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Whether the planner asks the index before it reads the table. */
typedef enum CuckooGate
{
	CUCKOO_GATE_AUTO,			/* unless an exact index serves the column */
	CUCKOO_GATE_ON,
	CUCKOO_GATE_OFF
} CuckooGate;

/* WITH (...), see cuckoo_index_init(). */
typedef struct CuckooOptions
{
	int32		vl_len_;
	double		fpp;
	double		capacity;
	int			fillfactor;
	int			spare;			/* -1 by size */
	int			gate;			/* CuckooGate */
	int			seed;			/* offset of the text */
} CuckooOptions;

/* The options of an index, with their defaults where none are given. */
extern CuckooOptions cuckoo_index_options(Relation rel);

/* Sets *seed to that of the options; false if none is given. */
extern bool cuckoo_index_seed(Relation rel, uint64 *seed);

/*
 * The hasher of the elements of an index, zeroed before.  It is that of their
 * type, but an enum is hashed by its OID, so that renaming a label changes
 * nothing, and text without a form in UTF-8 as it is, so that no INSERT fails.
 */
extern void cuckoo_index_hasher(CuckooHasher *hasher, Relation rel,
								MemoryContext context);

/* True if elements have the hash that they had when the index was built. */
extern bool cuckoo_meta_fits(const CuckooMeta *meta,
							 const CuckooHasher *hasher);

/* The same for a value of another type, which is compared with them. */
extern void cuckoo_index_hasher_of(CuckooHasher *hasher, Oid type,
								   Oid collation, MemoryContext context);

/* Sets the planner's hook (index/gate.c). */
extern void cuckoo_gate_init(void);

/* An index opened for reading (index/open.c), and its table. */
typedef struct CuckooOpenIndex
{
	Relation	heap;
	Relation	rel;
} CuckooOpenIndex;

/*
 * Opens an index and its table, with AccessShareLock, to be read in a query.
 * Errors: 42809 if it is no index of this access method, 42501 if the user has
 * no SELECT on the table or row security applies to it, 55000 if it is not
 * valid, or stale, or cannot be used in this transaction, 0A000 if it belongs
 * to another session, or is unlogged and this is a standby, or if Citus keeps
 * the rows of its table in shards.  No code of the table's owner runs: its
 * expressions and predicates are not looked at.
 */
extern CuckooOpenIndex cuckoo_open_for_reading(Oid oid);

/* The same for what tells of the index itself, also if it is not usable. */
extern CuckooOpenIndex cuckoo_open_readable(Oid oid);

/*
 * Error 0A000 if Citus keeps the rows of the index's table in shards.  The
 * index must have been built.
 */
extern void cuckoo_check_local(const CuckooOpenIndex *index);

/* The error for an index that is not valid. */
pg_noreturn extern void cuckoo_index_not_valid(Relation rel);

/* The error for one that is out of date. */
pg_noreturn extern void cuckoo_index_out_of_date(Relation rel);

/* As for reading, for a gate: false, and nothing open, instead of an error. */
extern bool cuckoo_open_for_gate(Oid oid, CuckooOpenIndex *index);

extern void cuckoo_close(CuckooOpenIndex *index);

/* True if the hash of the element type has changed since it was built. */
extern bool cuckoo_index_is_stale(Relation rel);

/* False if no row that the transaction may see has this hash. */
extern bool cuckoo_index_contains(Relation rel, uint64 hash);

/* True if a relation is an index of this access method. */
extern bool cuckoo_is_index(Relation rel);

/* True if the planner's index is. */
extern bool cuckoo_is_our_index(const IndexOptInfo * index);

/* index/build.c */
extern IndexBuildResult * cuckoo_build_index(Relation heap, Relation rel,
											 IndexInfo * info);
extern void cuckoo_build_empty(Relation rel);

#endif							/* CUCKOO_INDEX_HANDLER_H */
