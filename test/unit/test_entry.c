/*-------------------------------------------------------------------------
 *
 * test_entry.c
 *		The entries of an index, and the slots of a page, beside a list of
 *		entries that a page should have.
 *
 * small_test_entry is the same with pages of few buckets.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "index/entry.h"

#define SLOTS	CUCKOO_PAGE_SLOTS

/* What a page should have, and the page. */
static CuckooEntry shadow[SLOTS + 1];
static CuckooEntry listed[SLOTS];
static int	n_shadow;
static CuckooSlots *page_slots;

static int
compare(const void *a, const void *b)
{
	const CuckooEntry *x = a;
	const CuckooEntry *y = b;

	if (x->tag != y->tag)
		return x->tag > y->tag ? 1 : -1;
	if (x->block != y->block)
		return x->block > y->block ? 1 : -1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool
same(const CuckooEntry *a, const CuckooEntry *b)
{
	return compare(a, b) == 0;
}

/* True if the page has exactly the entries of the shadow copy. */
static bool
agrees(const CuckooEntryEncoding *encoding)
{
	int			n = cuckoo_list_entries(page_slots, encoding, listed);

	if (n != n_shadow)
		return false;
	qsort(listed, (size_t) n, sizeof(CuckooEntry), compare);
	qsort(shadow, (size_t) n, sizeof(CuckooEntry), compare);
	for (int i = 0; i < n; i++)
	{
		if (!same(&listed[i], &shadow[i]))
			return false;
	}
	return true;
}

static CuckooEntryEncoding
random_encoding(void)
{
	CuckooEntryEncoding encoding = {0};

	encoding.offset_bits = (uint8_t) (1 + unit_below(9));
	encoding.position_bits = (uint8_t) (1 + unit_below(CUCKOO_MOST_POSITION_BITS));
	encoding.salt = (uint32_t) unit_below(1 << 24);
	return encoding;
}

/* An entry that the encoding can store; every 16th one is a link. */
static CuckooEntry
random_entry(const CuckooEntryEncoding *encoding)
{
	CuckooEntry entry;

	do
	{
		uint64_t	last = CUCKOO_PAIRS *
			cuckoo_bit_mask(encoding->position_bits) - 1;
		uint64_t	position = unit_below(last + 1);

		/* with tag 0 a slot may have no high bits */
		entry.tag = unit_below(8) == 0 ? 0 :
			unit_random() & cuckoo_bit_mask(cuckoo_tag_bits(encoding));
		entry.block = (uint32_t) (position >> encoding->offset_bits);
		entry.offset = unit_below(16) == 0 ? 0 : (uint16_t)
			(position & cuckoo_bit_mask(encoding->offset_bits));
	} while (entry.block == UINT32_MAX ||
			 !cuckoo_can_encode(encoding, entry.block, entry.offset));
	return entry;
}

/* ---- encoding ---- */

static void
test_encoding(int rounds)
{
	for (int i = 0; i < rounds; i++)
	{
		CuckooEntryEncoding encoding = random_encoding();
		CuckooEntry entry = random_entry(&encoding);
		uint32_t	bucket[2];
		uint64_t	slot = cuckoo_encode(&encoding, &entry, &bucket[0],
										 &bucket[1]);
		CuckooEntry back;

		CHECK(slot != 0 && slot >> CUCKOO_SLOT_BITS == 0, "slot %" PRIx64, slot);
		CHECK(bucket[0] != bucket[1] && bucket[0] < CUCKOO_PAGE_BUCKETS &&
			  bucket[1] < CUCKOO_PAGE_BUCKETS, "buckets %" PRIu32 " %" PRIu32,
			  bucket[0], bucket[1]);
		for (int j = 0; j < 2; j++)
			CHECK(cuckoo_decode(&encoding, slot, bucket[j], &back) &&
				  same(&entry, &back),
				  "block %" PRIu32 ", offset %d, %d and %d bits", entry.block,
				  entry.offset, encoding.position_bits, encoding.offset_bits);
		/* no other bucket of the pair's slot has the same position */
		CHECK(cuckoo_other_bucket(cuckoo_pairing(&encoding, slot), bucket[0]) ==
			  bucket[1], "pair");
	}
}

static void
test_bits(void)
{
	for (int offset_bits = 1; offset_bits <= 9; offset_bits++)
	{
		for (int i = 0; i < 1000; i++)
		{
			uint32_t	block = (uint32_t) unit_random() >> unit_below(32);
			CuckooEntryEncoding encoding = {.offset_bits = (uint8_t) offset_bits};
			int			bits = cuckoo_position_bits(block, offset_bits);
			uint16_t	last = (uint16_t) cuckoo_bit_mask(offset_bits);

			if (block == UINT32_MAX)
				continue;
			CHECK(bits <= CUCKOO_MOST_POSITION_BITS, "%d bits", bits);
			encoding.position_bits = (uint8_t) bits;
			CHECK(cuckoo_can_encode(&encoding, block, last),
				  "%" PRIu32 " with %d bits", block, bits);
			CHECK(!cuckoo_can_encode(&encoding, block, (uint16_t) (last + 1)),
				  "offset %d with %d bits", last + 1, offset_bits);
			encoding.position_bits--;
			CHECK(!cuckoo_can_encode(&encoding, block, last),
				  "%" PRIu32 " with %d bits", block, bits - 1);
		}
	}
}

/* ---- lives of pages ---- */

/* The slots that have a tag are those of the shadow copy. */
static void
check_tag(const CuckooEntryEncoding *encoding, uint64_t tag)
{
	uint16_t	found[SLOTS];
	uint32_t	n = cuckoo_find_tag(page_slots, encoding, tag, found);
	uint32_t	expected = 0;

	for (int i = 0; i < n_shadow; i++)
		expected += shadow[i].tag == tag;
	CHECK(n == expected, "found %" PRIu32 " of %" PRIu32, n, expected);
	for (uint32_t i = 0; i < n; i++)
	{
		CuckooEntry entry;

		CHECK(cuckoo_decode(encoding, cuckoo_slot(page_slots, found[i]),
							found[i] / CUCKOO_BUCKET_SLOTS, &entry) &&
			  entry.tag == tag, "slot %d", found[i]);
	}
}

/* Inserts an entry, if the page has room. */
static bool
insert(const CuckooEntryEncoding *encoding, CuckooEntry entry)
{
	CuckooWrites writes;
	CuckooSlots before = *page_slots;
	bool		fits = cuckoo_plan_insert(page_slots, encoding, &entry, &writes);

	CHECK(memcmp(&before, page_slots, sizeof(before)) == 0, "a plan changes nothing");
	if (!fits)
		return false;
	CHECK(writes.n >= 1 && writes.n <= CUCKOO_MOST_WRITES, "%d writes",
		  writes.n);
	cuckoo_write_slots(page_slots, &writes);
	shadow[n_shadow++] = entry;
	return true;
}

/* Removes an entry of the shadow copy. */
static void
delete(const CuckooEntryEncoding *encoding, int which)
{
	uint16_t	found[SLOTS];
	uint32_t	n = cuckoo_find_tag(page_slots, encoding, shadow[which].tag, found);

	for (uint32_t i = 0; i < n; i++)
	{
		CuckooEntry entry;

		if (cuckoo_decode(encoding, cuckoo_slot(page_slots, found[i]),
						  found[i] / CUCKOO_BUCKET_SLOTS, &entry) &&
			same(&entry, &shadow[which]))
		{
			cuckoo_set_slot(page_slots, found[i], 0);
			shadow[which] = shadow[--n_shadow];
			return;
		}
	}
	CHECK(false, "an entry is not found");
}

/* Widens the encoding for a row in another place. */
static void
widen(CuckooEntryEncoding *encoding)
{
	CuckooEntry entry = {0, (uint32_t) (unit_random() >> 33 >> unit_below(31)),
	(uint16_t) (1 + unit_below(511))};

	cuckoo_widen(encoding, &entry, 1);
	cuckoo_widen(encoding, shadow, n_shadow);
	memcpy(listed, shadow, sizeof(listed));
	cuckoo_truncate_tags(shadow, n_shadow, encoding);
	CHECK(cuckoo_can_encode(encoding, entry.block, entry.offset), "widened");
	for (int i = 0; i < n_shadow; i++)
	{
		CHECK(cuckoo_can_encode(encoding, shadow[i].block, shadow[i].offset),
			  "%d and %d bits", encoding->position_bits, encoding->offset_bits);
		CHECK(shadow[i].tag == (listed[i].tag &
								cuckoo_bit_mask(cuckoo_tag_bits(encoding))),
			  "tag %" PRIx64, listed[i].tag);
	}
	CHECK(cuckoo_fill_slots(page_slots, encoding, shadow, n_shadow),
		  "%d entries fit", n_shadow);
	CHECK(agrees(encoding), "after widening");
}

/* Keeps the half of a page that has a bit, as a split does. */
static void
split(CuckooEntryEncoding *encoding, uint64_t bit)
{
	int			n = 0;

	for (int i = 0; i < n_shadow; i++)
	{
		if ((shadow[i].tag & 1) == bit)
		{
			shadow[n] = shadow[i];
			shadow[n++].tag >>= 1;
		}
	}
	n_shadow = n;
	encoding->position_bits++;
	CHECK(cuckoo_fill_slots(page_slots, encoding, shadow, n_shadow), "half fits");
	CHECK(agrees(encoding), "after a split");
}

static void
test_life(int steps)
{
	CuckooEntryEncoding encoding = {0, 0, (uint8_t) (5 + unit_below(15)), 6, 0};

	n_shadow = 0;
	memset(page_slots, 0, sizeof(CuckooSlots));
	for (int i = 0; i < steps; i++)
	{
		CuckooEntry entry;

		switch (unit_below(i % 4 == 0 ? 3 : 2))
		{
			case 0:				/* until it is full */
				do
					entry = random_entry(&encoding);
				while (insert(&encoding, entry));
				/* values with few tags have less choice, but not this little */
				CHECK(n_shadow > SLOTS * 0.93, "full at %d of %d", n_shadow,
					  SLOTS);
				break;
			case 1:
				for (int n = (int) unit_below(SLOTS / 2); n > 0 && n_shadow > 0; n--)
					delete(&encoding, (int) unit_below((uint64_t) n_shadow));
				break;
			default:
				if (n_shadow > SLOTS * 0.9)
					break;
				if (encoding.position_bits < CUCKOO_MOST_POSITION_BITS &&
					unit_below(2) == 0)
					split(&encoding, unit_below(2));
				else
					widen(&encoding);
		}
		CHECK(agrees(&encoding), "step %d", i);
		check_tag(&encoding, n_shadow > 0 ? shadow[0].tag : 0);
		check_tag(&encoding,
				  unit_random() & cuckoo_bit_mask(cuckoo_tag_bits(&encoding)));
		check_tag(&encoding, 0);
	}
}

#ifndef CUCKOO_SMALL_PAGES
/* Slots and buckets of stored pages, calculated from the formulas of the README. */
static void
test_stored(void)
{
	static const struct
	{
		CuckooEntryEncoding encoding;
		CuckooEntry entry;
		uint64_t	slot;
		uint32_t	first;
		uint32_t	second;
	}			stored[] = {
		{{0x123456, 0, 18, 6, 0}, {5, 1000, 7}, 0x14027a, 3, 1},
		{{0, 0, 1, 6, 0}, {0, 0, 1}, 1, 38, 30},
		{{0xffffff, 0, 38, 11, 0}, {3, 0xfffffffe, 2047}, UINT64_C(0xd446f8654f), 148, 50},
		{{7, 0, 25, 8, 0}, {42, 70000, 0}, 0x5402b512, 135, 108}
	};

	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++)
	{
		uint32_t	first;
		uint32_t	second;
		uint64_t	slot = cuckoo_encode(&stored[i].encoding, &stored[i].entry, &first, &second);

		CHECK(slot == stored[i].slot, "entry %d: slot %" PRIx64, (int) i, slot);
		CHECK(first == stored[i].first && second == stored[i].second,
			  "entry %d: buckets %u, %u", (int) i, first, second);
	}
}
#endif

