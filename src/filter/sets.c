/*-------------------------------------------------------------------------
 *
 * filter/sets.c
 *		Filters as sets: union, sum, intersection, overlap, canonical form.
 *
 * Filters of one geometry, seed and element family are combined by their keys
 * (core/README, "Keys"), without their elements.  Every result is canonical:
 * equal sets give equal bytes.  The functions are therefore commutative and
 * associative byte for byte.  The aggregates give the same bytes in any order
 * of rows, and from partial states.
 *
 * cf_union(), cf_union_all() and cf_intersect() are also the transition and
 * combine functions of aggregates, whose states are in filter/set_state.c.
 *
 *-------------------------------------------------------------------------
 */
#include "error.h"
#include "filter/filter.h"
#include "result.h"

#include "access/htup_details.h"
#include "funcapi.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_union);
PG_FUNCTION_INFO_V1(cf_union_all);
PG_FUNCTION_INFO_V1(cf_intersect);
PG_FUNCTION_INFO_V1(cuckoo_at_least_trans);
PG_FUNCTION_INFO_V1(cuckoo_at_least_final);
PG_FUNCTION_INFO_V1(cf_overlap);
PG_FUNCTION_INFO_V1(cf_overlap_info);
PG_FUNCTION_INFO_V1(cf_canonical);

/* The state of an aggregate is a plain filter up to this number of items. */
#define SMALL_ITEMS		1000

/* Returns the filter of an argument, and its header in *h. */
static const struct varlena *
filter_argument(FunctionCallInfo fcinfo, int argno, CuckooHeader *h)
{
	CuckooSetState *state = cuckoo_set_state(PG_GETARG_DATUM(argno));
	const struct varlena *filter = state != NULL ?
		cuckoo_set_filter(state, false) :
		cuckoo_filter(PG_GETARG_DATUM(argno));

	cuckoo_open(h, filter);
	return filter;
}

/* Combines two filters or, in an aggregate, the state with another filter. */
static Datum
combine(FunctionCallInfo fcinfo, CuckooMerge how)
{
	CuckooSetState *state = cuckoo_set_state(PG_GETARG_DATUM(0));
	CuckooHeader ha,
				hb;
	const struct varlena *a;
	const struct varlena *b = filter_argument(fcinfo, 1, &hb);
	MemoryContext context;
	CuckooRun	run;

	if (state != NULL && state->how == how &&
		DatumIsReadWriteExpandedObject(PG_GETARG_DATUM(0), false, -1))
	{
		cuckoo_set_add(state, &hb, b);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
	}
	a = filter_argument(fcinfo, 0, &ha);
	cuckoo_check_compatible(&ha, &hb);
	if (AggCheckCallContext(fcinfo, &context) &&
		ha.items + hb.items > SMALL_ITEMS)
	{
		state = cuckoo_new_set_state(how, 0, &ha, a, context);
		cuckoo_set_add(state, &hb, b);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
	}
	run = cuckoo_merge_runs(how, 0, cuckoo_read_run(&ha, a),
							cuckoo_read_run(&hb, b));
	cuckoo_header_inherit(&ha, &hb);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&ha, run.keys, run.count));
}

Datum
cf_union(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, CUCKOO_MERGE_UNION);
}

Datum
cf_union_all(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, CUCKOO_MERGE_SUM);
}

Datum
cf_intersect(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, CUCKOO_MERGE_INTERSECTION);
}

