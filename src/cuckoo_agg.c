/*-------------------------------------------------------------------------
 *
 * cuckoo_agg.c
 *		The aggregate cf_agg, and the type of its states, cuckoostate.
 *
 * The state is the set of the 64-bit hashes seen, with what the filter is to
 * be made for.  The final function builds the filter from the sorted hashes,
 * so equal sets give equal filters, whatever order, duplicates, workers.
 *
 * cuckoostate is an SQL type with text and binary form, so that parallel
 * workers and distributed engines can ship partial states.  It is the state of
 * the overloads for concrete types.  A distributed engine cannot name the
 * element type of the polymorphic ones, so their state is declared "internal",
 * at which such an engine fetches the rows instead; these states are the same
 * in memory, see keep_state().
 *
 * In memory a state has two shapes:
 *
 *	flat		a varlena, see the table below, its hashes sorted and distinct.
 *				While an aggregate fills it, it may have room behind the last
 *				hash; it then grows in place.  A group of ten values takes 128
 *				bytes.
 *	expanded	from FLAT_ROOM_MAX hashes on: an expanded object with a sorted,
 *				distinct run followed by a tail of what came since.  When its
 *				room is used up the tail is sorted and merged into the run, and
 *				the room then is made one and a half times the run, at least.
 *				So memory follows the distinct values: 12 bytes for each and 4
 *				while merging.  With the final function's workspace and image
 *				14 to 20 were seen at the peak.
 *
 * Sorting and merging a tail does not change the set, and is not interrupted
 * halfway, so the final function, which does that to an expanded state, counts
 * as read-only: cf_agg works as a window aggregate, and states may be shared.
 *
 *	bytes	field of the flat form, little-endian; also what travels
 *	0-1		magic "CS"
 *	2		version, 1
 *	3		element family
 *	4		fingerprint bits that give the fpp asked for
 *	5		0
 *	6-7		tag of the element type (family "other"), else 0
 *	8-15	seed
 *	16-23	capacity; 0 for an exact fit
 *	24-31	number of hashes
 *	32-		hashes, 8 bytes each
 *
 * A flat state may come from a damaged page, so whoever opens one checks its
 * header.  Its hashes are checked where they come from outside.  Those of a
 * damaged state may be in any order, which makes a wrong filter but is safe.
 *
 * Distributed engines call the transition function with a fresh FmgrInfo for
 * every row, so the state holds everything and a call site's hasher is but a
 * cache.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"
#include "cuckoo_build.h"
#include "cuckoo_keys.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#define STATE_VERSION		1
#define STATE_HEADER_SIZE	32

/*
 * A flat state under construction takes a power of two of bytes, as palloc
 * would round it up to: room for 3, 11, 27, 59, 123 hashes.
 */
#define FLAT_BYTES_MIN		64
#define FLAT_ROOM(bytes) \
	(((bytes) - VARHDRSZ - STATE_HEADER_SIZE) / sizeof(uint64))
#define FLAT_ROOM_MAX		FLAT_ROOM(1024)

/* cuckoo_fpp_bits(CUCKOO_MIN_FPP): 8 * 0.95 / 2^30 is the first under 1e-8. */
#define STATE_BITS_MAX		30

PG_FUNCTION_INFO_V1(cuckoostate_in);
PG_FUNCTION_INFO_V1(cuckoostate_out);
PG_FUNCTION_INFO_V1(cuckoostate_recv);
PG_FUNCTION_INFO_V1(cuckoostate_send);
PG_FUNCTION_INFO_V1(cf_agg_trans);
PG_FUNCTION_INFO_V1(cf_agg_combine);
PG_FUNCTION_INFO_V1(cf_agg_final);
PG_FUNCTION_INFO_V1(cf_state_final);
PG_FUNCTION_INFO_V1(cf_agg_internal_trans);
PG_FUNCTION_INFO_V1(cf_agg_internal_combine);
PG_FUNCTION_INFO_V1(cf_agg_serialize);
PG_FUNCTION_INFO_V1(cf_agg_deserialize);

/* Fewer hashes are sorted faster by comparison. */
#define SMALL_SORT			200

