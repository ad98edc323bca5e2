/*-------------------------------------------------------------------------
 *
 * filter/base64.c
 *		Base64, the text form of filters and states.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

#include "common/base64.h"
#include "miscadmin.h"

/* Characters of base64 between interrupt checks; whole groups of four. */
#define BASE64_BLOCK	8192

/*
 * White space aside, the text must be what encoding makes of its bytes, because
 * pg_b64_decode() lets pass what may follow padding, and bits that are unused.
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
		/* encode() breaks lines, pg_b64_decode() does not take them */
		for (; *text != '\0' && len < BASE64_BLOCK; text++)
			if (*text != ' ' && *text != '\t' && *text != '\r' && *text != '\n')
				block[len++] = *text;
		decoded = pg_b64_decode((const void *) block, len, (void *) bytes,
								(int) (room - size));
		/* a block after one with padding would begin within three bytes */
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
				 errdetail("The base64 form of %zu bytes would exceed 1 GB.", size),
				 errhint("Use the binary form.")));
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
