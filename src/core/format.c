/*-------------------------------------------------------------------------
 *
 * core/format.c
 *		The header, the checksum and the validator of images.  Texts of
 *		statuses.
 *
 * The only file of the core that hashes bytes.  It compiles XXH3 in, so
 * nothing is linked.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bucket.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint8_t magic[] = {'C', 'F'};

/* Each field begins where the field before ends. */
_Static_assert(CUCKOO_AT_VERSION == CUCKOO_AT_MAGIC + sizeof(magic) &&
			   CUCKOO_AT_FAMILY == CUCKOO_AT_VERSION + 1 &&
			   CUCKOO_AT_BASE_BITS == CUCKOO_AT_FAMILY + 1 &&
			   CUCKOO_AT_FPP_BITS == CUCKOO_AT_BASE_BITS + 1 &&
			   CUCKOO_AT_LEVEL == CUCKOO_AT_FPP_BITS + 1 &&
			   CUCKOO_AT_FLAGS == CUCKOO_AT_LEVEL + 1 &&
			   CUCKOO_AT_BASE == CUCKOO_AT_FLAGS + 1 &&
			   CUCKOO_AT_TAG == CUCKOO_AT_BASE + 4 &&
			   CUCKOO_AT_RESERVED == CUCKOO_AT_TAG + 2 &&
			   CUCKOO_AT_ITEMS == CUCKOO_AT_RESERVED + 2 &&
			   CUCKOO_AT_SEED == CUCKOO_AT_ITEMS + 8 &&
			   CUCKOO_AT_BUCKETS == CUCKOO_AT_SEED + 8,
			   "no gap and no overlap in the header");
_Static_assert(CUCKOO_HEADER_SIZE == CUCKOO_AT_BUCKETS &&
			   CUCKOO_HEADER_SIZE == 32, "the header of format version 1");

CuckooStatus
cuckoo_header_read(CuckooHeader *h, const uint8_t *image, uint64_t size)
{
	uint64_t	buckets;

	if (size < CUCKOO_HEADER_SIZE)
		return CUCKOO_BAD_SHORT;
	if (memcmp(image + CUCKOO_AT_MAGIC, magic, sizeof(magic)) != 0)
		return CUCKOO_BAD_MAGIC;
	if (image[CUCKOO_AT_VERSION] != CUCKOO_FORMAT_VERSION)
		return CUCKOO_BAD_VERSION;
	if (image[CUCKOO_AT_FAMILY] > CUCKOO_FAMILY_LAST)
		return CUCKOO_BAD_FAMILY;

	h->base_bits = image[CUCKOO_AT_BASE_BITS];
	h->fpp_bits = image[CUCKOO_AT_FPP_BITS];
	h->level = image[CUCKOO_AT_LEVEL];
	if (h->fpp_bits < CUCKOO_FIXED_BITS || h->base_bits < h->fpp_bits ||
		h->base_bits > CUCKOO_MAX_BITS ||
		h->level > h->base_bits - CUCKOO_FIXED_BITS)
		return CUCKOO_BAD_BITS;

	h->items = cuckoo_load64(image + CUCKOO_AT_ITEMS);
	h->seed = cuckoo_load64(image + CUCKOO_AT_SEED);
	h->base = (uint32_t) cuckoo_load64(image + CUCKOO_AT_BASE);
	h->tag = (uint16_t) cuckoo_load64(image + CUCKOO_AT_TAG);
	h->family = image[CUCKOO_AT_FAMILY];
	h->windows = image[CUCKOO_AT_FLAGS] == CUCKOO_FLAG_WINDOWS;

	if (image[CUCKOO_AT_FLAGS] > CUCKOO_FLAG_WINDOWS ||
		(h->windows && !cuckoo_may_have_windows(h->base)))
		return CUCKOO_BAD_FLAGS;
	if (h->base == 0 || h->base % 2 != 0)
		return CUCKOO_BAD_BUCKETS;
	if ((uint16_t) cuckoo_load64(image + CUCKOO_AT_RESERVED) != 0)
		return CUCKOO_BAD_RESERVED;
	cuckoo_header_derive(h);
	if (h->tag != 0 && h->family != CUCKOO_FAMILY_OTHER)
		return CUCKOO_BAD_TAG;
	/* m0 < 2^32 and level <= 24: no overflow */
	buckets = (uint64_t) h->base << h->level;
	if (size > CUCKOO_MAX_SIZE || size != cuckoo_image_bytes(buckets, h->bits))
		return CUCKOO_BAD_LENGTH;
	/* callers allocate memory for this number of items */
	if (h->items > buckets * CUCKOO_SLOTS)
		return CUCKOO_BAD_ITEMS;
	return CUCKOO_OK;
}

