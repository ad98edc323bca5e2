/*-------------------------------------------------------------------------
 *
 * filter/filter.h
 *		The SQL type cuckoofilter: filters as PostgreSQL's values.
 *
 * A filter comes as a datum of any form: in a row, TOASTed, compressed, with a
 * short header, or as an expanded object that its owner may change.
 * cuckoo_filter() gives it to be read, cuckoo_expand() to be changed, and
 * cuckoo_peek_header() reads no more than its header.  cuckoo_open() decodes
 * the header of a whole filter, whose bytes are at cuckoo_image().
 *
 * A new filter is built from hashes (cuckoo_build_filter()), or made from keys
 * (cuckoo_filter_of_keys()).
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

/* The fpp where none is given. */
#define CUCKOO_DEFAULT_FPP	0.001

/* Fingerprint bits for an fpp; error 22023 outside the limits. */
extern int	cuckoo_checked_fpp(double fpp);

/*
 * Sets *h to the geometry for a capacity, a float8 so that SQL can say 1e6, and
 * returns the capacity, rounded up; error 22023 outside the limits.
 */
extern int64 cuckoo_checked_capacity(CuckooHeader *h, double capacity,
									 int bits, uint64 seed);

/* The empty filter that combines with every geometry: see is_unsized(). */
extern void cuckoo_header_unsized(CuckooHeader *h);

/* The image in a detoasted datum, which may have a short header. */
static inline uint8 *
cuckoo_image(const struct varlena *datum)
{
	return (uint8 *) VARDATA_ANY(datum);
}

/* A new datum with room for an image of `size` bytes, zeroed. */
extern struct varlena *cuckoo_new_datum(uint64 size);

/*
 * The filter of `n` sorted hashes or ordered keys, with the geometry and level
 * of *h, or NULL if they do not fit; error 54000 if no larger one would help.
 */
extern struct varlena *cuckoo_build_filter(CuckooHeader *h,
										   const uint64 *hashes, Size n);

/* Reads the header of a whole filter; error XX001 if it is corrupt. */
extern void cuckoo_open(CuckooHeader *h, const struct varlena *filter);

/* The same for a datum of any form.  This does not fetch a stored filter. */
extern void cuckoo_peek_header(CuckooHeader *h, Datum datum);

/*
 * Decodes base64 text to a new datum, or returns NULL if the text is invalid.
 * The reverse returns a new C string.
 */
extern struct varlena *cuckoo_base64_decode(const char *text);
extern char *cuckoo_base64_encode(const uint8 *bytes, Size size);

/* The planner recognizes the type by its input function. */
extern Datum cuckoofilter_in(PG_FUNCTION_ARGS);

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
 * The method get_flat_size of an aggregate's state does its work between these
 * two, in a memory context of its own, because its caller may be a sort, which
 * from PostgreSQL 17 on works in a context that cannot free single chunks.
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
	struct varlena *flat;		/* the image, behind a 4-byte header; its
								 * checksum is stale */
} CuckooExpanded;

/*
 * The whole filter, to be read; not copied if it is in memory.  Its checksum
 * may be stale.  A caller that hands out the bytes detoasts the datum instead.
 */
extern const struct varlena *cuckoo_filter(Datum datum);

/*
 * The filter as an object that the caller may change: that of the datum if it
 * comes with the right to write, else a copy below the context `parent`.
 */
extern CuckooExpanded *cuckoo_expand(Datum datum, MemoryContext parent);

/*
 * The row type of a function's result, which must have `columns` columns.
 * Error 0A000 if the function was declared by another version's script.
 */
extern TupleDesc cuckoo_result_tupdesc(FunctionCallInfo fcinfo, int columns);

/* A new array of so many keys. */
extern uint64 *cuckoo_new_keys(Size n);

/*
 * The canonical filter of a run of `n` keys (core/core.h), each at most twice.
 * *h has its geometry, seed and family; this sets its level and items.  Frees
 * the keys.
 */
extern struct varlena *cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys,
											 Size n);

/*
 * ---- sets, for the files of filter/ ----
 *
 * A function of two filters checks them with cuckoo_check_compatible(), and
 * combines them with cuckoo_read_run() and cuckoo_merge_runs().
 * cuckoo_header_inherit() makes the header of the result.  An aggregate begins
 * a state with cuckoo_new_set_state(), adds filters with cuckoo_set_add(), and
 * gets its result from cuckoo_set_filter().
 */

/* Throws an error, unless the keys of both filters mean the same. */
extern void cuckoo_check_compatible(const CuckooHeader *a,
									const CuckooHeader *b);

/*
 * Fills in the family, geometry and seed that *h does not specify, from the
 * other filter, before they are combined.
 */
extern void cuckoo_header_inherit(CuckooHeader *h, const CuckooHeader *other);

/*
 * Enough runs for any state: each is more than twice as long as the next, so
 * that the first of 40 would have more than 2^38 keys.
 */
#define CUCKOO_MAX_RUNS		40

/* The state of an aggregate: either a filter, or runs to be combined. */
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

/* The keys of a filter, whose header this is. */
extern CuckooRun cuckoo_read_run(const CuckooHeader *h,
								 const struct varlena *filter);

/*
 * Combines two runs of one geometry, and frees them.  If `least` is not 0, keys
 * are counted up to this number.
 */
extern CuckooRun cuckoo_merge_runs(CuckooMerge how, uint32 least, CuckooRun a,
								   CuckooRun b);

/*
 * A new state that holds one filter, whose header is *h, in memory of `parent`.
 * `least` is k of cf_at_least_agg(), else 0.
 */
extern CuckooSetState *cuckoo_new_set_state(CuckooMerge how, uint32 least,
											const CuckooHeader *h,
											const struct varlena *filter,
											MemoryContext parent);

/* Adds a filter, whose header is *h.  It must be compatible with the others. */
extern void cuckoo_set_add(CuckooSetState *state, const CuckooHeader *h,
						   const struct varlena *filter);

/* The state behind a datum, or NULL if the datum is a filter. */
extern CuckooSetState *cuckoo_set_state(Datum datum);

/* Merges all runs.  This does not change what the state stands for. */
extern void cuckoo_set_merge(CuckooSetState *state);

/*
 * The filter of a state, which then holds no runs.  An error does not change
 * what the state stands for, because a variable may hold it, unless this is its
 * last use; then the keys are not copied.
 */
extern struct varlena *cuckoo_set_filter(CuckooSetState *state, bool last_use);

#endif							/* CUCKOO_FILTER_H */
