/*-------------------------------------------------------------------------
 *
 * scan/exec.h
 *		What the planner's part of the scan passes on to the executor's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_EXEC_H
#define CUCKOO_EXEC_H

#include "compat.h"

#include "nodes/extensible.h"

/* The plan's custom_private; custom_exprs has all conditions, in order. */
enum
{
	CUCKOO_SCAN_TEST_NO,		/* which of the conditions is the test */
	CUCKOO_SCAN_EXPECTED		/* the expected number of probes */
};

extern const CustomScanMethods cuckoo_scan_methods;

#endif							/* CUCKOO_EXEC_H */
