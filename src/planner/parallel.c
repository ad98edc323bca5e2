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
 * A parameter of a generic plan is sent as bytes, which also needs shared
 * memory.  The planner does not know its size, so it counts as too large.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "planner/planner.h"

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

/* The cost of sending a byte, in cpu_operator_cost (measured). */
#define SENDING_COST	8

/* No more bytes are sent: as text, a quarter of a container's /dev/shm. */
#define SENT_MAX		(4 * 1024 * 1024)

/* True for the type cuckoofilter, and for its array type. */
static bool
is_filter_type(Oid type)
{
	Oid			element = get_element_type(type);

	return cuckoo_is_filter_type(OidIsValid(element) ? element : type);
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

/*
 * True for a parameter of unknown value and variable size, and for a cast or a
 * field of one.
 */
static bool
is_unknown(Node *node)
{
	for (;;)
	{
		if (IsA(node, FuncExpr) &&
			(((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST ||
			 ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST))
			node = linitial(((FuncExpr *) node)->args);
		else if (IsA(node, CoerceViaIO))
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, FieldSelect))
			node = (Node *) ((FieldSelect *) node)->arg;
		else
			return IsA(node, Param) &&
				((Param *) node)->paramkind == PARAM_EXTERN &&
				get_typlen(((Param *) node)->paramtype) < 0;
	}
}

/*
 * Walker: adds the bytes of the constant filters of a query, without those of
 * its sub-queries, to the double in `context`, and more than SENT_MAX for a
 * filter of unknown size.  Always returns false, to go on.
 */
static bool
add_filters(Node *node, void *context)
{
	Const	   *constant = (Const *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Const) && !constant->constisnull &&
		constant->constlen == -1 && is_filter_type(constant->consttype))
		*(double *) context +=
			VARSIZE_ANY(DatumGetPointer(constant->constvalue));
	if (is_unknown(node) && is_filter_type(exprType(node)))
		*(double *) context += SENT_MAX + 1.0;
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
	if (temporary || bytes > SENT_MAX)
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
