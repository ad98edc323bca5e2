/*-------------------------------------------------------------------------
 *
 * core/tables.c
 *		The constant tables of the core, computed by the preprocessor.
 *
 * Quadruples of nibbles are numbered in lexicographic order: 0000 is 0, 0001
 * is 1, ffff is 3875.  nibbles[] also has entries for the other 220 values of
 * 12 bits, because lookups in a corrupt image do not check the code.
 *
 *-------------------------------------------------------------------------
 */
#include "core/tables.h"

/*
 * Dn(M, a, b, c) lists M(a, b, c, d) for each nibble d >= n.  Cn(M, a, b)
 * lists it for all c and d with n <= c <= d, and Bn(M, a) for n <= b <= c <=
 * d.
 */
#define D15(M, ...) M(__VA_ARGS__, 15)
#define D14(M, ...) M(__VA_ARGS__, 14), D15(M, __VA_ARGS__)
#define D13(M, ...) M(__VA_ARGS__, 13), D14(M, __VA_ARGS__)
#define D12(M, ...) M(__VA_ARGS__, 12), D13(M, __VA_ARGS__)
#define D11(M, ...) M(__VA_ARGS__, 11), D12(M, __VA_ARGS__)
#define D10(M, ...) M(__VA_ARGS__, 10), D11(M, __VA_ARGS__)
#define D9(M, ...) M(__VA_ARGS__, 9), D10(M, __VA_ARGS__)
#define D8(M, ...) M(__VA_ARGS__, 8), D9(M, __VA_ARGS__)
#define D7(M, ...) M(__VA_ARGS__, 7), D8(M, __VA_ARGS__)
#define D6(M, ...) M(__VA_ARGS__, 6), D7(M, __VA_ARGS__)
#define D5(M, ...) M(__VA_ARGS__, 5), D6(M, __VA_ARGS__)
#define D4(M, ...) M(__VA_ARGS__, 4), D5(M, __VA_ARGS__)
#define D3(M, ...) M(__VA_ARGS__, 3), D4(M, __VA_ARGS__)
#define D2(M, ...) M(__VA_ARGS__, 2), D3(M, __VA_ARGS__)
#define D1(M, ...) M(__VA_ARGS__, 1), D2(M, __VA_ARGS__)
#define D0(M, ...) M(__VA_ARGS__, 0), D1(M, __VA_ARGS__)

#define C15(M, ...) D15(M, __VA_ARGS__, 15)
#define C14(M, ...) D14(M, __VA_ARGS__, 14), C15(M, __VA_ARGS__)
#define C13(M, ...) D13(M, __VA_ARGS__, 13), C14(M, __VA_ARGS__)
#define C12(M, ...) D12(M, __VA_ARGS__, 12), C13(M, __VA_ARGS__)
#define C11(M, ...) D11(M, __VA_ARGS__, 11), C12(M, __VA_ARGS__)
#define C10(M, ...) D10(M, __VA_ARGS__, 10), C11(M, __VA_ARGS__)
#define C9(M, ...) D9(M, __VA_ARGS__, 9), C10(M, __VA_ARGS__)
#define C8(M, ...) D8(M, __VA_ARGS__, 8), C9(M, __VA_ARGS__)
#define C7(M, ...) D7(M, __VA_ARGS__, 7), C8(M, __VA_ARGS__)
#define C6(M, ...) D6(M, __VA_ARGS__, 6), C7(M, __VA_ARGS__)
#define C5(M, ...) D5(M, __VA_ARGS__, 5), C6(M, __VA_ARGS__)
#define C4(M, ...) D4(M, __VA_ARGS__, 4), C5(M, __VA_ARGS__)
#define C3(M, ...) D3(M, __VA_ARGS__, 3), C4(M, __VA_ARGS__)
#define C2(M, ...) D2(M, __VA_ARGS__, 2), C3(M, __VA_ARGS__)
#define C1(M, ...) D1(M, __VA_ARGS__, 1), C2(M, __VA_ARGS__)
#define C0(M, ...) D0(M, __VA_ARGS__, 0), C1(M, __VA_ARGS__)

