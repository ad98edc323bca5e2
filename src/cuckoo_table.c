/*-------------------------------------------------------------------------
 *
 * cuckoo_table.c
 *		Placing fingerprints in a table of buckets.
 *
 * At each bucket, the walk of evictions first looks whether one of the four
 * entries has room in its other bucket.  If none has, it evicts a random entry.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_table.h"

/*
 * Steps of an eviction walk before the filter counts as full.  A fill to load
 * factor 0.95 moves an entry every sixth insert on average.  Walks of hundreds
 * of steps begin around 0.96.
 */
#define MAX_EVICTIONS		CUCKOO_LIMIT(500, 24)

/*
 * Tables of more buckets lie mostly outside of the processor's faster caches.
 * There a walk prefetches what its second look needs.
 */
#define PREFETCHED_BUCKETS	CUCKOO_LIMIT(1 << 20, 2)

/* Can buckets be changed as words?  Callers pass the answer as an argument. */
static inline bool
is_narrow(const CuckooTable *t)
{
	return t->slots == NULL && t->header->kind != CUCKOO_WIDE;
}

/* The word in which a bucket begins.  It holds all of a narrow bucket. */
static CUCKOO_INLINE uint64_t
first_word(const CuckooTable *t, uint32_t pos)
{
	uint64_t	place = (uint64_t) pos * t->header->bucket_bits;

	return cuckoo_load64(t->buckets + (place >> 3)) >> (place & 7);
}

static CUCKOO_INLINE void
change_word(const CuckooTable *t, uint32_t pos, uint64_t change)
{
	uint64_t	place = (uint64_t) pos * t->header->bucket_bits;
	uint8_t    *p = t->buckets + (place >> 3);

	cuckoo_store64(p, cuckoo_load64(p) ^ change << (place & 7));
}

/* The same as cuckoo_bucket_fullness(), for both kinds of tables. */
static CUCKOO_INLINE uint64_t
fullness(const CuckooTable *t, uint32_t pos, bool narrow)
{
	const uint32_t *s;

	if (narrow || t->slots == NULL)
		return cuckoo_bucket_fullness(first_word(t, pos), t->header);
	s = t->slots + (size_t) pos * CUCKOO_SLOTS;
	return (uint64_t) ((s[0] != 0) + (s[1] != 0) + (s[2] != 0) + (s[3] != 0)) *
		(CUCKOO_CODES_ZERO / CUCKOO_SLOTS);
}

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

/* Adds to a bucket that has room. */
static CUCKOO_INLINE void
add(const CuckooTable *t, uint32_t pos, uint32_t fp, bool narrow)
{
	if (narrow)
		change_word(t, pos, cuckoo_narrow_add(first_word(t, pos),
											  cuckoo_entry(fp, t->header),
											  t->header));
	else
		cuckoo_table_replace(t, pos, 0, fp);
}

/* Replaces slot i of a bucket.  `slots` are its slots; they may be changed. */
static CUCKOO_INLINE void
replace(const CuckooTable *t, uint32_t pos, uint32_t slots[CUCKOO_SLOTS],
		int i, uint32_t fp, bool narrow)
{
	if (narrow)
		change_word(t, pos, cuckoo_narrow_replace(first_word(t, pos), i,
												  cuckoo_entry(fp, t->header),
												  t->header));
	else
	{
		slots[i] = fp;
		cuckoo_table_put(t, pos, slots);
	}
}

CuckooStatus
cuckoo_place(const CuckooTable *t, uint32_t fp, uint32_t pos, uint32_t other,
			 uint64_t random)
{
	bool		narrow = is_narrow(t);
	uint64_t	fullness1 = fullness(t, pos, narrow);
	uint64_t	fullness2 = fullness(t, other, narrow);
	bool		first = fullness1 <= fullness2;

	if ((first ? fullness1 : fullness2) >= CUCKOO_CODES_ZERO)
		return cuckoo_evict(t, fp, pos, other, random);
	add(t, first ? pos : other, fp, narrow);
	return CUCKOO_OK;
}

/* Prefetches the other buckets of the entries of a narrow bucket. */
static CUCKOO_NOINLINE void
prefetch_others(const CuckooTable *t, uint32_t pos)
{
	const CuckooHeader *h = t->header;
	uint32_t	slots[CUCKOO_SLOTS];

	cuckoo_table_get(t, pos, slots);
	for (int i = 0; i < CUCKOO_SLOTS; i++)
		CUCKOO_PREFETCH(t->buckets +
						cuckoo_bucket_byte(cuckoo_alternate(h, pos, slots[i]),
										   h->bits));
}

/*
 * `narrow` is a constant.  For narrow buckets, a step does not branch on which
 * entry has room elsewhere.  It looks at all four entries before it evicts
 * one, and the walk begins with both buckets of the new fingerprint.  Unpacked
 * slots lie far apart, so each look may wait for memory.  There a step takes
 * the first entry that has room elsewhere.
 */
static CUCKOO_INLINE CuckooStatus
evict(const CuckooTable *t, uint32_t fp, uint32_t pos, uint32_t other,
	  uint64_t random, bool narrow)
{
	struct
	{
		uint32_t	pos;
		uint32_t	in;
		uint32_t	out;
	}			trail[MAX_EVICTIONS];
	uint32_t	here = narrow ? other : pos;
	int			n = narrow ? -1 : 0;

	/* the memory for the look at `pos` arrives during that at `other` */
	if (narrow && t->header->buckets > PREFETCHED_BUCKETS)
		prefetch_others(t, pos);
	while (n < MAX_EVICTIONS)
	{
		uint32_t	slots[CUCKOO_SLOTS];
		uint32_t	others[CUCKOO_SLOTS];
		uint64_t	emptiest = UINT64_MAX;
		int			v;

		/* the entry whose other bucket is the emptiest */
		cuckoo_table_get(t, here, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint64_t	full;

			others[i] = cuckoo_alternate(t->header, here, slots[i]);
			full = fullness(t, others[i], narrow) | (uint64_t) i;
			emptiest = full < emptiest ? full : emptiest;
			if (!narrow && full < CUCKOO_CODES_ZERO)
				break;
		}
		if (emptiest < CUCKOO_CODES_ZERO)
		{
			v = (int) (emptiest & 3);
			add(t, others[v], slots[v], narrow);
			replace(t, here, slots, v, fp, narrow);
			return CUCKOO_OK;
		}
		if (n++ < 0)
		{
			here = pos;
			continue;
		}

		/* Knuth's linear congruential generator (MMIX); its top bits serve */
		random = random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		v = (int) (random >> 62);
		trail[n - 1].pos = here;
		trail[n - 1].in = fp;
		trail[n - 1].out = slots[v];
		replace(t, here, slots, v, fp, narrow);
		fp = trail[n - 1].out;
		here = others[v];
	}

	while (n-- > 0)
		cuckoo_table_replace(t, trail[n].pos, trail[n].in, trail[n].out);
	return CUCKOO_FULL;
}

CuckooStatus
cuckoo_evict(const CuckooTable *t, uint32_t fp, uint32_t pos, uint32_t other,
			 uint64_t random)
{
	return is_narrow(t) ? evict(t, fp, pos, other, random, true)
		: evict(t, fp, pos, other, random, false);
}
