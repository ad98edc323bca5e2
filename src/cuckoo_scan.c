/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.c
 *		Sequential scans that ask a filter about the rows of a page at a time.
 *
 * A filter beyond the processor's cache costs a wait for memory for each row,
 * which the executor cannot hide, as it has done with a row before it knows the
 * next.  This custom scan (access/extensible.h) takes the rows of a page,
 * hashes the element of each, looks for all of them with one
 * cuckoo_contains_batch(), and gives out the rows that pass.  For the rest it
 * is a sequential scan: the same rows in the same order, the other conditions
 * before and after in the planner's order (on which row-level security
 * depends), forward and backward, parallel where that would be, and each row
 * checked anew when EvalPlanQual asks for it.  cuckoo_scan_plan.c says where
 * the planner chooses it.
 *
 * A test may be of several filters, of which one is to contain the element:
 * those of an array, or those that a sub-plan gives.  They are asked one after
 * the other, each about the rows that none before it contains.
 *
 * What shows is that expressions are evaluated a few rows early: for rows that
 * are not asked for, where an error may come, and before what the query does
 * with the rows in between.  Where the plan and the executor's caller say that
 * the scan is read to its end (reads_all()) a batch is a page's rows.  Else a
 * batch is a small share of the rows read so far, from one row on, so that a
 * query that stops early pays for few rows more than it asks for.  For the same
 * reason a stored filter is fetched before the first row only where the scan is
 * read to its end and the planner expects enough rows; else it is probed by
 * slices until it pays to fetch it (cuckoo_cache.c), as in a sequential scan.
 *
 * A row of a batch has a slot of its own, so what is deformed for the test
 * needs not be deformed again for the projection.  Rows are not copied: their
 * page is pinned while they are looked at and given out.  So the scan is for
 * tables whose rows are in shared buffers, as those of the access method heap.
 *
 * What mirrors nodeSeqscan.c: read_row(), rescan(), end_scan(), and the four
 * functions for parallel scans at the end.
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
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/*
 * Rows looked at together: enough for their waits for memory to overlap, and
 * few enough for their slots to stay in the first level of the cache, where the
 * projection looks for what was deformed for the test.
 */
#define BATCH_ROWS		128
#define BATCH_BYTES		12288

/* A batch is at most this part of the rows before it, if not all are wanted. */
#define AHEAD_SHARE		32

static ExecutorRun_hook_type next_run_hook;

/* Rows that the caller of the running executor wants; 0 for all. */
static uint64 rows_wanted;

/* A filter of the test, and the call that asks it. */
typedef struct ScanFilter
{
	FunctionCallInfo call;		/* of the test; lends its call site */
	CuckooSite	site;			/* zero if not opened */
} ScanFilter;

/* The state of a scan. */
typedef struct CuckooScanState
{
	CustomScanState css;
	ExprState  *before;			/* the conditions before the test */
	ExprState  *after;			/* those after it */
	ExprState  *all;			/* with the test, made when needed */
	CuckooTest	test;
	uint32		expected;		/* rows it is expected to be asked about */

	/* the filters: from an expression, or a column of custom_ps's only one */
	ExprState  *element;
	ExprState  *expression;
	int			column;
	MemoryContext filter_memory;	/* their values', until a rescan */
	bool		evaluated;		/* they are there, for this scan */
	ScanFilter *filters;
	int			filter_count;
	int			filter_room;
	bool		opened;			/* and at hand, as far as they will be: */
	bool		together;		/* they can be asked about batches */
	const CuckooSite *first;	/* the first that has items, or NULL */
	const CuckooHasher *hasher; /* of all of them, or NULL */

	/* the table, and the row of it that was read last */
	TableScanDesc scan;			/* NULL before the first row */
	HeapTuple	tuple;			/* of the scan; NULL if there is none */
	bool		ahead;			/* it belongs to the next batch */
	bool		ended;			/* all of it is read */
	bool		rescanned;		/* this is not its first time */
	bool		started;		/* the next is known: */
	bool		to_end;			/* the scan will be read to its end */
	int			asked;			/* rows of former batches, up to some */

	/* the batch: rows of one page, and the next to give out */
	int			count;
	int			next;
	int			room;			/* of these: */
	HeapTupleData *tuples;
	TupleTableSlot **slots;		/* NULL where not yet needed */
	uint64	   *hashes;
	bool	   *found;
	MemoryContext memory;		/* of these; NULL for a batch of one: */
	HeapTupleData one_tuple;
	TupleTableSlot *one_slot;
	TupleTableSlot *no_slot;	/* where there is no current row */
	uint64		one_hash;
	bool		one_found;
	TupleDesc	desc;			/* of the slots */
	Buffer		buffer;			/* the page, pinned by a batch of more */
	int			most;			/* rows of a batch */
} CuckooScanState;

