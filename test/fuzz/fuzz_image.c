/*-------------------------------------------------------------------------
 *
 * fuzz_image.c
 *		Bytes as an image: validation, then every operation on what it accepts.
 *
 * The validator must accept what a plain reading of FORMAT.md does, and nothing
 * else.  An accepted image behaves as the entries that naive.h reads from it.
 *
 *-------------------------------------------------------------------------
 */
#define POOL			16
#define STRANGERS		4
#define MOST_BUCKETS	256

#include "family.h"
#include "fuzz.h"
#include "sequence.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHANGES		12

/* FORMAT.md, "Valid images" */
static bool
naive_valid_header(const uint8_t *image, uint64_t size)
{
	int			family = image[3];
	int			f0 = image[4];
	int			ft = image[5];
	int			g = image[6];
	uint64_t	m0 = naive_read(image, 64, 32);
	uint64_t	w = naive_read(image, 112, 16);

	if (image[0] != 'C' || image[1] != 'F' || image[2] != 1 || family > CUCKOO_FAMILY_LAST)
		return false;
	if (ft < 8 || ft > f0 || f0 > 32 || g > f0 - 8 || m0 == 0 || m0 % 2 != 0)
		return false;
	if (image[7] > 2 || (image[7] == 1 && m0 % 128 != 0 &&
						 (m0 < 128 || m0 > 254)))
		return false;
	if (image[7] == 2 ? w == 0 || w % 2 != 0 || m0 % w != 0 : w != 0)
		return false;
	return (naive_read(image, 96, 16) == 0 || family == 10) &&
		size == 32 + (m0 << g) * (uint64_t) (f0 - g - 1) / 2 + 8 &&
		size <= 512 << 20;
}

static bool
naive_valid(const uint8_t *image, uint64_t size)
{
	const uint8_t *buckets = image + 32;
	int			f;
	uint64_t	n;
	uint64_t	items = 0;
	uint64_t	checksum;
	uint64_t	half = UINT64_C(1) << 32;

	if (size < 40 || !naive_valid_header(image, size))
		return false;
	f = image[4] - image[6];
	n = naive_read(image, 64, 32) << image[6];
	for (uint64_t pos = 0; pos < n; pos++)
	{
		uint32_t	slots[4];
		uint32_t	sorted[4];

		naive_get(buckets, pos, f, slots);
		if (naive_read(buckets, pos * (uint64_t) (4 * f - 4), 12) >= NAIVE_CODES)
			return false;
		memcpy(sorted, slots, sizeof(slots));
		naive_sort(sorted);
		if (memcmp(sorted, slots, sizeof(slots)) != 0)
			return false;
		for (int i = 0; i < 4; i++)
		{
			items += slots[i] != 0;
			if (slots[i] != 0 && slots[i] % 256 == 0)
				return false;
		}
	}
	checksum = XXH3_64bits(image, size - 8);
	return naive_read(image, (size - 8) * 8, 32) == checksum % half &&
		naive_read(image, (size - 4) * 8, 32) == checksum / half &&
		naive_read(image, 128, 32) == items && naive_read(image, 160, 32) == 0 &&
		(items == 0 || image[3] != 0);
}

/* What the image holds, by class; false if any is there more than twice. */
static bool
read_model(NaiveModel *model, const UnitFilter *f)
{
	bool		most_two = true;

	naive_model_init(model, f->h.items);
	for (uint32_t pos = 0; pos < f->h.buckets; pos++)
	{
		uint32_t	slots[4];

		naive_get(f->image + CUCKOO_HEADER_SIZE, pos, f->h.bits, slots);
		for (int i = 0; i < 4; i++)
			if (slots[i] != 0)
			{
				NaiveClass	c = naive_stored_class(f->h.base, f->h.windows,
												   f->h.level, pos, slots[i]);
				int			copies = naive_count(model, c);

				most_two &= copies < 2;
				naive_set(model, c, copies < 2 ? copies + 1 : 2);
			}
	}
	return most_two;
}

