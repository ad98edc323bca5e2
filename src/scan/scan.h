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

/* Registers the scan, its setting and its hook when the library is loaded. */
extern void cuckoo_scan_init(void);

/* ---- within this folder: what scan/path.c plans, and scan/exec.c runs ---- */

/*
 * A plan's custom_exprs has all conditions, in order, and its custom_private
 * the number of the test among them and the expected number of probes.
 */
extern const CustomScanMethods cuckoo_scan_methods;

/* ---- within this folder: scan/filters.c, the filters of a scan's test ---- */

/*
 * What EXPLAIN (ANALYZE) counts of a scan.  A filter that was fetched for
 * several scans or loops counts in each.
 */
enum
{
	CUCKOO_ROWS_BATCHED,
	CUCKOO_FILTERS_FETCHED,		/* stored filters, in full */
	CUCKOO_FILTERS_IN_MEMORY,	/* filters that need no fetching */
	CUCKOO_FILTERS_SLICED,		/* stored filters, in slices */
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
	/* the next three are valid while the filters are open */
	bool		all_empty;
	uint64		seed;			/* of the filters with items */
	const CuckooHasher *hasher; /* the same for all */
} CuckooScanFilters;

/* Fills in a zeroed set for a scan. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate);

/* Evaluates the expression that gives the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens set->count filters, at least one.  Stored filters are fetched if
 * `probes` more probes repay it.  Batches can be probed if all filters are in
 * memory, have one seed, and are of the elements' family.  Otherwise rows are
 * probed one by one, so that an error is raised for the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Adds the filters that are open to the counts. */
extern void cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts);

/* Counts, closes and forgets the filters, for a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts);

/* True if one of the filters contains the element, by the test's function. */
extern bool cuckoo_probe_row(CuckooScanFilters *set, Datum element);

/*
 * Like cuckoo_probe_row(), for the hashes of n elements, at most
 * MaxHeapTuplesPerPage.
 */
extern void cuckoo_probe_batch(CuckooScanFilters *set, const uint64 *hashes,
							   int n, bool *found);

#endif							/* CUCKOO_SCAN_H */
