/*-------------------------------------------------------------------------
 *
 * planner/planner.h
 *		Membership tests in the planner: parts, cost and selectivity of a test,
 *		and the effect of tests on join estimates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLANNER_H
#define CUCKOO_PLANNER_H

#include "compat.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"

/*
 * The cost of a test, in cpu_operator_cost.  If all rows have the same filter,
 * a test takes about as long as a comparison (measured).  Its cost is above 1,
 * so "column = constant" is evaluated first: the comparison is exact, and its
 * time does not depend on the size of a filter.  PostgreSQL evaluates
 * conditions of equal cost in the order of the query, but comparisons from
 * equivalence classes last.  If each row has a different filter, each test must
 * also load its filter into the processor's cache, or read slices of it.
 */
#define CUCKOO_COST_OF_A_TEST			1.1
#define CUCKOO_COST_OF_ANOTHER_FILTER	10

/*
 * The parts of a test: [NOT] cf_contains(filter, element), [NOT] filter @>
 * element, [NOT] element <@ filter, or element <@ ANY (array of filters).
 */
typedef struct CuckooTest
{
	bool		negated;
	bool		any;			/* the filter is an array of filters */
	Node	   *call;
	FmgrInfo	info;			/* of the function */
	Expr	   *filter;
	Expr	   *element;		/* without relabelings */
	int			filter_no;		/* argument number of the filter, 0 or 1 */
} CuckooTest;

/* Fills in the parts of a condition.  Returns false if it is no test. */
extern bool cuckoo_recognize_test(CuckooTest *test, Node *condition);

/*
 * Corrects join estimates for tests on join keys.  Call this once for each base
 * relation, before joins are estimated.
 */
extern void cuckoo_adjust_joins(PlannerInfo *root, RelOptInfo *rel);

/*
 * True if the type has our input function.  Only a superuser can give it to
 * another type.
 */
extern bool cuckoo_is_filter_type(Oid type);

/* ---- within this folder: planner/test.c, then planner/estimate.c ---- */

/*
 * Returns the arguments of a call, of an operator, or of an operator with ANY
 * or ALL of an array, and its function in *function.  NIL for other nodes, and
 * for built-in functions and operators, without looking up a catalog.
 */
extern List *cuckoo_call_arguments(const Node *node, Oid *function);

/*
 * Finds the filter and the element among the arguments of a function that is
 * declared like cf_contains(), or like cuckoo_contained() with exchanged
 * arguments.  For cf_contains_any() and cf_contains_all() the caller may pass
 * one element of the array instead of the array.  Returns false unless there
 * are two arguments.
 */
extern bool cuckoo_test_arguments(Oid function, List *args, Node **filter,
								  Oid *filter_type, Node **element);

/*
 * Estimates the share of all rows for which the filter contains the element.
 * Returns a default if cuckoo_test_arguments() rejects the function.
 */
extern Selectivity cuckoo_selectivity(PlannerInfo *root, Oid function,
									  Oid collation, List *args,
									  int varRelid);

#endif							/* CUCKOO_PLANNER_H */
