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

#include "cuckoo_plan.h"

#include "nodes/extensible.h"

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
