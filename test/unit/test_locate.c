/*-------------------------------------------------------------------------
 *
 * test_locate.c
 *		Locators: every block is decoded from both buckets of its entry, at
 *		every level, and no entry looks like a mark.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "core/locate.h"
#include "core/position.h"
#include "naive.h"
#include "unit.h"

#include <math.h>

/* A random locator, and the header of its pages at level 0. */
static CuckooLocator
random_locator(CuckooHeader *h)
{
	CuckooLocator l = {0};

	for (;;)
	{
		l.base_bits = (uint8_t) (18 + unit_below(15));
		l.page_buckets = 2 + 2 * (uint32_t) unit_below(450);
		l.payload_bits = (uint8_t) unit_below(15);
		l.pages = 1 + (uint32_t) unit_below(100000);
		l.hash_bits = (uint8_t) (32 + unit_below(33));
		if (cuckoo_locator_derive(&l) && l.ext_bits >= CUCKOO_LOCATE_LEAST_EXT)
			break;
	}
	*h = unit_header(l.page_buckets, l.base_bits, 8);
	h->windows = false;
	h->page = (uint16_t) l.page_buckets;
	cuckoo_header_derive(h);
	return l;
}

/* What a page at a level stores of a fingerprint (FORMAT.md: growth). */
static uint32_t
at_level(uint32_t fingerprint, int level)
{
	return fingerprint >> 8 >> level << 8 | (fingerprint & 0xff);
}

static void
check_block(const CuckooLocator *l, const CuckooHeader *h, uint64_t hash,
			uint32_t block, int level)
{
	CuckooLocated at = cuckoo_locate_hash(l, hash);
	CuckooLocation where = cuckoo_locate(l, hash, block);
	uint32_t	core = where.fingerprint & 0xff;
	uint32_t	fp = at_level(where.fingerprint, level);
	uint32_t	partner = naive_other(h->base, h->base, core, where.bucket);
	uint32_t	back = naive_other(h->base, h->base, core, partner);

	CHECK(core >= 1 && core <= 254, "core %" PRIu32, core);
	CHECK(where.number == at.number && where.number < l->pages, "page");
	CHECK(where.bucket < l->page_buckets, "bucket %" PRIu32, where.bucket);
	CHECK((where.fingerprint >> 8 & cuckoo_low_mask(l->ext_bits)) == at.ext,
		  "ext");
	CHECK((uint64_t) where.fingerprint >> l->base_bits == 0, "f0");
	/* stored in either bucket, a reader computes both */
	CHECK(cuckoo_located_block(l, &at, level, fp, where.bucket) ==
		  block % l->modulus,
		  "w %" PRIu32 ", k %d, block %" PRIu32 ", level %d", l->page_buckets,
		  l->payload_bits, block, level);
	CHECK(back == where.bucket && partner != where.bucket, "partner");
	/* blocks that differ by the modulus look alike */
	if (block + l->modulus <= UINT32_MAX)
	{
		CuckooLocation far = cuckoo_locate(l, hash,
										   (uint32_t) (block + l->modulus));

		CHECK(far.number == where.number && far.bucket == where.bucket &&
			  far.fingerprint == where.fingerprint, "block %" PRIu32, block);
	}
	/* without the low bits of the hash */
	where = cuckoo_locate(l, cuckoo_locator_word(l, hash, 0), block);
	CHECK(at_level(where.fingerprint, level) == fp, "hash bits");
}

static void
test_locator(void)
{
	CuckooHeader h;
	CuckooLocator l = random_locator(&h);
	uint64_t	hash = unit_random();
	int			level = (int) unit_below(l.ext_bits + 1u);

	CHECK(l.factor * l.inverse % l.modulus == 1 && l.factor < l.modulus,
		  "m %" PRIu64, l.modulus);
	for (int i = 0; i < (unit_long ? 100000 : 2000); i++)
		check_block(&l, &h, hash, unit_below(2) ? (uint32_t) unit_random()
					: (uint32_t) unit_below(l.modulus), level);
	check_block(&l, &h, hash, 0, level);
	check_block(&l, &h, hash, UINT32_MAX, level);
	CHECK((cuckoo_locate_mark(&l, hash).fingerprint & 0xff) == 255, "mark");
	CHECK(cuckoo_locate_mark(&l, hash).bucket < l.page_buckets, "mark");
}

