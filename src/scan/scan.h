/*-------------------------------------------------------------------------
 *
 * scan/scan.h
 *		A sequential scan that probes filters for the rows of a page together.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SCAN_H
#define CUCKOO_SCAN_H

#include "planner/planner.h"
#include "probe/probe.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

/* Register the scan, its setting and hooks when the library is loaded. */
extern void cuckoo_scan_init(void);
extern void cuckoo_gather_init(void);

/*
 * No more bytes of filters are sent to parallel workers.  Shared memory of a
 * container often has 64 MB for all queries.  A constant is sent as text, with
 * four characters for each byte, so this limit is a quarter of the 64 MB.
 */
#define CUCKOO_SENT_MAX		(4 * 1024 * 1024)

/* ---- within this folder: planned by scan/path.c, run by scan/exec.c ---- */

/*
 * In a plan, custom_exprs has all conditions in order.  custom_private has the
 * index of the test in this list, and the expected number of probes.
 */
extern const CustomScanMethods cuckoo_scan_methods;

/* ---- within this folder: scan/filters.c, the filters of a scan's test ---- */

/*
 * The counts of EXPLAIN (ANALYZE).  A filter that several scans or loops use
 * is counted in each.
 */
enum
{
	CUCKOO_ROWS_BATCHED,
	CUCKOO_FILTERS_FETCHED,		/* stored filters, in full */
	CUCKOO_FILTERS_IN_MEMORY,	/* filters that need no fetching */
	CUCKOO_FILTERS_SLICED,		/* stored filters, in slices */
	CUCKOO_SCAN_COUNTS
};

/* The state of the filters, in the order of a scan. */
typedef enum CuckooFiltersPhase
{
	CUCKOO_FILTERS_UNKNOWN,		/* next: cuckoo_eval_filters() */
	CUCKOO_FILTERS_CLOSED,		/* next: cuckoo_open_filters() */
	CUCKOO_FILTERS_BY_ROW,		/* next: cuckoo_probe_row(), or open again */
	CUCKOO_FILTERS_BY_BATCH		/* next: cuckoo_probe_batch() */
} CuckooFiltersPhase;

typedef struct CuckooScanFilter CuckooScanFilter;

typedef struct CuckooScanFilters
{
	CuckooTest *test;
	ExprState  *expression;		/* a filter, or an array of them */
	MemoryContext memory;		/* of the values; a child of the query's */
	CuckooFiltersPhase phase;
	CuckooScanFilter *filters;	/* without null values */
	int			count;
	int			room;
	/* these three are valid while the filters are open */
	bool		all_empty;
	uint64		seed;			/* of the filters with items */
	const CuckooHasher *hasher; /* the same for all */
} CuckooScanFilters;

/* Fills in a zeroed set for a scan. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate);

/* Evaluates the expression of the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens set->count filters, at least one.  Fetches stored filters if `probes`
 * more probes repay it.  The phase becomes BY_BATCH if all filters are in
 * memory, have one seed, and have the family of the elements.  Otherwise it
 * becomes BY_ROW.  Each row then calls the test's function, which reads slices,
 * and raises errors at the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Adds open filters to the counts. */
extern void cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts);

/* Counts, closes and forgets the filters, for a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts);

/* Calls the test's function.  True if any filter contains the element. */
extern bool cuckoo_probe_row(CuckooScanFilters *set, Datum element);

/*
 * Like cuckoo_probe_row(), for the hashes of n elements, at most
 * MaxHeapTuplesPerPage.  Overwrites the hashes.
 */
extern void cuckoo_probe_batch(CuckooScanFilters *set, uint64 *hashes, int n,
							   bool *found);

#endif							/* CUCKOO_SCAN_H */
