/*-------------------------------------------------------------------------
 *
 * filter/filter.h
 *		The SQL type cuckoofilter: filters as values of PostgreSQL.
 *
 * A datum may be a plain value, TOASTed, compressed, with a short header, or an
 * expanded object.  cuckoo_filter() returns the filter for reading, and
 * cuckoo_expand() for changing.  cuckoo_peek_header() reads only the header.
 * cuckoo_open() decodes the header of a whole filter, and cuckoo_image()
 * returns its bytes.
 *
 * cuckoo_exact_filter() and cuckoo_sized_filter() build filters of hashes, and
 * cuckoo_filter_of_keys() of keys.
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

/* ---- new filters, filter/build.c ---- */

/* The default fpp. */
#define CUCKOO_DEFAULT_FPP	0.001

/* Fingerprint bits for an fpp; error 22023 outside the limits. */
extern int	cuckoo_checked_fpp(double fpp);

/*
 * Sets *h to the geometry for a capacity, and returns the capacity, rounded up.
 * The capacity is a float8, so that SQL accepts 1e6.  Error 22023 outside the
 * limits.
 */
extern int64 cuckoo_checked_capacity(CuckooHeader *h, double capacity,
									 int bits, uint64 seed);

/* Sets *h to the unsized filter, which combines with every geometry. */
extern void cuckoo_header_unsized(CuckooHeader *h);

/*
 * Build the filter of `n` sorted, distinct hashes.  *h is its header at level
 * 0, without items.
 *
 *	cuckoo_exact_filter()	of a geometry of cuckoo_header_exact(), which it
 *							enlarges until the hashes fit
 *	cuckoo_sized_filter()	of a geometry of cuckoo_header_sized().  It builds
 *							the filter from keys, so the filter equals the sum
 *							of filters of disjoint parts.
 */
extern struct varlena *cuckoo_exact_filter(CuckooHeader *h,
										   const uint64 *hashes, Size n);
extern struct varlena *cuckoo_sized_filter(CuckooHeader *h,
										   const uint64 *hashes, Size n);

/* ---- filters as datums, filter/datum.c ---- */

/* The image in a detoasted datum, which may have a short header. */
static inline uint8 *
cuckoo_image(const struct varlena *datum)
{
	return (uint8 *) VARDATA_ANY(datum);
}

/* A new datum with room for an image of `size` bytes, zeroed. */
extern struct varlena *cuckoo_new_datum(uint64 size);

/*
 * Returns the whole filter for reading, without copying one that is in memory.
 * Its checksum may be stale.  To export the bytes, detoast the datum instead.
 */
extern const struct varlena *cuckoo_filter(Datum datum);

/* Reads the header of a whole filter; error XX001 if it is corrupt. */
extern void cuckoo_open(CuckooHeader *h, const struct varlena *filter);

/* Like cuckoo_open(), for any datum.  Fetches only the header. */
extern void cuckoo_peek_header(CuckooHeader *h, Datum datum);

/* ---- text, filter/io.c ---- */

/* The planner recognizes the type by its input function. */
extern Datum cuckoofilter_in(PG_FUNCTION_ARGS);

/*
 * Decodes base64 text to a new datum, or returns NULL if the text is invalid.
 * cuckoo_base64_encode() returns a new C string.
 */
extern struct varlena *cuckoo_base64_decode(const char *text);
extern char *cuckoo_base64_encode(const uint8 *bytes, Size size);

/* ---- expanded objects, also of agg/ ---- */

/* The expanded object of a datum, or NULL unless it has these methods. */
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
 * For the method get_flat_size of an aggregate's state: between these two calls
 * it works in a temporary memory context.  The context of its caller may be
 * that of a sort, which cannot free single chunks in PostgreSQL 17 and later.
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

/* ---- within this folder: filter/datum.c, filters that may change ---- */

