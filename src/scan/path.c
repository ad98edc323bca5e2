/*-------------------------------------------------------------------------
 *
 * scan/path.c
 *		Offers the scan of scan/exec.c to the planner.
 *
 * cuckoo_scan_init() sets a hook when the library is loaded.  This is always in
 * time for a query with a test: the planner calls our support function, which
 * loads the library, before it creates paths.
 *
 * The scan returns the rows of a sequential scan.  It can replace one if the
 * table's conditions include a test with the same filter for all rows:
 *
 *		SELECT ... FROM table WHERE [NOT] cf_contains(filter, expression)
 *		SELECT ... FROM table WHERE expression <@ ANY (array of filters)
 *
 * In a join with the table of the filter, the scan is the inner side of a
 * nested loop.
 *
 * The scan is faster than a sequential one for many rows, and as fast for few
 * (bench/README.md).  It is offered only if the query will probably read at
 * least MIN_ROWS rows, in spite of a LIMIT or a cursor, and if all conditions
 * can be evaluated ahead of the rows.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"

#include "access/table.h"
#include "access/tableam.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/rel.h"

/* The scan repays its startup with at least this number of rows. */
#define MIN_ROWS		1000

/*
 * The scan saves this cost per row, in cpu_operator_cost: the call of the
 * test's function, about half the time of a test.  It also saves cache misses,
 * but planner costs do not include these.
 */
#define SAVED_COST		0.5

/*
 * The cost of sending a byte of a constant filter to parallel workers as text,
 * in cpu_operator_cost (measured: 0.1 s for a megabyte).
 */
#define SENDING_COST	8

static bool enable_scan = true;
static set_rel_pathlist_hook_type next_rel_hook;

/*
 * True if the condition is a test, and its filters do not depend on columns of
 * the relation: they are the same for all rows.
 */
static bool
is_scan_test(Node *condition, Index relid)
{
	CuckooTest	test;
	ListCell   *cell;

	if (!cuckoo_recognize_test(&test, condition))
		return false;
	foreach(cell, pull_vars_of_level((Node *) test.filter, 0))
	{
		Var		   *var = lfirst(cell);

		/* a PlaceHolderVar may depend on this relation, too */
		if (!IsA(var, Var) || (Index) var->varno == relid)
			return false;
	}
	return true;
}

/* The conditions for which is_scan_test() is true. */
static List *
scan_tests(List *conditions, Index relid)
{
	List	   *tests = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (!rinfo->pseudoconstant &&
			is_scan_test((Node *) rinfo->clause, relid))
			tests = lappend(tests, rinfo);
	}
	return tests;
}

/*
 * True if the conditions can be evaluated ahead of the rows that the query
 * reads.  False for sub-plans, because the scan initializes each condition
 * twice.  False for volatile functions, because their results may depend on
 * the rows that were returned before.
 */
static bool
can_look_ahead(List *conditions)
{
	Node	   *clauses = (Node *) extract_actual_clauses(conditions, false);

	return !contain_subplans(clauses) && !contain_volatile_functions(clauses);
}

/* True for a table of the access method heap: the scan reads no other. */
static bool
is_heap(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = rel->rd_tableam == GetHeapamTableAmRoutine();

	table_close(rel, NoLock);
	return result;
}

/*
 * The sequential scan in a list of paths.  NULL if the table is sampled,
 * partitioned or foreign, or if another extension replaced the path.
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

/*
 * The number of rows of a relation that the query probably reads.  A query that
 * sorts, groups or aggregates reads all.  Others may need only a fraction.
 */
static double
rows_to_read(PlannerInfo *root, RelOptInfo *rel)
{
	const Query *query = root->parse;
	double		share = root->tuple_fraction;

	if (share <= 0 || root->query_pathkeys != NIL ||
		query->groupClause != NIL || query->distinctClause != NIL ||
		query->hasAggs || query->hasWindowFuncs)
		return rel->tuples;
	/* 1 or more: a number of rows, else a fraction of the rows */
	if (share >= 1)
		share /= Max(rel->rows, 1);
	return Min(share, 1) * rel->tuples;
}

/*
 * Creates the plan.  Its test is the first suitable condition.  The path does
 * not store the test, because a partitionwise join may copy the conditions.
 */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *conditions = extract_actual_clauses(clauses, false);
	int			test_no = 0;
	List	   *before;
	double		probes;

	while (test_no < list_length(conditions) &&
		   !is_scan_test(list_nth(conditions, test_no), rel->relid))
		test_no++;
	if (test_no == list_length(conditions))
		elog(ERROR, "CuckooScan without a filter test");
	before = list_truncate(list_copy(conditions), test_no);
	probes = rows_to_read(root, rel) *
		clauselist_selectivity(root, before, rel->relid, JOIN_INNER, NULL) /
		(best_path->path.parallel_workers + 1);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = best_path->flags;
	scan->custom_exprs = conditions;
	scan->custom_private =
		list_make2_int(test_no, (int) Max(Min(probes, PG_INT32_MAX), 1));
	scan->methods = &cuckoo_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods scan_path_methods = {
	.CustomName = "CuckooScan",
	.PlanCustomPath = plan_scan
};