/*
 * The payload bits are the fewest that tell 16 times the blocks apart, if the
 * ext bits and the limit of the modulus leave so many.
 */
static void
test_payload_bits(void)
{
	CuckooLocator l = {.pages = 1,.hash_bits = 64};
	double		blocks = ldexp(1, (int) unit_below(32)) + (double) unit_below(9);
	int			bits;

	l.base_bits = (uint8_t) (18 + unit_below(15));
	l.page_buckets = 2 + 2 * (uint32_t) unit_below(450);
	bits = cuckoo_locate_payload_bits(l.base_bits, l.page_buckets, blocks);
	l.payload_bits = (uint8_t) bits;
	CHECK(cuckoo_locator_derive(&l) && l.ext_bits >= CUCKOO_LOCATE_LEAST_EXT,
		  "f %d, w %" PRIu32 ", k %d", l.base_bits, l.page_buckets, bits);
	CHECK((double) l.modulus >= 16 * blocks ||
		  l.ext_bits == CUCKOO_LOCATE_LEAST_EXT ||
		  l.modulus > UINT64_C(1) << 31, "too few");
	CHECK(bits == 0 || (double) l.modulus / 2 < 16 * blocks, "too many");
}

/*
 * The mark of a value is that of all values with its page and ext bits, and of
 * no others.
 */
static void
test_marks(void)
{
	CuckooHeader h;
	CuckooLocator l = random_locator(&h);
	uint64_t	hash = unit_random();
	CuckooLocated at = cuckoo_locate_hash(&l, hash);
	CuckooLocation mark = cuckoo_locate_mark(&l, hash);

	for (int i = 0; i < 1000; i++)
	{
		/* on the same page, or nearly so */
		uint64_t	other = hash + unit_random() / l.pages;
		CuckooLocated there = cuckoo_locate_hash(&l, other);
		CuckooLocation its = cuckoo_locate_mark(&l, other);
		bool		same = its.number == mark.number &&
			its.bucket == mark.bucket && its.fingerprint == mark.fingerprint;

		CHECK(same == (there.number == at.number && there.ext == at.ext),
			  "ext %" PRIu32 " and %" PRIu32, at.ext, there.ext);
	}
}

/* All blocks of a small modulus have entries of their own. */
static void
test_all_blocks(uint32_t page_buckets, int payload_bits)
{
	CuckooLocator l = {.pages = 3,.page_buckets = page_buckets,
	.base_bits = 24,.payload_bits = (uint8_t) payload_bits,.hash_bits = 40};
	uint8_t    *seen;

	CHECK(cuckoo_locator_derive(&l), "w %" PRIu32, page_buckets);
	seen = unit_alloc(l.modulus);
	for (uint64_t block = 0; block < l.modulus; block++)
	{
		CuckooLocation at = cuckoo_locate(&l, 42, (uint32_t) block);
		uint64_t	x = (uint64_t) (at.fingerprint >> (8 + l.ext_bits)) *
			l.cells + at.bucket * 254 + (at.fingerprint & 0xff) - 1;

		CHECK(x < l.modulus && !seen[x], "block %" PRIu64, block);
		seen[x] = 1;
	}
	free(seen);
}

/* The example of core/locate.h. */
static void
test_example(void)
{
	CuckooLocator l = {.pages = 1,.page_buckets = 2,.base_bits = 18,
	.payload_bits = 1,.hash_bits = 64};
	CuckooLocated at = {0, 0, 100};

	CHECK(cuckoo_locator_derive(&l) && l.cells == 508 && l.modulus == 1016 &&
		  l.factor == 627 && l.inverse == 619,
		  "factor %" PRIu64 ", inverse %" PRIu64, l.factor, l.inverse);
	CHECK(cuckoo_located_block(&l, &at, 0, UINT32_C(1) << 17 | 204, 1) == 3,
		  "block %" PRIu64,
		  cuckoo_located_block(&l, &at, 0, UINT32_C(1) << 17 | 204, 1));
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_locate");
	naive_init();
	TEST(test_example());
	for (int round = 0; round < 200; round++)
	{
		TEST(test_locator());
		TEST(test_payload_bits());
		TEST(test_marks());
	}
	TEST(test_all_blocks(2, 0));
	TEST(test_all_blocks(2, 3));
	TEST(test_all_blocks(34, 2));
	TEST(test_all_blocks(600, 0));
	return unit_end();
}
