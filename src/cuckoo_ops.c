/*-------------------------------------------------------------------------
 *
 * cuckoo_ops.c
 *		What makes and changes filters one call at a time, and what tells
 *		about them.
 *
 * Changes work on a copy of the argument and return it; where nothing is to be
 * changed they return the argument itself, so that an UPDATE with it does not
 * write a TOASTed filter again.  Errors leave the stored value alone.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

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

/* Header of a filter argument, read without fetching the rest of it. */
static void
header_argument(CuckooHeader *h, Datum filter)
{
	struct varlena *datum = (struct varlena *) DatumGetPointer(filter);
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(filter, 0,
												   CUCKOO_HEADER_SIZE);
	Size		size = toast_raw_datum_size(filter) - VARHDRSZ;
	CuckooStatus status;

	status = VARSIZE_ANY_EXHDR(slice) < CUCKOO_HEADER_SIZE ? CUCKOO_BAD_SHORT
		: cuckoo_header_read(h, cuckoo_image(slice), size);
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	if (slice != datum)
		pfree(slice);
}

Datum
cf_new(PG_FUNCTION_ARGS)
{
	int64		capacity = PG_GETARG_INT64(0);
	int			bits = cuckoo_checked_fpp(PG_GETARG_FLOAT8(1));
	CuckooHeader h;

	cuckoo_checked_capacity(&h, capacity, bits, (uint64) PG_GETARG_INT64(2));
	PG_RETURN_POINTER(cuckoo_new_filter(&h));
}

/* The filter one level up, in new memory; *h follows. */
static struct varlena *
grown(CuckooHeader *h, const struct varlena *filter)
{
	CuckooHeader old = *h;
	CuckooStatus status = cuckoo_header_set_level(h, h->level + 1);
	struct varlena *result;

	if (status != CUCKOO_OK)
		cuckoo_error(status);
	result = cuckoo_new_datum(cuckoo_image_size(h));
	cuckoo_grow(&old, cuckoo_image(filter), h, cuckoo_image(result));
	return result;
}

/* A change to be made to the filter that is the first argument of a call. */
typedef struct Change
{
	FunctionCallInfo fcinfo;
	CuckooHasher *hasher;
	CuckooHeader header;
	struct varlena *filter;
	bool		ours;			/* a copy, and not just the argument */
} Change;

static void
change_begin(Change *change, FunctionCallInfo fcinfo, CuckooHasher *hasher)
{
	change->fcinfo = fcinfo;
	change->hasher = hasher;
	change->filter = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	change->ours = (Pointer) change->filter != PG_GETARG_POINTER(0);
	cuckoo_open(&change->header, change->filter);
	cuckoo_check_family(hasher, change->header.family, change->header.tag);
}

/* The filter, to be written to. */
static uint8 *
change_image(Change *change)
{
	if (!change->ours)
	{
		FunctionCallInfo fcinfo = change->fcinfo;

		change->filter = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
		change->ours = true;
	}
	return cuckoo_image(change->filter);
}

static bool
change_add(Change *change, Datum element, int max_copies)
{
	CuckooHeader *h = &change->header;
	uint64		hash = cuckoo_hash(change->hasher, element, h->seed);

	if (cuckoo_copies(h, cuckoo_image(change->filter), hash) >= max_copies)
		return false;
	h->family = change->hasher->family;
	h->tag = change->hasher->tag;
	for (;;)
	{
		CuckooStatus status = cuckoo_insert(h, change_image(change), hash,
											max_copies);
		struct varlena *full = change->filter;

		if (status == CUCKOO_OK)
			return true;
		if (status != CUCKOO_FULL)
			cuckoo_error(status);
		change->filter = grown(h, full);
		pfree(full);
	}
}

static bool
change_delete(Change *change, Datum element)
{
	CuckooHeader *h = &change->header;
	uint64		hash = cuckoo_hash(change->hasher, element, h->seed);

	if (cuckoo_copies(h, cuckoo_image(change->filter), hash) != 1)
		return false;
	return cuckoo_remove(h, change_image(change), hash) == CUCKOO_OK;
}

/*
 * The filter argument with an element, or all elements of an array, added up
 * to max_copies times, or deleted for max_copies 0.
 */
static Datum
changed(FunctionCallInfo fcinfo, bool array, int max_copies)
{
	CuckooElements elements;
	Change		change;
	Datum		value;
	bool		null = false;
	bool		any = false;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if (array)
		change_begin(&change, fcinfo,
					 cuckoo_array_hasher(fcinfo, 1, &elements,
										 sizeof(CuckooHasher)));
	else
	{
		change_begin(&change, fcinfo,
					 cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher)));
		value = PG_GETARG_DATUM(1);
		elements.values = &value;
		elements.nulls = &null;
		elements.count = 1;
	}
	for (int i = 0; i < elements.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!elements.nulls[i])
			any |= max_copies > 0 ?
				change_add(&change, elements.values[i], max_copies) :
				change_delete(&change, elements.values[i]);
	}

	/* what is as it was needs not be written again */
	if (!any)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(change.filter);
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

	header_argument(&h, PG_GETARG_DATUM(0));
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

	header_argument(&h, PG_GETARG_DATUM(0));
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

	header_argument(&h, PG_GETARG_DATUM(0));
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
	struct varlena *a,
			   *b;

	/* lengths differ more often than not and are known without fetching */
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) !=
		toast_raw_datum_size(PG_GETARG_DATUM(1)))
		return false;
	a = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));
	b = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
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
