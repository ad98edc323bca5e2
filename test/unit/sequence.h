/*-------------------------------------------------------------------------
 *
 * sequence.h
 *		A filter and its model, changed together: for test_filter.c, and for the
 *		fuzzer of operations.
 *
 * The model (naive.h) says for every class of elements that look the same how
 * many copies the filter holds.  Every operation is checked against it, and
 * check_all() compares the stored bits, which naive.h decodes, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "naive.h"
#include "unit.h"

/* Elements that a sequence comes back to. */
#ifndef POOL
#define POOL	4096
#endif

/* Any elements that check_all() looks for. */
#ifndef STRANGERS
#define STRANGERS	40
#endif

typedef struct Sequence
{
	UnitFilter	f;
	NaiveModel	model;
	uint64_t	pool[POOL];
	int			pooled;
	uint64_t	number;
	uint64_t	most_buckets;
	uint8_t    *before;			/* the image before an operation */
	uint64_t	before_size;
	bool		remembered;
} Sequence;

static uint64_t counts[8];

enum
{
	N_ADDED, N_UNCHANGED, N_FULL, N_LAST, N_CRAFTED, N_REMOVED, N_GROWN, N_SHRUNK
};

#define WHERE "sequence %" PRIu64 ", m0 %" PRIu32 ", f0 %d, g %d, %" PRIu64 " items"
#define WHERE_ARGS(s) (s)->number, (s)->f.h.base, (s)->f.h.base_bits, \
	(s)->f.h.level, (s)->f.h.items

static inline NaiveClass
class_of(const Sequence *s, uint64_t hash)
{
	return naive_class(s->f.h.base, s->f.h.windows, s->f.h.base_bits, hash);
}

/* A hash that has something in common with a given one. */
static inline uint64_t
relative(const Sequence *s, uint64_t hash)
{
	int			f0 = s->f.h.base_bits;
	uint64_t	base = s->f.h.base;

	switch (unit_below(6))
	{
		case 0:					/* the same class: an unused bit */
			return hash ^ UINT64_C(1) << (32 + unit_below(4));
		case 1:					/* the same pair, other extension bits */
			if (f0 > 8)
				return hash ^ UINT64_C(1) << (8 + unit_below((uint64_t) (f0 - 8)));
			return hash;
		case 2:					/* the lowest ones, read by growth first */
			return f0 > 8 ? hash ^ UINT64_C(1) << 8 : hash;
		case 3:					/* other fixed byte, same first bucket */
			return hash ^ (1 + unit_below(255));
		case 4:					/* the same low bits, elsewhere */
			return hash ^ (unit_random() & ~UINT64_C(0xffffffff));
		default:				/* the same class from its other bucket */
			{
				NaivePair	p = naive_pair(base, s->f.h.windows, f0, 0, hash);
				uint64_t	top;

				top = naive_unscale(p.j[1], base);
				top += UINT64_C(1) << 33;
				return (top & ~UINT64_C(0xffffffff)) | (hash & 0xffffffff);
			}
	}
}

static inline uint64_t
some_hash(const Sequence *s)
{
	uint64_t	r = unit_below(10);

	if (s->pooled == 0 || r < 5)
		return r == 0 ? unit_random() & ~UINT64_C(0xfe) : unit_random();
	if (r < 8)
		return s->pool[unit_below((uint64_t) s->pooled)];
	return relative(s, s->pool[unit_below((uint64_t) s->pooled)]);
}

static inline void
check_element(const Sequence *s, uint64_t hash)
{
	int			count = naive_count(&s->model, class_of(s, hash));

	CHECK(cuckoo_copies(&s->f.h, s->f.image, hash) == count,
		  WHERE ", hash %" PRIx64 ": not %d", WHERE_ARGS(s), hash, count);
	CHECK(cuckoo_contains(&s->f.h, s->f.image, hash) == (count > 0),
		  WHERE ", hash %" PRIx64 ": not %d", WHERE_ARGS(s), hash, count);
}

