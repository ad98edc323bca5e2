/*-------------------------------------------------------------------------
 *
 * agg/state.c
 *		States of cf_agg in memory: checks, adding hashes, and merging states.
 *
 * In memory a state has one of two shapes:
 *
 *	flat		A varlena with sorted, distinct hashes (agg/agg.h).  While an
 *				aggregate fills it, it may have room after the last hash.  A
 *				group of ten values needs 128 bytes.
 *	expanded	For more than FLAT_ROOM_MAX hashes: an expanded object with a
 *				sorted run of distinct hashes, and after it a tail of newer
 *				hashes.  When the room is used up, the tail is sorted and
 *				merged into the run.  The room then becomes at least one and a
 *				half times the run.
 *
 * Memory of an expanded state, in bytes for each distinct value: 8 for the
 * hash, up to 4 for the free room, and up to 4 of scratch to sort a full tail.
 * The final function adds its workspace and the image.  The peak of an
 * aggregation was 14 to 20 bytes, and 24 with a capacity, which needs keys
 * (measured).
 *
 * Sorting and merging a tail does not change the set, even if an error
 * interrupts it: it checks for interrupts only while the set is complete.
 *
 * A flat state may come from a damaged page.  Its header is checked when it is
 * opened, unless this aggregate created it.  The order of the hashes is checked
 * only on input.  A damaged order gives a wrong filter, but is memory-safe.
 *
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "error.h"

/*
 * The size of a growing flat state is a power of two, as palloc would round it.
 * It has room for 3, 11, 27, 59 or 123 hashes.
 */
#define FLAT_BYTES_MIN		64
#define FLAT_ROOM_MAX		CUCKOO_FLAT_ROOM(1024)

/* cuckoo_fpp_bits(CUCKOO_MIN_FPP): 8 * 0.95 / 2^30 is the first below 1e-8. */
#define STATE_BITS_MAX		30

/* ---- flat states ---- */

/* The address of the i-th hash.  It is not aligned. */
static inline uint8 *
flat_hash(const struct varlena *flat, Size i)
{
	return (uint8 *) VARDATA(flat) + CUCKOO_STATE_AT_HASHES +
		i * sizeof(uint64);
}

/* Returns why the header of a flat state is invalid, or NULL. */
static const char *
find_header_problem(const struct varlena *flat)
{
	Size		size = VARSIZE(flat) - VARHDRSZ;
	uint8	   *bytes = (uint8 *) VARDATA(flat);
	CuckooAggParams params;
	CuckooHeader h;

	if (size < CUCKOO_STATE_AT_HASHES)
		return "shorter than a header";
	if (bytes[CUCKOO_STATE_AT_MAGIC] != 'C' ||
		bytes[CUCKOO_STATE_AT_MAGIC + 1] != 'S')
		return "first two bytes are not \"CS\"";
	if (bytes[CUCKOO_STATE_AT_VERSION] != CUCKOO_STATE_VERSION)
		return "unknown version";
	cuckoo_flat_read_params(flat, &params);
	if (params.family == CUCKOO_FAMILY_NONE ||
		params.family > CUCKOO_FAMILY_LAST ||
		(params.tag != 0 && params.family != CUCKOO_FAMILY_OTHER))
		return "unknown element family";
	if (bytes[CUCKOO_STATE_AT_RESERVED] != 0)
		return "reserved byte is not zero";
	if (params.bits < CUCKOO_FIXED_BITS || params.bits > STATE_BITS_MAX ||
		params.capacity < 0 ||
		(params.capacity > 0 &&
		 cuckoo_header_sized(&h, (uint64) params.capacity, params.bits,
							 params.seed) != CUCKOO_OK))
		return "fingerprint bits or capacity out of range";
	if (cuckoo_load64(bytes + CUCKOO_STATE_AT_COUNT) >
		CUCKOO_FLAT_ROOM(VARSIZE(flat)))
		return "length does not agree with the number of hashes";
	return NULL;
}

