/*-------------------------------------------------------------------------
 *
 * filter/io.c
 *		Input and output of cuckoofilter: text is base64 of the image; binary
 *		and bytea are the image.
 *
 * cuckoo_validate() checks all bytes from outside.  No other function verifies
 * the checksum.  A cuckoofilter has the same bytes as its image as bytea.  So
 * the cast to bytea needs no function, and binary output, equality and hashes
 * use the functions of bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);

/* Base64 characters between interrupt checks; a multiple of four. */
#define BASE64_BLOCK	8192

/*
 * Encodes the decoded bytes again, and compares the result with the text
 * (without white space), because pg_b64_decode() accepts characters after the
 * padding, and ignores unused bits.
 */
struct varlena *
cuckoo_base64_decode(const char *text)
{
	Size		room = strlen(text) / 4 * 3 + 3;
	struct varlena *datum = palloc(VARHDRSZ + room);
	Size		size = 0;

	while (*text != '\0')
	{
		char		block[BASE64_BLOCK];
		char		again[BASE64_BLOCK];
		char	   *bytes = VARDATA(datum) + size;
		int			len = 0;
		int			decoded;

		CHECK_FOR_INTERRUPTS();
		/* skip the line breaks of encode(), which pg_b64_decode() rejects */
		for (; *text != '\0' && len < BASE64_BLOCK; text++)
			if (*text != ' ' && *text != '\t' && *text != '\r' && *text != '\n')
				block[len++] = *text;
		decoded = pg_b64_decode((const void *) block, len, (void *) bytes,
								(int) (room - size));
		/* only the last block may end within a group of three bytes */
		if (decoded < 0 || (len > 0 && size % 3 != 0) ||
			pg_b64_encode((const void *) bytes, decoded, (void *) again,
						  sizeof(again)) != len ||
			memcmp(again, block, len) != 0)
			return NULL;
		size += decoded;
	}
	SET_VARSIZE(datum, VARHDRSZ + size);
	return datum;
}

char *
cuckoo_base64_encode(const uint8 *bytes, Size size)
{
	Size		room = (size + 2) / 3 * 4;
	char	   *text;
	Size		len = 0;

	if (room >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large for text output"),
				 errdetail("The base64 text of %zu bytes would exceed 1 GB.", size),
				 errhint("Use the binary representation.")));
	text = palloc(room + 1);
	for (Size at = 0; at < size; at += BASE64_BLOCK / 4 * 3)
	{
		int			encoded;

		CHECK_FOR_INTERRUPTS();
		encoded = pg_b64_encode((const void *) (bytes + at),
								(int) Min(size - at, BASE64_BLOCK / 4 * 3),
								(void *) (text + len), (int) (room - len));
		if (encoded < 0)
			elog(ERROR, "could not encode base64");
		len += encoded;
	}
	text[len] = '\0';
	return text;
}

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
				 status == CUCKOO_BAD_CHECKSUM ?
				 errhint("Pass the complete, unaltered text of a cuckoofilter.") :
				 errhint("A cuckoofilter is expected here: make one with cf_new() or cf_agg(), or pass the complete text of one. An element is the second argument of cf_contains(), or the right operand of @>.")));
	PG_RETURN_POINTER(filter);
}

Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	const struct varlena *filter = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(cuckoo_base64_encode(cuckoo_image(filter),
										   VARSIZE_ANY_EXHDR(filter)));
}

/* Validates bytes from outside, and copies them to a new filter. */
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
