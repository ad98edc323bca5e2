/*-------------------------------------------------------------------------
 *
 * filter/sets.c
 *		Filters as sets: union, sum, intersection, overlap, canonical form.
 *
 * Filters of one geometry, seed and element family are combined by their keys
 * (core/keys.h), which needs no elements.  Every result is canonical: equal
 * sets give equal bytes.  This makes the functions commutative and associative
 * byte for byte, and the aggregates give the same filter in any order, also
 * from partial states.
 *
 * cf_union(), cf_union_all() and cf_intersect() are also the transition and
 * combine functions of aggregates, whose state is a cuckoofilter.  Rewriting a
 * filter for each row would take time in proportion to the square of the number
 * of rows.  Instead the state soon becomes an expanded object, which has runs
 * of keys.  Runs of similar length are merged.  It turns into a filter when
 * its bytes are needed: by the final function, or by a distributed engine that
 * ships it.  Parallel workers would take 1.5 times as long as one process
 * (measured), because the leader would take their filters apart again.
 *
 * The state of cf_at_least_agg() is of the same kind, but each of its keys has
 * a number: in how many filters it was.  A filter cannot hold this number, so
 * the state is internal and does not become a filter before the end.
 *
 * In memory a state takes 8 bytes for each key, 12 if it has a number, and up
 * to twice as much again while runs are merged.  With that, the peak was 28
 * bytes for each of 10 million keys, and 38 if they have numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "core/change.h"
#include "core/keys.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_union);
PG_FUNCTION_INFO_V1(cf_union_all);
PG_FUNCTION_INFO_V1(cf_intersect);
PG_FUNCTION_INFO_V1(cuckoo_at_least_trans);
PG_FUNCTION_INFO_V1(cuckoo_at_least_final);
PG_FUNCTION_INFO_V1(cf_overlap);
PG_FUNCTION_INFO_V1(cf_overlap_info);
PG_FUNCTION_INFO_V1(cf_compatible);
PG_FUNCTION_INFO_V1(cf_compact);
PG_FUNCTION_INFO_V1(cf_grow);

/* Items up to which an aggregate's state is rewritten for each row. */
#define SMALL_ITEMS		1000

/*
 * Enough runs for any state: each is more than twice as long as the next, so
 * that the first of 40 would have more than 2^38 keys.
 */
#define MAX_RUNS		40

/* A run of keys.  If they are not counted, `times` is NULL. */
typedef CuckooCounted Run;

/* The state of an aggregate: either a filter, or runs to be combined. */
typedef struct SetState
{
	ExpandedObjectHeader hdr;
	CuckooMerge how;
	uint32		least;			/* k of cf_at_least_agg(f, k), or 0 */
	CuckooHeader header;		/* geometry, seed and family */
	struct varlena *filter;		/* NULL if there are runs */
	Run			runs[MAX_RUNS];
	int			count;
} SetState;

/* ---- runs ---- */

static void *
new_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

static uint64 *
new_keys(Size n)
{
	return new_array(n, sizeof(uint64));
}

/* The keys of a filter, whose header this is. */
static Run
read_run(const CuckooHeader *h, const struct varlena *filter)
{
	Run			run = {new_keys(h->items), NULL, h->items};
	uint64	   *scratch = new_keys(h->items);
	CuckooStatus status = cuckoo_keys_read(h, cuckoo_image(filter), run.keys,
										   scratch);

	if (status != CUCKOO_OK)
		cuckoo_error(status);
	pfree(scratch);
	return run;
}

static void
free_run(Run run)
{
	pfree(run.keys);
	if (run.times != NULL)
		pfree(run.times);
}

/* Combines two runs.  If least is not 0, keys are counted up to this number. */
static Run
merge_runs(CuckooMerge how, uint32 least, Run a, Run b)
{
	Size		n = a.count + b.count;
	Run			run = {new_keys(n), NULL, 0};

	if (least > 0)
	{
		run.times = new_array(n, sizeof(uint32));
		cuckoo_keys_count(&a, &b, least, &run);
	}
	else
		run.count = cuckoo_keys_merge(how, a.keys, a.count, b.keys, b.count,
									  run.keys);
	/* give back the room of keys that were in both */
	if (run.count < n / 8 * 7)
	{
		n = Max(run.count, 1);
		run.keys = repalloc_huge(run.keys, n * sizeof(uint64));
		if (run.times != NULL)
			run.times = repalloc_huge(run.times, n * sizeof(uint32));
	}
	return run;
}

