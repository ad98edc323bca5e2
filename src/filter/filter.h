/*-------------------------------------------------------------------------
 *
 * filter/filter.h
 *		Shared declarations of the PostgreSQL side of cuckoo, by file.
 *
 * The planner's support, the scan and the aggregate have headers of their own:
 * planner/planner.h, scan/scan.h and agg/state.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "compat.h"

#include "fmgr.h"
#include "lib/ilist.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/typcache.h"

#include "core/core.h"

/* ---- error.c ---- */

/* Throws the error for a status that is not a success. */
pg_noreturn extern void cuckoo_error(CuckooStatus status);

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

/* ---- element/identity.c ---- */

/* Does equality under the collation differ from equality of bytes? */
extern bool cuckoo_is_nondeterministic(Oid collation);

/* Can values of the type, under the collation, be of the family "other"? */
extern bool cuckoo_has_tag(Oid type, Oid collation);

/* The tag of such a type.  A type without one is an error. */
extern uint16 cuckoo_type_tag(Oid type, Oid collation);

/* The function that hashes values of a type of "other", or InvalidOid. */
extern Oid	cuckoo_hash_function(const TypeCacheEntry *entry);

/* ---- element/family.c ---- */

/* The canonical forms; one or more for each family. */
typedef enum CuckooForm
{
	CUCKOO_FORM_NONE = 0,
	CUCKOO_FORM_INT2,
	CUCKOO_FORM_INT4,
	CUCKOO_FORM_INT8,
	CUCKOO_FORM_TEXT,
	CUCKOO_FORM_BPCHAR,
	CUCKOO_FORM_NAME,
	CUCKOO_FORM_CHAR,
	CUCKOO_FORM_ENUM,
	CUCKOO_FORM_BYTEA,
	CUCKOO_FORM_UUID,
	CUCKOO_FORM_BOOL,
	CUCKOO_FORM_DATE,
	CUCKOO_FORM_FLOAT4,
	CUCKOO_FORM_FLOAT8,
	CUCKOO_FORM_ARRAY,
	CUCKOO_FORM_OTHER
} CuckooForm;

/* How values of one SQL type become 64-bit hashes. */
typedef struct CuckooHasher
{
	Oid			type;			/* of the values, as declared */
	Oid			collation;		/* for hash_proc */
	CuckooForm	form;			/* canonical bytes, see element/hash.c */
	uint8		family;
	uint16		tag;			/* of the type, family "other" */
	FmgrInfo   *hash_proc;		/* extended hash function, family "other" */
	int16		length;			/* of the type that it takes; -1 varies */
	uint64		changes;		/* see cuckoo_hasher_is_current() */
} CuckooHasher;

/* Can values of the type be elements, whatever their collation? */
extern bool cuckoo_hashable(Oid type);

/*
 * Fills in a zeroed hasher, which is used while `context` lives.  A type that
 * cannot be hashed is an error.
 */
extern void cuckoo_hasher_init(CuckooHasher *hasher, Oid declared,
							   Oid collation, MemoryContext context);

/*
 * The hasher for the type of an argument of the function being called, kept
 * in fn_extra as the first member of a zeroed struct of `size` bytes.
 */
extern CuckooHasher *cuckoo_hasher(FunctionCallInfo fcinfo, int argno,
								   Size size);

/* The same for a type known at run time, that of an array's elements. */
extern CuckooHasher *cuckoo_hasher_for_type(FunctionCallInfo fcinfo, Oid type,
											Size size);

/* Is a hasher up to date?  Types may change while a query runs. */
extern bool cuckoo_hasher_is_current(const CuckooHasher *hasher);

/* An array argument taken apart, and the hasher for its elements. */
typedef struct CuckooElements
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			count;
} CuckooElements;

extern CuckooHasher *cuckoo_array_hasher(FunctionCallInfo fcinfo, int argno,
										 CuckooElements *elements, Size size);