const char *
cuckoo_flat_problem(const struct varlena *flat)
{
	const char *problem = find_header_problem(flat);

	if (problem != NULL)
		return problem;
	if (VARSIZE(flat) != cuckoo_flat_size(cuckoo_flat_count(flat)))
		return "length does not agree with the number of hashes";
	for (Size i = 1; i < cuckoo_flat_count(flat); i++)
	{
		cuckoo_pause(i);
		if (cuckoo_load64(flat_hash(flat, i)) <=
			cuckoo_load64(flat_hash(flat, i - 1)))
			return "hashes are not in order";
	}
	return NULL;
}

void
cuckoo_check_flat(const struct varlena *flat)
{
	const char *problem = find_header_problem(flat);

	if (unlikely(problem != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("corrupt cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Compute the state again from the original values.")));
}

static inline void
flat_set_count(struct varlena *flat, Size count)
{
	cuckoo_store64((uint8 *) VARDATA(flat) + CUCKOO_STATE_AT_COUNT, count);
}

static void
flat_write_params(struct varlena *flat, const CuckooAggParams *params)
{
	uint8	   *bytes = (uint8 *) VARDATA(flat);

	bytes[CUCKOO_STATE_AT_MAGIC] = 'C';
	bytes[CUCKOO_STATE_AT_MAGIC + 1] = 'S';
	bytes[CUCKOO_STATE_AT_VERSION] = CUCKOO_STATE_VERSION;
	bytes[CUCKOO_STATE_AT_FAMILY] = params->family;
	bytes[CUCKOO_STATE_AT_BITS] = params->bits;
	bytes[CUCKOO_STATE_AT_RESERVED] = 0;
	cuckoo_store16(bytes + CUCKOO_STATE_AT_TAG, params->tag);
	cuckoo_store64(bytes + CUCKOO_STATE_AT_SEED, params->seed);
	cuckoo_store64(bytes + CUCKOO_STATE_AT_CAPACITY, (uint64) params->capacity);
}

static struct varlena *
flat_new(const CuckooAggParams *params, Size bytes)
{
	struct varlena *flat = palloc0(bytes);

	SET_VARSIZE(flat, bytes);
	flat_write_params(flat, params);
	return flat;
}

/* Index of the first hash not less than `hash`. */
static Size
flat_search(const struct varlena *flat, uint64 hash)
{
	Size		low = 0,
				high = cuckoo_flat_count(flat);

	while (low < high)
	{
		Size		middle = (low + high) / 2;

		if (cuckoo_load64(flat_hash(flat, middle)) < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- expanded states ---- */

/*
 * Merges `n` sorted, distinct hashes at `bytes` into the run.  The hashes are
 * little-endian, unaligned and outside the state.  The state must have room for
 * them, and an empty tail.
 */
static void
expanded_merge(CuckooExpandedState *state, const uint8 *bytes, Size n)
{
	uint64	   *hashes = state->hashes;
	Size		run = state->sorted;
	Size		end = run + n;
	Size		out = end;

	Assert(state->count == state->sorted && end <= state->room);

	/*
	 * Merge from the end, so that no hash is overwritten before it is read.
	 * No interrupt checks: a variable may keep the state after an error.
	 */
	while (n > 0 && run > 0)
	{
		uint64		a = hashes[run - 1];
		uint64		b = cuckoo_load64(bytes + (n - 1) * sizeof(uint64));

		hashes[--out] = a > b ? a : b;
		run -= a >= b;
		n -= b >= a;
	}
	while (n > 0)
		hashes[--out] = cuckoo_load64(bytes + --n * sizeof(uint64));

	/* hashes in both runs leave a gap after the hashes that did not move */
	if (out > run)
		memmove(hashes + run, hashes + out, (end - out) * sizeof(uint64));
	state->sorted = state->count = run + (end - out);
}

/* Sorts the tail into the run. */
static void
expanded_sort(CuckooExpandedState *state)
{
	uint64	   *tail = state->hashes + state->sorted;
	Size		n = state->count - state->sorted;
	uint64	   *scratch;
	Size		kept = 0;

	if (n == 0)
		return;
	/* not in the state's memory, which may outlive an error */
	scratch = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64));
	/* hashes are random: few agree in their log2(4 * n) highest bits */
	cuckoo_sort(tail, n, scratch, 0, 4 * n);

	/* drop repetitions, and copy the rest to scratch for the merge */
	for (Size i = 0; i < n; i++)
		if (i == 0 || tail[i] != tail[i - 1])
			cuckoo_store64((uint8 *) (scratch + kept++), tail[i]);
	state->count = state->sorted;
	expanded_merge(state, (uint8 *) scratch, kept);
	pfree(scratch);
}

/* Reserves room for `n` more hashes after the run.  The tail must be empty. */
static void
expanded_reserve(CuckooExpandedState *state, Size n)
{
	CuckooHeader h;

	/* error if no filter can have so many items with these parameters */
	cuckoo_check_status(cuckoo_header_exact(&h, state->count,
											state->params.capacity == 0 ?
											state->params.bits :
											CUCKOO_FIXED_BITS, 0));
	if (state->room < state->count + n)
	{
		state->hashes = repalloc_huge(state->hashes,
									  (state->count + n) * sizeof(uint64));
		state->room = state->count + n;
	}
}

static inline void
expanded_add(CuckooExpandedState *state, uint64 hash)
{
	if (unlikely(state->count == state->room))
	{
		expanded_sort(state);
		expanded_reserve(state, Max(state->count / 2, FLAT_ROOM_MAX));
	}
	state->hashes[state->count++] = hash;
}

static Size
state_flat_size(ExpandedObjectHeader *eohptr)
{
	CuckooExpandedState *state = (CuckooExpandedState *) eohptr;
	MemoryContext caller = cuckoo_begin_flatten();
	Size		size;

	expanded_sort(state);
	cuckoo_end_flatten(caller);
	size = cuckoo_flat_size(state->count);
	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("partial state of cf_agg is too large to be passed to another process"),
				 errdetail("One process collected %zu distinct values.",
						   state->count),
				 errhint("Set max_parallel_workers_per_gather to 0, or split the elements over several filters.")));
	return size;
}

