/*-------------------------------------------------------------------------
 *
 * module.c
 *		The magic block of the library, and its initialization.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"
#include "index/index.h"
#include "scan/scan.h"

#include "fmgr.h"

/* The version is in META.json, too (test/release.pl). */
CUCKOO_MODULE_MAGIC("1.0.0");

void
_PG_init(void)
{
	cuckoo_scan_init();
	cuckoo_gather_init();
	cuckoo_index_init();
}
