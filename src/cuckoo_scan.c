/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.c
 *		Sequential scans that probe a filter for the rows of a page together.
 *
 * If a filter is larger than the processor's cache, the probe for each row
 * waits for memory.  The executor cannot hide these waits, because it finishes
 * a row before it knows the next.  This custom scan (access/extensible.h)
 * takes the rows of a page and hashes the element of each.  It looks for all
 * of them with one cuckoo_contains_batch(), and returns the rows that pass.
 * cuckoo_scan_plan.c says when the planner chooses it.
 *
 * Otherwise it is a sequential scan.  It returns the same rows in the same
 * order, forward and backward, and runs in parallel workers.  The other
 * conditions come before and after the test in the planner's order, on which
 * row-level security depends.  EvalPlanQual checks a row again.
 *
 * The difference is that expressions are evaluated a few rows ahead.  So they
 * may raise an error for a row that the query does not ask for.  They also do
 * not see what the query does with the rows in between.  If the plan and the
 * executor's caller say that the scan is read to its end
 * (cuckoo_scan_demand.c), a batch is a page's rows.  Else a batch is a small
 * share of the rows read so far.  So a query that stops early pays for few rows
 * more than it asks for.
 *
 * While a batch would be one row, rows are taken one by one, as in a sequential
 * scan.  The memory for batches is allocated when they begin.  So a query that
 * ends at the first row does not pay for it.
 *
 * For the same reason a stored filter is fetched before the first row only if
 * the scan is read to its end and the planner expects enough rows.  Otherwise
 * it is probed by slices until it pays to fetch it (cuckoo_cache.c), as in a
 * sequential scan.
 *
 * Each row of a batch has its own slot, so columns that were deformed for the
 * test need not be deformed again for the projection.  Rows are not copied;
 * their page stays pinned.  So the scan is for tables whose rows are in shared
 * buffers, as those of the access method heap are.
 *
 * What mirrors nodeSeqscan.c: read_row(), next_slot(), rescan(), end_scan(),
 * and the four functions for parallel scans at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_scan.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/*
 * Bytes of the slots of a batch.  They stay in the first level of the cache
 * until the projection reads what was deformed for the test.
 */
#define BATCH_BYTES		12288

/*
 * The first bytes of a row to prefetch, if columns of it are read afterwards.
 * The processor would wait for them, as it cannot foresee which rows pass.
 */
#define CACHE_LINE		64
#define AHEAD_BYTES		256

/* If not all rows are wanted, a batch is 1 / AHEAD_SHARE of the rows before. */
#define AHEAD_SHARE		32

/* The state of a scan. */
typedef struct CuckooScanState
{
	CustomScanState css;
	ExprState  *all;			/* the conditions; NULL until needed */

	/* the user who began the scan */
	Oid			user;
	int			restrictions;

	/* what batches need */
	bool		batches;		/* are the next seven valid? */
	bool		altered;		/* was the test's function altered, so that it
								 * cannot be prepared? */
	CuckooTest	test;
	ExprState  *before;			/* the conditions before the test */
	ExprState  *after;			/* those after it */
	CuckooScanFilters filters;
	ExprState  *element;		/* the element of a row */
	uint32		expected;		/* the expected number of probes */
	uint32		ahead_bytes;	/* of a row that are prefetched */

	/* the table, and the row that was read last */
	TableScanDesc scan;			/* NULL before the first row */
	HeapTuple	tuple;			/* the row, or NULL if there is none */
	bool		ahead;			/* does the row belong to the next batch? */
	bool		ended;			/* is the whole table read? */
	bool		rescanned;		/* is this a rescan? */
	bool		started;		/* is to_end valid? */
	bool		to_end;			/* will the scan be read to its end? */
	int			asked;			/* rows before this batch, up to a limit */

	/* the batch: rows of one page */
	int			count;			/* its rows */
	int			next;			/* the next row to return */
	int			most;			/* the most rows of a batch */
	MemoryContext memory;		/* of the next four; NULL if there are none */
	HeapTupleData *tuples;
	TupleTableSlot **slots;		/* NULL until needed */
	uint64	   *hashes;
	bool	   *found;
	TupleDesc	desc;			/* of the slots */
	Buffer		buffer;			/* the page, if the batch has pinned it */
	TupleTableSlot *own_slot;	/* for a row that is not in a batch */
} CuckooScanState;

