/*-------------------------------------------------------------------------
 *
 * planner/estimate.h
 *		How many rows pass a membership test, for the functions that the planner
 *		calls.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ESTIMATES_H
#define CUCKOO_ESTIMATES_H

#include "planner/planner.h"

/*
 * The share of all rows for which a filter contains the element.  The function
 * is one that cuckoo_test_arguments() knows; any other gets a default.
 */
extern Selectivity cuckoo_selectivity(PlannerInfo *root, Oid function,
									  Oid collation, List *args,
									  int varRelid);

/*
 * Finds the filter and the element among the arguments of a function, declared
 * like cf_contains() or, with the arguments exchanged, like cuckoo_contained().
 * Returns false if it has another number of arguments.
 */
extern bool cuckoo_test_arguments(Oid function, List *args, Node **filter,
								  Oid *filter_type, Node **element);

/* The arguments of a call or an operator. */
extern List *cuckoo_call_arguments(Node *node);

#endif							/* CUCKOO_ESTIMATES_H */
