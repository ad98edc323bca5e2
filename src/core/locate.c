/*-------------------------------------------------------------------------
 *
 * core/locate.c
 *		The modulus of a locator, and a factor with an inverse.
 *
 *-------------------------------------------------------------------------
 */
#include "core/locate.h"

/* The inverse of a modulo m, or 0 if there is none (extended Euclid). */
static uint64_t
inverse_of(uint64_t a, uint64_t m)
{
	int64_t		r = (int64_t) m;
	int64_t		next_r = (int64_t) a;
	int64_t		t = 0;
	int64_t		next_t = 1;

	while (next_r != 0)
	{
		int64_t		q = r / next_r;
		int64_t		swap = r - q * next_r;

		r = next_r;
		next_r = swap;
		swap = t - q * next_t;
		t = next_t;
		next_t = swap;
	}
	if (r != 1)
		return 0;
	return (uint64_t) (t < 0 ? t + (int64_t) m : t);
}

bool
cuckoo_locator_derive(CuckooLocator *l)
{
	int			ext_bits = l->base_bits - CUCKOO_CORE_BITS - l->payload_bits;

	if (l->pages == 0 || l->page_buckets == 0 || l->page_buckets > 65535 ||
		ext_bits < 0 || ext_bits > 24 ||
		l->hash_bits < 32 || l->hash_bits > 64)
		return false;
	l->cells = l->page_buckets * CUCKOO_LOCATE_CORES;
	l->modulus = (uint64_t) l->cells << l->payload_bits;
	if (l->modulus > UINT64_C(1) << 32)
		return false;
	l->ext_bits = (uint8_t) ext_bits;

	/* near the golden ratio: neighboring blocks get distant values */
	l->factor = l->modulus * 618 / 1000 | 1;
	while ((l->inverse = inverse_of(l->factor, l->modulus)) == 0)
		l->factor += 2;
	return true;
}

int
cuckoo_locate_payload_bits(int base_bits, uint32_t page_buckets, double blocks)
{
	double		modulus = (double) page_buckets * CUCKOO_LOCATE_CORES;
	int			bits = 0;

	while (modulus < 16 * blocks && modulus * 2 <= 4294967296.0 &&
		   base_bits - CUCKOO_CORE_BITS - bits > CUCKOO_LOCATE_LEAST_EXT)
	{
		modulus *= 2;
		bits++;
	}
	return bits;
}
