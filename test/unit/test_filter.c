/*-------------------------------------------------------------------------
 *
 * test_filter.c
 *		The filter against a model: random sequences of operations, then the
 *		promises one by one.
 *
 * The class of an element (sequence.h) is the same at every level, so the
 * filter must agree with the model exactly.  There is no false negative, and no
 * false positive that the specification does not explain.
 *
 * Rates are measured with 1e6 probes.  They are checked against 1.1 times the
 * formula with five standard deviations of such a count on top, so that a
 * random seed does not fail by chance.
 *
 *-------------------------------------------------------------------------
 */
#include "sequence.h"

#include <math.h>

#define PROBES	1000000

/* ---------------------------------------------------------------- */
/* Random sequences */

static CuckooHeader
some_geometry(uint64_t number, uint64_t *most_buckets)
{
	CuckooHeader h;
	int			f0 = 8 + (int) (number % 25);
	uint64_t	kind = unit_below(40);

	/* the widths in turn, the rest at random */
	if (kind < 18)
		h = unit_header(2 * (1 + (uint32_t) unit_below(16)), f0, 8);
	else if (kind < 28)
		h = unit_header(2 * (1 + (uint32_t) unit_below(100)), f0,
						8 + (int) unit_below((uint64_t) (f0 - 7)));
	else if (kind < 33)
		CHECK(cuckoo_header_sized(&h, 1 + unit_below(2000), f0, number) ==
			  CUCKOO_OK, "sized, %d bits", f0);
	else if (kind < 39)
		CHECK(cuckoo_header_exact(&h, 1 + unit_below(2000), f0, number) ==
			  CUCKOO_OK, "exact, %d bits", f0);
	else
		h = unit_header(unit_below(2) ? 4096 : 128 * (33 + (uint32_t) unit_below(8)),
						f0, 8);
	if (kind == 32)
		h = unit_header(128 * (1 + (uint32_t) unit_below(4)), f0, 8);
	if (unit_below(4) == 0)
	{
		h.windows = false;
		cuckoo_header_derive(&h);
	}
	*most_buckets = h.base * (kind == 39 ? 2 : UINT64_C(1) << unit_below(8));
	return h;
}

static void
run_sequence(uint64_t number)
{
	Sequence   *s = unit_alloc(sizeof(Sequence));
	CuckooHeader h;
	uint64_t	steps;
	uint64_t	often;
	uint64_t	slots;
	int			adds,			/* in a hundred */
				unique;
	uint64_t	grows;
	bool		large;

	/* each sequence by itself, so that one can be looked at alone */
	unit_state = unit_mix(unit_seed ^ unit_mix(number + 1));
	s->number = number;
	h = some_geometry(number, &s->most_buckets);
	unit_filter_init(&s->f, &h);
	naive_model_init(&s->model, 64);

	slots = h.base * UINT64_C(4);
	large = h.base >= 4096;
	steps = large ? slots * 5 / 4 : 20 + unit_below(600);
	often = large ? 8000 : 1 + unit_below(100);
	adds = 40 + (int) unit_below(60);
	unique = unit_below(3) ? (int) unit_below(30) : 100;
	grows = unit_below(3) ? 200 : 20;
	if (large)					/* distinct elements, nearly to the brim */
		for (uint64_t i = 0; i < slots * 93 / 100; i++)
			add(s, unit_random(), 2);

	for (uint64_t step = 0; step < steps; step++)
	{
		uint64_t	hash = some_hash(s);
		int			r = (int) unit_below(100);

		if (!large && unit_below(grows) == 0)
			grow(s);
		else if (!large && unit_below(grows) == 0)
			shrink(s);
		else if (r < adds)
			add(s, hash, (int) unit_below(100) < unique ? 1 : 2);
		else
			del(s, hash);
		check_element(s, hash);
		for (int i = 0; i < 3 && s->pooled > 0; i++)
			check_element(s, s->pool[unit_below((uint64_t) s->pooled)]);
		if (step % often == 0)
			check_all(s);
		/* now and then another mood */
		if (step % 128 == 127)
			adds = 20 + (int) unit_below(80);
	}
	check_all(s);
	if (large)
		grow(s);
	while (s->f.h.level > 0)
	{
		int			level = s->f.h.level;

		shrink(s);
		check_all(s);
		if (s->f.h.level == level)
			break;
	}
	unit_filter_free(&s->f);
	naive_model_free(&s->model);
	free(s->before);
	free(s);
}