static void
state_flatten(ExpandedObjectHeader *eohptr, void *result, Size size)
{
	CuckooExpandedState *state = (CuckooExpandedState *) eohptr;
	struct varlena *flat = result;

	SET_VARSIZE(flat, size);
	flat_write_params(flat, &state->params);
	flat_set_count(flat, state->count);
	for (Size i = 0; i < state->count; i++)
		cuckoo_store64(flat_hash(flat, i), state->hashes[i]);
}

static const ExpandedObjectMethods state_methods = {
	state_flat_size,
	state_flatten
};

/* Creates an expanded state below `parent`, with the hashes of a flat one. */
static CuckooExpandedState *
expanded_from_flat(const struct varlena *flat, Size room, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "cuckoostate",
												  ALLOCSET_SMALL_SIZES);
	CuckooExpandedState *state =
		MemoryContextAllocZero(context, sizeof(CuckooExpandedState));

	EOH_init_header(&state->hdr, &state_methods, context);
	cuckoo_flat_read_params(flat, &state->params);
	state->room = Max(room, cuckoo_flat_count(flat));
	state->hashes = MemoryContextAllocHuge(context,
										   state->room * sizeof(uint64));
	expanded_merge(state, flat_hash(flat, 0), cuckoo_flat_count(flat));
	return state;
}

/* ---- states of either shape ---- */

void
cuckoo_open_state(CuckooAggState *state, Datum datum, bool ours)
{
	state->datum = datum;
	state->ours = ours;
	state->expanded = (CuckooExpandedState *)
		cuckoo_expanded_object(datum, &state_methods);
	if (state->expanded != NULL)
	{
		state->flat = NULL;
		state->params = state->expanded->params;
	}
	else
	{
		state->flat = PG_DETOAST_DATUM(datum);
		if (!ours)
			cuckoo_check_flat(state->flat);
		cuckoo_flat_read_params(state->flat, &state->params);
	}
}

void
cuckoo_new_state(CuckooAggState *state)
{
	state->ours = true;
	state->expanded = NULL;
	state->flat = flat_new(&state->params, FLAT_BYTES_MIN);
	state->datum = PointerGetDatum(state->flat);
}

