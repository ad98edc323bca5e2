/*-------------------------------------------------------------------------
 *
 * test_format.c
 *		The image: every reason to refuse one, hostile bytes, geometry and its
 *		limits, golden images.
 *
 * The golden images were written down from the specification, not printed by
 * the core; their arithmetic stands beside them.
 *
 *-------------------------------------------------------------------------
 */
#include "naive.h"
#include "unit.h"

#include <math.h>

static bool provoked[CUCKOO_BAD_ITEMS + 1];

static uint8_t *
copy_of(const uint8_t *image, uint64_t size)
{
	uint8_t    *p = unit_alloc(size);

	memcpy(p, image, size);
	return p;
}

/*
 * The image with this byte in place of its own is refused for this reason, also
 * with a right checksum.
 */
static void
refuse(const uint8_t *image, uint64_t size, uint64_t at, int value,
	   CuckooStatus reason)
{
	uint8_t    *p = copy_of(image, size);
	CuckooStatus status;

	p[at] = (uint8_t) value;
	if (reason != CUCKOO_BAD_CHECKSUM)
		cuckoo_checksum_write(p, size);
	status = cuckoo_validate(p, size);
	CHECK(status == reason, "byte %" PRIu64 " = %d: \"%s\", not \"%s\"", at, value,
		  cuckoo_status_text(status), cuckoo_status_text(reason));
	provoked[status] = true;
	free(p);
}

static void
refuse_length(const uint8_t *image, uint64_t size, uint64_t length,
			  CuckooStatus reason)
{
	uint8_t    *p = unit_alloc(length);
	CuckooStatus status;

	memcpy(p, image, length < size ? length : size);
	status = cuckoo_validate(p, length);
	CHECK(status == reason, "length %" PRIu64 ": \"%s\", not \"%s\"", length,
		  cuckoo_status_text(status), cuckoo_status_text(reason));
	provoked[status] = true;
	free(p);
}

static void
refuse_bucket(const uint8_t *image, uint64_t size, int f, uint64_t pos,
			  uint32_t code, const uint32_t lanes[4], CuckooStatus reason)
{
	uint8_t    *p = copy_of(image, size);
	uint64_t	bit = 256 + pos * (uint64_t) (4 * f - 4);
	CuckooStatus status;

	naive_write(p, bit, 12, code);
	for (int i = 0; i < 4; i++)
		naive_write(p, bit + 12 + (uint64_t) (i * (f - 4)), f - 4, lanes[i]);
	cuckoo_checksum_write(p, size);
	status = cuckoo_validate(p, size);
	CHECK(status == reason, "f %d, bucket %" PRIu64 ", code %" PRIu32 ": \"%s\", not \"%s\"",
		  f, pos, code, cuckoo_status_text(status), cuckoo_status_text(reason));
	provoked[status] = true;
	free(p);
}

/* A filter of honest elements, at some level. */
static UnitFilter
some_filter(uint32_t base, int f0, int level, double load)
{
	CuckooHeader h = unit_header(base, f0, 8);
	UnitFilter	f;

	unit_filter_init(&f, &h);
	while (f.h.level < level)
		CHECK(unit_filter_grow(&f) == CUCKOO_OK, "m0 %" PRIu32, base);
	for (int i = 0; i < (int) (load * 4 * f.h.buckets); i++)
		cuckoo_insert(&f.h, f.image, unit_random(), 2);
	cuckoo_checksum_write(f.image, cuckoo_image_size(&f.h));
	return f;
}

