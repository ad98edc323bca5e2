/*-------------------------------------------------------------------------
 *
 * error.c
 *		Errors for the statuses of the core, and the hooks of the core.
 *
 *-------------------------------------------------------------------------
 */
#include "error.h"

#include "miscadmin.h"

/* The core's hooks, see core/port.h. */
void
cuckoo_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
cuckoo_assert_failed(const char *condition, const char *file, int line)
{
	elog(ERROR, "failed assertion \"%s\" at %s:%d", condition, file, line);
}

/*
 * The only place that maps a status to an SQLSTATE.  Any status that rejects an
 * image raises the error for a corrupt stored filter.  Functions that read
 * input raise another error instead.
 */
void
cuckoo_error(CuckooStatus status)
{
	switch (status)
	{
		case CUCKOO_CRAFTED:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("no room for this element in the cuckoofilter"),
					 errdetail("Both buckets of the element are full although the filter is almost empty. Too many elements have colliding hashes."),
					 errhint("Build the filter with another seed: cf_new(capacity, fpp, seed) or cf_agg(value, capacity, fpp, seed).")));
			break;
		case CUCKOO_FULL:
		case CUCKOO_LAST_LEVEL:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoofilter is full"),
					 errdetail("The filter cannot grow further, because its fingerprints are down to %d bits.",
							   CUCKOO_FIXED_BITS),
					 errhint("Build the filter with a larger capacity; (cf_info(filter)).max_items shows where growth ends. Or start a second filter and probe both.")));
			break;
		case CUCKOO_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoofilter would exceed the size limit"),
					 errdetail("The size limit of a filter is %d MiB.",
							   (int) (CUCKOO_MAX_SIZE >> 20)),
					 errhint("Use a larger fpp, or split the elements over several filters.")));
			break;
		default:
			break;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("corrupt cuckoofilter"),
			 errdetail("The image is invalid: %s.", cuckoo_status_text(status)),
			 status == CUCKOO_BAD_VERSION ?
			 errhint("The filter may have been written by a newer version of the extension.") :
			 errhint("Restore the filter from a backup, or build it again from the original values with cf_agg().")));
}
