/*-------------------------------------------------------------------------
 *
 * test_table.c
 *		Small tables: an insert fails only if there is no room, a build never.
 *
 * usage: test_table [seed [long]]
 *
 * A filter is filled until an insert fails, and grown.  When an insert into at
 * most SEARCHED buckets fails, there must be no way to place all the elements.
 * That is seen by augmenting paths, as in Kuhn's "The Hungarian Method for the
 * Assignment Problem", 1955.  A build must place the elements that the filter
 * has in up to BUILT buckets.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "core/core.h"

/* The visits of a search in core/evict.c, for an insert and for a build */
#define SEARCHED	256
#define BUILT		1024
#define ELEMENTS	(BUILT * CUCKOO_SLOTS + 1)

static uint64_t hashes[ELEMENTS];
static CuckooPair pairs[ELEMENTS];
static int	held[BUILT][CUCKOO_SLOTS];
static int	used[BUILT];
static bool tried[BUILT];

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

/* Places elements one after the other; returns how many have a place. */
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

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static CuckooStatus
build(const CuckooHeader *h, int elements)
{
	static uint32_t slots[BUILT * CUCKOO_SLOTS];
	CuckooHeader built = *h;

	qsort(hashes, (size_t) elements, sizeof(uint64_t), compare_hashes);
	return cuckoo_build(&built, hashes, (uint64_t) elements, slots);
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
	while (f.h.buckets <= BUILT)
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
		CHECK(f.h.buckets > SEARCHED ||
			  count_placed(&f.h, elements + 1) == elements,
			  "capacity %" PRIu64 ", level %d: there is room for %d of %d",
			  capacity, f.h.level, count_placed(&f.h, elements + 1), elements + 1);
		CHECK(build(&f.h, elements) == CUCKOO_OK,
			  "capacity %" PRIu64 ", level %d, %d elements", capacity, f.h.level,
			  elements);
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
