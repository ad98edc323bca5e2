/*-------------------------------------------------------------------------
 *
 * scan/exec.c
 *		Sequential scans that probe a filter for the rows of a page together.
 *
 * Interface: cuckoo_scan_methods, a custom scan (nodes/extensible.h) that
 * scan/path.c puts into plans.
 *
 * The scan returns the rows of a sequential scan in the same order, forward and
 * backward, and runs in parallel workers.  The other conditions come before and
 * after the test in the planner's order, on which row-level security depends.
 * EvalPlanQual checks a row again.
 *
 * If a filter is larger than the processor's cache, the probe for each row
 * waits for memory, and the executor cannot hide these waits, because it
 * finishes a row before it knows the next.  This scan takes all rows of a page,
 * hashes the element of each, looks for all of them with one
 * cuckoo_contains_batch(), and then returns the rows that pass.  Rows are not
 * copied, because the scan keeps their page pinned until it reads the next one.
 *
 * How batches are sized (see begin_batch()): on the first page a batch is one
 * row, and a stored filter is probed by slices, as in a sequential scan.  A
 * query that ends there pays for nothing that it does not use.  From the second
 * page on a batch is a page, and stored filters are fetched as soon as the
 * probes to come pay for it (see probes_to_come() and probe/cache.c).
 *
 * The difference from a sequential scan is that expressions are evaluated up to
 * a page ahead: they may raise an error for a row that the query does not want,
 * and they do not see what the query does with the rows in between.
 *
 * A column that is tested before anything else is taken from the tuple, which
 * is cheaper than a slot; only rows that pass get into the slot.  For other
 * expressions each row is stored in the slot once, and once more if it passes.
 *
 * What mirrors nodeSeqscan.c: read_row(), rescan(), end_scan(), and the four
 * functions for parallel scans at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/exec.h"
#include "element/element.h"
#include "planner/planner.h"
#include "probe/probe.h"
#include "scan/filters.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "port/atomics.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/*
 * For how many times the probes so far a filter may be fetched.  A query that
 * reads all rows loses 1 / TRUSTED_PROBES of the time that fetching takes,
 * because it begins by slices; one that ends early has paid at most
 * TRUSTED_PROBES times what it had spent before.
 */
#define TRUSTED_PROBES		16

/*
 * The first bytes of a row to prefetch, if columns of it are read afterwards.
 * The processor would wait for them, because it cannot foresee which rows pass.
 */
#define CACHE_LINE			64
#define PREFETCHED_BYTES	256

/* The rows of a page that may pass, and what is known about each. */
typedef struct CuckooBatch
{
	HeapTupleData tuples[MaxHeapTuplesPerPage];
	uint64		hashes[MaxHeapTuplesPerPage];
	bool		found[MaxHeapTuplesPerPage];
} CuckooBatch;

typedef enum ScanPhase
{
	BEFORE_FIRST_ROW,
	ON_FIRST_PAGE,				/* rows are taken one by one */
	ON_LATER_PAGES,				/* a batch is a page */
	AFTER_LAST_ROW
} ScanPhase;

/* The state of a scan. */
typedef struct CuckooScanState
{
	CustomScanState css;
	ScanPhase	phase;

	/* the conditions */
	CuckooTest	test;
	ExprState  *before;			/* those before the test */
	ExprState  *after;			/* those after it */
	ExprState  *all;			/* all of them; NULL unless row_passes() may
								 * be called */
	ExprState  *element;		/* of a row, or NULL and it is ... */
	AttrNumber	column;			/* this column, and no condition is before */
	CuckooScanFilters filters;
	uint32		expected;		/* number of probes, by the planner's guess */
	uint32		prefetched;		/* bytes of a row */

	/* the table */
	TableScanDesc scan;			/* NULL before the first row */
	HeapTuple	tuple;			/* the row that was read last, or NULL */
	BlockNumber first_block;	/* the first page, from ON_FIRST_PAGE on */
	uint32		probes;			/* for rows so far, up to a limit */

	/* the rows to return */
	CuckooBatch *batch;			/* NULL until needed, and after the last row */
	int			count;			/* its rows */
	int			next;			/* the next one to look at */

	/* for EXPLAIN */
	uint64		counts[CUCKOO_SCAN_COUNTS];
	pg_atomic_uint64 *shared;	/* as many; NULL unless the scan is parallel */
} CuckooScanState;

