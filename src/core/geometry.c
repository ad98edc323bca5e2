/*-------------------------------------------------------------------------
 *
 * core/geometry.c
 *		Chooses geometries, and computes what follows from them.
 *
 * An exact fit has n / 3.8 buckets: load factor 0.95.  A growable filter
 * begins with that number halved until it is small, and has an additional
 * fingerprint bit for each halving.  Filters large enough have windows:
 * README, "Positions".
 *
 *-------------------------------------------------------------------------
 */
#include "core/geometry.h"
#include "core/tables.h"

#include <math.h>

#define EXACT_WINDOWS_FROM	16384
#define SMALL_BASE			32
#define LARGE_CAPACITY		1000000 /* larger filters have windows */
#define WINDOWS_COST		32	/* windows may add 1/32 */

/* Four items need at least 3.5 bytes, so no image has more items than this. */
#define ITEMS_MAX			(2 * CUCKOO_MAX_SIZE)

static uint64_t
round_up(uint64_t n, uint64_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

/* True if each segment is a window: 128 to 255 base buckets. */
static bool
segment_is_window(uint64_t base)
{
	return base >= CUCKOO_WINDOW && base < 2 * CUCKOO_WINDOW;
}

bool
cuckoo_may_have_windows(uint64_t base)
{
	return base % CUCKOO_WINDOW == 0 || segment_is_window(base);
}

/* The buckets for `items` items at load factor 0.95: ceil(items / 3.8). */
static uint64_t
buckets_for(uint64_t items)
{
	return items / 19 * 5 + (items % 19 * 5 + 18) / 19;
}

uint64_t
cuckoo_image_bytes(uint64_t buckets, int bits)
{
	/* the number of buckets is even, so they are whole bytes */
	return CUCKOO_HEADER_SIZE + CUCKOO_TAIL_SIZE +
		buckets / 2 * (uint64_t) (bits - 1);
}

uint64_t
cuckoo_image_size(const CuckooHeader *h)
{
	return cuckoo_image_bytes(h->buckets, h->bits);
}

int
cuckoo_fpp_bits(double fpp)
{
	/* no loop: cf_agg checks the fpp of each row */
	int			exponent;
	double		mantissa = frexp(fpp, &exponent);
	int			bits = 3 - exponent + (mantissa < 0.95);

	return bits > CUCKOO_FIXED_BITS ? bits : CUCKOO_FIXED_BITS;
}

double
cuckoo_fpp_at_capacity(const CuckooHeader *h)
{
	return ldexp(8 * 0.95, -h->fpp_bits);
}

double
cuckoo_fpp_now(const CuckooHeader *h)
{
	return ldexp(2.0 * (double) h->items / h->base, -h->base_bits);
}

uint64_t
cuckoo_capacity(const CuckooHeader *h)
{
	return CUCKOO_TARGET_ITEMS((uint64_t) h->base <<
							   (h->base_bits - h->fpp_bits));
}

uint64_t
cuckoo_max_items(const CuckooHeader *h)
{
	CuckooHeader last = *h;

	while (cuckoo_header_set_level(&last, last.level + 1) == CUCKOO_OK)
		;
	return CUCKOO_TARGET_ITEMS(last.buckets);
}

void
cuckoo_header_derive(CuckooHeader *h)
{
	uint32_t	base_mask = (uint32_t) cuckoo_low_mask(h->base_bits);
	int			lane;

	h->bits = (uint8_t) (h->base_bits - h->level);
	h->buckets = (uint32_t) ((uint64_t) h->base << h->level);
	h->base_inverse = UINT64_MAX / h->base + 1;
	h->mappings = cuckoo_mappings[!h->windows ? CUCKOO_NO_WINDOWS :
								  segment_is_window(h->base) ? CUCKOO_SEGMENTS
								  : CUCKOO_WINDOWS];
	h->level_mask = (UINT32_C(1) << h->level) - 1;
	h->ext_mask = base_mask &
		~(uint32_t) cuckoo_low_mask(CUCKOO_FIXED_BITS + h->level);
	if (h->bits > CUCKOO_NARROW_BITS)
		h->kind = CUCKOO_ANY;
	else if (h->bits % 2 == 1)
		h->kind = h->level > 0 ? CUCKOO_WHOLE_GROWN : CUCKOO_WHOLE;
	else
		h->kind = h->level > 0 ? CUCKOO_SHARED_GROWN : CUCKOO_SHARED;
	h->bucket_bits = 4 * (uint32_t) h->bits - 4;
	h->bucket_bytes = h->bucket_bits / 8;
	h->lane_mask = base_mask & ~UINT32_C(15);

	lane = h->bits - 4;
	h->lane_size = UINT64_C(1) << lane;
	h->lane_ones = UINT64_C(1) | h->lane_size;
	h->lane_gather = 0;
	if (h->bits <= CUCKOO_NARROW_BITS)
	{
		h->lane_ones |= h->lane_ones << 2 * lane;
		h->lane_ones <<= CUCKOO_CODE_BITS;
		h->lane_gather = UINT64_C(1) | UINT64_C(1) << (lane - 1) |
			UINT64_C(1) << 2 * (lane - 1) | UINT64_C(1) << 3 * (lane - 1);
		h->lane_gather <<= 4 * (CUCKOO_NARROW_BITS - h->bits);
	}
	h->lane_factor = h->lane_ones >> 4;
	h->lane_tops = h->lane_ones << (lane - 1);
	h->lane_rest = h->lane_tops - h->lane_ones;
}

CuckooStatus
cuckoo_header_set_level(CuckooHeader *h, int level)
{
	int			bits = h->base_bits - level;
	uint64_t	buckets;

	CUCKOO_ASSERT(level >= 0);
	if (bits < CUCKOO_FIXED_BITS)
		return CUCKOO_LAST_LEVEL;
	buckets = (uint64_t) h->base << level;
	if (cuckoo_image_bytes(buckets, bits) > CUCKOO_MAX_SIZE)
		return CUCKOO_TOO_LARGE;
	h->level = (uint8_t) level;
	cuckoo_header_derive(h);
	return CUCKOO_OK;
}

static CuckooStatus
header_init(CuckooHeader *h, uint64_t base, bool windows, int base_bits,
			int fpp_bits, uint64_t seed)
{
	if (cuckoo_image_bytes(base, base_bits) > CUCKOO_MAX_SIZE)
		return CUCKOO_TOO_LARGE;
	memset(h, 0, sizeof(*h));
	h->seed = seed;
	h->base = (uint32_t) base;
	h->windows = windows;
	h->base_bits = (uint8_t) base_bits;
	h->fpp_bits = (uint8_t) fpp_bits;
	return cuckoo_header_set_level(h, 0);
}

/*
 * An exact fit of at least `buckets` buckets.  Below 16384 buckets it has no
 * windows: up to 127 buckets more would cost over 1% of space, and the filter
 * is in the processor's cache anyway.
 */
static CuckooStatus
exact_init(CuckooHeader *h, uint64_t buckets, int bits, uint64_t seed)
{
	uint64_t	base = round_up(buckets, 2);
	bool		windows = base >= EXACT_WINDOWS_FROM;

	if (windows)
		base = round_up(base, CUCKOO_WINDOW);
	return header_init(h, base, windows, bits, bits, seed);
}

CuckooStatus
cuckoo_header_exact(CuckooHeader *h, uint64_t items, int fpp_bits,
					uint64_t seed)
{
	if (items > ITEMS_MAX)
		return CUCKOO_TOO_LARGE;
	return exact_init(h, buckets_for(items > 0 ? items : 1), fpp_bits, seed);
}

CuckooStatus
cuckoo_header_enlarge(CuckooHeader *h, int percent)
{
	uint64_t	base = (uint64_t) h->base +
		(uint64_t) h->base * (uint64_t) percent / 100 + 2;
	uint8_t		family = h->family;
	uint16_t	tag = h->tag;
	CuckooStatus status;

	status = exact_init(h, base, h->fpp_bits, h->seed);
	h->family = family;
	h->tag = tag;
	return status;
}

/*
 * Chooses m0 by halving the buckets for the capacity.  Up to a capacity of a
 * million, 32 to 63 base buckets remain.  Above it 128 to 255 remain, so each
 * segment is a window.  The halvings end earlier if fingerprints get 32 bits.
 * Then m0 is rounded up to an even number, or for windows to a multiple of 128;
 * halvings are undone while this adds more than 1/32.
 *
 *	capacity	bits	buckets		doublings	base buckets	f0
 *	1e6			13		263158		13			33 -> 34		26
 *	3e7			13		7894737		15			241 -> 242		28
 *	3e7			27		7894737		5			246711 -> 246784	32
 */
CuckooStatus
cuckoo_header_sized(CuckooHeader *h, uint64_t capacity, int fpp_bits,
					uint64_t seed)
{
	uint64_t	wanted = buckets_for(capacity > 0 ? capacity : 1);
	bool		large = capacity > LARGE_CAPACITY;
	uint64_t	least = large ? CUCKOO_WINDOW : SMALL_BASE;
	uint64_t	base;
	bool		windows;
	int			bits = fpp_bits;	/* fingerprint bits at capacity */
	int			doublings = 0;

	if (capacity > ITEMS_MAX)
		return CUCKOO_TOO_LARGE;

	/*
	 * Repeated elements, or bad luck in a small filter, may fill a filter
	 * before its capacity.  So there is always a bit to grow by.
	 */
	if (bits == CUCKOO_FIXED_BITS)
		bits++;
	while (wanted >> (doublings + 1) >= least &&
		   bits + doublings < CUCKOO_MAX_BITS)
		doublings++;
	for (;; doublings--)
	{
		uint64_t	parts = UINT64_C(1) << doublings;
		uint64_t	exact = (wanted + parts - 1) / parts;

		windows = large || exact >= WINDOWS_COST * CUCKOO_WINDOW;
		base = round_up(exact, windows && exact > 2 * CUCKOO_WINDOW ?
						CUCKOO_WINDOW : 2);
		if (!windows || (base - exact) * WINDOWS_COST <= exact)
			break;
	}
	if (cuckoo_image_bytes(base << doublings, bits) > CUCKOO_MAX_SIZE)
		return CUCKOO_TOO_LARGE;
	return header_init(h, base, windows, bits + doublings, fpp_bits, seed);
}

uint64_t
cuckoo_max_capacity(int fpp_bits)
{
	CuckooHeader h;
	uint64_t	fits = 1;
	uint64_t	too_large = ITEMS_MAX + 1;

	while (too_large - fits > 1)
	{
		uint64_t	middle = (fits + too_large) / 2;

		if (cuckoo_header_sized(&h, middle, fpp_bits, 0) == CUCKOO_OK)
			fits = middle;
		else
			too_large = middle;
	}
	return fits;
}