struct varlena *
cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys, Size n)
{
	CuckooStatus status;
	int			ordered_for = 0;
	struct varlena *filter = NULL;

	n = (Size) cuckoo_keys_limit(keys, n, CUCKOO_MAX_COPIES);
	status = cuckoo_keys_level(h, n);
	while (status == CUCKOO_OK && filter == NULL)
	{
		if (h->level > ordered_for)
		{
			uint64	   *scratch = new_keys(n);
			uint64	   *ordered = cuckoo_keys_order(h, ordered_for, keys, n,
													scratch);

			pfree(ordered == keys ? scratch : keys);
			keys = ordered;
			ordered_for = h->level;
		}
		filter = cuckoo_build_filter(h, keys, n);
		if (filter == NULL)
			status = cuckoo_header_set_level(h, h->level + 1);
	}
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	pfree(keys);
	return filter;
}

/* ---- which filters can be combined ---- */

static bool
same_geometry(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->base == b->base && a->base_bits == b->base_bits &&
		a->asked_bits == b->asked_bits && a->windows == b->windows;
}

static bool
same_family(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->family == CUCKOO_FAMILY_NONE || b->family == CUCKOO_FAMILY_NONE ||
		(a->family == b->family && a->tag == b->tag);
}

/*
 * Is this the filter that cf_agg(value) makes of no rows?  Nobody chose its
 * geometry, so it stands for the empty filter of any geometry.  An empty filter
 * of some capacity is not neutral, because a difference may be a mistake.
 */
static bool
is_neutral(const CuckooHeader *h)
{
	CuckooHeader none;

	return h->items == 0 && h->family == CUCKOO_FAMILY_NONE && h->seed == 0 &&
		cuckoo_header_exact(&none, 0, h->asked_bits, 0) == CUCKOO_OK &&
		same_geometry(h, &none);
}

static bool
is_compatible(const CuckooHeader *a, const CuckooHeader *b)
{
	return is_neutral(a) || is_neutral(b) ||
		(same_family(a, b) && a->seed == b->seed && same_geometry(a, b));
}

/* Doublings up to the capacity, where there are ft bits, but at least 9. */
static int
doublings(const CuckooHeader *h)
{
	return Max(h->base_bits - Max(h->asked_bits, CUCKOO_CORE_BITS + 1), 0);
}

/* A geometry in a user's terms, and in those of FORMAT.md. */
static const char *
geometry_text(const CuckooHeader *h, const char *windows)
{
	uint64		buckets = (uint64) h->base << doublings(h);

	return psprintf("for up to %llu elements at fpp %.3g (%u base buckets, fingerprints of %d bits)%s",
					(unsigned long long) CUCKOO_TARGET_ITEMS(buckets),
					cuckoo_fpp_at_capacity(h), h->base, h->base_bits, windows);
}

/* Throws the error for filters of different geometry. */
pg_noreturn static void
complain_of_geometry(const CuckooHeader *a, const CuckooHeader *b)
{
	bool		fpp = a->asked_bits != b->asked_bits;
	bool		capacity = (uint64) a->base << doublings(a) !=
		(uint64) b->base << doublings(b);
	bool		differ = a->windows != b->windows;
	const char *without = differ ? ", without windows" : "";
	const char *with = differ ? ", with windows" : "";

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("cannot combine cuckoofilters of different geometry"),
			 errdetail("They differ in %s. One is %s, the other %s.",
					   fpp && capacity ? "capacity and fpp" :
					   fpp ? "fpp" : capacity ? "capacity" :
					   differ ? "windows" : "bits",
					   geometry_text(a, a->windows ? with : without),
					   geometry_text(b, b->windows ? with : without)),
			 errhint("Build both filters with cf_agg(value, capacity, fpp) or cf_new(), with the same capacity and fpp. cf_agg(value) fits each filter to its elements, so geometries mostly differ.")));
}

