/*-------------------------------------------------------------------------
 *
 * fuzz_packed.c
 *		Packed buckets against a reference that keeps their slots unpacked.
 *
 * The reference holds four fingerprints for each bucket.  naive.h packs them
 * bit by bit.  After each operation the image must be that, byte for byte.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bucket.h"
#include "fuzz.h"

#define BUCKETS	8				/* at most */

typedef struct Reference
{
	CuckooHeader h;
	uint8_t    *image;
	uint8_t    *expected;
	uint64_t	size;
	uint32_t	slots[BUCKETS][4];
} Reference;

/* Often empty, often with the nibble or the lane of another one. */
static uint32_t
some_fingerprint(const Reference *r)
{
	uint32_t	b = (uint32_t) unit_take(1);
	uint32_t	fp = b % 64;

	if (b >= 128)
		fp = b < 192 ? fp << (r->h.bits - 6) | 1 : (uint32_t) unit_take(4);
	fp &= (uint32_t) (UINT64_MAX >> (64 - r->h.bits));
	return fp % 256 == 0 ? 0 : fp;
}

/* A bucket of the reference has changed. */
static void
expect(Reference *r, uint64_t pos)
{
	naive_put(r->expected + CUCKOO_HEADER_SIZE, pos, r->h.bits, r->slots[pos]);
}

static void
check_image(Reference *r, const char *what)
{
	cuckoo_header_write(&r->h, r->expected);
	CHECK(memcmp(r->image, r->expected, r->size) == 0,
		  "%s: %" PRIu32 " buckets of %d bits", what, r->h.buckets, r->h.bits);
}

static void
fill(Reference *r)
{
	for (uint32_t pos = 0; pos < r->h.buckets; pos++)
	{
		uint32_t	sorted[4];
		uint32_t	unpacked[4];
		CuckooBits	bits;

		for (int i = 0; i < 4; i++)
		{
			r->slots[pos][i] = some_fingerprint(r);
			r->h.items += r->slots[pos][i] != 0;
		}
		bits = cuckoo_bucket_pack(r->slots[pos], r->h.bits);
		cuckoo_bucket_store(r->image + CUCKOO_HEADER_SIZE, &r->h, pos, bits);
		cuckoo_bucket_unpack(cuckoo_bucket_load(r->image + CUCKOO_HEADER_SIZE,
												&r->h, pos),
							 r->h.bits, unpacked);
		memcpy(sorted, r->slots[pos], sizeof(sorted));
		naive_sort(sorted);
		CHECK(memcmp(sorted, unpacked, sizeof(sorted)) == 0, "%d bits",
			  r->h.bits);
		expect(r, pos);
	}
	cuckoo_header_write(&r->h, r->image);
}

/* The slot of a bucket that has a fingerprint, or -1. */
static int
find(const uint32_t slots[4], uint32_t fp)
{
	for (int i = 0; i < 4; i++)
		if (slots[i] == fp)
			return i;
	return -1;
}

static int
copies(const Reference *r, const NaivePair *p)
{
	int			n = 0;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 4; i++)
			n += r->slots[p->pos[k]][i] == p->fp;
	return n < 2 ? n : 2;
}

/* A hash that leads to an entry, if there is one there, or any. */
static uint64_t
some_hash(const Reference *r)
{
	uint32_t	pos = (uint32_t) unit_below(r->h.buckets);
	uint32_t	fp = r->slots[pos][unit_below(4)];
	NaiveClass	c;

	if (fp == 0)
		return unit_random();
	c = naive_stored_class(r->h.base, r->h.windows, r->h.level, pos, fp);
	return ((naive_unscale(c.low, r->h.base) + (UINT64_C(1) << 33)) &
			~UINT64_C(0xffffffff)) | c.fp;
}

static void
insert(Reference *r, uint64_t hash, const NaivePair *p, int most)
{
	int			before = copies(r, p);
	CuckooStatus status = cuckoo_insert(&r->h, r->image, hash, most);

	CHECK((status == CUCKOO_UNCHANGED) == (before >= most), "%d copies", before);
	if (status != CUCKOO_OK)
		return;
	CHECK(cuckoo_copies(&r->h, r->image, hash) == before + 1, "%d copies", before);
	if (find(r->slots[p->pos[0]], 0) >= 0 || find(r->slots[p->pos[1]], 0) >= 0)
		for (int k = 0; k < 2; k++)
		{
			uint32_t	now[4];
			uint32_t	then[4];
			int			empty = find(r->slots[p->pos[k]], 0);

			naive_get(r->image + CUCKOO_HEADER_SIZE, p->pos[k], r->h.bits, now);
			memcpy(then, r->slots[p->pos[k]], sizeof(then));
			naive_sort(then);
			if (empty >= 0 && memcmp(now, then, sizeof(now)) != 0)
			{
				r->slots[p->pos[k]][empty] = p->fp;
				expect(r, p->pos[k]);
				return;
			}
		}
	/* others have moved, which fuzz_ops looks at */
	for (uint32_t pos = 0; pos < r->h.buckets; pos++)
	{
		naive_get(r->image + CUCKOO_HEADER_SIZE, pos, r->h.bits, r->slots[pos]);
		expect(r, pos);
	}
}

static void
take_out(Reference *r, uint64_t hash, const NaivePair *p)
{
	int			before = copies(r, p);

	CHECK(cuckoo_remove(&r->h, r->image, hash) ==
		  (before == 1 ? CUCKOO_OK : CUCKOO_UNCHANGED), "%d copies", before);
	for (int k = 0; k < 2 && before == 1; k++)
	{
		int			i = find(r->slots[p->pos[k]], p->fp);

		if (i >= 0)
			r->slots[p->pos[k]][i] = 0;
		expect(r, p->pos[k]);
	}
}

static void
fuzz(void)
{
	Reference	r = {fuzz_header(), NULL, NULL, 0, {{0}}};

	while (r.h.buckets > BUCKETS && r.h.level > 0)
		cuckoo_header_set_level(&r.h, r.h.level - 1);
	if (r.h.buckets > BUCKETS)
		r.h = unit_header(r.h.base % BUCKETS + 2, r.h.base_bits,
						  r.h.fpp_bits);
	r.size = cuckoo_image_size(&r.h);
	r.image = unit_alloc(r.size);
	r.expected = unit_alloc(r.size);
	/* what follows the buckets has no effect, and stays as it is */
	cuckoo_store64(r.image + r.size - CUCKOO_TAIL_SIZE, fuzz_digest);
	cuckoo_store64(r.expected + r.size - CUCKOO_TAIL_SIZE, fuzz_digest);
	r.h.family = CUCKOO_FAMILY_INTEGER;
	fill(&r);
	check_image(&r, "filled");
	while (unit_left > 0)
	{
		uint64_t	op = unit_take(1);
		uint64_t	hash = some_hash(&r);
		NaivePair	p = naive_pair(r.h.base, r.h.windows, r.h.base_bits,
								   r.h.level, hash);
		int			n = copies(&r, &p);

		CHECK(cuckoo_copies(&r.h, r.image, hash) == n &&
			  cuckoo_contains(&r.h, r.image, hash) == (n > 0), "%d copies", n);
		if (op % 2 == 0)
			insert(&r, hash, &p, 1 + (int) op / 2 % 2);
		else
			take_out(&r, hash, &p);
		check_image(&r, op % 2 == 0 ? "insert" : "remove");
	}
	free(r.image);
	free(r.expected);
}
