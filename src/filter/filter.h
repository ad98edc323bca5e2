/*-------------------------------------------------------------------------
 *
 * filter/filter.h
 *		The SQL type cuckoofilter, for those who read, make or change one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "compat.h"
#include "core/core.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

/* ---- filter/new.c ---- */

/* The fpp where none is given. */
#define CUCKOO_DEFAULT_FPP	0.001

/* Fingerprint bits for an fpp, which is an error outside the limits. */
extern int	cuckoo_checked_fpp(double fpp);

/*
 * Geometry for a capacity, which is an error outside the limits.  It comes as a
 * float8, so that SQL can say 1e6.  Returns it, rounded up.
 */
extern int64 cuckoo_checked_capacity(CuckooHeader *h, double capacity,
									 int bits, uint64 seed);

/* ---- filter/datum.c ---- */

/* The image in a detoasted datum, which may have a short header. */
static inline uint8 *
cuckoo_image(const struct varlena *datum)
{
	return (uint8 *) VARDATA_ANY(datum);
}

/* A new datum with room for an image of `size` bytes, zeroed. */
extern struct varlena *cuckoo_new_datum(uint64 size);

/* An empty filter of the geometry of *h. */
extern struct varlena *cuckoo_new_filter(const CuckooHeader *h);

/*
 * The filter of `n` sorted hashes or ordered keys, with the geometry and level
 * of *h, or NULL if they do not fit.  It is an error if a larger filter would
 * not help.
 */
extern struct varlena *cuckoo_build_filter(CuckooHeader *h,
										   const uint64 *hashes, Size n);

/* Reads the header of a whole filter.  A corrupt header is an error. */
extern void cuckoo_open(CuckooHeader *h, const struct varlena *filter);

/* The same for a datum of any form.  This does not fetch a stored filter. */
extern void cuckoo_peek_header(CuckooHeader *h, Datum datum);

/* ---- filter/base64.c ---- */

/*
 * Decodes base64 text to a new datum, or returns NULL if the text is invalid.
 * The reverse returns a new C string.
 */
extern struct varlena *cuckoo_base64_decode(const char *text);
extern char *cuckoo_base64_encode(const uint8 *bytes, Size size);

/* ---- filter/io.c ---- */

/* planner/plan.c recognizes the type by its input function. */
extern Datum cuckoofilter_in(PG_FUNCTION_ARGS);

/* ---- filter/expanded.c ---- */

/* The expanded object behind a datum, or NULL if it has other methods. */
static inline ExpandedObjectHeader *
cuckoo_expanded_object(Datum datum, const ExpandedObjectMethods *methods)
{
	ExpandedObjectHeader *object;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	object = DatumGetEOHP(datum);
	return object->eoh_methods == methods ? object : NULL;
}

/*
 * The method get_flat_size of a state does its work between these two, in a
 * memory context of its own.  Its caller may be a sort.  From PostgreSQL 17 on
 * a sort keeps its tuples in a context that cannot free single chunks.
 * cuckoo_begin_flatten() returns the caller's context.
 */
static inline MemoryContext
cuckoo_begin_flatten(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext,
													   "cuckoo flatten",
													   ALLOCSET_SMALL_SIZES));
}

static inline void
cuckoo_end_flatten(MemoryContext caller)
{
	MemoryContextDelete(MemoryContextSwitchTo(caller));
}

/* A filter in a memory context of its own, which is changed in place. */
typedef struct CuckooExpanded
{
	ExpandedObjectHeader hdr;
	struct varlena *flat;		/* the image, behind a 4-byte header */
} CuckooExpanded;

/* The whole filter, to be read.  It is not copied if it is in memory. */
extern const struct varlena *cuckoo_filter(Datum datum);

/*
 * The filter as an object that the caller may change.  This is the object of
 * the datum if the datum comes with the right to write, else a copy below the
 * context `parent`.
 */
extern CuckooExpanded *cuckoo_expand(Datum datum, MemoryContext parent);

/* ---- filter/info.c ---- */

/* Finds the row type of a result, which must have `columns` columns. */
extern void cuckoo_check_row_type(FunctionCallInfo fcinfo, TupleDesc *desc,
								  int columns);

/* ---- filter/set_state.c ---- */

/*
 * The canonical filter of a run of `n` keys (core/keys.h), of which it holds
 * each at most twice.  Frees the keys.  *h has the geometry, seed and family of
 * the filter; this sets its level and items.
 */
extern struct varlena *cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys,
											 Size n);

#endif							/* CUCKOO_FILTER_H */