/* Throws an error unless the keys of both filters mean the same. */
static void
check_compatible(const CuckooHeader *a, const CuckooHeader *b)
{
	if (is_compatible(a, b))
		return;
	if (!same_family(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine cuckoofilters of different element types"),
				 a->family == b->family ?
				 errdetail("Both are of the family \"%s\", but of different types or collations.",
						   cuckoo_family_name(a->family)) :
				 errdetail("The families are \"%s\" and \"%s\".",
						   cuckoo_family_name(a->family),
						   cuckoo_family_name(b->family)),
				 errhint("Build both from elements of one type.")));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine cuckoofilters with different seeds"),
				 errdetail("The seeds are %lld and %lld.",
						   (long long) a->seed, (long long) b->seed),
				 errhint("Build both with the same seed.")));
	complain_of_geometry(a, b);
}

/*
 * Gives *h what it lacks and another filter has, before both are combined: the
 * family, and the geometry and seed if it is neutral.  Of two neutral filters
 * the result is the one with the lower fpp, whatever their order.
 */
static void
adopt(CuckooHeader *h, const CuckooHeader *other)
{
	if (is_neutral(h) &&
		!(is_neutral(other) && other->asked_bits <= h->asked_bits))
		*h = *other;
	else if (h->family == CUCKOO_FAMILY_NONE)
	{
		h->family = other->family;
		h->tag = other->tag;
	}
}

/* ---- states of the aggregates ---- */

/* Merges the last two runs of a state. */
static void
merge_last_runs(SetState *state)
{
	Run			a = state->runs[state->count - 2];
	Run			b = state->runs[state->count - 1];

	state->runs[state->count - 2] = merge_runs(state->how, state->least, a, b);
	state->count--;
	free_run(a);
	free_run(b);
}

/* Merges all runs.  This does not change what the state stands for. */
static void
merge_all(SetState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);

	while (state->count > 1)
		merge_last_runs(state);
	MemoryContextSwitchTo(caller);
}

/*
 * The filter of a state, which then holds no runs.  An error does not change
 * what the state stands for, because a variable may hold it.  At its last use
 * the keys are not copied.
 */
static struct varlena *
state_filter(SetState *state, bool last_use)
{
	CuckooHeader h = state->header;
	uint64	   *keys;
	Size		n;
	struct varlena *filter;

	if (state->filter != NULL)
		return state->filter;
	merge_all(state);
	keys = state->runs[0].keys;
	n = state->runs[0].count;
	if (last_use)
		state->count = 0;
	else
		keys = memcpy(new_keys(n), keys, n * sizeof(uint64));
	filter = cuckoo_filter_of_keys(&h, keys, n);
	state->filter = MemoryContextAlloc(state->hdr.eoh_context,
									   VARSIZE(filter));
	memcpy(state->filter, filter, VARSIZE(filter));
	pfree(filter);
	while (state->count > 0)
		pfree(state->runs[--state->count].keys);
	return state->filter;
}

static Size
set_flat_size(ExpandedObjectHeader *eohptr)
{
	MemoryContext caller = cuckoo_begin_flatten();
	Size		size = VARSIZE(state_filter((SetState *) eohptr, false));

	cuckoo_end_flatten(caller);
	return size;
}

static void
set_flatten(ExpandedObjectHeader *eohptr, void *result, Size size)
{
	memcpy(result, state_filter((SetState *) eohptr, false), size);
}

static const ExpandedObjectMethods state_methods = {
	set_flat_size, set_flatten
};

/* The state behind a datum, or NULL if it is a filter. */
static SetState *
state_of(Datum datum)
{
	return (SetState *) cuckoo_expanded_object(datum, &state_methods);
}

