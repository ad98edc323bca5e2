/*-------------------------------------------------------------------------
 *
 * scan/exec.h
 *		What the planner's part of the scan (scan/path.c) passes on to the
 *		executor's part.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_EXEC_H
#define CUCKOO_EXEC_H

#include "compat.h"

#include "nodes/extensible.h"

/*
 * A plan has all its conditions in custom_exprs, in the planner's order.  It
 * has these integers in custom_private.
 */
enum
{
	CUCKOO_SCAN_TEST_NO,		/* the number of the condition that is the
								 * test */
	CUCKOO_SCAN_EXPECTED		/* the expected number of probes */
};

extern const CustomScanMethods cuckoo_scan_methods;

#endif							/* CUCKOO_EXEC_H */
