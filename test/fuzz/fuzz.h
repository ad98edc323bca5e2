/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *		What the fuzzers of the core share.
 *
 * A target, fuzz_x.c, defines fuzz(), which is one execution.  What unit.h
 * calls chance comes from the input, byte by byte, and from a fixed generator
 * once the input is used up.  So the unit tests' models and checks serve here,
 * too.  A failed check, an assertion or a sanitizer ends the program.
 *
 * clang -fsanitize=fuzzer links a target with libFuzzer (make fuzz); replay.c
 * runs it on the corpus and on random inputs (make unit).
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "naive.h"
#include "unit.h"

/*
 * The largest image of a grown filter, so that an execution is short.  One with
 * windows has at least 256 buckets.
 */
#define FUZZ_IMAGE_MAX(h)	((h).windows ? 2048 : 400)

static void fuzz(void);

/* Of all bytes of the input, see fuzz_share(). */
static uint64_t fuzz_digest;

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready = false;

	if (!ready)
		naive_init();
	ready = true;
	fuzz_digest = size;
	for (size_t i = 0; i < size; i++)
		fuzz_digest = (fuzz_digest ^ data[i]) * UINT64_C(0x100000001b3);
	fuzz_digest = unit_mix(fuzz_digest);
	unit_input = data;
	unit_left = size;
	unit_state = 1;
	fuzz();
	unit_left = 0;
	if (unit_failures > 0)
		abort();
	return 0;
}

/*
 * Is this one of n kinds of inputs, so that not all of them take long?  That
 * depends on every byte.  If a single byte chose, libFuzzer would keep and
 * change mostly the inputs that take long, because they reach more code.
 */
static inline bool
fuzz_share(uint64_t kind, uint64_t n)
{
	return fuzz_digest % n == kind;
}

/* A geometry of few buckets, at a level where its image is small. */
static inline CuckooHeader
fuzz_header(void)
{
	static const uint32_t windows[] = {128, 130, 190, 254, 256, 384};
	int			bits = 8 + (int) unit_below(25);
	int			fpp_bits = 8 + (int) unit_below((uint64_t) (bits - 7));
	uint32_t	base = 2 * (1 + (uint32_t) unit_below(128));
	int			level = (int) unit_below((uint64_t) (bits - 7));
	CuckooHeader h;

	if (base > 20)
		base = base < 244 ? base % 20 + 2 : windows[base % 12 / 2];
	h = unit_header(base, bits, fpp_bits);
	if (unit_below(4) == 0)
	{
		h.windows = false;
		cuckoo_header_derive(&h);
	}
	while (cuckoo_header_set_level(&h, level) != CUCKOO_OK ||
		   (level > 0 && cuckoo_image_size(&h) > FUZZ_IMAGE_MAX(h)))
		level--;
	return h;
}

/* How much of an image is mended, so that it is not refused. */
enum
{
	MEND_HEADER = 1,
	MEND_BUCKETS = 2,
	MEND_ITEMS = 4,
	MEND_FIXED = 8,
	MEND_EMPTY = 16,			/* buckets past the input are random */
	SPOIL_CODE = 32				/* of one bucket, after that */
};

/*
 * Puts the slots of each bucket in order, without those with a fixed byte of 0, if
 * `mend` says so.  Returns the number of occupied slots.
 */
static inline uint64_t
fuzz_mend_buckets(const CuckooHeader *h, uint8_t *image, int mend)
{
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	items = 0;

	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		uint32_t	slots[4];

		naive_get(buckets, pos, h->bits, slots);
		for (int i = 0; i < 4; i++)
		{
			if ((mend & MEND_FIXED) && slots[i] % 256 == 0)
				slots[i] = 0;
			items += slots[i] != 0;
		}
		if (mend & MEND_BUCKETS)
			naive_put(buckets, pos, h->bits, slots);
	}
	return items;
}

/*
 * An image in memory of its own, as the input has it; `mend` and the first byte
 * say what is mended.  What follows is no longer decided by the input.  The
 * checksum is mended in all images but one in 16, because a wrong one hides all
 * other faults from the validator.
 */
static inline uint8_t *
fuzz_image(int mend, uint64_t *size)
{
	uint64_t	seed;
	uint8_t    *image;
	size_t		n;

	mend |= (int) unit_take(1);
	seed = unit_take(8);
	if ((mend & MEND_HEADER) == 0)
	{
		*size = n = unit_left;
		image = unit_alloc(n);
		memcpy(image, unit_input, n);
	}
	else
	{
		CuckooHeader h = fuzz_header();

		h.family = (uint8_t) unit_below(CUCKOO_FAMILY_LAST + 1);
		h.tag = h.family == CUCKOO_FAMILY_OTHER ? (uint16_t) unit_take(2) : 0;
		h.seed = unit_take(1);
		h.items = unit_take(8);
		*size = cuckoo_image_size(&h);
		image = unit_alloc(*size);
		n = *size - CUCKOO_HEADER_SIZE;
		if (n > unit_left)
			n = unit_left;
		memcpy(image + CUCKOO_HEADER_SIZE, unit_input, n);
		unit_left = 0;
		unit_state = seed;
		for (n += CUCKOO_HEADER_SIZE;
			 n < *size - CUCKOO_TAIL_SIZE && (mend & MEND_EMPTY); n++)
			image[n] = (uint8_t) unit_random();
		n = fuzz_mend_buckets(&h, image, mend);
		if (mend & SPOIL_CODE)
			naive_write(image + CUCKOO_HEADER_SIZE,
						unit_below(h.buckets) * h.bucket_bits, 12,
						NAIVE_CODES + unit_below(1 + unit_below(220)));
		if (mend & MEND_ITEMS)
		{
			h.items = n;
			if (h.items > 0 && h.family == CUCKOO_FAMILY_NONE)
				h.family = CUCKOO_FAMILY_INTEGER;
		}
		cuckoo_header_write(&h, image);

		/* one byte of the header, which is a little wrong */
		if (fuzz_share(1, 8))
			image[fuzz_digest / 8 % CUCKOO_AT_SEED] +=
				(uint8_t) (fuzz_digest / 256 % 16 - 8);
	}
	if (*size >= CUCKOO_TAIL_SIZE && !fuzz_share(3, 16))
		cuckoo_checksum_write(image, *size);
	unit_left = 0;
	unit_state = seed;
	return image;
}

#endif							/* FUZZ_H */