/* What the filter is to be made for; equal for states that combine. */
typedef struct StateParams
{
	uint64		seed;
	int64		capacity;		/* 0 for an exact fit */
	uint16		tag;
	uint8		family;
	uint8		bits;			/* as in CuckooHeader.asked_bits */
} StateParams;

typedef struct ExpandedState
{
	ExpandedObjectHeader hdr;
	StateParams params;
	uint64	   *hashes;
	Size		count;
	Size		sorted;			/* hashes of the sorted, distinct run */
	Size		room;
} ExpandedState;

/* ---- flat states ---- */

static inline uint8 *
flat_bytes(const struct varlena *flat)
{
	return (uint8 *) VARDATA(flat);
}

static inline Size
flat_count(const struct varlena *flat)
{
	return (Size) cuckoo_load64(flat_bytes(flat) + 24);
}

static inline void
flat_set_count(struct varlena *flat, Size count)
{
	cuckoo_store64(flat_bytes(flat) + 24, count);
}

/* The bytes of a flat state without room behind its hashes. */
static inline Size
flat_size(Size count)
{
	return VARHDRSZ + STATE_HEADER_SIZE + count * sizeof(uint64);
}

/* Where the i-th hash of a flat state is; not aligned. */
static inline uint8 *
flat_hash(const struct varlena *flat, Size i)
{
	return flat_bytes(flat) + STATE_HEADER_SIZE + i * sizeof(uint64);
}

static void
flat_write_params(struct varlena *flat, const StateParams *params)
{
	uint8	   *bytes = flat_bytes(flat);

	bytes[0] = 'C';
	bytes[1] = 'S';
	bytes[2] = STATE_VERSION;
	bytes[3] = params->family;
	bytes[4] = params->bits;
	bytes[5] = 0;
	cuckoo_store16(bytes + 6, params->tag);
	cuckoo_store64(bytes + 8, params->seed);
	cuckoo_store64(bytes + 16, (uint64) params->capacity);
}

static void
flat_read_params(const struct varlena *flat, StateParams *params)
{
	uint8	   *bytes = flat_bytes(flat);

	params->family = bytes[3];
	params->bits = bytes[4];
	params->tag = cuckoo_load16(bytes + 6);
	params->seed = cuckoo_load64(bytes + 8);
	params->capacity = (int64) cuckoo_load64(bytes + 16);
}

static struct varlena *
flat_new(const StateParams *params, Size bytes)
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
				high = flat_count(flat);

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

/*
 * Says why the header of a flat state is invalid, or NULL.  A state of a valid
 * one is memory-safe, whatever its hashes.
 */
static const char *
flat_header_problem(const struct varlena *flat)
{
	Size		size = VARSIZE(flat) - VARHDRSZ;
	uint8	   *bytes = flat_bytes(flat);
	StateParams params;
	CuckooHeader h;

	if (size < STATE_HEADER_SIZE)
		return "shorter than a header";
	if (bytes[0] != 'C' || bytes[1] != 'S')
		return "first two bytes are not \"CS\"";
	if (bytes[2] != STATE_VERSION)
		return "unknown version";
	flat_read_params(flat, &params);
	if (params.family == CUCKOO_FAMILY_NONE ||
		params.family > CUCKOO_FAMILY_LAST ||
		(params.tag != 0 && params.family != CUCKOO_FAMILY_OTHER))
		return "unknown element family";
	if (bytes[5] != 0)
		return "reserved byte is not zero";
	if (params.bits < CUCKOO_CORE_BITS || params.bits > STATE_BITS_MAX ||
		params.capacity < 0 ||
		(params.capacity > 0 &&
		 cuckoo_header_sized(&h, (uint64) params.capacity, params.bits,
							 params.seed) != CUCKOO_OK))
		return "fingerprint bits or capacity out of range";
	if (cuckoo_load64(bytes + 24) > FLAT_ROOM(VARSIZE(flat)))
		return "length does not agree with the number of hashes";
	return NULL;
}

/* Says why a flat state from outside is invalid, or NULL. */
static const char *
flat_problem(const struct varlena *flat)
{
	const char *problem = flat_header_problem(flat);

	if (problem != NULL)
		return problem;
	if (VARSIZE(flat) != flat_size(flat_count(flat)))
		return "length does not agree with the number of hashes";
	for (Size i = 1; i < flat_count(flat); i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (cuckoo_load64(flat_hash(flat, i)) <=
			cuckoo_load64(flat_hash(flat, i - 1)))
			return "hashes are not in order";
	}
	return NULL;
}

