/*-------------------------------------------------------------------------
 *
 * scan/exec.c
 *		Sequential scans that probe a filter for the rows of a page together.
 *
 * Interface: cuckoo_scan_methods, a custom scan that scan/path.c puts into
 * plans.  It returns the rows of a sequential scan in the same order, only
 * forward, and runs in parallel workers.  The other conditions come before and
 * after the test in the planner's order, on which row-level security depends.
 * Unlike in a sequential scan, expressions are evaluated up to a page ahead:
 * they may raise an error for a row that the query does not ask for, and do not
 * see what it does with the rows in between.
 *
 * If a filter is larger than the processor's cache, the probe for each row
 * waits for memory.  The executor cannot hide these waits, because it finishes
 * a row before it knows the next.  This scan hashes the elements of all rows of
 * a page and looks for them with one cuckoo_contains_batch().  Rows are not
 * copied, because their page stays pinned until the next one is read.
 *
 * Size of batches (CuckooScanPhase, read_row(), batch_goes_on()): in the first
 * page a row, because a query that ends there should pay for nothing else; then
 * all rows of a page.
 *
 * When filters are fetched (CuckooFiltersPhase, probes_to_come()): in the first
 * page stored filters are probed by slices, as in a sequential scan.  Before
 * each page after it they are fetched if the rows that the planner expects, but
 * at most PROBES_AHEAD times those probed so far, make up for it, which
 * probe/cache.c decides.
 *
 * Slow scans over partitions: each partition has a scan with its own first
 * page, estimate, and evaluation of the filter's expression (but sub-selects
 * are evaluated once); only fetched filters are shared.  doc/hacking.md says
 * what to look for in EXPLAIN (ANALYZE).
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
 * A filter is fetched after 1 / PROBES_AHEAD of the probes that make up for it.
 * A query that reads all rows loses this share of the time of fetching.  For
 * one that ends early, fetching takes at most PROBES_AHEAD times as long as its
 * probes had taken.
 */
#define PROBES_AHEAD		16

/*
 * The first bytes of a row to prefetch if columns of it are read afterwards.
 * The processor would wait for them, as it cannot foresee which rows pass.
 */
#define CACHE_LINE			64
#define PREFETCHED_BYTES	256

/* Where the last row that was read is.  read_row() and rescan() change it. */
typedef enum CuckooScanPhase
{
	BEFORE_FIRST_ROW,
	ROW_BY_ROW,					/* first page: a batch is one row */
	PAGE_BY_PAGE,				/* other pages: a batch is the rows of a page */
	AFTER_LAST_ROW
} CuckooScanPhase;

/* The rows that may pass, and what is known about each. */
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
	ExprState  *before;			/* those before the test */
	ExprState  *after;			/* those after it */
	ExprState  *all;			/* for row_passes() */
	ExprState  *element;		/* NULL if it is ... */
	AttrNumber	column;			/* this column, and no condition is before */

	/* the filters, and when to fetch them */
	CuckooScanFilters filters;
	uint32		expected;		/* probes, by the planner's estimate */
	uint32		probes;			/* so far, up to a limit */

	/* the table */
	CuckooScanPhase phase;
	TableScanDesc scan;			/* NULL before the first row */
	HeapTuple	tuple;			/* the row that was read last, or NULL */
	BlockNumber first_block;	/* the first page, once a row was read */
	uint32		prefetched;		/* bytes of a row */

	/* the rows to return */
	CuckooBatch *batch;			/* NULL until needed */
	int			count;			/* its rows */
	int			next;			/* the next one to look at */

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
	Expr	   *element;

	CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, node,
								 RelationGetDescr(node->ss.ss_currentRelation),
								 &TTSOpsBufferHeapTuple);
	if (!cuckoo_recognize_test(&s->test, list_nth(plan->custom_exprs, test_no)))
		elog(ERROR, "CuckooScan without a filter test");

	/*
	 * Without a parent it is not compiled, because it is rarely evaluated.
	 * This also checks that the user may call the test's function.
	 */
	s->all = ExecInitQual(plan->custom_exprs, NULL);
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	element = s->test.element;
	while (IsA(element, RelabelType))
		element = ((RelabelType *) element)->arg;
	if (before == NIL && IsA(element, Var) && ((Var *) element)->varattno > 0)
		s->column = ((Var *) element)->varattno;
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
 * Reads the next row, if there is one, into s->tuple, and enters its phase.
 * Its page stays pinned until the next row is read.
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

