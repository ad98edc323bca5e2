/*-------------------------------------------------------------------------
 *
 * scan/filters.h
 *		The filters of a scan, and probing them for its rows.
 *
 * cuckoo_eval_filters() finds out which filters there are, at the first row
 * that needs them, and cuckoo_open_filters() opens them.  What phase they are
 * in then says which of cuckoo_probe_row() and cuckoo_probe_batch() answers for
 * rows.  cuckoo_forget_filters() begins anew.
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

/* What is known of the filters of a scan, in the order of its steps. */
typedef enum CuckooFiltersPhase
{
	CUCKOO_FILTERS_UNKNOWN,
	CUCKOO_FILTERS_KNOWN,		/* their values are evaluated */
	CUCKOO_FILTERS_BY_ROW,		/* open; one has to be probed row by row */
	CUCKOO_FILTERS_BY_BATCH		/* open; batches of rows can be probed */
} CuckooFiltersPhase;

/* The filters of a test. */
typedef struct CuckooScanFilters
{
	CuckooFiltersPhase phase;
	CuckooTest *test;
	ExprState  *expression;		/* a filter, or an array of them */
	MemoryContext query_memory;
	MemoryContext memory;		/* for the values of the filters; reset by a
								 * rescan */

	/* from CUCKOO_FILTERS_KNOWN on */
	CuckooScanFilter *filters;	/* those that are not null */
	int			count;
	int			room;

	/* from CUCKOO_FILTERS_BY_ROW on, else NULL */
	const CuckooOpenFilter *first;	/* the first filter that has items */
	const CuckooHasher *hasher; /* the same for all filters */
} CuckooScanFilters;

/* Fills in a zeroed set for a scan. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate);

/* Evaluates the expression that gives the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens the filters that are not open; stored ones are fetched if this pays for
 * so many probes.  Batches can be probed if all are in memory, have one seed,
 * and are of the elements' family.  Otherwise they are probed row by row, which
 * reads slices, and lets an error come for the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Adds the filters that are open to the counts. */
extern void cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts);

/* Counts and forgets the filters, before a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts);

/* Returns whether one of the filters contains the element. */
extern bool cuckoo_probe_row(CuckooScanFilters *set, Datum element);

/* The same for a batch of at most MaxHeapTuplesPerPage elements, by hashes. */
extern void cuckoo_probe_batch(const CuckooScanFilters *set,
							   const uint64 *hashes, int n, bool *found);

#endif							/* CUCKOO_FILTERS_H */