/* Throws an error if a flat state that came as bytes is invalid. */
static void
flat_check_input(const struct varlena *flat)
{
	const char *problem = flat_problem(flat);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Pass the complete, unaltered bytes of a cuckoostate.")));
}

/* Throws an error if the header of a stored flat state is invalid. */
static void
flat_check(const struct varlena *flat)
{
	const char *problem = flat_header_problem(flat);

	if (unlikely(problem != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("corrupt cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Compute the state again from the original values.")));
}

/* ---- expanded states ---- */

/*
 * Merges `n` sorted, distinct hashes at `bytes` (little-endian, not aligned,
 * not part of the state) into the run.  There is no tail, and room for them.
 */
static void
expanded_merge(ExpandedState *state, const uint8 *bytes, Size n)
{
	uint64	   *hashes = state->hashes;
	Size		run = state->sorted;
	Size		end = run + n;
	Size		out = end;

	Assert(state->count == state->sorted && end <= state->room);

	/*
	 * From the end, so that nothing is overwritten before it is read.  Not to
	 * be interrupted halfway: the state may outlive the error, in a variable.
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

	/* hashes that were in both left a gap behind what did not move */
	if (out > run)
		memmove(hashes + run, hashes + out, (end - out) * sizeof(uint64));
	state->sorted = state->count = run + (end - out);
}

static int
compare_hashes(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a,
				y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/*
 * Sorts `n` hashes, with scratch memory for as many.
 *
 * Hashes are as good as random, so four byte-wise counting passes over their
 * upper halves leave next to nothing to do.  That takes a ninth of the time of
 * sort_template.h, which would be a third of cf_agg's.
 */
static void
sort_hashes(uint64 *hashes, Size n, uint64 *scratch)
{
	Size		offsets[4][256] = {{0}};
	Size		end;

	if (n < SMALL_SORT)
	{
		qsort(hashes, n, sizeof(uint64), compare_hashes);
		return;
	}

	for (Size i = 0; i < n; i++)
		for (int pass = 0; pass < 4; pass++)
			offsets[pass][hashes[i] >> (32 + 8 * pass) & 0xff]++;

	for (int pass = 0; pass < 4; pass++)
	{
		uint64	   *from = pass % 2 == 0 ? hashes : scratch;
		uint64	   *to = pass % 2 == 0 ? scratch : hashes;
		Size		sum = 0;

		/* hashes[] is a permutation of itself at the start of every pass */
		CHECK_FOR_INTERRUPTS();
		for (int byte = 0; byte < 256; byte++)
		{
			Size		count = offsets[pass][byte];

			offsets[pass][byte] = sum;
			sum += count;
		}
		for (Size i = 0; i < n; i++)
			to[offsets[pass][from[i] >> (32 + 8 * pass) & 0xff]++] = from[i];
	}

	/* what has equal upper halves: mostly repetitions of one hash */
	for (Size i = 0; i < n; i = end)
	{
		bool		sorted = true;

		for (end = i + 1;
			 end < n && hashes[end] >> 32 == hashes[i] >> 32;
			 end++)
			sorted &= hashes[end - 1] <= hashes[end];
		if (!sorted)
			qsort(hashes + i, end - i, sizeof(uint64), compare_hashes);
	}
}

/* Sorts the tail into the run. */
static void
expanded_sort(ExpandedState *state)
{
	uint64	   *tail = state->hashes + state->sorted;
	Size		n = state->count - state->sorted;
	uint64	   *scratch;
	Size		kept = 0;

	if (n == 0)
		return;
	scratch = MemoryContextAllocHuge(state->hdr.eoh_context,
									 n * sizeof(uint64));
	sort_hashes(tail, n, scratch);

	/* without repetitions, and to where the merge may read it from */
	for (Size i = 0; i < n; i++)
		if (i == 0 || tail[i] != tail[i - 1])
			cuckoo_store64((uint8 *) (scratch + kept++), tail[i]);
	state->count = state->sorted;
	expanded_merge(state, (uint8 *) scratch, kept);
	pfree(scratch);
}

/* Makes room for `n` more hashes behind the run; there is no tail. */
static void
expanded_reserve(ExpandedState *state, Size n)
{
	CuckooHeader h;
	CuckooStatus status;

	/* give up as soon as no filter can hold what is there */
	status = cuckoo_header_exact(&h, state->count,
								 state->params.capacity == 0 ?
								 state->params.bits : CUCKOO_CORE_BITS, 0);
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	if (state->room < state->count + n)
	{
		state->hashes = repalloc_huge(state->hashes,
									  (state->count + n) * sizeof(uint64));
		state->room = state->count + n;
	}
}

static inline void
expanded_add(ExpandedState *state, uint64 hash)
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
	ExpandedState *state = (ExpandedState *) eohptr;
	Size		size;

	expanded_sort(state);
	size = flat_size(state->count);
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
	ExpandedState *state = (ExpandedState *) eohptr;
	struct varlena *flat = result;

	SET_VARSIZE(flat, size);
	flat_write_params(flat, &state->params);
	flat_set_count(flat, state->count);
	for (Size i = 0; i < state->count; i++)
		cuckoo_store64(flat_hash(flat, i), state->hashes[i]);
}