static void
test_refusals(void)
{
	for (int f = 8; f <= 32; f++)
	{
		uint32_t	top = (UINT32_C(1) << (f - 4)) - 1;
		UnitFilter	t = some_filter(6, f, 0, 0.6);
		uint64_t	size = cuckoo_image_size(&t.h);
		uint8_t    *image = t.image;

		CHECK(cuckoo_validate(image, size) == CUCKOO_OK, "f %d", f);

		/* lengths: none, every short one, one off, far off */
		for (uint64_t n = 0; n < 32; n++)
			refuse_length(image, size, n, CUCKOO_BAD_SHORT);
		for (uint64_t n = 32; n < size + 40; n++)
			if (n != size)
				refuse_length(image, size, n, CUCKOO_BAD_LENGTH);

		for (int v = 0; v < 256; v++)
		{
			if (v != 'C')
				refuse(image, size, 0, v, CUCKOO_BAD_MAGIC);
			if (v != 'F')
				refuse(image, size, 1, v, CUCKOO_BAD_MAGIC);
			if (v != 1)
				refuse(image, size, 2, v, CUCKOO_BAD_VERSION);
			if (v == 0 || v > CUCKOO_FAMILY_LAST)
				refuse(image, size, 3, v, CUCKOO_BAD_FAMILY);
			if (v < 8 || v > 32)
				refuse(image, size, 4, v, CUCKOO_BAD_BITS);
			else if (v != f)	/* other widths are other lengths */
				refuse(image, size, 4, v, CUCKOO_BAD_LENGTH);
			if (v < 8 || v > f)
				refuse(image, size, 5, v, CUCKOO_BAD_BITS);
			if (v > f - 8)
				refuse(image, size, 6, v, CUCKOO_BAD_BITS);
			else if (v > 0)
				refuse(image, size, 6, v, CUCKOO_BAD_LENGTH);
			if (v != 0)
			{
				refuse(image, size, 7, v, CUCKOO_BAD_FLAGS);
				refuse(image, size, 12, v, CUCKOO_BAD_TAG);
				refuse(image, size, 13, v, CUCKOO_BAD_TAG);
				refuse(image, size, 14, v, CUCKOO_BAD_RESERVED);
				refuse(image, size, 15, v, CUCKOO_BAD_RESERVED);
				for (uint64_t i = 1; i <= 8; i++)
					refuse(image, size, size - i, image[size - i] ^ v,
						   CUCKOO_BAD_CHECKSUM);
				for (uint64_t i = 17; i < 24; i++)
					refuse(image, size, i, v, CUCKOO_BAD_ITEMS);
			}
			if (v != (int) t.h.items)
				refuse(image, size, 16, v, CUCKOO_BAD_ITEMS);
			if (v == 0 || v % 2 == 1)
				refuse(image, size, 8, v, CUCKOO_BAD_BUCKETS);
			else if (v != 6)
				refuse(image, size, 8, v, CUCKOO_BAD_LENGTH);
			if (v != 0)
			{
				refuse(image, size, 10, v, CUCKOO_BAD_LENGTH);
				refuse(image, size, 11, v, CUCKOO_BAD_LENGTH);
			}
		}

		/* an impossible length that an overflow might make possible */
		for (int v = 1; v < 256; v++)
		{
			uint8_t    *p = copy_of(image, size);

			p[4] = 32;
			p[5] = 8;
			p[6] = 24;
			p[10] = (uint8_t) v;
			p[11] = (uint8_t) v;
			CHECK(cuckoo_validate(p, size) == CUCKOO_BAD_LENGTH, "%d", v);
			free(p);
		}

		for (uint64_t pos = 0; pos < 6; pos++)
		{
			static const uint32_t none[4] = {0, 0, 0, 0};
			uint32_t	lanes[4] = {0, 0, 0, 0};

			for (uint32_t code = 3876; code < 4096; code++)
				refuse_bucket(image, size, f, pos, code, none, CUCKOO_BAD_CODE);

			/* 0000 and 000f: a zero fixed byte below other bits, in each slot */
			if (f > 8)
				for (int i = 0; i < 4; i++)
				{
					for (int k = 0; k < 4; k++)
						lanes[k] = k < i ? 0 : 0x10;
					refuse_bucket(image, size, f, pos, 0, lanes, CUCKOO_BAD_SLOT);
					lanes[3] = top;
					if (i < 3)
						refuse_bucket(image, size, f, pos, 15, lanes, CUCKOO_BAD_SLOT);
				}

			/* ffff, 0011, 0000: equal nibbles, values falling */
			for (int i = 0; i < 3; i++)
			{
				for (int k = 0; k < 4; k++)
					lanes[k] = k <= i ? top : top - 1;
				refuse_bucket(image, size, f, pos, 3875, lanes, CUCKOO_BAD_ORDER);
			}
			lanes[0] = lanes[1] = 0;
			lanes[2] = 2;
			lanes[3] = 1;
			refuse_bucket(image, size, f, pos, 16, lanes, CUCKOO_BAD_ORDER);
			lanes[2] = 1;
			lanes[3] = 0;
			refuse_bucket(image, size, f, pos, 0, lanes, CUCKOO_BAD_ORDER);
		}

		/* one item more or less than stored */
		{
			uint8_t    *p = copy_of(image, size);
			uint32_t	empty[4] = {0, 0, 0, 0};
			uint32_t	slots[4];
			uint64_t	pos = 0;

			do
				naive_get(p + 32, pos++, f, slots);
			while (slots[3] == 0);
			naive_put(p + 32, pos - 1, f, empty);
			CHECK(unit_validate(p, size) == CUCKOO_BAD_ITEMS, "f %d", f);
			free(p);
		}
		unit_filter_free(&t);
	}

	/* windows that the base cannot have; where it can, a filter need not */
	for (uint32_t base = 2; base < 10000; base += base < 600 ? 2 : 62)
	{
		UnitFilter	t = some_filter(base, 13, 0, 0.01);
		uint64_t	size = cuckoo_image_size(&t.h);

		CHECK(cuckoo_validate(t.image, size) == CUCKOO_OK &&
			  t.image[7] == unit_may_have_windows(base), "m0 %" PRIu32, base);
		for (int v = 0; v < 256; v++)
			if (v > (unit_may_have_windows(base) ? 1 : 0))
				refuse(t.image, size, 7, v, CUCKOO_BAD_FLAGS);
			else
			{
				t.image[7] = (uint8_t) v;
				CHECK(unit_validate(t.image, size) == CUCKOO_OK,
					  "m0 %" PRIu32 ", flags %d", base, v);
			}
		unit_filter_free(&t);
	}

	/* the reserved bytes, with and without windows */
	for (int windows = 0; windows < 2; windows++)
	{
		UnitFilter	t = some_filter(windows ? 128 : 126, 13, 0, 0.1);
		uint64_t	size = cuckoo_image_size(&t.h);

		CHECK(t.image[CUCKOO_AT_FLAGS] == windows, "windows %d", windows);
		for (int v = 1; v < 65536; v++)
		{
			cuckoo_store16(t.image + CUCKOO_AT_RESERVED, (uint16_t) v);
			CHECK(unit_validate(t.image, size) == CUCKOO_BAD_RESERVED,
				  "reserved bytes %d", v);
		}
		unit_filter_free(&t);
	}

	/* the tag belongs to the family "other"; an empty filter to none */
	{
		UnitFilter	t = some_filter(2, 13, 0, 0);
		uint64_t	size = cuckoo_image_size(&t.h);

		t.image[3] = CUCKOO_FAMILY_NONE;
		CHECK(unit_validate(t.image, size) == CUCKOO_OK, "empty");
		refuse(t.image, size, 12, 1, CUCKOO_BAD_TAG);
		t.image[3] = CUCKOO_FAMILY_OTHER;
		t.image[12] = 0x34;
		t.image[13] = 0x12;
		CHECK(unit_validate(t.image, size) == CUCKOO_OK, "tag");
		CHECK(cuckoo_header_read(&t.h, t.image, size) == CUCKOO_OK &&
			  t.h.tag == 0x1234 && t.h.family == CUCKOO_FAMILY_OTHER, "tag");
		unit_filter_free(&t);
	}

	for (int status = CUCKOO_BAD_SHORT; status <= CUCKOO_BAD_ITEMS; status++)
		CHECK(provoked[status], "\"%s\" never provoked",
			  cuckoo_status_text((CuckooStatus) status));
	for (int status = CUCKOO_OK; status <= CUCKOO_BAD_ITEMS; status++)
	{
		const char *text = cuckoo_status_text((CuckooStatus) status);

		CHECK(strcmp(text, "unknown status") != 0, "status %d", status);
		for (int other = 0; other < status; other++)
			CHECK(strcmp(text, cuckoo_status_text((CuckooStatus) other)) != 0,
				  "status %d", status);
	}
	printf("refusals: all %d reasons, every width\n",
		   CUCKOO_BAD_ITEMS - CUCKOO_BAD_SHORT + 1);
}

/* ---------------------------------------------------------------- */
/* Hostile bytes */

/*
 * Whatever the validator lets through: all operations on it, in memory of
 * exactly its size, and valid again after each.
 */
