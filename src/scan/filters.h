/*-------------------------------------------------------------------------
 *
 * scan/filters.h
 *		The filters of a scan's test, from their expression to the answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTERS_H
#define CUCKOO_FILTERS_H

#include "planner/planner.h"
#include "probe/probe.h"

#include "nodes/execnodes.h"

/*
 * What EXPLAIN (ANALYZE) counts of a scan.  A filter that was fetched for
 * several scans or loops counts in each.
 */
enum
{
	CUCKOO_ROWS_BATCHED,
	CUCKOO_FILTERS_FETCHED,		/* stored ones, in full */
	CUCKOO_FILTERS_IN_MEMORY,	/* those that need no fetching */
	CUCKOO_FILTERS_SLICED,		/* stored ones, by slices */
	CUCKOO_SCAN_COUNTS
};

/* What comes next, in the order of a scan. */
typedef enum CuckooFiltersPhase
{
	CUCKOO_FILTERS_UNKNOWN,		/* cuckoo_eval_filters(), for the first row */
	CUCKOO_FILTERS_CLOSED,		/* cuckoo_open_filters(), for an element */
	CUCKOO_FILTERS_BY_ROW,		/* open: cuckoo_probe_row(), or open again */
	CUCKOO_FILTERS_BY_BATCH		/* open: cuckoo_probe_batch() */
} CuckooFiltersPhase;

typedef struct CuckooScanFilter CuckooScanFilter;

typedef struct CuckooScanFilters
{
	CuckooTest *test;
	ExprState  *expression;		/* a filter, or an array of them */
	MemoryContext memory;		/* for their values; a child of the query's */
	CuckooFiltersPhase phase;
	CuckooScanFilter *filters;	/* those that are not null */
	int			count;
	int			room;
	/* the next two are valid while the filters are open */
	const CuckooOpenFilter *first;	/* the first with items, or NULL */
	const CuckooHasher *hasher; /* the same for all */
} CuckooScanFilters;

/* Fills in a zeroed set for a scan. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate);

/* Evaluates the expression that gives the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens the filters, at least one; stored ones are fetched if so many probes
 * make up for it.  Batches can be probed if all filters are in memory, have one
 * seed, and are of the elements' family.  Otherwise they are probed row by row,
 * so that an error comes for the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Adds the filters that are open to the counts. */
extern void cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts);

/* Counts, closes and forgets the filters, for a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts);

/* True if one of the filters contains the element, by the test's function. */
extern bool cuckoo_probe_row(CuckooScanFilters *set, Datum element);

/* The same for the hashes of n elements, at most MaxHeapTuplesPerPage. */
extern void cuckoo_probe_batch(const CuckooScanFilters *set,
							   const uint64 *hashes, int n, bool *found);

#endif							/* CUCKOO_FILTERS_H */
