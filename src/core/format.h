/*-------------------------------------------------------------------------
 *
 * core/format.h
 *		The bytes of an image: reading, checking and writing them.
 *
 * FORMAT.md specifies the image.  A cuckoofilter datum, its binary
 * representation and its decoded base64 text contain exactly these bytes, on
 * every machine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include "core/geometry.h"

#define CUCKOO_FORMAT_VERSION	1
#define CUCKOO_FLAG_WINDOWS		0x01

/*
 * Offsets of the fields of the header.  m0 * 2^g buckets of 4 * (f0 - g) - 4
 * bits follow the header, and a checksum of 8 bytes follows the buckets: XXH3
 * (64 bits, seed 0) of all bytes before it.
 */
enum
{
	CUCKOO_AT_MAGIC = 0,		/* "CF" */
	CUCKOO_AT_VERSION = 2,		/* CUCKOO_FORMAT_VERSION */
	CUCKOO_AT_FAMILY = 3,		/* CuckooFamily, 0 while it is unknown */
	CUCKOO_AT_BASE_BITS = 4,	/* f0, fingerprint bits at level 0 */
	CUCKOO_AT_FPP_BITS = 5,		/* ft, fingerprint bits for the requested fpp */
	CUCKOO_AT_LEVEL = 6,		/* g, growth level */
	CUCKOO_AT_FLAGS = 7,		/* CUCKOO_FLAG_WINDOWS or 0 */
	CUCKOO_AT_BASE = 8,			/* m0, base buckets */
	CUCKOO_AT_TAG = 12,			/* of the element type, family "other" */
	CUCKOO_AT_RESERVED = 14,	/* two bytes, zero */
	CUCKOO_AT_ITEMS = 16,
	CUCKOO_AT_SEED = 24,
	CUCKOO_AT_BUCKETS = 32
};

/* Element families.  The numbers are stored, so they never change. */
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
 * Decodes and checks the header of an image of `size` bytes.  Reads only the
 * first CUCKOO_HEADER_SIZE bytes.  The caller may then access all buckets and
 * allocate memory for h->items.
 */
extern CuckooStatus cuckoo_header_read(CuckooHeader *h, const uint8_t *image,
									   uint64_t size);

/* Writes the header to the first CUCKOO_HEADER_SIZE bytes of an image. */
extern void cuckoo_header_write(const CuckooHeader *h, uint8_t *image);

/* Writes the checksum of an image of `size` bytes, after all other bytes. */
extern void cuckoo_checksum_write(uint8_t *image, uint64_t size);

/*
 * The only validator of images.  Returns CUCKOO_OK or the reason to reject the
 * image.  Checks the header, the checksum, the contents of buckets and the
 * number of items.  Every core function is safe on a valid image.  The
 * checksum detects damage, not malice, because anyone can compute it.
 */
extern CuckooStatus cuckoo_validate(const uint8_t *image, uint64_t size);

/* The meaning of a status, as a lower-case phrase. */
extern const char *cuckoo_status_text(CuckooStatus status);

#endif							/* CUCKOO_FORMAT_H */
