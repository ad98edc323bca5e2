/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.c
 *		Sequential scans that ask a filter about the rows of a page at a time.
 *
 * A filter beyond the processor's cache costs a wait for memory for each row,
 * which the executor cannot hide, as it has done with a row before it knows the
 * next.  So for
 *
 *		SELECT ... FROM table WHERE [NOT] cf_contains(filter, expression)
 *
 * and the operators alike, with one filter for the whole scan, the planner is
 * given a custom scan (access/extensible.h) in place of its sequential one.
 * It takes the rows of a page, hashes the element of each, looks for all of them
 * with one cuckoo_contains_batch(), and gives out the rows that pass.  For the
 * rest it is a sequential scan: the same rows in the same order, the other
 * conditions before and after in the planner's order (on which row-level
 * security depends), forward and backward, parallel where that would be, and
 * each row checked anew when EvalPlanQual asks for it.  Where the filter comes
 * from another table, in a join, it is the inner side of a nested loop.
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
 * A row of a batch has a slot of its own, so what is deformed for the test needs
 * not be deformed again for the projection.  Rows are not copied: their page is
 * pinned while they are looked at and given out.  So the scan is for tables whose
 * rows are in shared buffers, as those of the access method heap.
 *
 * The hooks are set when the library is loaded.  That is before a query with one
 * of our functions gets its paths, as planning calls their support functions.
 * cuckoo.enable_scan = off takes the scan away.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* Rows looked at together; few pages have more. */
#define BATCH_ROWS		256

/* A batch is at most this part of the rows before it, if not all are wanted. */
#define AHEAD_SHARE		32

/* Tables of fewer rows are not worth another kind of scan. */
#define MIN_ROWS		1000

/*
 * What the scan saves for each row, in cpu_operator_cost: the call of the test
 * through the function manager, about half of its time (the rest is the hash).
 * Waits for memory, which it saves besides, are in no cost.
 */
#define SAVED_COST		0.5

static bool enable_scan = true;
static set_rel_pathlist_hook_type next_pathlist_hook;
static ExecutorRun_hook_type next_run_hook;

/* Rows that the caller of the running executor wants; 0 for all. */
static uint64 rows_wanted;

/* A condition taken apart: [NOT] cf_contains(...), or that of an operator. */
typedef struct Test
{
	bool		negated;
	Node	   *call;
	Oid			function;
	Oid			collation;
	Expr	   *filter;
	Expr	   *element;
	int			filter_no;		/* number of the argument, 0 or 1 */
} Test;

/* The state of a scan. */
typedef struct CuckooScanState
{
	CustomScanState css;
	ExprState  *before;			/* the conditions before the test */
	ExprState  *after;			/* those after it */
	ExprState  *all;			/* with the test, made when needed */
	bool		negated;		/* the test is NOT cf_contains(...) */

	/* the call of the test, which lends its call site */
	FunctionCallInfo call;
	int			filter_no;		/* number of the filter among its arguments */
	ExprState  *filter;
	ExprState  *element;
	ExprContext *filter_context;	/* the filter's memory, until a rescan */
	uint32		expected;		/* rows it is expected to be asked about */
	bool		evaluated;		/* the filter is there, for this scan */
	CuckooSite	site;			/* hasher is NULL before it is opened */

	/* the table, and the row of it that was read last */
	TableScanDesc scan;			/* NULL before the first row */
	TupleTableSlot *row;
	bool		ahead;			/* it belongs to the next batch */
	bool		ended;			/* there is none */
	bool		started;		/* the next is known: */
	bool		to_end;			/* the scan will be read to its end */
	uint64		read;			/* rows of former batches */

	/* the batch: rows of one page, which is pinned, and the next to give out */
	Buffer		buffer;
	int			count;
	int			next;
	HeapTupleData tuples[BATCH_ROWS];
	TupleTableSlot *slots[BATCH_ROWS];	/* NULL where not yet needed */
	uint64		hashes[BATCH_ROWS];
	bool		found[BATCH_ROWS];
} CuckooScanState;

/* ---- planning ---- */

