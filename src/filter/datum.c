/*-------------------------------------------------------------------------
 *
 * filter/datum.c
 *		Datums: new ones, and the header of a filter in whatever form it comes.
 *
 * All headers of filters that were stored are read here: from the whole filter
 * if it is in memory, else from its first bytes.  Either way the header is
 * checked against the length of the whole, and a corrupt one is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "error.h"
#include "filter/filter.h"

#include "access/detoast.h"

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
