/*-------------------------------------------------------------------------
 *
 * probe/probe.c
 *		Membership tests: cf_contains and its operators, the count of copies,
 *		arrays of elements, and hashes instead of elements.
 *
 * A filter in memory (the result of an InitPlan, a constant, a variable) is
 * used in place.  A filter in a table is usually TOASTed, and reading all of it
 * costs far more than a probe.  A probe reads the slices with the header and
 * the two buckets, until fetching the whole filter pays (probe/cache.c).  An
 * array of elements, or the planner's estimate of rows, gives the number of
 * future probes.  If it is large enough, the filter is fetched at once.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "probe/probe.h"

#include "access/table.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(cf_contains);
PG_FUNCTION_INFO_V1(cuckoo_contained);
PG_FUNCTION_INFO_V1(cf_contains_hash);
PG_FUNCTION_INFO_V1(cf_count_value);
PG_FUNCTION_INFO_V1(cf_contains_any);
PG_FUNCTION_INFO_V1(cf_contains_all);
PG_FUNCTION_INFO_V1(cf_contains_each);

/*
 * Two buckets that are at most this many bytes apart are read in one slice: it
 * has one or two more chunks, but costs less than a second slice.  Near buckets
 * (core/README, "Positions") are rarely further apart: a window of 128 buckets
 * has at most 1984 bytes.  Only a larger segment may have more.
 */
#define ONE_SLICE			2048

/* The state that a call site keeps between calls. */
typedef struct ProbeSite
{
	CuckooHasher hasher;		/* first, see cuckoo_hasher() */
	CuckooCache *cache;			/* NULL until a stored filter is probed */
	CuckooStored *stored;		/* of the last call */

	/* the last filter in memory */
	bool		has_memory;		/* the next three fields are valid */
	Size		memory_size;
	uint8		memory_bytes[CUCKOO_HEADER_SIZE];
	CuckooHeader memory_header;
} ProbeSite;

/*
 * Returns the header of a filter in memory.  A call site usually probes one
 * filter, so this keeps the decoded header: decoding and checking it takes as
 * long as the probe.
 */
static inline const CuckooHeader *
memory_header(ProbeSite *site, const struct varlena *filter)
{
	Size		size = VARSIZE_ANY_EXHDR(filter);

	if (!site->has_memory || size != site->memory_size ||
		memcmp(cuckoo_image(filter), site->memory_bytes,
			   CUCKOO_HEADER_SIZE) != 0)
	{
		site->has_memory = false;
		cuckoo_open(&site->memory_header, filter);
		memcpy(site->memory_bytes, cuckoo_image(filter), CUCKOO_HEADER_SIZE);
		site->memory_size = size;
		site->has_memory = true;
	}
	return &site->memory_header;
}

/*
 * Returns the filter of a call, argument `argno`, or NULL if the caller should
 * probe in slices.  *h is the header in both cases.  `probes` is the number of
 * future probes.
 */
static inline const struct varlena *
call_filter(FunctionCallInfo fcinfo, int argno, ProbeSite *site, uint32 probes,
			const CuckooHeader **h)
{
	struct varlena *datum = (struct varlena *) PG_GETARG_POINTER(argno);
	const struct varlena *filter;

	if (VARATT_IS_EXTERNAL_ONDISK(datum))
	{
		if (site->cache == NULL)
			site->cache = cuckoo_cache(fcinfo->flinfo->fn_mcxt);
		filter = cuckoo_stored_filter(site->cache, &site->stored, datum,
									  probes);
		*h = &site->stored->header;
		return filter;
	}
	filter = cuckoo_filter(PointerGetDatum(datum));
	*h = memory_header(site, filter);
	return filter;
}

