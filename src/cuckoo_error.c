/*-------------------------------------------------------------------------
 *
 * cuckoo_error.c
 *		Core status to PostgreSQL error, and the checks of parameters that
 *		several files need.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "miscadmin.h"

/* The core's hooks, see cuckoo_port.h. */
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
 * The one table from status to SQLSTATE.  Reasons to refuse an image have no
 * entry: which error they are depends on where the image came from.
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
					 errdetail("Its buckets are full while the filter is almost empty, which chance excludes: too many elements have colliding hashes."),
					 errhint("Build it with another seed: cf_new(capacity, fpp, seed) or cf_agg(value, capacity, fpp, seed).")));
			break;
		case CUCKOO_FULL:
		case CUCKOO_LAST_LEVEL:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoofilter is full"),
					 errdetail("It has grown until its fingerprints were down to %d bits and cannot grow further.",
							   CUCKOO_CORE_BITS),
					 errhint("Plan ahead with a larger capacity: cf_info(filter).max_items tells where growth ends. Or start a second filter and ask both.")));
			break;
		case CUCKOO_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoofilter would exceed the size limit"),
					 errdetail("A filter may take %d MiB.",
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
			 errhint("It may have been written by a newer version of the extension.") :
			 errhint("Restore it from a backup, or build it again with cf_agg() from the original values.")));
}

int
cuckoo_checked_fpp(double fpp)
{
	/* written so that NaN fails */
	if (!(fpp >= CUCKOO_MIN_FPP && fpp <= CUCKOO_MAX_FPP))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("A false-positive rate of %g was asked for.", fpp),
				 errhint("fpp must be from %g to %g; 0.001 means one wrong \"maybe\" in a thousand.",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	return cuckoo_fpp_bits(fpp);
}

void
cuckoo_checked_capacity(CuckooHeader *h, int64 capacity, int bits, uint64 seed)
{
	if (capacity < 1 ||
		cuckoo_header_sized(h, (uint64) capacity, bits, seed) != CUCKOO_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity is out of range"),
				 errdetail("A capacity of %lld elements was asked for.",
						   (long long) capacity),
				 errhint("At this fpp, capacity must be from 1 to %llu.",
						 (unsigned long long) cuckoo_max_capacity(bits))));
}
