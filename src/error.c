/*-------------------------------------------------------------------------
 *
 * error.c
 *		Errors for the status of a core function, and checks of parameters that
 *		several files share.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"

#include <math.h>

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
 * Raises the error for a status.  This is the only place that maps a status to
 * an SQLSTATE.  Here a reason to refuse an image means that a stored filter is
 * corrupt.  Callers that read input raise their own error for such a reason.
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
							   CUCKOO_CORE_BITS),
					 errhint("Build the filter with a larger capacity; cf_info(filter).max_items shows where growth ends. Or start a second filter and probe both.")));
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

int
cuckoo_checked_fpp(double fpp)
{
	/* written so that NaN fails */
	if (!(fpp >= CUCKOO_MIN_FPP && fpp <= CUCKOO_MAX_FPP))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("The requested false-positive rate is %g.", fpp),
				 errhint("fpp must be between %g and %g. For example, 0.001 means one false positive per thousand absent elements.",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	return cuckoo_fpp_bits(fpp);
}

int64
cuckoo_checked_capacity(CuckooHeader *h, double capacity, int bits, uint64 seed)
{
	/* written so that NaN fails, and what an int64 cannot hold */
	if (!(capacity > 0 && capacity < (double) PG_INT64_MAX) ||
		cuckoo_header_sized(h, (uint64) ceil(capacity), bits,
							seed) != CUCKOO_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity is out of range"),
				 errdetail("The requested capacity is %.15g elements.",
						   capacity),
				 errhint("At this fpp, capacity must be between 1 and %llu.",
						 (unsigned long long) cuckoo_max_capacity(bits))));
	return (int64) ceil(capacity);
}