/* ---- will the scan be read to its end? ---- */

/*
 * Is `node`, somewhere below `plan`, read to its end once it is begun, if the
 * output of `plan` is (`all`) or is not?
 */
static bool
is_read_to_end(Plan *plan, const Plan *node, bool all)
{
	List	   *children = NIL;
	bool		outer = all;
	bool		inner = all;
	ListCell   *cell;

	if (plan == NULL)
		return false;
	if (plan == node)
		return all;
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_Hash:
			outer = true;
			break;
		case T_Agg:
			/* groups of sorted rows come one by one */
			outer = all || ((Agg *) plan)->aggstrategy == AGG_HASHED ||
				((Agg *) plan)->numCols == 0;
			break;
		case T_ModifyTable:
		case T_Gather:
		case T_GatherMerge:
		case T_Result:
		case T_ProjectSet:
		case T_Material:
		case T_LockRows:
		case T_HashJoin:
			break;
		case T_NestLoop:
			inner = all && !((Join *) plan)->inner_unique &&
				((Join *) plan)->jointype != JOIN_SEMI &&
				((Join *) plan)->jointype != JOIN_ANTI;
			break;
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_SubqueryScan:
			children = list_make1(((SubqueryScan *) plan)->subplan);
			break;
		default:
			/* what may end early, as a limit, and what is not known */
			outer = inner = false;
	}
	foreach(cell, children)
		if (is_read_to_end(lfirst(cell), node, all))
			return true;
	return is_read_to_end(outerPlan(plan), node, outer) ||
		is_read_to_end(innerPlan(plan), node, inner);
}

/* Is the scan read to its end, as far as the plan and our caller can tell? */
static bool
reads_all(const CuckooScanState *s)
{
	const Plan *plan = s->css.ss.ps.plan;
	PlannedStmt *statement = s->css.ss.ps.state->es_plannedstmt;
	ListCell   *cell;

	check_stack_depth();
	if (is_read_to_end(statement->planTree, plan, rows_wanted == 0))
		return true;
	/* nobody knows how many rows of a sub-select or CTE are wanted */
	foreach(cell, statement->subplans)
		if (is_read_to_end(lfirst(cell), plan, false))
			return true;
	return false;
}

/* Notes how many rows are wanted while the executor runs. */
static void
run_executor(CUCKOO_EXECUTOR_RUN_PARAMETERS)
{
	uint64		outer = rows_wanted;

	rows_wanted = count;
	PG_TRY();
	{
		if (next_run_hook)
			next_run_hook(CUCKOO_EXECUTOR_RUN_ARGUMENTS);
		else
			standard_ExecutorRun(CUCKOO_EXECUTOR_RUN_ARGUMENTS);
	}
	PG_FINALLY();
	{
		rows_wanted = outer;
	}
	PG_END_TRY();
}

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
static void reserve_one(CuckooScanState *s);

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

/* May the user call the function of the test?  ExecInitExpr() would ask. */
static void
check_execute(Oid function)
{
	AclResult	result = CUCKOO_ACL_EXECUTE(function);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	TupleDesc	desc = RelationGetDescr(node->ss.ss_currentRelation);
	int			test_no = list_nth_int(plan->custom_private,
									   CUCKOO_SCAN_TEST_NO);
	List	   *before = list_truncate(list_copy(plan->custom_exprs), test_no);
	List	   *after = list_copy_tail(plan->custom_exprs, test_no + 1);

	/* EvalPlanQual stores rows of pages there */
	CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, node, desc, &TTSOpsBufferHeapTuple);
	s->no_slot = node->ss.ss_ScanTupleSlot;
	s->one_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsHeapTuple);
	reserve_one(s);
	s->most = Max(Min(BATCH_BYTES / (sizeof(HeapTupleTableSlot) + desc->natts *
									 (sizeof(Datum) + sizeof(bool))),
					  BATCH_ROWS), 2);

	/* a worker comes later than the plan: the function may be another now */
	if (!cuckoo_take_apart(&s->test, list_nth(plan->custom_exprs, test_no)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("function of the query was altered while the query ran"),
				 errdetail("The condition of a CuckooScan is no longer a test of a cuckoofilter."),
				 errhint("Run the query again.")));
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	s->element = ExecInitExpr(s->test.element, ps);
	s->expected = list_nth_int(plan->custom_private, CUCKOO_SCAN_EXPECTED);
	s->column = list_nth_int(plan->custom_private, CUCKOO_SCAN_COLUMN);
	if (s->column > 0)
		node->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans),
												  estate, eflags));
	else
		/* evaluated once a scan, so it has no parent that would compile it */
		s->expression = ExecInitExprWithParams(s->test.filter,
											   estate->es_param_list_info);
	s->filter_memory = AllocSetContextCreate(estate->es_query_cxt,
											 "CuckooScan filters",
											 ALLOCSET_SMALL_SIZES);
	check_execute(s->test.function);
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

