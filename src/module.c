/*-------------------------------------------------------------------------
 *
 * module.c
 *		What the server looks for in the library, and what it does when the
 *		library is loaded.
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