static const ExpandedObjectMethods expanded_methods = {
	state_flat_size,
	state_flatten
};

/* A new expanded state, child of `parent`, with the hashes of a flat one. */
static ExpandedState *
expanded_from_flat(const struct varlena *flat, Size room, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "cuckoostate",
												  ALLOCSET_SMALL_SIZES);
	ExpandedState *state = MemoryContextAllocZero(context,
												  sizeof(ExpandedState));

	EOH_init_header(&state->hdr, &expanded_methods, context);
	flat_read_params(flat, &state->params);
	state->room = Max(room, flat_count(flat));
	state->hashes = MemoryContextAllocHuge(context,
										   state->room * sizeof(uint64));
	expanded_merge(state, flat_hash(flat, 0), flat_count(flat));
	return state;
}

/* ---- states of either shape ---- */

/* One of the two is NULL. */
typedef struct StateRef
{
	ExpandedState *expanded;
	struct varlena *flat;
	StateParams params;
} StateRef;

static void
state_open(StateRef *ref, Datum datum, bool check)
{
	struct varlena *pointer = (struct varlena *) DatumGetPointer(datum);

	memset(ref, 0, sizeof(*ref));
	if (VARATT_IS_EXTERNAL_EXPANDED(pointer) &&
		DatumGetEOHP(datum)->eoh_methods == &expanded_methods)
	{
		ref->expanded = (ExpandedState *) DatumGetEOHP(datum);
		ref->params = ref->expanded->params;
	}
	else
	{
		ref->flat = PG_DETOAST_DATUM(datum);
		if (check)
			flat_check(ref->flat);
		flat_read_params(ref->flat, &ref->params);
	}
}

/* A new flat state of just the length that its hashes need. */
static struct varlena *
state_packed(Datum datum)
{
	struct varlena *flat = PG_DETOAST_DATUM_COPY(datum);

	flat_check(flat);
	SET_VARSIZE(flat, flat_size(flat_count(flat)));
	return flat;
}

static void
params_error_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", name),
			 errhint("Specify a value, or use a form of cf_agg without this argument.")));
}

/* The parameters after the value: [fpp] or [capacity, fpp [, seed]]. */
static void
params_init(StateParams *params, int nargs, const NullableDatum *args)
{
	static const char *const names[] = {"capacity", "fpp", "seed"};
	int			first = nargs == 1 ? 1 : 0;
	double		fpp = CUCKOO_DEFAULT_FPP;

	memset(params, 0, sizeof(*params));
	for (int i = 0; i < nargs; i++)
		if (args[i].isnull)
			params_error_null(names[first + i]);

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

		params->capacity = DatumGetInt64(args[0].value);
		cuckoo_checked_capacity(&h, params->capacity, params->bits,
								params->seed);
	}
}

