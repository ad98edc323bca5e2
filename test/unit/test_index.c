/*-------------------------------------------------------------------------
 *
 * test_index.c
 *		Positions: agreement with the specification, the involution, windows,
 *		what growth makes of an entry.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bucket.h"
#include "core/position.h"
#include "naive.h"
#include "unit.h"

static const uint32_t bases[] = {
	2, 4, 6, 8, 34, 62, 64, 66, 126, 128, 130, 250, 254,
	256, 258, 384, 4094, 4096, 4098, 4224, 5248,
	6272, 8190, 16256, 16384, 16386, 16512, 100000, 1000002, 1048576, 1048704,
	10000000, 16777216, 100000000, 100000128, 134217728
};

#define BASES	((int) (sizeof(bases) / sizeof(bases[0])))

/* A hash whose first base bucket is j, the rest random. */
static uint64_t
hash_at(uint64_t base, uint64_t j)
{
	uint64_t	first = naive_unscale(j, base) + 1;
	uint64_t	step = UINT64_MAX / base;

	return first + unit_below(step - 1);
}

static void
check_hash(const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	p = cuckoo_pair(h, hash);
	NaivePair	q = naive_pair(h->base, h->windows, h->base_bits, h->level,
							   hash);
	uint64_t	fixed = p.fp & 0xff;

	CHECK(p.fp == q.fp && p.pos1 == q.pos[0] && p.pos2 == q.pos[1],
		  "m0 %" PRIu32 ", f0 %d, g %d, hash %" PRIx64, h->base, h->base_bits,
		  h->level, hash);
	CHECK(p.pos1 != p.pos2 && p.pos1 < h->buckets && p.pos2 < h->buckets,
		  "m0 %" PRIu32 ", g %d, hash %" PRIx64, h->base, h->level, hash);
	CHECK(cuckoo_partner(h, p.pos1, p.fp) == p.pos2 &&
		  cuckoo_partner(h, p.pos2, p.fp) == p.pos1,
		  "m0 %" PRIu32 ", g %d, hash %" PRIx64, h->base, h->level, hash);
	CHECK(fixed != 0 && p.fp >> (h->bits - 1) >> 1 == 0, "fp %" PRIx32, p.fp);
	CHECK(!cuckoo_is_reflection(h->mappings[fixed]) ==
		  (naive_near(h->windows, fixed) && h->base >= 256),
		  "m0 %" PRIu32 ", fixed %d", h->base, (int) fixed);
	if (naive_near(h->windows, fixed))
	{
		uint32_t	window = h->base < 256 ? h->base : 128;

		CHECK(p.pos1 / window == p.pos2 / window,
			  "m0 %" PRIu32 ", hash %" PRIx64, h->base, hash);
	}

	/* what growth makes of it, without a table */
	if (h->bits > 8)
	{
		NaivePair	up = naive_pair(h->base, h->windows, h->base_bits,
									h->level + 1, hash);

		for (int i = 0; i < 2; i++)
		{
			uint32_t	flip = cuckoo_growth_flip(h, (uint32_t) q.j[i],
												  (uint32_t) fixed);
			uint32_t	half = (p.fp >> 8 & 1) ^ flip;

			CHECK(up.pos[i] == q.pos[i] + half * (uint64_t) h->buckets &&
				  up.fp == (fixed | p.fp >> 9 << 8),
				  "m0 %" PRIu32 ", g %d, hash %" PRIx64, h->base, h->level,
				  hash);
		}
	}
}

static void
test_base(uint32_t base)
{
	for (int level = 0; level <= 24; level++)
	{
		int			least = 8 + level;
		int			rounds = unit_long ? 20000 : 2000;

		/* positions are 32 bits; no image comes near */
		if ((uint64_t) base << level > UINT64_C(1) << 30)
			break;
		for (int round = 0; round < rounds; round++)
		{
			int			f0 = least + (int) unit_below((uint64_t) (33 - least));
			CuckooHeader h = unit_header(base, f0, 8);
			uint64_t	hash = unit_random();
			uint32_t	pos;
			uint32_t	fp;

			h.level = (uint8_t) level;
			if (round % 4 == 2)
				h.windows = false;
			cuckoo_header_derive(&h);
			if (round % 8 == 0)
				hash &= ~UINT64_C(0xff);	/* fixed byte 0 */
			else if (round % 8 == 1)
				hash = hash_at(base, unit_below(2) ? 0 : base - 1);
			else if (round == 2)
				hash = 0;
			else if (round == 3)
				hash = UINT64_MAX;
			check_hash(&h, hash);

			/* any fingerprint at any position */
			pos = (uint32_t) unit_below(h.buckets);
			fp = (uint32_t) unit_random() & (uint32_t) ((UINT64_C(1) << h.bits) - 1);
			fp |= (fp & 0xff) == 0;
			CHECK(cuckoo_partner(&h, cuckoo_partner(&h, pos, fp), fp) == pos &&
				  cuckoo_partner(&h, pos, fp) != pos,
				  "m0 %" PRIu32 ", g %d, pos %" PRIu32 ", fp %" PRIx32, base,
				  level, pos, fp);
			CHECK(cuckoo_scale(hash, base) == naive_scale(hash, base),
				  "m0 %" PRIu32 ", hash %" PRIx64, base, hash);
		}
	}
}

