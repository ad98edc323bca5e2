/*-------------------------------------------------------------------------
 *
 * index/gate.c
 *		One-time filters: a plan that asks the index before it reads a table.
 *
 * For a condition "column = constant or parameter", or "= ANY (array)", the
 * planner's hook adds a condition that does not depend on the row:
 *
 *		Result
 *		  One-Time Filter: cuckoo_gate('events_id_filter', 42)
 *		  ->  Seq Scan on events
 *
 * The planner has chosen the plan of the table by then, and knows nothing of
 * the gate.  Therefore no plan becomes worse by more than the gate costs.  If
 * an exact index serves the column, that saves less than it costs, unless the
 * index does not fit in memory: the option "gate" says so.
 *
 * The gate is evaluated with the rights of the query's user, and lets the table
 * be read where these do not suffice.  Where somebody else's rights apply
 * (views), or conditions must be evaluated before others (row security,
 * security barriers), there is none.
 *
 *-------------------------------------------------------------------------
 */
#include "index/handler.h"

#include "access/genam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* A table of fewer pages is read as fast as the index. */
#define MIN_PAGES		8

static set_rel_pathlist_hook_type next_hook;

/* True if the planner may replace the value by another, but not by a row's. */
static bool
is_known(Node *value)
{
	while (IsA(value, RelabelType))
		value = (Node *) ((RelabelType *) value)->arg;
	return IsA(value, Const) || IsA(value, Param);
}

/* False for a record without a type of its own, whose hash is unknown. */
static bool
has_hash(Oid type, bool is_array, Oid collation)
{
	return cuckoo_hashable(is_array ? get_base_element_type(type) : type,
						   collation);
}

/*
 * If the condition compares the column of the index with a known value or
 * array, returns that, and says which; else returns NULL.
 */
static Node *
compared_value(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo * index,
			   Node *clause, bool *any)
{
	Oid			operator;
	Oid			collation;
	Node	   *left;
	Node	   *right;

	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		OpExpr	   *op = (OpExpr *) clause;

		operator = op->opno;
		collation = op->inputcollid;
		left = linitial(op->args);
		right = lsecond(op->args);
		*any = false;
		if (is_known(left) && match_index_to_operand(right, 0, index))
		{
			Node	   *value = left;

			left = right;
			right = value;
			operator = get_commutator(operator);
		}
	}
	else if (IsA(clause, ScalarArrayOpExpr) &&
			 ((ScalarArrayOpExpr *) clause)->useOr)
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		operator = op->opno;
		collation = op->inputcollid;
		left = linitial(op->args);
		right = lsecond(op->args);
		*any = true;
	}
	else
		return NULL;
	if (!OidIsValid(operator) || !is_known(right) ||
		!has_hash(exprType(right), *any, index->indexcollations[0]) ||
		!match_index_to_operand(left, 0, index) ||
		!op_in_opfamily(operator, index->opfamily[0]) ||
		(OidIsValid(index->indexcollations[0]) &&
		 index->indexcollations[0] != collation))
		return NULL;
	return right;
}

/* True if an exact index finds what the condition asks for. */
static bool
has_exact_index(RelOptInfo *rel, Node *clause)
{
	Node	   *left = linitial(IsA(clause, OpExpr) ? ((OpExpr *) clause)->args
								: ((ScalarArrayOpExpr *) clause)->args);
	Node	   *right = lsecond(IsA(clause, OpExpr) ? ((OpExpr *) clause)->args
								: ((ScalarArrayOpExpr *) clause)->args);
	Oid			operator = IsA(clause, OpExpr) ? ((OpExpr *) clause)->opno
		: ((ScalarArrayOpExpr *) clause)->opno;
	Oid			collation = IsA(clause, OpExpr) ?
		((OpExpr *) clause)->inputcollid
		: ((ScalarArrayOpExpr *) clause)->inputcollid;
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(cell);

		if ((index->relam == BTREE_AM_OID || index->relam == HASH_AM_OID) &&
			(index->indpred == NIL || index->predOK) &&
			op_in_opfamily(operator, index->opfamily[0]) &&
			(!OidIsValid(index->indexcollations[0]) ||
			 index->indexcollations[0] == collation) &&
			(match_index_to_operand(left, 0, index) ||
			 match_index_to_operand(right, 0, index)))
			return true;
	}
	return false;
}