/* True if there is a next row in the page that belongs to the same batch. */
static bool
batch_goes_on(const CuckooScanState *s)
{
	HeapScanDesc scan = (HeapScanDesc) s->scan;

	return s->phase == PAGE_BY_PAGE &&
		(int64) scan->rs_cindex + 1 < (int64) scan->rs_ntuples;
}

static TupleTableSlot *
store_row(CuckooScanState *s, HeapTuple tuple)
{
	return ExecStoreBufferHeapTuple(tuple, s->css.ss.ss_ScanTupleSlot,
									((HeapScanDesc) s->scan)->rs_cbuf);
}

/* ---- batches ---- */

/*
 * The number of probes to come that may pay for fetching the filters.  In the
 * first page it is 1, as for a call of the function, which knows of no others.
 */
static uint32
probes_to_come(const CuckooScanState *s)
{
	return s->phase == PAGE_BY_PAGE ?
		Min(s->expected, PROBES_AHEAD * s->probes) : 1;
}

/* Prepares the filters, if they are open, for a batch. */
static void
prepare_filters(CuckooScanState *s)
{
	CuckooScanFilters *filters = &s->filters;

	/* to open them anew if the type of elements was altered */
	if (filters->phase >= CUCKOO_FILTERS_BY_ROW &&
		!cuckoo_hasher_is_current(filters->hasher))
		cuckoo_close_filters(filters);
	/* fetch them if it pays by now, or use what other scans have fetched */
	if (s->phase == PAGE_BY_PAGE && filters->phase == CUCKOO_FILTERS_BY_ROW)
		cuckoo_open_filters(filters, probes_to_come(s));
}

/* Adds an element to the batch: its hash, or whether the filters contain it. */
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
 * Adds the row that was read last to the batch, unless a condition before the
 * test fails, or the element is null, or there is no filter.  The steps are in
 * the order of a sequential scan, because each may raise an error.
 *
 * A plain column is taken from the tuple, which is cheaper than a slot, so that
 * only rows that pass are stored in the slot.
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
	/* even if the element is null, because this may raise an error, too */
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

/* Makes the next batch, perhaps an empty one; false at the table's end. */
static bool
next_batch(CuckooScanState *s)
{
	MemoryContext per_tuple =
		s->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
	MemoryContext caller;

	s->count = s->next = 0;
	if (s->phase == AFTER_LAST_ROW || !read_row(s))
	{
		/* leave the memory to other scans, of up to a thousand partitions */
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

	/* before the rows, because all rows of a batch are probed in one way */
	prepare_filters(s);
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
	} while (batch_goes_on(s) && read_row(s));
	s->probes = Min(s->probes + s->count, PG_INT32_MAX / PROBES_AHEAD);

	/* otherwise add_element() has probed for each row */
	if (s->filters.phase == CUCKOO_FILTERS_BY_BATCH)
	{
		/* for slices, if another probe has dropped a stored filter */
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

/* The next row of the batches that passes the test and the conditions after. */
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
 * Shows what EXPLAIN shows of a sequential scan, and the counts of all loops in
 * this process: PostgreSQL passes no such counts of workers to the leader.
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

/* Also called for the leader, below. */
static void
init_worker(CustomScanState *node, shm_toc *toc, void *dsm)
{
	((CuckooScanState *) node)->scan =
		CUCKOO_BEGIN_SCAN_PARALLEL(&node->ss, (ParallelTableScanDesc) dsm);
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
