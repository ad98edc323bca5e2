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

/* Registers the scan, its setting and its hook when the library is loaded. */
extern void cuckoo_scan_init(void);

#endif							/* CUCKOO_SCAN_H */
