/*-------------------------------------------------------------------------
 *
 * unit.h
 *		What the unit tests of the core share: counted checks, a replayable
 *		random generator, a filter in malloc'ed memory.
 *
 * usage of every test: test_x [seed [long]]
 *
 * Without a seed (or with 0) the clock gives one; it is printed, and the same
 * seed runs the same test again.  With a second argument some tests take
 * larger sizes and more rounds.  The last line of the output is "N passed, N
 * failed", which counts what TEST ran; the exit status is 1 if one failed.  Only
 * the first failures are printed.
 *
 * Images are allocated with exactly their size, so that an address sanitizer
 * sees the first byte read or written beyond one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef UNIT_H
#define UNIT_H

#include "core/core.h"
#include "shrink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNIT_SHOWN_FAILURES 20

static uint64_t unit_checks;
static uint64_t unit_failures;
static int	unit_tests;
static int	unit_failed_tests;
static uint64_t unit_seed;
static uint64_t unit_state;
static const uint8_t *unit_input;	/* of a fuzzer: decides in place of chance */
static size_t unit_left;
static bool unit_long;

static inline void
unit_fail(const char *file, int line, const char *what, const char *fmt,...)
{
	va_list		args;

	if (++unit_failures > UNIT_SHOWN_FAILURES)
		return;
	printf("FAILED %s:%d: %s: ", file, line, what);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(" (seed %" PRIu64 ")\n", unit_seed);
	fflush(stdout);
}

/* Counts a check; format and arguments say where, should it fail. */
#define CHECK(condition, ...) \
	do { \
		unit_checks++; \
		if (!(condition)) \
			unit_fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
	} while (0)

/* Runs a function of checks as one test, which passes if all of them do. */
#define TEST(call) \
	do { \
		uint64_t	before = unit_failures; \
		call; \
		unit_tests++; \
		unit_failed_tests += unit_failures > before; \
	} while (0)

static inline uint64_t
unit_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number from so many bytes of a fuzzer's input, or from those left. */
static inline uint64_t
unit_take(int bytes)
{
	uint64_t	v = 0;

	for (; bytes > 0 && unit_left > 0; bytes--, unit_left--)
		v = v << 8 | *unit_input++;
	return v;
}

/* splitmix64; from a fuzzer's input, mostly one of 224 numbers */
static inline uint64_t
unit_random(void)
{
	if (unit_left > 0)
	{
		uint64_t	byte = unit_take(1);

		return byte < 0xe0 ? unit_mix(byte + 1) : unit_take(8);
	}
	return unit_mix(unit_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 .. n - 1 */
static inline uint64_t
unit_below(uint64_t n)
{
	if (unit_left > 0)
		return unit_take(n <= 0x100 ? 1 : n <= 0x10000 ? 2 : 8) % n;
	return unit_random() % n;
}

static inline void
unit_begin(int argc, char **argv, const char *name)
{
	struct timespec now;

	if (argc > 1)
		unit_seed = strtoull(argv[1], NULL, 10);
	if (unit_seed == 0)
	{
		timespec_get(&now, TIME_UTC);
		unit_seed = unit_mix((uint64_t) now.tv_sec * 1000000007 +
							 (uint64_t) now.tv_nsec) >> 24;
	}
	unit_state = unit_mix(unit_seed);
	unit_long = argc > 2;
	printf("%s: seed %" PRIu64 "%s\n", name, unit_seed,
		   unit_long ? ", long" : "");
}

static inline int
unit_end(void)
{
	printf("%" PRIu64 " checks, %" PRIu64 " failed\n", unit_checks,
		   unit_failures);
	printf("%d passed, %d failed\n", unit_tests - unit_failed_tests,
		   unit_failed_tests);
	return unit_failures > 0;
}

static inline void *
unit_alloc(uint64_t size)
{
	void	   *p = calloc(1, size > 0 ? size : 1);

	if (p == NULL)
	{
		printf("out of memory\n");
		exit(2);
	}
	return p;
}

/* A filter and its image; elements are taken for integers. */
typedef struct UnitFilter
{
	CuckooHeader h;
	uint8_t    *image;
} UnitFilter;

/* The rule of the format for windows. */
static inline bool
unit_may_have_windows(uint32_t base)
{
	return base % 128 == 0 || (base > 128 && base < 256);
}

/*
 * A header at level 0, put together without the geometry rules, with windows if
 * it may have them.
 */
static inline CuckooHeader
unit_header(uint32_t base, int base_bits, int fpp_bits)
{
	CuckooHeader h = {0};

	h.base = base;
	h.windows = unit_may_have_windows(base);
	h.base_bits = (uint8_t) base_bits;
	h.fpp_bits = (uint8_t) fpp_bits;
	cuckoo_header_derive(&h);
	return h;
}

static inline void
unit_filter_init(UnitFilter *f, const CuckooHeader *h)
{
	f->h = *h;
	f->h.family = CUCKOO_FAMILY_INTEGER;
	f->image = unit_alloc(cuckoo_image_size(h));
	cuckoo_header_write(&f->h, f->image);
}

static inline void
unit_filter_free(UnitFilter *f)
{
	free(f->image);
	f->image = NULL;
}

static inline CuckooStatus
unit_filter_grow(UnitFilter *f)
{
	CuckooHeader h = f->h;
	CuckooStatus status = cuckoo_header_set_level(&h, f->h.level + 1);
	uint8_t    *image;

	if (status != CUCKOO_OK)
		return status;
	image = unit_alloc(cuckoo_image_size(&h));
	cuckoo_grow(&f->h, f->image, &h, image);
	free(f->image);
	f->h = h;
	f->image = image;
	return CUCKOO_OK;
}

/* One level down, unless the filter does not fit there. */
static inline CuckooStatus
unit_filter_shrink(UnitFilter *f)
{
	CuckooHeader h = f->h;
	CuckooStatus status = cuckoo_header_set_level(&h, f->h.level - 1);
	uint8_t    *image;

	if (status != CUCKOO_OK)
		return status;
	image = unit_alloc(cuckoo_image_size(&h));
	status = unit_shrink(&f->h, f->image, &h, image);
	if (status != CUCKOO_OK)
	{
		free(image);
		return status;
	}
	free(f->image);
	f->h = h;
	f->image = image;
	return CUCKOO_OK;
}

/*
 * Validates an image with the checksum that its other bytes should have, because
 * changes do not write it.  Leaves the image as it was.
 */
static inline CuckooStatus
unit_validate(uint8_t *image, uint64_t size)
{
	uint8_t    *tail = image + size - CUCKOO_TAIL_SIZE;
	uint64_t	before = cuckoo_load64(tail);
	CuckooStatus status;

	cuckoo_checksum_write(image, size);
	status = cuckoo_validate(image, size);
	cuckoo_store64(tail, before);
	return status;
}

/* Inserts; grows the filter as often as it is full. */
static inline CuckooStatus
unit_filter_add(UnitFilter *f, uint64_t hash, int max_copies)
{
	CuckooStatus status;

	while ((status = cuckoo_insert(&f->h, f->image, hash, max_copies)) ==
		   CUCKOO_FULL)
	{
		status = unit_filter_grow(f);
		if (status != CUCKOO_OK)
			break;
	}
	return status;
}

#endif							/* UNIT_H */