#define B15(M, ...) C15(M, __VA_ARGS__, 15)
#define B14(M, ...) C14(M, __VA_ARGS__, 14), B15(M, __VA_ARGS__)
#define B13(M, ...) C13(M, __VA_ARGS__, 13), B14(M, __VA_ARGS__)
#define B12(M, ...) C12(M, __VA_ARGS__, 12), B13(M, __VA_ARGS__)
#define B11(M, ...) C11(M, __VA_ARGS__, 11), B12(M, __VA_ARGS__)
#define B10(M, ...) C10(M, __VA_ARGS__, 10), B11(M, __VA_ARGS__)
#define B9(M, ...) C9(M, __VA_ARGS__, 9), B10(M, __VA_ARGS__)
#define B8(M, ...) C8(M, __VA_ARGS__, 8), B9(M, __VA_ARGS__)
#define B7(M, ...) C7(M, __VA_ARGS__, 7), B8(M, __VA_ARGS__)
#define B6(M, ...) C6(M, __VA_ARGS__, 6), B7(M, __VA_ARGS__)
#define B5(M, ...) C5(M, __VA_ARGS__, 5), B6(M, __VA_ARGS__)
#define B4(M, ...) C4(M, __VA_ARGS__, 4), B5(M, __VA_ARGS__)
#define B3(M, ...) C3(M, __VA_ARGS__, 3), B4(M, __VA_ARGS__)
#define B2(M, ...) C2(M, __VA_ARGS__, 2), B3(M, __VA_ARGS__)
#define B1(M, ...) C1(M, __VA_ARGS__, 1), B2(M, __VA_ARGS__)
#define B0(M, ...) C0(M, __VA_ARGS__, 0), B1(M, __VA_ARGS__)

#define QUADRUPLE(a, b, c, d) (a) | (b) << 4 | (c) << 8 | (d) << 12
#define QUADRUPLES \
	B0(QUADRUPLE, 0), B1(QUADRUPLE, 1), B2(QUADRUPLE, 2), B3(QUADRUPLE, 3), \
	B4(QUADRUPLE, 4), B5(QUADRUPLE, 5), B6(QUADRUPLE, 6), B7(QUADRUPLE, 7), \
	B8(QUADRUPLE, 8), B9(QUADRUPLE, 9), B10(QUADRUPLE, 10), \
	B11(QUADRUPLE, 11), B12(QUADRUPLE, 12), B13(QUADRUPLE, 13), \
	B14(QUADRUPLE, 14), B15(QUADRUPLE, 15)

#define QUADRUPLES_SIZE sizeof((const uint16_t[]) {QUADRUPLES})

_Static_assert(QUADRUPLES_SIZE == CUCKOO_CODES * sizeof(uint16_t),
			   "all sorted quadruples, each once");
_Static_assert(sizeof(((CuckooTables *) 0)->nibbles) ==
			   (CUCKOO_CODE_MASK + 1) * sizeof(uint16_t),
			   "an entry for each value of 12 bits");

