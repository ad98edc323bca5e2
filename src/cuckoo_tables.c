/*-------------------------------------------------------------------------
 *
 * cuckoo_tables.c
 *		The constant tables of the core, filled in by the preprocessor.
 *
 * nibbles[code] is the sorted quadruple of nibbles with number `code`, slot 0
 * in the low bits.  Quadruples are numbered in lexicographic order: 0000 is 0,
 * 0001 is 1, and ffff is 3875.  So the table is the list of quadruples in that
 * order.  It has an entry for each of the 4096 values of 12 bits, because
 * lookups in a corrupt image do not check the code.  The last 220 entries are
 * zero.
 *
 * code_terms and zero_codes give codes for nibbles.  For code_terms see below.
 * zero_codes gives the number of a quadruple that begins with zero, by its
 * other three nibbles in ascending order.
 *
 * cuckoo_moves[...][core] leads from one bucket to the other, see
 * cuckoo_index.h.  Its hash is the splitmix64 finalizer (Steele, Lea, Flood:
 * Fast splittable pseudorandom number generators, OOPSLA 2014, with Stafford's
 * constants).  A core of 0 is replaced by 1 and has the same entries.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_format.h"
#include "cuckoo_tables.h"

/*
 * Dn(p) lists the quadruples that begin with the three nibbles in p and end
 * with a nibble of at least n.  Cn(p) and Bn(p) do the same for the last two
 * and three nibbles.
 */
#define D15(p) (p) | 15 << 12
#define D14(p) (p) | 14 << 12, D15(p)
#define D13(p) (p) | 13 << 12, D14(p)
#define D12(p) (p) | 12 << 12, D13(p)
#define D11(p) (p) | 11 << 12, D12(p)
#define D10(p) (p) | 10 << 12, D11(p)
#define D9(p) (p) | 9 << 12, D10(p)
#define D8(p) (p) | 8 << 12, D9(p)
#define D7(p) (p) | 7 << 12, D8(p)
#define D6(p) (p) | 6 << 12, D7(p)
#define D5(p) (p) | 5 << 12, D6(p)
#define D4(p) (p) | 4 << 12, D5(p)
#define D3(p) (p) | 3 << 12, D4(p)
#define D2(p) (p) | 2 << 12, D3(p)
#define D1(p) (p) | 1 << 12, D2(p)
#define D0(p) (p) | 0 << 12, D1(p)

#define C15(p) D15((p) | 15 << 8)
#define C14(p) D14((p) | 14 << 8), C15(p)
#define C13(p) D13((p) | 13 << 8), C14(p)
#define C12(p) D12((p) | 12 << 8), C13(p)
#define C11(p) D11((p) | 11 << 8), C12(p)
#define C10(p) D10((p) | 10 << 8), C11(p)
#define C9(p) D9((p) | 9 << 8), C10(p)
#define C8(p) D8((p) | 8 << 8), C9(p)
#define C7(p) D7((p) | 7 << 8), C8(p)
#define C6(p) D6((p) | 6 << 8), C7(p)
#define C5(p) D5((p) | 5 << 8), C6(p)
#define C4(p) D4((p) | 4 << 8), C5(p)
#define C3(p) D3((p) | 3 << 8), C4(p)
#define C2(p) D2((p) | 2 << 8), C3(p)
#define C1(p) D1((p) | 1 << 8), C2(p)
#define C0(p) D0((p) | 0 << 8), C1(p)

#define B15(p) C15((p) | 15 << 4)
#define B14(p) C14((p) | 14 << 4), B15(p)
#define B13(p) C13((p) | 13 << 4), B14(p)
#define B12(p) C12((p) | 12 << 4), B13(p)
#define B11(p) C11((p) | 11 << 4), B12(p)
#define B10(p) C10((p) | 10 << 4), B11(p)
#define B9(p) C9((p) | 9 << 4), B10(p)
#define B8(p) C8((p) | 8 << 4), B9(p)
#define B7(p) C7((p) | 7 << 4), B8(p)
#define B6(p) C6((p) | 6 << 4), B7(p)
#define B5(p) C5((p) | 5 << 4), B6(p)
#define B4(p) C4((p) | 4 << 4), B5(p)
#define B3(p) C3((p) | 3 << 4), B4(p)
#define B2(p) C2((p) | 2 << 4), B3(p)
#define B1(p) C1((p) | 1 << 4), B2(p)
#define B0(p) C0((p) | 0 << 4), B1(p)

#define QUADRUPLES \
	B0(0), B1(1), B2(2), B3(3), B4(4), B5(5), B6(6), B7(7), \
	B8(8), B9(9), B10(10), B11(11), B12(12), B13(13), B14(14), B15(15)

#define QUADRUPLES_SIZE sizeof((const uint16_t[]) {QUADRUPLES})

_Static_assert(QUADRUPLES_SIZE == CUCKOO_CODES * sizeof(uint16_t),
			   "all sorted quadruples, each once");
_Static_assert(sizeof(((CuckooTables *) 0)->nibbles) ==
			   (CUCKOO_CODE_MASK + 1) * sizeof(uint16_t),
			   "an entry for whatever 12 bits can be");

#define ROW16(M, r) \
	M(r##0), M(r##1), M(r##2), M(r##3), M(r##4), M(r##5), M(r##6), M(r##7), \
	M(r##8), M(r##9), M(r##a), M(r##b), M(r##c), M(r##d), M(r##e), M(r##f)
#define ROW256(M, r) \
	ROW16(M, r##0), ROW16(M, r##1), ROW16(M, r##2), ROW16(M, r##3), \
	ROW16(M, r##4), ROW16(M, r##5), ROW16(M, r##6), ROW16(M, r##7), \
	ROW16(M, r##8), ROW16(M, r##9), ROW16(M, r##a), ROW16(M, r##b), \
	ROW16(M, r##c), ROW16(M, r##d), ROW16(M, r##e), ROW16(M, r##f)

/* The low nibble of a core, in all four places.  1 replaces a core of 0. */
#define CORE(c)	((c) != 0 ? (c) % 16 : 1) * 0x1111

/*
 * The combinatorial number system gives the number of quadruples after a
 * quadruple a <= b <= c <= d.  It is C(18 - a, 4) + C(17 - b, 3) + C(16 - c, 2)
 * + (15 - d).  The code is 3875 less that: LOWER(a | b << 4) - UPPER(c | d <<
 * 4).  ZERO_CODE is that for a = 0, which means nothing where the nibbles are
 * not in order.
 */
#define LOWER(n) \
	(3875 - (18 - (n) % 16) * (17 - (n) % 16) * (16 - (n) % 16) * \
	 (15 - (n) % 16) / 24 - \
	 (17 - (n) / 16) * (16 - (n) / 16) * (15 - (n) / 16) / 6)
#define UPPER(n) ((16 - (n) % 16) * (15 - (n) % 16) / 2 + 15 - (n) / 16)
#define ZERO_CODE(n) (uint16_t) (LOWER((n) % 16 * 16) - UPPER((n) / 16))

const CuckooTables cuckoo_tables = {
	.nibbles = {QUADRUPLES},
	.core_nibbles = {ROW256(CORE, 0x)},
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

const CuckooMove cuckoo_moves[CUCKOO_MOVES][256] = {
	[CUCKOO_NO_WINDOWS] = {ROW256(FAR, 0x)},
	[CUCKOO_SEGMENTS] = {ROW256(IN_SEGMENT, 0x)},
	[CUCKOO_WINDOWS] = {ROW256(IN_WINDOW, 0x)}
};
