/*-------------------------------------------------------------------------
 *
 * test_bucket.c
 *		Buckets: the numbering of quadruples, packing at every width, the
 *		search in packed buckets, changes in place and their tables.
 *
 * Compared with naive.h, which writes buckets bit by bit from the text of the
 * specification.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bucket.h"
#include "naive.h"
#include "unit.h"

#define BUCKETS 9				/* odd and even positions */

static void
test_codes(void)
{
	int			n = naive_init();

	CHECK(n == CUCKOO_CODES, "%d quadruples", n);
	for (int code = 0; code < n; code++)
	{
		const uint8_t *q = naive_quads[code];
		uint32_t	slots[4];
		uint32_t	out[4];
		CuckooBits	b;

		for (int i = 0; i < 4; i++)
		{
			CHECK((cuckoo_tables.nibbles[code] >> 4 * i & 15) == q[i],
				  "code %d slot %d", code, i);
			/* in any order */
			slots[i] = q[(i + code) % 4];
		}
		b = cuckoo_bucket_pack(slots, 8);
		CHECK(b.lo == (uint64_t) code, "code %d: %" PRIx64, code, b.lo);
		cuckoo_bucket_unpack(b, 8, out);
		CHECK(out[0] == q[0] && out[1] == q[1] && out[2] == q[2] &&
			  out[3] == q[3], "code %d", code);
	}
	for (int code = n; code <= CUCKOO_CODE_MASK; code++)
		CHECK(cuckoo_tables.nibbles[code] == 0, "code %d", code);
	printf("codes: all %d\n", n);
}

/* What the tables say of each nibble added to each bucket with room. */
static void
test_additions(void)
{
	const CuckooTables *t = &cuckoo_tables;

	for (uint32_t i = 0; i < CUCKOO_CODES_ZERO * 16; i++)
	{
		uint32_t	slots[4];
		uint32_t	added = t->additions[i];
		int			smaller = 0,
					equal = 0;

		for (int k = 0; k < 4; k++)
			slots[k] = t->nibbles[i / 16] >> 4 * k & 15;
		slots[0] = i % 16;
		for (int k = 1; k < 4; k++)
		{
			smaller += slots[k] < i % 16;
			equal += slots[k] == i % 16;
		}
		naive_sort(slots);
		CHECK(t->nibbles[added & CUCKOO_CODE_MASK] ==
			  (slots[0] | slots[1] << 4 | slots[2] << 8 | slots[3] << 12),
			  "code %d, nibble %d", (int) i / 16, (int) i % 16);
		for (int f = 8; f <= CUCKOO_NARROW_BITS; f++)
		{
			const CuckooOrder *order = &t->orders[f - 8][added >> 12];
			uint64_t	after = 0,
						equals = 0;

			for (int k = 1; k <= 4 && CUCKOO_CODE_BITS + k * (f - 4) < 64; k++)
			{
				uint64_t	bottom = UINT64_C(1) << (CUCKOO_CODE_BITS + k * (f - 4));

				if (k > smaller + equal)
					after |= bottom;
				else if (k > smaller)
					equals |= bottom << (f - 5);
			}
			CHECK(order->after == after && order->equal == equals,
				  "f %d, code %d, nibble %d", f, (int) i / 16, (int) i % 16);
		}
	}
}

/* The tables that only lookups and deletes read. */
static void
test_nibble_tables(void)
{
	const CuckooTables *t = &cuckoo_tables;

	for (uint32_t fixed = 0; fixed < 256; fixed++)
		CHECK(t->fixed_nibbles[fixed] == (fixed == 0 ? 1 : fixed % 16) * 0x1111,
			  "fixed %d", (int) fixed);
	for (uint32_t slots = 0; slots < 16; slots++)
	{
		uint32_t	nibbles = 0;

		for (int i = 0; i < 4; i++)
			nibbles |= (slots >> i & 1) * (UINT32_C(0xf) << 4 * i);
		CHECK(t->slot_nibbles[slots] == nibbles, "slots %d", (int) slots);
	}
	for (int i = 0; i < 4; i++)
		CHECK(t->up_to_slot[1 << i] == (UINT32_C(0x10) << 4 * i) - 1,
			  "slot %d", i);
	for (int code = 0; code < CUCKOO_CODES_ZERO; code++)
		CHECK(t->zero_codes[t->nibbles[code] >> 4] == code, "code %d", code);
}

