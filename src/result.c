/*-------------------------------------------------------------------------
 *
 * result.c
 *		The row types of the results of SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#include "result.h"

#include "funcapi.h"
#include "utils/regproc.h"

TupleDesc
cuckoo_result_tupdesc(FunctionCallInfo fcinfo, int columns)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != columns)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s does not return the columns that this version of the library provides",
						format_procedure(fcinfo->flinfo->fn_oid)),
				 errhint("Run ALTER EXTENSION cuckoo UPDATE.")));
	return BlessTupleDesc(desc);
}