static void
use_image(const uint8_t *image, uint64_t size)
{
	UnitFilter	f;
	uint8_t    *before;

	f.image = copy_of(image, size);
	CHECK(cuckoo_header_read(&f.h, f.image, size) == CUCKOO_OK, "read");
	if (f.h.family == CUCKOO_FAMILY_NONE)
		f.h.family = CUCKOO_FAMILY_TEXT;
	cuckoo_header_write(&f.h, f.image);
	before = copy_of(f.image, size);
	for (int i = 0; i < 12; i++)
	{
		uint64_t	hash = i == 0 ? 0 : i == 1 ? UINT64_MAX : unit_random();
		uint64_t	items = f.h.items;
		bool		found = cuckoo_contains(&f.h, f.image, hash);
		int			copies = cuckoo_copies(&f.h, f.image, hash);
		CuckooStatus status;

		CHECK(found == (copies > 0), "hash %" PRIx64, hash);
		memcpy(before, f.image, size);
		if (i % 3 < 2)
		{
			status = cuckoo_insert(&f.h, f.image, hash, 1 + i % 2);
			CHECK(status == CUCKOO_OK || memcmp(before, f.image, size) == 0,
				  "changed by a failed insert");
			CHECK(f.h.items == items + (status == CUCKOO_OK), "items");
			if (status == CUCKOO_OK)
				CHECK(cuckoo_copies(&f.h, f.image, hash) == copies + 1, "insert");
		}
		else
		{
			status = cuckoo_remove(&f.h, f.image, hash);
			CHECK(status == CUCKOO_OK || memcmp(before, f.image, size) == 0,
				  "changed by a failed remove");
			CHECK(f.h.items == items - (status == CUCKOO_OK), "items");
		}
	}
	CHECK(unit_validate(f.image, size) == CUCKOO_OK, "after use");
	if (size < 65536)
	{
		memcpy(before, f.image, size);
		if (unit_filter_grow(&f) == CUCKOO_OK)
		{
			CHECK(unit_validate(f.image, cuckoo_image_size(&f.h)) == CUCKOO_OK,
				  "grown");
			CHECK(unit_filter_shrink(&f) == CUCKOO_OK &&
				  memcmp(f.image, before, size - CUCKOO_TAIL_SIZE) == 0,
				  "grown and shrunk");
		}
		while (f.h.level > 0)
		{
			CuckooStatus status = unit_filter_shrink(&f);

			CHECK(status == CUCKOO_OK || status == CUCKOO_FULL, "status %d",
				  (int) status);
			CHECK(unit_validate(f.image, cuckoo_image_size(&f.h)) == CUCKOO_OK,
				  "shrunk");
			if (status != CUCKOO_OK)
				break;
		}
	}
	free(before);
	unit_filter_free(&f);
}

/* Valid bytes that no sequence of inserts would leave. */
static void
make_hostile(UnitFilter *f)
{
	uint32_t	mask = (uint32_t) ((UINT64_C(1) << f->h.bits) - 1);
	uint32_t	same = ((uint32_t) unit_random() & mask) | 1;
	uint64_t	mood = unit_below(4);

	f->h.items = 0;
	for (uint32_t pos = 0; pos < f->h.buckets; pos++)
	{
		uint32_t	slots[4] = {0, 0, 0, 0};

		for (int i = 0; i < 4; i++)
		{
			if (mood > 0 && unit_below(8) == 0)
				continue;
			slots[i] = mood < 2 ? same : (uint32_t) unit_random() & mask;
			if (slots[i] % 256 == 0)
				slots[i] |= 0x80;
			f->h.items++;
		}
		naive_put(f->image + 32, pos, f->h.bits, slots);
	}
	cuckoo_header_write(&f->h, f->image);
	cuckoo_checksum_write(f->image, cuckoo_image_size(&f->h));
}

static void
test_hostile(void)
{
	uint64_t	rounds = unit_long ? 20000 : 1500;
	uint64_t	accepted = 0;
	uint64_t	refused = 0;

	for (uint64_t round = 0; round < rounds; round++)
	{
		static const uint32_t bases[] = {2, 4, 6, 34, 62, 128, 190, 4096};
		uint32_t	base = bases[round % 97 == 0 ? 7 : unit_below(7)];
		int			f0 = 8 + (int) (round % 25);
		int			level = base > 1000 ? 0 : (int) unit_below((uint64_t) (f0 - 7)) % 5;
		UnitFilter	f = some_filter(base, f0, level, (double) unit_below(100) / 100);
		uint64_t	size = cuckoo_image_size(&f.h);

		if (round % 3 == 0)
		{
			make_hostile(&f);
			CHECK(cuckoo_validate(f.image, size) == CUCKOO_OK, "hostile: %s",
				  cuckoo_status_text(cuckoo_validate(f.image, size)));
			use_image(f.image, size);
		}
		for (int i = 0; i < (base > 1000 ? 4 : 40); i++)
		{
			uint8_t    *p = copy_of(f.image, size);
			uint64_t	changes = 1 + unit_below(3);

			while (changes-- > 0)
			{
				/* change the header as often as all the rest */
				uint64_t	at = unit_below(unit_below(2) && i % 4 ? 32 : size);

				if (unit_below(2))
					p[at] = (uint8_t) unit_random();
				else
					p[at] ^= (uint8_t) (1 << unit_below(8));
			}
			CHECK(cuckoo_validate(p, size) != CUCKOO_OK ||
				  memcmp(p, f.image, size) == 0, "damage");
			cuckoo_checksum_write(p, size);
			if (cuckoo_validate(p, size) == CUCKOO_OK)
			{
				accepted++;
				if (base < 1000 || i == 0)
					use_image(p, size);
			}
			else
				refused++;
			free(p);
		}
		unit_filter_free(&f);
	}

	/* nothing but noise behind a good beginning */
	for (uint64_t round = 0; round < rounds * 20; round++)
	{
		uint64_t	size = unit_below(120);
		uint8_t    *p = unit_alloc(size);

		for (uint64_t i = 0; i < size; i++)
			p[i] = (uint8_t) unit_random();
		if (size >= 32)
		{
			memcpy(p, "CF\1\1", 4);
			p[4] = (uint8_t) (8 + unit_below(25));
			p[5] = 8;
			p[6] = (uint8_t) unit_below(p[4] - 7);
			memset(p + 7, 0, 9);
			p[8] = (uint8_t) (2 * unit_below(8));
		}
		if (size >= CUCKOO_TAIL_SIZE)
			cuckoo_checksum_write(p, size);
		CHECK(cuckoo_validate(p, size) != CUCKOO_OK, "noise");
		free(p);
	}
	printf("hostile: %" PRIu64 " corrupted images refused, %" PRIu64
		   " accepted and used\n", refused, accepted);
}

