/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.h
 *		What the files of the scan share: the planner's (cuckoo_scan_plan.c) and
 *		the executor's (cuckoo_scan.c, and what it uses).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SCAN_H
#define CUCKOO_SCAN_H

#include "cuckoo_plan.h"

#include "nodes/extensible.h"

/*
 * A plan has all its conditions in custom_exprs, in the planner's order, and in
 * custom_private these integers.
 */
enum
{
	CUCKOO_SCAN_TEST_NO,		/* which condition is the test */
	CUCKOO_SCAN_EXPECTED,		/* rows it is expected to be asked about */
	CUCKOO_SCAN_COLUMN			/* of the filters in the only one of
								 * custom_plans; 0 if there is none */
};

/* ---- cuckoo_scan_plan.c ---- */

/* Registers what it needs of the server when the library is loaded. */
extern void cuckoo_scan_plan_init(void);

/* ---- cuckoo_scan.c ---- */

/* Rows looked at together: enough for their waits for memory to overlap. */
#define CUCKOO_BATCH_ROWS		128

extern const CustomScanMethods cuckoo_scan_methods;

/* Registers that when the library is loaded. */
extern void cuckoo_scan_init(void);

/* ---- cuckoo_scan_demand.c ---- */

/* Is the scan read to its end, as far as the plan and our caller can tell? */
extern bool cuckoo_reads_all(const PlanState *scan);

/* Sets the hook that it needs when the library is loaded. */
extern void cuckoo_scan_demand_init(void);

/* ---- cuckoo_scan_filters.c ---- */

typedef struct CuckooScanFilter CuckooScanFilter;

/* The filters of a test, from an expression or from a sub-plan. */
typedef struct CuckooScanFilters
{
	CuckooTest *test;
	ExprState  *expression;		/* of one, or of an array of them */
	PlanState  *rows;			/* or NULL */
	int			column;			/* of these */
	MemoryContext query_memory;
	MemoryContext memory;		/* their values', until a rescan */
	bool		evaluated;		/* they are there, for this scan: */
	bool		none;			/* there is none, or one that is null */
	CuckooScanFilter *filters;
	int			count;
	int			room;
	bool		opened;			/* and at hand, as far as they will be: */
	bool		together;		/* they can be asked about batches */
	const CuckooSite *first;	/* the first that has items, or NULL */
	const CuckooHasher *hasher; /* of all of them, or NULL */
} CuckooScanFilters;

/*
 * Does the filter of a test, or do its filters, come from an expression that
 * takes time?  Then it should be evaluated only once.
 */
extern bool cuckoo_computes_filters(Node *test);

/* Fills in a zeroed set for a scan; `rows` is NULL for an expression. */
extern void cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
								EState *estate, PlanState *rows, int column);

/* Finds out what the filters are. */
extern void cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext);

/*
 * Opens the filters, as far as they are not, for so many probes.  They can be
 * asked together if all are at hand, have one seed, and take the elements.  If
 * one does not, it is asked row by row, for the error to come when it is asked.
 */
extern void cuckoo_open_filters(CuckooScanFilters *set, uint32 probes);
extern void cuckoo_close_filters(CuckooScanFilters *set);

/* Forgets the filters, whose expression may then have another value. */
extern void cuckoo_forget_filters(CuckooScanFilters *set);

/* Does one of the filters contain an element?  Asks them as calls would. */
extern bool cuckoo_ask_one_by_one(CuckooScanFilters *set, Datum element);

/* The same for the rows of a batch, by their hashes. */
extern void cuckoo_ask_together(const CuckooScanFilters *set,
								const uint64 *hashes, int n, bool *found);

#endif							/* CUCKOO_SCAN_H */
