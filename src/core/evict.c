/*-------------------------------------------------------------------------
 *
 * core/evict.c
 *		Storing a fingerprint, with a breadth-first search for room.
 *
 *-------------------------------------------------------------------------
 */
#include "core/evict.h"

/*
 * Buckets that a search visits before the filter counts as full.  A fill to
 * load factor 0.95 moves a fingerprint in every tenth insert on average.
 * Around 0.96 searches begin to visit hundreds of buckets.
 *
 * A search of a large table visits more buckets.  Growing is slow there, and
 * the table sees more inserts before it is full, so an unlucky insert is more
 * likely.
 */
#define FEW_VISITS			CUCKOO_LIMIT(256, 32)
#define MANY_VISITS			CUCKOO_SEARCHED_BUCKETS

/*
 * Tables with more buckets are large: mostly outside of the processor's faster
 * caches.
 */
#define LARGE_BUCKETS		CUCKOO_LIMIT(1 << 20, 64)

/*
 * A bitmap of visited buckets, indexed by pos modulo its size, with two bits
 * for each visit.  Of several buckets that share a bit only the first is
 * visited.  So the search is exhaustive in a table of `most` buckets.  In
 * larger tables it skips up to a third of the buckets that it meets.
 */
#define VISITED_WORDS(most)	((most) / 32)	/* a power of two */

/* A full bucket, and the fingerprint that will move into it. */
typedef struct Visit
{
	uint32_t	pos;
	uint32_t	fp;
	int16_t		from;			/* visit of the bucket with fp; -1: new */
	int16_t		slot;			/* slot of fp in that bucket */
} Visit;

typedef struct Search
{
	uint64_t	visited[VISITED_WORDS(MANY_VISITS)];
	int			most;			/* the most visits */
	int			count;
	Visit		visits[MANY_VISITS];
} Search;

/* True if a bucket can be changed as a word. */
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

/* Like cuckoo_bucket_fullness(), for images and unpacked slots. */
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

/* Adds fp to a bucket that has room. */
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

/* Replaces slot i of a bucket by fp. */
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
cuckoo_table_insert(const CuckooTable *t, CuckooPair pair)
{
	uint64_t	fullness1 = fullness(t, (uint32_t) pair.pos1);
	uint64_t	fullness2 = fullness(t, (uint32_t) pair.pos2);
	bool		first = fullness1 <= fullness2;

	if ((first ? fullness1 : fullness2) >= CUCKOO_CODES_ZERO)
		return cuckoo_evict(t, pair);
	add(t, (uint32_t) (first ? pair.pos1 : pair.pos2), pair.fp);
	return CUCKOO_OK;
}

/* Adds a visit of a bucket, unless it was visited. */
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
 * Sets others[i] to the partner bucket of slot i.  Returns the slot whose
 * partner bucket is the emptiest, or -1 if all are full.  Does not branch on
 * which bucket has room.
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
 * Slot i of visit n is free: its fingerprint has moved to the partner bucket.
 * Moves the fingerprint that waits for this slot into it, which frees another
 * slot, and so on, until the new fingerprint is stored.
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
cuckoo_evict(const CuckooTable *t, CuckooPair pair)
{
	Search		s;

	s.most = t->slots != NULL || t->header->buckets > LARGE_BUCKETS ?
		MANY_VISITS : FEW_VISITS;
	s.count = 0;
	memset(s.visited, 0, VISITED_WORDS(s.most) * sizeof(uint64_t));
	add_visit(&s, (uint32_t) pair.pos2, pair.fp, -1, 0);
	add_visit(&s, (uint32_t) pair.pos1, pair.fp, -1, 0);
	for (int n = 0; n < s.count; n++)
	{
		uint32_t	slots[CUCKOO_SLOTS];
		uint32_t	others[CUCKOO_SLOTS];
		int			found;

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
