/*-------------------------------------------------------------------------
 *
 * error.h
 *		Errors for the statuses of the core.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ERROR_H
#define CUCKOO_ERROR_H

#include "compat.h"
#include "core/core.h"

/* Throws the error for a status that is not a success. */
pg_noreturn extern void cuckoo_error(CuckooStatus status);

static inline void
cuckoo_check_status(CuckooStatus status)
{
	if (unlikely(status != CUCKOO_OK))
		cuckoo_error(status);
}

#endif							/* CUCKOO_ERROR_H */