static void
test_sequences(void)
{
	uint64_t	n = unit_long ? 60000 : 1500;

	for (uint64_t i = 0; i < n; i++)
		run_sequence(i);
	unit_state = unit_mix(unit_seed + 77);
	printf("%" PRIu64 " sequences: %" PRIu64 " added, %" PRIu64 " there already, %"
		   PRIu64 " removed, %" PRIu64 " full, %" PRIu64 " at the last level, %"
		   PRIu64 " crafted, %" PRIu64 " grown, %" PRIu64 " shrunk\n", n,
		   counts[N_ADDED], counts[N_UNCHANGED], counts[N_REMOVED],
		   counts[N_FULL], counts[N_LAST], counts[N_CRAFTED], counts[N_GROWN],
		   counts[N_SHRUNK]);
}

/* ---------------------------------------------------------------- */
/* The promises one by one */

/* Element i of a set; sets are disjoint, but for chance. */
static uint64_t
element(uint64_t set, uint64_t i)
{
	return unit_mix(unit_mix(unit_seed + set * 1000003) + i);
}

static uint64_t
missing(const UnitFilter *f, uint64_t set, uint64_t n)
{
	uint64_t	lost = 0;

	for (uint64_t i = 0; i < n; i++)
		lost += !cuckoo_contains(&f->h, f->image, element(set, i));
	return lost;
}

/* Rate measured by absent probes; checked against the formula. */
static double
measured_fpp(const UnitFilter *f, uint64_t set, const char *what)
{
	double		formula = cuckoo_fpp_now(&f->h);
	double		expected = formula * PROBES;
	uint64_t	hits = 0;

	for (uint64_t i = 0; i < PROBES; i++)
		hits += cuckoo_contains(&f->h, f->image, element(set, i));
	CHECK((double) hits <= 1.1 * expected + 5 * sqrt(expected) + 1 &&
		  (double) hits >= 0.9 * expected - 5 * sqrt(expected) - 1,
		  "%s: %" PRIu64 " false positives where %.1f are expected", what, hits,
		  expected);
	return (double) hits / PROBES;
}

static void
check_valid(const UnitFilter *f, const char *what)
{
	CHECK(unit_validate(f->image, cuckoo_image_size(&f->h)) == CUCKOO_OK,
		  "%s: %s", what,
		  cuckoo_status_text(unit_validate(f->image,
										   cuckoo_image_size(&f->h))));
}

/* Past its capacity thirty times. */
static void
test_past_capacity(void)
{
	UnitFilter	f;
	CuckooHeader h;
	int			level = 0;

	CHECK(cuckoo_header_sized(&h, 1000, cuckoo_fpp_bits(0.0001), 0) == CUCKOO_OK,
		  "sized");
	unit_filter_init(&f, &h);
	for (uint64_t i = 0; i < 30000; i++)
	{
		CuckooStatus status = unit_filter_add(&f, element(1, i), 2);

		CHECK(status == CUCKOO_OK || status == CUCKOO_UNCHANGED,
			  "element %" PRIu64 ": %s", i, cuckoo_status_text(status));
		if (f.h.level > level)
		{
			CHECK(missing(&f, 1, i + 1) == 0, "level %d", f.h.level);
			check_valid(&f, "past capacity");
			level = f.h.level;
		}
		if (i + 1 == cuckoo_capacity(&f.h))
			CHECK(cuckoo_fpp_now(&f.h) <= 0.0001, "%g at capacity",
				  cuckoo_fpp_now(&f.h));
	}
	CHECK(missing(&f, 1, 30000) == 0, "at the end");
	printf("capacity 1000 at 0.0001, 30000 elements: level %d, fpp %.5f, formula %.5f\n",
		   f.h.level, measured_fpp(&f, 2, "past capacity"),
		   cuckoo_fpp_now(&f.h));
	unit_filter_free(&f);
}

