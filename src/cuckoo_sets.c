/*-------------------------------------------------------------------------
 *
 * cuckoo_sets.c
 *		Filters as sets: union, sum, intersection, overlap, canonical form.
 *
 * Filters of one geometry, seed and element family are combined by their keys
 * (cuckoo_keys.h), which needs no elements.  Every result is canonical: equal
 * sets give equal bytes.  So the functions are commutative and associative byte
 * for byte.  The aggregates give the same filter in any order, also from
 * partial states.
 *
 * cf_union() and cf_union_all() are also the transition and combine functions
 * of the aggregates cf_union_agg() and cf_union_all_agg(), whose state is a
 * cuckoofilter.  Rewriting a filter for each row would take time in proportion
 * to the square of the number of rows.  So in an aggregate the state soon
 * becomes an expanded object that holds runs of keys.  Runs of similar length
 * are merged.  The object turns into a filter when its bytes are needed: by the
 * final function, or by a distributed engine that ships it.  Parallel workers
 * would take 1.5 times as long as one process (measured), because the leader
 * would take their filters apart again.
 *
 * In memory a state takes 8 bytes for each key, and as much again while the
 * last runs are merged.  Placing the keys takes another 4 to 8 bytes for each.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"
#include "cuckoo_change.h"
#include "cuckoo_keys.h"

#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_union);
PG_FUNCTION_INFO_V1(cf_union_all);
PG_FUNCTION_INFO_V1(cf_intersect);
PG_FUNCTION_INFO_V1(cf_overlap);
PG_FUNCTION_INFO_V1(cf_compatible);
PG_FUNCTION_INFO_V1(cf_compact);
PG_FUNCTION_INFO_V1(cf_grow);

/* Items up to which an aggregate's state is rewritten for each row. */
#define SMALL_ITEMS		1000

/* Enough runs for any state: each is more than twice as long as the next. */
#define MAX_RUNS		64

typedef struct Run
{
	uint64	   *keys;
	Size		count;
} Run;

/* The state of an aggregate: either a filter, or runs to be combined. */
typedef struct SetState
{
	ExpandedObjectHeader hdr;
	CuckooMerge how;
	CuckooHeader header;		/* geometry, seed and family */
	struct varlena *filter;		/* NULL if there are runs */
	Run			runs[MAX_RUNS];
	int			count;
} SetState;

/* ---- runs ---- */

static uint64 *
new_keys(Size n)
{
	return MemoryContextAllocHuge(CurrentMemoryContext,
								  Max(n, 1) * sizeof(uint64));
}

/* The keys of a filter, whose header this is. */
static Run
read_run(const CuckooHeader *h, const struct varlena *filter)
{
	Run			run = {new_keys(h->items), h->items};
	uint64	   *scratch = new_keys(h->items);
	CuckooStatus status = cuckoo_keys_read(h, cuckoo_image(filter), run.keys,
										   scratch);

	if (status != CUCKOO_OK)
		cuckoo_error(status);
	pfree(scratch);
	return run;
}

/* Combines two runs. */
static Run
merge_runs(CuckooMerge how, Run a, Run b)
{
	Run			run = {new_keys(a.count + b.count), 0};

	run.count = cuckoo_keys_merge(how, a.keys, a.count, b.keys, b.count,
								  run.keys);
	/* give back the room of keys that were in both */
	if (run.count < (a.count + b.count) / 8 * 7)
		run.keys = repalloc_huge(run.keys, Max(run.count, 1) * sizeof(uint64));
	return run;
}

/* The same, and frees them. */
static Run
join_runs(CuckooMerge how, Run a, Run b)
{
	Run			run = merge_runs(how, a, b);

	pfree(a.keys);
	pfree(b.keys);
	return run;
}

