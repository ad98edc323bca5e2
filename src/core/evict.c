/*-------------------------------------------------------------------------
 *
 * core/evict.c
 *		Placing fingerprints in a table of buckets.
 *
 * If both buckets of a fingerprint are full, entries are evicted to their other
 * buckets.  Each of these may be full as well, so the search for room visits
 * full buckets breadth-first, which finds a short chain of moves (Li, Andersen,
 * Kaminsky, Freedman: Algorithmic Improvements for Fast Concurrent Cuckoo
 * Hashing, EuroSys 2014).  Nothing moves before room is found.
 *
 *-------------------------------------------------------------------------
 */
#include "core/evict.h"

/*
 * Buckets that a search visits before the filter counts as full.  A fill to
 * load factor 0.95 moves an entry every tenth insert on average.  Searches of
 * hundreds of buckets begin around 0.96.
 *
 * In a large table a search visits more, because the table is slow to grow and
 * sees more inserts before it is full, so that an unlucky one is more likely.
 */
#define FEW_VISITS			CUCKOO_LIMIT(256, 32)
#define MANY_VISITS			CUCKOO_SEARCHED_BUCKETS

/*
 * Tables of more buckets are large.  They are mostly outside of the processor's
 * faster caches, so a search prefetches what its next visit needs.
 */
#define LARGE_BUCKETS		CUCKOO_LIMIT(1 << 20, 64)

/*
 * A bit tells whether a bucket was visited.  There are twice as many bits as
 * visits, and of the buckets that share a bit, only one is visited.  Therefore
 * the search is exhaustive in a table of as many buckets as visits, and in
 * others skips up to a third of the buckets that it meets.
 */
#define VISITED_WORDS(most)	((most) / 32)	/* a power of two */

/* A full bucket, and the entry that is to move into it. */
typedef struct Visit
{
	uint32_t	pos;
	uint32_t	fp;
	int16_t		from;			/* the visit whose bucket holds fp; -1 if new */
	int16_t		slot;			/* of fp, there */
} Visit;

typedef struct Search
{
	uint64_t	visited[VISITED_WORDS(MANY_VISITS)];
	int			most;			/* visits before the filter counts as full */
	int			count;
	Visit		visits[MANY_VISITS];
} Search;

/* True if buckets can be changed as words. */
static inline bool
is_narrow(const CuckooTable *t)
{
	return t->slots == NULL && t->header->bits <= CUCKOO_NARROW_BITS;
}

static CUCKOO_INLINE uint64_t
get_word(const CuckooTable *t, uint32_t pos)
{
	return cuckoo_bucket_word(t->buckets,
							  cuckoo_bucket_offset(t->header, pos, false),
							  false);
}

static CUCKOO_INLINE void
change_word(const CuckooTable *t, uint32_t pos, uint64_t change)
{
	cuckoo_bucket_xor(t->buckets, cuckoo_bucket_offset(t->header, pos, false),
					  false, change);
}