static void
test_large(void)
{
	UnitFilter	f;
	CuckooHeader h;
	uint64_t	n = unit_long ? 20000000 : 2000000;
	uint64_t	failed = 0;
	uint64_t	due = n / 16;

	CHECK(cuckoo_header_sized(&h, 10000000, cuckoo_fpp_bits(0.001), 0) ==
		  CUCKOO_OK, "sized");
	unit_filter_init(&f, &h);
	for (uint64_t i = 0; i < n; i++)
	{
		CuckooStatus status = unit_filter_add(&f, element(3, i), 2);

		/* by chance one may look like two others */
		failed += status != CUCKOO_OK && status != CUCKOO_UNCHANGED;
		if (i + 1 == due)
		{
			double		fpp = measured_fpp(&f, 4, "large");

			CHECK(missing(&f, 3, due) == 0, "%" PRIu64 " elements", due);
			printf("capacity 1e7 at 0.001, %" PRIu64 " elements: level %d, load %.3f, fpp %.6f, formula %.6f\n",
				   due, f.h.level, (double) f.h.items / f.h.buckets / 4, fpp,
				   cuckoo_fpp_now(&f.h));
			CHECK(fabs(cuckoo_fpp_now(&f.h) / (0.001 * 0.93 * (double) due / 1e7) - 1)
				  < 0.05, "%" PRIu64 " elements: formula %g", due,
				  cuckoo_fpp_now(&f.h));
			due *= 2;
		}
	}
	CHECK(failed == 0, "%" PRIu64 " inserts failed", failed);
	check_valid(&f, "large");
	unit_filter_free(&f);
}

static void
test_repeats(void)
{
	UnitFilter	f;
	CuckooHeader h;
	uint8_t    *after_two;
	uint64_t	size;
	uint64_t	changed = 0;

	CHECK(cuckoo_header_sized(&h, 1000, 13, 0) == CUCKOO_OK, "sized");
	unit_filter_init(&f, &h);
	CHECK(unit_filter_add(&f, element(5, 0), 2) == CUCKOO_OK, "first");
	CHECK(cuckoo_copies(&f.h, f.image, element(5, 0)) == 1, "first");
	CHECK(unit_filter_add(&f, element(5, 0), 2) == CUCKOO_OK, "second");
	CHECK(cuckoo_copies(&f.h, f.image, element(5, 0)) == 2, "second");
	size = cuckoo_image_size(&f.h);
	after_two = unit_alloc(size);
	memcpy(after_two, f.image, size);
	for (int i = 2; i < 1000000; i++)
		changed += unit_filter_add(&f, element(5, 0), 2) != CUCKOO_UNCHANGED;
	CHECK(changed == 0, "%" PRIu64 " adds changed it", changed);
	for (int i = 0; i < 1000; i++)
		changed += cuckoo_remove(&f.h, f.image, element(5, 0)) != CUCKOO_UNCHANGED;
	CHECK(changed == 0 && f.h.items == 2 &&
		  memcmp(after_two, f.image, size) == 0, "bytes");
	free(after_two);
	unit_filter_free(&f);

	/* everything three times, to twenty times the capacity */
	CHECK(cuckoo_header_sized(&h, 1000, cuckoo_fpp_bits(0.0001), 0) == CUCKOO_OK,
		  "sized");
	unit_filter_init(&f, &h);
	for (uint64_t i = 0; i < 20000; i++)
		for (int k = 0; k < 3; k++)
		{
			CuckooStatus status = unit_filter_add(&f, element(6, i), 2);

			/* by chance one looks like another, which has two already */
			CHECK(status == CUCKOO_OK || status == CUCKOO_UNCHANGED,
				  "element %" PRIu64 ", time %d: %s at level %d, %" PRIu64 " items",
				  i, k, cuckoo_status_text(status), f.h.level, f.h.items);
		}
	CHECK(missing(&f, 6, 20000) == 0, "three times each");
	check_valid(&f, "three times each");
	CHECK(f.h.items <= 40000 && f.h.items > 39000, "%" PRIu64 " items", f.h.items);
	printf("one element a million times: as after two; 20000 three times each: level %d, load %.3f\n",
		   f.h.level, (double) f.h.items / f.h.buckets / 4);
	unit_filter_free(&f);
}

