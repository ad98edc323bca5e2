/*-------------------------------------------------------------------------
 *
 * planner/support.c
 *		What the planner asks about our functions, the selectivity and the cost
 *		of a test; and PL/pgSQL, whether a variable may be changed in place.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(cuckoo_contains_support);
PG_FUNCTION_INFO_V1(cuckoo_contains_sel);
PG_FUNCTION_INFO_V1(cuckoo_contains_joinsel);
PG_FUNCTION_INFO_V1(cuckoo_change_support);

/* Support function of cf_contains() and cuckoo_contained(). */
Datum
cuckoo_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *node = (Node *) PG_GETARG_POINTER(0);

	if (IsA(node, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *request = (SupportRequestSelectivity *) node;

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

		if (cuckoo_test_arguments(request->funcid, args, &filter, &filter_type,
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

/* Selectivity of the operators as restrictions. */
Datum
cuckoo_contains_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(cuckoo_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
										get_opcode(PG_GETARG_OID(1)),
										PG_GET_COLLATION(),
										(List *) PG_GETARG_POINTER(2),
										PG_GETARG_INT32(3)));
}

/* Selectivity of the operators as join clauses, if the filter is a column. */
Datum
cuckoo_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(cuckoo_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
										get_opcode(PG_GETARG_OID(1)),
										PG_GET_COLLATION(),
										(List *) PG_GETARG_POINTER(2),
										0));
}

/*
 * Support function of the functions that change a filter by one element.  They
 * may change the variable f of "f := cf_add(f, x)" in place, because an error
 * leaves it as it was.  x may depend on f, because it is hashed first.
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