/* Parameters are one for the whole aggregate; rows may not differ. */
static void
params_check(const StateParams *params, int nargs, const NullableDatum *args)
{
	StateParams given;

	if (nargs == 0)
		return;
	if (nargs > 1 && !args[0].isnull && !args[1].isnull &&
		DatumGetInt64(args[0].value) == params->capacity &&
		cuckoo_checked_fpp(DatumGetFloat8(args[1].value)) == params->bits &&
		(nargs == 2 ||
		 (!args[2].isnull &&
		  (uint64) DatumGetInt64(args[2].value) == params->seed)))
		return;
	params_init(&given, nargs, args);
	if (given.bits != params->bits || given.capacity != params->capacity ||
		given.seed != params->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity, fpp and seed of cf_agg must be the same for all rows"),
				 errdetail("The capacity, fpp or seed of a row differs from that of the rows before it."),
				 errhint("Use constants, or group by the columns that they depend on.")));
}

/* Errors unless two states are for one filter. */
static void
params_combine(const StateParams *a, const StateParams *b)
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
				 errdetail("The states differ in capacity, fpp or seed."),
				 errhint("Create both states with the same arguments of cf_agg.")));
}

/*
 * cf_agg_trans(state, value [, fpp | , capacity, fpp [, seed]])
 */
Datum
cf_agg_trans(PG_FUNCTION_ARGS)
{
	const NullableDatum *args = fcinfo->args + 2;
	int			nargs = PG_NARGS() - 2;
	CuckooHasher *hasher;
	MemoryContext context;
	StateRef	state;
	bool		ours;
	uint64		hash;
	Size		count,
				at;

	/* outside an aggregate a flat argument is not ours to change */
	ours = AggCheckCallContext(fcinfo, &context) != 0;
	if (!ours)
		context = CurrentMemoryContext;

	hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));
	if (PG_ARGISNULL(0))
	{
		memset(&state, 0, sizeof(state));
		params_init(&state.params, nargs, args);
		state.params.family = hasher->family;
		state.params.tag = hasher->tag;
		state.flat = flat_new(&state.params, FLAT_BYTES_MIN);
		ours = true;
	}
	else
	{
		/* what an aggregate has kept from row to row is what we gave it */
		state_open(&state, PG_GETARG_DATUM(0), !ours);
		params_check(&state.params, nargs, args);
		cuckoo_check_family(hasher, state.params.family, state.params.tag);
	}

	/* nulls are skipped, but have brought the parameters */
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_POINTER(state.flat);
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), state.params.seed);

	if (state.expanded != NULL)
	{
		if (!DatumIsReadWriteExpandedObject(PG_GETARG_DATUM(0), false, -1))
		{
			struct varlena *copy = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));

			state.expanded = expanded_from_flat(copy, 2 * FLAT_ROOM_MAX,
												context);
		}
		expanded_add(state.expanded, hash);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state.expanded->hdr));
	}

	count = flat_count(state.flat);
	at = flat_search(state.flat, hash);
	if (at < count && cuckoo_load64(flat_hash(state.flat, at)) == hash)
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_POINTER(state.flat);
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	if (count >= FLAT_ROOM_MAX)
	{
		state.expanded = expanded_from_flat(state.flat, 2 * count, context);
		expanded_add(state.expanded, hash);
		PG_RETURN_DATUM(EOHPGetRWDatum(&state.expanded->hdr));
	}
	if (!ours || count >= FLAT_ROOM(VARSIZE(state.flat)))
	{
		Size		bytes = FLAT_BYTES_MIN;
		struct varlena *flat;

		while (FLAT_ROOM(bytes) <= count)
			bytes *= 2;
		flat = flat_new(&state.params, bytes);
		memcpy(flat_hash(flat, 0), flat_hash(state.flat, 0),
			   count * sizeof(uint64));
		state.flat = flat;
	}
	memmove(flat_hash(state.flat, at + 1), flat_hash(state.flat, at),
			(count - at) * sizeof(uint64));
	cuckoo_store64(flat_hash(state.flat, at), hash);
	flat_set_count(state.flat, count + 1);
	PG_RETURN_POINTER(state.flat);
}

