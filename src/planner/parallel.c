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
 * A worker cannot read temporary tables, and the TOAST pointer of a filter may
 * lead to one.
 *
 * Parameters of generic plans are sent as bytes, and their size is unknown when
 * the plan is made: the guide queries.md says what to do if they are too large.
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

/* Smaller constants are ignored: sending them costs less than a worker. */
#define SENT_MIN		8192

/* What the walker looks for, and finds. */
typedef struct SentFilters
{
	double		bytes;			/* of constant filters */
	bool		temporary;		/* a filter is in a temporary table */
} SentFilters;

/* True for the type cuckoofilter, and for its array type. */
static bool
is_filter_type(Oid type)
{
	Oid			element = get_element_type(type);

	return cuckoo_type_has_input(OidIsValid(element) ? element : type,
								 cuckoofilter_in);
}

static bool
is_temporary(Oid relation)
{
	return get_rel_persistence(relation) == RELPERSISTENCE_TEMP;
}

/* Walker: true if a query reads a temporary table. */
static bool
reads_temporary(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION &&
			is_temporary(((RangeTblEntry *) node)->relid);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_temporary, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_temporary, context);
}

/*
 * Walker: adds the constant filters of a query to the SentFilters in `context`.
 * Always returns false, to go on.
 */
static bool
find_constants(Node *node, void *context)
{
	SentFilters *sent = context;
	Const	   *constant = (Const *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Const) && !constant->constisnull &&
		constant->constlen == -1 && is_filter_type(constant->consttype))
	{
		struct varlena *value =
			(struct varlena *) DatumGetPointer(constant->constvalue);

		if (VARATT_IS_EXTERNAL_ONDISK(value))
		{
			struct varatt_external pointer;

			VARATT_EXTERNAL_GET_POINTER(pointer, value);
			sent->temporary |= is_temporary(pointer.va_toastrelid);
		}
		else
			sent->bytes += VARSIZE_ANY(value);
	}
	return expression_tree_walker(node, find_constants, context);
}

/* Finds the constant filters of a query, but not those of its sub-queries. */
static void
find_in_query(Query *query, SentFilters *sent)
{
	query_tree_walker(query, find_constants, sent,
					  QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES |
					  QTW_IGNORE_JOINALIASES);
}

/*
 * Finds the filters that all workers of a query receive.  These are also the
 * filters of sub-selects that were planned before.  A sub-select may return a
 * column without reading it, so a TOAST pointer.
 */
static void
find_sent_filters(PlannerInfo *root, SentFilters *sent)
{
	ListCell   *plan_cell;
	ListCell   *root_cell;
	ListCell   *cell;

	memset(sent, 0, sizeof(*sent));
	find_in_query(root->parse, sent);
	forboth(plan_cell, root->glob->subplans, root_cell, root->glob->subroots)
	{
		Query	   *query = ((PlannerInfo *) lfirst(root_cell))->parse;

		find_in_query(query, sent);
		foreach(cell, ((Plan *) lfirst(plan_cell))->targetlist)
		{
			Node	   *column = (Node *) lfirst_node(TargetEntry, cell)->expr;

			if (IsA(column, Var) && is_filter_type(exprType(column)))
				sent->temporary |= reads_temporary((Node *) query, NULL);
		}
	}
}

void
cuckoo_adjust_parallel(PlannerInfo *root, RelOptInfo *rel)
{
	SentFilters sent;
	ListCell   *cell;

	if (rel->partial_pathlist == NIL)
		return;
	find_sent_filters(root, &sent);
	/* a plan has a copy of each constant for each member of a tree */
	sent.bytes *= Max(list_length(root->append_rel_list), 1);
	if (sent.temporary || sent.bytes > SENT_MAX)
	{
		rel->consider_parallel = false;
		rel->partial_pathlist = NIL;
		foreach(cell, rel->pathlist)
			((Path *) lfirst(cell))->parallel_safe = false;
	}
	/* the tree has the costs of its members */
	else if (sent.bytes >= SENT_MIN && rel->reloptkind == RELOPT_BASEREL)
	{
		foreach(cell, rel->partial_pathlist)
		{
			Path	   *path = lfirst(cell);
			Cost		cost = sent.bytes * SENDING_COST * cpu_operator_cost;

			path->startup_cost += cost;
			path->total_cost += cost;
		}
	}
}
