/*-------------------------------------------------------------------------
 *
 * scan/exec.c
 *		Sequential scans that probe a filter for all rows of a page together.
 *
 * scan/path.c puts cuckoo_scan_methods, a custom scan, into plans.  The scan
 * returns the rows of a sequential scan in the same order.  It runs only
 * forward, and in parallel workers.  The other conditions are evaluated before
 * and after the test, in the planner's order: row-level security depends on it.
 * Expressions are evaluated up to a page ahead.  They may raise an error for a
 * row that the query would not reach.  They do not see the effects of rows of
 * the page that are returned before theirs.
 *
 * With a filter larger than the processor's cache, each probe waits for memory.
 * The executor cannot overlap these waits, because it finishes one row before
 * the next.  This scan hashes the elements of all rows of a page, and probes
 * the filter with one cuckoo_contains_batch().  It does not copy rows: their
 * page stays pinned until the next page is read.
 *
 *	first page		A batch is one row, and stored filters are probed in slices.
 *					A query that ends here costs the same as a sequential scan.
 *	other pages		A batch is all rows of the page.  Before a page, stored
 *					filters are fetched if the expected rows repay it
 *					(probes_to_come(), probe/cache.c).
 *
 * Each partition has a separate scan, with its own first page and estimate.
 * The scans share fetched filters, and the result of a sub-select.
 * doc/queries.md explains the output of EXPLAIN (ANALYZE).
 *
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"
#include "element/element.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/*
 * n probes in slices take as long as fetching a filter.  The filter is fetched
 * after n / PROBES_AHEAD probes.  A query that reads all rows loses at most
 * 1 / PROBES_AHEAD of the time of fetching.  In a query that ends soon after,
 * fetching takes at most PROBES_AHEAD times as long as the probes before it.
 */
#define PROBES_AHEAD		16

/*
 * Bytes of a row to prefetch if the query reads its columns after the test.
 * The processor cannot predict which rows pass.
 */
#define CACHE_LINE			64
#define PREFETCHED_BYTES	256

/* The position of the last row.  read_row() and rescan() set it. */
typedef enum CuckooScanPhase
{
	BEFORE_FIRST_ROW,
	ROW_BY_ROW,					/* first page: a batch is one row */
	PAGE_BY_PAGE,				/* other pages: a batch is the rows of a page */
	AFTER_LAST_ROW
} CuckooScanPhase;

/* The rows of a batch, with the hash and the result of each. */
typedef struct CuckooBatch
{
	HeapTupleData tuples[MaxHeapTuplesPerPage];
	uint64		hashes[MaxHeapTuplesPerPage];
	bool		found[MaxHeapTuplesPerPage];
} CuckooBatch;

typedef struct CuckooScanState
{
	CustomScanState css;

	/* the conditions */
	CuckooTest	test;
	ExprState  *before;			/* conditions before the test */
	ExprState  *after;			/* conditions after the test */
	ExprState  *all;			/* for row_passes() */
	ExprState  *element;		/* NULL if `column` is valid */
	AttrNumber	column;			/* of the element, if it is a plain column and
								 * no condition comes before the test */

	/* the filters, and when to fetch them */
	CuckooScanFilters filters;
	uint32		expected;		/* probes, as the planner estimates */
	uint32		probes;			/* probes so far, up to a limit */

	/* the table */
	CuckooScanPhase phase;
	TableScanDesc scan;			/* NULL before the first row */
	HeapTuple	tuple;			/* the last row, or NULL */
	BlockNumber first_block;	/* valid after the first row */
	uint32		prefetched;		/* bytes of a row to prefetch */

	/* the rows to return */
	CuckooBatch *batch;			/* NULL until needed */
	int			count;			/* rows of the batch */
	int			next;			/* the next row to check */

	uint64		counts[CUCKOO_SCAN_COUNTS]; /* of this process, for EXPLAIN */
} CuckooScanState;

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	int			test_no = linitial_int(plan->custom_private);
	List	   *before = list_truncate(list_copy(plan->custom_exprs), test_no);
	List	   *after = list_copy_tail(plan->custom_exprs, test_no + 1);
	const Var  *element;

	CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, node,
								 RelationGetDescr(node->ss.ss_currentRelation),
								 &TTSOpsBufferHeapTuple);
	if (!cuckoo_recognize_test(&s->test, list_nth(plan->custom_exprs, test_no)))
		elog(ERROR, "CuckooScan without a filter test");

	/*
	 * No parent, so JIT skips it: it is rarely evaluated.  This also checks
	 * the user's right to call the test's function.
	 */
	s->all = ExecInitQual(plan->custom_exprs, NULL);
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	element = (Var *) s->test.element;
	if (before == NIL && IsA(element, Var) && element->varattno > 0)
		s->column = element->varattno;
	else
		s->element = ExecInitExpr(s->test.element, ps);
	s->expected = lsecond_int(plan->custom_private);
	/* count(*) reads no column of the rows that pass */
	s->prefetched = after != NIL || ps->plan->targetlist != NIL ?
		PREFETCHED_BYTES : 0;
	cuckoo_init_filters(&s->filters, &s->test, estate);
}

