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
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(cf_new);
PG_FUNCTION_INFO_V1(cf_add);
PG_FUNCTION_INFO_V1(cf_add_unique);
PG_FUNCTION_INFO_V1(cf_delete);
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

static Datum
add_value(FunctionCallInfo fcinfo, int max_copies)
{
	CuckooHasher *hasher;
	CuckooHeader h;
	struct varlena *filter;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));
	filter = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	cuckoo_open(&h, filter);
	cuckoo_check_family(hasher, h.family, h.tag);
	hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), h.seed);
	if (cuckoo_copies(&h, cuckoo_image(filter), hash) >= max_copies)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if ((Pointer) filter == PG_GETARG_POINTER(0))
		filter = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
	h.family = hasher->family;
	h.tag = hasher->tag;
	for (;;)
	{
		CuckooStatus status = cuckoo_insert(&h, cuckoo_image(filter), hash,
											max_copies);

		if (status == CUCKOO_OK)
			PG_RETURN_POINTER(filter);
		if (status != CUCKOO_FULL)
			cuckoo_error(status);
		filter = grown(&h, filter);
	}
}

Datum
cf_add(PG_FUNCTION_ARGS)
{
	return add_value(fcinfo, CUCKOO_MAX_COPIES);
}

Datum
cf_add_unique(PG_FUNCTION_ARGS)
{
	return add_value(fcinfo, 1);
}

Datum
cf_delete(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher;
	CuckooHeader h;
	struct varlena *filter;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));
	filter = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	cuckoo_open(&h, filter);
	cuckoo_check_family(hasher, h.family, h.tag);
	hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), h.seed);
	if (cuckoo_copies(&h, cuckoo_image(filter), hash) != 1)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if ((Pointer) filter == PG_GETARG_POINTER(0))
		filter = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
	cuckoo_remove(&h, cuckoo_image(filter), hash);
	PG_RETURN_POINTER(filter);
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