/* Adds a filter, whose header is *h, to a state. */
static void
state_add(SetState *state, const CuckooHeader *h, const struct varlena *filter)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);
	Run			run;

	/* each step leaves a valid state, because the next may be an error */
	check_compatible(&state->header, h);
	if (state->filter != NULL)
	{
		CuckooHeader own;

		cuckoo_open(&own, state->filter);
		state->runs[0] = read_run(&own, state->filter);
		state->count = 1;
		pfree(state->filter);
		state->filter = NULL;
	}
	run = read_run(h, filter);
	if (state->least > 0)
	{
		run.count = cuckoo_keys_limit(run.keys, run.count, 1);
		run.times = new_array(run.count, sizeof(uint32));
		cuckoo_keys_once(&run);
	}
	state->runs[state->count++] = run;
	adopt(&state->header, h);
	while (state->count > 1 &&
		   state->runs[state->count - 2].count / 2 <=
		   state->runs[state->count - 1].count)
		merge_last_runs(state);
	MemoryContextSwitchTo(caller);
}

/*
 * A new state of a filter, whose header is *h.  An internal state is never
 * passed on as an object, so it needs no memory context of its own.  Hash
 * aggregation looks at all contexts for each new group, which would take time
 * in proportion to the square of the number of groups.
 */
static SetState *
new_state(CuckooMerge how, uint32 least, const CuckooHeader *h,
		  const struct varlena *filter, MemoryContext parent)
{
	MemoryContext context = least > 0 ? parent :
		AllocSetContextCreate(parent, "cuckoofilter union",
							  ALLOCSET_SMALL_SIZES);
	SetState   *state = MemoryContextAllocZero(context, sizeof(SetState));

	EOH_init_header(&state->hdr, &state_methods, context);
	state->how = how;
	state->least = least;
	state->header = *h;
	state_add(state, h, filter);
	return state;
}

/* ---- functions ---- */

/* The filter of an argument, and its header. */
static const struct varlena *
filter_argument(FunctionCallInfo fcinfo, int argno, CuckooHeader *h)
{
	SetState   *state = state_of(PG_GETARG_DATUM(argno));
	const struct varlena *filter = state != NULL ? state_filter(state, false) :
		cuckoo_filter(PG_GETARG_DATUM(argno));

	cuckoo_open(h, filter);
	return filter;
}

/* Combines two filters or, in an aggregate, the state with another filter. */
static Datum
combine(FunctionCallInfo fcinfo, CuckooMerge how)
{
	SetState   *state = state_of(PG_GETARG_DATUM(0));
	const struct varlena *a;
	const struct varlena *b;
	CuckooHeader ha;
	CuckooHeader hb;
	MemoryContext context;
	Run			run_a;
	Run			run_b;
	Run			run;

	b = filter_argument(fcinfo, 1, &hb);
	if (state != NULL && state->how == how &&
		DatumIsReadWriteExpandedObject(PG_GETARG_DATUM(0), false, -1))
	{
		state_add(state, &hb, b);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
	}
	a = filter_argument(fcinfo, 0, &ha);
	check_compatible(&ha, &hb);
	if (AggCheckCallContext(fcinfo, &context) &&
		ha.items + hb.items > SMALL_ITEMS)
	{
		state = new_state(how, 0, &ha, a, context);
		state_add(state, &hb, b);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
	}
	run_a = read_run(&ha, a);
	run_b = read_run(&hb, b);
	run = merge_runs(how, 0, run_a, run_b);
	free_run(run_a);
	free_run(run_b);
	adopt(&ha, &hb);
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

/*
 * cuckoo_at_least_trans(state, filter, k): the transition function of
 * cf_at_least_agg
 */
Datum
cuckoo_at_least_trans(PG_FUNCTION_ARGS)
{
	SetState   *state = PG_ARGISNULL(0) ? NULL :
		(SetState *) PG_GETARG_POINTER(0);
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
				 errdetail("It is %d.", k),
				 errhint("k is the number of filters in which an element must be, at least 1.")));
	if (state != NULL && !PG_ARGISNULL(1) && state->least != (uint32) k)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k of cf_at_least_agg must be the same for all filters"),
				 errdetail("It is %d for one filter, and %u for those before it.",
						   k, state->least),
				 errhint("Use a constant, or group by the columns that it depends on.")));

	/* nulls are skipped, but their k must be in range */
	if (!PG_ARGISNULL(1))
	{
		const struct varlena *filter = filter_argument(fcinfo, 1, &h);

		if (state != NULL)
			state_add(state, &h, filter);
		else
			state = new_state(CUCKOO_MERGE_UNION, (uint32) k, &h, filter,
							  context);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/* cuckoo_at_least_final(state): the filter of the keys that are in k filters */
Datum
cuckoo_at_least_final(PG_FUNCTION_ARGS)
{
	SetState   *state = (SetState *) PG_GETARG_POINTER(0);
	CuckooHeader h = state->header;
	uint64	   *keys;
	Size		n;

	merge_all(state);
	keys = new_keys(state->runs[0].count);
	n = cuckoo_keys_at_least(&state->runs[0], state->least, keys);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&h, keys, n));
}

