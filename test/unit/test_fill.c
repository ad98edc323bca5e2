/*-------------------------------------------------------------------------
 *
 * test_fill.c
 *		Filters by capacity fill well before they double.
 *
 * usage: test_fill [seed [long]], and in the environment FILLS=n, the number of
 * fills, and FILL_ITEMS=n, about how many elements are added in all of them
 *
 * A fill takes a filter for some capacity and false-positive rate, and adds
 * element by element, from empty to where growth ends or the budget of the fill
 * does.  It looks at the load at each insert that finds no room.  Elements are
 * added once; added, while one in three is deleted again; or added twice, for
 * which there is no limit.  The former two must reach a load of 0.955 from
 * LARGE buckets on, and 0.93 from SMALL on.  In few buckets chance decides, so
 * test_table.c looks at those in another way.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <math.h>

#define LARGE		1024
#define SMALL		256
#define SIZES		28			/* by the binary logarithm of the buckets */

typedef enum Order
{
	ONCE, DELETED, TWICE, ORDERS
} Order;

static const char *const order_names[ORDERS] = {
	"added once", "one in three deleted again", "added twice"
};

typedef struct Loads
{
	uint64_t	number;
	double		least;
	double		sum;
} Loads;

/* with and without windows */
static Loads loads[ORDERS][2][SIZES];

static void
see_load(const CuckooHeader *h, Order order, uint64_t capacity)
{
	double		load = (double) h->items / h->buckets / CUCKOO_SLOTS;
	int			size = 0;
	Loads	   *l;

	while (h->buckets >> (size + 1) > 0)
		size++;
	l = &loads[order][h->windows][size];
	if (l->number++ == 0 || load < l->least)
		l->least = load;
	l->sum += load;
	CHECK(order == TWICE || h->buckets < SMALL ||
		  load >= (h->buckets < LARGE ? 0.93 : 0.955),
		  "%s, capacity %" PRIu64 ", m0 %" PRIu32 ", f0 %d, level %d: load %.4f",
		  order_names[order], capacity, h->base, h->base_bits, h->level, load);
}

static void
fill(uint64_t capacity, double fpp, Order order, uint64_t budget)
{
	UnitFilter	f;
	CuckooHeader h;
	CuckooStatus status;
	uint64_t	start = unit_random();
	uint64_t	adds = 0;

	CHECK(cuckoo_header_sized(&h, capacity, cuckoo_fpp_bits(fpp), start) ==
		  CUCKOO_OK, "capacity %" PRIu64, capacity);
	unit_filter_init(&f, &h);
	for (uint64_t i = 0; adds < budget; i++)
	{
		uint64_t	hash = unit_mix(start + i * UINT64_C(0x9e3779b97f4a7c15));
		int			copies = order == TWICE ? 2 : 1;

		for (int k = 0; k < copies; k++, adds++)
		{
			status = cuckoo_insert(&f.h, f.image, hash, copies);
			if (status <= CUCKOO_UNCHANGED)
				continue;
			see_load(&f.h, order, capacity);
			if (status == CUCKOO_FULL && unit_filter_grow(&f) == CUCKOO_OK)
				status = unit_filter_add(&f, hash, copies);
			if (status > CUCKOO_UNCHANGED)
				goto full;
		}
		if (order == DELETED && i % 3 == 2)
			cuckoo_remove(&f.h, f.image,
						  unit_mix(start + (i - 2) * UINT64_C(0x9e3779b97f4a7c15)));
	}
full:
	CHECK(adds >= budget || cuckoo_header_set_level(&f.h, f.h.level + 1) != CUCKOO_OK,
		  "capacity %" PRIu64 ": %s", capacity, cuckoo_status_text(status));
	CHECK(unit_validate(f.image, cuckoo_image_size(&f.h)) == CUCKOO_OK,
		  "capacity %" PRIu64, capacity);
	unit_filter_free(&f);
}

/* A number from the environment. */
static uint64_t
setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 10) : otherwise;
}

static void
test_fills(void)
{
	static const double fpps[] = {0.03, 0.01, 0.001, 0.001, 1e-4, 1e-5, 1e-6, 1e-8};
	uint64_t	fills = setting("FILLS", unit_long ? 3000 : 60);
	uint64_t	items = setting("FILL_ITEMS", unit_long ? 500000000 : 6000000);

	for (uint64_t i = 0; i < fills; i++)
	{
		double		fpp = fpps[unit_below(8)];
		Order		order = unit_below(8) < 5 ? ONCE : unit_below(3) ? DELETED : TWICE;

		/* half of them have windows, up to the largest capacity */
		bool		large = unit_below(2);
		double		from = large ? 1e6 + 1 : 1;
		double		to = large ? (double) cuckoo_max_capacity(cuckoo_fpp_bits(fpp)) : 1e6;
		double		capacity = from * pow(to / from, (double) unit_below(1000001) / 1e6);

		/* most fills are small, a few much larger */
		fill((uint64_t) capacity, fpp, order,
			 items / fills / 4 << (i % 10 == 9 ? 4 : i % 10 / 3));
	}
	printf("%" PRIu64 " fills: least and mean load where a filter doubled, by the"
		   " binary logarithm of its buckets\n", fills);
	for (int order = 0; order < ORDERS; order++)
		for (int windows = 0; windows < 2; windows++)
		{
			printf("%s, %s windows:", order_names[order], windows ? "with" : "without");
			for (int size = 0; size < SIZES; size++)
			{
				Loads	   *l = &loads[order][windows][size];

				if (l->number > 0)
					printf("\n  %2d: %.4f %.4f of %" PRIu64, size, l->least,
						   l->sum / (double) l->number, l->number);
			}
			printf("\n");
		}
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_fill");
	TEST(test_fills());
	return unit_end();
}
