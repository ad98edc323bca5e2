/*-------------------------------------------------------------------------
 *
 * planner/planner.h
 *		Membership tests in the planner: their parts, cost and selectivity, and
 *		what they change about joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLANNER_H
#define CUCKOO_PLANNER_H

#include "compat.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"

/*
 * The cost of a test, in cpu_operator_cost.  With a filter that stays the same,
 * hashing and probing take, by measurement, about as long as a comparison.  The
 * cost is a little more than 1, because conditions of the same cost are
 * evaluated in the order in which they are written, with "column = constant"
 * last, although the comparison should come first: it is exact, and its time
 * does not depend on a filter's size.  Another filter in each row must each
 * time be read into the cache, or by slices.
 */
#define CUCKOO_COST_OF_A_TEST			1.1
#define CUCKOO_COST_OF_ANOTHER_FILTER	10

/*
 * The parts of a condition of the form [NOT] cf_contains(filter, element), or
 * with one of the operators, or element <@ ANY (array of filters).
 */
typedef struct CuckooTest
{
	bool		negated;
	bool		any;			/* the filter is an array of filters */
	Node	   *call;
	FmgrInfo	info;			/* of the function */
	Expr	   *filter;
	Expr	   *element;
	int			filter_no;		/* number of the argument, 0 or 1 */
} CuckooTest;

/* Finds the parts of a condition.  Returns false if it is no test. */
extern bool cuckoo_recognize_test(CuckooTest *test, Node *condition);

/*
 * Keeps the planner from counting filters on join keys twice.  Call this once
 * for each base relation, before joins are estimated.
 */
extern void cuckoo_adjust_joins(PlannerInfo *root, RelOptInfo *rel);

/* ---- within this folder: planner/test.c, then planner/estimate.c ---- */

/*
 * The arguments of a call or an operator, or of an operator with ANY or ALL of
 * an array, and its function.  NIL if it is none of these.
 */
extern List *cuckoo_call_arguments(const Node *node, Oid *function);

/*
 * Finds the filter and the element among the arguments of a function, declared
 * like cf_contains() or, with the arguments exchanged, like cuckoo_contained().
 * For cf_contains_any() and cf_contains_all(), the second argument may be one
 * element of the array.  Returns false if the number of arguments is not two.
 */
extern bool cuckoo_test_arguments(Oid function, List *args, Node **filter,
								  Oid *filter_type, Node **element);

/*
 * The share of all rows for which a filter contains the element.  The function
 * is one that cuckoo_test_arguments() knows; any other gets a default.
 */
extern Selectivity cuckoo_selectivity(PlannerInfo *root, Oid function,
									  Oid collation, List *args,
									  int varRelid);

#endif							/* CUCKOO_PLANNER_H */