/* How many elements do the two arguments have in common? */
static void
estimate_overlap(FunctionCallInfo fcinfo, CuckooOverlap *overlap)
{
	CuckooHeader ha;
	CuckooHeader hb;
	const struct varlena *a = filter_argument(fcinfo, 0, &ha);
	const struct varlena *b = filter_argument(fcinfo, 1, &hb);
	Run			run_a;
	Run			run_b;

	check_compatible(&ha, &hb);
	run_a = read_run(&ha, a);
	run_b = read_run(&hb, b);
	run_a.count = cuckoo_keys_limit(run_a.keys, run_a.count, 1);
	run_b.count = cuckoo_keys_limit(run_b.keys, run_b.count, 1);
	adopt(&ha, &hb);
	cuckoo_overlap(&ha, run_a.count, run_b.count,
				   cuckoo_keys_common(run_a.keys, run_a.count, run_b.keys,
									  run_b.count), overlap);
	free_run(run_a);
	free_run(run_b);
}

/* cf_overlap(a, b): an estimate of how many elements both hold */
Datum
cf_overlap(PG_FUNCTION_ARGS)
{
	CuckooOverlap overlap;

	estimate_overlap(fcinfo, &overlap);
	PG_RETURN_FLOAT8(overlap.common);
}

/* cf_overlap_info(a, b): the same, its error, and what follows from it */
Datum
cf_overlap_info(PG_FUNCTION_ARGS)
{
	CuckooOverlap overlap;
	TupleDesc	desc;
	double		figures[7];
	Datum		values[lengthof(figures)];
	bool		nulls[lengthof(figures)];

	cuckoo_check_row_type(fcinfo, &desc, lengthof(figures));
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
		/* the share of nothing */
		nulls[i] = isnan(figures[i]);
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

/* cf_compatible(a, b): could they be combined? */
Datum
cf_compatible(PG_FUNCTION_ARGS)
{
	CuckooHeader a;
	CuckooHeader b;

	cuckoo_peek_header(&a, PG_GETARG_DATUM(0));
	cuckoo_peek_header(&b, PG_GETARG_DATUM(1));
	PG_RETURN_BOOL(is_compatible(&a, &b));
}

/* cf_compact(f): the canonical form; final function of the aggregates */
Datum
cf_compact(PG_FUNCTION_ARGS)
{
	SetState   *state = state_of(PG_GETARG_DATUM(0));
	CuckooHeader h;
	const struct varlena *filter;
	Run			run;

	/* after an error nobody looks at the state of an aggregate again */
	if (state != NULL)
		PG_RETURN_POINTER(state_filter(state,
									   AggCheckCallContext(fcinfo, NULL) != 0));
	filter = filter_argument(fcinfo, 0, &h);
	run = read_run(&h, filter);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&h, run.keys, run.count));
}

/* cf_grow(f): the same one growth level up */
Datum
cf_grow(PG_FUNCTION_ARGS)
{
	CuckooHeader old;
	const struct varlena *filter = filter_argument(fcinfo, 0, &old);
	CuckooHeader h = old;
	CuckooStatus status = cuckoo_header_set_level(&h, h.level + 1);
	struct varlena *result;

	if (status != CUCKOO_OK)
		cuckoo_error(status);
	result = cuckoo_new_datum(cuckoo_image_size(&h));
	cuckoo_grow(&old, cuckoo_image(filter), &h, cuckoo_image(result));
	PG_RETURN_POINTER(result);
}