struct varlena *
cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys, Size n)
{
	CuckooStatus status = cuckoo_keys_level(h, n);
	int			ordered_for = 0;
	struct varlena *filter = NULL;

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

/* May cf_agg(value) choose this geometry, whose capacity is that of level 0? */
static bool
is_exact(const CuckooHeader *h)
{
	return h->base_bits == h->asked_bits;
}

/* Throws an error unless the keys of both filters mean the same. */
static void
check_compatible(const CuckooHeader *a, const CuckooHeader *b)
{
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
	if (!same_geometry(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine cuckoofilters of different geometry"),
				 errdetail("One has %u base buckets and fingerprints of %d bits, for %llu elements; the other has %u and %d, for %llu.",
						   a->base, a->base_bits,
						   (unsigned long long) cuckoo_capacity(a),
						   b->base, b->base_bits,
						   (unsigned long long) cuckoo_capacity(b)),
				 is_exact(a) || is_exact(b) ?
				 errhint("cf_agg(value) fits each filter to its elements, so geometries mostly differ. Build both filters with cf_agg(value, capacity, fpp), with the same capacity and fpp.") :
				 errhint("Build both filters with the same capacity and fpp.")));
}

/* Gives a filter without a family that of another filter. */
static void
adopt_family(CuckooHeader *h, const CuckooHeader *other)
{
	if (h->family == CUCKOO_FAMILY_NONE)
	{
		h->family = other->family;
		h->tag = other->tag;
	}
}

/* ---- states of the aggregates ---- */

/*
 * The filter of a state, which then holds no runs.  An error leaves the state
 * as it was, because a variable may hold it.  Only if this is its last use, its
 * runs are freed as soon as they are merged.
 */
static struct varlena *
state_filter(SetState *state, bool last_use)
{
	CuckooHeader h = state->header;
	Run			run = {NULL, 0};
	struct varlena *filter;
	struct varlena *kept;

	if (state->filter != NULL)
		return state->filter;
	for (int i = state->count - 1; i >= 0; i--)
	{
		/* the first one is copied */
		Run			merged = merge_runs(state->how, state->runs[i], run);

		if (run.keys != NULL)
			pfree(run.keys);
		run = merged;
		if (last_use)
			pfree(state->runs[--state->count].keys);
	}
	filter = cuckoo_filter_of_keys(&h, run.keys, run.count);
	kept = MemoryContextAlloc(state->hdr.eoh_context, VARSIZE(filter));
	memcpy(kept, filter, VARSIZE(filter));
	pfree(filter);
	while (state->count > 0)
		pfree(state->runs[--state->count].keys);
	state->filter = kept;
	return kept;
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
	state->runs[state->count++] = run;
	adopt_family(&state->header, h);
	while (state->count > 1 &&
		   state->runs[state->count - 2].count / 2 <=
		   state->runs[state->count - 1].count)
	{
		Run		   *last = &state->runs[state->count - 2];

		*last = join_runs(state->how, last[0], last[1]);
		state->count--;
	}
	MemoryContextSwitchTo(caller);
}

/* A new state of a filter, whose header is *h. */
static SetState *
new_state(CuckooMerge how, const CuckooHeader *h, const struct varlena *filter,
		  MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "cuckoofilter union",
												  ALLOCSET_SMALL_SIZES);
	SetState   *state = MemoryContextAllocZero(context, sizeof(SetState));

	EOH_init_header(&state->hdr, &state_methods, context);
	state->how = how;
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
		state = new_state(how, &ha, a, context);
		state_add(state, &hb, b);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
	}
	run = join_runs(how, read_run(&ha, a), read_run(&hb, b));
	adopt_family(&ha, &hb);
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

/* cf_overlap(a, b): an estimate of how many elements both hold */
Datum
cf_overlap(PG_FUNCTION_ARGS)
{
	CuckooHeader ha;
	CuckooHeader hb;
	const struct varlena *a = filter_argument(fcinfo, 0, &ha);
	const struct varlena *b = filter_argument(fcinfo, 1, &hb);
	Run			run_a;
	Run			run_b;
	uint64		common;

	check_compatible(&ha, &hb);
	run_a = read_run(&ha, a);
	run_b = read_run(&hb, b);
	common = cuckoo_keys_common(run_a.keys, run_a.count, run_b.keys,
								run_b.count);
	pfree(run_a.keys);
	pfree(run_b.keys);
	PG_RETURN_INT64((int64) rint(cuckoo_overlap(&ha, &hb, common)));
}

/* cf_compatible(a, b): could they be combined? */
Datum
cf_compatible(PG_FUNCTION_ARGS)
{
	CuckooHeader a;
	CuckooHeader b;

	cuckoo_peek_header(&a, PG_GETARG_DATUM(0));
	cuckoo_peek_header(&b, PG_GETARG_DATUM(1));
	PG_RETURN_BOOL(same_family(&a, &b) && a.seed == b.seed &&
				   same_geometry(&a, &b));
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