/* ---- execution ---- */

static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);
static Size estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
static void init_dsm(CustomScanState *node, ParallelContext *pcxt, void *pscan);
static void reinit_dsm(CustomScanState *node, ParallelContext *pcxt,
					   void *pscan);
static void init_worker(CustomScanState *node, shm_toc *toc, void *pscan);
static void explain(CustomScanState *node, List *ancestors, ExplainState *es);

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

/* May the user call the function of the test?  ExecInitExpr() would check. */
static void
check_execute(Oid function)
{
	AclResult	result = CUCKOO_ACL_EXECUTE(function);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* Makes what batches need, unless the function of the test was altered. */
static bool
prepare_batches(CuckooScanState *s)
{
	PlanState  *ps = &s->css.ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	int			test_no = list_nth_int(plan->custom_private,
									   CUCKOO_SCAN_TEST_NO);
	int			column = list_nth_int(plan->custom_private,
									  CUCKOO_SCAN_COLUMN);
	List	   *before = list_truncate(list_copy(plan->custom_exprs), test_no);
	List	   *after = list_copy_tail(plan->custom_exprs, test_no + 1);
	int			natts = RelationGetDescr(s->css.ss.ss_currentRelation)->natts;

	if (!cuckoo_take_apart(&s->test, list_nth(plan->custom_exprs, test_no)))
		return false;
	check_execute(s->test.function);
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	s->element = ExecInitExpr(s->test.element, ps);
	s->expected = list_nth_int(plan->custom_private, CUCKOO_SCAN_EXPECTED);
	/* count(*) reads no column of the rows that pass */
	s->ahead_bytes = after || ps->plan->targetlist ? AHEAD_BYTES : 0;
	cuckoo_init_filters(&s->filters, &s->test, ps->state,
						column > 0 ? linitial(s->css.custom_ps) : NULL, column);
	s->most = Max(Min(BATCH_BYTES / (sizeof(HeapTupleTableSlot) + natts *
									 (sizeof(Datum) + sizeof(bool))),
					  CUCKOO_BATCH_ROWS), 2);
	return true;
}

/*
 * Makes what batches need, or else the conditions for rows that are taken
 * alone.  The user may be another by now than the one who began the scan, whose
 * privileges count (a cursor of a function that is SECURITY DEFINER).
 */
static void
prepare(CuckooScanState *s, bool batches)
{
	PlanState  *ps = &s->css.ss.ps;
	MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);
	Oid			user;
	int			restrictions;

	GetUserIdAndSecContext(&user, &restrictions);
	SetUserIdAndSecContext(s->user, s->restrictions);
	if (batches)
		s->batches = prepare_batches(s);
	else
		s->all = ExecInitQual(((CustomScan *) ps->plan)->custom_exprs, ps);
	SetUserIdAndSecContext(user, restrictions);
	MemoryContextSwitchTo(caller);
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	CuckooScanState *s = (CuckooScanState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *filters = plan->custom_plans;
	int			test_no = list_nth_int(plan->custom_private,
									   CUCKOO_SCAN_TEST_NO);

	/* EvalPlanQual stores rows of pages there */
	CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, node,
								 RelationGetDescr(node->ss.ss_currentRelation),
								 &TTSOpsBufferHeapTuple);
	s->own_slot = node->ss.ss_ScanTupleSlot;
	GetUserIdAndSecContext(&s->user, &s->restrictions);
	if (filters == NIL)
	{
		/* what is computed is to be so once; what is compiled, at once */
		prepare(s, cuckoo_computes_filters(list_nth(plan->custom_exprs,
													test_no)) ||
				(estate->es_jit_flags & PGJIT_PERFORM) != 0);
		return;
	}
	node->custom_ps = list_make1(ExecInitNode(linitial(filters), estate,
											  eflags));
	prepare(s, true);
	if (!s->batches)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("function of the query was altered while the query ran"),
				 errdetail("The condition of a CuckooScan is no longer a test of a cuckoofilter."),
				 errhint("Run the query again.")));
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

