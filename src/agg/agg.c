/*-------------------------------------------------------------------------
 *
 * agg/agg.c
 *		The aggregate cf_agg and its parameters.
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

#include "lib/stringinfo.h"
#include "utils/datum.h"

PG_FUNCTION_INFO_V1(cuckoo_agg_trans);
PG_FUNCTION_INFO_V1(cuckoo_agg_combine);
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
PG_FUNCTION_INFO_V1(cuckoo_agg_internal_trans);
PG_FUNCTION_INFO_V1(cuckoo_agg_internal_combine);

/* The arguments of the last row, zeroed before the first one. */
typedef struct AggArgs
{
	int64		bits[3];		/* of the numbers: both types have 8 bytes */
	CuckooAggParams params;		/* what they give */
} AggArgs;

/* What fn_extra keeps for cuckoo_agg_trans(). */
typedef struct AggCache
{
	CuckooHasher hasher;
	AggArgs		last;
} AggCache;

/* ---- parameters ---- */

/* Reads the arguments after the value: [fpp] or [capacity, fpp [, seed]]. */
static void
read_params(CuckooAggParams *params, int nargs, const NullableDatum *args)
{
	static const char *const names[] = {"capacity", "fpp", "seed"};
	int			first = nargs == 1 ? 1 : 0;
	double		fpp = CUCKOO_DEFAULT_FPP;

	memset(params, 0, sizeof(*params));
	for (int i = 0; first + i < (int) lengthof(names) && i < nargs; i++)
		if (args[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[first + i]),
					 errhint("Specify a value, or use a variant of cf_agg without this argument.")));

	if (nargs > 2)
		params->seed = (uint64) DatumGetInt64(args[2].value);
	if (nargs > 0)
		fpp = DatumGetFloat8(args[nargs == 1 ? 0 : 1].value);
	if (nargs == 1 && fpp > CUCKOO_MAX_FPP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("The second argument of cf_agg(value, fpp) is the false-positive rate, and its value is %g.",
						   fpp),
				 errhint("fpp must be between %g and %g. To specify a capacity, use cf_agg(value, capacity, fpp).",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	params->bits = cuckoo_checked_fpp(fpp);
	if (nargs > 1)
	{
		CuckooHeader h;
		double		capacity = DatumGetFloat8(args[0].value);

		params->capacity = cuckoo_checked_capacity(&h, capacity, params->bits,
												   params->seed);
	}
}

/* Describes in which parameters two states or rows differ, with the values. */
static const char *
difference(const CuckooAggParams *a, const CuckooAggParams *b)
{
	CuckooHeader x = {.fpp_bits = a->bits};
	CuckooHeader y = {.fpp_bits = b->bits};
	StringInfoData text;

	initStringInfo(&text);
	if ((a->capacity == 0) != (b->capacity == 0))
		appendStringInfo(&text, "capacity (an exact fit, and %lld)",
						 (long long) Max(a->capacity, b->capacity));
	else if (a->capacity != b->capacity)
		appendStringInfo(&text, "capacity (%lld and %lld)",
						 (long long) a->capacity, (long long) b->capacity);
	if (a->bits != b->bits)
		appendStringInfo(&text, "%sfpp (%.3g and %.3g, "
						 "rounded down to whole bits)",
						 text.len > 0 ? ", " : "", cuckoo_fpp_at_capacity(&x),
						 cuckoo_fpp_at_capacity(&y));
	if (a->seed != b->seed)
		appendStringInfo(&text, "%sseed (%lld and %lld)",
						 text.len > 0 ? ", " : "", (long long) a->seed,
						 (long long) b->seed);
	return text.data;
}

/*
 * Throws error 22023 if a row has other parameters than the rows before.  Reads
 * them only if its arguments differ from the last row's arguments.
 */
static void
check_params(const CuckooAggParams *params, int nargs,
			 const NullableDatum *args, AggArgs *last)
{
	const CuckooAggParams *given = &last->params;
	bool		same = given->bits != 0;

	nargs = Min(nargs, (int) lengthof(last->bits));
	for (int i = 0; i < nargs; i++)
		same = same && !args[i].isnull &&
			DatumGetInt64(args[i].value) == last->bits[i];
	if (!same)
	{
		AggArgs		row = {.bits = {0}};

		read_params(&row.params, nargs, args);
		for (int i = 0; i < nargs; i++)
			row.bits[i] = DatumGetInt64(args[i].value);
		*last = row;
	}
	if (given->bits != params->bits || given->capacity != params->capacity ||
		given->seed != params->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity, fpp and seed of cf_agg must be the same for all rows"),
				 errdetail("A row differs from the rows before it in %s.",
						   difference(params, given)),
				 errhint("Use constants, or group by the columns that they depend on.")));
}

/* Throws an error unless two states have equal parameters. */
static void
compare_params(const CuckooAggParams *a, const CuckooAggParams *b)
{
	if (a->family != b->family || a->tag != b->tag)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine states of cf_agg over different element types"),
				 a->family == b->family ?
				 errdetail("Both states are of the family \"%s\", but of different types or collations.",
						   cuckoo_family_name(a->family)) :
				 errdetail("The families are \"%s\" and \"%s\".",
						   cuckoo_family_name(a->family),
						   cuckoo_family_name(b->family)),
				 errhint("Cast the elements of both states to the same type.")));
	if (a->bits != b->bits || a->capacity != b->capacity || a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine states of cf_agg with different parameters"),
				 errdetail("The states differ in %s.", difference(a, b)),
				 errhint("Create both states with the same arguments of cf_agg.")));
}

/* ---- the functions of the aggregate ---- */

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
		read_params(&state.params, nargs, args);
		state.params.family = hasher->family;
		state.params.tag = hasher->tag;
		cuckoo_new_state(&state);
	}
	else
	{
		/* in an aggregate this is the state returned for the last row */
		cuckoo_open_state(&state, PG_GETARG_DATUM(0), ours);
		if (nargs > 0)
			check_params(&state.params, nargs, args,
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
	compare_params(&a.params, &b.params);
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