/* Elements made to share two buckets give an error, and soon. */
static void
test_crafted(void)
{
	static const uint32_t bases[] = {2, 34, 62, 66, 1000, 4096, 5248, 20096};
	uint64_t	refused = 0;

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		for (uint64_t kind = 0; kind < 4; kind++)
		{
			CuckooHeader h = unit_header(bases[i], 32, 13);
			UnitFilter	f;
			uint64_t	first = unit_random();
			CuckooStatus status = CUCKOO_OK;
			uint64_t	n;

			unit_filter_init(&f, &h);
			for (n = 0; n < 1000 && status == CUCKOO_OK; n++)
			{
				uint64_t	hash = first;

				/*
				 * Kinds 0 and 1 have one pair of buckets at every level but
				 * the last ones, because only the top extension bits differ.
				 * Kinds 2 and 3 differ only in those that growth reads first,
				 * and the fixed byte of kind 3 is far.
				 */
				if (kind < 2)
					hash ^= n << (kind == 0 ? 28 : 22) & 0xffffffff;
				else if (kind == 2)
					hash ^= n << 8;
				else
					hash = (first & ~UINT64_C(0xffffff)) | (n << 8 | 0x04);
				while ((status = cuckoo_insert(&f.h, f.image, hash, 2)) ==
					   CUCKOO_FULL)
				{
					/* only small filters grow if less than an eighth is full */
					CHECK(f.h.buckets <= 64 || f.h.items * 2 >= f.h.buckets,
						  "m0 %" PRIu32 ": %" PRIu32 " buckets for %" PRIu64,
						  bases[i], f.h.buckets, n);
					if (f.h.buckets > 100000)
						break;
					CHECK(unit_filter_grow(&f) == CUCKOO_OK, "m0 %" PRIu32, bases[i]);
				}
				if (status == CUCKOO_UNCHANGED)
					status = CUCKOO_OK;
			}
			CHECK(status == CUCKOO_OK || status == CUCKOO_CRAFTED,
				  "m0 %" PRIu32 ": %s", bases[i], cuckoo_status_text(status));
			refused += status == CUCKOO_CRAFTED;
			if (kind == 1)
				CHECK(status == CUCKOO_CRAFTED && n >= 9, "m0 %" PRIu32, bases[i]);
			check_valid(&f, "crafted");
			/* what went in before is there */
			CHECK(status == CUCKOO_OK || cuckoo_contains(&f.h, f.image, kind == 3 ?
														 (first & ~UINT64_C(0xffffff)) | 4 : first),
				  "m0 %" PRIu32, bases[i]);
			unit_filter_free(&f);
		}
	CHECK(refused > 0, "none refused");
	printf("crafted: %" PRIu64 " of %d sets refused\n", refused,
		   (int) (sizeof(bases) / sizeof(bases[0])) * 4);
}