void
cuckoo_open_filter(CuckooOpenFilter *open, FunctionCallInfo fcinfo, int argno,
				   uint32 probes)
{
	ProbeSite  *site = (ProbeSite *) cuckoo_hasher(fcinfo, 1 - argno,
												   sizeof(ProbeSite));
	const struct varlena *filter = call_filter(fcinfo, argno, site, probes,
											   &open->header);

	open->hasher = &site->hasher;
	open->image = filter != NULL ? cuckoo_image(filter) : NULL;
	open->of_family = filter != NULL &&
		cuckoo_is_of_family(open->hasher, open->header);
	open->fetched = filter != NULL &&
		VARATT_IS_EXTERNAL_ONDISK(PG_GETARG_POINTER(argno));
}

/* Reads bytes of an uncompressed filter into a new datum. */
static struct varlena *
read_slice(const CuckooStored *stored, Relation toastrel, uint64 offset,
		   uint32 length)
{
	const struct varatt_external *pointer = &stored->pointer;
	struct varlena *slice = palloc(VARHDRSZ + length);

	SET_VARSIZE(slice, VARHDRSZ + length);
	table_relation_fetch_toast_slice(toastrel, pointer->va_valueid,
									 VARATT_EXTERNAL_GET_EXTSIZE(*pointer),
									 (int32) offset, (int32) length, slice);
	return slice;
}

/* Counts the copies of an element in the site's stored filter, in slices. */
static int
probe_slices(ProbeSite *site, Relation toastrel, uint64 hash)
{
	CuckooStored *stored = site->stored;
	const CuckooHeader *h = &stored->header;
	CuckooProbe probe;
	struct varlena *slice;
	const uint8 *bytes[2];
	int			first;
	uint64		apart;

	stored->probes++;
	cuckoo_probe_init(&probe, h, hash);
	first = probe.offset[0] <= probe.offset[1] ? 0 : 1;
	apart = probe.offset[1 - first] - probe.offset[first];
	if (apart <= ONE_SLICE)
	{
		slice = read_slice(stored, toastrel, probe.offset[first],
						   (int) apart + probe.length);
		bytes[first] = (const uint8 *) VARDATA(slice);
		bytes[1 - first] = bytes[first] + apart;
	}
	else
		for (int i = 0; i < 2; i++)
		{
			slice = read_slice(stored, toastrel, probe.offset[i],
							   probe.length);
			bytes[i] = (const uint8 *) VARDATA(slice);
		}
	return cuckoo_probe_copies(&probe, h, bytes[0], bytes[1]);
}

/* What a lookup returns, and from what. */
typedef enum ProbeMode
{
	PROBE_PRESENCE,				/* at least one copy of the element */
	PROBE_COPIES,				/* the number of copies */
	PROBE_HASH					/* like PROBE_PRESENCE, for a hash instead of
								 * an element: no family to check */
} ProbeMode;

/*
 * Looks up the element of a call in its filter, argument `argno`.  Returns the
 * copies, or for PROBE_PRESENCE and PROBE_HASH any number above 0 if present.
 */
static inline int
probe_call(FunctionCallInfo fcinfo, int argno, ProbeMode mode)
{
	ProbeSite  *site = (ProbeSite *) cuckoo_hasher(fcinfo, 1 - argno,
												   sizeof(ProbeSite));
	const CuckooHeader *h;
	const struct varlena *filter = call_filter(fcinfo, argno, site, 1, &h);
	Datum		element = PG_GETARG_DATUM(1 - argno);
	uint64		hash;

	if (mode != PROBE_HASH)
		cuckoo_check_family(&site->hasher, h->family, h->tag);
	if (h->items == 0)
		return 0;
	hash = mode == PROBE_HASH ? (uint64) DatumGetInt64(element)
		: cuckoo_hash(&site->hasher, element, h->seed);
	/* a user-defined hash function may have probed filters and dropped ours */
	if (site->hasher.hash_proc != NULL)
		filter = call_filter(fcinfo, argno, site, 1, &h);
	if (filter == NULL)
	{
		Relation	toastrel = table_open(site->stored->pointer.va_toastrelid,
										  AccessShareLock);
		int			copies = probe_slices(site, toastrel, hash);

		table_close(toastrel, AccessShareLock);
		return copies;
	}
	return mode == PROBE_COPIES ?
		cuckoo_copies(h, cuckoo_image(filter), hash) :
		cuckoo_contains(h, cuckoo_image(filter), hash);
}

