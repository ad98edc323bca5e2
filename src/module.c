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

PG_MODULE_MAGIC;

void
_PG_init(void)
{
	cuckoo_scan_init();
	cuckoo_index_init();
}
