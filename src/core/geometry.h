/*-------------------------------------------------------------------------
 *
 * core/geometry.h
 *		The geometry of a filter: its number of buckets and the bits of a
 *		fingerprint.  CuckooHeader, the decoded header of an image.
 *
 * FORMAT.md defines the geometry; README explains positions and growth.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_GEOMETRY_H
#define CUCKOO_GEOMETRY_H

#include "core/port.h"
#include "core/tables.h"

#define CUCKOO_HEADER_SIZE		32
#define CUCKOO_TAIL_SIZE		8	/* checksum; keeps loads in bounds */
#define CUCKOO_SLOTS			4	/* slots of a bucket */
#define CUCKOO_FIXED_BITS		8	/* the fixed byte, which never moves */
#define CUCKOO_MAX_BITS			32	/* largest f0 */
#define CUCKOO_MAX_COPIES		2	/* of a fingerprint in a pair */

/*
 * 512 MiB.  Its base64 text has 683 MiB, below PostgreSQL's limit of 1 GiB for
 * a value, so every stored filter can be dumped.
 */
#define CUCKOO_MAX_SIZE			((uint64_t) 512 << 20)

#define CUCKOO_MIN_FPP			1e-8
#define CUCKOO_MAX_FPP			0.5

/*
 * The items at load factor 0.95, for which a filter is sized: 3.8 of the 4
 * slots of a bucket.  In tables of at least 512 buckets, the first inserts
 * failed at load factor 0.952.
 */
#define CUCKOO_TARGET_ITEMS(buckets)	((uint64_t) (buckets) * 19 / 5)

/* The result of a core function. */
typedef enum CuckooStatus
{
	CUCKOO_OK = 0,
	CUCKOO_UNCHANGED,			/* nothing to change */

	/* failures of a change */
	CUCKOO_FULL,				/* no room at this level: grow and retry */
	CUCKOO_CRAFTED,				/* no room: see cuckoo_is_crafted() */
	CUCKOO_LAST_LEVEL,			/* no bit to grow by */
	CUCKOO_TOO_LARGE,			/* larger than CUCKOO_MAX_SIZE */

	/* reasons to reject an image */
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
	CUCKOO_BAD_CHECKSUM,
	CUCKOO_BAD_CODE,
	CUCKOO_BAD_SLOT,
	CUCKOO_BAD_ORDER,
	CUCKOO_BAD_ITEMS
} CuckooStatus;

/*
 * Kinds of filters.  Each kind has its own lookup functions: README,
 * "Lookups".
 */
typedef enum CuckooKind
{
	CUCKOO_WHOLE,				/* f is odd, level 0 */
	CUCKOO_WHOLE_GROWN,			/* f is odd, higher level */
	CUCKOO_SHARED,				/* f is even, level 0 */
	CUCKOO_SHARED_GROWN,		/* f is even, higher level */
	CUCKOO_ANY,					/* f > 17, any level */
	CUCKOO_KINDS
} CuckooKind;

/*
 * The decoded header of an image: the stored fields, and fields that
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

	/* derived: for lookups and changes of one element, see README, "Buckets" */
	uint32_t	bucket_bits;	/* 4f - 4 */
	uint32_t	bucket_bytes;	/* bucket_bits / 8, for whole buckets */
	uint32_t	level_mask;		/* low g bits */
	uint32_t	ext_mask;		/* f - 8 bits from bit g + 8 up */
	uint32_t	lane_mask;		/* low f0 bits except the low nibble */
	uint8_t		kind;			/* CuckooKind */
	const CuckooMapping *mappings;	/* partner mappings, of cuckoo_mappings */
	uint64_t	lane_ones;		/* lowest bit of each lane */
	uint64_t	lane_factor;	/* lane_ones >> 4, see cuckoo_narrow_pair() */
	uint64_t	lane_size;		/* 2 ^ bits of a lane */
	uint64_t	lane_tops;		/* highest bit of each lane */
	uint64_t	lane_rest;		/* other bits of each lane */
	uint64_t	lane_gather;	/* see cuckoo_narrow_slots() */
} CuckooHeader;

/* The low `bits` bits, 0 to 64. */
static inline uint64_t
cuckoo_low_mask(int bits)
{
	return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

/*
 * Fill in the header of a new, empty filter at level 0.  Equal arguments give
 * equal geometries.  Return CUCKOO_TOO_LARGE if no image is large enough.
 *
 *	cuckoo_header_exact()	the smallest geometry for `items` elements at load
 *							factor 0.95; 0 items count as 1
 *	cuckoo_header_sized()	a small geometry that grows; at its capacity it has
 *							`fpp_bits` fingerprint bits, see cuckoo_fpp_bits()
 */
extern CuckooStatus cuckoo_header_exact(CuckooHeader *h, uint64_t items,
										int fpp_bits, uint64_t seed);
extern CuckooStatus cuckoo_header_sized(CuckooHeader *h, uint64_t capacity,
										int fpp_bits, uint64_t seed);

/* The largest capacity for which cuckoo_header_sized() finds a geometry. */
extern uint64_t cuckoo_max_capacity(int fpp_bits);

/*
 * Enlarges a geometry of cuckoo_header_exact() by `percent`, at level 0, for
 * the rare set of elements without room in it.
 */
extern CuckooStatus cuckoo_header_enlarge(CuckooHeader *h, int percent);

/*
 * Computes the derived fields from the stored fields, and checks nothing; base
 * must not be 0.  cuckoo_header_read() checks all fields, and
 * cuckoo_header_set_level() checks level and size.
 */
extern void cuckoo_header_derive(CuckooHeader *h);

/*
 * Sets the growth level and the fields derived from it.  Does not change
 * items.
 */
extern CuckooStatus cuckoo_header_set_level(CuckooHeader *h, int level);

/*
 * The fingerprint bits for a false-positive rate of at most `fpp` at load
 * factor 0.95: the least f >= 8 with 8 * 0.95 / 2^f <= fpp.  The fpp must be
 * in [CUCKOO_MIN_FPP, CUCKOO_MAX_FPP].
 */
extern int	cuckoo_fpp_bits(double fpp);

/* The false-positive rate at capacity, at most the requested rate. */
extern double cuckoo_fpp_at_capacity(const CuckooHeader *h);

/* The false-positive rate now, 2 * items / (m0 * 2^f0). */
extern double cuckoo_fpp_now(const CuckooHeader *h);

/* The capacity: the most elements at the requested rate. */
extern uint64_t cuckoo_capacity(const CuckooHeader *h);

/*
 * The elements at load factor 0.95 of the last growth level.  Growth ends
 * there, because no fingerprint bit is left, or because of CUCKOO_MAX_SIZE.  A
 * filter has room for these elements if its last level has at least 500
 * buckets.  Some smaller filters are full earlier.
 */
extern uint64_t cuckoo_max_items(const CuckooHeader *h);

/* The length of the image in bytes. */
extern uint64_t cuckoo_image_size(const CuckooHeader *h);

/* True if a filter of `base` base buckets may have windows. */
extern bool cuckoo_may_have_windows(uint64_t base);

/* The length in bytes of an image of `buckets` buckets of `bits`-bit slots. */
extern uint64_t cuckoo_image_bytes(uint64_t buckets, int bits);

#endif							/* CUCKOO_GEOMETRY_H */
