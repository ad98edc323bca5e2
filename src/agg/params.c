/*-------------------------------------------------------------------------
 *
 * agg/params.c
 *		The parameters of cf_agg: capacity, false-positive rate and seed.
 *
 * They come with each row, and must be the same for all rows.  An aggregate
 * that saw no row finds them in its call, in the plan of the query.
 *
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

void
cuckoo_read_params(CuckooAggParams *params, int nargs,
				   const NullableDatum *args)
{
	static const char *const names[] = {"capacity", "fpp", "seed"};
	int			first = nargs == 1 ? 1 : 0;
	double		fpp = CUCKOO_DEFAULT_FPP;

	memset(params, 0, sizeof(*params));
	for (int i = 0; first + i < (int) lengthof(names) && i < nargs; i++)
		if (args[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[first + i]),
					 errhint("Specify a value, or use a form of cf_agg without this argument.")));

	if (nargs > 2)
		params->seed = (uint64) DatumGetInt64(args[2].value);
	if (nargs > 0)
		fpp = DatumGetFloat8(args[nargs == 1 ? 0 : 1].value);
	if (nargs == 1 && fpp > CUCKOO_MAX_FPP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("The second argument of cf_agg(value, fpp) is the false-positive rate, and its value is %g.",
						   fpp),
				 errhint("fpp must be between %g and %g. To specify a capacity, use cf_agg(value, capacity, fpp).",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	params->bits = cuckoo_checked_fpp(fpp);
	if (nargs > 1)
	{
		CuckooHeader h;
		double		capacity = DatumGetFloat8(args[0].value);

		params->capacity = cuckoo_checked_capacity(&h, capacity, params->bits,
												   params->seed);
	}
}

/* In what two states or rows differ, with the values of both. */
static const char *
difference(const CuckooAggParams *a, const CuckooAggParams *b)
{
	CuckooHeader x = {.fpp_bits = a->bits};
	CuckooHeader y = {.fpp_bits = b->bits};
	StringInfoData text;

	initStringInfo(&text);
	if ((a->capacity == 0) != (b->capacity == 0))
		appendStringInfo(&text, "capacity (an exact fit, and %lld)",
						 (long long) Max(a->capacity, b->capacity));
	else if (a->capacity != b->capacity)
		appendStringInfo(&text, "capacity (%lld and %lld)",
						 (long long) a->capacity, (long long) b->capacity);
	if (a->bits != b->bits)
		appendStringInfo(&text, "%sfpp (%.3g and %.3g, "
						 "rounded down to what whole bits give)",
						 text.len > 0 ? ", " : "", cuckoo_fpp_at_capacity(&x),
						 cuckoo_fpp_at_capacity(&y));
	if (a->seed != b->seed)
		appendStringInfo(&text, "%sseed (%lld and %lld)",
						 text.len > 0 ? ", " : "", (long long) a->seed,
						 (long long) b->seed);
	return text.data;
}

void
cuckoo_check_params(const CuckooAggParams *params, int nargs,
					const NullableDatum *args)
{
	CuckooAggParams given;

	if (nargs > 1 && !args[0].isnull && !args[1].isnull &&
		ceil(DatumGetFloat8(args[0].value)) == (double) params->capacity &&
		cuckoo_checked_fpp(DatumGetFloat8(args[1].value)) == params->bits &&
		(nargs == 2 ||
		 (!args[2].isnull &&
		  (uint64) DatumGetInt64(args[2].value) == params->seed)))
		return;
	cuckoo_read_params(&given, nargs, args);
	if (given.bits != params->bits || given.capacity != params->capacity ||
		given.seed != params->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity, fpp and seed of cf_agg must be the same for all rows"),
				 errdetail("A row differs from the rows before it in %s.",
						   difference(params, &given)),
				 errhint("Use constants, or group by the columns that they depend on.")));
}