/* The same forward, until the table's end, where it would begin again. */
static bool
read_next_row(CuckooScanState *s)
{
	if (!s->ended)
		s->ended = !read_row(s, ForwardScanDirection);
	return !s->ended;
}

/* The page of the row that was read last. */
static inline Buffer
row_buffer(const CuckooScanState *s)
{
	return ((HeapScanDesc) s->scan)->rs_cbuf;
}

/* That row, taken alone. */
static TupleTableSlot *
row_alone(CuckooScanState *s)
{
	return ExecStoreBufferHeapTuple(s->tuple, s->own_slot, row_buffer(s));
}

/* ---- batches ---- */

/* Are all rows wanted?  Nobody can tell before the second one. */
static bool
is_eager(CuckooScanState *s)
{
	if (s->asked == 0)
		return false;
	if (!s->started)
		s->to_end = cuckoo_reads_all(&s->css.ss.ps);
	s->started = true;
	return s->to_end;
}

/* The number of rows that the filters will be asked about, as far as known. */
static uint32
probes_to_come(CuckooScanState *s)
{
	return is_eager(s) ? s->expected : 1;
}

static void
release_batch(CuckooScanState *s)
{
	/* only the current row may still be in use */
	ExecClearTuple(s->css.ss.ss_ScanTupleSlot);
	s->css.ss.ss_ScanTupleSlot = s->own_slot;
	s->count = s->next = 0;
	if (BufferIsValid(s->buffer))
		ReleaseBuffer(s->buffer);
	s->buffer = InvalidBuffer;
}

/* Frees what reserve_batch() took for a batch that is released. */
static void
free_batch(CuckooScanState *s)
{
	if (s->memory != NULL)
		MemoryContextDelete(s->memory);
	s->memory = NULL;
}

