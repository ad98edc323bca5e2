/*-------------------------------------------------------------------------
 *
 * cuckoo_table.c
 *		Placing fingerprints in a table of buckets.
 *
 * The walk of evictions tries at each bucket whether any of the four entries
 * has room elsewhere, before it takes one out; a random entry then goes on.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_table.h"

/*
 * Steps of an eviction walk before the filter counts as full.  A fill to load
 * 0.95 takes one eviction an insert on average; walks of hundreds of steps
 * begin around 0.96.
 */
#define MAX_EVICTIONS		500

void
cuckoo_table_replace(const CuckooTable *t, uint32_t pos, uint32_t from,
					 uint32_t to)
{
	uint32_t	slots[CUCKOO_SLOTS];
	int			i = 0;

	cuckoo_table_get(t, pos, slots);
	while (i < CUCKOO_SLOTS - 1 && slots[i] != from)
		i++;
	CUCKOO_ASSERT(slots[i] == from);
	slots[i] = to;
	cuckoo_table_put(t, pos, slots);
}

void
cuckoo_table_add(const CuckooTable *t, uint32_t pos, uint32_t fp)
{
	const CuckooHeader *h = t->header;

	if (t->slots || h->kind == CUCKOO_WIDE)
		cuckoo_table_replace(t, pos, 0, fp);
	else
	{
		uint8_t    *p = t->buckets + cuckoo_bucket_byte(pos, h->bits);
		int			shift = cuckoo_bucket_shift(pos, h->bits);
		uint64_t	word = cuckoo_load64(p);

		cuckoo_store64(p, word ^
					   cuckoo_narrow_add(word >> shift, fp, h->bits) << shift);
	}
}

CuckooStatus
cuckoo_evict(const CuckooTable *table, uint32_t fp, uint32_t pos,
			 uint64_t random)
{
	struct
	{
		uint32_t	pos;
		uint32_t	in;
		uint32_t	out;
	}			trail[MAX_EVICTIONS];
	int			n;

	for (n = 0; n < MAX_EVICTIONS; n++)
	{
		uint32_t	slots[CUCKOO_SLOTS];
		uint32_t	victim;
		int			v;

		/* Knuth's linear congruential generator (MMIX); its top bits serve */
		random = random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		v = (int) (random >> 62);
		cuckoo_table_get(table, pos, slots);

		/* a victim whose other bucket has room ends the walk */
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	other;

			victim = slots[(v + i) % CUCKOO_SLOTS];
			other = cuckoo_alternate(table->header, pos, victim);
			if (cuckoo_table_has_room(table, other))
			{
				cuckoo_table_add(table, other, victim);
				slots[(v + i) % CUCKOO_SLOTS] = fp;
				cuckoo_table_put(table, pos, slots);
				return CUCKOO_OK;
			}
		}

		victim = slots[v];
		slots[v] = fp;
		cuckoo_table_put(table, pos, slots);
		trail[n].pos = pos;
		trail[n].in = fp;
		trail[n].out = victim;
		fp = victim;
		pos = cuckoo_alternate(table->header, pos, victim);
	}

	while (n-- > 0)
		cuckoo_table_replace(table, trail[n].pos, trail[n].in, trail[n].out);
	return CUCKOO_FULL;
}
