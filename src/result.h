/*-------------------------------------------------------------------------
 *
 * result.h
 *		The row types of the results of SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_RESULT_H
#define CUCKOO_RESULT_H

#include "compat.h"

#include "fmgr.h"
#include "access/tupdesc.h"

/*
 * The row type of a function's result, which must have `columns` columns.
 * Error 0A000 if the function was declared by another version's script.
 */
extern TupleDesc cuckoo_result_tupdesc(FunctionCallInfo fcinfo, int columns);

#endif							/* CUCKOO_RESULT_H */