/* Crafted: more than 64 buckets, and less than half an item per bucket. */
static void
test_crafted_limit(void)
{
	static const struct
	{
		uint32_t	base;
		int			level;
		uint64_t	items;
		bool		crafted;
	}			limits[] =
	{
		{2, 0, 0, false}, {62, 0, 9, false}, {64, 0, 0, false}, {64, 0, 31, false},
		{32, 1, 9, false}, {2, 5, 9, false}, {66, 0, 9, true}, {66, 0, 32, true},
		{66, 0, 33, false}, {66, 0, 34, false}, {34, 1, 33, true}, {34, 1, 34, false},
		{2, 6, 63, true}, {2, 6, 64, false}, {4096, 3, 16383, true}, {4096, 3, 16384, false}
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
	{
		CuckooHeader h = unit_header(limits[i].base, 20, 13);

		CHECK(cuckoo_header_set_level(&h, limits[i].level) == CUCKOO_OK, "%d", (int) i);
		CHECK(cuckoo_is_crafted(&h, limits[i].items) == limits[i].crafted,
			  "%" PRIu32 " buckets, %" PRIu64 " items", h.buckets, limits[i].items);
	}
}

/*
 * No honest element may be refused as crafted.  With every element added twice,
 * five that share a pair of buckets block each other.  In one of some 50,000
 * such fills this happens at a load under one half, but not under one eighth.
 */
static void
test_not_crafted(void)
{
	uint64_t	rounds = unit_long ? 20000 : 1000;
	uint64_t	crafted[2] = {0, 0};

	for (uint64_t round = 0; round < rounds; round++)
		for (int copies = 1; copies <= 2; copies++)
		{
			CuckooHeader h = unit_header(2 * (1 + (uint32_t) unit_below(64)), 16, 13);
			UnitFilter	f;
			CuckooStatus status = CUCKOO_OK;

			unit_filter_init(&f, &h);
			for (int i = 0; i < 600 && status == CUCKOO_OK; i++)
			{
				uint64_t	hash = unit_random();

				for (int k = 0; k < copies; k++)
				{
					status = unit_filter_add(&f, hash, copies);
					if (status == CUCKOO_UNCHANGED)
						status = CUCKOO_OK;
					crafted[copies - 1] += status == CUCKOO_CRAFTED;
				}
			}
			unit_filter_free(&f);
		}
	printf("fills through 64 to 256 buckets refused as crafted: %" PRIu64
		   " of %" PRIu64 " with each element once, %" PRIu64 " with each twice\n",
		   crafted[0], rounds, crafted[1]);
	CHECK(crafted[0] + crafted[1] == 0, "%" PRIu64 " refused",
		  crafted[0] + crafted[1]);
}

/*
 * True if more elements have both buckets of element n than these can hold.
 * One in about a million fills meets such a pair before it is full.
 */
static bool
is_blocked(const CuckooHeader *h, uint64_t set, uint64_t n)
{
	CuckooProbe last,
				probe;
	int			same = 1;

	cuckoo_probe_init(&last, h, element(set, n));
	for (uint64_t i = 0; i < n; i++)
	{
		cuckoo_probe_init(&probe, h, element(set, i));
		same += (probe.pos[0] == last.pos[0] && probe.pos[1] == last.pos[1]) ||
			(probe.pos[0] == last.pos[1] && probe.pos[1] == last.pos[0]);
	}
	return same > 2 * CUCKOO_SLOTS;
}

/* Up and down again with honest elements, from few base buckets. */
static void
test_levels(void)
{
	static const uint32_t bases[] = {2, 4, 8, 16, 34, 62, 128, 202, 254, 256, 4096, 5248};
	uint64_t	most_buckets = unit_long ? 1 << 20 : 1 << 15;
	double		least = 1;
	double		least_shrunk = 1;

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
	{
		CuckooHeader h = unit_header(bases[i], 32, 13);
		UnitFilter	f;
		uint64_t	n = 0;
		uint64_t	set = 100 + i;
		bool		blocked = false;

		unit_filter_init(&f, &h);
		for (;;)
		{
			CuckooStatus status = cuckoo_insert(&f.h, f.image, element(set, n), 2);

			if (status == CUCKOO_OK || status == CUCKOO_UNCHANGED)
			{
				n++;
				continue;
			}
			CHECK(status == CUCKOO_FULL, "m0 %" PRIu32 ", g %d: %s", bases[i],
				  f.h.level, cuckoo_status_text(status));
			if (f.h.buckets >= 1000)
			{
				double		load = (double) f.h.items / f.h.buckets / 4;

				blocked |= load < 0.93 && is_blocked(&f.h, set, n);
				CHECK(load >= 0.93 || blocked, "m0 %" PRIu32 ", g %d: %.4f",
					  bases[i], f.h.level, load);
				least = load < least && !blocked ? load : least;
			}
			if ((uint64_t) f.h.buckets * 2 > most_buckets || status != CUCKOO_FULL)
				break;
			CHECK(unit_filter_grow(&f) == CUCKOO_OK, "m0 %" PRIu32, bases[i]);
			CHECK(missing(&f, set, n) == 0, "m0 %" PRIu32 ", g %d", bases[i],
				  f.h.level);
		}
		check_valid(&f, "levels");

		/* take out element by element; shrink as soon as that gives load 0.9 */
		while (f.h.level > 0 && n > 0)
		{
			CuckooStatus status;

			n--;
			status = cuckoo_remove(&f.h, f.image, element(set, n));
			CHECK(status == CUCKOO_OK || status == CUCKOO_UNCHANGED, "remove");
			if (f.h.items * 10 > (uint64_t) f.h.buckets * 2 * 9)
				continue;
			status = unit_filter_shrink(&f);
			if (f.h.buckets >= 1000)
				CHECK(status == CUCKOO_OK || blocked, "m0 %" PRIu32
					  ", g %d, %" PRIu64 " items", bases[i], f.h.level,
					  f.h.items);
			if (status == CUCKOO_OK && f.h.buckets >= 1000)
			{
				double		load = (double) f.h.items / f.h.buckets / 4;

				least_shrunk = load < least_shrunk ? load : least_shrunk;
			}
			CHECK(missing(&f, set, n) == 0, "m0 %" PRIu32 ", g %d, shrunk",
				  bases[i], f.h.level);
			if (status != CUCKOO_OK)
				break;
		}
		check_valid(&f, "shrunk");
		unit_filter_free(&f);
	}
	printf("growth from 2 to 5248 base buckets to %" PRIu64
		   ": least load at a doubling %.3f; shrunk to loads of %.3f and more\n",
		   most_buckets, least, least_shrunk);
}

static double
first_failure(uint32_t base, int bits)
{
	CuckooHeader h = unit_header(base, bits, bits);
	UnitFilter	f;
	double		load;

	unit_filter_init(&f, &h);
	for (;;)
	{
		CuckooStatus status = cuckoo_insert(&f.h, f.image, unit_random(), 2);

		if (status != CUCKOO_OK && status != CUCKOO_UNCHANGED)
			break;
	}
	load = (double) f.h.items / base / 4;
	unit_filter_free(&f);
	return load;
}

static void
test_first_failure(void)
{
	static const uint32_t bases[] = {
		2, 8, 34, 64, 128, 256, 512, 1000, 2048, 4094, 4096, 5248, 8192, 16256,
		16384, 32768, 65536, 262144
	};

	printf("least load at the first failed insert:");
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
	{
		int			rounds = (int) (300000 / bases[i]) * (unit_long ? 10 : 1);
		double		least = 1;

		if (rounds > 200)
			rounds = 200;
		if (rounds < 3)
			rounds = 3;
		for (int k = 0; k < rounds; k++)
		{
			double		load = first_failure(bases[i], 13);

			least = load < least ? load : least;
			if (bases[i] >= 1000)
				CHECK(load >= 0.93, "m0 %" PRIu32 ": %.4f", bases[i], load);
		}
		printf("%s %" PRIu32 ": %.3f", i % 9 == 0 ? "\n " : ",", bases[i], least);
	}
	printf("\n");
}

/*
 * A filter takes as many elements as cuckoo_max_items() says.  In 500 buckets
 * and more, which it has here at the last level, chance hardly matters.
 */
static void
check_max_items(CuckooHeader *h, const char *what, uint64_t n, double fpp)
{
	uint64_t	most = cuckoo_max_items(h);
	CuckooHeader last = *h;
	CuckooStatus status = CUCKOO_OK;
	UnitFilter	f;

	CHECK(cuckoo_header_set_level(&last, h->base_bits - 8) == CUCKOO_OK &&
		  most == (uint64_t) last.buckets * 19 / 5 && most >= cuckoo_capacity(h) &&
		  last.buckets >= 500,
		  "%s %" PRIu64 ", %g: %" PRIu64, what, n, fpp, most);
	h->seed = unit_random();
	unit_filter_init(&f, h);
	for (uint64_t i = 0; i < most && status <= CUCKOO_UNCHANGED; i++)
		status = unit_filter_add(&f, unit_random(), 1);
	CHECK(status <= CUCKOO_UNCHANGED, "%s %" PRIu64 ", %g: %s after %" PRIu64
		  " of %" PRIu64, what, n, fpp, cuckoo_status_text(status), f.h.items, most);
	CHECK(cuckoo_max_items(&f.h) == most, "%s %" PRIu64 ", %g", what, n, fpp);
	while (status <= CUCKOO_UNCHANGED)
		status = unit_filter_add(&f, unit_random(), 2);
	CHECK(status == CUCKOO_LAST_LEVEL && f.h.items < most * 21 / 20,
		  "%s %" PRIu64 ", %g: %s", what, n, fpp, cuckoo_status_text(status));
	unit_filter_free(&f);
}

static void
test_max_items(void)
{
	static const double fpps[] = {0.5, 0.03, 0.01, 0.001, 1e-5};
	static const uint64_t sizes[] = {1, 10, 1000, 2001, 20000};
	CuckooHeader h;
	int			filled = 0;

	for (size_t i = 0; i < sizeof(fpps) / sizeof(fpps[0]); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		{
			int			bits = cuckoo_fpp_bits(fpps[i]);

			CHECK(cuckoo_header_sized(&h, sizes[k], bits, 0) == CUCKOO_OK, "sized");
			if (cuckoo_max_items(&h) >= 1900 && cuckoo_max_items(&h) < 300000)
				check_max_items(&h, "sized", sizes[k], fpps[i]), filled++;
			CHECK(cuckoo_header_exact(&h, sizes[k], bits, 0) == CUCKOO_OK, "exact");
			if (cuckoo_max_items(&h) >= 1900 && cuckoo_max_items(&h) < 300000)
				check_max_items(&h, "exact", sizes[k], fpps[i]), filled++;
		}
	/* where the size ends growth: 2^26 buckets of 25 * 4 bits are 800 MiB */
	h = unit_header(1 << 20, 32, 13);
	CHECK(cuckoo_max_items(&h) == (UINT64_C(1) << 25) * 19 / 5, "%" PRIu64,
		  cuckoo_max_items(&h));
	printf("most items: %d filters filled\n", filled);
}

/*
 * Codes beyond the last, which only a corrupt image has, are safe in all that
 * looks into an image or changes it; what comes out means nothing.  An
 * undefined behavior sanitizer sees more than this test.
 */
static void
test_bad_codes(void)
{
	for (int bits = 8; bits <= 32; bits++)
		for (int level = 0; level <= 1 && level <= bits - 8; level++)
		{
			CuckooHeader h = unit_header(62, bits, 8);
			UnitFilter	f;
			CuckooHeader up;
			CuckooHeader down;
			uint8_t    *image;
			uint64_t	hashes[300];
			bool		found[300];

			unit_filter_init(&f, &h);
			for (int i = 0; i < 100; i++)
				cuckoo_insert(&f.h, f.image, unit_random(), 2);
			if (level > 0)
				CHECK(unit_filter_grow(&f) == CUCKOO_OK, "bits %d", bits);
			/* each of the 220 in every third bucket, with whatever lanes */
			for (uint32_t code = NAIVE_CODES; code < 4096; code++)
			{
				uint64_t	items = f.h.items;

				for (int i = 0; i < 300; i++)
					hashes[i] = unit_random();
				for (uint32_t pos = code % 3; pos < f.h.buckets; pos += 3)
					naive_write(f.image + CUCKOO_HEADER_SIZE,
								pos * (uint64_t) (4 * f.h.bits - 4), 12, code);
				cuckoo_contains_batch(&f.h, f.image, hashes, 300, found);
				for (int i = 0; i < 300; i++)
				{
					CuckooProbe probe;
					int			copies = cuckoo_copies(&f.h, f.image, hashes[i]);

					cuckoo_probe_init(&probe, &f.h, hashes[i]);
					CHECK(found[i] == (copies > 0) && found[i] ==
						  cuckoo_contains(&f.h, f.image, hashes[i]) &&
						  copies == cuckoo_probe_copies(&probe, &f.h,
														f.image + probe.offset[0],
														f.image + probe.offset[1]),
						  "bits %d, level %d, code %" PRIu32, bits, level, code);
				}
				/* changes keep the header's count in step */
				for (int i = 0; i < 20; i++)
					items += cuckoo_insert(&f.h, f.image, hashes[i], 2) == CUCKOO_OK;
				for (int i = 10; i < 40 && items > 0; i++)
					items -= cuckoo_remove(&f.h, f.image, hashes[i]) == CUCKOO_OK;
				CHECK(f.h.items == items, "bits %d, code %" PRIu32, bits, code);
				CHECK(unit_validate(f.image, cuckoo_image_size(&f.h)) != CUCKOO_OK,
					  "bits %d, code %" PRIu32, bits, code);
			}
			up = f.h;
			if (cuckoo_header_set_level(&up, level + 1) == CUCKOO_OK)
			{
				image = unit_alloc(cuckoo_image_size(&up));
				cuckoo_grow(&f.h, f.image, &up, image);
				free(image);
			}
			down = f.h;
			if (level > 0 && cuckoo_header_set_level(&down, level - 1) == CUCKOO_OK)
			{
				image = unit_alloc(cuckoo_image_size(&down));
				unit_shrink(&f.h, f.image, &down, image);
				free(image);
			}
			unit_filter_free(&f);
		}
	printf("codes out of range, every width, levels 0 and 1\n");
}

/*
 * Lookups in batches, and in only the bytes that a probe asks for, agree with
 * cuckoo_contains() and cuckoo_copies().
 */
static void
test_other_lookups(void)
{
	static const uint32_t bases[] = {2, 34, 128, 214, 4096, 5248};

	for (int bits = 8; bits <= 32; bits++)
		for (int level = 0; level <= 3 && level <= bits - 8; level++)
		{
			CuckooHeader h = unit_header(bases[unit_below(6)], bits, 8);
			UnitFilter	f;
			uint64_t	hashes[1000];
			bool		found[1000];
			size_t		n = unit_below(1001);

			unit_filter_init(&f, &h);
			for (size_t i = 0; i < 1000; i++)
				hashes[i] = unit_random();
			for (int i = 0; i < 300; i++)
			{
				CuckooStatus status = cuckoo_insert(&f.h, f.image, hashes[unit_below(500)], 2);

				CHECK(status <= CUCKOO_LAST_LEVEL, "%s", cuckoo_status_text(status));
			}
			for (int g = 0; g < level; g++)
				CHECK(unit_filter_grow(&f) == CUCKOO_OK, "level %d", g);

			cuckoo_contains_batch(&f.h, f.image, hashes, n, found);
			for (size_t i = 0; i < n; i++)
			{
				CuckooProbe probe;
				uint8_t    *bytes[2];
				int			copies = cuckoo_copies(&f.h, f.image, hashes[i]);

				CHECK(found[i] == cuckoo_contains(&f.h, f.image, hashes[i]) &&
					  found[i] == (copies > 0), "bits %d, level %d", bits, level);
				cuckoo_probe_init(&probe, &f.h, hashes[i]);
				for (int k = 0; k < 2; k++)
				{
					CHECK(probe.offset[k] + (uint64_t) probe.length <=
						  cuckoo_image_size(&f.h), "bits %d, level %d", bits, level);
					bytes[k] = unit_alloc((uint64_t) probe.length);
					memcpy(bytes[k], f.image + probe.offset[k], (size_t) probe.length);
				}
				CHECK(cuckoo_probe_copies(&probe, &f.h, bytes[0], bytes[1]) == copies,
					  "bits %d, level %d", bits, level);
				free(bytes[0]);
				free(bytes[1]);
			}
			unit_filter_free(&f);
		}
	printf("batches and partial images, every width, levels 0 to 3\n");
}

/*
 * The largest filters, just below 512 MiB: the number of a bit takes 32 bits.
 * Memory that nobody touches costs nothing, so few elements are spread over the
 * buckets, the last of which are among them.
 */
static void
test_largest(void)
{
	static const uint64_t n = 1000;
	bool		seen[CUCKOO_KINDS] = {false};

	for (int bits = 8; bits <= 30; bits++)
	{
		CuckooHeader h;
		CuckooHeader next;
		uint64_t	size;
		uint8_t    *image;
		uint64_t   *hashes = unit_alloc(n * sizeof(uint64_t));
		bool	   *found = unit_alloc(n * sizeof(bool));

		CHECK(cuckoo_header_sized(&next, cuckoo_max_capacity(bits),
								  bits, 0) == CUCKOO_OK, "%d bits", bits);
		do
			h = next;
		while (cuckoo_header_set_level(&next, next.level + 1) == CUCKOO_OK);
		size = cuckoo_image_size(&h);
		CHECK(size > UINT64_C(500) << 20 && size <= UINT64_C(512) << 20,
			  "%d bits: %" PRIu64 " bytes", bits, size);
		image = calloc(1, size);
		CHECK(image != NULL, "no memory");
		if (image == NULL)
			return;
		cuckoo_header_write(&h, image);
		seen[h.kind] = true;
		for (uint64_t i = 0; i < n; i++)
		{
			CuckooStatus status;

			/*
			 * not one that looks like another: a filter in 4,000 has such a
			 * pair
			 */
			do
			{
				hashes[i] = i < 10 ? UINT64_MAX - i * 7 : unit_random();
				status = cuckoo_insert(&h, image, hashes[i], 1);
			} while (status == CUCKOO_UNCHANGED && i >= 10);
			CHECK(status == CUCKOO_OK, "%d bits, %" PRIx64, bits, hashes[i]);
		}
		cuckoo_contains_batch(&h, image, hashes, n, found);
		for (uint64_t i = 0; i < n; i++)
		{
			CuckooProbe probe;

			cuckoo_probe_init(&probe, &h, hashes[i]);
			CHECK(found[i] && cuckoo_contains(&h, image, hashes[i]) &&
				  probe.offset[0] + (uint64_t) probe.length <= size &&
				  probe.offset[1] + (uint64_t) probe.length <= size &&
				  cuckoo_probe_copies(&probe, &h, image + probe.offset[0],
									  image + probe.offset[1]) == 1 &&
				  cuckoo_remove(&h, image, hashes[i]) == CUCKOO_OK &&
				  !cuckoo_contains(&h, image, hashes[i]),
				  "%d bits, %" PRIx64, bits, hashes[i]);
		}
		CHECK(h.items == 0, "%d bits: %" PRIu64 " left", bits, h.items);
		free(image);
		free(hashes);
		free(found);
	}
	for (int kind = 0; kind < CUCKOO_KINDS; kind++)
		CHECK(seen[kind] || kind == CUCKOO_WHOLE || kind == CUCKOO_SHARED,
			  "no filter of kind %d", kind);
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_filter");
	naive_init();
	TEST(test_sequences());
	TEST(test_past_capacity());
	TEST(test_large());
	TEST(test_largest());
	TEST(test_repeats());
	TEST(test_crafted());
	TEST(test_crafted_limit());
	TEST(test_not_crafted());
	TEST(test_levels());
	TEST(test_first_failure());
	TEST(test_max_items());
	TEST(test_bad_codes());
	TEST(test_other_lookups());
	return unit_end();
}
