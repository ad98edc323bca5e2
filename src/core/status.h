/*-------------------------------------------------------------------------
 *
 * core/status.h
 *		What becomes of a call of the core: success, a failure that changed
 *		nothing, or the reason to refuse an image.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_STATUS_H
#define CUCKOO_STATUS_H

/*
 * The result of a core function.  The first group means success.  The second
 * group means a failure that changed nothing.  The third group are the reasons
 * to refuse an image.
 */
typedef enum CuckooStatus
{
	CUCKOO_OK = 0,
	CUCKOO_UNCHANGED,			/* nothing had to be done */

	CUCKOO_FULL,				/* no room at this level: grow and retry */
	CUCKOO_CRAFTED,				/* no room, see cuckoo_is_crafted() */
	CUCKOO_LAST_LEVEL,			/* no bit left to grow by */
	CUCKOO_TOO_LARGE,			/* would exceed CUCKOO_MAX_SIZE */

	CUCKOO_BAD_SHORT,
	CUCKOO_BAD_MAGIC,
	CUCKOO_BAD_VERSION,
	CUCKOO_BAD_FAMILY,
	CUCKOO_BAD_BITS,
	CUCKOO_BAD_FLAGS,
	CUCKOO_BAD_BUCKETS,
	CUCKOO_BAD_TAG,
	CUCKOO_BAD_RESERVED,
	CUCKOO_BAD_LENGTH,
	CUCKOO_BAD_TAIL,
	CUCKOO_BAD_CODE,
	CUCKOO_BAD_SLOT,
	CUCKOO_BAD_ORDER,
	CUCKOO_BAD_ITEMS
} CuckooStatus;

/* The meaning of a status, as a lower-case phrase. */
extern const char *cuckoo_status_text(CuckooStatus status);

#endif							/* CUCKOO_STATUS_H */