/* Checks what ExecInitExpr() would: that the user may call the function. */
static void
check_execute(Oid function)
{
	AclResult	result = CUCKOO_ACL_EXECUTE(function);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* The column that an element is, or InvalidAttrNumber. */
static AttrNumber
plain_column(Expr *element)
{
	while (IsA(element, RelabelType))
		element = ((RelabelType *) element)->arg;
	return IsA(element, Var) && ((Var *) element)->varattno > 0 ?
		((Var *) element)->varattno : InvalidAttrNumber;
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	int			test_no = list_nth_int(plan->custom_private,
									   CUCKOO_SCAN_TEST_NO);
	List	   *before = list_truncate(list_copy(plan->custom_exprs), test_no);
	List	   *after = list_copy_tail(plan->custom_exprs, test_no + 1);

	CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, node,
								 RelationGetDescr(node->ss.ss_currentRelation),
								 &TTSOpsBufferHeapTuple);
	if (!cuckoo_recognize_test(&s->test, list_nth(plan->custom_exprs, test_no)))
		elog(ERROR, "CuckooScan without a filter test");
	check_execute(s->test.function);
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	if (before == NIL)
		s->column = plain_column(s->test.element);
	if (s->column == InvalidAttrNumber)
		s->element = ExecInitExpr(s->test.element, ps);
	if ((eflags & EXEC_FLAG_BACKWARD) != 0 || estate->es_epq_active != NULL)
		s->all = ExecInitQual(plan->custom_exprs, ps);
	s->expected = list_nth_int(plan->custom_private, CUCKOO_SCAN_EXPECTED);
	/* count(*) reads no column of the rows that pass */
	s->prefetched = after != NIL || ps->plan->targetlist != NIL ?
		PREFETCHED_BYTES : 0;
	cuckoo_init_filters(&s->filters, &s->test, estate);
}

/* ---- the table ---- */

/*
 * Reads the next row of the table in that direction, if there is one, into
 * s->tuple.  The scan keeps its page pinned until the next row is read.
 */
static bool
read_row(CuckooScanState *s, ScanDirection direction)
{
	CHECK_FOR_INTERRUPTS();
	if (s->scan == NULL)
		s->scan = CUCKOO_BEGIN_SCAN(&s->css.ss);
	s->tuple = heap_getnext(s->scan, direction);
	return s->tuple != NULL;
}

static TupleTableSlot *
store_row(CuckooScanState *s, HeapTuple tuple)
{
	return ExecStoreBufferHeapTuple(tuple, s->css.ss.ss_ScanTupleSlot,
									((HeapScanDesc) s->scan)->rs_cbuf);
}

/* Reads the next row if the current page has one. */
static bool
read_row_of_page(CuckooScanState *s)
{
	HeapScanDesc scan = (HeapScanDesc) s->scan;

	return (int64) scan->rs_cindex + 1 < (int64) scan->rs_ntuples &&
		read_row(s, ForwardScanDirection);
}

/* ---- batches ---- */

/*
 * Reads the first row of the next batch, and enters the phase of its page.
 * Returns false at the end of the table.
 */
static bool
begin_batch(CuckooScanState *s)
{
	BlockNumber block;

	s->count = s->next = 0;
	if (s->phase == AFTER_LAST_ROW || !read_row(s, ForwardScanDirection))
		return false;
	block = ((HeapScanDesc) s->scan)->rs_cblock;
	if (s->phase == BEFORE_FIRST_ROW)
	{
		s->first_block = block;
		s->phase = ON_FIRST_PAGE;
	}
	/* a snapshot for which heap knows no page mode has no later pages */
	else if (block != s->first_block &&
			 (s->scan->rs_flags & SO_ALLOW_PAGEMODE) != 0)
		s->phase = ON_LATER_PAGES;
	if (s->batch == NULL)
		s->batch = MemoryContextAlloc(s->css.ss.ps.state->es_query_cxt,
									  sizeof(CuckooBatch));
	return true;
}

/*
 * Frees what is not needed after the last row: a table may have a thousand
 * partitions, each with such a scan, and other scans of the query may need the
 * room of the filters.
 */
static void
end_batches(CuckooScanState *s)
{
	s->phase = AFTER_LAST_ROW;
	ExecClearTuple(s->css.ss.ss_ScanTupleSlot);
	if (s->batch != NULL)
		pfree(s->batch);
	s->batch = NULL;
	cuckoo_forget_filters(&s->filters, s->counts);
}

/*
 * The number of probes that may pay for fetching the filters.  After the first
 * page it is the planner's estimate, as far as it is trusted.
 */
static uint32
probes_to_come(const CuckooScanState *s)
{
	return s->phase == ON_FIRST_PAGE ? 1 :
		Min(s->expected, TRUSTED_PROBES * s->probes);
}

