/*-------------------------------------------------------------------------
 *
 * core/format.h
 *		The image of a cuckoo filter: its bytes, its geometry, its limits.
 *
 * The image is the content of a cuckoofilter datum after its varlena header.
 * It is also the decoded base64 text and the binary form.  It is the same on
 * every machine.  FORMAT.md specifies it and defines the geometry.
 *
 *	bytes	field (CUCKOO_AT_... below)
 *	0-1		magic "CF"
 *	2		format version, 1
 *	3		element family (CuckooFamily); 0 while it is not known, that is,
 *			if none was declared and nothing was ever added
 *	4		f0: fingerprint bits at growth level 0
 *	5		ft: fingerprint bits that give the requested fpp
 *	6		g: growth level
 *	7		flags: bit 0 = windows, the rest 0
 *	8-11	m0: base buckets
 *	12-13	tag of the element type (family "other"), else 0
 *	14-15	0
 *	16-23	items
 *	24-31	seed
 *	32-		m0 * 2^g buckets of 4 * (f0 - g) - 4 bits, then 8 zero bytes
 *
 * At level g the filter has m = m0 * 2^g buckets, and a slot holds f = f0 - g
 * bits.  Its false-positive rate is 2 * items / (m0 * 2^f0).  Growth moves a
 * bit from the fingerprint into the position, and does not change the rate.
 *
 * cuckoo_header_read() refuses every header whose sizes do not agree with the
 * length of the image, or with more items than slots.  So a caller with a
 * CuckooHeader from it may access all buckets, and allocate memory for all
 * items.  cuckoo_validate() also checks the contents of the buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include "core/port.h"
#include "core/status.h"
#include "core/tables.h"

#define CUCKOO_FORMAT_VERSION	1

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
	CUCKOO_AT_RESERVED = 14,
	CUCKOO_AT_ITEMS = 16,
	CUCKOO_AT_SEED = 24,
	CUCKOO_AT_BUCKETS = 32
};

#define CUCKOO_HEADER_SIZE		CUCKOO_AT_BUCKETS
#define CUCKOO_TAIL_SIZE		8	/* keeps 64-bit loads in bounds */
#define CUCKOO_SLOTS			4	/* slots of a bucket */
#define CUCKOO_CORE_BITS		8	/* fingerprint bits that never move */
#define CUCKOO_MAX_BITS			32	/* largest f0 */
#define CUCKOO_FLAG_WINDOWS		0x01
#define CUCKOO_MAX_COPIES		2	/* of a fingerprint in a pair of buckets */

/*
 * 512 MiB.  The base64 text of such an image takes 683 MiB, which still fits in
 * a PostgreSQL datum (under 1 GiB).  So every stored filter can be dumped.
 */
#define CUCKOO_MAX_SIZE			((uint64_t) 512 << 20)

#define CUCKOO_MIN_FPP			1e-8
#define CUCKOO_MAX_FPP			0.5

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
	CUCKOO_FAMILY_OTHER = 10
} CuckooFamily;

#define CUCKOO_FAMILY_LAST	CUCKOO_FAMILY_OTHER

/*
 * Kinds of filters, each with its own lookup functions.  Filters with narrow
 * buckets have four kinds, by the alignment of buckets and by level.  Filters
 * with wide buckets are one kind.
 */
typedef enum CuckooKind
{
	CUCKOO_WHOLE,				/* buckets of whole bytes (f is odd), level 0 */
	CUCKOO_WHOLE_GROWN,			/* the same at a higher level */
	CUCKOO_SHARED,				/* two share a byte (f is even), level 0 */
	CUCKOO_SHARED_GROWN,		/* the same at a higher level */
	CUCKOO_WIDE,				/* f > CUCKOO_NARROW_BITS, any level */
	CUCKOO_KINDS
} CuckooKind;

/*
 * The decoded header of an image: the stored fields, and those that
 * cuckoo_header_derive() computes from them.
 */
typedef struct CuckooHeader
{
	/* stored */
	uint64_t	items;
	uint64_t	seed;
	uint32_t	base;			/* m0 */
	uint16_t	tag;
	uint8_t		family;
	uint8_t		base_bits;		/* f0 */
	uint8_t		fpp_bits;		/* ft */
	uint8_t		level;			/* g */
	bool		windows;

	/* derived: the geometry */
	uint8_t		bits;			/* f = f0 - g */
	uint32_t	buckets;		/* m0 * 2^g */
	uint64_t	base_inverse;	/* 2^64 / m0, rounded up */

	/* derived: for lookups and changes of one element, see core/match.h */
	uint32_t	bucket_bits;	/* of four fingerprints: 4f - 4 */
	uint32_t	bucket_bytes;	/* rounded down unless buckets are whole */
	uint32_t	level_mask;		/* the low g bits */
	uint32_t	ext_mask;		/* the f - 8 bits from bit g + 8 on */
	uint32_t	lane_mask;		/* the low f0 bits without the low nibble */
	uint8_t		kind;			/* CuckooKind */
	const CuckooMove *moves;	/* one of cuckoo_moves */
	uint64_t	lane_ones;		/* lowest bit of each lane, see CuckooPattern */
	uint64_t	lane_factor;	/* lane_ones >> 4, see cuckoo_narrow_lanes() */
	uint64_t	lane_size;		/* 2 ^ bits of a lane */
	uint64_t	lane_tops;		/* highest bit of each lane */
	uint64_t	lane_rest;		/* the other bits of each lane */
	uint64_t	lane_gather;	/* see cuckoo_narrow_slots() */
} CuckooHeader;

/* The low `bits` bits, 0 to 64. */
static inline uint64_t
cuckoo_low_mask(int bits)
{
	return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

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

/*
 * The only validator of an image (core/validate.c): returns CUCKOO_OK or the
 * reason to refuse it.  Beyond what cuckoo_header_read() checks, it refuses
 * impossible contents of buckets and a wrong number of items.  An image that it
 * accepts is safe to use in every core function.
 */
extern CuckooStatus cuckoo_validate(const uint8_t *image, uint64_t size);

#endif							/* CUCKOO_FORMAT_H */
