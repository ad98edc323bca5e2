/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		Membership tests: the SQL functions that the planner recognizes, and
 *		the open filter of a call that a scan repeats for many rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PROBE_H
#define CUCKOO_PROBE_H

#include "element/element.h"

extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cuckoo_contained(PG_FUNCTION_ARGS);
extern Datum cf_contains_any(PG_FUNCTION_ARGS);
extern Datum cf_contains_all(PG_FUNCTION_ARGS);

/* An open filter, for repeated calls of cf_contains() or cuckoo_contained(). */
typedef struct CuckooOpenFilter
{
	const CuckooHasher *hasher;
	const CuckooHeader *header;
	const uint8 *image;			/* NULL if it is not in memory: call the
								 * function instead */
	bool		of_family;		/* the filter is of the elements' family */
	bool		fetched;		/* the cache may drop the header and image */
} CuckooOpenFilter;

/*
 * Opens the filter of a call, argument `argno`, for elements of the type of the
 * other argument.  Fetches a stored filter if `probes` probes repay it.
 */
extern void cuckoo_open_filter(CuckooOpenFilter *open, FunctionCallInfo fcinfo,
							   int argno, uint32 probes);

/*
 * Probes an open filter, which has an image, for the hashes of n elements.
 * Opens it again if the cache has dropped it.
 */
extern void cuckoo_probe_hashes(const CuckooOpenFilter *open,
								FunctionCallInfo fcinfo, int argno,
								const uint64 *hashes, int n, bool *found);

/* ---- within this folder: probe/cache.c, the stored filters of a query ---- */

typedef struct CuckooCache CuckooCache;

/* A stored filter. */
typedef struct CuckooStored
{
	struct varatt_external pointer; /* zero for none */
	uint64		used;			/* time of the last use; 0 for never */
	uint32		probes;			/* probes in slices so far */
	struct varlena *filter;		/* the whole value, or NULL */
	bool		has_header;		/* `header` is valid */
	CuckooHeader header;
} CuckooStored;

/* The cache for call sites with this fn_mcxt. */
extern CuckooCache *cuckoo_cache(MemoryContext context);

/*
 * Returns the whole filter, or NULL if the caller should read slices.  Fetches
 * the filter if `probes` more probes, and the probes in slices so far, cost
 * more than fetching.  Always fetches a compressed filter.  *last is the entry
 * of the call site's last call, or NULL, and becomes that of this filter.  The
 * next call for another TOAST pointer may reuse it.  Its header is valid; error
 * XX001 if it is corrupt.
 */
extern const struct varlena *cuckoo_stored_filter(CuckooCache *cache,
												  CuckooStored **last,
												  struct varlena *datum,
												  uint32 probes);

#endif							/* CUCKOO_PROBE_H */