/* cuckoo_at_least_trans(state, filter, k), of cf_at_least_agg */
Datum
cuckoo_at_least_trans(PG_FUNCTION_ARGS)
{
	CuckooSetState *state = PG_ARGISNULL(0) ? NULL :
		(CuckooSetState *) PG_GETARG_POINTER(0);
	MemoryContext context;
	CuckooHeader h;
	int			k = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "function of an aggregate called elsewhere");
	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("k of cf_at_least_agg must not be null"),
				 errhint("Specify in how many filters an element must be.")));
	if (k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k of cf_at_least_agg is out of range"),
				 errdetail("k is %d.", k),
				 errhint("k is the number of filters in which an element must be, at least 1.")));
	if (state != NULL && !PG_ARGISNULL(1) && state->least != (uint32) k)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k of cf_at_least_agg must be the same for all filters"),
				 errdetail("k is %d for one filter, and %u for the filters before it.",
						   k, state->least),
				 errhint("Use a constant, or group by the columns that it depends on.")));

	/* null filters are skipped, but k must be in range in their rows, too */
	if (!PG_ARGISNULL(1))
	{
		const struct varlena *filter = filter_argument(fcinfo, 1, &h);

		if (state != NULL)
			cuckoo_set_add(state, &h, filter);
		else
			state = cuckoo_new_set_state(CUCKOO_MERGE_UNION, (uint32) k, &h,
										 filter, context);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/* cuckoo_at_least_final(state): the filter of all keys in k or more filters */
Datum
cuckoo_at_least_final(PG_FUNCTION_ARGS)
{
	CuckooSetState *state = (CuckooSetState *) PG_GETARG_POINTER(0);
	CuckooHeader h = state->header;
	uint64	   *keys;
	Size		n;

	cuckoo_set_merge(state);
	keys = cuckoo_new_keys(state->runs[0].count);
	n = cuckoo_keys_at_least(&state->runs[0], state->least, keys);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&h, keys, n));
}

static void
estimate_overlap(FunctionCallInfo fcinfo, CuckooOverlap *overlap)
{
	CuckooHeader ha,
				hb;
	const struct varlena *a = filter_argument(fcinfo, 0, &ha);
	const struct varlena *b = filter_argument(fcinfo, 1, &hb);
	CuckooRun	run_a,
				run_b;

	cuckoo_check_compatible(&ha, &hb);
	run_a = cuckoo_read_run(&ha, a);
	run_b = cuckoo_read_run(&hb, b);
	run_a.count = cuckoo_keys_limit(run_a.keys, run_a.count, 1);
	run_b.count = cuckoo_keys_limit(run_b.keys, run_b.count, 1);
	cuckoo_header_inherit(&ha, &hb);
	cuckoo_overlap(&ha, run_a.count, run_b.count,
				   cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, run_a.keys,
									 run_a.count, run_b.keys, run_b.count,
									 NULL), overlap);
	pfree(run_a.keys);
	pfree(run_b.keys);
}

/* cf_overlap(a, b): the estimated number of common elements */
Datum
cf_overlap(PG_FUNCTION_ARGS)
{
	CuckooOverlap overlap;

	estimate_overlap(fcinfo, &overlap);
	PG_RETURN_FLOAT8(overlap.common);
}

/* cf_overlap_info(a, b): the estimate of cf_overlap(), its error, and more */
Datum
cf_overlap_info(PG_FUNCTION_ARGS)
{
	CuckooOverlap overlap;
	TupleDesc	desc;
	double		figures[7];
	Datum		values[lengthof(figures)];
	bool		nulls[lengthof(figures)];

	desc = cuckoo_result_tupdesc(fcinfo, lengthof(figures));
	estimate_overlap(fcinfo, &overlap);
	figures[0] = overlap.common;
	figures[1] = overlap.standard_error;
	figures[2] = overlap.a - overlap.common;
	figures[3] = overlap.b - overlap.common;
	figures[4] = overlap.a + figures[3];
	figures[5] = overlap.common / figures[4];
	figures[6] = overlap.common / overlap.a;
	for (int i = 0; i < (int) lengthof(figures); i++)
	{
		values[i] = Float8GetDatum(figures[i]);
		/* a share of an empty set is NaN, and null in SQL */
		nulls[i] = isnan(figures[i]);
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

/* cf_canonical(f): the canonical form; final function of the aggregates */
Datum
cf_canonical(PG_FUNCTION_ARGS)
{
	CuckooSetState *state = cuckoo_set_state(PG_GETARG_DATUM(0));
	bool		last_use = AggCheckCallContext(fcinfo, NULL) != 0;
	const struct varlena *filter;
	CuckooHeader h;
	CuckooRun	run;

	/* an aggregate does not use its state after an error */
	if (state != NULL)
		PG_RETURN_POINTER(cuckoo_set_filter(state, last_use));
	filter = filter_argument(fcinfo, 0, &h);
	run = cuckoo_read_run(&h, filter);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&h, run.keys, run.count));
}
