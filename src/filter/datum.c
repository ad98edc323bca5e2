/*-------------------------------------------------------------------------
 *
 * filter/datum.c
 *		Filters as datums: new datums, headers, and expanded objects.
 *
 * Reading the header of a stored filter fetches its first bytes only.  The
 * header is always checked against the length of the filter.  Error XX001 if it
 * is corrupt.
 *
 * A change returns an expanded object (utils/expandeddatum.h): the image in a
 * separate memory context, and a pointer with or without the right to write.  A
 * call that receives the right changes the image in place.  Otherwise it copies
 * the filter.  So a chain of calls copies a filter once.  In PostgreSQL 18 and
 * later a chain of assignments in PL/pgSQL, such as f := cf_add(f, x), also
 * copies it once (planner/support.c).
 *
 * An object contains the image like a plain datum, with a current header.  The
 * checksum is stale, because each change would read the whole image to compute
 * it.  Flattening copies the image and computes the checksum.
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

/* Reads the header from the beginning of a filter of `size` bytes. */
static void
read_header(CuckooHeader *h, const struct varlena *beginning, uint64 size)
{
	cuckoo_check_status(VARSIZE_ANY_EXHDR(beginning) < CUCKOO_HEADER_SIZE ?
						CUCKOO_BAD_SHORT :
						cuckoo_header_read(h, cuckoo_image(beginning), size));
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

/* ---- expanded objects ---- */

static Size
filter_flat_size(ExpandedObjectHeader *eohptr)
{
	return VARSIZE(((CuckooExpanded *) eohptr)->flat);
}

static void
filter_flatten(ExpandedObjectHeader *eohptr, void *result, Size size)
{
	CuckooExpanded *filter = (CuckooExpanded *) eohptr;

	Assert(size == VARSIZE(filter->flat));
	memcpy(result, filter->flat, size);
	cuckoo_checksum_write(cuckoo_image(result), size - VARHDRSZ);
}

static const ExpandedObjectMethods filter_methods = {
	filter_flat_size, filter_flatten
};

const struct varlena *
cuckoo_filter(Datum datum)
{
	CuckooExpanded *filter = (CuckooExpanded *)
		cuckoo_expanded_object(datum, &filter_methods);

	return filter != NULL ? filter->flat : PG_DETOAST_DATUM_PACKED(datum);
}

CuckooExpanded *
cuckoo_expand(Datum datum, MemoryContext parent)
{
	CuckooExpanded *filter = (CuckooExpanded *)
		cuckoo_expanded_object(datum, &filter_methods);
	MemoryContext context;
	MemoryContext caller;

	if (filter != NULL && DatumIsReadWriteExpandedObject(datum, false, -1))
		return filter;
	if (filter != NULL)
		datum = PointerGetDatum(filter->flat);

	context = AllocSetContextCreate(parent, "cuckoofilter",
									ALLOCSET_START_SMALL_SIZES);
	filter = MemoryContextAlloc(context, sizeof(CuckooExpanded));
	EOH_init_header(&filter->hdr, &filter_methods, context);
	caller = MemoryContextSwitchTo(context);
	filter->flat = PG_DETOAST_DATUM_COPY(datum);
	MemoryContextSwitchTo(caller);
	return filter;
}
