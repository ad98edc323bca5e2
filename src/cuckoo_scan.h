/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.h
 *		Shared declarations of the scan: the planner's part (cuckoo_scan_plan.c)
 *		and the executor's part (cuckoo_scan.c and the files that it uses).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SCAN_H
#define CUCKOO_SCAN_H

#include "cuckoo_plan.h"

#include "nodes/extensible.h"

/*
 * A plan has all its conditions in custom_exprs, in the planner's order.  It
 * has these integers in custom_private.
 */
enum
{
	CUCKOO_SCAN_TEST_NO,		/* the number of the condition that is the
								 * test */
	CUCKOO_SCAN_EXPECTED,		/* the expected number of probes */
	CUCKOO_SCAN_COLUMN			/* the column of the filters in the only one
								 * of custom_plans; 0 if there is none */
};

/* ---- cuckoo_scan_plan.c ---- */

/* Defines the setting and sets the hooks when the library is loaded. */
extern void cuckoo_scan_plan_init(void);

/* ---- cuckoo_scan.c ---- */

/* Rows that are probed together, enough for their cache misses to overlap. */
#define CUCKOO_BATCH_ROWS		128

extern const CustomScanMethods cuckoo_scan_methods;

/* Registers cuckoo_scan_methods when the library is loaded. */
extern void cuckoo_scan_init(void);

/* ---- cuckoo_scan_demand.c ---- */

/* Is the scan read to its end, as far as the plan and our caller can tell? */
extern bool cuckoo_reads_all(const PlanState *scan);

/* Sets the hook for cuckoo_reads_all() when the library is loaded. */
extern void cuckoo_scan_demand_init(void);

/* ---- cuckoo_scan_filters.c ---- */

typedef struct CuckooScanFilter CuckooScanFilter;

/* The filters of a test, from an expression or from a sub-plan. */
typedef struct CuckooScanFilters
{
	CuckooTest *test;
	ExprState  *expression;		/* a filter or an array of them, if no rows */
	PlanState  *rows;			/* the sub-plan that gives filters, or NULL */
	int			column;			/* the filters in its rows */
	MemoryContext query_memory;
	MemoryContext memory;		/* for the values of the filters; reset by a
								 * rescan */
	bool		evaluated;		/* the next four are valid for this scan */
	bool		none;			/* there is no filter, or only one that is
								 * null */
	CuckooScanFilter *filters;
	int			count;
	int			room;
	bool		opened;			/* the next three are valid */
	bool		together;		/* can batches be probed? */
	const CuckooSite *first;	/* the first filter that has items, or NULL */
	const CuckooHasher *hasher; /* the same for all filters, or NULL */
} CuckooScanFilters;

/*
 * Does the filter of a test, or do its filters, come from an expression that
 * takes time?  Then it should be evaluated only once.
 */
extern bool cuckoo_computes_filters(Node *test);

/* Fills in a zeroed set for a scan; `rows` is NULL for an expression. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate, PlanState *rows, int column);

/* Evaluates the expression, or runs the sub-plan, that gives the filters. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens the filters that are not open, for so many probes.  Batches can be
 * probed if all filters are in memory, have one seed, and are of the elements'
 * family.  Otherwise the filters are asked row by row, so that errors come for
 * the right row.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Forgets the values of the filters, before a rescan or at the end. */
extern void cuckoo_forget_filters(CuckooScanFilters *set);

/* Does one of the filters contain the element?  Calls the test's function. */
extern bool cuckoo_ask_one_by_one(CuckooScanFilters *set, Datum element);

/* The same for a batch of n elements, by their hashes. */
extern void cuckoo_ask_together(const CuckooScanFilters *set,
								const uint64 *hashes, int n, bool *found);

#endif							/* CUCKOO_SCAN_H */
