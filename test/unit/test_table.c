/*-------------------------------------------------------------------------
 *
 * test_table.c
 *		An insert into a small table fails only if there is no room.
 *
 * usage: test_table [seed [long]]
 *
 * A filter is filled until an insert fails, and grown, while it has at most
 * BUCKETS buckets.  When an insert fails, there must be no way to place all the
 * elements.  That is seen by augmenting paths, as in Kuhn's "The Hungarian Method
 * for the Assignment Problem", 1955.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

/* As MAX_VISITS in cuckoo_table.c */
#define BUCKETS		256
#define ELEMENTS	(BUCKETS * CUCKOO_SLOTS + 1)

static uint64_t hashes[ELEMENTS];
static CuckooPair pairs[ELEMENTS];
static int	held[BUCKETS][CUCKOO_SLOTS];
static int	used[BUCKETS];
static bool tried[BUCKETS];

/* Finds a slot for an element, if those that have one may move. */
static bool
assign(int element)
{
	const uint64_t buckets[2] = {pairs[element].pos1, pairs[element].pos2};

	for (int i = 0; i < 2; i++)
	{
		uint64_t	b = buckets[i];

		if (tried[b])
			continue;
		tried[b] = true;
		if (used[b] < CUCKOO_SLOTS)
		{
			held[b][used[b]++] = element;
			return true;
		}
		for (int slot = 0; slot < CUCKOO_SLOTS; slot++)
			if (assign(held[b][slot]))
			{
				held[b][slot] = element;
				return true;
			}
	}
	return false;
}

/* How many of the first elements can be placed, one after the other? */
static int
count_placed(const CuckooHeader *h, int elements)
{
	memset(used, 0, sizeof(used));
	for (int i = 0; i < elements; i++)
	{
		pairs[i] = cuckoo_pair(h, hashes[i]);
		memset(tried, 0, sizeof(tried));
		if (!assign(i))
			return i;
	}
	return elements;
}

static void
fill(uint64_t capacity, double fpp)
{
	UnitFilter	f;
	CuckooHeader h;
	int			elements = 0;

	CHECK(cuckoo_header_sized(&h, capacity, cuckoo_fpp_bits(fpp), 0) == CUCKOO_OK,
		  "capacity %" PRIu64, capacity);
	unit_filter_init(&f, &h);
	while (f.h.buckets <= BUCKETS)
	{
		CuckooStatus status;

		hashes[elements] = unit_random();
		status = cuckoo_insert(&f.h, f.image, hashes[elements], 1);
		if (status == CUCKOO_OK)
			elements++;
		if (status <= CUCKOO_UNCHANGED)
			continue;

		CHECK(status == CUCKOO_FULL || status == CUCKOO_LAST_LEVEL,
			  "capacity %" PRIu64 ": %s", capacity, cuckoo_status_text(status));
		CHECK(count_placed(&f.h, elements + 1) == elements,
			  "capacity %" PRIu64 ", level %d: there is room for %d of %d",
			  capacity, f.h.level, count_placed(&f.h, elements + 1), elements + 1);
		if (unit_filter_grow(&f) != CUCKOO_OK)
			break;
	}
	unit_filter_free(&f);
}

/* Filters without windows, and those with windows in small tables. */
static void
test_room(void)
{
	static const double fpps[] = {0.03, 0.001, 1e-6};

	for (int i = 0; i < (unit_long ? 20000 : 1000); i++)
	{
		double		fpp = fpps[unit_below(3)];
		uint64_t	most = cuckoo_max_capacity(cuckoo_fpp_bits(fpp));

		fill(unit_below(2) ? 1 + unit_below(3000) : most - unit_below(most / 2), fpp);
	}
}

int
main(int argc, char **argv)
{
	unit_begin(argc, argv, "test_table");
	TEST(test_room());
	return unit_end();
}