static inline bool
same_header(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->items == b->items && a->seed == b->seed && a->base == b->base &&
		a->buckets == b->buckets && a->tag == b->tag &&
		a->family == b->family && a->base_bits == b->base_bits &&
		a->fpp_bits == b->fpp_bits && a->level == b->level &&
		a->bits == b->bits && a->windows == b->windows;
}

/* The whole filter against the whole model. */
static inline void
check_all(const Sequence *s)
{
	const CuckooHeader *h = &s->f.h;
	uint64_t	size = cuckoo_image_size(h);
	CuckooHeader read;
	NaiveModel	stored;
	uint64_t	wrong = 0;

	CHECK(unit_validate(s->f.image, size) == CUCKOO_OK, WHERE ": %s",
		  WHERE_ARGS(s), cuckoo_status_text(unit_validate(s->f.image, size)));
	CHECK(cuckoo_header_read(&read, s->f.image, size) == CUCKOO_OK &&
		  same_header(&read, h), WHERE, WHERE_ARGS(s));
	CHECK(h->items == s->model.sum, WHERE ", not %" PRIu64, WHERE_ARGS(s),
		  s->model.sum);

	for (int i = 0; i < s->pooled; i++)
		check_element(s, s->pool[i]);
	for (int i = 0; i < STRANGERS; i++)
		check_element(s, unit_random());
	for (int i = 0; i < STRANGERS && s->pooled > 0; i++)
		check_element(s, relative(s, s->pool[unit_below((uint64_t) s->pooled)]));

	naive_model_init(&stored, s->model.sum + 16);
	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		uint32_t	slots[4];

		naive_get(s->f.image + 32, pos, h->bits, slots);
		for (int i = 0; i < 4; i++)
			if (slots[i] != 0)
			{
				NaiveClass	c = naive_stored_class(h->base, h->windows,
												   h->level, pos, slots[i]);

				naive_set(&stored, c, naive_count(&stored, c) + 1);
			}
	}
	for (uint64_t i = 0; i < s->model.size; i++)
		if (s->model.entries[i].count >= 0)
			wrong += naive_count(&stored, s->model.entries[i].class) !=
				s->model.entries[i].count;
	CHECK(wrong == 0 && stored.sum == s->model.sum,
		  WHERE ": %" PRIu64 " classes stored otherwise", WHERE_ARGS(s), wrong);
	naive_model_free(&stored);
}

/* Keeps the image to compare with; of large ones, one in sixteen times. */
static inline void
remember(Sequence *s, bool always)
{
	uint64_t	size = cuckoo_image_size(&s->f.h);

	s->remembered = always || size < 8192 || unit_below(16) == 0;
	if (!s->remembered)
		return;
	if (size > s->before_size)
	{
		free(s->before);
		s->before = unit_alloc(size);
		s->before_size = size;
	}
	memcpy(s->before, s->f.image, size);
}

static inline void
check_untouched(const Sequence *s, const CuckooHeader *h, const char *what)
{
	CHECK(same_header(&s->f.h, h), WHERE ": header changed by a failed %s",
		  WHERE_ARGS(s), what);
	if (s->remembered)
		CHECK(memcmp(s->before, s->f.image, cuckoo_image_size(h)) == 0,
			  WHERE ": changed by a failed %s", WHERE_ARGS(s), what);
}

static inline void
grow(Sequence *s)
{
	if ((uint64_t) s->f.h.buckets * 2 > s->most_buckets)
		return;
	if (s->f.h.bits == 8)
	{
		CHECK(unit_filter_grow(&s->f) == CUCKOO_LAST_LEVEL, WHERE,
			  WHERE_ARGS(s));
		return;
	}

	/* there and back are the same bytes */
	remember(s, true);
	CHECK(unit_filter_grow(&s->f) == CUCKOO_OK, WHERE, WHERE_ARGS(s));
	if (unit_below(2))
	{
		UnitFilter	back = {s->f.h, unit_alloc(cuckoo_image_size(&s->f.h))};

		memcpy(back.image, s->f.image, cuckoo_image_size(&s->f.h));
		CHECK(unit_filter_shrink(&back) == CUCKOO_OK, WHERE, WHERE_ARGS(s));
		CHECK(back.h.level == s->f.h.level - 1 &&
			  memcmp(back.image, s->before,
					 cuckoo_image_size(&back.h) - CUCKOO_TAIL_SIZE) == 0,
			  WHERE ": other bytes after growing and shrinking", WHERE_ARGS(s));
		unit_filter_free(&back);
	}
	counts[N_GROWN]++;
}