/* ---------------------------------------------------------------- */
/* Damage, and the checksum */

/* All flips of one bit of an image of 10 kB, and other damage, are refused. */
static void
test_damage(void)
{
	UnitFilter	f = some_filter(1662, 13, 0, 0.9);
	uint64_t	size = cuckoo_image_size(&f.h);
	uint8_t    *p = copy_of(f.image, size);
	uint64_t	taken = 0;
	uint64_t	cuts = 0;

	CHECK(cuckoo_validate(p, size) == CUCKOO_OK, "%" PRIu64 " bytes", size);
	for (uint64_t bit = 0; bit < size * 8; bit++)
	{
		p[bit / 8] ^= (uint8_t) (1 << bit % 8);
		taken += cuckoo_validate(p, size) == CUCKOO_OK;
		p[bit / 8] ^= (uint8_t) (1 << bit % 8);
	}
	CHECK(taken == 0, "%" PRIu64 " flips of a bit taken", taken);

	/* random bytes over a part, and parts that change places */
	for (int i = 0; i < 20000; i++)
	{
		uint64_t	n = 1 + unit_below(i % 2 ? 16 : size);
		uint64_t	at = unit_below(size - n + 1);

		if (i % 3 == 0)
			memmove(p + at, f.image + unit_below(size - n + 1), n);
		else
			for (uint64_t k = at; k < at + n; k++)
				p[k] = (uint8_t) unit_random();
		if (memcmp(p, f.image, size) != 0)
			taken += cuckoo_validate(p, size) == CUCKOO_OK;
		memcpy(p + at, f.image + at, n);
	}
	CHECK(taken == 0, "%" PRIu64 " overwritten images taken", taken);
	free(p);

	/* cut off, and followed by others, in memory of that length */
	for (uint64_t length = 0; length < 2 * size; length += 1 + length % 7)
	{
		p = unit_alloc(length);
		memcpy(p, f.image, length < size ? length : size);
		if (length > size && length % 2)
			memcpy(p + size, f.image, length - size);
		if (length != size)
			taken += cuckoo_validate(p, length) == CUCKOO_OK;
		cuts++;
		free(p);
	}
	CHECK(taken == 0, "%" PRIu64 " images of another length taken", taken);
	printf("damage: %" PRIu64 " flips of a bit, %" PRIu64 " other lengths\n",
		   size * 8, cuts);
	unit_filter_free(&f);
}

/*
 * What stands after the last bucket neither matters to any function nor is
 * changed by one.
 */
static void
test_tail(void)
{
	for (int round = 0; round < 2500; round++)
	{
		int			f0 = 8 + round % 25;
		uint32_t	base = round % 3 == 0 ? 128 : 2 + 2 * (uint32_t) unit_below(10);
		UnitFilter	f = some_filter(base, f0, f0 > 8 ? round % 2 : 0,
									(double) unit_below(95) / 100);
		uint64_t	size = cuckoo_image_size(&f.h);
		uint64_t	tail = round % 4 == 0 ? UINT64_MAX : unit_random();
		UnitFilter	g = {f.h, copy_of(f.image, size)};
		uint64_t	hashes[40] = {0};
		bool		found[2][40];

		cuckoo_store64(f.image + size - CUCKOO_TAIL_SIZE, 0);
		cuckoo_store64(g.image + size - CUCKOO_TAIL_SIZE, tail);
		for (int i = 0; i < 40; i++)
		{
			uint64_t	hash = hashes[i] = i % 4 == 3 ? hashes[i - 1] : unit_random();
			CuckooProbe probe;

			cuckoo_probe_init(&probe, &f.h, hash);
			CHECK(cuckoo_copies(&f.h, f.image, hash) ==
				  cuckoo_copies(&g.h, g.image, hash) &&
				  cuckoo_contains(&f.h, f.image, hash) ==
				  cuckoo_contains(&g.h, g.image, hash) &&
				  cuckoo_probe_copies(&probe, &g.h, g.image + probe.offset[0],
									  g.image + probe.offset[1]) ==
				  cuckoo_copies(&f.h, f.image, hash), "f0 %d", f0);
			if (i % 4 == 3)
				CHECK(cuckoo_remove(&f.h, f.image, hash) ==
					  cuckoo_remove(&g.h, g.image, hash), "f0 %d", f0);
			else
				CHECK(cuckoo_insert(&f.h, f.image, hash, 2) ==
					  cuckoo_insert(&g.h, g.image, hash, 2), "f0 %d", f0);
			CHECK(memcmp(f.image, g.image, size - CUCKOO_TAIL_SIZE) == 0 &&
				  cuckoo_load64(g.image + size - CUCKOO_TAIL_SIZE) == tail,
				  "f0 %d, m0 %" PRIu32 ", change %d", f0, base, i);
		}
		cuckoo_contains_batch(&f.h, f.image, hashes, 40, found[0]);
		cuckoo_contains_batch(&g.h, g.image, hashes, 40, found[1]);
		CHECK(memcmp(found[0], found[1], sizeof(found[0])) == 0 &&
			  unit_validate(g.image, size) == CUCKOO_OK, "f0 %d", f0);
		if (unit_filter_grow(&f) == CUCKOO_OK)
		{
			CHECK(unit_filter_grow(&g) == CUCKOO_OK &&
				  memcmp(f.image, g.image, cuckoo_image_size(&f.h)) == 0,
				  "f0 %d, grown", f0);
		}
		unit_filter_free(&f);
		unit_filter_free(&g);
	}
	printf("no function depends on what follows the buckets\n");
}

/* ---------------------------------------------------------------- */
/* Header and geometry */