/*
 * A fingerprint of f bits with a fixed byte: often small, or one that differs from
 * an earlier one in a single bit, so that some of their lanes or nibbles agree.
 */
static uint32_t
some_fingerprint(int f, const uint32_t *earlier, int n)
{
	uint32_t	mask = (uint32_t) ((UINT64_C(1) << f) - 1);
	uint32_t	fp = (uint32_t) unit_random() & mask;

	switch (unit_below(6))
	{
		case 0:
			fp &= 0xff;
			break;
		case 1:
			fp &= mask ^ 0xf;
			break;
		case 2:
			fp |= mask ^ 0xff;
			break;
		case 3:
		case 4:
			if (n > 0)
				fp = earlier[unit_below((uint64_t) n)];
			if (unit_below(2))
				fp ^= UINT32_C(1) << unit_below((uint64_t) f);
			break;
	}
	return (fp & 0xff) == 0 ? fp | (1 + (uint32_t) unit_below(255)) : fp;
}

/* Compares what is found of a lane in two buckets with unpacked slots. */
static void
check_lane_hits(const CuckooHeader *h, const CuckooBits buckets[2], uint32_t fp)
{
	int			f = h->bits;
	uint64_t	lanes = h->lane_ones * (fp >> 4);
	uint64_t	expected[2] = {0, 0};

	for (int i = 0; i < 2; i++)
	{
		uint32_t	slots[4];

		cuckoo_bucket_unpack(buckets[i], f, slots);
		for (int k = 0; k < 4; k++)
			if (slots[k] >> 4 == fp >> 4)
				expected[i] |= UINT64_C(1) << (11 + (k + 1) * (f - 4));
	}
	for (int i = 0; i < 2; i++)
	{
		uint64_t	mine = expected[i];
		uint64_t	all = expected[0] | expected[1];
		CuckooLaneHits hits = cuckoo_pair_lane_hits(buckets[i].lo,
													buckets[1 - i].lo, lanes, h);
		CuckooLaneHits back = cuckoo_pair_lane_hits(buckets[1 - i].lo,
													buckets[i].lo, lanes, h);

		CHECK((mine & ~hits.first) == 0, "f %d, fp %" PRIx32 ": every lane", f, fp);
		CHECK((hits.first & (0 - hits.first)) == (mine & (0 - mine)) &&
			  (hits.any & (0 - hits.any)) == (all & (0 - all)),
			  "f %d, fp %" PRIx32 ": lowest lane", f, fp);
		CHECK((hits.any & ~h->lane_tops) == 0,
			  "f %d, fp %" PRIx32 ": other bits", f, fp);
		CHECK(hits.any == (hits.first | back.first) &&
			  hits.both == (hits.first & back.first),
			  "f %d, fp %" PRIx32 ": of two buckets", f, fp);
	}
}

/* Fullness says whether there is room, and empty slots limit it. */
static void
check_fullness(const CuckooHeader *h, CuckooBits b, const uint32_t slots[4])
{
	static const uint64_t most[5] = {UINT64_MAX, 815, 135, 15, 0};
	uint64_t	fullness = cuckoo_bucket_fullness(b.lo, h);
	int			empty = 0;

	for (int i = 0; i < 4; i++)
		empty += slots[i] == 0;
	CHECK((fullness < CUCKOO_CODES_ZERO) == (empty > 0) &&
		  fullness <= most[empty] && fullness % 4 == 0,
		  "f %d, %d empty: fullness %" PRIu64, h->bits, empty, fullness);
}

/* A change makes a bucket of these slots, and leaves its neighbor alone. */
static void
check_change(int f, uint64_t bucket, uint64_t change, const uint32_t slots[4])
{
	uint64_t	mask = cuckoo_low_mask(4 * f - 4);

	CHECK((change & ~mask) == 0, "f %d: neighbor changed", f);
	CHECK(((bucket ^ change) & mask) == cuckoo_bucket_pack(slots, f).lo,
		  "f %d: %" PRIx64 " by %" PRIx64, f, bucket, change);
}