/* cf_agg_combine(state, state): the union of both sets */
Datum
cf_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	StateRef	a,
				b;
	Size		n;
	struct varlena *result;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if (!AggCheckCallContext(fcinfo, &context))
		context = CurrentMemoryContext;
	state_open(&b, PG_GETARG_DATUM(1), true);
	if (PG_ARGISNULL(0))
	{
		/* a large one is mostly the first of several */
		if (b.flat == NULL || flat_count(b.flat) <= FLAT_ROOM_MAX)
			PG_RETURN_DATUM(PG_GETARG_DATUM(1));
		a.expanded = expanded_from_flat(b.flat, 2 * flat_count(b.flat),
										context);
		PG_RETURN_DATUM(EOHPGetRWDatum(&a.expanded->hdr));
	}
	state_open(&a, PG_GETARG_DATUM(0), true);
	params_combine(&a.params, &b.params);

	if (a.expanded == NULL ||
		!DatumIsReadWriteExpandedObject(PG_GETARG_DATUM(0), false, -1))
	{
		if (a.expanded != NULL)
			a.flat = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
		a.expanded = expanded_from_flat(a.flat, 2 * FLAT_ROOM_MAX, context);
	}
	if (b.expanded != NULL)
		for (Size i = 0; i < b.expanded->count; i++)
			expanded_add(a.expanded, b.expanded->hashes[i]);
	else if ((n = flat_count(b.flat)) < a.expanded->count / 8)
		for (Size i = 0; i < n; i++)
			expanded_add(a.expanded, cuckoo_load64(flat_hash(b.flat, i)));
	else
	{
		/* large and sorted: merging saves sorting again */
		expanded_sort(a.expanded);
		expanded_reserve(a.expanded, n);
		expanded_merge(a.expanded, flat_hash(b.flat, 0), n);
	}

	/* small ones stay small: a million groups may be combined */
	if (a.flat == NULL || a.expanded->count > FLAT_ROOM_MAX)
		PG_RETURN_DATUM(EOHPGetRWDatum(&a.expanded->hdr));
	result = palloc(state_flat_size(&a.expanded->hdr));
	state_flatten(&a.expanded->hdr, result,
				  state_flat_size(&a.expanded->hdr));
	MemoryContextDelete(a.expanded->hdr.eoh_context);
	PG_RETURN_POINTER(result);
}

/*
 * The filter that just holds a set of hashes, sorted and distinct: places them
 * in unpacked slots, enlarging the geometry *h as often as needed, and packs
 * these.
 */
static struct varlena *
exact_filter(CuckooHeader *h, const uint64 *hashes, Size n)
{
	CuckooStatus status;
	struct varlena *filter;
	uint32	   *slots;

	for (int percent = 1;; percent *= 2)
	{
		slots = MemoryContextAllocHuge(CurrentMemoryContext,
									   cuckoo_build_slots(h) * sizeof(uint32));
		if (cuckoo_build(h, hashes, n, slots) == CUCKOO_OK)
			break;
		pfree(slots);

		if (cuckoo_is_crafted(h, n))
			cuckoo_error(CUCKOO_CRAFTED);
		status = cuckoo_header_enlarge(h, percent);
		if (status != CUCKOO_OK)
			cuckoo_error(status);
	}
	filter = palloc(VARHDRSZ + cuckoo_image_size(h));
	SET_VARSIZE(filter, VARHDRSZ + cuckoo_image_size(h));
	cuckoo_build_pack(h, slots, cuckoo_image(filter));
	pfree(slots);
	return filter;
}

/*
 * The filter by capacity of a set of hashes: that of their keys, as a union of
 * filters would be.
 */
static struct varlena *
sized_filter(CuckooHeader *h, const uint64 *hashes, Size n)
{
	Size		size = Max(n, 1) * sizeof(uint64);
	uint64	   *keys = MemoryContextAllocHuge(CurrentMemoryContext, size);
	uint64	   *scratch = MemoryContextAllocHuge(CurrentMemoryContext, size);

	if (n > 0)
		memcpy(keys, hashes, n * sizeof(uint64));
	n = (Size) cuckoo_keys_of_hashes(h, keys, n, scratch);
	pfree(scratch);
	return cuckoo_filter_of_keys(h, keys, n);
}

/* The filter of a set of hashes, sorted and distinct. */
static struct varlena *
final_filter(const StateParams *params, const uint64 *hashes, Size n)
{
	bool		exact = params->capacity == 0;
	CuckooHeader h;
	CuckooStatus status;

	if (exact)
		status = cuckoo_header_exact(&h, n, params->bits, params->seed);
	else
		status = cuckoo_header_sized(&h, (uint64) params->capacity,
									 params->bits, params->seed);
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	if (n > 0)
	{
		h.family = params->family;
		h.tag = params->tag;
	}
	return exact ? exact_filter(&h, hashes, n) : sized_filter(&h, hashes, n);
}

