/*-------------------------------------------------------------------------
 *
 * planner/test.c
 *		Recognizing membership tests and their arguments.
 *
 * A condition is a test if it calls one of our C functions, under any name and
 * schema.  Any function or operator may name our support and selectivity
 * functions.  These therefore check the declared types of the arguments
 * instead.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"
#include "probe/probe.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

List *
cuckoo_call_arguments(const Node *node, Oid *function)
{
	Oid			operator;
	List	   *args;

	if (node == NULL)
		return NIL;
	if (IsA(node, FuncExpr))
	{
		*function = ((const FuncExpr *) node)->funcid;
		args = ((const FuncExpr *) node)->args;
		return *function >= FirstNormalObjectId ? args : NIL;
	}
	if (IsA(node, OpExpr))
	{
		operator = ((const OpExpr *) node)->opno;
		args = ((const OpExpr *) node)->args;
	}
	else if (IsA(node, ScalarArrayOpExpr))
	{
		operator = ((const ScalarArrayOpExpr *) node)->opno;
		args = ((const ScalarArrayOpExpr *) node)->args;
	}
	else
		return NIL;
	if (operator < FirstNormalObjectId)
		return NIL;
	*function = get_opcode(operator);
	return args;
}

bool
cuckoo_recognize_test(CuckooTest *test, Node *condition)
{
	List	   *args;
	Oid			function;

	test->negated = is_notclause(condition);
	if (test->negated)
		condition = (Node *) get_notclausearg((Expr *) condition);
	test->call = condition;
	test->any = IsA(condition, ScalarArrayOpExpr);
	if (test->any &&
		(test->negated || !((ScalarArrayOpExpr *) condition)->useOr))
		return false;
	args = cuckoo_call_arguments(condition, &function);

	/* first a quick check: few other functions have a support function */
	if (list_length(args) != 2 || !OidIsValid(get_func_support(function)))
		return false;
	fmgr_info(function, &test->info);
	if (test->info.fn_addr != cuckoo_contained &&
		(test->info.fn_addr != cf_contains || test->any))
		return false;
	test->filter_no = test->info.fn_addr == cf_contains ? 0 : 1;
	test->filter = list_nth(args, test->filter_no);
	test->element = list_nth(args, 1 - test->filter_no);
	while (IsA(test->element, RelabelType))
		test->element = ((RelabelType *) test->element)->arg;
	return true;
}

bool
cuckoo_test_arguments(Oid function, List *args, Node **filter, Oid *filter_type,
					  Node **element)
{
	Oid		   *types;
	int			nargs;
	int			element_no;

	get_func_signature(function, &types, &nargs);
	if (nargs != 2 || list_length(args) != 2)
		return false;
	element_no = IsPolymorphicType(types[0]) ? 0 : 1;
	*element = list_nth(args, element_no);
	*filter = list_nth(args, 1 - element_no);
	*filter_type = types[1 - element_no];
	return true;
}
