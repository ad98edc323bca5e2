/*-------------------------------------------------------------------------
 *
 * filter/datum.c
 *		Datums: new ones, the header of a filter in whatever form it comes, and
 *		base64.
 *
 * All headers of filters that were stored are read here: from the whole filter
 * if it is in memory, else from its first bytes.  Either way the header is
 * checked against the length of the whole, and a corrupt one is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "core/build.h"

#include "access/detoast.h"
#include "common/base64.h"
#include "miscadmin.h"

/* Characters of base64 between interrupt checks; whole groups of four. */
#define BASE64_BLOCK	8192

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
cuckoo_build_filter(CuckooHeader *h, const uint64 *hashes, Size n)
{
	void	   *slots = MemoryContextAllocHuge(CurrentMemoryContext,
											   cuckoo_build_size(h));
	struct varlena *filter = NULL;

	if (cuckoo_build(h, hashes, n, slots) == CUCKOO_OK)
	{
		filter = palloc(VARHDRSZ + cuckoo_image_size(h));
		SET_VARSIZE(filter, VARHDRSZ + cuckoo_image_size(h));
		cuckoo_build_pack(h, slots, cuckoo_image(filter));
	}
	else if (cuckoo_is_crafted(h, n))
		cuckoo_error(CUCKOO_CRAFTED);
	pfree(slots);
	return filter;
}

/* Reads the header from the beginning of a filter of `size` bytes. */
static void
read_header(CuckooHeader *h, const struct varlena *beginning, uint64 size)
{
	CuckooStatus status = CUCKOO_BAD_SHORT;

	if (VARSIZE_ANY_EXHDR(beginning) >= CUCKOO_HEADER_SIZE)
		status = cuckoo_header_read(h, cuckoo_image(beginning), size);
	if (unlikely(status != CUCKOO_OK))
		cuckoo_error(status);
}

void
cuckoo_open(CuckooHeader *h, const struct varlena *filter)
{
	read_header(h, filter, VARSIZE_ANY_EXHDR(filter));
}

void
cuckoo_peek_header(CuckooHeader *h, Datum datum)
{
	struct varlena *slice;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
	{
		cuckoo_open(h, cuckoo_filter(datum));
		return;
	}
	slice = PG_DETOAST_DATUM_SLICE(datum, 0, CUCKOO_HEADER_SIZE);
	read_header(h, slice, toast_raw_datum_size(datum) - VARHDRSZ);
	pfree(slice);
}

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
