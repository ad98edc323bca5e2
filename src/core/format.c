/*-------------------------------------------------------------------------
 *
 * core/format.c
 *		The header of an image: reading, checking and writing it.
 *
 * See core/format.h for the bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "core/format.h"

static const uint8_t magic[] = {'C', 'F'};

/* Each field of the byte table begins where the one before ends. */
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
	int			base_bits,
				fpp_bits,
				level;

	if (size < CUCKOO_HEADER_SIZE)
		return CUCKOO_BAD_SHORT;
	if (memcmp(image + CUCKOO_AT_MAGIC, magic, sizeof(magic)) != 0)
		return CUCKOO_BAD_MAGIC;
	if (image[CUCKOO_AT_VERSION] != CUCKOO_FORMAT_VERSION)
		return CUCKOO_BAD_VERSION;
	if (image[CUCKOO_AT_FAMILY] > CUCKOO_FAMILY_LAST)
		return CUCKOO_BAD_FAMILY;

	base_bits = image[CUCKOO_AT_BASE_BITS];
	fpp_bits = image[CUCKOO_AT_FPP_BITS];
	level = image[CUCKOO_AT_LEVEL];
	if (fpp_bits < CUCKOO_CORE_BITS || base_bits < fpp_bits ||
		base_bits > CUCKOO_MAX_BITS || level > base_bits - CUCKOO_CORE_BITS)
		return CUCKOO_BAD_BITS;

	h->items = cuckoo_load64(image + CUCKOO_AT_ITEMS);
	h->seed = cuckoo_load64(image + CUCKOO_AT_SEED);
	h->base = cuckoo_load32(image + CUCKOO_AT_BASE);
	h->tag = cuckoo_load16(image + CUCKOO_AT_TAG);
	h->family = image[CUCKOO_AT_FAMILY];
	h->base_bits = (uint8_t) base_bits;
	h->fpp_bits = (uint8_t) fpp_bits;
	h->level = (uint8_t) level;
	h->windows = image[CUCKOO_AT_FLAGS] != 0;

	if (image[CUCKOO_AT_FLAGS] > CUCKOO_FLAG_WINDOWS ||
		(h->windows && !cuckoo_may_have_windows(h->base)))
		return CUCKOO_BAD_FLAGS;
	if (h->base == 0 || h->base % 2 != 0)
		return CUCKOO_BAD_BUCKETS;
	cuckoo_header_derive(h);
	if (h->tag != 0 && h->family != CUCKOO_FAMILY_OTHER)
		return CUCKOO_BAD_TAG;
	if (cuckoo_load16(image + CUCKOO_AT_RESERVED) != 0)
		return CUCKOO_BAD_RESERVED;
	/* m0 < 2^32 and level <= 24: no overflow */
	buckets = (uint64_t) h->base << level;
	if (size > CUCKOO_MAX_SIZE || size != cuckoo_image_bytes(buckets, h->bits))
		return CUCKOO_BAD_LENGTH;
	/* callers allocate memory for so many */
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