/* Opens again, before a batch, filters for which something has changed. */
static void
update_filters(CuckooScanState *s)
{
	CuckooScanFilters *filters = &s->filters;

	/* a type was altered: the functions would notice, one by one */
	if (filters->hasher != NULL && !cuckoo_hasher_is_current(filters->hasher))
		cuckoo_close_filters(filters);
	/* stored filters that were probed by slices may be worth fetching by now */
	if (filters->phase == CUCKOO_FILTERS_BY_ROW && s->phase == ON_LATER_PAGES)
		cuckoo_open_filters(filters, probes_to_come(s));
}

/* Evaluates the element of a row of the batch, in the memory of a tuple. */
static Datum
get_element(CuckooScanState *s, HeapTuple tuple, bool *isnull)
{
	if (s->column == InvalidAttrNumber)
		return ExecEvalExpr(s->element, s->css.ss.ps.ps_ExprContext, isnull);
	return heap_getattr(tuple, s->column,
						RelationGetDescr(s->css.ss.ss_currentRelation), isnull);
}

/*
 * Probes the filters for an element, or only hashes it if they are probed for
 * the batch.
 */
static void
probe_element(CuckooScanState *s, int i, Datum element)
{
	CuckooScanFilters *filters = &s->filters;

	if (filters->phase == CUCKOO_FILTERS_KNOWN)
		cuckoo_open_filters(filters, probes_to_come(s));
	if (filters->phase == CUCKOO_FILTERS_BY_ROW)
		s->batch->found[i] = cuckoo_probe_row(filters, element);
	else if (filters->first != NULL)
		s->batch->hashes[i] = cuckoo_hash(filters->hasher, element,
										  filters->first->header->seed);
}

/*
 * Adds the row that was read last to the batch, unless a condition before the
 * test fails, or the element is null, or there is no filter.
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
	if (s->column == InvalidAttrNumber)
	{
		econtext->ecxt_scantuple = store_row(s, tuple);
		if (!ExecQual(s->before, econtext))
			return false;
	}
	/* also if all elements are null, because it may raise an error */
	if (s->filters.phase == CUCKOO_FILTERS_UNKNOWN)
		cuckoo_eval_filters(&s->filters, econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	element = get_element(s, tuple, &isnull);
	isnull |= s->filters.count == 0;
	if (!isnull)
		probe_element(s, s->count++, element);
	MemoryContextSwitchTo(caller);
	return !isnull;
}

/*
 * Makes the next batch, which may be empty.  Returns false at the end of the
 * table.
 */
static bool
next_batch(CuckooScanState *s)
{
	if (!begin_batch(s))
	{
		end_batches(s);
		return false;
	}
	update_filters(s);
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
	} while (s->phase == ON_LATER_PAGES && read_row_of_page(s));
	s->probes = Min(s->probes + s->count, PG_INT32_MAX / TRUSTED_PROBES);
	if (s->filters.phase == CUCKOO_FILTERS_BY_BATCH)
	{
		cuckoo_probe_batch(&s->filters, s->batch->hashes, s->count,
						   s->batch->found);
		if (s->phase == ON_LATER_PAGES)
			s->counts[CUCKOO_ROWS_BATCHED] += s->count;
	}
	return true;
}

/* ---- rows ---- */

/* True if a row that is not in a batch passes all conditions. */
static bool
row_passes(ScanState *node, TupleTableSlot *row)
{
	ExprState  *all = ((CuckooScanState *) node)->all;

	if (all == NULL)
		elog(ERROR, "CuckooScan cannot go back");
	node->ps.ps_ExprContext->ecxt_scantuple = row;
	return ExecQual(all, node->ps.ps_ExprContext);
}

/*
 * The row before the one that was returned last, for cursors.  First the
 * table's scan has to go back over the rows of the page that were read ahead.
 */
static TupleTableSlot *
previous_row(CuckooScanState *s)
{
	ScanState  *node = &s->css.ss;
	ItemPointerData last;
	bool		passed = s->next == 0;

	if (!passed)
	{
		last = s->batch->tuples[s->next - 1].t_self;
		passed = ItemPointerEquals(&s->tuple->t_self, &last);
	}
	s->count = s->next = 0;
	if (s->phase == AFTER_LAST_ROW)
		s->phase = ON_FIRST_PAGE;
	while (read_row(s, BackwardScanDirection))
	{
		if (!passed)
			passed = ItemPointerEquals(&s->tuple->t_self, &last);
		else if (row_passes(node, store_row(s, s->tuple)))
			return node->ss_ScanTupleSlot;
		else
			InstrCountFiltered1(node, 1);
		ResetExprContext(node->ps.ps_ExprContext);
	}
	return ExecClearTuple(node->ss_ScanTupleSlot);
}