/* ---- the table ---- */

/*
 * Reads the next row into s->tuple and sets the phase.  Returns false at the
 * end of the table.  The page stays pinned until the next row is read.
 */
static bool
read_row(CuckooScanState *s)
{
	CHECK_FOR_INTERRUPTS();
	if (s->scan == NULL)
		s->scan = CUCKOO_BEGIN_SCAN(&s->css.ss);
	s->tuple = heap_getnext(s->scan, ForwardScanDirection);
	if (s->tuple == NULL)
		s->phase = AFTER_LAST_ROW;
	else
	{
		BlockNumber block = ((HeapScanDesc) s->scan)->rs_cblock;

		if (s->phase == BEFORE_FIRST_ROW)
			s->first_block = block;
		s->phase = block == s->first_block ||
			(s->scan->rs_flags & SO_ALLOW_PAGEMODE) == 0 ? ROW_BY_ROW :
			PAGE_BY_PAGE;
	}
	return s->tuple != NULL;
}

static TupleTableSlot *
store_row(CuckooScanState *s, HeapTuple tuple)
{
	return ExecStoreBufferHeapTuple(tuple, s->css.ss.ss_ScanTupleSlot,
									((HeapScanDesc) s->scan)->rs_cbuf);
}

/* ---- batches ---- */

/*
 * The number of future probes that may repay fetching the filters.  In the
 * first page it is 1, as in a call of the function.
 */
static uint32
probes_to_come(const CuckooScanState *s)
{
	return s->phase == PAGE_BY_PAGE ?
		Min(s->expected, PROBES_AHEAD * s->probes) : 1;
}

/* Prepares open filters for a batch. */
static void
prepare_filters(CuckooScanState *s)
{
	CuckooScanFilters *filters = &s->filters;

	/* open them again if the element type was altered */
	if (filters->phase >= CUCKOO_FILTERS_BY_ROW &&
		!cuckoo_hasher_is_current(filters->hasher))
		cuckoo_close_filters(filters);
	/* fetch them if that pays by now, or use filters that others fetched */
	if (s->phase == PAGE_BY_PAGE && filters->phase == CUCKOO_FILTERS_BY_ROW)
		cuckoo_open_filters(filters, probes_to_come(s));
}

/* Adds the hash of an element to the batch, or the result of probing. */
static void
add_element(CuckooScanState *s, Datum element)
{
	CuckooScanFilters *filters = &s->filters;
	int			i = s->count++;

	if (filters->phase == CUCKOO_FILTERS_CLOSED)
		cuckoo_open_filters(filters, probes_to_come(s));
	if (filters->phase == CUCKOO_FILTERS_BY_ROW)
		s->batch->found[i] = cuckoo_probe_row(filters, element);
	else if (!filters->all_empty)
		s->batch->hashes[i] = cuckoo_hash(filters->hasher, element,
										  filters->seed);
}