/*
 * Inserts a hash at index `at` of a flat state, which must have fewer than
 * FLAT_ROOM_MAX hashes, and not this one.  Copies the state if it may not be
 * changed or has no room.
 */
static Datum
flat_add(CuckooAggState *state, uint64 hash, Size at)
{
	Size		count = cuckoo_flat_count(state->flat);

	if (!state->ours || count >= CUCKOO_FLAT_ROOM(VARSIZE(state->flat)))
	{
		Size		bytes = FLAT_BYTES_MIN;
		struct varlena *flat;

		while (CUCKOO_FLAT_ROOM(bytes) <= count)
			bytes *= 2;
		flat = flat_new(&state->params, bytes);
		memcpy(flat_hash(flat, 0), flat_hash(state->flat, 0),
			   count * sizeof(uint64));
		state->flat = flat;
	}
	memmove(flat_hash(state->flat, at + 1), flat_hash(state->flat, at),
			(count - at) * sizeof(uint64));
	cuckoo_store64(flat_hash(state->flat, at), hash);
	flat_set_count(state->flat, count + 1);
	return PointerGetDatum(state->flat);
}

Datum
cuckoo_add_hash(CuckooAggState *state, uint64 hash, MemoryContext context)
{
	if (state->expanded == NULL)
	{
		Size		count = cuckoo_flat_count(state->flat);
		Size		at = flat_search(state->flat, hash);

		if (at < count && cuckoo_load64(flat_hash(state->flat, at)) == hash)
			return state->datum;
		if (count < FLAT_ROOM_MAX)
			return flat_add(state, hash, at);
		state->expanded = expanded_from_flat(state->flat, 2 * count, context);
	}
	else if (!DatumIsReadWriteExpandedObject(state->datum, false, -1))
		state->expanded =
			expanded_from_flat(PG_DETOAST_DATUM_COPY(state->datum),
							   2 * FLAT_ROOM_MAX, context);
	expanded_add(state->expanded, hash);
	return EOHPGetRWDatum(&state->expanded->hdr);
}

Datum
cuckoo_merge_states(CuckooAggState *a, CuckooAggState *b, MemoryContext context)
{
	struct varlena *result;
	Size		n;

	if (a->expanded == NULL ||
		!DatumIsReadWriteExpandedObject(a->datum, false, -1))
	{
		if (a->expanded != NULL)
			a->flat = PG_DETOAST_DATUM_COPY(a->datum);
		a->expanded = expanded_from_flat(a->flat, 2 * FLAT_ROOM_MAX, context);
	}
	if (b->expanded != NULL)
		for (Size i = 0; i < b->expanded->count; i++)
			expanded_add(a->expanded, b->expanded->hashes[i]);
	else if ((n = cuckoo_flat_count(b->flat)) < a->expanded->count / 8)
		for (Size i = 0; i < n; i++)
			expanded_add(a->expanded, cuckoo_load64(flat_hash(b->flat, i)));
	else
	{
		/* a large, sorted state is merged, not sorted again */
		expanded_sort(a->expanded);
		expanded_reserve(a->expanded, n);
		expanded_merge(a->expanded, flat_hash(b->flat, 0), n);
	}

	/* keep a small state flat, for queries with a million groups */
	if (a->flat == NULL || a->expanded->count > FLAT_ROOM_MAX)
		return EOHPGetRWDatum(&a->expanded->hdr);
	expanded_sort(a->expanded);
	n = cuckoo_flat_size(a->expanded->count);
	result = palloc(n);
	state_flatten(&a->expanded->hdr, result, n);
	MemoryContextDelete(a->expanded->hdr.eoh_context);
	return PointerGetDatum(result);
}

const uint64 *
cuckoo_get_hashes(CuckooAggState *state, Size *n)
{
	uint64	   *hashes;

	if (state->expanded != NULL)
	{
		expanded_sort(state->expanded);
		*n = state->expanded->count;
		return state->expanded->hashes;
	}
	*n = cuckoo_flat_count(state->flat);
	hashes = palloc(Max(*n, 1) * sizeof(uint64));
	for (Size i = 0; i < *n; i++)
		hashes[i] = cuckoo_load64(flat_hash(state->flat, i));
	return hashes;
}