static void
test_round_trip(void)
{
	for (int i = 0; i < 20000; i++)
	{
		int			f0 = 8 + (int) unit_below(25);
		CuckooHeader h = unit_header(2 * (1 + (uint32_t) unit_below(i % 2 ? 50 : 40000)),
									 f0, 8 + (int) unit_below((uint64_t) (f0 - 7)));
		CuckooHeader back;
		uint8_t		image[32];

		if (unit_below(2))
			h.windows = false;
		h.items = unit_below((uint64_t) h.buckets * CUCKOO_SLOTS + 1);
		h.seed = unit_random();
		h.family = (uint8_t) unit_below(CUCKOO_FAMILY_LAST + 1);
		if (h.family == CUCKOO_FAMILY_OTHER)
			h.tag = (uint16_t) unit_random();
		if (cuckoo_header_set_level(&h, (int) unit_below((uint64_t) (f0 - 7))) !=
			CUCKOO_OK)
			continue;
		cuckoo_header_write(&h, image);
		memset(&back, 0xa5, sizeof(back));
		CHECK(cuckoo_header_read(&back, image, cuckoo_image_size(&h)) == CUCKOO_OK,
			  "m0 %" PRIu32, h.base);
		CHECK(back.items == h.items && back.seed == h.seed && back.base == h.base &&
			  back.buckets == h.buckets && back.tag == h.tag &&
			  back.family == h.family && back.base_bits == h.base_bits &&
			  back.fpp_bits == h.fpp_bits && back.level == h.level &&
			  back.bits == h.bits && back.windows == h.windows,
			  "m0 %" PRIu32 ", f0 %d, g %d", h.base, f0, h.level);
		CHECK(h.buckets == (uint64_t) h.base << h.level && h.bits == f0 - h.level &&
			  cuckoo_image_size(&h) == 40 + (uint64_t) h.buckets * (4 * h.bits - 4) / 8,
			  "m0 %" PRIu32 ", f0 %d, g %d", h.base, f0, h.level);

		/* more items than slots, for which memory would be allocated */
		h.items = (uint64_t) h.buckets * CUCKOO_SLOTS + 1 +
			(unit_random() >> (1 + unit_below(63)));
		cuckoo_header_write(&h, image);
		CHECK(cuckoo_header_read(&back, image, cuckoo_image_size(&h)) ==
			  CUCKOO_BAD_ITEMS, "%" PRIu64 " items", h.items);
	}
	printf("headers: round trip\n");
}

static void
check_header(const CuckooHeader *h, uint64_t n, int bits, uint64_t seed,
			 const char *what)
{
	uint8_t		image[32];
	CuckooHeader back;

	CHECK(h->base >= 2 && h->base % 2 == 0, "%s %" PRIu64 ": m0 %" PRIu32, what, n,
		  h->base);
	CHECK(!h->windows || unit_may_have_windows(h->base),
		  "%s %" PRIu64 ": m0 %" PRIu32, what, n, h->base);
	CHECK(h->level == 0 && h->bits == h->base_bits && h->buckets == h->base &&
		  h->items == 0 && h->seed == seed && h->family == 0 && h->tag == 0,
		  "%s %" PRIu64, what, n);
	CHECK(h->fpp_bits == bits && h->base_bits >= bits && h->base_bits <= 32,
		  "%s %" PRIu64 ": %d of %d bits", what, n, h->base_bits, bits);
	CHECK(cuckoo_image_size(h) <= UINT64_C(512) << 20, "%s %" PRIu64, what, n);
	cuckoo_header_write(h, image);
	CHECK(cuckoo_header_read(&back, image, cuckoo_image_size(h)) == CUCKOO_OK,
		  "%s %" PRIu64, what, n);
}

/*
 * The buckets that n elements need at load 0.95.  More than 2^40 elements count
 * as 2^40, which is too large for any image, too, and keeps products small.
 */
static uint64_t
least_buckets(uint64_t n)
{
	if (n > UINT64_C(1) << 40)
		n = UINT64_C(1) << 40;
	return ((n > 0 ? n : 1) * 5 + 18) / 19;
}

static void
check_exact(uint64_t n, int bits)
{
	CuckooHeader h;
	CuckooHeader g;
	CuckooStatus status = cuckoo_header_exact(&h, n, bits, n * 3);
	uint64_t	least = least_buckets(n);

	/* what it needs at load 0.95, rounded up */
	if (least * (4 * (unsigned) bits - 4) / 8 + 40 + 128 * 16 >
		UINT64_C(512) << 20)
	{
		if ((least - 1) * (4 * (unsigned) bits - 4) / 8 + 40 >
			UINT64_C(512) << 20)
			CHECK(status == CUCKOO_TOO_LARGE, "exact %" PRIu64 ", %d bits: %s",
				  n, bits, cuckoo_status_text(status));
		return;
	}
	CHECK(status == CUCKOO_OK, "exact %" PRIu64 ", %d bits: %s", n, bits,
		  cuckoo_status_text(status));
	if (status != CUCKOO_OK)
		return;
	check_header(&h, n, bits, n * 3, "exact");
	CHECK(h.base_bits == bits, "exact %" PRIu64, n);
	CHECK(cuckoo_capacity(&h) >= n, "exact %" PRIu64 ": capacity %" PRIu64, n,
		  cuckoo_capacity(&h));
	CHECK(h.base >= least && h.base <= least + 128, "exact %" PRIu64 ": m0 %" PRIu32, n,
		  h.base);
	CHECK(h.windows == (h.base >= 16384), "exact %" PRIu64 ": m0 %" PRIu32, n,
		  h.base);
	if (h.base < 16384)
		CHECK(h.base <= least + 1, "exact %" PRIu64 ": m0 %" PRIu32, n, h.base);
	else
		CHECK(h.base % 128 == 0, "exact %" PRIu64 ": m0 %" PRIu32, n, h.base);
	g = h;
	g.items = n;
	CHECK(cuckoo_fpp_now(&g) <= 8 * 0.95 / (double) (UINT64_C(1) << bits) * (1 + 1e-12),
		  "exact %" PRIu64 ": %g", n, cuckoo_fpp_now(&g));
	CHECK(cuckoo_fpp_at_capacity(&g) >= cuckoo_fpp_now(&g) * (1 - 1e-12) &&
		  cuckoo_fpp_at_capacity(&g) == ldexp(8 * 0.95, -bits),
		  "exact %" PRIu64 ": %g", n, cuckoo_fpp_at_capacity(&g));
	if (n < 1000000)
	{
		uint32_t	percent = 1 + (uint32_t) unit_below(100);

		g.family = CUCKOO_FAMILY_OTHER;
		g.tag = (uint16_t) (1 + unit_below(65535));
		h.tag = g.tag;
		CHECK(cuckoo_header_enlarge(&g, (int) percent) == CUCKOO_OK &&
			  g.family == CUCKOO_FAMILY_OTHER && g.tag == h.tag &&
			  g.base > h.base && g.base >= h.base + h.base * percent / 100 &&
			  g.base <= h.base + h.base * percent / 100 + 4 + 128 &&
			  g.base_bits == h.base_bits && g.fpp_bits == bits &&
			  g.seed == h.seed, "exact %" PRIu64 ": enlarged by %" PRIu32
			  " to %" PRIu32, n, percent, g.base);
		g.items = 0;
		g.family = CUCKOO_FAMILY_NONE;
		g.tag = 0;
		check_header(&g, n, bits, n * 3, "enlarged");
	}
}

