/*-------------------------------------------------------------------------
 *
 * core/validate.c
 *		The only validator of an image.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bucket.h"

CuckooStatus
cuckoo_validate(const uint8_t *image, uint64_t size)
{
	CuckooHeader h;
	CuckooStatus status = cuckoo_header_read(&h, image, size);
	uint64_t	items = 0;

	if (status != CUCKOO_OK)
		return status;
	if (cuckoo_load64(image + size - CUCKOO_TAIL_SIZE) != 0)
		return CUCKOO_BAD_TAIL;

	for (uint32_t pos = 0; pos < h.buckets; pos++)
	{
		CuckooBits	b = cuckoo_bucket_load(image + CUCKOO_HEADER_SIZE, &h, pos);
		uint32_t	slots[CUCKOO_SLOTS];

		if (pos % 65536 == 0)
			cuckoo_check_interrupts();
		if ((b.lo & CUCKOO_CODE_MASK) >= CUCKOO_CODES)
			return CUCKOO_BAD_CODE;
		cuckoo_bucket_unpack(b, h.bits, slots);
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
	if (items != h.items)
		return CUCKOO_BAD_ITEMS;
	/* a filter that holds elements has a family */
	if (items > 0 && h.family == CUCKOO_FAMILY_NONE)
		return CUCKOO_BAD_FAMILY;
	return CUCKOO_OK;
}