static void
test_width(int f)
{
	int			bits = 4 * f - 4;
	uint64_t	size = ((uint64_t) BUCKETS * (uint64_t) bits + 7) / 8 + 8;
	uint8_t    *ours = unit_alloc(size);
	uint8_t    *theirs = unit_alloc(size);
	uint32_t	all[BUCKETS][4] = {{0}};
	CuckooHeader h = unit_header(2, f, 8);
	CuckooBits	previous = {0, 0};

	CHECK((int) h.bucket_bits == bits, "f %d", f);

	/* a store leaves nothing of what was there before */
	for (int i = 0; i < BUCKETS * bits; i++)
		naive_write(ours, (uint64_t) i, 1, unit_random() & 1);
	for (int pos = 0; pos < BUCKETS; pos++)
		cuckoo_bucket_store(ours, &h, (uint32_t) pos,
							cuckoo_bucket_pack(all[pos], f));
	CHECK(memcmp(ours, theirs, size) == 0, "f %d: not emptied", f);

	for (int round = 0; round < (unit_long ? 50000 : 3000); round++)
	{
		uint32_t	pos = (uint32_t) unit_below(BUCKETS);
		uint32_t	slots[4] = {0};
		uint32_t	probes[16];
		uint32_t	out[4];
		int			occupied = (int) unit_below(5);
		int			first = (int) unit_below(4);
		CuckooBits	b;

		for (int i = 0; i < occupied; i++)
			slots[(first + i) % 4] = some_fingerprint(f, slots, 4);
		for (int i = 0; i < 4; i++)
			if (slots[i] != 0 && slots[i] % 256 == 0)
				slots[i] |= 1;

		b = cuckoo_bucket_pack(slots, f);
		cuckoo_bucket_store(ours, &h, pos, b);
		naive_put(theirs, pos, f, slots);
		memcpy(all[pos], slots, sizeof(slots));
		CHECK(memcmp(ours, theirs, size) == 0,
			  "f %d, bucket %" PRIu32 ": other bytes", f, pos);

		/* any bucket, not only the one just written */
		pos = (uint32_t) unit_below(BUCKETS);
		memcpy(slots, all[pos], sizeof(slots));
		b = cuckoo_bucket_load(ours, &h, pos);
		cuckoo_bucket_unpack(b, f, out);
		check_fullness(&h, b, out);

		for (int i = 0; i < 4; i++)
			probes[i] = slots[i] != 0 ? slots[i] :
				some_fingerprint(f, slots, 4);
		for (int i = 4; i < 16; i++)
			probes[i] = some_fingerprint(f, slots, 4);
		for (int i = 0; i < 16; i++)
		{
			CuckooPattern pattern = cuckoo_pattern(probes[i], &h);
			uint64_t	hits = cuckoo_bucket_lane_hits(b, pattern, &h);
			int			lanes = 0;
			uint32_t	matches = 0;

			for (int k = 0; k < 4; k++)
			{
				lanes += slots[k] / 16 == probes[i] / 16;
				matches |= (uint32_t) (out[k] == probes[i]) << k;
			}
			CHECK((hits != 0) == (lanes > 0),
				  "f %d, fp %" PRIx32 ": lane hits", f, probes[i]);
			CHECK(cuckoo_bucket_matches(b, pattern, hits, &h) == matches,
				  "f %d, fp %" PRIx32 ": not slots %" PRIx32, f, probes[i],
				  matches);
			if (f <= CUCKOO_NARROW_BITS)
			{
				CuckooBits	two[2] = {b, previous};

				check_lane_hits(&h, two, probes[i]);
			}
		}
		previous = b;
		naive_sort(slots);
		CHECK(memcmp(out, slots, sizeof(out)) == 0,
			  "f %d, bucket %" PRIu32 ": round trip", f, pos);
		naive_get(ours, pos, f, out);
		CHECK(memcmp(out, slots, sizeof(out)) == 0, "f %d: naive read", f);

		/* add one in place, if slot 0 is empty: empty slots sort first */
		for (int i = 0; i < 16 && f <= CUCKOO_NARROW_BITS; i++)
		{
			if (slots[0] != 0)
				break;
			memcpy(out, slots, sizeof(out));
			out[0] = probes[i];
			check_change(f, b.lo,
						 cuckoo_narrow_add(b.lo, cuckoo_pattern(probes[i], &h),
										   &h), out);
		}
	}
	free(ours);
	free(theirs);
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_bucket");
	TEST(test_codes());
	TEST(test_additions());
	TEST(test_nibble_tables());
	for (int f = 8; f <= 32; f++)
		TEST(test_width(f));
	printf("widths 8 to 32: bytes, round trip, neighbors, room, matches, changes\n");
	return unit_end();
}