/* Returns the path that replaces a sequential scan. */
static CustomPath *
scan_path(Path *seqscan)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *seqscan;
	path->path.total_cost -= SAVED_COST * cpu_operator_cost *
		seqscan->parent->tuples / (seqscan->parallel_workers + 1);
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &scan_path_methods;
	return path;
}

/* Offers the scan for tests with filters that depend on no relation. */
static void
offer_scan(RelOptInfo *rel)
{
	ListCell   *cell = find_seqscan(rel->pathlist);
	Path	   *path = &scan_path(lfirst(cell))->path;

	/*
	 * A member of an inheritance tree keeps the sequential scan as well.  A
	 * parameterized Append may need it: the planner can reparameterize it,
	 * but not a custom scan.
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
 * Offers the scan as the inner side of joins with the relations that provide
 * the filter of a test.
 *
 * An outer join may have a condition on other relations only, like name = 'x'
 * in "ON cf_contains(f, v) AND name = 'x'".  The join evaluates it after the
 * scan, so the scan would probe filters that the query must not probe.  Then
 * the scan is not offered.
 */
static void
offer_inner_scans(PlannerInfo *root, RelOptInfo *rel, List *join_tests)
{
	ListCell   *cell;

	foreach(cell, rel->joininfo)
	{
		if (!bms_is_member(rel->relid,
						   lfirst_node(RestrictInfo, cell)->clause_relids))
			return;
	}
	foreach(cell, join_tests)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		CuckooTest	test;
		Path	   *seqscan;

		/* only tests with such a filter cost CUCKOO_COST_OF_ANOTHER_FILTER */
		if (!join_clause_is_movable_to(rinfo, rel) ||
			!cuckoo_recognize_test(&test, (Node *) rinfo->clause) || test.any ||
			!contain_var_clause((Node *) test.filter))
			continue;
		seqscan = create_seqscan_path(root, rel,
									  bms_difference(rinfo->clause_relids,
													 rel->relids), 0);
		if (!can_look_ahead(seqscan->param_info->ppi_clauses))
			continue;
		/* deduct this cost: all rows of one scan have the same filter */
		seqscan->total_cost -=
			(CUCKOO_COST_OF_ANOTHER_FILTER - CUCKOO_COST_OF_A_TEST) *
			cpu_operator_cost * rel->tuples;
		add_path(rel, &scan_path(seqscan)->path);
	}
}

/*
 * Adds the cost of sending the constant filters of tests to the partial paths
 * of a relation, or removes these paths if the filters are too large.  A filter
 * is a constant if it is a literal, or a parameter of a custom plan.  The plan
 * has a copy for each member of an inheritance tree.
 */
static void
adjust_parallel(PlannerInfo *root, RelOptInfo *rel, List *tests)
{
	double		bytes = 0;
	ListCell   *cell;

	foreach(cell, tests)
	{
		CuckooTest	test;
		const Const *filter;

		cuckoo_recognize_test(&test,
							  (Node *) lfirst_node(RestrictInfo, cell)->clause);
		filter = (Const *) test.filter;
		if (IsA(filter, Const) && !filter->constisnull)
			bytes += VARSIZE_ANY(DatumGetPointer(filter->constvalue));
	}
	bytes *= Max(list_length(root->append_rel_list), 1);
	if (bytes > CUCKOO_SENT_MAX)
	{
		rel->consider_parallel = false;
		rel->partial_pathlist = NIL;
	}
	/* the tree has the costs of its members */
	else if (rel->reloptkind == RELOPT_BASEREL)
	{
		Cost		cost = bytes * SENDING_COST * cpu_operator_cost;

		foreach(cell, rel->partial_pathlist)
		{
			Path	   *path = lfirst(cell);

			path->startup_cost += cost;
			path->total_cost += cost;
		}
	}
}

/* Hook: called for a base relation after the planner has added its paths. */
static void
add_scans(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List	   *tests;
	List	   *join_tests;

	if (next_rel_hook)
		next_rel_hook(root, rel, rti, rte);
	cuckoo_adjust_joins(root, rel);
	tests = scan_tests(rel->baserestrictinfo, rel->relid);
	join_tests = scan_tests(rel->joininfo, rel->relid);
	if (tests != NIL)
		adjust_parallel(root, rel, tests);
	if ((tests == NIL && join_tests == NIL) || !enable_scan ||
		rows_to_read(root, rel) < MIN_ROWS ||
		find_seqscan(rel->pathlist) == NULL ||
		!can_look_ahead(rel->baserestrictinfo) || !is_heap(rte->relid))
		return;
	/* first: offer_scan() replaces the sequential scan */
	offer_inner_scans(root, rel, join_tests);
	if (tests != NIL)
		offer_scan(rel);
}

void
cuckoo_scan_init(void)
{
	RegisterCustomScanMethods(&cuckoo_scan_methods);
	DefineCustomBoolVariable("cuckoo.enable_scan",
							 "Enables the planner's use of scans that probe a cuckoofilter for many rows at a time.",
							 NULL, &enable_scan, true, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	MarkGUCPrefixReserved("cuckoo");
	next_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_scans;
}
