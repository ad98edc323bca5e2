/*-------------------------------------------------------------------------
 *
 * cuckoo_ops.c
 *		What makes and changes filters one call at a time, and what tells
 *		about them.
 *
 * Changes work on an expanded copy of the argument, or on the argument itself
 * where that comes with the right to write (cuckoo_expanded.c), and return it;
 * where nothing is to be changed they return the argument as it came, so that an
 * UPDATE with it does not write a TOASTed filter again.
 *
 * Errors leave stored values alone, and an argument changed in place as well
 * if it is one element that is added or deleted.  An array is done up to where
 * the error came; PL/pgSQL hands a variable over for that only where nobody can
 * look at it after an error.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cf_new);
PG_FUNCTION_INFO_V1(cf_add);
PG_FUNCTION_INFO_V1(cf_add_unique);
PG_FUNCTION_INFO_V1(cf_delete);
PG_FUNCTION_INFO_V1(cf_add_all);
PG_FUNCTION_INFO_V1(cf_add_unique_all);
PG_FUNCTION_INFO_V1(cf_delete_all);
PG_FUNCTION_INFO_V1(cf_clear);
PG_FUNCTION_INFO_V1(cf_count);
PG_FUNCTION_INFO_V1(cf_info);
PG_FUNCTION_INFO_V1(cf_eq);
PG_FUNCTION_INFO_V1(cf_ne);

Datum
cf_new(PG_FUNCTION_ARGS)
{
	int64		capacity = PG_GETARG_INT64(0);
	int			bits = cuckoo_checked_fpp(PG_GETARG_FLOAT8(1));
	CuckooHeader h;

	cuckoo_checked_capacity(&h, capacity, bits, (uint64) PG_GETARG_INT64(2));
	PG_RETURN_POINTER(cuckoo_new_filter(&h));
}

/* Elements between one that is changed and one that is prefetched. */
#define PREFETCH_DISTANCE	16

/* A change to be made to the filter that is the first argument of a call. */
typedef struct Change
{
	FunctionCallInfo fcinfo;
	CuckooHasher *hasher;
	CuckooHeader header;
	const struct varlena *filter;	/* as it is now */
	CuckooExpanded *expanded;	/* where that is to be written, or NULL */
} Change;

/* Makes sure that the filter may be written to. */
static void
change_expand(Change *change)
{
	MemoryContext context;

	if (change->expanded != NULL)
		return;
	/* a value that an aggregate keeps is to live as long as it */
	if (!AggCheckCallContext(change->fcinfo, &context))
		context = CurrentMemoryContext;
	change->expanded = cuckoo_expand(change->fcinfo->args[0].value, context);
	change->filter = change->expanded->flat;
}

static void
change_begin(Change *change, FunctionCallInfo fcinfo, CuckooHasher *hasher)
{
	struct varlena *argument = (struct varlena *) PG_GETARG_POINTER(0);

	change->fcinfo = fcinfo;
	change->hasher = hasher;
	change->expanded = NULL;
	/* what has to be fetched is fetched to where it can be changed */
	if (VARATT_IS_EXTERNAL_ONDISK(argument) || VARATT_IS_COMPRESSED(argument))
		change_expand(change);
	else
		change->filter = cuckoo_filter(PointerGetDatum(argument));
	cuckoo_open(&change->header, change->filter);
	cuckoo_check_family(hasher, change->header.family, change->header.tag);
}

/*
 * The filter one level up, with *h, or with a status the same filter if it
 * cannot grow.  The old one is freed unless it is the object's.
 */
static struct varlena *
grown(CuckooExpanded *expanded, CuckooHeader *h, struct varlena *filter,
	  CuckooStatus *status)
{
	CuckooHeader old = *h;
	struct varlena *volatile result = NULL;

	*status = cuckoo_header_set_level(h, h->level + 1);
	if (*status != CUCKOO_OK)
		return filter;
	/* the object may outlive a cancel */
	PG_TRY();
	{
		MemoryContext caller = MemoryContextSwitchTo(expanded->hdr.eoh_context);

		result = cuckoo_new_datum(cuckoo_image_size(h));
		MemoryContextSwitchTo(caller);
		cuckoo_grow(&old, cuckoo_image(filter), h, cuckoo_image(result));
	}
	PG_CATCH();
	{
		if (result != NULL)
			pfree(result);
		if (filter != expanded->flat)
			pfree(filter);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (filter != expanded->flat)
		pfree(filter);
	return result;
}

static bool
change_add(Change *change, uint64 hash, int max_copies)
{
	CuckooHeader h = change->header;
	struct varlena *filter;
	CuckooStatus status;

	if (cuckoo_copies(&h, cuckoo_image(change->filter), hash) >= max_copies)
		return false;
	h.family = change->hasher->family;
	h.tag = change->hasher->tag;
	change_expand(change);
	/* the object stays what it was until there is room */
	filter = change->expanded->flat;
	while ((status = cuckoo_insert(&h, cuckoo_image(filter), hash,
								   max_copies)) != CUCKOO_OK)
	{
		if (status == CUCKOO_FULL)
			filter = grown(change->expanded, &h, filter, &status);
		if (status != CUCKOO_OK)
		{
			if (filter != change->expanded->flat)
				pfree(filter);
			cuckoo_error(status);
		}
	}
	if (filter != change->expanded->flat)
	{
		pfree(change->expanded->flat);
		change->expanded->flat = filter;
	}
	change->filter = filter;
	change->header = h;
	return true;
}

static bool
change_delete(Change *change, uint64 hash)
{
	CuckooHeader *h = &change->header;
	CuckooStatus status PG_USED_FOR_ASSERTS_ONLY;

	if (cuckoo_copies(h, cuckoo_image(change->filter), hash) != 1)
		return false;
	change_expand(change);
	status = cuckoo_remove(h, cuckoo_image(change->expanded->flat), hash);
	Assert(status == CUCKOO_OK);
	return true;
}

/*
 * Makes the change for n elements: adds them up to max_copies times, or deletes
 * them for max_copies 0.  Was there anything to change?
 */
static bool
change_all(Change *change, const uint64 *hashes, int n, int max_copies)
{
	bool		any = false;

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i + PREFETCH_DISTANCE < n)
			cuckoo_prefetch(&change->header, cuckoo_image(change->filter),
							hashes[i + PREFETCH_DISTANCE]);
		any |= max_copies > 0 ? change_add(change, hashes[i], max_copies)
			: change_delete(change, hashes[i]);
	}
	return any;
}