/* The page of that row. */
static inline Buffer
row_buffer(const CuckooScanState *s)
{
	return ((HeapScanDesc) s->scan)->rs_cbuf;
}

/* ---- the filters ---- */

/* Adds a filter, of which the value is to live in filter_memory. */
static void
add_filter(CuckooScanState *s, Datum value, bool isnull)
{
	MemoryContext caller =
		MemoryContextSwitchTo(s->css.ss.ps.state->es_query_cxt);
	ScanFilter *filter;

	if (s->filter_count == s->filter_room)
	{
		int			room = Max(2 * s->filter_room, 1);

		s->filters = s->filters == NULL ? palloc(room * sizeof(ScanFilter)) :
			repalloc(s->filters, room * sizeof(ScanFilter));
		memset(s->filters + s->filter_room, 0,
			   (room - s->filter_room) * sizeof(ScanFilter));
		s->filter_room = room;
	}
	filter = &s->filters[s->filter_count++];
	if (filter->call == NULL)
	{
		FmgrInfo   *function = palloc(sizeof(FmgrInfo));

		fmgr_info_copy(function, &s->test.info, CurrentMemoryContext);
		fmgr_info_set_expr(s->test.call, function);
		filter->call = palloc0(SizeForFunctionCallInfo(2));
		InitFunctionCallInfoData(*filter->call, function, 2,
								 s->test.collation, NULL, NULL);
	}
	filter->call->args[s->test.filter_no].value = value;
	filter->call->args[s->test.filter_no].isnull = isnull;
	MemoryContextSwitchTo(caller);
}

/* Adds the filters of an array. */
static void
add_array(CuckooScanState *s, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		add_filter(s, values[i], nulls[i]);
}

/* Adds the filters that the sub-plan gives. */
static void
add_rows(CuckooScanState *s, PlanState *rows)
{
	for (;;)
	{
		TupleTableSlot *row = ExecProcNode(rows);
		Datum		value;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(row))
			break;
		value = slot_getattr(row, s->column, &isnull);
		if (!isnull)
		{
			MemoryContext caller =
				MemoryContextSwitchTo(s->filter_memory);

			/* what is TOASTed stays so */
			value = datumCopy(value, false, -1);
			MemoryContextSwitchTo(caller);
		}
		add_filter(s, value, isnull);
	}
}

/* Adds the one of an expression, or those of its array. */
static void
add_values(CuckooScanState *s)
{
	MemoryContext caller =
		MemoryContextSwitchTo(s->filter_memory);
	bool		isnull;
	Datum		value = ExecEvalExpr(s->expression, s->css.ss.ps.ps_ExprContext,
									 &isnull);

	if (!s->test.any)
		add_filter(s, value, isnull);
	else if (!isnull)
		add_array(s, value);
	MemoryContextSwitchTo(caller);
}

/* Finds out what the filters are. */
static void
eval_filters(CuckooScanState *s)
{
	s->evaluated = true;
	if (s->column > 0)
		add_rows(s, linitial(s->css.custom_ps));
	else
		add_values(s);
}

/*
 * Opens the filters, as far as they are not, for so many probes.  They can be
 * asked together if all are at hand, have one seed, and take the elements.  If
 * one does not, it is asked row by row, for the error to come when it is asked.
 */
static void
open_filters(CuckooScanState *s, uint32 probes)
{
	MemoryContext caller =
		MemoryContextSwitchTo(s->filter_memory);

	s->opened = s->together = true;
	s->first = NULL;
	for (int i = 0; i < s->filter_count; i++)
	{
		FunctionCallInfo call = s->filters[i].call;
		CuckooSite *site = &s->filters[i].site;

		if (call->args[s->test.filter_no].isnull)
			continue;
		if (site->image == NULL)
			cuckoo_open_site(site, call, s->test.filter_no, probes);
		s->hasher = site->hasher;
		if (site->image == NULL || !site->fits)
			s->together = false;
		else if (site->header->items == 0)
			continue;
		else if (s->first == NULL)
			s->first = site;
		else if (site->header->seed != s->first->header->seed)
			s->together = false;
	}
	MemoryContextSwitchTo(caller);
}