/* Takes a condition apart; false if it is no test of a filter. */
static bool
take_apart(Test *test, Node *condition)
{
	List	   *args;
	FmgrInfo	info;

	test->negated = is_notclause(condition);
	if (test->negated)
		condition = (Node *) get_notclausearg((Expr *) condition);
	test->call = condition;
	if (IsA(condition, FuncExpr))
	{
		test->function = ((FuncExpr *) condition)->funcid;
		test->collation = ((FuncExpr *) condition)->inputcollid;
		args = ((FuncExpr *) condition)->args;
	}
	else if (IsA(condition, OpExpr))
	{
		test->function = ((OpExpr *) condition)->opfuncid;
		test->collation = ((OpExpr *) condition)->inputcollid;
		args = ((OpExpr *) condition)->args;
	}
	else
		return false;

	/* ours have a support function, few others do */
	if (list_length(args) != 2 || !OidIsValid(get_func_support(test->function)))
		return false;
	fmgr_info(test->function, &info);
	if (info.fn_addr != cf_contains && info.fn_addr != cf_contained)
		return false;
	test->filter_no = info.fn_addr == cf_contains ? 0 : 1;
	test->filter = list_nth(args, test->filter_no);
	test->element = list_nth(args, 1 - test->filter_no);
	return true;
}

/* Is it a test of one filter for all rows of a relation? */
static bool
is_scan_test(Node *condition, Index relid)
{
	Test		test;
	ListCell   *cell;

	if (!take_apart(&test, condition))
		return false;
	foreach(cell, pull_vars_of_level((Node *) test.filter, 0))
	{
		Var		   *var = lfirst(cell);

		if (!IsA(var, Var) || (Index) var->varno == relid)
			return false;
	}
	return true;
}

/* Is one of the conditions such a test? */
static bool
has_scan_test(List *conditions, Index relid)
{
	ListCell   *cell;

	foreach(cell, conditions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (!rinfo->pseudoconstant && is_scan_test((Node *) rinfo->clause, relid))
			return true;
	}
	return false;
}

/*
 * Can the conditions be checked for rows ahead?  Sub-plans would have to be
 * initialised more than once; what volatile functions do depends on the row
 * that the query is at.
 */
static bool
can_look_ahead(List *conditions)
{
	ListCell   *cell;

	foreach(cell, conditions)
	{
		Node	   *condition = (Node *) lfirst_node(RestrictInfo, cell)->clause;

		if (contain_subplans(condition) || contain_volatile_functions(condition))
			return false;
	}
	return true;
}

/* Are a table's rows in shared buffers? */
static bool
is_in_buffers(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = table_slot_callbacks(rel) == &TTSOpsBufferHeapTuple;

	table_close(rel, NoLock);
	return result;
}

static Plan *plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
					   List *tlist, List *clauses, List *custom_plans);
static Node *create_scan_state(CustomScan *cscan);

static const CustomPathMethods path_methods = {
	.CustomName = "CuckooScan",
	.PlanCustomPath = plan_scan
};

static const CustomScanMethods scan_methods = {
	.CustomName = "CuckooScan",
	.CreateCustomScanState = create_scan_state
};

/* The scan in place of a sequential one. */
static CustomPath *
scan_path(Path *seqscan)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *seqscan;
	path->path.total_cost -= SAVED_COST * cpu_operator_cost *
		seqscan->parent->tuples / (seqscan->parallel_workers + 1);
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION | CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->methods = &path_methods;
	return path;
}

/*
 * The sequential scan in a list of paths, NULL if there is none.  Where there is
 * none, the table is read in another way: it is sampled, partitioned, foreign,
 * or another extension's hook knows better.
 */
static ListCell *
find_seqscan(List *paths)
{
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *path = lfirst(cell);

		if (path->pathtype == T_SeqScan && path->param_info == NULL)
			return cell;
	}
	return NULL;
}

/* Offers the scan where conditions on the relation alone have a test. */
static void
offer_scan(RelOptInfo *rel)
{
	ListCell   *cell = find_seqscan(rel->pathlist);
	Path	   *path = &scan_path(lfirst(cell))->path;

	/*
	 * For a member of an inheritance tree the sequential scan must remain:
	 * unlike ours it can be made a parameterized one, for an Append of such.
	 */
	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		rel->pathlist = list_insert_nth(rel->pathlist,
										list_cell_number(rel->pathlist, cell),
										path);
	else
		lfirst(cell) = path;

	cell = find_seqscan(rel->partial_pathlist);
	if (cell != NULL)
		lfirst(cell) = scan_path(lfirst(cell));
}

