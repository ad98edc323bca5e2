/*-------------------------------------------------------------------------
 *
 * filter/io.c
 *		Input and output of cuckoofilter: text is base64 of the image, binary
 *		is the image, and so is bytea.
 *
 * Only cuckoo_validate() lets bytes from outside become a cuckoofilter.  The
 * cast to bytea needs no function, and binary output, equality and hashes are
 * PostgreSQL's functions for bytea, because the bytes are the same.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

#include "libpq/pqformat.h"

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);

Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	struct varlena *filter = cuckoo_base64_decode(PG_GETARG_CSTRING(0));
	CuckooStatus status = CUCKOO_OK;

	if (filter != NULL)
		status = cuckoo_validate(cuckoo_image(filter),
								 VARSIZE_ANY_EXHDR(filter));
	if (filter == NULL || status != CUCKOO_OK)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoofilter"),
				 filter == NULL ?
				 errdetail("The text is not valid base64.") :
				 errdetail("The image is invalid: %s.",
						   cuckoo_status_text(status)),
				 errhint("Create a cuckoofilter with cf_new() or cf_agg(), or copy the complete text of an existing one.")));
	PG_RETURN_POINTER(filter);
}

Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	const struct varlena *filter = cuckoo_filter(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(cuckoo_base64_encode(cuckoo_image(filter),
										   VARSIZE_ANY_EXHDR(filter)));
}

/* A new filter of bytes from outside. */
static struct varlena *
filter_from_bytes(const void *bytes, Size size)
{
	CuckooStatus status = cuckoo_validate(bytes, size);
	struct varlena *filter;

	if (status != CUCKOO_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid cuckoofilter image"),
				 errdetail("The image is invalid: %s.",
						   cuckoo_status_text(status)),
				 errhint("Pass the complete, unaltered bytes of a cuckoofilter.")));
	filter = cuckoo_new_datum(size);
	memcpy(cuckoo_image(filter), bytes, size);
	return filter;
}

Datum
cuckoofilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buf->len - buf->cursor;

	PG_RETURN_POINTER(filter_from_bytes(pq_getmsgbytes(buf, size), size));
}

Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_POINTER(filter_from_bytes(VARDATA_ANY(bytes),
										VARSIZE_ANY_EXHDR(bytes)));
}
