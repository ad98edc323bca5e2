/*-------------------------------------------------------------------------
 *
 * scan/scan.h
 *		A sequential scan that probes filters for the rows of a page together.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SCAN_H
#define CUCKOO_SCAN_H

#include "compat.h"

#include "nodes/extensible.h"

/* Registers the scan, its setting and its hook when the library is loaded. */
extern void cuckoo_scan_init(void);

/*
 * What path.c plans and exec.c executes.  A plan's custom_exprs has all
 * conditions, in order, and its custom_private the number of the test among
 * them and the expected number of probes.
 */
extern const CustomScanMethods cuckoo_scan_methods;

#endif							/* CUCKOO_SCAN_H */