void
cuckoo_header_write(const CuckooHeader *h, uint8_t *image)
{
	memcpy(image + CUCKOO_AT_MAGIC, magic, sizeof(magic));
	image[CUCKOO_AT_VERSION] = CUCKOO_FORMAT_VERSION;
	image[CUCKOO_AT_FAMILY] = h->family;
	image[CUCKOO_AT_BASE_BITS] = h->base_bits;
	image[CUCKOO_AT_FPP_BITS] = h->fpp_bits;
	image[CUCKOO_AT_LEVEL] = h->level;
	image[CUCKOO_AT_FLAGS] = h->windows ? CUCKOO_FLAG_WINDOWS : 0;
	cuckoo_store32(image + CUCKOO_AT_BASE, h->base);
	cuckoo_store16(image + CUCKOO_AT_TAG, h->tag);
	cuckoo_store16(image + CUCKOO_AT_RESERVED, 0);
	cuckoo_store64(image + CUCKOO_AT_ITEMS, h->items);
	cuckoo_store64(image + CUCKOO_AT_SEED, h->seed);
}

static uint64_t
checksum(const uint8_t *image, uint64_t size)
{
	return XXH3_64bits(image, size - CUCKOO_TAIL_SIZE);
}

void
cuckoo_checksum_write(uint8_t *image, uint64_t size)
{
	cuckoo_store64(image + size - CUCKOO_TAIL_SIZE, checksum(image, size));
}

/* Checks the buckets of an image, and the number of items of its header. */
static CuckooStatus
validate_buckets(const CuckooHeader *h, const uint8_t *image)
{
	uint64_t	items = 0;

	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		CuckooBits	b = cuckoo_bucket_load(image + CUCKOO_HEADER_SIZE, h, pos);
		uint32_t	slots[CUCKOO_SLOTS];

		cuckoo_pause(pos);
		if ((b.lo & CUCKOO_CODE_MASK) >= CUCKOO_CODES)
			return CUCKOO_BAD_CODE;
		cuckoo_bucket_unpack(b, h->bits, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			if ((slots[i] & 0xff) == 0 && slots[i] != 0)
				return CUCKOO_BAD_SLOT;
			if (i > 0 && cuckoo_slot_rank(slots[i]) <
				cuckoo_slot_rank(slots[i - 1]))
				return CUCKOO_BAD_ORDER;
			items += slots[i] != 0;
		}
	}
	if (items != h->items)
		return CUCKOO_BAD_ITEMS;
	/* only an empty filter has no family */
	if (items > 0 && h->family == CUCKOO_FAMILY_NONE)
		return CUCKOO_BAD_FAMILY;
	return CUCKOO_OK;
}

CuckooStatus
cuckoo_validate(const uint8_t *image, uint64_t size)
{
	CuckooHeader h;
	CuckooStatus status = cuckoo_header_read(&h, image, size);

	if (status != CUCKOO_OK)
		return status;
	if (cuckoo_load64(image + size - CUCKOO_TAIL_SIZE) != checksum(image, size))
		return CUCKOO_BAD_CHECKSUM;
	return validate_buckets(&h, image);
}

const char *
cuckoo_status_text(CuckooStatus status)
{
	static const char *const texts[] = {
		[CUCKOO_OK] = "no error",
		[CUCKOO_UNCHANGED] = "nothing to change",
		[CUCKOO_FULL] = "no room at this growth level",
		[CUCKOO_CRAFTED] =
		"no room for the element while the filter is almost empty",
		[CUCKOO_LAST_LEVEL] = "no fingerprint bit is left to grow by",
		[CUCKOO_TOO_LARGE] = "larger than 512 MiB",
		[CUCKOO_BAD_SHORT] = "shorter than a header",
		[CUCKOO_BAD_MAGIC] = "first two bytes are not \"CF\"",
		[CUCKOO_BAD_VERSION] = "unknown format version",
		[CUCKOO_BAD_FAMILY] = "unknown element family",
		[CUCKOO_BAD_BITS] = "fingerprint bits or growth level out of range",
		[CUCKOO_BAD_FLAGS] = "unknown or wrong flags",
		[CUCKOO_BAD_BUCKETS] = "number of base buckets is zero or odd",
		[CUCKOO_BAD_TAG] = "type tag in a family that has none",
		[CUCKOO_BAD_RESERVED] = "reserved bytes are not zero",
		[CUCKOO_BAD_LENGTH] = "length does not agree with the header",
		[CUCKOO_BAD_CHECKSUM] = "checksum does not match",
		[CUCKOO_BAD_CODE] = "bucket code out of range",
		[CUCKOO_BAD_SLOT] = "fingerprint with a fixed byte of zero",
		[CUCKOO_BAD_ORDER] = "fingerprints of a bucket out of order",
		[CUCKOO_BAD_ITEMS] = "item count differs from the occupied slots"
	};

	return (size_t) status < sizeof(texts) / sizeof(*texts) ? texts[status]
		: "unknown status";
}