static void
check_sized(uint64_t n, int bits)
{
	CuckooHeader h;
	CuckooHeader g;
	CuckooStatus status = cuckoo_header_sized(&h, n, bits, n * 7);
	uint64_t	least = least_buckets(n);
	int			doublings;
	int			least_bits = bits > 8 ? bits : 9;	/* one to grow by */

	/* rounding the base up costs at most 1/16, or 1/32 with windows */
	if (least * (4 * (unsigned) least_bits - 4) / 8 + 40 >
		UINT64_C(512) << 20)
	{
		CHECK(status == CUCKOO_TOO_LARGE, "sized %" PRIu64 ", %d bits: %s", n, bits,
			  cuckoo_status_text(status));
		return;
	}
	if (least * 17 / 16 * (4 * (unsigned) least_bits - 4) / 8 + 40 + 4096 >
		UINT64_C(512) << 20)
		return;
	CHECK(status == CUCKOO_OK, "sized %" PRIu64 ", %d bits: %s", n, bits,
		  cuckoo_status_text(status));
	if (status != CUCKOO_OK)
		return;
	check_header(&h, n, bits, n * 7, "sized");
	doublings = h.base_bits - least_bits;
	CHECK(doublings >= 0, "sized %" PRIu64, n);
	CHECK(cuckoo_capacity(&h) >= n, "sized %" PRIu64 ": capacity %" PRIu64, n,
		  cuckoo_capacity(&h));
	CHECK((uint64_t) h.base << doublings >= least, "sized %" PRIu64, n);
	CHECK(((uint64_t) h.base << doublings) * 16 <= least * 17 + 32 &&
		  (!h.windows || ((uint64_t) h.base << doublings) * 32 <=
		   least * 33 + ((uint64_t) 32 << doublings)),
		  "sized %" PRIu64 ": %" PRIu32 " << %d for %" PRIu64, n, h.base, doublings,
		  least);
	CHECK(h.windows == (n > 1000000 || (least - 1) >> doublings >= 4095),
		  "sized %" PRIu64, n);
	if (n <= 1000000)
		CHECK((h.base <= 64 || h.base_bits == 32) &&
			  (h.base >= 32 || doublings == 0),
			  "sized %" PRIu64 ": m0 %" PRIu32, n, h.base);
	else if (least <= UINT64_C(256) << (32 - least_bits))
		CHECK(h.base >= 128 && h.base <= 256, "sized %" PRIu64 ": m0 %" PRIu32, n,
			  h.base);
	else						/* with fewer, rounding up costs more */
		for (int d = doublings + 1; d <= 32 - least_bits; d++)
		{
			uint64_t	fewer = ((least - 1) >> d) + 1;

			CHECK((fewer + 127) / 128 * 128 * 32 > fewer * 33,
				  "sized %" PRIu64 ": m0 %" PRIu32 ", not %" PRIu64, n, h.base,
				  fewer);
		}
	CHECK(cuckoo_header_sized(&g, n, bits, n * 7) == CUCKOO_OK &&
		  memcmp(&g, &h, sizeof(g)) == 0, "sized %" PRIu64 ": not the same again", n);
	/* the rate asked for at capacity, at the level where it is reached */
	g.items = n;
	CHECK(cuckoo_fpp_now(&g) <= 8 * 0.95 / (double) (UINT64_C(1) << bits) * (1 + 1e-12),
		  "sized %" PRIu64 ": %g", n, cuckoo_fpp_now(&g));
	CHECK(cuckoo_header_set_level(&g, doublings) == CUCKOO_OK && g.bits == least_bits,
		  "sized %" PRIu64, n);
}

static void
test_geometry(void)
{
	static const int widths[] = {8, 9, 10, 13, 17, 18, 24, 30, 32};
	double		most = 0;
	uint64_t	worst = 0;
	CuckooHeader h;

	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
	{
		int			bits = widths[w];

		for (uint64_t n = 0; n < 5000; n++)
		{
			check_exact(n, bits);
			check_sized(n, bits);
		}
		for (int k = 12; k < 63; k++)
			for (int64_t d = -3; d <= 3; d++)
			{
				uint64_t	n = (UINT64_C(1) << k) + (uint64_t) d;

				check_exact(n, bits);
				check_sized(n, bits);
				/* bucket numbers at powers of two */
				if (k < 58)
				{
					check_exact(n * 19 / 5, bits);
					check_sized(n * 19 / 5, bits);
				}
			}
		for (int i = 0; i < 20000; i++)
		{
			uint64_t	n = unit_random() >> unit_below(64);

			check_exact(n, bits);
			check_sized(n, bits);
		}
	}

	/* bits per item, where there are enough for the header not to count */
	for (uint64_t i = 0; i < 300000; i++)
	{
		uint64_t	n;
		double		each;

		if (i % 3 == 0)
			n = 20000 + (uint64_t) (pow((double) unit_below(1000000) / 1e6, 3) * 1e7);
		else if (i % 3 == 1)	/* 128 * 3.8 = 486.4 */
			n = (uint64_t) (486.4 * (double) (42 + unit_below(20500))) + unit_below(7) - 3;
		else
			n = (uint64_t) (1.05 * (double) (UINT64_C(1) << (15 + unit_below(9)))) +
				unit_below(1000) - 500;
		if (n < 20000)
			n = 20000;
		CHECK(cuckoo_header_exact(&h, n, cuckoo_fpp_bits(0.001), 0) == CUCKOO_OK,
			  "%" PRIu64, n);
		each = (double) cuckoo_image_size(&h) * 8 / (double) n;
		CHECK(each <= 12.75, "%" PRIu64 " items: %.4f bits each", n, each);
		if (each > most)
		{
			most = each;
			worst = n;
		}
	}
	printf("exact fit at 0.001: at most %.4f bits per item, for %" PRIu64 "\n", most,
		   worst);

	CHECK(cuckoo_header_sized(&h, 1000000, cuckoo_fpp_bits(0.001), 0) == CUCKOO_OK &&
		  cuckoo_image_size(&h) < 1024, "%" PRIu64 " bytes", cuckoo_image_size(&h));
	printf("empty, for 1e6 at 0.001: %" PRIu64 " bytes", cuckoo_image_size(&h));
	CHECK(cuckoo_header_sized(&h, 1000000, cuckoo_fpp_bits(1e-8), 0) == CUCKOO_OK,
		  "1e-8");
	printf("; at 1e-8: %" PRIu64, cuckoo_image_size(&h));
	CHECK(cuckoo_header_sized(&h, 10000000, cuckoo_fpp_bits(0.001), 0) == CUCKOO_OK,
		  "1e7");
	printf("; for 1e7 at 0.001: %" PRIu64 "\n", cuckoo_image_size(&h));
}