static void
close_filters(CuckooScanState *s)
{
	for (int i = 0; i < s->filter_count; i++)
		cuckoo_close_site(&s->filters[i].site);
	s->first = NULL;
	s->hasher = NULL;
	s->opened = s->together = false;
}

/* Forgets the filters, whose expression may then have another value. */
static void
forget_filters(CuckooScanState *s)
{
	close_filters(s);
	s->filter_count = 0;
	s->evaluated = false;
	MemoryContextReset(s->filter_memory);
}

/* Does one of the filters contain an element?  Asks them as calls would. */
static bool
ask_one_by_one(CuckooScanState *s, Datum element)
{
	for (int i = 0; i < s->filter_count; i++)
	{
		FunctionCallInfo call = s->filters[i].call;

		call->args[1 - s->test.filter_no].value = element;
		if (!call->args[s->test.filter_no].isnull &&
			DatumGetBool(FunctionCallInvoke(call)))
			return true;
	}
	return false;
}

/* The same for the rows of the batch, by their hashes. */
static void
ask_together(CuckooScanState *s)
{
	uint64		hashes[BATCH_ROWS];
	int			rows[BATCH_ROWS];
	bool		found[BATCH_ROWS];

	if (s->first == NULL)
	{
		memset(s->found, 0, s->count * sizeof(bool));
		return;
	}
	if (s->count == 1)
		s->found[0] = cuckoo_contains(s->first->header, s->first->image,
									  s->hashes[0]);
	else
		cuckoo_contains_batch(s->first->header, s->first->image, s->hashes,
							  s->count, s->found);
	for (int i = 0; i < s->filter_count; i++)
	{
		const CuckooSite *site = &s->filters[i].site;
		int			n = 0;

		if (site == s->first || site->image == NULL || site->header->items == 0)
			continue;
		for (int row = 0; row < s->count; row++)
			if (!s->found[row])
			{
				hashes[n] = s->hashes[row];
				rows[n++] = row;
			}
		if (n == 0)
			break;
		cuckoo_contains_batch(site->header, site->image, hashes, n, found);
		for (int j = 0; j < n; j++)
			s->found[rows[j]] = found[j];
	}
}

/* ---- batches ---- */

static void
release_batch(CuckooScanState *s)
{
	/* nobody looks at others than the current row */
	ExecClearTuple(s->css.ss.ss_ScanTupleSlot);
	s->count = s->next = 0;
	if (BufferIsValid(s->buffer))
		ReleaseBuffer(s->buffer);
	s->buffer = InvalidBuffer;
}

/* Room for a batch of one row, instead of that of one released. */
static void
reserve_one(CuckooScanState *s)
{
	/* the executor still looks at the current row */
	s->css.ss.ss_ScanTupleSlot = s->no_slot;
	if (s->memory != NULL)
		MemoryContextDelete(s->memory);
	s->memory = NULL;
	s->tuples = &s->one_tuple;
	s->slots = &s->one_slot;
	s->hashes = &s->one_hash;
	s->found = &s->one_found;
	s->room = 1;
}

