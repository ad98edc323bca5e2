/*-------------------------------------------------------------------------
 *
 * scan/gather.c
 *		Runs a parallel plan without workers if its filters cannot be sent.
 *
 * A Gather sends all parameters of the statement, and the results of the
 * sub-selects below it, through dynamic shared memory.  Large filters may not
 * fit, and the query would fail.  A stored filter is sent as a TOAST pointer,
 * and each worker reads it.  But a worker cannot read temporary tables.  The
 * planner knows neither the size of a parameter in a generic plan, nor the
 * result of a sub-select.
 *
 * So this file looks at the sizes when they are known: just before a Gather
 * starts its workers for the first time.  If they are too large, the leader
 * runs the plan below the Gather alone, as if no worker were free.  Statements
 * without a parallel plan pay for one test in ExecutorStart().
 *
 * A callback of the scan that sets ParallelContext.nworkers to 0 would come too
 * late: PostgreSQL 15 crashes when it sends results to this Gather again.
 *
 * Limits: A wrapper that another extension sets around a Gather at the start of
 * a statement is lost.  If a Gather runs again with another result of a
 * sub-select, it keeps its workers.  Filters in rows, bytea and text are not
 * counted.  The hook does not see the statement that loads the library, unless
 * parsing or planning loads it.  scan/path.c handles constants in the plan.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "executor/executor.h"
#include "executor/nodeSubplan.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

static ExecutorStart_hook_type next_start_hook;

/*
 * True for the type cuckoofilter, for its array type, and for their domains.
 * Looks up no catalog for built-in types.
 */
static bool
has_filters(Oid type)
{
	Oid			element;

	if (type < FirstNormalObjectId)
		return false;
	element = get_base_element_type(type);
	return cuckoo_is_filter_type(getBaseType(OidIsValid(element) ? element
											 : type));
}

/*
 * The bytes of filters in a value that is sent.  The TOAST pointer of a filter
 * in a temporary table counts as too large, and that of another table as 0.
 */
static Size
sent_bytes(Oid type, Datum value, bool isnull)
{
	struct varatt_external stored;

	if (isnull || !has_filters(type))
		return 0;
	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
		return datumEstimateSpace(value, false, false, -1);
	VARATT_EXTERNAL_GET_POINTER(stored, DatumGetPointer(value));
	return isTempToastNamespace(get_rel_namespace(stored.va_toastrelid)) ?
		CUCKOO_SENT_MAX + 1 : 0;
}

/* The bytes of filters in the parameters of a statement. */
static Size
parameter_bytes(ParamListInfo params)
{
	Size		bytes = 0;

	for (int i = 0; params != NULL && i < params->numParams; i++)
	{
		ParamExternData buffer;
		const ParamExternData *param = params->paramFetch == NULL ?
			&params->params[i] :
			params->paramFetch(params, i + 1, true, &buffer);

		bytes += sent_bytes(param->ptype, param->value, param->isnull);
	}
	return bytes;
}

/*
 * The bytes of filters in the results of sub-selects.  Runs these, as a Gather
 * does before it starts its workers.
 */
static Size
result_bytes(EState *estate, const Bitmapset *results)
{
	Size		bytes = 0;
	int			id = -1;

	ExecSetParamPlanMulti(results, GetPerTupleExprContext(estate));
	while ((id = bms_next_member(results, id)) >= 0)
	{
		const ParamExecData *result = &estate->es_param_exec_vals[id];

		bytes += sent_bytes(list_nth_oid(estate->es_plannedstmt->paramExecTypes,
										 id),
							result->value, result->isnull);
	}
	return bytes;
}

/* Returns a copy of a Gather or GatherMerge that has no workers. */
static Plan *
without_workers(const Plan *gather, MemoryContext memory)
{
	bool		merge = IsA(gather, GatherMerge);
	Size		size = merge ? sizeof(GatherMerge) : sizeof(Gather);
	Plan	   *copy = memcpy(MemoryContextAlloc(memory, size), gather, size);

	if (merge)
		((GatherMerge *) copy)->num_workers = 0;
	else
		((Gather *) copy)->num_workers = 0;
	return copy;
}

/*
 * Takes the place of ExecGather() or ExecGatherMerge() in the first call.  It
 * does not change the plan, which may be cached.
 */
static TupleTableSlot *
exec_gather(PlanState *node)
{
	EState	   *estate = node->state;
	const Bitmapset *results = IsA(node->plan, GatherMerge) ?
		((GatherMerge *) node->plan)->initParam :
		((Gather *) node->plan)->initParam;

	/* without parallel mode, as in a cursor, PostgreSQL starts no workers */
	if (estate->es_use_parallel_mode &&
		parameter_bytes(estate->es_param_list_info) +
		result_bytes(estate, results) > CUCKOO_SENT_MAX)
		node->plan = without_workers(node->plan, estate->es_query_cxt);
	ExecSetExecProcNode(node, node->ExecProcNodeReal);
	return node->ExecProcNode(node);
}

/* Walker: sets exec_gather() for each Gather. */
static bool
watch_gathers(PlanState *node, void *context)
{
	if (IsA(node, GatherState) || IsA(node, GatherMergeState))
		node->ExecProcNode = exec_gather;
	return planstate_tree_walker(node, watch_gathers, context);
}

/* True if a parallel statement may have to send filters. */
static bool
may_send_filters(const QueryDesc *query)
{
	ListCell   *cell;

	foreach(cell, query->plannedstmt->paramExecTypes)
	{
		if (has_filters(lfirst_oid(cell)))
			return true;
	}
	return parameter_bytes(query->params) > 0;
}

/* Hook: called to start the execution of a statement. */
static void
start_executor(QueryDesc *query, int eflags)
{
	if (next_start_hook)
		next_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (query->plannedstmt->parallelModeNeeded && may_send_filters(query))
		watch_gathers(query->planstate, NULL);
}

void
cuckoo_gather_init(void)
{
	next_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
