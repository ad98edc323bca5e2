/*-------------------------------------------------------------------------
 *
 * cuckoo_scan_demand.c
 *		Will a scan be read to its end?
 *
 * If so, it may take more rows at a time, because no work is wasted.  The
 * answer depends on the plan above the scan, which may have a node that ends
 * early, and on the executor's caller, who may want only some rows (a cursor).
 * The answer is "yes" only if every node above the scan is known to read on.
 * For unknown nodes it is "no".
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_scan.h"

#include "executor/executor.h"
#include "miscadmin.h"

static ExecutorRun_hook_type next_run_hook;

/* Rows that the caller of the running executor wants; 0 for all. */
static uint64 rows_wanted;

/*
 * Is `node`, which is below `plan`, read to its end once it has begun?  `all`
 * says whether the output of `plan` is read to its end.
 */
static bool
is_read_to_end(Plan *plan, const Plan *node, bool all)
{
	List	   *children = NIL;
	bool		outer = all;
	bool		inner = all;
	ListCell   *cell;

	check_stack_depth();
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
			/* nodes that may end early, such as a limit, and unknown ones */
			outer = inner = false;
	}
	foreach(cell, children)
	{
		if (is_read_to_end(lfirst(cell), node, all))
			return true;
	}
	return is_read_to_end(outerPlan(plan), node, outer) ||
		is_read_to_end(innerPlan(plan), node, inner);
}

bool
cuckoo_reads_all(const PlanState *scan)
{
	PlannedStmt *statement = scan->state->es_plannedstmt;
	ListCell   *cell;

	if (is_read_to_end(statement->planTree, scan->plan, rows_wanted == 0))
		return true;
	/* nobody knows how many rows of a sub-select or CTE are wanted */
	foreach(cell, statement->subplans)
	{
		if (is_read_to_end(lfirst(cell), scan->plan, false))
			return true;
	}
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

void
cuckoo_scan_demand_init(void)
{
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}
