/*-------------------------------------------------------------------------
 *
 * scan/path.c
 *		Offers the scan of scan/exec.c to the planner.
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
 * and as much time for few rows (make bench prints the table).  It could gain
 * nothing for fewer than MIN_ROWS rows.  It is not offered for smaller tables,
 * nor if the planner expects a LIMIT or a cursor to end the scan before.  It is
 * not offered, either, if conditions cannot be evaluated before the rows are
 * returned.
 *
 * The hook is set when the library is loaded, which is before a query with one
 * of our functions gets its paths: planning it calls its support function.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/exec.h"
#include "planner/planner.h"
#include "scan/scan.h"

#include "access/table.h"
#include "access/tableam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* The number of rows from which on the scan is worth its startup. */
#define MIN_ROWS		1000

/*
 * What the scan saves per row and filter, in cpu_operator_cost.  It saves the
 * call of the test through the function manager, about half of the time; the
 * rest is the hash.  It also saves cache misses, which are not part of any
 * cost.
 */
#define SAVED_COST		0.5

static bool enable_scan = true;
static set_rel_pathlist_hook_type next_rel_hook;

/*
 * True if the condition is a test with one or several filters for all rows of
 * a relation, which do not depend on its columns.
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

		/* else it depends on relations in another way */
		if (!IsA(var, Var) || (Index) var->varno == relid)
			return false;
	}
	return true;
}

/* Those of the conditions. */
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
 * True if the conditions can be evaluated for rows ahead.  Sub-plans would have
 * to be initialized more than once, and the results of volatile functions may
 * depend on the current row of the query.
 */
static bool
can_look_ahead(List *conditions)
{
	Node	   *clauses = (Node *) extract_actual_clauses(conditions, false);

	return !contain_subplans(clauses) && !contain_volatile_functions(clauses);
}

/* True if the table has the access method that the scan can read, heap. */
static bool
is_heap(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = rel->rd_tableam == GetHeapamTableAmRoutine();

	table_close(rel, NoLock);
	return result;
}

/*
 * The sequential scan in a list of paths, or NULL.  Without one the table is
 * read in another way: it is sampled, partitioned or foreign, or another
 * extension's hook has replaced the path.
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
 * The number of rows of a relation that the planner expects to be read, given
 * how many rows the query wants.  A query that sorts, groups or aggregates
 * reads all.
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

/* True if the scan can be used for this relation, which has a test. */
static bool
is_for_scan(PlannerInfo *root, RelOptInfo *rel)
{
	return enable_scan && rows_to_read(root, rel) >= MIN_ROWS &&
		find_seqscan(rel->pathlist) != NULL &&
		can_look_ahead(rel->baserestrictinfo) &&
		is_heap(root->simple_rte_array[rel->relid]->relid);
}

/* ---- instead of a sequential scan ---- */

/*
 * The number of rows for which each process probes the filter, given the
 * conditions before the test.
 */
static int
expected_probes(PlannerInfo *root, RelOptInfo *rel, Path *path, List *before)
{
	double		probes = rows_to_read(root, rel) *
		clauselist_selectivity(root, before, rel->relid, JOIN_INNER, NULL) /
		(path->parallel_workers + 1);

	return (int) Max(Min(probes, PG_INT32_MAX), 1);
}

/*
 * Makes the plan.  Its test is the first condition that can be one.  That is
 * found anew, because the conditions of a path may have been copied since it
 * was made, for a join of partitions.
 */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
		  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *conditions = extract_actual_clauses(clauses, false);
	int			test_no = 0;
	List	   *before;

	while (test_no < list_length(conditions) &&
		   !is_scan_test(list_nth(conditions, test_no), rel->relid))
		test_no++;
	if (test_no == list_length(conditions))
		elog(ERROR, "CuckooScan without a filter test");
	before = list_truncate(list_copy(conditions), test_no);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = best_path->flags;
	scan->custom_exprs = conditions;
	scan->custom_private =
		list_make2_int(test_no,
					   expected_probes(root, rel, &best_path->path, before));
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
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION |
		CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
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
	 * For a member of an inheritance tree the sequential scan must remain.
	 * Unlike ours, it can be reparameterized for a parameterized Append.
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
 * relations that provides the filter of one of the tests.
 *
 * It is not offered if an outer join has a condition that is not on this
 * relation, as in "ON cf_contains(f, v) AND name = 'x'".  Such a condition
 * stays with the join, and the scan would run for rows whose filter the query
 * must not probe.
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
		CustomPath *path;

		/* of others the planner did not count what is taken off below */
		if (!join_clause_is_movable_to(rinfo, rel) ||
			!cuckoo_recognize_test(&test, (Node *) rinfo->clause) || test.any ||
			!contain_var_clause((Node *) test.filter))
			continue;
		seqscan = create_seqscan_path(root, rel,
									  bms_difference(rinfo->clause_relids,
													 rel->relids), 0);
		if (!can_look_ahead(seqscan->param_info->ppi_clauses))
			continue;
		/* this cost is for another filter in each row; the scan has one */
		seqscan->total_cost -=
			(CUCKOO_COST_OF_ANOTHER_FILTER - CUCKOO_COST_OF_A_TEST) *
			cpu_operator_cost * rel->tuples;
		path = scan_path(seqscan);
		add_path(rel, &path->path);
	}
}

/* The hook for base relations, called after the planner added its own paths. */
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
	if ((tests != NIL || join_tests != NIL) && is_for_scan(root, rel))
	{
		/* these first, because the other replaces the sequential scan */
		if (join_tests != NIL)
			offer_inner_scans(root, rel, join_tests);
		if (tests != NIL)
			offer_scan(rel);
	}
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
