/*-------------------------------------------------------------------------
 *
 * scan/path.c
 *		Offers the scan of scan/exec.c to the planner.
 *
 * Interface: cuckoo_scan_init(), which sets a hook when the library is loaded.
 * This is in time for any query with one of our functions, because planning it
 * calls their support function before it makes paths.
 *
 * The scan returns the rows of a sequential scan.  It can replace one if the
 * table's conditions include a test with the same filter for all rows:
 *
 *		SELECT ... FROM table WHERE [NOT] cf_contains(filter, expression)
 *		SELECT ... FROM table WHERE expression <@ ANY (array of filters)
 *
 * In a join, if the filter comes from another table, the scan is the inner side
 * of a nested loop.
 *
 * The scan takes less time than a sequential one if it probes for many rows,
 * and as much for few (make bench prints the table).  It is not offered where
 * it gains nothing: for tables with fewer than MIN_ROWS rows, and if a LIMIT or
 * a cursor will probably end the scan before it has read as many.  Nor is it
 * offered if conditions cannot be evaluated before the rows are returned.
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

/* The number of rows from which on the scan is worth its startup. */
#define MIN_ROWS		1000

/*
 * What the scan saves per row and filter, in cpu_operator_cost: the call of the
 * function, about half of the time, but not cache misses, which no cost counts.
 */
#define SAVED_COST		0.5

static bool enable_scan = true;
static set_rel_pathlist_hook_type next_rel_hook;

/*
 * True if the condition is a test with the same filters for all rows of a
 * relation, which therefore do not depend on its columns.
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

		/* what is no Var depends on relations in another way */
		if (!IsA(var, Var) || (Index) var->varno == relid)
			return false;
	}
	return true;
}

/* The conditions that are such tests. */
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
 * True if the conditions can be evaluated for rows ahead.  Sub-plans would be
 * initialized more than once, and volatile functions may see the query's row.
 */
static bool
can_look_ahead(List *conditions)
{
	Node	   *clauses = (Node *) extract_actual_clauses(conditions, false);

	return !contain_subplans(clauses) && !contain_volatile_functions(clauses);
}

/* True if the table is of the only access method that the scan can read. */
static bool
is_heap(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = rel->rd_tableam == GetHeapamTableAmRoutine();

	table_close(rel, NoLock);
	return result;
}

/*
 * The sequential scan in a list of paths, or NULL if the table is sampled,
 * partitioned or foreign, or if another extension's hook has replaced the path.
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
 * The number of rows of a relation that are probably read, given how many rows
 * the query wants.  A query that sorts, groups or aggregates reads all.
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
	/* below 1 it is a fraction */
	if (share >= 1)
		share /= Max(rel->rows, 1);
	return Min(share, 1) * rel->tuples;
}

/*
 * Makes the plan.  Its test, the first condition that can be one, is found anew
 * because the path's conditions may have been copied for a join of partitions.
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

/* The path that replaces a sequential scan. */
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

/* Offers the scan for tests among the conditions on the relation alone. */
static void
offer_scan(RelOptInfo *rel)
{
	ListCell   *cell = find_seqscan(rel->pathlist);
	Path	   *path = &scan_path(lfirst(cell))->path;

	/*
	 * For a member of an inheritance tree the sequential scan remains, as it
	 * can be reparameterized for a parameterized Append, but ours cannot.
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
 * Offers the scan as the inner side of joins, for each relation or set of
 * relations that provides the filter of one of the tests, unless an outer join
 * has a condition that is not on this relation, as in "ON cf_contains(f, v) AND
 * name = 'x'".  Such a condition stays with the join, and the scan would run
 * for rows whose filter the query must not probe.
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

		/* only the estimate of these contains the cost taken off below */
		if (!join_clause_is_movable_to(rinfo, rel) ||
			!cuckoo_recognize_test(&test, (Node *) rinfo->clause) || test.any ||
			!contain_var_clause((Node *) test.filter))
			continue;
		seqscan = create_seqscan_path(root, rel,
									  bms_difference(rinfo->clause_relids,
													 rel->relids), 0);
		if (!can_look_ahead(seqscan->param_info->ppi_clauses))
			continue;
		/* the cost is that of another filter in each row; the scan has one */
		seqscan->total_cost -=
			(CUCKOO_COST_OF_ANOTHER_FILTER - CUCKOO_COST_OF_A_TEST) *
			cpu_operator_cost * rel->tuples;
		add_path(rel, &scan_path(seqscan)->path);
	}
}

/* Called for a base relation after the planner has added its own paths. */
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
	if ((tests == NIL && join_tests == NIL) || !enable_scan ||
		rows_to_read(root, rel) < MIN_ROWS ||
		find_seqscan(rel->pathlist) == NULL ||
		!can_look_ahead(rel->baserestrictinfo) || !is_heap(rte->relid))
		return;
	/* these first, because the other replaces the sequential scan */
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
