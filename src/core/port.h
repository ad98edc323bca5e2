/*-------------------------------------------------------------------------
 *
 * core/port.h
 *		All code for a particular compiler, processor or host program.
 *
 * CUCKOO_IN_POSTGRES: long loops handle cancel requests, and a failed
 * assertion is an error.  Otherwise (unit tests, fuzzers, clients) there are
 * no cancel requests, and assertions are off unless the compiler's options
 * define CUCKOO_ASSERT.  CUCKOO_PORTABLE selects the twin in plain C of each
 * intrinsic, for tests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PORT_H
#define CUCKOO_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef CUCKOO_IN_POSTGRES

/* Defined in error.c.  It may not return: a cancel request raises an error. */
extern void cuckoo_check_interrupts(void);
extern void cuckoo_assert_failed(const char *condition, const char *file,
								 int line);

#ifdef CUCKOO_ASSERTS
#define CUCKOO_ASSERT(c) \
	((c) ? (void) 0 : cuckoo_assert_failed(#c, __FILE__, __LINE__))
#endif

#else							/* the core alone */

static inline void
cuckoo_check_interrupts(void)
{
}

#endif

#ifndef CUCKOO_ASSERT
#define CUCKOO_ASSERT(c) ((void) 0)
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(CUCKOO_PORTABLE)
#define CUCKOO_GNU 1
#else
#define CUCKOO_GNU 0
#endif

/* Checks for interrupts in every 65536th step of a loop; n counts the steps. */
static inline void
cuckoo_pause(uint64_t n)
{
	if (n % 65536 == 0)
		cuckoo_check_interrupts();
}

/*
 * A limit.  Fuzzers use a lower one (CUCKOO_FUZZING), because small inputs
 * should exceed it.
 */
#ifdef CUCKOO_FUZZING
#define CUCKOO_LIMIT(usual, fuzzing)	(fuzzing)
#else
#define CUCKOO_LIMIT(usual, fuzzing)	(usual)
#endif

/*
 * CUCKOO_INLINE: callers specialize the function by a constant argument, or a
 * call would pass a struct through memory.  CUCKOO_NOINLINE: if inlined, the
 * function would need registers of the caller's fast path.  CUCKOO_INTERNAL:
 * only files of the core call the function, and the linker cannot replace it by
 * a function of another library.
 */
#if CUCKOO_GNU
#define CUCKOO_PREFETCH(p)	__builtin_prefetch(p)
#define CUCKOO_HIDE(x)		__asm__("" : "+r" (x))
#define CUCKOO_LIKELY(c)	__builtin_expect((c) != 0, 1)
#define CUCKOO_UNLIKELY(c)	__builtin_expect((c) != 0, 0)
#define CUCKOO_INLINE		inline __attribute__((always_inline))
#define CUCKOO_NOINLINE		__attribute__((noinline))
#define CUCKOO_INTERNAL		__attribute__((visibility("hidden")))
#else
#define CUCKOO_PREFETCH(p)	((void) (p))
#define CUCKOO_HIDE(x)		((void) (x))
#define CUCKOO_LIKELY(c)	(c)
#define CUCKOO_UNLIKELY(c)	(c)
#define CUCKOO_INLINE		inline
#define CUCKOO_NOINLINE
#define CUCKOO_INTERNAL
#endif

/*
 * Hides the origin of x from the optimizer.  Otherwise clang makes a branch
 * from a mask that a comparison has computed.
 */
static inline uint64_t
cuckoo_opaque(uint64_t x)
{
	CUCKOO_HIDE(x);
	return x;
}

/*
 * Returns a if c, else b, by a conditional move instead of a branch, because c
 * is unpredictable.
 */
static inline uint64_t
cuckoo_select(bool c, uint64_t a, uint64_t b)
{
#if CUCKOO_GNU && defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
	return __builtin_expect_with_probability(c, 1, 0.5) ? a : b;
#endif
#endif
	return b ^ ((a ^ b) & (0 - (uint64_t) c));
}

/* Every x86-64 processor has vector registers of two words. */
#if ((defined(__x86_64__) && defined(__SSE2__)) || defined(_M_X64)) && \
	!defined(CUCKOO_PORTABLE)
#include <emmintrin.h>
#define CUCKOO_SSE2 1
#else
#define CUCKOO_SSE2 0
#endif

/*
 * All numbers of an image are little-endian and unaligned.  If the byte order
 * of the machine is another one or unknown, they are assembled byte by byte.
 */
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && \
	__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(CUCKOO_PORTABLE)
#define CUCKOO_LITTLE_ENDIAN 1
#else
#define CUCKOO_LITTLE_ENDIAN 0
#endif

#if defined(__SIZEOF_INT128__) && !defined(CUCKOO_PORTABLE)
#define CUCKOO_INT128 1
__extension__ typedef unsigned __int128 cuckoo_uint128;
#else
#define CUCKOO_INT128 0
#endif

/* floor(hash * m / 2^64) */
static inline uint32_t
cuckoo_scale(uint64_t hash, uint32_t m)
{
#if CUCKOO_INT128
	return (uint32_t) ((cuckoo_uint128) hash * m >> 64);
#else
	uint64_t	low = (hash & 0xffffffff) * m;

	return (uint32_t) (((hash >> 32) * m + (low >> 32)) >> 32);
#endif
}

/* Reads 8 bytes.  For a shorter number at p, cast the result. */
static inline uint64_t
cuckoo_load64(const uint8_t *p)
{
	uint64_t	v = 0;

	if (CUCKOO_LITTLE_ENDIAN)
		memcpy(&v, p, 8);
	else
		for (int i = 7; i >= 0; i--)
			v = v << 8 | p[i];
	return v;
}

static inline void
cuckoo_store64(uint8_t *p, uint64_t v)
{
	if (CUCKOO_LITTLE_ENDIAN)
		memcpy(p, &v, 8);
	else
		for (int i = 0; i < 8; i++)
			p[i] = (uint8_t) (v >> 8 * i);
}

static inline void
cuckoo_store32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t) (v >> 8 * i);
}

static inline void
cuckoo_store16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t) v;
	p[1] = (uint8_t) (v >> 8);
}

#endif							/* CUCKOO_PORT_H */