Datum
cf_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(probe_call(fcinfo, 0, PROBE_PRESENCE) > 0);
}

/* cf_contains with exchanged arguments, for the operator <@ */
Datum
cuckoo_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(probe_call(fcinfo, 1, PROBE_PRESENCE) > 0);
}

/* cf_contains by the hash of an element */
Datum
cf_contains_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(probe_call(fcinfo, 0, PROBE_HASH) > 0);
}

Datum
cf_count_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(probe_call(fcinfo, 0, PROBE_COPIES));
}

/* Probes the filter of a call for n hashes, except those of null elements. */
static void
probe_hashes(FunctionCallInfo fcinfo, int argno, ProbeSite *site,
			 const uint64 *hashes, const bool *nulls, int n, bool *found)
{
	const CuckooHeader *h;
	const struct varlena *filter = call_filter(fcinfo, argno, site, n, &h);
	Relation	toastrel;

	if (filter != NULL)
	{
		cuckoo_contains_batch(h, cuckoo_image(filter), hashes, n, found);
		return;
	}
	toastrel = table_open(site->stored->pointer.va_toastrelid,
						  AccessShareLock);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		found[i] = (nulls == NULL || !nulls[i]) &&
			probe_slices(site, toastrel, hashes[i]) > 0;
	}
	table_close(toastrel, AccessShareLock);
}

void
cuckoo_probe_hashes(const CuckooOpenFilter *open, FunctionCallInfo fcinfo,
					int argno, const uint64 *hashes, int n, bool *found)
{
	if (open->fetched)
		probe_hashes(fcinfo, argno, (ProbeSite *) fcinfo->flinfo->fn_extra,
					 hashes, NULL, n, found);
	else if (n == 1)
		found[0] = cuckoo_contains(open->header, open->image, hashes[0]);
	else
		cuckoo_contains_batch(open->header, open->image, hashes, n, found);
}

/* Probes for all elements of the array argument, except null ones. */
static bool *
probe_array(FunctionCallInfo fcinfo, CuckooElements *elements)
{
	ProbeSite  *site = (ProbeSite *) cuckoo_array_hasher(fcinfo, 1, elements,
														 sizeof(ProbeSite));
	int			n = elements->count;
	const CuckooHeader *h;
	bool	   *found = palloc0(Max(n, 1) * sizeof(bool));
	uint64	   *hashes;
	uint64		seed;

	(void) call_filter(fcinfo, 0, site, n, &h);
	cuckoo_check_family(&site->hasher, h->family, h->tag);
	if (h->items == 0)
		return found;
	seed = h->seed;
	hashes = palloc0(Max(n, 1) * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!elements->nulls[i])
			hashes[i] = cuckoo_hash(&site->hasher, elements->values[i], seed);
	}
	/* finds the filter again: a user-defined hash function may drop it */
	probe_hashes(fcinfo, 0, site, hashes, elements->nulls, n, found);
	return found;
}

/* True if the result for any non-null element of the array is `found`. */
static bool
array_has(FunctionCallInfo fcinfo, bool found)
{
	CuckooElements elements;
	bool	   *each = probe_array(fcinfo, &elements);

	for (int i = 0; i < elements.count; i++)
		if (!elements.nulls[i] && each[i] == found)
			return true;
	return false;
}

Datum
cf_contains_any(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(array_has(fcinfo, true));
}

Datum
cf_contains_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!array_has(fcinfo, false));
}

Datum
cf_contains_each(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	bool	   *found = probe_array(fcinfo, &elements);

	PG_RETURN_ARRAYTYPE_P(cuckoo_boolean_array(&elements, found));
}