/* The same as cuckoo_bucket_fullness(), for both kinds of tables. */
static CUCKOO_INLINE uint64_t
fullness(const CuckooTable *t, uint32_t pos)
{
	const uint32_t *s;

	if (t->slots == NULL)
		return cuckoo_bucket_fullness(get_word(t, pos), t->header);
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
add(const CuckooTable *t, uint32_t pos, uint32_t fp)
{
	const CuckooHeader *h = t->header;

	if (is_narrow(t))
		change_word(t, pos, cuckoo_narrow_add(get_word(t, pos),
											  cuckoo_pattern(fp, h), h));
	else
		cuckoo_table_replace(t, pos, 0, fp);
}

/* Replaces slot i of a bucket. */
static CUCKOO_INLINE void
replace(const CuckooTable *t, uint32_t pos, int i, uint32_t fp)
{
	const CuckooHeader *h = t->header;
	uint32_t	slots[CUCKOO_SLOTS];

	if (is_narrow(t))
	{
		change_word(t, pos, cuckoo_narrow_replace(get_word(t, pos), i,
												  cuckoo_pattern(fp, h), h));
		return;
	}
	cuckoo_table_get(t, pos, slots);
	slots[i] = fp;
	cuckoo_table_put(t, pos, slots);
}

CuckooStatus
cuckoo_table_insert(const CuckooTable *t, uint32_t fp, uint32_t pos,
					uint32_t other)
{
	uint64_t	fullness1 = fullness(t, pos);
	uint64_t	fullness2 = fullness(t, other);
	bool		first = fullness1 <= fullness2;

	if ((first ? fullness1 : fullness2) >= CUCKOO_CODES_ZERO)
		return cuckoo_evict(t, fp, pos, other);
	add(t, first ? pos : other, fp);
	return CUCKOO_OK;
}

/* Prefetches the other buckets of the entries of a bucket of an image. */
static CUCKOO_NOINLINE void
prefetch_others(const CuckooTable *t, uint32_t pos)
{
	const CuckooHeader *h = t->header;
	uint32_t	slots[CUCKOO_SLOTS];

	cuckoo_table_get(t, pos, slots);
	for (int i = 0; i < CUCKOO_SLOTS; i++)
		CUCKOO_PREFETCH(t->buckets +
						cuckoo_bucket_byte(h, cuckoo_partner(h, pos,
															   slots[i])));
}

/* Adds a visit, unless there is one of the bucket. */
static CUCKOO_INLINE void
add_visit(Search *s, uint32_t pos, uint32_t fp, int from, int slot)
{
	uint64_t   *word = &s->visited[pos / 64 & (VISITED_WORDS(s->most) - 1)];
	uint64_t	before = *word;
	Visit	   *v = &s->visits[s->count];

	v->pos = pos;
	v->fp = fp;
	v->from = (int16_t) from;
	v->slot = (int16_t) slot;
	*word |= UINT64_C(1) << pos % 64;
	s->count += *word != before;
}

/*
 * Sets `others` to the other buckets of the entries of a bucket.  Returns the
 * slot whose other bucket is the emptiest, or -1 if all are full.  It does not
 * branch on which of them has room.
 */
static CUCKOO_INLINE int
find_room(const CuckooTable *t, uint32_t pos,
		  const uint32_t slots[CUCKOO_SLOTS], uint32_t others[CUCKOO_SLOTS])
{
	uint64_t	emptiest = UINT64_MAX;

	for (int i = 0; i < CUCKOO_SLOTS; i++)
	{
		uint64_t	full;

		others[i] = cuckoo_partner(t->header, pos, slots[i]);
		full = fullness(t, others[i]) | (uint64_t) i;	/* two clear bits */
		emptiest = full < emptiest ? full : emptiest;
	}
	return emptiest < CUCKOO_CODES_ZERO ? (int) (emptiest & 3) : -1;
}

/*
 * The entry in slot i of visit n has moved to its other bucket.  The entry that
 * is to move there takes its slot, and so on back to the new fingerprint.
 */
static CUCKOO_INLINE void
move_chain(const CuckooTable *t, const Search *s, int n, int i)
{
	while (n >= 0)
	{
		const Visit *v = &s->visits[n];

		replace(t, v->pos, i, v->fp);
		i = v->slot;
		n = v->from;
	}
}

CuckooStatus
cuckoo_evict(const CuckooTable *t, uint32_t fp, uint32_t pos, uint32_t other)
{
	Search		s;
	bool		large = t->slots == NULL && t->header->buckets > LARGE_BUCKETS;

	s.most = large || t->slots != NULL ? MANY_VISITS : FEW_VISITS;
	s.count = 0;
	memset(s.visited, 0, VISITED_WORDS(s.most) * sizeof(uint64_t));
	add_visit(&s, other, fp, -1, 0);
	add_visit(&s, pos, fp, -1, 0);
	for (int n = 0; n < s.count; n++)
	{
		uint32_t	slots[CUCKOO_SLOTS];
		uint32_t	others[CUCKOO_SLOTS];
		int			found;

		if (large && n + 1 < s.count)
			prefetch_others(t, s.visits[n + 1].pos);
		cuckoo_table_get(t, s.visits[n].pos, slots);
		found = find_room(t, s.visits[n].pos, slots, others);
		if (found >= 0)
		{
			add(t, others[found], slots[found]);
			move_chain(t, &s, n, found);
			return CUCKOO_OK;
		}
		for (int i = 0; i < CUCKOO_SLOTS && s.count < s.most; i++)
			add_visit(&s, others[i], slots[i], n, i);
	}
	return CUCKOO_FULL;
}
