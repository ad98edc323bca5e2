/*-------------------------------------------------------------------------
 *
 * scan/filters.h
 *		The filters of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTERS_H
#define CUCKOO_FILTERS_H

#include "planner/planner.h"
#include "probe/probe.h"

#include "nodes/execnodes.h"

/* What EXPLAIN (ANALYZE) counts of a scan. */
enum
{
	CUCKOO_ROWS_BATCHED,
	CUCKOO_FILTERS_FETCHED,		/* stored ones, in full */
	CUCKOO_FILTERS_IN_MEMORY,	/* they had been there before */
	CUCKOO_FILTERS_SLICED,		/* stored ones, by slices */
	CUCKOO_SCAN_COUNTS
};

typedef struct CuckooScanFilter CuckooScanFilter;

/* The filters of a test. */
typedef struct CuckooScanFilters
{
	CuckooTest *test;
	ExprState  *expression;		/* a filter, or an array of them */
	MemoryContext query_memory;
	MemoryContext memory;		/* for the values of the filters; reset by a
								 * rescan */
	bool		evaluated;		/* the next two are valid for this scan */
	CuckooScanFilter *filters;	/* those that are not null */
	int			count;
	int			room;
	bool		opened;			/* the next three are valid */
	bool		together;		/* batches can be probed */
	const CuckooOpenFilter *first;	/* the first filter that has items, or
									 * NULL */
	const CuckooHasher *hasher; /* the same for all filters, or NULL */
} CuckooScanFilters;

/* Fills in a zeroed set for a scan. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate);

/* Evaluates the expression that gives the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens the filters that are not open, for so many probes.  Batches can be
 * probed if all filters are in memory, have one seed, and are of the elements'
 * family.  Otherwise the filters are asked row by row, so that an error comes
 * for the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Adds the filters that are open to the counts. */
extern void cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts);

/* Counts and forgets the filters, before a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts);

/* True if one of the filters contains the element, by the test's function. */
extern bool cuckoo_probe_row(CuckooScanFilters *set, Datum element);

/*
 * The same for a batch of n elements, at most MaxHeapTuplesPerPage, by their
 * hashes.
 */
extern void cuckoo_probe_batch(const CuckooScanFilters *set,
							   const uint64 *hashes, int n, bool *found);

#endif							/* CUCKOO_FILTERS_H */
