/*-------------------------------------------------------------------------
 *
 * planner/test.c
 *		Recognizing a filter test in a condition.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/estimate.h"
#include "probe/probe.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

bool
cuckoo_recognize_test(CuckooTest *test, Node *condition)
{
	List	   *args;

	test->any = false;
	test->negated = is_notclause(condition);
	if (test->negated)
		condition = (Node *) get_notclausearg((Expr *) condition);
	test->call = condition;
	if (IsA(condition, FuncExpr))
	{
		test->function = ((FuncExpr *) condition)->funcid;
		test->collation = ((FuncExpr *) condition)->inputcollid;
		args = ((FuncExpr *) condition)->args;
	}
	else if (IsA(condition, OpExpr))
	{
		test->function = ((OpExpr *) condition)->opfuncid;
		test->collation = ((OpExpr *) condition)->inputcollid;
		args = ((OpExpr *) condition)->args;
	}
	else if (IsA(condition, ScalarArrayOpExpr) && !test->negated &&
			 ((ScalarArrayOpExpr *) condition)->useOr)
	{
		test->function = ((ScalarArrayOpExpr *) condition)->opfuncid;
		test->collation = ((ScalarArrayOpExpr *) condition)->inputcollid;
		args = ((ScalarArrayOpExpr *) condition)->args;
		test->any = true;
	}
	else
		return false;

	/* a quick check: ours have a support function, and few others do */
	if (list_length(args) != 2 || !OidIsValid(get_func_support(test->function)))
		return false;
	fmgr_info(test->function, &test->info);
	if (test->info.fn_addr != cuckoo_contained &&
		(test->info.fn_addr != cf_contains || test->any))
		return false;
	test->filter_no = test->info.fn_addr == cf_contains ? 0 : 1;
	test->filter = list_nth(args, test->filter_no);
	test->element = list_nth(args, 1 - test->filter_no);
	return true;
}

/*
 * Finds the arguments of a call of `function`: cf_contains, or cuckoo_contained
 * with its arguments exchanged.  Returns false if it is another function.
 */
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
