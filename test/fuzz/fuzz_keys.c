/*-------------------------------------------------------------------------
 *
 * fuzz_keys.c
 *		Merging of filters of one geometry, against models, and its laws.
 *
 *-------------------------------------------------------------------------
 */
#include "family.h"
#include "fuzz.h"

static void
fuzz(void)
{
	CuckooHeader h = fuzz_header();

	cuckoo_header_set_level(&h, 0);
	check_family(h, 1 + unit_below(128));
}
