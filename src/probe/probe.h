/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		Membership tests, for the planner, which recognizes them, and for the
 *		scan, which repeats one of them for many rows.
 *
 * cf_contains() and cuckoo_contained() are the SQL functions of a test.  A scan
 * opens the filter of such a call with cuckoo_open_filter(), and closes it with
 * cuckoo_close_filter().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PROBE_H
#define CUCKOO_PROBE_H

#include "element/element.h"

/* A stored filter (probe/cache.h). */
typedef struct CuckooStored CuckooStored;

extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cuckoo_contained(PG_FUNCTION_ARGS);
extern Datum cf_contains_any(PG_FUNCTION_ARGS);
extern Datum cf_contains_all(PG_FUNCTION_ARGS);

/* What many calls of one of them with the same filter have in common. */
typedef struct CuckooOpenFilter
{
	const CuckooHasher *hasher;
	const CuckooHeader *header;
	const uint8 *image;			/* NULL if it is not in memory; then the
								 * function has to be called */
	bool		fits;			/* the filter is of the elements' family */
	CuckooStored *stored;		/* pinned, or NULL */
} CuckooOpenFilter;

/*
 * Opens the filter of a call, its argument `argno`, for elements of the other
 * argument's type.  A stored filter is fetched if this pays for so many probes.
 */
extern void cuckoo_open_filter(CuckooOpenFilter *open, FunctionCallInfo fcinfo,
							   int argno, uint32 probes);

/* Lets the cache drop the filter. */
extern void cuckoo_close_filter(CuckooOpenFilter *open);

#endif							/* CUCKOO_PROBE_H */