static inline void
shrink(Sequence *s)
{
	CuckooHeader h = s->f.h;
	CuckooStatus status;

	if (h.level == 0)
		return;
	remember(s, true);
	status = unit_filter_shrink(&s->f);
	if (status == CUCKOO_OK)
	{
		counts[N_SHRUNK]++;
		CHECK(s->f.h.level == h.level - 1 && s->f.h.items == h.items, WHERE,
			  WHERE_ARGS(s));
		return;
	}
	check_untouched(s, &h, "shrink");
	CHECK(status == CUCKOO_FULL, WHERE ": status %d of shrink", WHERE_ARGS(s),
		  (int) status);
}

static inline void
add(Sequence *s, uint64_t hash, int max_copies)
{
	NaiveClass	c = class_of(s, hash);
	CuckooHeader h = s->f.h;
	int			count = naive_count(&s->model, c);
	CuckooStatus status;

	if (s->pooled < POOL)
		s->pool[s->pooled++] = hash;
	else
		s->pool[unit_below(POOL)] = hash;
	remember(s, false);
	status = cuckoo_insert(&s->f.h, s->f.image, hash, max_copies);
	switch (status)
	{
		case CUCKOO_OK:
			counts[N_ADDED]++;
			CHECK(count < max_copies, WHERE ", hash %" PRIx64 ": %d before",
				  WHERE_ARGS(s), hash, count);
			CHECK(s->f.h.items == h.items + 1, WHERE, WHERE_ARGS(s));
			naive_set(&s->model, c, count + 1);
			break;
		case CUCKOO_UNCHANGED:
			counts[N_UNCHANGED]++;
			CHECK(count >= max_copies, WHERE ", hash %" PRIx64 ": %d before",
				  WHERE_ARGS(s), hash, count);
			check_untouched(s, &h, "insert of what is there");
			break;
		case CUCKOO_FULL:
			counts[N_FULL]++;
			CHECK(h.bits > 8 && count < max_copies, WHERE, WHERE_ARGS(s));
			CHECK(h.buckets <= 64 || h.items * 2 >= h.buckets,
				  WHERE ": should be CUCKOO_CRAFTED", WHERE_ARGS(s));
			check_untouched(s, &h, "insert");
			if (unit_below(4) > 0)
				grow(s);
			break;
		case CUCKOO_LAST_LEVEL:
			counts[N_LAST]++;
			CHECK(h.bits == 8 && count < max_copies, WHERE, WHERE_ARGS(s));
			check_untouched(s, &h, "insert");
			break;
		case CUCKOO_CRAFTED:
			counts[N_CRAFTED]++;
			CHECK(h.buckets > 64 && h.items * 2 < h.buckets &&
				  count < max_copies, WHERE, WHERE_ARGS(s));
			check_untouched(s, &h, "insert");
			break;
		default:
			CHECK(false, WHERE ": status %d", WHERE_ARGS(s), (int) status);
	}
}

static inline void
del(Sequence *s, uint64_t hash)
{
	NaiveClass	c = class_of(s, hash);
	CuckooHeader h = s->f.h;
	int			count = naive_count(&s->model, c);
	CuckooStatus status;

	remember(s, false);
	status = cuckoo_remove(&s->f.h, s->f.image, hash);
	CHECK(status == (count == 1 ? CUCKOO_OK : CUCKOO_UNCHANGED),
		  WHERE ", hash %" PRIx64 ": %d before, status %d", WHERE_ARGS(s), hash,
		  count, (int) status);
	if (count == 1)
	{
		naive_set(&s->model, c, 0);
		counts[N_REMOVED]++;
	}
	else
		check_untouched(s, &h, "remove");
}

#endif							/* SEQUENCE_H */