/*
 * Adds the last row to the batch.  Returns false if a condition before the test
 * fails, if the element is null, or if there is no filter.  The steps are in
 * the order of a sequential scan, because each may raise an error.
 *
 * A plain column is read from the tuple.  Storing a row in the slot is slower,
 * and then only done for rows that pass.
 */
static bool
add_row(CuckooScanState *s)
{
	ExprContext *econtext = s->css.ss.ps.ps_ExprContext;
	HeapTuple	tuple = &s->batch->tuples[s->count];
	MemoryContext caller;
	Datum		element;
	bool		isnull;

	ResetExprContext(econtext);
	*tuple = *s->tuple;
	for (uint32 at = CACHE_LINE; at < Min(tuple->t_len, s->prefetched);
		 at += CACHE_LINE)
		CUCKOO_PREFETCH((char *) tuple->t_data + at);
	if (s->element != NULL)
	{
		econtext->ecxt_scantuple = store_row(s, tuple);
		if (!ExecQual(s->before, econtext))
			return false;
	}
	/* even for a null element, because this may raise an error */
	if (s->filters.phase == CUCKOO_FILTERS_UNKNOWN)
		cuckoo_eval_filters(&s->filters, econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (s->element != NULL)
		element = ExecEvalExpr(s->element, econtext, &isnull);
	else
		element = heap_getattr(tuple, s->column,
							   RelationGetDescr(s->css.ss.ss_currentRelation),
							   &isnull);
	isnull |= s->filters.count == 0;
	if (!isnull)
		add_element(s, element);
	MemoryContextSwitchTo(caller);
	return !isnull;
}

/* Reads the next batch, which may be empty.  False at the table's end. */
static bool
next_batch(CuckooScanState *s)
{
	MemoryContext per_tuple =
		s->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
	MemoryContext caller;
	HeapScanDesc scan;

	s->count = s->next = 0;
	if (s->phase == AFTER_LAST_ROW || !read_row(s))
	{
		/* free memory, because a query may scan a thousand partitions */
		ExecClearTuple(s->css.ss.ss_ScanTupleSlot);
		if (s->batch != NULL)
			pfree(s->batch);
		s->batch = NULL;
		cuckoo_forget_filters(&s->filters, s->counts);
		return false;
	}
	if (s->batch == NULL)
		s->batch = MemoryContextAlloc(s->css.ss.ps.state->es_query_cxt,
									  sizeof(CuckooBatch));

	/* before the rows: all rows of a batch are probed in the same way */
	prepare_filters(s);
	scan = (HeapScanDesc) s->scan;
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
	} while (s->phase == PAGE_BY_PAGE &&
			 (int64) scan->rs_cindex + 1 < (int64) scan->rs_ntuples &&
			 read_row(s));
	s->probes = Min(s->probes + s->count, PG_INT32_MAX / PROBES_AHEAD);

	/* in other phases add_element() has probed */
	if (s->filters.phase == CUCKOO_FILTERS_BY_BATCH)
	{
		/* if another probe dropped a stored filter, slices are read here */
		caller = MemoryContextSwitchTo(per_tuple);
		cuckoo_probe_batch(&s->filters, s->batch->hashes, s->count,
						   s->batch->found);
		MemoryContextSwitchTo(caller);
		s->counts[CUCKOO_ROWS_BATCHED] +=
			s->phase == PAGE_BY_PAGE ? s->count : 0;
	}
	return true;
}

/* ---- rows ---- */

/* True if a row passes all conditions, for EvalPlanQual. */
static bool
row_passes(ScanState *node, TupleTableSlot *row)
{
	node->ps.ps_ExprContext->ecxt_scantuple = row;
	return ExecQual(((CuckooScanState *) node)->all, node->ps.ps_ExprContext);
}