/*
 * Offers it for each other relation, or set of them, that has a filter.
 *
 * Not where an outer join has a condition that is not on this relation: it stays
 * with the join, so that the scan would be run for rows that the condition, as
 * in "ON cf_contains(f, v) AND name = 'x'", keeps from the filter.
 */
static void
offer_inner_scans(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->joininfo)
		if (!bms_is_member(rel->relid,
						   lfirst_node(RestrictInfo, cell)->clause_relids))
			return;
	foreach(cell, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Path	   *seqscan;
		CustomPath *path;

		if (!join_clause_is_movable_to(rinfo, rel) ||
			!is_scan_test((Node *) rinfo->clause, rel->relid))
			continue;
		seqscan = create_seqscan_path(root, rel,
									  bms_difference(rinfo->clause_relids,
													 rel->relids), 0);
		if (!can_look_ahead(seqscan->param_info->ppi_clauses))
			continue;
		/* to a join the filter is another one for each row, to the scan it is not */
		seqscan->total_cost -= (CUCKOO_COST_OF_ANOTHER_FILTER - 1) *
			cpu_operator_cost * rel->tuples;
		path = scan_path(seqscan);
		add_path(rel, &path->path);
	}
}

/* Called when the planner has found its own paths for a base relation. */
static void
add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	bool		for_rel;
	bool		for_joins;

	if (next_pathlist_hook)
		next_pathlist_hook(root, rel, rti, rte);
	if (!enable_scan || rel->tuples < MIN_ROWS ||
		find_seqscan(rel->pathlist) == NULL)
		return;
	for_rel = has_scan_test(rel->baserestrictinfo, rel->relid);
	for_joins = has_scan_test(rel->joininfo, rel->relid);
	if ((for_rel || for_joins) && can_look_ahead(rel->baserestrictinfo) &&
		is_in_buffers(rte->relid))
	{
		/* these first, as the other takes the sequential scan away */
		if (for_joins)
			offer_inner_scans(root, rel);
		if (for_rel)
			offer_scan(rel);
	}
}

/*
 * How many rows each process is going to ask the filter about, given the
 * conditions before the test, if the scan is read to its end.
 */
static int
expected_probes(PlannerInfo *root, RelOptInfo *rel, Path *path, List *before)
{
	double		probes = rel->tuples / (path->parallel_workers + 1) *
		clauselist_selectivity(root, before, rel->relid, JOIN_INNER, NULL);

	return (int) Max(Min(probes, PG_INT32_MAX), 1);
}

/*
 * The conditions are in custom_exprs, in the planner's order.  As the plan's own
 * they would be compiled as a whole, which is not how they are evaluated.
 */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *conditions = extract_actual_clauses(clauses, false);
	int			test_no = 0;

	while (test_no < list_length(conditions) &&
		   !is_scan_test(list_nth(conditions, test_no), rel->relid))
		test_no++;
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = best_path->flags;
	scan->custom_exprs = conditions;
	scan->custom_private =
		list_make2_int(test_no,
					   expected_probes(root, rel, &best_path->path,
									   list_truncate(list_copy(conditions),
													 test_no)));
	scan->methods = &scan_methods;
	return (Plan *) scan;
}

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
		case T_IncrementalSort:
		case T_Unique:
		case T_Group:
		case T_WindowAgg:
		case T_SetOp:
		case T_LockRows:
			break;
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
			/* a limit, a join that may end early, what is not known */
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
static void reinit_dsm(CustomScanState *node, ParallelContext *pcxt, void *pscan);
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
	return (Node *) s;
}