void
cuckoo_compare_params(const CuckooAggParams *a, const CuckooAggParams *b)
{
	if (a->family != b->family || a->tag != b->tag)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine states of cf_agg over different element types"),
				 a->family == b->family ?
				 errdetail("Both states are of the family \"%s\", but of different types or collations.",
						   cuckoo_family_name(a->family)) :
				 errdetail("The families are \"%s\" and \"%s\".",
						   cuckoo_family_name(a->family),
						   cuckoo_family_name(b->family)),
				 errhint("Cast the elements of both states to the same type.")));
	if (a->bits != b->bits || a->capacity != b->capacity || a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine states of cf_agg with different parameters"),
				 errdetail("The states differ in %s.", difference(a, b)),
				 errhint("Create both states with the same arguments of cf_agg.")));
}

/*
 * Returns the expression that a Var of a plan node stands for, or NULL if it is
 * not known.  *plan becomes the node of the expression.  Vars refer to children
 * as in set_deparse_plan() of ruleutils.c.
 */
static Expr *
find_referenced_expr(Plan **plan, const Var *var)
{
	Plan	   *parent = *plan;
	List	   *entries;

	if (var->varno == INDEX_VAR && IsA(parent, CustomScan))
		entries = ((CustomScan *) parent)->custom_scan_tlist;
	else if (var->varno == INDEX_VAR && IsA(parent, ForeignScan))
		entries = ((ForeignScan *) parent)->fdw_scan_tlist;
	else
	{
		List	   *children = NIL;

		if (IsA(parent, Append))
			children = ((Append *) parent)->appendplans;
		else if (IsA(parent, MergeAppend))
			children = ((MergeAppend *) parent)->mergeplans;
		else if (IsA(parent, CustomScan))
			children = ((CustomScan *) parent)->custom_plans;

		if (var->varno == OUTER_VAR)
			*plan = children != NIL ? linitial(children) : outerPlan(parent);
		else if (var->varno == INNER_VAR)
			*plan = innerPlan(parent);
		else if (IsA(parent, SubqueryScan))
			*plan = ((SubqueryScan *) parent)->subplan;
		else
			*plan = NULL;
		entries = *plan != NULL ? (*plan)->targetlist : NIL;
	}
	if (var->varattno < 1 || var->varattno > list_length(entries))
		return NULL;
	return list_nth_node(TargetEntry, entries, var->varattno - 1)->expr;
}

/*
 * The arguments of the aggregate being finished, as target entries; NIL if
 * they are not known.  The argument of an aggregate that combines partial
 * states is a Var, which leads down the plan to the node that makes these
 * states.
 */
static List *
find_arguments(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Plan	   *plan;

	if (aggref == NULL)
		return NIL;
	plan = ((AggState *) fcinfo->context)->ss.ps.plan;
	while (DO_AGGSPLIT_COMBINE(aggref->aggsplit))
	{
		Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;

		while (arg != NULL && IsA(arg, Var))
			arg = find_referenced_expr(&plan, (Var *) arg);
		if (arg == NULL || !IsA(arg, Aggref))
			return NIL;
		aggref = (Aggref *) arg;
	}
	return aggref->args;
}

void
cuckoo_find_params(FunctionCallInfo fcinfo, CuckooAggParams *params)
{
	static const Oid types[] = {FLOAT8OID, FLOAT8OID, INT8OID};
	ListCell   *cell;
	Expr	   *exprs[3];
	NullableDatum args[3];
	int			nargs = 0;

	/* the first argument is the value, and the junk serves ORDER BY */
	for_each_from(cell, find_arguments(fcinfo), 1)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Node	   *expr = (Node *) entry->expr;

		if (entry->resjunk || nargs == (int) lengthof(exprs))
			break;
		/* the aggregate may be somebody else's, over our functions */
		if (exprType(expr) != types[nargs] || contain_var_clause(expr) ||
			contain_subplans(expr))
		{
			nargs = 0;
			break;
		}
		exprs[nargs++] = entry->expr;
	}

	for (int i = 0; i < nargs; i++)
	{
		EState	   *estate = ((AggState *) fcinfo->context)->ss.ps.state;
		ExprState  *expr = ExecInitExprWithParams(exprs[i],
												  estate->es_param_list_info);

		args[i].value =
			ExecEvalExprSwitchContext(expr, GetPerTupleExprContext(estate),
									  &args[i].isnull);
	}
	cuckoo_read_params(params, nargs, args);
}
