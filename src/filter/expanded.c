/*-------------------------------------------------------------------------
 *
 * filter/expanded.c
 *		Filters as expanded objects, which are changed without being copied.
 *
 * A function that changes a filter returns an expanded object: the image in
 * a memory context of its own, with a pointer that says whether its receiver
 * may write (utils/expandeddatum.h).  A call that gets such a pointer
 * changes the image in place, and copies any other filter first.  A chain of
 * calls therefore copies the filter once, as does a chain of assignments to
 * one variable if the language hands its value over, which PL/pgSQL does
 * from PostgreSQL 18 on (planner/support.c).
 *
 * The object holds the image as a plain datum does, with a header that is
 * always up to date: both are read in the same way, and flattening is one
 * memcpy.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

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
}

static const ExpandedObjectMethods filter_methods = {
	filter_flat_size, filter_flatten
};

/* The filter behind a datum, or NULL if it is not expanded. */
static CuckooExpanded *
expanded_of(Datum datum)
{
	return (CuckooExpanded *) cuckoo_expanded_object(datum, &filter_methods);
}

const struct varlena *
cuckoo_filter(Datum datum)
{
	CuckooExpanded *filter = expanded_of(datum);

	return filter != NULL ? filter->flat : PG_DETOAST_DATUM_PACKED(datum);
}

CuckooExpanded *
cuckoo_expand(Datum datum, MemoryContext parent)
{
	CuckooExpanded *filter = expanded_of(datum);
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
