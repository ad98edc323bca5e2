/*-------------------------------------------------------------------------
 *
 * filter/moving.c
 *		Unions over a moving window: cf_union_agg(f) OVER (ROWS 6 PRECEDING).
 *
 * If the start of a window's frame moves, PostgreSQL calls the moving functions
 * of an aggregate: cuckoo_union_moving_trans() adds the filter that comes,
 * cuckoo_union_moving_inverse() removes the oldest one, and a final function
 * gives the union of those that remain, or the number of its items.  Filters
 * leave in the order in which they came, which the documentation of CREATE
 * AGGREGATE promises.
 *
 * Because of this order, a key is kept with the number of the last filter that
 * had it, see cuckoo_keys_renew().  Removing a filter only moves a limit, and
 * adding one takes one pass over the keys, which also drops those whose last
 * filter has left.  Each filter is read once, where the ordinary functions
 * would read all filters of a frame again for each row.  The result is the
 * same, byte for byte.
 *
 * The state takes 12 bytes for each key of the frame, and twice as much for a
 * moment.
 *
 *-------------------------------------------------------------------------
 */
#include "error.h"
#include "filter/sets.h"

PG_FUNCTION_INFO_V1(cuckoo_union_moving_trans);
PG_FUNCTION_INFO_V1(cuckoo_union_moving_inverse);
PG_FUNCTION_INFO_V1(cuckoo_union_moving_final);
PG_FUNCTION_INFO_V1(cuckoo_union_moving_count);

typedef struct CuckooMoving
{
	CuckooHeader header;		/* geometry, seed and family of the union */
	CuckooRun	run;			/* numbers: the last filter that has the key */
	uint32		first;			/* the oldest filter in the frame */
	uint32		end;			/* the number of the next one */

	/*
	 * The last filter that has the header of the union by itself.  While it
	 * is in the frame, the others can leave.  When it leaves, PostgreSQL
	 * begins again with those that remain.
	 */
	uint32		giver;
} CuckooMoving;

static void
add_filter(CuckooMoving *state, Datum datum, MemoryContext context)
{
	const struct varlena *filter = cuckoo_filter(datum);
	CuckooHeader h;
	CuckooRun	added;
	CuckooRun	old = state->run;
	CuckooRun	run;
	uint32		first = state->first;
	MemoryContext caller;

	cuckoo_open(&h, filter);
	if (state->first == state->end)
		state->header = h;
	cuckoo_check_compatible(&state->header, &h);
	added = cuckoo_read_run(&h, filter);

	caller = MemoryContextSwitchTo(context);
	run.keys = cuckoo_new_keys(old.count + added.count);
	run.times = cuckoo_new_times(old.count + added.count);
	MemoryContextSwitchTo(caller);
	cuckoo_keys_renew(&old, state->first, added.keys, added.count, state->end,
					  &run);
	pfree(added.keys);
	if (old.keys != NULL)
	{
		pfree(old.keys);
		pfree(old.times);
	}

	state->run = run;
	state->end -= first;
	state->first = 0;
	cuckoo_adopt(&state->header, &h);
	state->giver = cuckoo_is_alike(&state->header, &h) ? state->end :
		state->giver - first;
	state->end += state->end < PG_UINT32_MAX;
}

/* cuckoo_union_moving_trans(state, filter); the state is never null */
Datum
cuckoo_union_moving_trans(PG_FUNCTION_ARGS)
{
	CuckooMoving *state;
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "function of an aggregate called elsewhere");
	state = PG_ARGISNULL(0) ?
		MemoryContextAllocZero(context, sizeof(CuckooMoving)) :
		(CuckooMoving *) PG_GETARG_POINTER(0);
	if (!PG_ARGISNULL(1))
		add_filter(state, PG_GETARG_DATUM(1), context);
	PG_RETURN_POINTER(state);
}

/* cuckoo_union_moving_inverse(state, filter): null if it cannot be removed */
Datum
cuckoo_union_moving_inverse(PG_FUNCTION_ARGS)
{
	CuckooMoving *state = (CuckooMoving *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(0))
		elog(ERROR, "function of an aggregate called elsewhere");
	if (!PG_ARGISNULL(1))
	{
		if (state->first == state->giver || state->end == PG_UINT32_MAX)
			PG_RETURN_NULL();
		state->first++;
	}
	PG_RETURN_POINTER(state);
}

/* The keys of the filters in the frame; sets *n to their number. */
static uint64 *
frame_keys(const CuckooMoving *state, Size *n)
{
	uint64	   *keys = cuckoo_new_keys(state->run.count);

	*n = cuckoo_keys_at_least(&state->run, state->first, keys);
	return keys;
}

/* cuckoo_union_moving_final(state): the union; null over no filters */
Datum
cuckoo_union_moving_final(PG_FUNCTION_ARGS)
{
	const CuckooMoving *state = (CuckooMoving *) PG_GETARG_POINTER(0);
	CuckooHeader h = state->header;
	uint64	   *keys;
	Size		n;

	if (state->first == state->end)
		PG_RETURN_NULL();
	keys = frame_keys(state, &n);
	PG_RETURN_POINTER(cuckoo_filter_of_keys(&h, keys, n));
}

/* cuckoo_union_moving_count(state): its items; null over no filters */
Datum
cuckoo_union_moving_count(PG_FUNCTION_ARGS)
{
	const CuckooMoving *state = (CuckooMoving *) PG_GETARG_POINTER(0);
	uint64	   *keys;
	Size		n;

	if (state->first == state->end)
		PG_RETURN_NULL();
	keys = frame_keys(state, &n);
	n = (Size) cuckoo_keys_limit(keys, n, CUCKOO_MAX_COPIES);
	pfree(keys);
	PG_RETURN_INT64((int64) n);
}