/* Every number of rows of one value, until the page is full. */
static void
test_one_value(bool random)
{
	CuckooEntryEncoding encoding = {0, 0, (uint8_t) cuckoo_position_bits(200000, 6), 6, 0};
	CuckooEntry entry = {unit_below(1 << 16), 0, 0};
	uint32_t	first = (uint32_t) unit_below(100000);
	uint16_t	found[SLOTS];

	n_shadow = 0;
	memset(page_slots, 0, sizeof(CuckooSlots));
	for (int i = 0; i < 5000; i++)
	{
		entry.block = random ? (uint32_t) unit_below(200000) : first + (uint32_t) i / 50;
		entry.offset = random ? (uint16_t) (1 + unit_below(63)) : (uint16_t) (1 + i % 50);
		if (!insert(&encoding, entry))
			break;
		CHECK(cuckoo_find_tag(page_slots, &encoding, entry.tag, found) ==
			  (uint32_t) n_shadow, "%d rows", n_shadow);
	}
	CHECK(n_shadow > SLOTS * 0.9, "full at %d rows", n_shadow);
	CHECK(agrees(&encoding), "%d rows", n_shadow);
}

/* The page has the slots that single inserts of its entries write. */
static void
check_filled(const CuckooEntryEncoding *encoding)
{
	CuckooEntryEncoding again = *encoding;
	CuckooSlots filled;

	/* the shadow copy may have another order by now */
	if (!cuckoo_fill_slots(page_slots, &again, shadow, n_shadow))
		return;
	filled = *page_slots;
	memset(page_slots, 0, sizeof(CuckooSlots));
	for (int i = 0; i < n_shadow; i++)
	{
		CuckooWrites writes;

		CHECK(cuckoo_plan_insert(page_slots, &again, &shadow[i], &writes), "entry %d", i);
		cuckoo_write_slots(page_slots, &writes);
	}
	CHECK(memcmp(&filled, page_slots, sizeof(filled)) == 0, "the slots of %d entries", n_shadow);
}