/* The call of the test, as the executor would make it ready. */
static FunctionCallInfo
init_call(const Test *test)
{
	FunctionCallInfo call = palloc0(SizeForFunctionCallInfo(2));
	FmgrInfo   *function = palloc0(sizeof(FmgrInfo));
	AclResult	result = CUCKOO_ACL_EXECUTE(test->function);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(test->function));
	InvokeFunctionExecuteHook(test->function);
	fmgr_info(test->function, function);
	fmgr_info_set_expr(test->call, function);
	InitFunctionCallInfoData(*call, function, 2, test->collation, NULL, NULL);
	return call;
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	CuckooScanState *s = (CuckooScanState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	TupleDesc	desc = RelationGetDescr(node->ss.ss_currentRelation);
	int			test_no = linitial_int(plan->custom_private);
	List	   *before = NIL;
	List	   *after = NIL;
	Test		test = {0};

	/* the executor has made all ready for virtual rows, ours are in buffers */
	CUCKOO_INIT_SCAN_SLOT(&node->ss, desc, &TTSOpsBufferHeapTuple);
	ExecAssignScanProjectionInfo(&node->ss);
	s->row = ExecInitExtraTupleSlot(estate, desc, &TTSOpsBufferHeapTuple);

	for (int i = 0; i < list_length(plan->custom_exprs); i++)
	{
		Node	   *condition = list_nth(plan->custom_exprs, i);

		if (i < test_no)
			before = lappend(before, condition);
		else if (i > test_no)
			after = lappend(after, condition);
		else
			take_apart(&test, condition);
	}
	/* a worker comes later than the plan, and the function may be another now */
	if (test.filter == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a function of the query was altered while it ran"),
				 errdetail("The condition of a CuckooScan is no longer a test of a cuckoofilter."),
				 errhint("Run the query again.")));
	s->before = ExecInitQual(before, ps);
	s->after = ExecInitQual(after, ps);
	s->negated = test.negated;
	s->call = init_call(&test);
	s->filter_no = test.filter_no;
	/* evaluated once a scan, which compiling is not worth: it has no parent */
	s->filter = ExecInitExprWithParams(test.filter, estate->es_param_list_info);
	s->element = ExecInitExpr(test.element, ps);
	s->filter_context = CreateExprContext(estate);
	s->expected = lsecond_int(plan->custom_private);
}

/* Reads the next row of the table in that direction, if there is one. */
static bool
read_row(CuckooScanState *s, ScanDirection direction)
{
	ScanState  *ss = &s->css.ss;

	CHECK_FOR_INTERRUPTS();
	if (s->scan == NULL)
		s->scan = CUCKOO_BEGIN_SCAN(ss);
	return table_scan_getnextslot(s->scan, direction, s->row);
}

/* The next one; at the end of the table read_row() would begin again. */
static bool
read_next(CuckooScanState *s)
{
	s->ended = s->ended || !read_row(s, ForwardScanDirection);
	return !s->ended;
}

static void
release_batch(CuckooScanState *s)
{
	for (int i = 0; i < s->count; i++)
		ExecClearTuple(s->slots[i]);
	s->count = s->next = 0;
	if (BufferIsValid(s->buffer))
		ReleaseBuffer(s->buffer);
	s->buffer = InvalidBuffer;
}

static inline Buffer
row_buffer(TupleTableSlot *row)
{
	return ((BufferHeapTupleTableSlot *) row)->buffer;
}

/* Evaluates the filter. */
static void
eval_filter(CuckooScanState *s)
{
	NullableDatum *filter = &s->call->args[s->filter_no];

	filter->value = ExecEvalExprSwitchContext(s->filter, s->filter_context,
											  &filter->isnull);
	s->evaluated = true;
}

/* Opens it, for so many probes. */
static void
open_filter(CuckooScanState *s, uint32 probes)
{
	MemoryContext caller =
		MemoryContextSwitchTo(s->filter_context->ecxt_per_tuple_memory);

	cuckoo_open_site(&s->site, s->call, s->filter_no, probes);
	MemoryContextSwitchTo(caller);
}

static void
close_filter(CuckooScanState *s)
{
	cuckoo_close_site(&s->site);
	ResetExprContext(s->filter_context);
	s->evaluated = false;
}

/* The slot for the row that is the next of the batch, if it passes. */
static TupleTableSlot *
next_slot(CuckooScanState *s)
{
	if (unlikely(s->slots[s->count] == NULL))
	{
		EState	   *estate = s->css.ss.ps.state;
		MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);

		s->slots[s->count] =
			ExecInitExtraTupleSlot(estate, s->row->tts_tupleDescriptor,
								   &TTSOpsHeapTuple);
		MemoryContextSwitchTo(caller);
	}
	s->tuples[s->count] = *((HeapTupleTableSlot *) s->row)->tuple;
	return ExecStoreHeapTuple(&s->tuples[s->count], s->slots[s->count], false);
}

/*
 * Adds the row to the batch, unless the conditions before the test are against
 * it, or one of the arguments is null.  What is found of a stored filter without
 * having fetched it is known at once.
 */
