/*-------------------------------------------------------------------------
 *
 * planner/parallel.c
 *		The cost of sending the filters of a query to parallel workers.
 *
 * PostgreSQL sends a plan to each worker as text in shared memory, with four
 * characters for each byte of a constant.  A constant filter is a literal, or a
 * parameter of a custom plan.  A megabyte took 0.1 s (measured), and the
 * planner does not expect this.  Sending fails if shared memory has no room,
 * or if the text exceeds 1 GB.
 *
 * A worker cannot read temporary tables, and a sub-select may return the TOAST
 * pointer of a filter in one.  Constants are never TOAST pointers.
 *
 * PostgreSQL also sends the plans of all sub-selects, the values of all
 * parameters, and the text of the statement.  So no scan is parallel if the
 * filters of the whole statement are too large.  The planner does not know the
 * size of a parameter in a generic plan.  A filter that is such a parameter, or
 * is made from one, counts as too large.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "planner/planner.h"

#include "access/detoast.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

/* The cost of sending a byte, in cpu_operator_cost (measured). */
#define SENDING_COST	8

/* No more bytes are sent: as text, a quarter of a container's /dev/shm. */
#define SENT_MAX		(4 * 1024 * 1024)

/* True for the type cuckoofilter, for its array type, and for their domains. */
static bool
is_filter_type(Oid type)
{
	Oid			element = get_base_element_type(type);

	return cuckoo_is_filter_type(getBaseType(OidIsValid(element) ? element
											 : type));
}

/* Walker: true if a query reads a temporary table. */
static bool
reads_temporary(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION &&
			get_rel_persistence(((RangeTblEntry *) node)->relid) ==
			RELPERSISTENCE_TEMP;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_temporary, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_temporary, context);
}

/* The bytes of a node that is a constant filter, else 0. */
static double
constant_bytes(Node *node)
{
	Const	   *constant = (Const *) node;

	if (!IsA(node, Const) || constant->constisnull ||
		constant->constlen != -1 || !is_filter_type(constant->consttype))
		return 0;
	return VARSIZE_ANY(DatumGetPointer(constant->constvalue));
}

/*
 * Walker: adds the bytes of the constant filters of a query, without those of
 * its sub-queries, to the double in `context`.  Always returns false, to go on.
 */
static bool
add_filters(Node *node, void *context)
{
	if (node == NULL)
		return false;
	*(double *) context += constant_bytes(node);
	return expression_tree_walker(node, add_filters, context);
}

/*
 * Returns the bytes of the filters in a query and in the sub-queries in its
 * FROM.  A plan has a copy of each constant for each member of a tree.
 */
static double
sent_bytes(PlannerInfo *root)
{
	double		bytes = 0;

	query_tree_walker(root->parse, add_filters, &bytes, 0);
	bytes *= Max(list_length(root->append_rel_list), 1);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && rel->subroot != NULL)
			bytes += sent_bytes(rel->subroot);
	}
	return bytes;
}

/*
 * True if a sub-select may return a stored filter of a temporary table.  An
 * aggregate returns a new one.
 */
static bool
returns_temporary(Plan *plan, Query *query)
{
	ListCell   *cell;

	foreach(cell, plan->targetlist)
	{
		Node	   *column = (Node *) lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(column, Aggref) && is_filter_type(exprType(column)) &&
			reads_temporary((Node *) query, NULL))
			return true;
	}
	return false;
}

/* The bytes of a node that is a filter parameter of known value, else 0. */
static double
parameter_bytes(Node *node, ParamListInfo params)
{
	Param	   *param = (Param *) node;
	ParamExternData data;
	ParamExternData *value;

	if (!IsA(node, Param) || param->paramkind != PARAM_EXTERN ||
		param->paramid <= 0 || param->paramid > params->numParams ||
		!is_filter_type(param->paramtype))
		return 0;
	value = params->paramFetch == NULL ? &params->params[param->paramid - 1]
		: params->paramFetch(params, param->paramid, true, &data);
	if (value->isnull || value->ptype != param->paramtype)
		return 0;
	return toast_raw_datum_size(value->value);
}

/* Walker: true for a parameter of variable size. */
static bool
contains_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXTERN &&
			get_typlen(((Param *) node)->paramtype) < 0;
	return expression_tree_walker(node, contains_parameter, context);
}

/* The context of is_too_large(). */
typedef struct SentFilters
{
	ParamListInfo params;		/* NULL: their values are unknown */
	double		bytes;			/* of filters, so far */
} SentFilters;

/*
 * Walker: true if the filters of a query and of all its sub-queries exceed
 * SENT_MAX, or if a filter is an unknown parameter or is made from one.
 */
static bool
is_too_large(Node *node, void *context)
{
	SentFilters *sent = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Query:
			return query_tree_walker((Query *) node, is_too_large, context, 0);
		case T_Const:
		case T_Param:
		case T_FuncExpr:
		case T_OpExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_FieldSelect:
			if (sent->params == NULL && is_filter_type(exprType(node)) &&
				contains_parameter(node, NULL))
				return true;
			sent->bytes += constant_bytes(node);
			if (sent->params != NULL)
				sent->bytes += parameter_bytes(node, sent->params);
			if (sent->bytes > SENT_MAX)
				return true;
			break;
		default:
			break;
	}
	return expression_tree_walker(node, is_too_large, context);
}

/*
 * True if the filters of the statement are too large.  The queries around
 * `root` still contain their sub-selects, except those that were planned
 * before.  A sub-select may be in both places for a while, so their bytes are
 * not added.  Twice SENT_MAX may be sent, or more if a sub-select that is
 * planned later has copies of a filter for partitions.
 */
static bool
is_statement_too_large(PlannerInfo *root)
{
	SentFilters sent = {.params = root->glob->boundParams};
	ListCell   *cell;

	foreach(cell, root->glob->subroots)
	{
		sent.bytes = 0;
		if (is_too_large((Node *) lfirst_node(PlannerInfo, cell)->parse,
						 &sent))
			return true;
	}
	for (; root != NULL; root = root->parent_root)
	{
		/* all WITH queries were planned, or moved to where they are used */
		bool		no_with = list_length(root->cte_plan_ids) ==
			list_length(root->parse->cteList);

		sent.bytes = 0;
		if (query_tree_walker(root->parse, is_too_large, &sent,
							  no_with ? QTW_IGNORE_CTE_SUBQUERIES : 0))
			return true;
	}
	return false;
}

void
cuckoo_adjust_parallel(PlannerInfo *root, RelOptInfo *rel)
{
	double		bytes;
	bool		temporary = false;
	ListCell   *plan;
	ListCell   *subroot;
	ListCell   *cell;

	if (rel->partial_pathlist == NIL)
		return;
	bytes = sent_bytes(root);
	/* the sub-selects that were planned before */
	forboth(plan, root->glob->subplans, subroot, root->glob->subroots)
	{
		PlannerInfo *sub = lfirst(subroot);

		bytes += sent_bytes(sub);
		temporary |= returns_temporary(lfirst(plan), sub->parse);
	}
	if (temporary || bytes > SENT_MAX || is_statement_too_large(root))
	{
		rel->consider_parallel = false;
		rel->partial_pathlist = NIL;
	}
	/* the tree has the costs of its members */
	else if (rel->reloptkind == RELOPT_BASEREL)
	{
		foreach(cell, rel->partial_pathlist)
		{
			Path	   *path = lfirst(cell);
			Cost		cost = bytes * SENDING_COST * cpu_operator_cost;

			path->startup_cost += cost;
			path->total_cost += cost;
		}
	}
}