/* How full pages are when the first entry finds no room: README, "Entries". */
static void
test_load(int pages)
{
	CuckooEntryEncoding encoding = {0, 0, 18, 6, 0};
	int			sum = 0;

	for (int i = 0; i < pages; i++)
	{
		n_shadow = 0;
		memset(page_slots, 0, sizeof(CuckooSlots));
		encoding.salt = (uint32_t) i;
		while (insert(&encoding, random_entry(&encoding)))
			;
		sum += n_shadow;
	}
	CHECK(sum > (CUCKOO_PAGE_BUCKETS < 200 ? 0.98 : 0.99) * SLOTS * pages,
		  "full at %d slots of %d", sum / pages, SLOTS);
}

static void
test_fill(void)
{
	CuckooEntryEncoding encoding = {5, 0, 18, 6, 0};

	for (int i = 0; i <= SLOTS; i++)
		shadow[i] = random_entry(&encoding);
	CHECK(!cuckoo_fill_slots(page_slots, &encoding, shadow, SLOTS + 1), "too many");
	n_shadow = SLOTS * 95 / 100;
	encoding.salt = 5;
	CHECK(cuckoo_fill_slots(page_slots, &encoding, shadow, n_shadow) &&
		  (encoding.salt == 5 || CUCKOO_PAGE_BUCKETS < 200), "95%% with salt %d",
		  (int) encoding.salt);
	CHECK(agrees(&encoding), "filled");
	check_filled(&encoding);
	n_shadow = SLOTS * 985 / 1000;
	if (cuckoo_fill_slots(page_slots, &encoding, shadow, n_shadow))
	{
		CHECK(agrees(&encoding), "filled with salt %d", (int) encoding.salt);
		check_filled(&encoding);
	}
}