/* The filter argument, changed for the element or array of elements. */
static Datum
changed(FunctionCallInfo fcinfo, bool array, int max_copies)
{
	CuckooElements elements;
	CuckooHasher *hasher;
	Change		change;
	uint64	   *hashes;
	uint64		hash;
	int			n = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if (array)
	{
		hasher = cuckoo_array_hasher(fcinfo, 1, &elements,
									 sizeof(CuckooHasher));
		change_begin(&change, fcinfo, hasher);
		hashes = palloc(Max(elements.count, 1) * sizeof(uint64));
		for (int i = 0; i < elements.count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!elements.nulls[i])
				hashes[n++] = cuckoo_hash(hasher, elements.values[i],
										  change.header.seed);
		}
	}
	else
	{
		hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));
		change_begin(&change, fcinfo, hasher);
		hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), change.header.seed);
		hashes = &hash;
		n = 1;
	}

	/* what is as it was needs not be written again */
	if (!change_all(&change, hashes, n, max_copies))
	{
		/* which is a copy: others are expanded when there is a change */
		if (change.expanded != NULL)
			MemoryContextDelete(change.expanded->hdr.eoh_context);
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&change.expanded->hdr));
}

Datum
cf_add(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, false, CUCKOO_MAX_COPIES);
}

Datum
cf_add_unique(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, false, 1);
}

Datum
cf_delete(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, false, 0);
}

Datum
cf_add_all(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, true, CUCKOO_MAX_COPIES);
}

Datum
cf_add_unique_all(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, true, 1);
}

Datum
cf_delete_all(PG_FUNCTION_ARGS)
{
	return changed(fcinfo, true, 0);
}

Datum
cf_clear(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	CuckooStatus status;

	cuckoo_read_header(&h, PG_GETARG_DATUM(0));
	status = cuckoo_header_set_level(&h, 0);
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	h.items = 0;
	h.family = CUCKOO_FAMILY_NONE;
	h.tag = 0;
	PG_RETURN_POINTER(cuckoo_new_filter(&h));
}

Datum
cf_count(PG_FUNCTION_ARGS)
{
	CuckooHeader h;

	cuckoo_read_header(&h, PG_GETARG_DATUM(0));
	PG_RETURN_INT64((int64) h.items);
}

Datum
cf_info(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	TupleDesc	desc;
	Datum		values[13];
	bool		nulls[13] = {false};
	uint64		size;
	int			n = 0;

	cuckoo_read_header(&h, PG_GETARG_DATUM(0));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != lengthof(values))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cf_info() must return the record that this version of the library gives"),
				 errhint("Run ALTER EXTENSION cuckoo UPDATE.")));

	size = cuckoo_image_size(&h);
	values[n++] = Int64GetDatum((int64) h.items);
	values[n++] = Int64GetDatum((int64) cuckoo_capacity(&h));
	values[n++] = Float8GetDatum(cuckoo_fpp_at_capacity(&h));
	values[n++] = Float8GetDatum(cuckoo_fpp_now(&h));
	values[n++] = Float8GetDatum((double) h.items /
								 ((double) h.buckets * CUCKOO_SLOTS));
	values[n++] = Int32GetDatum(h.bits);
	values[n++] = Int64GetDatum((int64) h.buckets);
	values[n++] = Int32GetDatum(h.level);
	values[n++] = Int64GetDatum((int64) size);
	nulls[n] = h.items == 0;
	values[n++] = Float8GetDatum(h.items == 0 ? 0 :
								 (double) size * 8 / (double) h.items);
	values[n++] = CStringGetTextDatum(cuckoo_family_name(h.family));
	values[n++] = Int64GetDatum((int64) h.seed);
	values[n++] = Int32GetDatum(CUCKOO_FORMAT_VERSION);
	Assert(n == lengthof(values));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

static bool
filters_equal(FunctionCallInfo fcinfo)
{
	const struct varlena *a,
			   *b;

	/* lengths differ more often than not and are known without fetching */
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) !=
		toast_raw_datum_size(PG_GETARG_DATUM(1)))
		return false;
	a = cuckoo_filter(PG_GETARG_DATUM(0));
	b = cuckoo_filter(PG_GETARG_DATUM(1));
	return memcmp(cuckoo_image(a), cuckoo_image(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

Datum
cf_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(filters_equal(fcinfo));
}

Datum
cf_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!filters_equal(fcinfo));
}