/* Every way to ask for what is there. */
static void
check_lookups(const UnitFilter *f, Run run, const NaiveModel *model)
{
	bool	   *found = unit_alloc(run.n);
	uint64_t	wrong = 0;

	cuckoo_contains_batch(&f->h, f->image, run.keys, run.n, found);
	for (uint64_t i = 0; i < run.n; i++)
	{
		int			copies = naive_count(model, hash_class(&f->h, run.keys[i]));

		wrong += copies == 0 || !found[i] ||
			!cuckoo_contains(&f->h, f->image, run.keys[i]) ||
			cuckoo_copies(&f->h, f->image, run.keys[i]) != copies;
		wrong += i > 0 && run.keys[i] < run.keys[i - 1];
	}
	CHECK(wrong == 0, "%" PRIu64 " of %" PRIu64, wrong, run.n);
	free(found);
}

/* Changes, which are checked against the model. */
static void
change(const UnitFilter *f, const NaiveModel *model, Run run)
{
	Sequence	s = {0};

	s.f.h = f->h;
	s.f.image = unit_alloc(cuckoo_image_size(&f->h));
	memcpy(s.f.image, f->image, cuckoo_image_size(&f->h));
	s.model = *model;
	s.model.entries = unit_alloc(model->size * sizeof(NaiveEntry));
	memcpy(s.model.entries, model->entries, model->size * sizeof(NaiveEntry));
	s.most_buckets = 4 * f->h.buckets;
	if (s.f.h.family == CUCKOO_FAMILY_NONE)
		s.f.h.family = CUCKOO_FAMILY_INTEGER;
	cuckoo_header_write(&s.f.h, s.f.image);
	for (int i = 0; i < CHANGES; i++)
	{
		uint64_t	r = unit_below(16);
		uint64_t	hash = run.n > 0 && r % 2 == 0
			? run.keys[unit_below(run.n)] : some_hash(&s);

		if (r < 9)
			add(&s, hash, 1 + (int) unit_below(2));
		else if (r < 14)
			del(&s, hash);
		else if (r == 14)
			grow(&s);
		else
			shrink(&s);
		check_element(&s, hash);
	}
	check_all(&s);
	unit_filter_free(&s.f);
	naive_model_free(&s.model);
	free(s.before);
}

static void
check_accepted(const UnitFilter *f)
{
	Run			none = {NULL, 0};
	Run			run = run_of(f);
	Run			held = combined(CUCKOO_MERGE_SUM, run, none);
	NaiveModel	model;
	bool		most_two = read_model(&model, f);

	check_lookups(f, run, &model);
	CHECK(held.n == model.sum && most_two == (held.n == run.n),
		  "%" PRIu64 " keys, not %" PRIu64, held.n, model.sum);
	CHECK(cuckoo_keys_merge(CUCKOO_MERGE_INTERSECTION, run.keys, run.n, held.keys,
							held.n, NULL) == held.n, "%" PRIu64, held.n);
	if (most_two && fuzz_share(0, 16))
		check_canonical(f, run, &model);
	if (most_two && fuzz_share(4, 16))
		change(f, &model, run);
	naive_model_free(&model);
	free(run.keys);
	free(held.keys);
}

static void
fuzz(void)
{
	UnitFilter	f;
	uint64_t	size;
	CuckooStatus status;
	CuckooStatus of_header;

	f.image = fuzz_image(0, &size);
	status = cuckoo_validate(f.image, size);
	of_header = cuckoo_header_read(&f.h, f.image, size);
	CHECK(of_header == CUCKOO_OK || of_header == status, "%s",
		  cuckoo_status_text(status));
	CHECK((status == CUCKOO_OK) == naive_valid(f.image, size), "%s",
		  cuckoo_status_text(status));
	if (status == CUCKOO_OK && of_header == CUCKOO_OK && fuzz_share(0, 4))
		check_accepted(&f);
	free(f.image);
}