static void
test_hottest(void)
{
	uint64_t	tag = 99;
	int			counts[8] = {0};
	int			most = 0;

	n_shadow = (int) unit_below(SLOTS);
	for (int i = 0; i < n_shadow; i++)
	{
		shadow[i].tag = unit_below(1 + unit_below(8));
		shadow[i].offset = (uint16_t) unit_below(3);
		counts[shadow[i].tag] += shadow[i].offset != 0;
	}
	for (int i = 0; i < 8; i++)
		most = counts[i] > most ? counts[i] : most;
	CHECK(cuckoo_has_hot_tag(shadow, n_shadow) == (most > CUCKOO_HOT_ROWS),
		  "%d rows with one tag", most);
	CHECK(cuckoo_hottest_tag(shadow, n_shadow, &tag) == most, "hottest %d", most);
	CHECK(most == 0 || counts[tag] == most, "tag %d", (int) tag);
}

/*
 * Damaged slots are read and changed without leaving them.  A slot that decodes
 * is the encoding of its entry.
 */
static void
test_damage(void)
{
	CuckooEntryEncoding encoding = random_encoding();
	uint16_t	found[SLOTS];
	CuckooWrites writes;
	CuckooEntry entry = random_entry(&encoding);
	int			n;

	for (uint32_t i = 0; i < SLOTS; i++)
		cuckoo_set_slot(page_slots, i, unit_below(4) == 0 ? 0 : unit_random() &
						cuckoo_bit_mask(CUCKOO_SLOT_BITS));
	n = cuckoo_list_entries(page_slots, &encoding, listed);
	CHECK(n >= -1 && n <= SLOTS, "%d entries", n);
	for (uint32_t i = 0; i < SLOTS; i++)
	{
		uint64_t	slot = cuckoo_slot(page_slots, i);
		uint32_t	bucket = i / CUCKOO_BUCKET_SLOTS;
		uint32_t	first;
		uint32_t	second;
		CuckooEntry decoded;

		if (cuckoo_decode(&encoding, slot, bucket, &decoded))
			CHECK(decoded.block < UINT32_MAX &&
				  cuckoo_encode(&encoding, &decoded, &first, &second) == slot &&
				  (first == bucket || second == bucket),
				  "slot %" PRIx64 " in bucket %u", slot, bucket);
	}
	CHECK(cuckoo_find_tag(page_slots, &encoding, entry.tag, found) <= SLOTS, "found");
	if (cuckoo_plan_insert(page_slots, &encoding, &entry, &writes))
		cuckoo_write_slots(page_slots, &writes);
}

int
main(int argc, char **argv)
{
	int			scale;

	unit_begin(argc, argv, "test_entry");
	scale = unit_long ? 20 : 1;
	page_slots = unit_alloc(sizeof(CuckooSlots));
#ifndef CUCKOO_SMALL_PAGES
	TEST(test_stored());
#endif
	TEST(test_encoding(1000000 * scale));
	TEST(test_bits());
	TEST(test_load(100));
	for (int i = 0; i < 5 * scale; i++)
		TEST(test_life(100));
	for (int i = 0; i < 5 * scale; i++)
	{
		TEST(test_one_value(false));
		TEST(test_one_value(true));
		TEST(test_fill());
		TEST(test_hottest());
		TEST(test_damage());
	}
	return unit_end();
}
