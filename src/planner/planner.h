/*-------------------------------------------------------------------------
 *
 * planner/planner.h
 *		Membership tests in the planner, for the scan: their parts, their cost,
 *		and what they change about joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLANNER_H
#define CUCKOO_PLANNER_H

#include "compat.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"

/*
 * The cost of a test, in operators: with the same filter each time, and with
 * another filter each time.
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
	Oid			function;
	FmgrInfo	info;			/* of the function */
	Oid			collation;
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

#endif							/* CUCKOO_PLANNER_H */
