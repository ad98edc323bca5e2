/*-------------------------------------------------------------------------
 *
 * cuckoo_scan.h
 *		What the two parts of the scan share: the planner's
 *		(cuckoo_scan_plan.c) and the executor's (cuckoo_scan.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SCAN_H
#define CUCKOO_SCAN_H

#include "cuckoo_pg.h"

#include "nodes/extensible.h"

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

/*
 * A plan has all its conditions in custom_exprs, in the planner's order, and in
 * custom_private these integers.
 */
enum
{
	CUCKOO_SCAN_TEST_NO,		/* which condition is the test */
	CUCKOO_SCAN_EXPECTED,		/* rows it is expected to be asked about */
	CUCKOO_SCAN_COLUMN			/* of the filters in the only one of
								 * custom_plans; 0 if there is none */
};

extern const CustomScanMethods cuckoo_scan_methods;

/* Registers what the parts need of the server when the library is loaded. */
extern void cuckoo_scan_init(void);
extern void cuckoo_scan_plan_init(void);

#endif							/* CUCKOO_SCAN_H */