static bool
add_row(CuckooScanState *s)
{
	ExprContext *econtext = s->css.ss.ps.ps_ExprContext;
	NullableDatum *element = &s->call->args[1 - s->filter_no];
	MemoryContext caller;
	bool		added;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = next_slot(s);
	if (!ExecQual(s->before, econtext))
		return false;
	/* an error of the expression comes even if no row has an element */
	if (!s->evaluated)
		eval_filter(s);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	element->value = ExecEvalExpr(s->element, econtext, &element->isnull);
	added = !element->isnull && !s->call->args[s->filter_no].isnull;
	if (added)
	{
		int			i = s->count++;

		if (s->site.hasher == NULL)
			open_filter(s, 1);
		if (s->site.image == NULL)
			s->found[i] = DatumGetBool(FunctionCallInvoke(s->call));
		else if (s->site.header->items == 0)
			s->found[i] = false;
		else
			s->hashes[i] = cuckoo_hash(s->site.hasher, element->value,
									   s->site.header->seed);
	}
	MemoryContextSwitchTo(caller);
	return added;
}

/* Makes the next batch; false at the end of the table. */
static bool
next_batch(CuckooScanState *s)
{
	int			limit;
	int			n = 0;

	release_batch(s);
	if (!s->ahead && !read_next(s))
		return false;
	if (!s->started)
		s->to_end = reads_all(s);
	s->started = true;
	/* if only the first row is wanted after all, nothing more is done for it */
	if (s->to_end && s->read > 0)
		limit = BATCH_ROWS;
	else
		limit = Min(1 + s->read / AHEAD_SHARE, BATCH_ROWS);
	/* it pays to fetch a stored filter now, or others have done so */
	if (s->site.hasher != NULL && s->site.image == NULL)
		open_filter(s, s->to_end ? s->expected : 1);
	s->buffer = row_buffer(s->row);
	IncrBufferRefCount(s->buffer);
	do
	{
		if (!add_row(s))
			InstrCountFiltered1(&s->css.ss, 1);
		s->read++;
		/* rows before the first that is added are not ahead of anything */
		n += s->count > 0;
		s->ahead = n < limit && read_next(s);
	} while (s->ahead && row_buffer(s->row) == s->buffer);
	if (s->count > 0 && s->site.image != NULL && s->site.header->items > 0)
		cuckoo_contains_batch(s->site.header, s->site.image, s->hashes,
							  s->count, s->found);
	return true;
}

/* Does a row pass all conditions?  For those that are not of a batch. */
static bool
row_passes(ScanState *node, TupleTableSlot *row)
{
	CuckooScanState *s = (CuckooScanState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;

	if (s->all == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(node->ps.state->es_query_cxt);

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
		last = s->tuples[s->next - 1].t_self;
		passed = !s->ended && ItemPointerEquals(&s->row->tts_tid, &last);
	}
	release_batch(s);
	s->ahead = s->ended = false;
	while (read_row(s, BackwardScanDirection))
	{
		if (!passed)
			passed = ItemPointerEquals(&s->row->tts_tid, &last);
		else if (row_passes(node, s->row))
			return s->row;
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

			if (s->found[i] != s->negated)
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
	close_filter(s);
	ExecClearTuple(s->row);
	if (s->scan != NULL)
		table_endscan(s->scan);
}

static void
rescan(CustomScanState *node)
{
	CuckooScanState *s = (CuckooScanState *) node;

	release_batch(s);
	close_filter(s);
	s->ahead = s->ended = false;
	s->read = 0;
	if (s->scan != NULL)
		table_rescan(s->scan, NULL);
	ExecScanReScan(&node->ss);
}

/* Shows what EXPLAIN shows of a sequential scan. */
static void
explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	PlanState  *ps = &node->ss.ps;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, ps->plan,
												  ancestors);
	Expr	   *conditions = make_ands_explicit(((CustomScan *) ps->plan)->custom_exprs);

	ExplainPropertyText("Filter", deparse_expression((Node *) conditions,
													 context, es->verbose,
													 false), es);
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
_PG_init(void)
{
	DefineCustomBoolVariable("cuckoo.enable_scan",
							 "Enables scans that ask a cuckoofilter about many rows at a time.",
							 NULL, &enable_scan, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	MarkGUCPrefixReserved("cuckoo");
	RegisterCustomScanMethods(&scan_methods);
	next_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_paths;
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}