/* The next row of the batches that passes the test and the conditions after. */
static TupleTableSlot *
next_row(CuckooScanState *s)
{
	ScanState  *node = &s->css.ss;
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

/* The next row, or the previous one, that passes all conditions. */
static TupleTableSlot *
access_row(ScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	return ScanDirectionIsBackward(node->ps.state->es_direction) ?
		previous_row(s) : next_row(s);
}

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, access_row, row_passes);
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
 * Shows what EXPLAIN shows of a sequential scan, and what batches took.  Rows
 * are per loop, like all rows that EXPLAIN shows; filters are those of all
 * loops.  Of workers the counts are known if they share this scan and had ended
 * when no more rows were wanted.  PostgreSQL passes no others to the leader.
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
	CustomScan *plan = (CustomScan *) ps->plan;
	Expr	   *conditions = make_ands_explicit(plan->custom_exprs);
	uint64		counts[CUCKOO_SCAN_COUNTS];
	double		loops;

	ExplainPropertyText("Filter",
						deparse_expression((Node *) conditions, context,
										   es->verbose, false), es);
	if (!es->analyze || ps->instrument == NULL)
		return;
	loops = Max(ps->instrument->nloops, 1);
	if (ps->instrument->nfiltered1 > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat("Rows Removed by Filter", NULL,
							 ps->instrument->nfiltered1 / loops, 0, es);
	memcpy(counts, s->counts, sizeof(counts));
	cuckoo_count_filters(&s->filters, counts);
	for (int i = 0; i < CUCKOO_SCAN_COUNTS; i++)
	{
		if (counts[i] > 0 || es->format != EXPLAIN_FORMAT_TEXT)
			ExplainPropertyFloat(names[i], NULL, counts[i] /
								 (i == CUCKOO_ROWS_BATCHED ? loops : 1), 0, es);
	}
}

/* ---- parallel scans ---- */

/* The counts that workers report are in front of the scan. */
#define SHARED_COUNTS_SIZE	\
	MAXALIGN(CUCKOO_SCAN_COUNTS * sizeof(pg_atomic_uint64))
#define PARALLEL_SCAN(dsm) \
	((ParallelTableScanDesc) ((char *) (dsm) + SHARED_COUNTS_SIZE))

static Size
estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return SHARED_COUNTS_SIZE +
		table_parallelscan_estimate(node->ss.ss_currentRelation,
									node->ss.ps.state->es_snapshot);
}

/* In a worker, or in the leader below. */
static void
init_worker(CustomScanState *node, shm_toc *toc, void *dsm)
{
	CuckooScanState *s = (CuckooScanState *) node;

	s->shared = dsm;
	s->scan = CUCKOO_BEGIN_SCAN_PARALLEL(&node->ss, PARALLEL_SCAN(dsm));
}

static void
init_dsm(CustomScanState *node, ParallelContext *pcxt, void *dsm)
{
	for (int i = 0; i < CUCKOO_SCAN_COUNTS; i++)
		pg_atomic_init_u64((pg_atomic_uint64 *) dsm + i, 0);
	table_parallelscan_initialize(node->ss.ss_currentRelation,
								  PARALLEL_SCAN(dsm),
								  node->ss.ps.state->es_snapshot);
	init_worker(node, NULL, dsm);
}

static void
reinit_dsm(CustomScanState *node, ParallelContext *pcxt, void *dsm)
{
	table_parallelscan_reinitialize(node->ss.ss_currentRelation,
									PARALLEL_SCAN(dsm));
}

/*
 * Called when no more rows are wanted, while the shared memory is still there.
 * A worker reports its counts, and the leader takes what workers reported.
 */
static void
shutdown_scan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	if (s->shared == NULL)
		return;
	if (IsParallelWorker())
		cuckoo_count_filters(&s->filters, s->counts);
	for (int i = 0; i < CUCKOO_SCAN_COUNTS; i++)
	{
		if (IsParallelWorker())
			pg_atomic_fetch_add_u64(&s->shared[i], s->counts[i]);
		else
			s->counts[i] += pg_atomic_read_u64(&s->shared[i]);
	}
	s->shared = NULL;
}

/* ---- the methods ---- */

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
	.ShutdownCustomScan = shutdown_scan,
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
