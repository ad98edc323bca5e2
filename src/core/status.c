/*-------------------------------------------------------------------------
 *
 * core/status.c
 *		What each status means, in words.
 *
 *-------------------------------------------------------------------------
 */
#include "core/status.h"

const char *
cuckoo_status_text(CuckooStatus status)
{
	switch (status)
	{
		case CUCKOO_OK:
			return "no error";
		case CUCKOO_UNCHANGED:
			return "nothing to change";
		case CUCKOO_FULL:
			return "no room at this growth level";
		case CUCKOO_CRAFTED:
			return "no room for the element while the filter is almost empty";
		case CUCKOO_LAST_LEVEL:
			return "no fingerprint bit is left to grow by";
		case CUCKOO_TOO_LARGE:
			return "larger than 512 MiB";
		case CUCKOO_BAD_SHORT:
			return "shorter than a header";
		case CUCKOO_BAD_MAGIC:
			return "first two bytes are not \"CF\"";
		case CUCKOO_BAD_VERSION:
			return "unknown format version";
		case CUCKOO_BAD_FAMILY:
			return "unknown element family";
		case CUCKOO_BAD_BITS:
			return "fingerprint bits or growth level out of range";
		case CUCKOO_BAD_FLAGS:
			return "unknown or wrong flags";
		case CUCKOO_BAD_BUCKETS:
			return "number of base buckets is zero or odd";
		case CUCKOO_BAD_TAG:
			return "type tag in a family that has none";
		case CUCKOO_BAD_RESERVED:
			return "reserved bytes are not zero";
		case CUCKOO_BAD_LENGTH:
			return "length does not agree with the header";
		case CUCKOO_BAD_TAIL:
			return "last eight bytes are not zero";
		case CUCKOO_BAD_CODE:
			return "bucket code out of range";
		case CUCKOO_BAD_SLOT:
			return "fingerprint with a core of zero";
		case CUCKOO_BAD_ORDER:
			return "fingerprints of a bucket out of order";
		case CUCKOO_BAD_ITEMS:
			return "item count differs from the occupied slots";
	}
	return "unknown status";
}
