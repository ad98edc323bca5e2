/*-------------------------------------------------------------------------
 *
 * filter/set_state.c
 *		Sorted runs of keys, and the states of aggregates over filters.
 *
 * SQL declares a state as cuckoofilter.  A large state is an expanded object
 * with sorted runs of keys, because writing a filter for each row would take
 * quadratic time.  Runs of similar length are merged.  The state becomes a
 * filter when its bytes are needed: by the final function, or by a distributed
 * engine that sends it.  The aggregates are not parallel: the leader would have
 * to read the keys of its workers' filters again, which took 1.5 times as long
 * as a union in one process (measured).
 *
 * The state of cf_at_least_agg() counts for each key the filters that contain
 * it.  A filter cannot store these counts, so this state is internal.
 *
 * A state needs 8 bytes of memory for each distinct key, 12 with counts.  The
 * last merge needs both runs and the result: twice as much for disjoint
 * filters, three times as much for equal filters.  The peaks with 10 million
 * distinct keys, in bytes for each (measured):
 *
 *						disjoint filters	equal filters
 *	cf_union_agg		18 to 22			28
 *	cf_at_least_agg		28 to 30			38
 *
 *-------------------------------------------------------------------------
 */
#include "error.h"
#include "filter/filter.h"

static uint32 *
new_times(Size n)
{
	return MemoryContextAllocHuge(CurrentMemoryContext,
								  Max(n, 1) * sizeof(uint32));
}

CuckooRun
cuckoo_read_run(const CuckooHeader *h, const struct varlena *filter)
{
	CuckooRun	run = {cuckoo_new_keys(h->items), NULL, h->items};
	uint64	   *scratch = cuckoo_new_keys(h->items);

	cuckoo_check_status(cuckoo_keys_read(h, cuckoo_image(filter), run.keys,
										 scratch));
	pfree(scratch);
	return run;
}

CuckooRun
cuckoo_merge_runs(CuckooMerge how, uint32 least, CuckooRun a, CuckooRun b)
{
	Size		n = a.count + b.count;
	CuckooRun	run = {cuckoo_new_keys(n), NULL, 0};

	if (least > 0)
	{
		run.times = new_times(n);
		cuckoo_keys_count(&a, &b, least, &run);
	}
	else
		run.count = cuckoo_keys_merge(how, a.keys, a.count, b.keys, b.count,
									  run.keys);
	/* free the room that keys in both runs left */
	if (run.count < n / 8 * 7)
	{
		n = Max(run.count, 1);
		run.keys = repalloc_huge(run.keys, n * sizeof(uint64));
		if (run.times != NULL)
			run.times = repalloc_huge(run.times, n * sizeof(uint32));
	}
	pfree(a.keys);
	pfree(b.keys);
	if (least > 0)
	{
		pfree(a.times);
		pfree(b.times);
	}
	return run;
}

static void
merge_last_runs(CuckooSetState *state)
{
	CuckooRun  *runs = &state->runs[state->count - 2];

	runs[0] = cuckoo_merge_runs(state->how, state->least, runs[0], runs[1]);
	state->count--;
}

void
cuckoo_set_merge(CuckooSetState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);

	while (state->count > 1)
		merge_last_runs(state);
	MemoryContextSwitchTo(caller);
}

struct varlena *
cuckoo_set_filter(CuckooSetState *state, bool last_use)
{
	CuckooHeader h = state->header;
	uint64	   *keys;
	Size		n;
	struct varlena *filter;

	if (state->filter != NULL)
		return state->filter;
	cuckoo_set_merge(state);
	keys = state->runs[0].keys;
	n = state->runs[0].count;
	if (last_use)
		state->count = 0;
	else
		keys = memcpy(cuckoo_new_keys(n), keys, n * sizeof(uint64));
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
	struct varlena *filter = cuckoo_set_filter((CuckooSetState *) eohptr,
											   false);
	Size		size = VARSIZE(filter);

	cuckoo_end_flatten(caller);
	return size;
}

static void
set_flatten(ExpandedObjectHeader *eohptr, void *result, Size size)
{
	memcpy(result, cuckoo_set_filter((CuckooSetState *) eohptr, false), size);
}

static const ExpandedObjectMethods state_methods = {
	set_flat_size, set_flatten
};

CuckooSetState *
cuckoo_set_state(Datum datum)
{
	return (CuckooSetState *) cuckoo_expanded_object(datum, &state_methods);
}

void
cuckoo_set_add(CuckooSetState *state, const CuckooHeader *h,
			   const struct varlena *filter)
{
	MemoryContext caller = MemoryContextSwitchTo(state->hdr.eoh_context);
	CuckooRun	run;

	/* each step leaves a valid state, because the next may throw */
	cuckoo_check_compatible(&state->header, h);
	if (state->filter != NULL)
	{
		CuckooHeader own;

		cuckoo_open(&own, state->filter);
		state->runs[0] = cuckoo_read_run(&own, state->filter);
		state->count = 1;
		pfree(state->filter);
		state->filter = NULL;
	}
	run = cuckoo_read_run(h, filter);
	if (state->least > 0)
	{
		run.count = cuckoo_keys_limit(run.keys, run.count, 1);
		run.times = new_times(run.count);
		cuckoo_keys_once(&run);
	}
	state->runs[state->count++] = run;
	cuckoo_header_inherit(&state->header, h);
	while (state->count > 1 &&
		   state->runs[state->count - 2].count / 2 <=
		   state->runs[state->count - 1].count)
		merge_last_runs(state);
	MemoryContextSwitchTo(caller);
}

CuckooSetState *
cuckoo_new_set_state(CuckooMerge how, uint32 least, const CuckooHeader *h,
					 const struct varlena *filter, MemoryContext parent)
{
	/*
	 * An internal state is never passed on as an object, so it needs no
	 * separate memory context.  Hash aggregation visits all contexts for each
	 * new group, so a context for each group would take quadratic time.
	 */
	MemoryContext context = least > 0 ? parent :
		AllocSetContextCreate(parent, "cuckoofilter union",
							  ALLOCSET_SMALL_SIZES);
	CuckooSetState *state = MemoryContextAllocZero(context,
												   sizeof(CuckooSetState));

	EOH_init_header(&state->hdr, &state_methods, context);
	state->how = how;
	state->least = least;
	state->header = *h;
	cuckoo_set_add(state, h, filter);
	return state;
}