/* Room for a batch. */
static void
reserve_batch(CuckooScanState *s)
{
	MemoryContext caller;

	s->memory = AllocSetContextCreate(s->css.ss.ps.state->es_query_cxt,
									  "CuckooScan batch",
									  ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(s->memory);
	/* a copy needs not be pinned by each slot */
	s->desc = CreateTupleDescCopyConstr(s->own_slot->tts_tupleDescriptor);
	s->slots = palloc0(s->most * sizeof(TupleTableSlot *));
	s->tuples = palloc(s->most * sizeof(HeapTupleData));
	s->hashes = palloc(s->most * sizeof(uint64));
	s->found = palloc(s->most * sizeof(bool));
	MemoryContextSwitchTo(caller);
}

/* Stores the row that was read last in the slot for the batch's next row. */
static TupleTableSlot *
next_slot(CuckooScanState *s)
{
	if (unlikely(s->slots[s->count] == NULL))
	{
		MemoryContext caller = MemoryContextSwitchTo(s->memory);

		s->slots[s->count] = CUCKOO_MAKE_ROW_SLOT(s->desc, &TTSOpsHeapTuple);
		MemoryContextSwitchTo(caller);
	}
	for (uint32 at = CACHE_LINE; at < Min(s->tuple->t_len, s->ahead_bytes);
		 at += CACHE_LINE)
		CUCKOO_PREFETCH((char *) s->tuple->t_data + at);
	s->tuples[s->count] = *s->tuple;
	return ExecStoreHeapTuple(&s->tuples[s->count], s->slots[s->count], false);
}

/*
 * Adds the row to the batch, unless a condition before the test fails, or the
 * element is null, or there is no filter.
 */
static bool
add_row(CuckooScanState *s)
{
	ExprContext *econtext = s->css.ss.ps.ps_ExprContext;
	MemoryContext caller;
	Datum		element;
	bool		isnull;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = next_slot(s);
	if (!ExecQual(s->before, econtext))
		return false;

	/*
	 * the filter's expression may raise an error, even if all elements are
	 * null
	 */
	if (!s->filters.evaluated)
		cuckoo_eval_filters(&s->filters, econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	element = ExecEvalExpr(s->element, econtext, &isnull);
	isnull |= s->filters.none;
	if (!isnull)
	{
		int			i = s->count++;

		if (!s->filters.opened)
			cuckoo_open_filters(&s->filters, probes_to_come(s));
		if (!s->filters.together)
			s->found[i] = cuckoo_ask_one_by_one(&s->filters, element);
		else if (s->filters.first != NULL)
			s->hashes[i] = cuckoo_hash(s->filters.hasher, element,
									   s->filters.first->header->seed);
	}
	MemoryContextSwitchTo(caller);
	return !isnull;
}

/* Makes the next batch.  Returns false at the end of the table. */
static bool
next_batch(CuckooScanState *s)
{
	int			limit = Min(1 + s->asked / AHEAD_SHARE, s->most);
	int			n = 0;

	release_batch(s);
	if (!s->ahead && !read_next_row(s))
	{
		/* a table may have a thousand partitions, each with such a scan */
		if (!s->rescanned)
			free_batch(s);
		return false;
	}
	if (s->memory == NULL)
		reserve_batch(s);
	if (is_eager(s))
		limit = s->most;
	/* another type by now: one by one the filters would notice */
	if (s->filters.hasher != NULL &&
		!cuckoo_hasher_is_current(s->filters.hasher))
		cuckoo_close_filters(&s->filters);
	/* fetch stored filters if it pays by now, or use those already fetched */
	if (s->filters.opened && !s->filters.together)
		cuckoo_open_filters(&s->filters, probes_to_come(s));
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
		else if (s->count == 1 && limit > 1)
		{
			s->buffer = row_buffer(s);
			IncrBufferRefCount(s->buffer);
		}
		/* rows before the first one that is added are not read ahead */
		n += s->count > 0;
		s->ahead = n < limit && read_next_row(s);
	} while (s->ahead && (s->count == 0 || row_buffer(s) == s->buffer));
	s->asked = Min(s->asked + s->count, AHEAD_SHARE * CUCKOO_BATCH_ROWS);
	if (s->count > 0 && s->filters.together)
		cuckoo_ask_together(&s->filters, s->hashes, s->count, s->found);
	return true;
}

/* ---- rows ---- */

/* Does a row that is not in a batch pass all conditions? */
static bool
row_passes(ScanState *node, TupleTableSlot *row)
{
	CuckooScanState *s = (CuckooScanState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;

	/* there is always one condition, the test */
	if (s->all == NULL)
		prepare(s, false);
	econtext->ecxt_scantuple = row;
	return ExecQual(s->all, econtext);
}

/*
 * The row before the one that was returned last, for cursors.  First the
 * table's scan has to go back over the rows that were read ahead.
 */
static TupleTableSlot *
previous_row(CuckooScanState *s)
{
	ScanState  *node = &s->css.ss;
	ItemPointerData last;
	bool		passed = s->next == 0;

	if (!passed)
	{
		last = s->slots[s->next - 1]->tts_tid;
		passed = !s->ended && ItemPointerEquals(&s->tuple->t_self, &last);
	}
	release_batch(s);
	s->ahead = s->ended = false;
	while (read_row(s, BackwardScanDirection))
	{
		if (!passed)
			passed = ItemPointerEquals(&s->tuple->t_self, &last);
		else if (row_passes(node, row_alone(s)))
			return s->own_slot;
		else
			InstrCountFiltered1(node, 1);
		ResetExprContext(node->ps.ps_ExprContext);
	}
	ExecClearTuple(s->own_slot);
	return NULL;
}

/* Are there batches?  They begin when one would be more than a row. */
static bool
has_batches(CuckooScanState *s)
{
	if (!s->batches && !s->altered &&
		(is_eager(s) || s->asked >= AHEAD_SHARE))
	{
		prepare(s, true);
		s->altered = !s->batches;
	}
	return s->batches;
}

/* The next row that passes, if there is one before batches begin. */
static TupleTableSlot *
next_row_alone(CuckooScanState *s)
{
	ScanState  *node = &s->css.ss;

	while (!has_batches(s) && read_next_row(s))
	{
		s->asked = Min(s->asked + 1, AHEAD_SHARE);
		if (row_passes(node, row_alone(s)))
			return s->own_slot;
		InstrCountFiltered1(node, 1);
		ResetExprContext(node->ps.ps_ExprContext);
	}
	ExecClearTuple(s->own_slot);
	return NULL;
}

/* The next row of the batches that passes the test and the conditions after. */
static TupleTableSlot *
next_row(CuckooScanState *s)
{
	ScanState  *node = &s->css.ss;
	ExprContext *econtext = node->ps.ps_ExprContext;

	if (!s->batches)
	{
		TupleTableSlot *row = next_row_alone(s);

		if (!s->batches)
			return row;
	}
	do
	{
		while (s->next < s->count)
		{
			int			i = s->next++;

			if (s->found[i] != s->test.negated)
			{
				econtext->ecxt_scantuple = s->slots[i];
				if (ExecQual(s->after, econtext))
					return s->slots[i];
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
	TupleTableSlot *row =
		ScanDirectionIsBackward(node->ps.state->es_direction) ?
		previous_row(s) : next_row(s);

	/* WHERE CURRENT OF looks there for the current row */
	if (row != NULL)
		node->ss_ScanTupleSlot = row;
	return row;
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

	release_batch(s);
	if (s->batches)
		cuckoo_forget_filters(&s->filters);
	if (s->scan != NULL)
		table_endscan(s->scan);
	if (s->filters.rows != NULL)
		ExecEndNode(s->filters.rows);
}

static void
rescan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	release_batch(s);
	if (s->batches)
		cuckoo_forget_filters(&s->filters);
	s->ahead = s->ended = false;
	s->rescanned = true;
	s->asked = 0;
	if (s->scan != NULL)
		table_rescan(s->scan, NULL);
	if (s->filters.rows != NULL)
	{
		PlanState  *filters = s->filters.rows;

		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(filters, node->ss.ps.chgParam);
		/* else ExecProcNode() does that */
		if (filters->chgParam == NULL)
			ExecReScan(filters);
	}
	ExecScanReScan(&node->ss);
}

/* Shows what EXPLAIN shows of a sequential scan. */
static void
explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, ps->plan,
												   ancestors);
	CustomScan *plan = (CustomScan *) ps->plan;
	Expr	   *conditions = make_ands_explicit(plan->custom_exprs);
	bool		prefixes = es->verbose || s->filters.rows != NULL;

	ExplainPropertyText("Filter",
						deparse_expression((Node *) conditions, context,
										   prefixes, false), es);
	if (es->analyze && ps->instrument != NULL &&
		(ps->instrument->nfiltered1 > 0 || es->format != EXPLAIN_FORMAT_TEXT))
		ExplainPropertyFloat("Rows Removed by Filter", NULL,
							 ps->instrument->nfiltered1 /
							 Max(ps->instrument->nloops, 1), 0, es);
}

static Size
estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return table_parallelscan_estimate(node->ss.ss_currentRelation,
									   node->ss.ps.state->es_snapshot);
}

static void
init_dsm(CustomScanState *node, ParallelContext *pcxt, void *pscan)
{
	CuckooScanState *s = (CuckooScanState *) node;

	table_parallelscan_initialize(node->ss.ss_currentRelation, pscan,
								  node->ss.ps.state->es_snapshot);
	s->scan = CUCKOO_BEGIN_SCAN_PARALLEL(&node->ss, pscan);
}

static void
reinit_dsm(CustomScanState *node, ParallelContext *pcxt, void *pscan)
{
	table_parallelscan_reinitialize(node->ss.ss_currentRelation, pscan);
}

static void
init_worker(CustomScanState *node, shm_toc *toc, void *pscan)
{
	((CuckooScanState *) node)->scan =
		CUCKOO_BEGIN_SCAN_PARALLEL(&node->ss, pscan);
}

void
cuckoo_scan_init(void)
{
	RegisterCustomScanMethods(&cuckoo_scan_methods);
}