/* the capacity of more than 2^32 items, and images around the largest size */
static void
test_large_headers(void)
{
	CuckooHeader h = {0};
	CuckooHeader read;
	uint8_t		image[64] = {0};

	h.base = 1000;
	h.base_bits = 32;
	h.fpp_bits = 8;
	CHECK(cuckoo_capacity(&h) == UINT64_C(63753420800), "%" PRIu64, cuckoo_capacity(&h));

	/* 3.5 bytes for each bucket */
	CHECK(cuckoo_header_exact(&h, 1, 8, 0) == CUCKOO_OK, "smallest");
	for (uint32_t base = 153391666; base <= 153391690; base += 2)
	{
		uint64_t	size = 40 + (uint64_t) base / 2 * 7;

		h.base = base;
		cuckoo_header_derive(&h);
		cuckoo_header_write(&h, image);
		CHECK(cuckoo_header_read(&read, image, size) ==
			  (size > CUCKOO_MAX_SIZE ? CUCKOO_BAD_LENGTH : CUCKOO_OK), "%" PRIu64, size);
	}
}

static void
test_fpp_bits(void)
{
	static const double asked[] = {0.5, 0.03, 0.01, 0.001, 0.0001, 1e-8};
	static const int bits[] = {8, 8, 10, 13, 17, 30};

	for (int i = 0; i < 6; i++)
		CHECK(cuckoo_fpp_bits(asked[i]) == bits[i], "%g: %d", asked[i],
			  cuckoo_fpp_bits(asked[i]));
	for (int f = 8; f < 30; f++)
	{
		double		fpp = ldexp(7.6, -f);

		CHECK(f == 8 || cuckoo_fpp_bits(fpp) == f, "%d bits", f);
		CHECK(cuckoo_fpp_bits(nextafter(fpp, 0)) == f + 1, "below %d bits", f);
	}
	for (int i = 0; i < 100000; i++)
	{
		double		fpp = pow(10, -8 * (double) unit_below(1000001) / 1e6) * 0.5;
		int			f;

		if (fpp < 1e-8)
			fpp = 1e-8;
		f = cuckoo_fpp_bits(fpp);
		CHECK(f >= 8 && f <= 30 && 7.6 / (double) (UINT64_C(1) << f) <= fpp &&
			  (f == 8 || 7.6 / (double) (UINT64_C(1) << (f - 1)) > fpp),
			  "%g: %d", fpp, f);
	}
}

/* Arguments at which products of 64 bits wrap. */
static void
test_overflow(void)
{
	static const uint64_t large[] = {
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2, UINT64_MAX / 2 + 1,
		INT64_MAX, INT64_MAX - 1, UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1,
		(UINT64_C(1) << 32) + 1, UINT64_C(1) << 31, UINT64_C(1) << 30,
		(UINT64_C(1) << 30) + 1, UINT64_C(1) << 40
	};
	CuckooHeader h;
	uint64_t	wraps = 0;

	for (int bits = 8; bits <= 32; bits++)
	{
		for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		{
			CHECK(cuckoo_header_exact(&h, large[i], bits, 0) == CUCKOO_TOO_LARGE,
				  "exact %" PRIu64 ", %d bits", large[i], bits);
			CHECK(cuckoo_header_sized(&h, large[i], bits, 0) == CUCKOO_TOO_LARGE,
				  "sized %" PRIu64 ", %d bits", large[i], bits);
		}
		/* base / 2 * (bits - 1) just over a multiple of 2^64 */
		for (int k = 1; k < bits - 1; k++)
		{
			uint64_t	base = (naive_unscale((uint64_t) k, (uint64_t) bits - 1) |
								255) + 1;
			uint64_t	items = base / 5 * 38 + base % 5 * 38 / 5;

			if (base > UINT64_MAX / 38 * 5)
				break;
			wraps++;
			CHECK(cuckoo_header_exact(&h, items, bits, 0) == CUCKOO_TOO_LARGE,
				  "exact %" PRIu64 ", %d bits: m0 %" PRIu32, items, bits, h.base);
			CHECK(cuckoo_header_sized(&h, items, bits, 0) == CUCKOO_TOO_LARGE,
				  "sized %" PRIu64 ", %d bits", items, bits);
		}
	}

	/*
	 * the largest capacity, and none beyond; f0 of a sized filter is 9 or
	 * more
	 */
	for (int bits = 8; bits <= 32; bits++)
	{
		uint64_t	most = cuckoo_max_capacity(bits);
		double		bytes = (double) most / 3.8 * ((bits == 8 ? 9 : bits) - 1) / 2;

		CHECK(cuckoo_header_sized(&h, most, bits, 0) == CUCKOO_OK &&
			  bytes > 0.96 * (512 << 20) && bytes <= 512 << 20,
			  "%d bits, capacity %" PRIu64, bits, most);
		for (uint64_t n = most + 1; n < most * 2; n += 1 + unit_below(most / 1000))
			CHECK(cuckoo_header_sized(&h, n, bits, 0) == CUCKOO_TOO_LARGE,
				  "%d bits, capacity %" PRIu64, bits, n);
	}

	/* enlarging and growing stop at the limit */
	for (int bits = 8; bits <= 32; bits++)
	{
		uint64_t	most = ((UINT64_C(512) << 20) - 40) / (unsigned) (bits - 1) * 2;
		uint64_t	base = most / 128 * 128;
		CuckooHeader g;

		CHECK(cuckoo_header_exact(&h, base * 19 / 5, bits, 0) == CUCKOO_OK &&
			  h.base == base && cuckoo_image_size(&h) <= UINT64_C(512) << 20,
			  "%d bits, m0 %" PRIu64, bits, base);
		CHECK(cuckoo_header_exact(&g, base * 19 / 5 + 2, bits, 0) == CUCKOO_TOO_LARGE,
			  "%d bits", bits);
		g = h;
		CHECK(cuckoo_header_enlarge(&g, 1) == CUCKOO_TOO_LARGE, "%d bits", bits);
		g = h;
		CHECK(cuckoo_header_set_level(&g, 1) ==
			  (bits == 8 ? CUCKOO_LAST_LEVEL : CUCKOO_TOO_LARGE), "%d bits", bits);
		CHECK(memcmp(&g, &h, sizeof(g)) == 0, "%d bits: header changed", bits);
		h = unit_header(2, bits, 8);
		for (int level = 0; level < 32; level++)
			CHECK(cuckoo_header_set_level(&h, level) ==
				  (level <= bits - 8 ? CUCKOO_OK : CUCKOO_LAST_LEVEL),
				  "%d bits, level %d", bits, level);
	}
	printf("limits: large arguments, %" PRIu64 " that wrap\n", wraps);
}

