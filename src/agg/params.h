/*-------------------------------------------------------------------------
 *
 * agg/params.h
 *		The parameters of cf_agg (agg/params.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PARAMS_H
#define CUCKOO_PARAMS_H

#include "agg/state.h"

/* The parameters after the value: [fpp] or [capacity, fpp [, seed]]. */
extern void cuckoo_read_params(CuckooAggParams *params, int nargs,
							   const NullableDatum *args);

/* Throws an error if a row has other parameters than the rows before. */
extern void cuckoo_check_params(const CuckooAggParams *params, int nargs,
								const NullableDatum *args);

/* Throws an error unless two states are for the same filter. */
extern void cuckoo_compare_params(const CuckooAggParams *a,
								  const CuckooAggParams *b);

/*
 * The parameters of an aggregate that saw no value.  They come from the query.
 * If they depend on rows or are not found there, they are the defaults.
 */
extern void cuckoo_find_params(FunctionCallInfo fcinfo,
							   CuckooAggParams *params);

#endif							/* CUCKOO_PARAMS_H */
