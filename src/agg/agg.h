/*-------------------------------------------------------------------------
 *
 * agg/agg.h
 *		The type of the states of cf_agg.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGG_H
#define CUCKOO_AGG_H

#include "compat.h"

#include "fmgr.h"

/* The planner recognizes the type by its input function. */
extern Datum cuckoostate_in(PG_FUNCTION_ARGS);

#endif							/* CUCKOO_AGG_H */
