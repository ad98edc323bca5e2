/*-------------------------------------------------------------------------
 *
 * core/geometry.h
 *		The geometry of a filter: how many buckets it has, and how many bits a
 *		fingerprint, by the number of elements, the rate and the growth level.
 *
 * cuckoo_header_exact() and cuckoo_header_sized() choose a geometry,
 * cuckoo_header_set_level() changes its level, and the other functions say what
 * follows from it.  FORMAT.md defines the geometry.
 *
 * At level g a filter has m = m0 * 2^g buckets, and a slot holds f = f0 - g
 * bits.  Its false-positive rate is 2 * items / (m0 * 2^f0).  Growth moves a
 * bit from the fingerprint into the position, which does not change the rate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_GEOMETRY_H
#define CUCKOO_GEOMETRY_H

#include "core/port.h"
#include "core/tables.h"

#define CUCKOO_HEADER_SIZE		32
#define CUCKOO_TAIL_SIZE		8	/* the checksum; keeps loads in bounds */
#define CUCKOO_SLOTS			4	/* slots of a bucket */
#define CUCKOO_CORE_BITS		8	/* fingerprint bits that never move */
#define CUCKOO_MAX_BITS			32	/* largest f0 */
#define CUCKOO_MAX_COPIES		2	/* of a fingerprint in a pair of buckets */

/*
 * 512 MiB.  The base64 text of such an image takes 683 MiB, which still fits in
 * a PostgreSQL datum (under 1 GiB), so that every stored filter can be dumped.
 */
#define CUCKOO_MAX_SIZE			((uint64_t) 512 << 20)

#define CUCKOO_MIN_FPP			1e-8
#define CUCKOO_MAX_FPP			0.5

/*
 * The items at load factor 0.95, for which a filter is sized: 3.8 of the 4
 * slots of a bucket.  In tables of 512 buckets and more, the first failed
 * inserts were seen at load factor 0.952.
 */
#define CUCKOO_TARGET_ITEMS(buckets)	((uint64_t) (buckets) * 19 / 5)

/* The result of a core function. */
typedef enum CuckooStatus
{
	CUCKOO_OK = 0,
	CUCKOO_UNCHANGED,			/* nothing had to be done */

	/* failures, which changed nothing */
	CUCKOO_FULL,				/* no room at this level: grow and retry */
	CUCKOO_CRAFTED,				/* no room, see cuckoo_is_crafted() */
	CUCKOO_LAST_LEVEL,			/* no bit left to grow by */
	CUCKOO_TOO_LARGE,			/* would exceed CUCKOO_MAX_SIZE */

	/* reasons to refuse an image */
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
 * Kinds of filters, each with its own lookup functions.  Filters with narrow
 * buckets have four kinds, by the alignment of buckets and by level.  Those
 * with wide buckets, and with more than one page, are of a kind whose functions
 * serve every filter.
 */
typedef enum CuckooKind
{
	CUCKOO_WHOLE,				/* buckets of whole bytes (f is odd), level 0 */
	CUCKOO_WHOLE_GROWN,			/* the same at a higher level */
	CUCKOO_SHARED,				/* two share a byte (f is even), level 0 */
	CUCKOO_SHARED_GROWN,		/* the same at a higher level */
	CUCKOO_ANY,					/* wide buckets, or several pages; any level */
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
	uint16_t	page;			/* w, the buckets of a page, or 0 */
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
	const CuckooMapping *mappings;	/* one of cuckoo_mappings */
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
 * Fill in a decoded header for a new, empty filter at level 0.
 *
 * cuckoo_header_exact() gives the smallest geometry that holds `items` elements
 * at load factor 0.95 (items 0 counts as 1).  cuckoo_header_sized() gives a
 * geometry that starts small and grows.  After some doublings it holds
 * `capacity` elements at the requested rate.  Equal arguments give equal
 * geometries.
 *
 * fpp_bits comes from cuckoo_fpp_bits().  The result is CUCKOO_TOO_LARGE if
 * no image can hold that many elements.
 */
extern CuckooStatus cuckoo_header_exact(CuckooHeader *h, uint64_t items,
										int fpp_bits, uint64_t seed);
extern CuckooStatus cuckoo_header_sized(CuckooHeader *h, uint64_t capacity,
										int fpp_bits, uint64_t seed);

/* The largest capacity that cuckoo_header_sized() has a geometry for. */
extern uint64_t cuckoo_max_capacity(int fpp_bits);

/*
 * Enlarges a level-0 geometry of cuckoo_header_exact() by `percent`, for the
 * rare set of elements that does not fit.
 */
extern CuckooStatus cuckoo_header_enlarge(CuckooHeader *h, int percent);

/*
 * Computes the derived fields from the stored ones, without checks; base must
 * not be 0.  cuckoo_header_read() checks all of them, and
 * cuckoo_header_set_level() the level and the size.
 */
extern void cuckoo_header_derive(CuckooHeader *h);

/* Sets the growth level and the fields derived from it; items do not change. */
extern CuckooStatus cuckoo_header_set_level(CuckooHeader *h, int level);

/*
 * The fingerprint bits that keep the false-positive rate at load factor 0.95 at
 * or below fpp: the least f >= 8 with 8 * 0.95 / 2^f <= fpp.  The fpp must be
 * in [CUCKOO_MIN_FPP, CUCKOO_MAX_FPP].
 */
extern int	cuckoo_fpp_bits(double fpp);

/* False-positive rate at the capacity, at most the requested one. */
extern double cuckoo_fpp_at_capacity(const CuckooHeader *h);

/* False-positive rate at the present number of items, 2n / (m0 * 2^f0). */
extern double cuckoo_fpp_now(const CuckooHeader *h);

/* The capacity: the elements that the filter holds at the requested rate. */
extern uint64_t cuckoo_capacity(const CuckooHeader *h);

/*
 * Elements at load factor 0.95 of the last growth level.  Growth ends there,
 * because no fingerprint bit is left, or because of CUCKOO_MAX_SIZE.  The
 * filter is sure to take these elements if the last level has 500 buckets or
 * more.  Some smaller filters are full earlier.
 */
extern uint64_t cuckoo_max_items(const CuckooHeader *h);

/* Length of the image in bytes. */
extern uint64_t cuckoo_image_size(const CuckooHeader *h);

/* True if a filter of so many base buckets may have windows. */
extern bool cuckoo_may_have_windows(uint64_t base);

/* The length of an image with so many buckets and bits of a fingerprint. */
extern uint64_t cuckoo_image_bytes(uint64_t buckets, int bits);

#endif							/* CUCKOO_GEOMETRY_H */
