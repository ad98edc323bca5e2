/*-------------------------------------------------------------------------
 *
 * probe/cache.h
 *		The stored filters that a query probes, each fetched at most once.
 *
 * cuckoo_cache() finds the cache of a query, and cuckoo_stored() the entry of a
 * filter.  cuckoo_stored_filter() gives the whole filter if it is in memory or
 * if fetching it pays; otherwise cuckoo_stored_header() and
 * cuckoo_stored_slice() read what a probe needs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CACHE_H
#define CUCKOO_CACHE_H

#include "probe/probe.h"

#include "lib/ilist.h"
#include "utils/relcache.h"

typedef struct CuckooCache CuckooCache;

/* A stored filter. */
struct CuckooStored
{
	struct varatt_external pointer; /* the key, first; zero for none */
	uint32		probes;			/* by slices so far */
	uint32		pins;			/* the CuckooOpenFilters that hold it */
	dlist_node	node;			/* in the order of use */
	struct varlena *filter;		/* the whole value, or NULL */
	bool		has_header;		/* is `header` valid? */
	CuckooHeader header;
};

/* The cache for call sites with this fn_mcxt. */
extern CuckooCache *cuckoo_cache(MemoryContext context);

/*
 * The entry for a TOAST pointer.  It is looked up unless it is `last`, the
 * entry that the call site had before.
 */
extern CuckooStored *cuckoo_stored(CuckooCache *cache, CuckooStored *last,
								   struct varlena *datum);

/*
 * The whole filter, or NULL if the caller should read slices.  It is fetched if
 * the probes by slices so far and so many more cost more, and there is room; a
 * compressed one always.
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

#endif							/* CUCKOO_CACHE_H */
