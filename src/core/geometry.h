/*-------------------------------------------------------------------------
 *
 * core/geometry.h
 *		The geometry of a filter: how many buckets it has and how many bits each
 *		fingerprint, by the number of elements, the rate and the growth level.
 *
 * FORMAT.md defines it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_GEOMETRY_H
#define CUCKOO_GEOMETRY_H

#include "core/format.h"

/*
 * The items at load factor 0.95, for which a filter is sized: 3.8 of the 4
 * slots of a bucket.  In tables of 512 buckets and more, the first failed
 * inserts were seen at load factor 0.952.
 */
#define CUCKOO_TARGET_ITEMS(buckets)	((uint64_t) (buckets) * 19 / 5)

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
 * not be 0.  cuckoo_header_read() and cuckoo_header_set_level() check them.
 */
extern void cuckoo_header_derive(CuckooHeader *h);

/* Sets the growth level and the fields derived from it; items do not change. */
extern CuckooStatus cuckoo_header_set_level(CuckooHeader *h, int level);

/*
 * The least f >= 8 with 8 * 0.95 / 2^f <= fpp.  So many fingerprint bits keep
 * the false-positive rate at load factor 0.95 at or below fpp.  The fpp must be
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
