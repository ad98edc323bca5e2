/*-------------------------------------------------------------------------
 *
 * test_entries.c
 *		cuckoo_find_entries() beside a loop over all slots.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "naive.h"
#include "unit.h"

/* Fills random slots, many with the wanted bits or with none. */
static void
fill(const CuckooHeader *h, uint8_t *image, uint32_t mask, uint32_t value)
{
	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		uint32_t	slots[4];

		for (int i = 0; i < 4; i++)
		{
			slots[i] = (uint32_t) (unit_random() & cuckoo_low_mask(h->bits));
			if (unit_below(8) == 0)
				slots[i] = (slots[i] & ~mask) | (value & mask);
			slots[i] |= (slots[i] & 0xff) == 0;
			if (unit_below(4) == 0)
				slots[i] = 0;
		}
		naive_put(image + 32, pos, h->bits, slots);
	}
}

static void
test_geometry(int bits, uint32_t base)
{
	CuckooHeader h = unit_header(base, bits, 8);
	int			ext = (int) unit_below((uint64_t) bits - 7);
	uint32_t	mask = (uint32_t) cuckoo_low_mask(ext) << 8;
	uint32_t	value = (uint32_t) unit_random();
	uint8_t    *image;
	CuckooEntry *out = unit_alloc(base * 4 * sizeof(CuckooEntry));
	uint32_t	n;
	uint32_t	expected = 0;

	if (unit_below(4) == 0)
		value = 0;
	h.windows = false;
	h.page = (uint16_t) base;
	cuckoo_header_derive(&h);
	image = unit_alloc(cuckoo_image_size(&h));
	fill(&h, image, mask, value);
	n = cuckoo_find_entries(&h, image, mask, value, out);
	for (uint32_t pos = 0; pos < base; pos++)
	{
		uint32_t	slots[4];

		naive_get(image + 32, pos, bits, slots);
		for (int i = 0; i < 4; i++)
		{
			if (slots[i] == 0 || (slots[i] & mask) != (value & mask))
				continue;
			CHECK(expected < n && out[expected].fp == slots[i] &&
				  out[expected].pos == pos &&
				  out[expected].partner ==
				  naive_other(base, base, slots[i] & 0xff, pos),
				  "f %d, w %" PRIu32 ", mask %" PRIx32 ", pos %" PRIu32, bits,
				  base, mask, pos);
			expected++;
		}
	}
	CHECK(n == expected, "f %d, w %" PRIu32 ", mask %" PRIx32 ": %" PRIu32
		  " of %" PRIu32, bits, base, mask, n, expected);
	free(image);
	free(out);
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_entries");
	naive_init();
	for (int bits = 9; bits <= 32; bits++)
		for (int round = 0; round < (unit_long ? 2000 : 100); round++)
			TEST(test_geometry(bits, 2 + 2 * (uint32_t) unit_below(300)));
	return unit_end();
}
