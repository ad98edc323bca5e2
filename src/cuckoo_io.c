/*-------------------------------------------------------------------------
 *
 * cuckoo_io.c
 *		Input and output of cuckoofilter: text is base64 of the image, binary
 *		is the image, and so is bytea.
 *
 * Nothing becomes a cuckoofilter but through cuckoo_validate().  The cast to
 * bytea needs no function, as the bytes are the same.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_send);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);

struct varlena *
cuckoo_new_datum(uint64 size)
{
	struct varlena *datum = palloc0(VARHDRSZ + size);

	SET_VARSIZE(datum, VARHDRSZ + size);
	return datum;
}

struct varlena *
cuckoo_new_filter(const CuckooHeader *h)
{
	struct varlena *filter = cuckoo_new_datum(cuckoo_image_size(h));

	cuckoo_header_write(h, cuckoo_image(filter));
	return filter;
}

struct varlena *
cuckoo_base64_decode(const char *text)
{
	Size		len = strlen(text);
	Size		room = len / 4 * 3 + 3;
	struct varlena *datum;
	char	   *stripped = NULL;
	int			size;

	/* encode() breaks lines, pg_b64_decode() does not take them */
	if (text[strcspn(text, " \t\r\n")] != '\0')
	{
		stripped = palloc(len + 1);
		len = 0;
		for (const char *c = text; *c != '\0'; c++)
			if (strchr(" \t\r\n", *c) == NULL)
				stripped[len++] = *c;
		text = stripped;
	}

	/* pg_b64_dec_len() would overflow on texts of a maximal filter */
	datum = palloc(VARHDRSZ + room);
	size = pg_b64_decode((const void *) text, (int) len,
						 (void *) VARDATA(datum), (int) room);
	if (stripped != NULL)
		pfree(stripped);
	if (size < 0)
		return NULL;
	SET_VARSIZE(datum, VARHDRSZ + size);
	return datum;
}

char *
cuckoo_base64_encode(const uint8 *bytes, Size size)
{
	Size		room = (size + 2) / 3 * 4;
	char	   *text;
	int			len;

	if (room >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large for text output"),
				 errdetail("Base64 of its %zu bytes does not fit 1 GB.", size)));
	text = palloc(room + 1);
	len = pg_b64_encode((const void *) bytes, (int) size, (void *) text,
						(int) room);
	if (len < 0)
		elog(ERROR, "could not encode base64");
	text[len] = '\0';
	return text;
}

Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	struct varlena *filter = cuckoo_base64_decode(PG_GETARG_CSTRING(0));
	CuckooStatus status;

	if (filter == NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoofilter"),
				 errdetail("The text is not valid base64."),
				 errhint("A cuckoofilter is made by cf_new() or cf_agg(), or copied from another one's text.")));
	status = cuckoo_validate(cuckoo_image(filter), VARSIZE_ANY_EXHDR(filter));
	if (status != CUCKOO_OK)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoofilter"),
				 errdetail("The image is refused: %s.",
						   cuckoo_status_text(status)),
				 errhint("A cuckoofilter is made by cf_new() or cf_agg(), or copied from another one's text.")));
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
				 errdetail("The image is refused: %s.",
						   cuckoo_status_text(status)),
				 errhint("The bytes must be those of a cuckoofilter, whole and unchanged.")));
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
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	const struct varlena *filter = cuckoo_filter(PG_GETARG_DATUM(0));
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, (const void *) cuckoo_image(filter),
				 VARSIZE_ANY_EXHDR(filter));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_POINTER(filter_from_bytes(VARDATA_ANY(bytes),
										VARSIZE_ANY_EXHDR(bytes)));
}