/* Returns the next row that passes the test and the conditions after it. */
static TupleTableSlot *
next_row(ScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;

	do
	{
		while (s->next < s->count)
		{
			int			i = s->next++;

			if (s->batch->found[i] != s->test.negated)
			{
				econtext->ecxt_scantuple = store_row(s, &s->batch->tuples[i]);
				if (ExecQual(s->after, econtext))
					return node->ss_ScanTupleSlot;
				ResetExprContext(econtext);
			}
			InstrCountFiltered1(node, 1);
		}
	} while (next_batch(s));
	return NULL;
}

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, row_passes);
}

static void
end_scan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	cuckoo_forget_filters(&s->filters, s->counts);
	if (s->scan != NULL)
		table_endscan(s->scan);
}

static void
rescan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	cuckoo_forget_filters(&s->filters, s->counts);
	s->count = s->next = 0;
	s->probes = 0;
	s->phase = BEFORE_FIRST_ROW;
	if (s->scan != NULL)
		table_rescan(s->scan, NULL);
	ExecScanReScan(&node->ss);
}

/* ---- EXPLAIN ---- */

/*
 * Shows the lines of a sequential scan without option IO, and the counts of all
 * loops of this process.  PostgreSQL does not pass counts of workers to the
 * leader.
 */
static void
explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	static const char *const names[CUCKOO_SCAN_COUNTS] = {
		"Rows Probed in Batches", "Filters Fetched", "Filters in Memory",
		"Filters Read by Slices"
	};
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, ps->plan,
												   ancestors);
	Expr	   *conditions =
		make_ands_explicit(((CustomScan *) ps->plan)->custom_exprs);
	uint64		counts[CUCKOO_SCAN_COUNTS];

	ExplainPropertyText("Filter",
						deparse_expression((Node *) conditions, context,
										   es->verbose, false), es);
	if (!es->analyze || ps->instrument == NULL)
		return;
	if (ps->instrument->nfiltered1 > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat("Rows Removed by Filter", NULL,
							 ps->instrument->nfiltered1 /
							 Max(ps->instrument->nloops, 1), 0, es);
	memcpy(counts, s->counts, sizeof(counts));
	cuckoo_count_filters(&s->filters, counts);
	for (int i = 0; i < CUCKOO_SCAN_COUNTS; i++)
	{
		if (counts[i] > 0 || es->format != EXPLAIN_FORMAT_TEXT)
			ExplainPropertyUInteger(names[i], NULL, counts[i], es);
	}
}

/* ---- parallel scans, as in nodeSeqscan.c ---- */

static Size
estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return table_parallelscan_estimate(node->ss.ss_currentRelation,
									   node->ss.ps.state->es_snapshot);
}

/* Called in workers, and by init_dsm() in the leader. */
static void
init_worker(CustomScanState *node, shm_toc *toc, void *dsm)
{
	((CuckooScanState *) node)->scan =
		CUCKOO_BEGIN_SCAN_PARALLEL(node->ss.ss_currentRelation,
								   (ParallelTableScanDesc) dsm,
								   CUCKOO_SCAN_FLAGS(&node->ss));
}

static void
init_dsm(CustomScanState *node, ParallelContext *pcxt, void *dsm)
{
	table_parallelscan_initialize(node->ss.ss_currentRelation, dsm,
								  node->ss.ps.state->es_snapshot);
	init_worker(node, NULL, dsm);
}

static void
reinit_dsm(CustomScanState *node, ParallelContext *pcxt, void *dsm)
{
	table_parallelscan_reinitialize(node->ss.ss_currentRelation, dsm);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "CuckooScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = init_dsm,
	.ReInitializeDSMCustomScan = reinit_dsm,
	.InitializeWorkerCustomScan = init_worker,
	.ExplainCustomScan = explain
};

static Node *
create_scan_state(CustomScan *cscan)
{
	CuckooScanState *s = palloc0(sizeof(CuckooScanState));

	NodeSetTag(s, T_CustomScanState);
	s->css.methods = &exec_methods;
	CUCKOO_CUSTOM_SCAN_SLOTS(&s->css, &TTSOpsBufferHeapTuple);
	return (Node *) s;
}

const CustomScanMethods cuckoo_scan_methods = {
	.CustomName = "CuckooScan",
	.CreateCustomScanState = create_scan_state
};
