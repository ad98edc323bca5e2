/*-------------------------------------------------------------------------
 *
 * planner/test.c
 *		Recognizing a membership test: which condition is one, and which of its
 *		arguments is the filter.
 *
 * A condition is a test if it calls one of our C functions, whatever its name
 * and schema.  Any operator may name our support functions, however, so these
 * look at the declared types of the arguments.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/estimate.h"
#include "probe/probe.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

/*
 * The arguments of a call or an operator, or of an operator with ANY or ALL of
 * an array, and its function and collation.  NIL if it is none of these.
 */
static List *
call_parts(Node *node, Oid *function, Oid *collation)
{
	if (node != NULL && IsA(node, FuncExpr))
	{
		*function = ((FuncExpr *) node)->funcid;
		*collation = ((FuncExpr *) node)->inputcollid;
		return ((FuncExpr *) node)->args;
	}
	if (node != NULL && IsA(node, OpExpr))
	{
		*function = get_opcode(((OpExpr *) node)->opno);
		*collation = ((OpExpr *) node)->inputcollid;
		return ((OpExpr *) node)->args;
	}
	if (node != NULL && IsA(node, ScalarArrayOpExpr))
	{
		*function = get_opcode(((ScalarArrayOpExpr *) node)->opno);
		*collation = ((ScalarArrayOpExpr *) node)->inputcollid;
		return ((ScalarArrayOpExpr *) node)->args;
	}
	return NIL;
}

bool
cuckoo_recognize_test(CuckooTest *test, Node *condition)
{
	List	   *args;

	test->negated = is_notclause(condition);
	if (test->negated)
		condition = (Node *) get_notclausearg((Expr *) condition);
	test->call = condition;
	test->any = IsA(condition, ScalarArrayOpExpr);
	if (test->any &&
		(test->negated || !((ScalarArrayOpExpr *) condition)->useOr))
		return false;
	args = call_parts(condition, &test->function, &test->collation);

	/* few functions but ours have a support function, so this is quick */
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

List *
cuckoo_call_arguments(Node *node)
{
	Oid			function;
	Oid			collation;

	return call_parts(node, &function, &collation);
}
