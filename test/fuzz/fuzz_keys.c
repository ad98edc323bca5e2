/*-------------------------------------------------------------------------
 *
 * fuzz_keys.c
 *		Merging of filters of one geometry, against models, and its laws.
 *
 * An input is one check of a family of three filters.  It says which.
 *
 *-------------------------------------------------------------------------
 */
#define MOST_BUCKETS	256

#include "family.h"
#include "fuzz.h"

static void
fuzz(void)
{
	CuckooHeader h = fuzz_header();

	cuckoo_header_set_level(&h, 0);
	check_family(h, 1 + unit_below(40),
				 UINT32_C(1) << unit_below(FAMILY_CHECKS));
}