/*
 * The expression that a Var of a plan node stands for, and the node to which
 * that belongs, in *plan; NULL if it is not known.  Vars lead to children as in
 * set_deparse_plan() of ruleutils.c.
 */
static Expr *
referenced_expr(Plan **plan, const Var *var)
{
	Plan	   *parent = *plan;
	List	   *entries;

	if (var->varno == INDEX_VAR && IsA(parent, CustomScan))
		entries = ((CustomScan *) parent)->custom_scan_tlist;
	else if (var->varno == INDEX_VAR && IsA(parent, ForeignScan))
		entries = ((ForeignScan *) parent)->fdw_scan_tlist;
	else
	{
		List	   *children = NIL;

		if (IsA(parent, Append))
			children = ((Append *) parent)->appendplans;
		else if (IsA(parent, MergeAppend))
			children = ((MergeAppend *) parent)->mergeplans;
		else if (IsA(parent, CustomScan))
			children = ((CustomScan *) parent)->custom_plans;

		if (var->varno == OUTER_VAR)
			*plan = children != NIL ? linitial(children) : outerPlan(parent);
		else if (var->varno == INNER_VAR)
			*plan = innerPlan(parent);
		else if (IsA(parent, SubqueryScan))
			*plan = ((SubqueryScan *) parent)->subplan;
		else
			*plan = NULL;
		entries = *plan != NULL ? (*plan)->targetlist : NIL;
	}
	if (var->varattno < 1 || var->varattno > list_length(entries))
		return NULL;
	return list_nth_node(TargetEntry, entries, var->varattno - 1)->expr;
}

/*
 * The arguments of the aggregate being finished, as target entries; NIL if they
 * are not known.  An aggregate that combines partial states has for argument a
 * Var, which leads down the plan to where these are made.
 */
static List *
aggregate_arguments(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Plan	   *plan;

	if (aggref == NULL)
		return NIL;
	plan = ((AggState *) fcinfo->context)->ss.ps.plan;
	while (DO_AGGSPLIT_COMBINE(aggref->aggsplit))
	{
		Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;

		while (arg != NULL && IsA(arg, Var))
			arg = referenced_expr(&plan, (Var *) arg);
		if (arg == NULL || !IsA(arg, Aggref))
			return NIL;
		aggref = (Aggref *) arg;
	}
	return aggref->args;
}

/* Does an argument of an aggregate depend on rows? */
static bool
depends_on_rows(TargetEntry *entry)
{
	return contain_var_clause((Node *) entry->expr) ||
		contain_subplans((Node *) entry->expr);
}

/*
 * The parameters of an aggregate that saw no value: from the query, unless they
 * depend on rows or are not to be found there; then they are the defaults.
 */
static void
params_of_call(FunctionCallInfo fcinfo, StateParams *params)
{
	static const Oid types[][3] = {
		{FLOAT8OID}, {INT8OID, FLOAT8OID}, {INT8OID, FLOAT8OID, INT8OID}
	};
	ListCell   *cell;
	TargetEntry *entries[3];
	NullableDatum args[3];
	int			nargs = -1;		/* the first one is the value */

	foreach(cell, aggregate_arguments(fcinfo))
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		/* what is left is there for ORDER BY */
		if (entry->resjunk || nargs == (int) lengthof(entries))
			break;
		if (nargs >= 0)
			entries[nargs] = entry;
		nargs++;
	}

	/* the aggregate may be somebody else's, over our functions */
	nargs = Max(nargs, 0);
	for (int i = 0, n = nargs; i < n; i++)
		if (exprType((Node *) entries[i]->expr) != types[n - 1][i] ||
			depends_on_rows(entries[i]))
			nargs = 0;
	for (int i = 0; i < nargs; i++)
	{
		EState	   *estate = ((AggState *) fcinfo->context)->ss.ps.state;
		ExprState  *expr = ExecInitExprWithParams(entries[i]->expr,
												  estate->es_param_list_info);

		args[i].value =
			ExecEvalExprSwitchContext(expr, GetPerTupleExprContext(estate),
									  &args[i].isnull);
	}
	params_init(params, nargs, args);
}