#define ROW16(M, r) \
	M(r##0), M(r##1), M(r##2), M(r##3), M(r##4), M(r##5), M(r##6), M(r##7), \
	M(r##8), M(r##9), M(r##a), M(r##b), M(r##c), M(r##d), M(r##e), M(r##f)
#define ROW256(M, r) \
	ROW16(M, r##0), ROW16(M, r##1), ROW16(M, r##2), ROW16(M, r##3), \
	ROW16(M, r##4), ROW16(M, r##5), ROW16(M, r##6), ROW16(M, r##7), \
	ROW16(M, r##8), ROW16(M, r##9), ROW16(M, r##a), ROW16(M, r##b), \
	ROW16(M, r##c), ROW16(M, r##d), ROW16(M, r##e), ROW16(M, r##f)

/* The low nibble of a fixed byte, four times.  0 is replaced by 1. */
#define FIXED(c)	((c) != 0 ? (c) % 16 : 1) * 0x1111

/*
 * In the combinatorial number system, C(18 - a, 4) + C(17 - b, 3) + C(16 - c,
 * 2) + (15 - d) quadruples follow a <= b <= c <= d.  The code is 3875 minus
 * this: LOWER(a | b << 4) - UPPER(c | d << 4).  ZERO_CODE is the code for a =
 * 0; it is undefined for nibbles that are not in order.
 */
#define FIRST(a) ((18 - (a)) * (17 - (a)) * (16 - (a)) * (15 - (a)) / 24)
#define SECOND(b) ((17 - (b)) * (16 - (b)) * (15 - (b)) / 6)
#define THIRD(c) ((16 - (c)) * (15 - (c)) / 2)
#define LOWER(n) (3875 - FIRST((n) % 16) - SECOND((n) / 16))
#define UPPER(n) (THIRD((n) % 16) + 15 - (n) / 16)
#define ZERO_CODE(n) (uint16_t) (LOWER((n) % 16 * 16) - UPPER((n) / 16))

/*
 * The code of a, b, c and d, which must be literal numbers: F##a is an enum
 * constant for a term of the formula.  Compilers would be slow with thousands
 * of whole formulas.
 */
#define TERMS(n) F##n = FIRST(n), S##n = SECOND(n), T##n = THIRD(n)
enum
{
	TERMS(0), TERMS(1), TERMS(2), TERMS(3), TERMS(4), TERMS(5), TERMS(6),
	TERMS(7), TERMS(8), TERMS(9), TERMS(10), TERMS(11), TERMS(12), TERMS(13),
	TERMS(14), TERMS(15)
};

#define CODE(a, b, c, d) 3860 - F##a - S##b - T##c + d

/*
 * The entry of additions[]: the code of 0, a, b, c with n in place of the 0.
 * Bits 12 and 13: how many of a, b, c equal n.  Bits 14 and 15: how many are
 * less.
 */
#define ADDED(a, b, c, n) \
	(uint16_t) (((n) < (a) ? CODE(n, a, b, c) : \
				 (n) < (b) ? CODE(a, n, b, c) : \
				 (n) < (c) ? CODE(a, b, n, c) : CODE(a, b, c, n)) + \
				(((a) == (n)) + ((b) == (n)) + ((c) == (n))) * 4096 + \
				(((a) < (n)) + ((b) < (n)) + ((c) < (n))) * 16384)
#define ADDITIONS(zero, a, b, c) \
	ADDED(a, b, c, 0), ADDED(a, b, c, 1), ADDED(a, b, c, 2), \
	ADDED(a, b, c, 3), ADDED(a, b, c, 4), ADDED(a, b, c, 5), \
	ADDED(a, b, c, 6), ADDED(a, b, c, 7), ADDED(a, b, c, 8), \
	ADDED(a, b, c, 9), ADDED(a, b, c, 10), ADDED(a, b, c, 11), \
	ADDED(a, b, c, 12), ADDED(a, b, c, 13), ADDED(a, b, c, 14), \
	ADDED(a, b, c, 15)

/*
 * The rows of orders[], by the number of nibbles that equal the new one, and
 * the number of smaller nibbles.  Their sum is at most three; other rows are
 * not used.
 *
 * BIT(f, k, m, n, at) is bit `at` of the lane of slot k, if m <= k <= n, else
 * 0.  BITS(f, m, n, at) has these bits of slots m to n.  Slot 4 is the bits
 * after the bucket, if the word has any.
 */
#define BIT(f, k, m, n, at) \
	((k) >= (m) && (k) <= (n) && (k) * ((f) - 4) + 12 < 64 ? \
	 UINT64_C(1) << ((k) * ((f) - 4) + 12 + (at)) % 64 : 0)
#define BITS(f, m, n, at) \
	(BIT(f, 1, m, n, at) | BIT(f, 2, m, n, at) | BIT(f, 3, m, n, at) | \
	 BIT(f, 4, m, n, at))
#define ORDER(f, equal, smaller) \
	{BITS(f, (smaller) + (equal) + 1, 4, 0), \
	 BITS(f, (smaller) + 1, (smaller) + (equal) < 4 ? (smaller) + (equal) : 3, \
		  (f) - 5)}
#define ORDERS(f) { \
	ORDER(f, 0, 0), ORDER(f, 1, 0), ORDER(f, 2, 0), ORDER(f, 3, 0), \
	ORDER(f, 0, 1), ORDER(f, 1, 1), ORDER(f, 2, 1), ORDER(f, 3, 1), \
	ORDER(f, 0, 2), ORDER(f, 1, 2), ORDER(f, 2, 2), ORDER(f, 3, 2), \
	ORDER(f, 0, 3), ORDER(f, 1, 3), ORDER(f, 2, 3), ORDER(f, 3, 3)}

const CuckooTables cuckoo_tables = {
	.nibbles = {QUADRUPLES},
	.fixed_nibbles = {ROW256(FIXED, 0x)},
	.slot_nibbles = {
		0, 0xf, 0xf0, 0xff, 0xf00, 0xf0f, 0xff0, 0xfff,
		0xf000, 0xf00f, 0xf0f0, 0xf0ff, 0xff00, 0xff0f, 0xfff0, 0xffff
	},
	.up_to_slot = {[1] = 0xf,[2] = 0xff,[4] = 0xfff,[8] = 0xffff},
	.lower_codes = {ROW256(LOWER, 0x)},
	.upper_codes = {ROW256(UPPER, 0x)},
	.zero_codes = {
		ROW256(ZERO_CODE, 0x0), ROW256(ZERO_CODE, 0x1), ROW256(ZERO_CODE, 0x2),
		ROW256(ZERO_CODE, 0x3), ROW256(ZERO_CODE, 0x4), ROW256(ZERO_CODE, 0x5),
		ROW256(ZERO_CODE, 0x6), ROW256(ZERO_CODE, 0x7), ROW256(ZERO_CODE, 0x8),
		ROW256(ZERO_CODE, 0x9), ROW256(ZERO_CODE, 0xa), ROW256(ZERO_CODE, 0xb),
		ROW256(ZERO_CODE, 0xc), ROW256(ZERO_CODE, 0xd), ROW256(ZERO_CODE, 0xe),
		ROW256(ZERO_CODE, 0xf)
	},
	.additions = {B0(ADDITIONS, 0)},
	.orders = {
		ORDERS(8), ORDERS(9), ORDERS(10), ORDERS(11), ORDERS(12),
		ORDERS(13), ORDERS(14), ORDERS(15), ORDERS(16), ORDERS(17)
	}
};

#define MIX1(z) (((z) ^ (z) >> 30) * UINT64_C(0xbf58476d1ce4e5b9))
#define MIX2(z) (((z) ^ (z) >> 27) * UINT64_C(0x94d049bb133111eb))
#define MIX3(z) ((z) ^ (z) >> 31)
#define HASH(c) MIX3(MIX2(MIX1(UINT64_C(c) + (UINT64_C(c) == 0))))
#define FAR(c)	(HASH(c) << 32 | (HASH(c) >> 32 << 8 & 0xffffffff))
#define NEAR(c) ((c) % 4 != 0 || (c) == 0)
#define IN_SEGMENT(c) (NEAR(c) ? HASH(c) << 32 : FAR(c))
#define IN_WINDOW(c) (NEAR(c) ? 1 + HASH(c) % (CUCKOO_WINDOW - 1) : FAR(c))

const CuckooMapping cuckoo_mappings[CUCKOO_MAPPINGS][256] = {
	[CUCKOO_NO_WINDOWS] = {ROW256(FAR, 0x)},
	[CUCKOO_SEGMENTS] = {ROW256(IN_SEGMENT, 0x)},
	[CUCKOO_WINDOWS] = {ROW256(IN_WINDOW, 0x)}
};