/* Room for as many rows as a batch has, instead of that of one released. */
static void
reserve_batch(CuckooScanState *s)
{
	MemoryContext caller;

	reserve_one(s);
	s->memory = AllocSetContextCreate(s->css.ss.ps.state->es_query_cxt,
									  "CuckooScan batch",
									  ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(s->memory);
	/* a copy needs not be pinned by each slot */
	s->desc = CreateTupleDescCopyConstr(s->one_slot->tts_tupleDescriptor);
	s->slots = palloc0(s->most * sizeof(TupleTableSlot *));
	s->tuples = palloc(s->most * sizeof(HeapTupleData));
	s->hashes = palloc(s->most * sizeof(uint64));
	s->found = palloc(s->most * sizeof(bool));
	s->room = s->most;
	MemoryContextSwitchTo(caller);
}

/* The row that was read last in the slot for the next row of the batch. */
static TupleTableSlot *
next_slot(CuckooScanState *s)
{
	if (unlikely(s->slots[s->count] == NULL))
	{
		MemoryContext caller = MemoryContextSwitchTo(s->memory);

		s->slots[s->count] = CUCKOO_MAKE_ROW_SLOT(s->desc, &TTSOpsHeapTuple);
		MemoryContextSwitchTo(caller);
	}
	s->tuples[s->count] = *s->tuple;
	return ExecStoreHeapTuple(&s->tuples[s->count], s->slots[s->count], false);
}

/*
 * Adds the row to the batch, unless the conditions before the test are against
 * it, or the element or all filters are null.
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
	/* an error of the filter's expression comes even for null elements only */
	if (!s->evaluated)
		eval_filters(s);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	element = ExecEvalExpr(s->element, econtext, &isnull);
	isnull |= s->filter_count == 0 ||
		(s->filter_count == 1 &&
		 s->filters[0].call->args[s->test.filter_no].isnull);
	if (!isnull)
	{
		int			i = s->count++;

		if (!s->opened)
			open_filters(s, 1);
		if (!s->together)
			s->found[i] = ask_one_by_one(s, element);
		else if (s->first != NULL)
			s->hashes[i] = cuckoo_hash(s->hasher, element,
									   s->first->header->seed);
	}
	MemoryContextSwitchTo(caller);
	return !isnull;
}

/* Makes the next batch; false at the end of the table. */
static bool
next_batch(CuckooScanState *s)
{
	int			limit;
	int			n = 0;

	release_batch(s);
	if (!s->ahead && (s->ended || !read_row(s, ForwardScanDirection)))
	{
		/* or the table would begin again */
		s->ended = true;

		/* a table may have a thousand partitions, each with such a scan */
		if (!s->rescanned)
			reserve_one(s);
		return false;
	}
	if (!s->started)
		s->to_end = reads_all(s);
	s->started = true;
	/* if only the first row is wanted after all, nothing more is done for it */
	if (s->to_end && s->asked > 0)
		limit = s->most;
	else
		limit = Min(1 + s->asked / AHEAD_SHARE, s->most);
	if (limit > s->room)
		reserve_batch(s);
	/* another type by now: one by one the filters would notice */
	if (s->hasher != NULL && !cuckoo_hasher_is_current(s->hasher))
		close_filters(s);
	/* it pays to fetch stored filters now, or others have done so */
	if (s->opened && !s->together)
		open_filters(s, s->to_end ? s->expected : 1);
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
		else if (s->count == 1 && limit > 1)
		{
			s->buffer = row_buffer(s);
			IncrBufferRefCount(s->buffer);
		}
		/* rows before the first that is added are not ahead of anything */
		n += s->count > 0;
		s->ahead = n < limit && read_row(s, ForwardScanDirection);
		s->ended = s->tuple == NULL;
	} while (s->ahead && (s->count == 0 || row_buffer(s) == s->buffer));
	s->asked = Min(s->asked + s->count, AHEAD_SHARE * BATCH_ROWS);
	if (s->count > 0 && s->together)
		ask_together(s);
	return true;
}

/* ---- rows ---- */

/* Does a row pass all conditions?  For those that are not of a batch. */
static bool
row_passes(ScanState *node, TupleTableSlot *row)
{
	CuckooScanState *s = (CuckooScanState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;

	if (s->all == NULL)
	{
		EState	   *estate = node->ps.state;
		MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);

		s->all = ExecInitQual(((CustomScan *) node->ps.plan)->custom_exprs,
							  &node->ps);
		MemoryContextSwitchTo(caller);
	}
	econtext->ecxt_scantuple = row;
	return ExecQual(s->all, econtext);
}

/*
 * The row before the one that was given out last, for cursors.  First the
 * table's scan has to go back from the rows that were read ahead to that one.
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
		else if (row_passes(node, next_slot(s)))
			return s->slots[0];
		else
			InstrCountFiltered1(node, 1);
		ResetExprContext(node->ps.ps_ExprContext);
	}
	return NULL;
}

/* The next row of the batches that passes test and conditions after it. */
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

	/* where others look for the current row (WHERE CURRENT OF) */
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
	forget_filters(s);
	if (s->scan != NULL)
		table_endscan(s->scan);
	if (s->column > 0)
		ExecEndNode(linitial(node->custom_ps));
}

static void
rescan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	release_batch(s);
	forget_filters(s);
	s->ahead = s->ended = false;
	s->rescanned = true;
	s->asked = 0;
	if (s->scan != NULL)
		table_rescan(s->scan, NULL);
	if (s->column > 0)
	{
		PlanState  *filters = linitial(node->custom_ps);

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
	bool		prefixes = es->verbose || s->column > 0;

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
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}