/* The call of cuckoo_gate(), or NULL if the user may not call it. */
static Node *
gate_call(Relation rel, Node *value, bool any, Oid collation)
{
	Oid			types[] = {REGCLASSOID, any ? ANYCOMPATIBLEARRAYOID
	: ANYCOMPATIBLEOID};
	const char *name = any ? "cuckoo_gate_any" : "cuckoo_gate";
	Oid			schema = get_func_namespace(rel->rd_amhandler);
	Oid			function;
	Const	   *index;

	/* beside the handler, also if the user has no rights on the schema */
	function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
							   CStringGetDatum(name),
							   PointerGetDatum(buildoidvector(types, 2)),
							   ObjectIdGetDatum(schema));
	if (!OidIsValid(function) || !CUCKOO_MAY_EXECUTE(function, GetUserId()))
		return NULL;
	index = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
					  ObjectIdGetDatum(RelationGetRelid(rel)), false, true);
	return (Node *) makeFuncExpr(function, BOOLOID,
								 list_make2(index, copyObject(value)),
								 InvalidOid, collation, COERCE_EXPLICIT_CALL);
}

/* The gate for a condition by an index, or NULL if there is none. */
static Node *
gate_by(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo * index, Node *clause)
{
	bool		any = false;
	Node	   *value;
	Node	   *gate = NULL;
	Relation	relation;
	CuckooOptions options;

	if (!cuckoo_is_our_index(index) ||
		(index->indpred != NIL && !index->predOK))
		return NULL;
	value = compared_value(root, rel, index, clause, &any);
	if (value == NULL)
		return NULL;
	/* the planner holds its lock */
	relation = index_open(index->indexoid, NoLock);
	options = cuckoo_index_options(relation);
	if (options.gate == CUCKOO_GATE_ON ||
		(options.gate == CUCKOO_GATE_AUTO && !has_exact_index(rel, clause)))
		gate = gate_call(relation, value, any, index->indexcollations[0]);
	index_close(relation, NoLock);
	return gate;
}

static void
add_gate(PlannerInfo *root, RelOptInfo *rel, Node *gate)
{
	RestrictInfo *rinfo = CUCKOO_SIMPLE_RESTRICTINFO(root, (Expr *) gate);
	ListCell   *cell;

	rinfo->pseudoconstant = true;
	root->hasPseudoConstantQuals = true;
	rel->baserestrictinfo = lappend(list_copy(rel->baserestrictinfo), rinfo);
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(cell);

		index->indrestrictinfo = lappend(list_copy(index->indrestrictinfo),
										 rinfo);
	}
}

/* Called for a base relation after its paths were made. */
static void
add_gates(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List	   *gates = NIL;
	ListCell   *cell;

	if (next_hook)
		next_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->inh || rel->indexlist == NIL ||
		rel->pages < MIN_PAGES || root->qual_security_level > 0 ||
		(OidIsValid(rel->userid) && rel->userid != GetUserId()))
		return;
	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, cell)->clause;
		ListCell   *index;

		foreach(index, rel->indexlist)
		{
			Node	   *gate = gate_by(root, rel, lfirst(index), clause);

			if (gate != NULL)
			{
				gates = lappend(gates, gate);
				break;
			}
		}
	}
	foreach(cell, gates)
		add_gate(root, rel, lfirst(cell));
	/* another user may not be allowed to call it */
	if (gates != NIL)
		root->glob->dependsOnRole = true;
}

void
cuckoo_gate_init(void)
{
	next_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_gates;
}
