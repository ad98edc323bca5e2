/*-------------------------------------------------------------------------
 *
 * agg/agg.c
 *		The aggregate cf_agg.
 *
 * The final function builds the filter from the sorted hashes of the state
 * (agg/agg.h).  Equal sets therefore give equal filters, in any order, with any
 * duplicates and workers.
 *
 * The state of cf_agg is declared "internal".  A distributed engine then
 * fetches the rows instead of aggregating on its workers, where it would call
 * the transition function without the expression that determines the element
 * type.  The extension cuckoo_citus has variants of cf_agg for single types.
 * Their state is the SQL type cuckoostate, which an engine can send as text or
 * binary.  In memory both states are the same, see keep_state().
 *
 * The final function may sort an expanded state, but the set stays the same
 * (agg/state.c).  So the function is declared read-only: cf_agg works as a
 * window aggregate, and several aggregates may share one state.
 *
 * Distributed engines call the transition function with a new FmgrInfo for each
 * row.  So all data is in the state.  fn_extra is only a cache.
 *
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "error.h"

#include "utils/datum.h"

PG_FUNCTION_INFO_V1(cuckoo_agg_trans);
PG_FUNCTION_INFO_V1(cuckoo_agg_combine);
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
PG_FUNCTION_INFO_V1(cuckoo_agg_internal_trans);
PG_FUNCTION_INFO_V1(cuckoo_agg_internal_combine);

/* What fn_extra keeps for cuckoo_agg_trans(). */
typedef struct AggCache
{
	CuckooHasher hasher;
	CuckooAggArgs last;
} AggCache;

/* cuckoo_agg_trans(state, value [, fpp | , capacity, fpp [, seed]]) */
Datum
cuckoo_agg_trans(PG_FUNCTION_ARGS)
{
	const NullableDatum *args = fcinfo->args + 2;
	int			nargs = PG_NARGS() - 2;
	CuckooHasher *hasher = cuckoo_hasher(fcinfo, 1, sizeof(AggCache));
	MemoryContext context;
	bool		ours = AggCheckCallContext(fcinfo, &context) != 0;
	CuckooAggState state;

	/* outside an aggregate a flat argument must not be changed */
	if (!ours)
		context = CurrentMemoryContext;
	if (PG_ARGISNULL(0))
	{
		cuckoo_read_params(&state.params, nargs, args);
		state.params.family = hasher->family;
		state.params.tag = hasher->tag;
		cuckoo_new_state(&state);
	}
	else
	{
		/* in an aggregate this is the state returned for the last row */
		cuckoo_open_state(&state, PG_GETARG_DATUM(0), ours);
		if (nargs > 0)
			cuckoo_check_params(&state.params, nargs, args,
								&((AggCache *) hasher)->last);
		cuckoo_check_family(hasher, state.params.family, state.params.tag);
	}

	/* null values are skipped, but the parameters of their rows must agree */
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(state.datum);
	PG_RETURN_DATUM(cuckoo_add_hash(&state,
									cuckoo_hash(hasher, PG_GETARG_DATUM(1),
												state.params.seed),
									context));
}

/* cuckoo_agg_combine(state, state): the union of both sets */
Datum
cuckoo_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	CuckooAggState a,
				b;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	cuckoo_open_state(&b, PG_GETARG_DATUM(1), false);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(b.datum);

	if (!AggCheckCallContext(fcinfo, &context))
		context = CurrentMemoryContext;
	cuckoo_open_state(&a, PG_GETARG_DATUM(0), false);
	cuckoo_compare_params(&a.params, &b.params);
	PG_RETURN_DATUM(cuckoo_merge_states(&a, &b, context));
}

/*
 * cuckoo_agg_final(state): the filter.  Without values the filter is unsized,
 * even if rows with null values had parameters, so equal sets give equal bytes.
 */
Datum
cuckoo_agg_final(PG_FUNCTION_ARGS)
{
	CuckooAggState state;
	const CuckooAggParams *params = &state.params;
	CuckooHeader h;
	const uint64 *hashes = NULL;
	Size		n = 0;

	if (!PG_ARGISNULL(0))
	{
		cuckoo_open_state(&state, PG_GETARG_DATUM(0), false);
		hashes = cuckoo_get_hashes(&state, &n);
	}
	if (n == 0)
	{
		cuckoo_header_unsized(&h);
		PG_RETURN_POINTER(cuckoo_exact_filter(&h, NULL, 0));
	}
	/* cppcheck-suppress uninitvar ; n > 0 comes with a state */
	cuckoo_check_status(params->capacity == 0 ?
						cuckoo_header_exact(&h, n, params->bits,
											params->seed) :
						cuckoo_header_sized(&h, (uint64) params->capacity,
											params->bits, params->seed));
	h.family = params->family;
	h.tag = params->tag;
	PG_RETURN_POINTER(params->capacity == 0 ? cuckoo_exact_filter(&h, hashes, n)
					  : cuckoo_sized_filter(&h, hashes, n));
}

/* ---- states of STYPE internal ---- */

/*
 * Copies a new state to the aggregate's memory context and frees the old one,
 * as nodeAgg.c does for states by reference, but not for STYPE internal.  An
 * expanded state is in that context already, and is never replaced.
 */
static Datum
keep_state(FunctionCallInfo fcinfo, Datum state)
{
	MemoryContext context;
	MemoryContext caller;

	/* null (0), or the state that was passed, as nearly always */
	if (state == (Datum) 0 ||
		(!PG_ARGISNULL(0) && state == PG_GETARG_DATUM(0)))
		return state;
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "function of an aggregate called elsewhere");
	if (!DatumIsReadWriteExpandedObject(state, false, -1))
	{
		caller = MemoryContextSwitchTo(context);
		state = datumCopy(state, false, -1);
		MemoryContextSwitchTo(caller);
	}
	if (!PG_ARGISNULL(0))
		pfree(PG_GETARG_POINTER(0));
	return state;
}

/* cuckoo_agg_trans() and cuckoo_agg_combine() of internal states */
Datum
cuckoo_agg_internal_trans(PG_FUNCTION_ARGS)
{
	return keep_state(fcinfo, cuckoo_agg_trans(fcinfo));
}

Datum
cuckoo_agg_internal_combine(PG_FUNCTION_ARGS)
{
	return keep_state(fcinfo, cuckoo_agg_combine(fcinfo));
}
