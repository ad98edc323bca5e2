/*-------------------------------------------------------------------------
 *
 * planner/estimate.h
 *		The selectivity of a filter test.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ESTIMATES_H
#define CUCKOO_ESTIMATES_H

#include "planner/planner.h"

/* The share of all rows for which a filter contains the element of a call. */
extern Selectivity cuckoo_selectivity(PlannerInfo *root, Oid function,
									  Oid collation, List *args,
									  int varRelid);

/*
 * Finds the arguments of a call of `function`: cf_contains, or cuckoo_contained
 * with its arguments exchanged.  Returns false if it is another function.
 */
extern bool cuckoo_test_arguments(Oid function, List *args, Node **filter,
								  Oid *filter_type, Node **element);

#endif							/* CUCKOO_ESTIMATES_H */