/* cf_agg_final(state): the filter */
Datum
cf_agg_final(PG_FUNCTION_ARGS)
{
	StateRef	state;
	struct varlena *filter;

	if (PG_ARGISNULL(0))
	{
		params_of_call(fcinfo, &state.params);
		PG_RETURN_POINTER(final_filter(&state.params, NULL, 0));
	}

	state_open(&state, PG_GETARG_DATUM(0), true);
	if (state.expanded != NULL)
	{
		expanded_sort(state.expanded);
		filter = final_filter(&state.params, state.expanded->hashes,
							  state.expanded->count);
	}
	else
	{
		Size		n = flat_count(state.flat);
		uint64	   *hashes = palloc(Max(n, 1) * sizeof(uint64));

		for (Size i = 0; i < n; i++)
			hashes[i] = cuckoo_load64(flat_hash(state.flat, i));
		filter = final_filter(&state.params, hashes, n);
		pfree(hashes);
	}
	PG_RETURN_POINTER(filter);
}

/* cf_state_final(state): the state as a value */
Datum
cf_state_final(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(state_packed(PG_GETARG_DATUM(0)));
}

/* ---- states of STYPE internal ---- */

/*
 * Does with the new state of an aggregate of STYPE internal what nodeAgg.c does
 * with one passed by reference: keeps it in the aggregate's memory context, and
 * frees the one that it replaces.  An expanded one is there already, and is
 * never replaced.
 */
static Datum
keep_state(FunctionCallInfo fcinfo, Datum state)
{
	MemoryContext context;
	MemoryContext caller;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "function of cf_agg called in non-aggregate context");
	if (fcinfo->isnull ||
		(!PG_ARGISNULL(0) && state == PG_GETARG_DATUM(0)))
		return state;
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

/* cf_agg_trans() and cf_agg_combine() of internal states */
Datum
cf_agg_internal_trans(PG_FUNCTION_ARGS)
{
	return keep_state(fcinfo, cf_agg_trans(fcinfo));
}

Datum
cf_agg_internal_combine(PG_FUNCTION_ARGS)
{
	return keep_state(fcinfo, cf_agg_combine(fcinfo));
}

/* cf_agg_serialize(internal): the bytes of the flat form */
Datum
cf_agg_serialize(PG_FUNCTION_ARGS)
{
	StateRef	state;

	/* an expanded one is flattened where it is needed, as a bytea */
	state_open(&state, PG_GETARG_DATUM(0), true);
	if (state.expanded != NULL)
		PG_RETURN_DATUM(EOHPGetRODatum(&state.expanded->hdr));
	PG_RETURN_POINTER(state_packed(PG_GETARG_DATUM(0)));
}

/* cf_agg_deserialize(bytea, internal) */
Datum
cf_agg_deserialize(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_BYTEA_P(0);

	flat_check_input(flat);
	PG_RETURN_POINTER(flat);
}

/* ---- input and output of cuckoostate ---- */

Datum
cuckoostate_in(PG_FUNCTION_ARGS)
{
	struct varlena *flat = cuckoo_base64_decode(PG_GETARG_CSTRING(0));
	const char *problem = flat == NULL ? "not base64" : flat_problem(flat);

	if (problem != NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Values of type cuckoostate are produced by partial aggregation with cf_agg.")));
	PG_RETURN_POINTER(flat);
}

Datum
cuckoostate_out(PG_FUNCTION_ARGS)
{
	struct varlena *flat = state_packed(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(cuckoo_base64_encode(flat_bytes(flat),
										   VARSIZE(flat) - VARHDRSZ));
}

Datum
cuckoostate_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buf->len - buf->cursor;
	struct varlena *flat = cuckoo_new_datum(size);

	pq_copymsgbytes(buf, VARDATA(flat), size);
	flat_check_input(flat);
	PG_RETURN_POINTER(flat);
}

Datum
cuckoostate_send(PG_FUNCTION_ARGS)
{
	struct varlena *flat = state_packed(PG_GETARG_DATUM(0));
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, (const void *) flat_bytes(flat),
				 VARSIZE(flat) - VARHDRSZ);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}