/* ---------------------------------------------------------------- */
/* Golden images */

/*
 * 8 bits, 2 buckets of 28 bits.  Element 00000000000000a7: fixed a7, bucket
 * floor(0 * 2) = 0, low nibbles 0007 = code 7, lanes 0, 0, 0, a.  Element
 * 8000000000000035: fixed 35, bucket 1, code 5, lanes 0, 0, 0, 3.  Together
 * a000007 + 3000005 * 2^28 = 3000005a000007, little-endian.  The last line is
 * the checksum, as Python's xxhash computes it.
 */
static const uint8_t golden_small[] = {
	'C', 'F', 1, 1, 8, 8, 0, 0,
	2, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	0x07, 0x00, 0x00, 0x5a, 0x00, 0x00, 0x30,
	0xe1, 0xc4, 0x1f, 0x46, 0x18, 0x9e, 0x1c, 0x8c
};

/*
 * 20 bits, 2 buckets of 76.  Elements 0123a7, 8000...0fed35, 4000...0b00 (fixed
 * 0 becomes 1), c000...0fed35 (the class of the second): buckets 0, 1, 0, 1.
 * Bucket 0: nibbles 0017 = code 16 + 6 = 0x16, lanes 0, 0, 00b0, 123a; bucket
 * 1: 0055 = code 16 + 15 + 14 + 13 + 12 = 0x46, lanes 0, 0, fed3, fed3.
 */
static const uint8_t golden_level0[] = {
	'C', 'F', 1, 1, 20, 13, 0, 0,
	2, 0, 0, 0, 0, 0, 0, 0,
	4, 0, 0, 0, 0, 0, 0, 0,
	0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
	0x16, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0b, 0xa0,
	0x23, 0x61, 0x04, 0x00, 0x00, 0x00, 0x00, 0xd3,
	0xfe, 0xd3, 0xfe,
	0xe3, 0x6f, 0xc0, 0x9a, 0xf1, 0x4c, 0x62, 0x82
};

/*
 * The same one level up, 19 bits, 4 buckets of 72.  The lowest extension bits
 * of 0123a7 and 000b01 are 1 and their j, 0, is the smaller: segment 1, which
 * is bucket 2, as 91a7 and 0501.  That of 0fed35 is 1, too, but its j is the
 * larger and H(35) >> 32 = 632fd669 is odd: segment 1 XOR 1 = 0, which is
 * bucket 1, as 7f635, twice.
 */
static const uint8_t golden_level1[] = {
	'C', 'F', 1, 1, 20, 13, 1, 0,
	2, 0, 0, 0, 0, 0, 0, 0,
	4, 0, 0, 0, 0, 0, 0, 0,
	0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x46, 0x00, 0x00, 0x00, 0x00, 0x8c, 0xfd,
	0xc7, 0xfe, 0x16, 0x00, 0x00, 0x00, 0x00, 0x40,
	0x01, 0x34, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0xf6, 0x27, 0x49, 0xec, 0xa7, 0xac, 0x49, 0x89
};

static void
check_golden(const UnitFilter *f, const uint8_t *golden, uint64_t size,
			 const char *what)
{
	cuckoo_checksum_write(f->image, cuckoo_image_size(&f->h));
	CHECK(cuckoo_image_size(&f->h) == size && memcmp(f->image, golden, size) == 0,
		  "golden image %s", what);
	CHECK(cuckoo_validate(golden, size) == CUCKOO_OK, "golden image %s", what);
}

static void
test_golden(void)
{
	static const uint64_t elements[] = {
		UINT64_C(0x123a7), UINT64_C(0x80000000000fed35),
		UINT64_C(0x4000000000000b00), UINT64_C(0xc0000000000fed35)
	};
	CuckooHeader h;
	UnitFilter	f;

	CHECK(cuckoo_header_exact(&h, 1, 8, 0) == CUCKOO_OK, "exact");
	unit_filter_init(&f, &h);
	cuckoo_insert(&f.h, f.image, 0xa7, 2);
	cuckoo_insert(&f.h, f.image, UINT64_C(0x8000000000000035), 2);
	check_golden(&f, golden_small, sizeof(golden_small), "small");
	unit_filter_free(&f);

	h = unit_header(2, 20, 13);
	h.seed = UINT64_C(0x0123456789abcdef);
	unit_filter_init(&f, &h);
	for (int i = 0; i < 4; i++)
		CHECK(cuckoo_insert(&f.h, f.image, elements[i], 2) == CUCKOO_OK, "%d", i);
	check_golden(&f, golden_level0, sizeof(golden_level0), "level 0");
	CHECK(unit_filter_grow(&f) == CUCKOO_OK, "grow");
	check_golden(&f, golden_level1, sizeof(golden_level1), "level 1");
	for (int i = 0; i < 4; i++)
		CHECK(cuckoo_copies(&f.h, f.image, elements[i]) == (i % 2 ? 2 : 1), "%d", i);
	CHECK(unit_filter_shrink(&f) == CUCKOO_OK, "shrink");
	check_golden(&f, golden_level0, sizeof(golden_level0), "level 0 again");
	unit_filter_free(&f);
	printf("golden images\n");
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_format");
	naive_init();
	TEST(test_golden());
	TEST(test_refusals());
	TEST(test_damage());
	TEST(test_tail());
	TEST(test_hostile());
	TEST(test_round_trip());
	TEST(test_large_headers());
	TEST(test_fpp_bits());
	TEST(test_geometry());
	TEST(test_overflow());
	return unit_end();
}
