/*-------------------------------------------------------------------------
 *
 * planner/support.c
 *		Support functions: selectivity and cost of a test, and changing a
 *		PL/pgSQL variable in place.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"
#include "probe/probe.h"

#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(cuckoo_contains_support);
PG_FUNCTION_INFO_V1(cuckoo_contains_sel);
PG_FUNCTION_INFO_V1(cuckoo_change_support);

/* True for a test of an array.  *all: the filter must contain all elements. */
static bool
is_array_test(Oid function, bool *all)
{
	FmgrInfo	info;

	fmgr_info(function, &info);
	*all = info.fn_addr == cf_contains_all;
	return *all || info.fn_addr == cf_contains_any;
}

/*
 * Estimates a test of an array of elements, which are assumed independent.
 * Returns false unless the array lists expressions.
 */
static bool
estimate_array_test(SupportRequestSelectivity *request, bool all)
{
	Node	   *array = lsecond(request->args);
	Selectivity product = 1;
	ListCell   *cell;

	if (!IsA(array, ArrayExpr) || ((ArrayExpr *) array)->multidims)
		return false;
	foreach(cell, ((ArrayExpr *) array)->elements)
	{
		List	   *args = list_make2(linitial(request->args), lfirst(cell));
		Selectivity share = cuckoo_selectivity(request->root, request->funcid,
											   request->inputcollid, args,
											   request->varRelid);

		product *= all ? share : 1 - share;
	}
	request->selectivity = all ? product : 1 - product;
	return true;
}

/* Support function of all membership tests. */
Datum
cuckoo_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *node = (Node *) PG_GETARG_POINTER(0);
	bool		all;

	if (IsA(node, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *request = (SupportRequestSelectivity *) node;

		if (is_array_test(request->funcid, &all))
			PG_RETURN_POINTER(estimate_array_test(request, all) ? request
							  : NULL);
		request->selectivity = cuckoo_selectivity(request->root,
												  request->funcid,
												  request->inputcollid,
												  request->args,
												  request->varRelid);
		PG_RETURN_POINTER(request);
	}
	if (IsA(node, SupportRequestCost))
	{
		SupportRequestCost *request = (SupportRequestCost *) node;
		Oid			function;
		List	   *args = cuckoo_call_arguments(request->node, &function);
		Node	   *filter;
		Oid			filter_type;
		Node	   *element;

		if (!is_array_test(request->funcid, &all) &&
			cuckoo_test_arguments(request->funcid, args, &filter, &filter_type,
								  &element))
		{
			request->startup = 0;
			request->per_tuple = cpu_operator_cost *
				(contain_var_clause(filter) ? CUCKOO_COST_OF_ANOTHER_FILTER
				 : CUCKOO_COST_OF_A_TEST);
			PG_RETURN_POINTER(request);
		}
	}
	PG_RETURN_POINTER(NULL);
}

/*
 * Selectivity of the operators as restrictions, and as join clauses if the
 * filter is a column.  Only the former have four arguments.
 */
Datum
cuckoo_contains_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(cuckoo_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
										get_opcode(PG_GETARG_OID(1)),
										PG_GET_COLLATION(),
										(List *) PG_GETARG_POINTER(2),
										PG_NARGS() == 4 ? PG_GETARG_INT32(3)
										: 0));
}

/*
 * Support function of cf_add() and other changes by one element.  These
 * functions may change the variable f of "f := cf_add(f, x)" in place, because
 * an error leaves f unchanged.  x may depend on f: it is hashed before f
 * changes.
 */
Datum
cuckoo_change_support(PG_FUNCTION_ARGS)
{
	Node	   *result = NULL;

#ifdef CUCKOO_MODIFY_IN_PLACE
	Node	   *node = (Node *) PG_GETARG_POINTER(0);

	if (IsA(node, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *request =
			(SupportRequestModifyInPlace *) node;
		Param	   *filter = linitial(request->args);

		if (filter != NULL && IsA(filter, Param) &&
			filter->paramkind == PARAM_EXTERN &&
			filter->paramid == request->paramid)
			result = (Node *) filter;
	}
#endif
	PG_RETURN_POINTER(result);
}
