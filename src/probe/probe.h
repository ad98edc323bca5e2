/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		Membership tests, for those who recognize or repeat them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PROBE_H
#define CUCKOO_PROBE_H

#include "element/element.h"

/* A stored filter (probe/cache.h). */
typedef struct CuckooStored CuckooStored;

/* A scan recognizes its tests by these functions. */
extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cuckoo_contained(PG_FUNCTION_ARGS);

/* What many calls of these functions with one filter have in common. */
typedef struct CuckooOpenFilter
{
	const CuckooHasher *hasher;
	const CuckooHeader *header;
	const uint8 *image;			/* NULL: not fetched yet, call the function */
	bool		fits;			/* the filter is of the elements' family */
	CuckooStored *stored;		/* pinned, or NULL */
} CuckooOpenFilter;

/*
 * Opens the filter of a call, its argument `argno`, for so many probes for
 * elements of the other argument's type.
 */
extern void cuckoo_open_filter(CuckooOpenFilter *site, FunctionCallInfo fcinfo,
							   int argno, uint32 probes);

/* The reverse.  The cache may then drop the filter. */
extern void cuckoo_close_filter(CuckooOpenFilter *site);

#endif							/* CUCKOO_PROBE_H */
