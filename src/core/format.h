/*-------------------------------------------------------------------------
 *
 * core/format.h
 *		The image of a cuckoo filter: its bytes, read, checked and written.
 *
 * cuckoo_header_read() decodes the header of an image, and refuses one whose
 * sizes do not agree with the image's length, or with more items than slots.  A
 * caller with a CuckooHeader from it may therefore access all buckets, and
 * allocate memory for all items.  cuckoo_validate() also verifies the checksum
 * and the buckets.  cuckoo_header_write() writes a header.
 *
 * The last 8 bytes of an image are its checksum.  cuckoo_checksum_write()
 * writes it when the image is complete, and cuckoo_validate() verifies it when
 * bytes come from outside.  No other function of the core uses it.  A change
 * leaves a stale checksum, and a lookup does not verify it, because either
 * would take the time to read the whole image.
 *
 * The image is the content of a cuckoofilter datum after its varlena header,
 * and also the decoded base64 text and the binary form.  It is the same on
 * every machine.  FORMAT.md specifies it.
 *
 *	bytes	field (CUCKOO_AT_... below)
 *	0-1		magic "CF"
 *	2		format version, 1
 *	3		element family (CuckooFamily); 0 while it is not known, that is,
 *			if none was declared and nothing was ever added
 *	4		f0: fingerprint bits at growth level 0
 *	5		ft: fingerprint bits that give the requested fpp
 *	6		g: growth level
 *	7		flags: bit 0 = windows, bit 1 = pages, not both; the rest 0
 *	8-11	m0: base buckets
 *	12-13	tag of the element type (family "other"), else 0
 *	14-15	w: buckets of a page, even, a divisor of m0; 0 without pages
 *	16-23	items
 *	24-31	seed
 *	32-		m0 * 2^g buckets of 4 * (f0 - g) - 4 bits
 *	end		checksum, 8 bytes: XXH3 (64 bits, seed 0) of all bytes before it
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include "core/geometry.h"

#define CUCKOO_FORMAT_VERSION	1
#define CUCKOO_FLAG_WINDOWS		0x01
#define CUCKOO_FLAG_PAGES		0x02

/* Offsets of the fields of the byte table. */
enum
{
	CUCKOO_AT_MAGIC = 0,
	CUCKOO_AT_VERSION = 2,
	CUCKOO_AT_FAMILY = 3,
	CUCKOO_AT_BASE_BITS = 4,
	CUCKOO_AT_FPP_BITS = 5,
	CUCKOO_AT_LEVEL = 6,
	CUCKOO_AT_FLAGS = 7,
	CUCKOO_AT_BASE = 8,
	CUCKOO_AT_TAG = 12,
	CUCKOO_AT_PAGE = 14,
	CUCKOO_AT_ITEMS = 16,
	CUCKOO_AT_SEED = 24,
	CUCKOO_AT_BUCKETS = 32
};

/*
 * What elements are hashed as.  The numbers are stored, so they never change.
 */
typedef enum CuckooFamily
{
	CUCKOO_FAMILY_NONE = 0,
	CUCKOO_FAMILY_INTEGER = 1,
	CUCKOO_FAMILY_TEXT = 2,
	CUCKOO_FAMILY_BYTEA = 3,
	CUCKOO_FAMILY_UUID = 4,
	CUCKOO_FAMILY_BOOLEAN = 5,
	CUCKOO_FAMILY_DATE = 6,
	CUCKOO_FAMILY_TIMESTAMP = 7,
	CUCKOO_FAMILY_TIMESTAMPTZ = 8,
	CUCKOO_FAMILY_FLOAT = 9,
	CUCKOO_FAMILY_OTHER = 10,
	CUCKOO_FAMILY_INET = 11,
	CUCKOO_FAMILY_MACADDR = 12,
	CUCKOO_FAMILY_MACADDR8 = 13,
	CUCKOO_FAMILY_NUMERIC = 14,
	CUCKOO_FAMILY_TIME = 15,
	CUCKOO_FAMILY_INTERVAL = 16
} CuckooFamily;

#define CUCKOO_FAMILY_LAST	CUCKOO_FAMILY_INTERVAL

/*
 * Decodes and checks the header of an image of `size` bytes.  Only the first
 * CUCKOO_HEADER_SIZE bytes are read.
 */
extern CuckooStatus cuckoo_header_read(CuckooHeader *h, const uint8_t *image,
									   uint64_t size);

/* Writes the header to the first CUCKOO_HEADER_SIZE bytes of an image. */
extern void cuckoo_header_write(const CuckooHeader *h, uint8_t *image);

/* The same if only the number of items has changed. */
static inline void
cuckoo_header_write_items(const CuckooHeader *h, uint8_t *image)
{
	cuckoo_store64(image + CUCKOO_AT_ITEMS, h->items);
}

/* Writes the checksum of an image of `size` bytes, which are set otherwise. */
extern void cuckoo_checksum_write(uint8_t *image, uint64_t size);

/*
 * The only validator of an image: returns CUCKOO_OK or the reason to refuse it.
 * Beyond what cuckoo_header_read() checks, it refuses a wrong checksum,
 * impossible contents of buckets and a wrong number of items.  An image that it
 * accepts is safe to use in every core function.  The checksum detects damage,
 * not malice, because anyone can compute it.
 */
extern CuckooStatus cuckoo_validate(const uint8_t *image, uint64_t size);

/*
 * The part of cuckoo_validate() that looks at the buckets, for the page of an
 * index, which has no checksum.  *h has the geometry and the number of items.
 * *found gets the occupied slots for CUCKOO_BAD_ITEMS, else the bad bucket.
 */
extern CuckooStatus cuckoo_validate_buckets(const CuckooHeader *h,
											const uint8_t *image,
											uint64_t *found);

/* The meaning of a status, as a lower-case phrase. */
extern const char *cuckoo_status_text(CuckooStatus status);

#endif							/* CUCKOO_FORMAT_H */
