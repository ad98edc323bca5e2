/*-------------------------------------------------------------------------
 *
 * cuckoo_growth.c
 *		How much memory calls of a function leave behind, without the reset that
 *		follows each row of a query.
 *
 * cuckoo_growth(function, calls, arguments ...) returns the bytes by which the
 * memory of the caller grows.  Results are freed.  The first calls, which may
 * fill caches, do not count.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(cuckoo_growth);

#define FIRST_CALLS		100

static void
free_result(Datum result, FunctionCallInfo call)
{
	for (int i = 0; i < call->nargs; i++)
		if (result == call->args[i].value)
			return;
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(result)))
		DeleteExpandedObject(result);
	else
		pfree(DatumGetPointer(result));
}

Datum
cuckoo_growth(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	MemoryContext site = AllocSetContextCreate(CurrentMemoryContext, "site",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "work",
											   ALLOCSET_SMALL_SIZES);
	Oid			function = PG_GETARG_OID(0);
	Oid			type = get_func_rettype(function);
	int			calls = PG_GETARG_INT32(1);
	int			nargs = PG_NARGS() - 2;
	List	   *args = NIL;
	Size		before = 0;
	FmgrInfo	flinfo;
	MemoryContext caller;

	for (int i = 0; i < nargs; i++)
	{
		Oid			arg = get_fn_expr_argtype(fcinfo->flinfo, i + 2);

		args = lappend(args, makeNullConst(arg, -1, InvalidOid));
	}
	fmgr_info_cxt(function, &flinfo, site);
	fmgr_info_set_expr((Node *) makeFuncExpr(function, type, args, InvalidOid,
											 PG_GET_COLLATION(),
											 COERCE_EXPLICIT_CALL), &flinfo);
	InitFunctionCallInfoData(*call, &flinfo, nargs, PG_GET_COLLATION(), NULL,
							 NULL);
	caller = MemoryContextSwitchTo(work);
	for (int i = 0; i < FIRST_CALLS + calls; i++)
	{
		Datum		result;

		if (i == FIRST_CALLS)
			before = MemoryContextMemAllocated(work, true) +
				MemoryContextMemAllocated(site, true);
		for (int k = 0; k < nargs; k++)
			call->args[k] = fcinfo->args[k + 2];
		call->isnull = false;
		result = FunctionCallInvoke(call);
		if (!call->isnull && !get_typbyval(type))
			free_result(result, call);
	}
	MemoryContextSwitchTo(caller);
	PG_RETURN_INT64(MemoryContextMemAllocated(work, true) +
					MemoryContextMemAllocated(site, true) - before);
}