/* Every fixed byte at every position of small tables. */
static void
test_exhaustively(uint32_t base, int level)
{
	CuckooHeader h = unit_header(base, 8 + level, 8);

	h.level = (uint8_t) level;
	cuckoo_header_derive(&h);
	for (uint32_t pos = 0; pos < h.buckets; pos++)
		for (uint32_t fixed = 1; fixed < 256; fixed++)
		{
			uint32_t	other = cuckoo_partner(&h, pos, fixed);

			CHECK(other != pos && other < h.buckets &&
				  cuckoo_partner(&h, other, fixed) == pos &&
				  other % base == naive_other(base, h.windows, fixed, pos % base),
				  "m0 %" PRIu32 ", g %d, pos %" PRIu32 ", fixed %" PRIu32, base,
				  level, pos, fixed);
		}
}

/* The table itself: each entry goes where the pair of the next level says. */
static void
test_growth(uint32_t base)
{
	CuckooHeader header = unit_header(base, 32, 13);
	UnitFilter	f;
	int			levels = base < 1000 ? 10 : 3;
	uint64_t	n = (uint64_t) base * 2;
	uint64_t   *hashes = unit_alloc(n * sizeof(uint64_t));
	uint8_t    *member = unit_alloc(n);

	unit_filter_init(&f, &header);
	for (uint64_t i = 0; i < n; i++)
	{
		NaivePair	p;
		uint32_t	slots[4];

		hashes[i] = unit_random();
		p = naive_pair(base, header.windows, 32, 0, hashes[i]);
		for (member[i] = unit_below(2);; member[i] ^= 1)
		{
			naive_get(f.image + 32, p.pos[member[i]], f.h.bits, slots);
			if (slots[0] == 0)
				break;
			if (unit_below(8) == 0)
			{
				member[i] = 2;	/* no place: leave it out */
				break;
			}
		}
		if (member[i] == 2)
			continue;
		slots[0] = p.fp;
		naive_put(f.image + 32, p.pos[member[i]], f.h.bits, slots);
		f.h.items++;
	}
	cuckoo_header_write(&f.h, f.image);

	for (int level = 1; level <= levels; level++)
	{
		uint64_t	seen = 0;

		CHECK(unit_filter_grow(&f) == CUCKOO_OK, "m0 %" PRIu32, base);
		CHECK(unit_validate(f.image, cuckoo_image_size(&f.h)) == CUCKOO_OK,
			  "m0 %" PRIu32 ", g %d", base, level);
		for (uint64_t i = 0; i < n; i++)
		{
			NaivePair	p = naive_pair(base, header.windows, 32, level, hashes[i]);
			uint32_t	slots[4];

			if (member[i] == 2)
				continue;
			naive_get(f.image + 32, p.pos[member[i]], f.h.bits, slots);
			seen++;
			CHECK(slots[0] == p.fp || slots[1] == p.fp || slots[2] == p.fp ||
				  slots[3] == p.fp, "m0 %" PRIu32 ", g %d, hash %" PRIx64, base,
				  level, hashes[i]);
		}
		CHECK(seen == f.h.items, "m0 %" PRIu32 ", g %d", base, level);
	}
	free(hashes);
	free(member);
	unit_filter_free(&f);
}

static void
test_tables(void)
{
	for (int fixed = 0; fixed < 256; fixed++)
	{
		uint64_t	hash = naive_hash((uint64_t) (fixed > 0 ? fixed : 1));
		uint32_t	far = hash >> 32 & 0xffffff;
		uint32_t	near = (uint32_t) (1 + hash % 127);

		for (int kind = 0; kind < CUCKOO_MAPPINGS; kind++)
		{
			CuckooMapping mapping = cuckoo_mappings[kind][fixed];
			bool		is_near = kind != CUCKOO_NO_WINDOWS &&
				(fixed == 0 || fixed % 4 != 0);
			bool		is_step = is_near && kind == CUCKOO_WINDOWS;

			CHECK((mapping & 0xff) == (is_step ? near : 0) &&
				  cuckoo_far_segment(mapping) == (is_near ? 0 : far) &&
				  mapping >> 32 == (is_step ? 0 : (uint32_t) hash) &&
				  cuckoo_is_reflection(mapping) != is_step,
				  "fixed %d, kind %d", fixed, kind);
		}
	}
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_index");
	naive_init();
	TEST(test_tables());
	for (int i = 0; i < BASES; i++)
		TEST(test_base(bases[i]));
	printf("pairs, involution, windows, growth: %d bases from %" PRIu32
		   " to %" PRIu32 ", levels to 24\n", BASES, bases[0],
		   bases[BASES - 1]);
	TEST(test_exhaustively(2, 6));
	TEST(test_exhaustively(4, 3));
	TEST(test_exhaustively(6, 4));
	TEST(test_exhaustively(34, 3));
	TEST(test_exhaustively(62, 2));
	TEST(test_exhaustively(128, 2));
	TEST(test_exhaustively(254, 2));
	TEST(test_exhaustively(256, 2));
	TEST(test_exhaustively(4096, 1));
	printf("involution of every fixed byte at every position of small tables\n");
	TEST(test_growth(2));
	TEST(test_growth(6));
	TEST(test_growth(34));
	TEST(test_growth(62));
	TEST(test_growth(128));
	TEST(test_growth(190));
	TEST(test_growth(254));
	TEST(test_growth(256));
	TEST(test_growth(4096));
	TEST(test_growth(5248));
	printf("growth of whole tables against the pairs of the next level\n");
	return unit_end();
}
