/*-------------------------------------------------------------------------
 *
 * cuckoo_plan.h
 *		What the planner knows of tests of filters: their parts and their cost.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLAN_H
#define CUCKOO_PLAN_H

#include "cuckoo_pg.h"

#include "nodes/pathnodes.h"

/* ---- cuckoo_plan.c ---- */

/*
 * Operators that cost as much as a test with the same filter each time, and
 * with another one.
 */
#define CUCKOO_COST_OF_A_TEST			1.1
#define CUCKOO_COST_OF_ANOTHER_FILTER	10

/*
 * A condition taken apart: [NOT] cf_contains(filter, element), or one of the
 * operators, or element <@ ANY (array of filters).
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

/* Takes a condition apart; false if it is no test of a filter. */
extern bool cuckoo_take_apart(CuckooTest *test, Node *condition);

/* ---- cuckoo_plan_join.c ---- */

/*
 * Keeps the planner from counting filters on join keys twice.  It is called
 * once for each base relation, before joins are estimated.
 */
extern void cuckoo_adjust_joins(PlannerInfo *root, RelOptInfo *rel);

#endif							/* CUCKOO_PLAN_H */
