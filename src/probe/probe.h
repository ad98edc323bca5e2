/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		Membership tests: their SQL functions, which the planner recognizes,
 *		and the filter of a call, for a scan that repeats it for many rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PROBE_H
#define CUCKOO_PROBE_H

#include "element/element.h"

#include "utils/relcache.h"

extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cuckoo_contained(PG_FUNCTION_ARGS);
extern Datum cf_contains_any(PG_FUNCTION_ARGS);
extern Datum cf_contains_all(PG_FUNCTION_ARGS);

/*
 * How many filters the caches of queries have dropped.  As long as this does
 * not change, fetched filters stay where they are.
 */
extern uint64 cuckoo_drops;

/* What calls of cf_contains() or cuckoo_contained() with one filter share. */
typedef struct CuckooOpenFilter
{
	const CuckooHasher *hasher;
	const uint8 *image;			/* NULL if it is not in memory; then the
								 * function has to be called */
	const CuckooHeader *header; /* valid with the image */
	bool		of_family;		/* the filter is of the elements' family */
	bool		fetched;		/* the cache may drop header and image */
	uint64		drops;			/* cuckoo_drops when it was opened */
} CuckooOpenFilter;

/*
 * Opens the filter of a call, its argument `argno`, for elements of the other
 * argument's type.  A stored filter is fetched if `probes` probes repay it.
 */
extern void cuckoo_open_filter(CuckooOpenFilter *open, FunctionCallInfo fcinfo,
							   int argno, uint32 probes);

/*
 * Probes the filter of a call for the hashes of n elements, for which it was
 * opened before.
 */
extern void cuckoo_probe_hashes(FunctionCallInfo fcinfo, int argno,
								const uint64 *hashes, int n, bool *found);

/* ---- within this folder: probe/cache.c, the stored filters of a query ---- */

typedef struct CuckooCache CuckooCache;

/* A stored filter. */
typedef struct CuckooStored
{
	struct varatt_external pointer; /* zero for none */
	uint64		used;			/* when; 0 for never */
	uint32		probes;			/* in slices so far */
	bool		has_header;		/* is `header` valid? */
	struct varlena *filter;		/* the whole value, or NULL */
	CuckooHeader header;
} CuckooStored;

/* The cache for call sites with this fn_mcxt. */
extern CuckooCache *cuckoo_cache(MemoryContext context);

/*
 * The entry for a TOAST pointer.  It is looked up unless it is `last`, the
 * entry that the call site had before.  The next call for another TOAST pointer
 * may give the entry to that.
 */
extern CuckooStored *cuckoo_stored(CuckooCache *cache, CuckooStored *last,
								   struct varlena *datum);

/*
 * The whole filter, or NULL if the caller should read slices.  It is fetched if
 * `probes` probes and those in slices so far cost more; a compressed filter
 * always.
 */
extern const struct varlena *cuckoo_stored_filter(CuckooCache *cache,
												  CuckooStored *stored,
												  struct varlena *datum,
												  uint32 probes);

/* Makes the header valid.  This does not fetch the filter. */
extern void cuckoo_stored_header(CuckooStored *stored, struct varlena *datum);

/* Reads bytes of a filter that is not compressed into a new datum. */
extern struct varlena *cuckoo_stored_slice(const CuckooStored *stored,
										   Relation toastrel, uint64 offset,
										   uint32 length);

#endif							/* CUCKOO_PROBE_H */