/* A filter in a separate memory context, which may be changed in place. */
typedef struct CuckooExpanded
{
	ExpandedObjectHeader hdr;
	struct varlena *flat;		/* the image after a 4-byte header; its
								 * checksum is stale */
} CuckooExpanded;

/*
 * Returns the filter as an object that the caller may change: the datum's
 * object if the pointer has the right to write, else a copy below `parent`.
 */
extern CuckooExpanded *cuckoo_expand(Datum datum, MemoryContext parent);

/* ---- within this folder: filter/build.c, filters of keys ---- */

/* Allocates an array of n keys. */
extern uint64 *cuckoo_new_keys(Size n);

/*
 * Builds the canonical filter of a sorted run of `n` keys (core/core.h).  *h
 * has its geometry, seed and family; this sets its level and items.  Keeps at
 * most two copies of a key.  Frees the keys.
 */
extern struct varlena *cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys,
											 Size n);

/*
 * ---- within this folder: filter/set_state.c, sets ----
 *
 * A function of two filters calls cuckoo_check_compatible(), and combines the
 * filters with cuckoo_read_run() and cuckoo_merge_runs().
 * cuckoo_header_inherit() completes the header of the result.  An aggregate
 * creates a state with cuckoo_new_set_state(), adds filters with
 * cuckoo_set_add(), and builds its result with cuckoo_set_filter().
 */

/* Error 42804 or 22023 unless keys of both filters are comparable. */
extern void cuckoo_check_compatible(const CuckooHeader *a,
									const CuckooHeader *b);

/*
 * Fills in the family, geometry and seed that *h does not specify, from another
 * filter, before the two are combined.
 */
extern void cuckoo_header_inherit(CuckooHeader *h, const CuckooHeader *other);

/*
 * Enough runs for any state: each run has more than twice as many keys as the
 * next, so the first of 40 runs would have more than 2^38 keys.
 */
#define CUCKOO_MAX_RUNS		40

/* The state of an aggregate: either a filter, or sorted runs of keys. */
typedef struct CuckooSetState
{
	ExpandedObjectHeader hdr;
	CuckooMerge how;
	uint32		least;			/* k of cf_at_least_agg(f, k), or 0 */
	CuckooHeader header;		/* geometry, seed and family */
	struct varlena *filter;		/* NULL if there are runs */
	CuckooRun	runs[CUCKOO_MAX_RUNS];
	int			count;
} CuckooSetState;

/* Returns the sorted run of the keys of a filter with the header *h. */
extern CuckooRun cuckoo_read_run(const CuckooHeader *h,
								 const struct varlena *filter);

/*
 * Merges two runs of one geometry, and frees them.  If `least` is not 0, adds
 * up the counts of equal keys, up to this number.
 */
extern CuckooRun cuckoo_merge_runs(CuckooMerge how, uint32 least, CuckooRun a,
								   CuckooRun b);

/*
 * Creates a state with one filter, whose header is *h, below `parent`.  `least`
 * is k of cf_at_least_agg(), else 0.
 */
extern CuckooSetState *cuckoo_new_set_state(CuckooMerge how, uint32 least,
											const CuckooHeader *h,
											const struct varlena *filter,
											MemoryContext parent);

/* Adds a filter with the header *h.  Error unless it is compatible. */
extern void cuckoo_set_add(CuckooSetState *state, const CuckooHeader *h,
						   const struct varlena *filter);

/* The state of a datum, or NULL if the datum is a filter. */
extern CuckooSetState *cuckoo_set_state(Datum datum);

/* Merges all runs.  The set of the state stays the same. */
extern void cuckoo_set_merge(CuckooSetState *state);

/*
 * Returns the filter of a state, which then contains the filter instead of
 * runs.  After an error the state still contains the runs, because a variable
 * may contain the state.  With `last_use` the state is not used after an
 * error, so its keys are consumed instead of copied.
 */
extern struct varlena *cuckoo_set_filter(CuckooSetState *state, bool last_use);

#endif							/* CUCKOO_FILTER_H */