/* Are values of this hasher what the filter takes? */
static inline bool
cuckoo_is_of_family(const CuckooHasher *hasher, const CuckooHeader *h)
{
	return h->family == CUCKOO_FAMILY_NONE ||
		(hasher->family == h->family && hasher->tag == h->tag);
}

/* Throws an error if values of this hasher are not of the family. */
extern void cuckoo_check_family(const CuckooHasher *hasher, uint8 family,
								uint16 tag);

extern const char *cuckoo_family_name(uint8 family);

/* ---- element/hash.c ---- */

extern uint64 cuckoo_hash(const CuckooHasher *hasher, Datum value, uint64 seed);

/* ---- probe/cache.c ---- */

/* The stored filters of a query's call sites. */
typedef struct CuckooCache CuckooCache;

/* One of them. */
typedef struct CuckooStored
{
	struct varatt_external pointer; /* the key, first; zero for none */
	uint32		probes;			/* by slices so far */
	uint32		pins;			/* the CuckooSites that hold the filter */
	dlist_node	node;			/* in the order of use */
	struct varlena *filter;		/* the whole value, or NULL */
	bool		has_header;		/* is `header` valid? */
	CuckooHeader header;
} CuckooStored;

/* The cache for call sites with this fn_mcxt. */
extern CuckooCache *cuckoo_cache(MemoryContext context);

/*
 * The entry for a TOAST pointer.  It is looked up unless it is `last`, the
 * entry that the call site had before.
 */
extern CuckooStored *cuckoo_stored(CuckooCache *cache, CuckooStored *last,
								   struct varlena *datum);

/*
 * The whole filter if it was fetched, or if it pays to fetch it for so many
 * more probes and there is room.  NULL means that the caller should read
 * slices.
 */
extern const struct varlena *cuckoo_stored_filter(CuckooCache *cache,
												  CuckooStored *stored,
												  struct varlena *datum,
												  uint32 probes);

/* Makes the header valid.  This does not fetch the filter. */
extern void cuckoo_know_header(CuckooStored *stored, struct varlena *datum);

/* Some bytes of a stored filter, in new memory. */
extern const uint8 *cuckoo_stored_slice(const CuckooStored *stored,
										Relation toastrel, uint64 offset,
										uint32 length);

/* ---- filter/ops.c ---- */

/* Finds the row type of a result, which must have `columns` columns. */
extern void cuckoo_check_row_type(FunctionCallInfo fcinfo, TupleDesc *desc,
								  int columns);

/*
 * An array of the shape of the elements, with one boolean for each.  It is null
 * for a null element.
 */
extern ArrayType *cuckoo_boolean_array(const CuckooElements *elements,
									   const bool *values);

/* ---- probe/probe.c ---- */

/* A scan recognizes its tests by these functions. */
extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cuckoo_contained(PG_FUNCTION_ARGS);

/* What many calls of these functions with one filter have in common. */
typedef struct CuckooSite
{
	const CuckooHasher *hasher;
	const CuckooHeader *header;
	const uint8 *image;			/* NULL: not fetched yet, call the function */
	bool		fits;			/* the filter is of the elements' family */
	CuckooStored *stored;		/* pinned, or NULL */
} CuckooSite;

/*
 * Opens the filter of a call, its argument `argno`, for so many probes for
 * elements of the other argument's type.
 */
extern void cuckoo_open_site(CuckooSite *site, FunctionCallInfo fcinfo,
							 int argno, uint32 probes);

/* The reverse.  The cache may then drop the filter. */
extern void cuckoo_close_site(CuckooSite *site);

/* ---- agg/state_io.c ---- */

/* planner/plan.c recognizes the type of the states by its input function. */
extern Datum cuckoostate_in(PG_FUNCTION_ARGS);

/* ---- filter/sets.c ---- */

/*
 * The canonical filter of a run of `n` keys (core/keys.h), of which it holds
 * each at most twice.  Frees the keys.  *h has the geometry, seed and family of
 * the filter; this sets its level and items.
 */
extern struct varlena *cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys,
											 Size n);

#endif							/* CUCKOO_FILTER_H */
