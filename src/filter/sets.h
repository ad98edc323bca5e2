/*-------------------------------------------------------------------------
 *
 * filter/sets.h
 *		Filters as sets: which of them can be combined, their runs of keys, and
 *		the states of the aggregates over filters.
 *
 * A function of two filters checks them with cuckoo_check_compatible(), and
 * combines them with cuckoo_read_run() and cuckoo_merge_runs(); cuckoo_adopt()
 * makes the header of the result.  An aggregate begins a state with
 * cuckoo_new_set_state(), adds filters with cuckoo_set_add(), and gets its
 * result from cuckoo_set_filter().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SETS_H
#define CUCKOO_SETS_H

#include "filter/filter.h"

/* Throws an error, unless the keys of both filters mean the same. */
extern void cuckoo_check_compatible(const CuckooHeader *a,
									const CuckooHeader *b);

/*
 * Gives *h what it lacks and another filter has, before both are combined: the
 * family, and the geometry and seed if it is unsized.
 */
extern void cuckoo_adopt(CuckooHeader *h, const CuckooHeader *other);

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

#endif							/* CUCKOO_SETS_H */
