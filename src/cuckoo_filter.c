/*-------------------------------------------------------------------------
 *
 * cuckoo_filter.c
 *		Operations on one filter: contains, copies, insert, remove, grow,
 *		shrink.
 *
 * B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher: Cuckoo Filter:
 * Practically Better Than Bloom.  CoNEXT 2014.  Copies, growth and the walk
 * are ours, see the headers.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_bucket.h"
#include "cuckoo_filter.h"
#include "cuckoo_index.h"

/*
 * Steps of an eviction walk before the filter counts as full.  A fill to load
 * 0.95 takes one eviction an insert on average; walks of hundreds of steps
 * begin around 0.96.
 */
#define MAX_EVICTIONS		500

/* Lookups whose memory accesses overlap. */
#define BATCH				64

/*
 * Which slots of the two buckets of a pair hold its fingerprint: bits 0 to 3
 * those of the first, 4 to 7 those of the second.
 *
 * Both buckets are loaded before either is looked at.  Whether any lane agrees
 * is the only branch, as it says almost for sure whether the element is there;
 * one on which bucket it is in, or how often, would be a toss-up, and keep the
 * processor from beginning with the next lookups meanwhile.
 */
static CUCKOO_INLINE uint32_t
pair_matches(const CuckooHeader *h, CuckooPair pair, const uint8_t *p1,
			 const uint8_t *p2)
{
	CuckooBits	b1 = cuckoo_bucket_load_at(p1, pair.pos1, h->bits);
	CuckooBits	b2 = cuckoo_bucket_load_at(p2, pair.pos2, h->bits);
	CuckooPattern pattern = cuckoo_pattern(pair.fp, h, h->bits);
	uint64_t	hits1 = cuckoo_bucket_lane_hits(b1, &pattern);
	uint64_t	hits2 = cuckoo_bucket_lane_hits(b2, &pattern);

	if (CUCKOO_LIKELY((hits1 | hits2) == 0))
		return 0;
	return cuckoo_bucket_matches(b1, &pattern, hits1) |
		cuckoo_bucket_matches(b2, &pattern, hits2) << CUCKOO_SLOTS;
}

/* The same in an image. */
static CUCKOO_INLINE uint32_t
image_matches(const CuckooHeader *h, const uint8_t *image, CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;

	return pair_matches(h, pair,
						buckets + cuckoo_bucket_byte(pair.pos1, h->bits),
						buckets + cuckoo_bucket_byte(pair.pos2, h->bits));
}

/* Copies, given the matching slots: 0, 1, or 2 for two or more. */
static inline int
copies_of(uint32_t matches)
{
	return (matches != 0) + ((matches & (matches - 1)) != 0);
}

/*
 * Lookups in filters whose buckets are narrow, as they mostly are, with fewer
 * instructions.  On their number depends how many lookups the processor has in
 * hand at a time, all of which wait for memory together: every result takes a
 * register until the loads before it are done.
 *
 * `whole` says that buckets are whole bytes, which is so for odd f.  It is a
 * constant.  Where a bucket begins, from the first bucket on, is in bytes then,
 * else in bits.
 */
static CUCKOO_INLINE uint64_t
narrow_place(const CuckooHeader *h, uint64_t pos, bool whole)
{
	return pos * (whole ? h->bucket_bytes : h->bucket_bits);
}

static CUCKOO_INLINE uint64_t
narrow_byte(uint64_t place, bool whole)
{
	return CUCKOO_HEADER_SIZE + (whole ? place : place >> 3);
}

/* How many bits into that byte: 0 or 4. */
static CUCKOO_INLINE int
narrow_shift(uint64_t place, bool whole)
{
	return whole ? 0 : (int) (place & 7);
}

static CUCKOO_INLINE uint64_t
narrow_bucket(const uint8_t *image, uint64_t place, bool whole)
{
	return cuckoo_load64(image + narrow_byte(place, whole)) >>
		narrow_shift(place, whole);
}

/*
 * The lane of the fingerprint in every lane position, from the hash without its
 * low nibble: that is all that cuckoo_fingerprint() would change.
 */
static CUCKOO_INLINE uint64_t
narrow_lanes(const CuckooHeader *h, uint64_t hash, bool grown)
{
	return h->lane_factor *
		(grown ? ((uint32_t) hash & h->ext_mask) >> h->level | (hash & 0xf0)
		 : (uint32_t) hash & h->lane_mask);
}

/* In buckets of any kind. */
static CUCKOO_NOINLINE bool
any_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return image_matches(h, image, cuckoo_pair(h, hash)) != 0;
}

/*
 * Is it in one of two buckets, given the lanes of either that agree by
 * cuckoo_pair_lane_hits(), and where the first bucket that has such a lane
 * begins?
 *
 * Mostly it is one lane, and its nibble agrees too.  Of several some may not
 * agree, or be the other bucket's, but the lowest of the bucket's own does: if
 * the nibbles of all of them agree, so does that one's.
 */
static CUCKOO_INLINE bool
narrow_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
		   uint64_t hits, uint64_t place, bool whole)
{
	uint64_t	bucket = narrow_bucket(image, place, whole);
	uint32_t	other = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK] ^
		cuckoo_tables.core_nibbles[hash & 0xff];
	uint32_t	slots = cuckoo_narrow_slots(hits, h->lane_gather);

	return CUCKOO_LIKELY((other & cuckoo_tables.slot_nibbles[slots]) == 0) ||
		any_contains(h, image, hash);
}

/* Functions of their own, to leave registers to the part before the hit. */
static CUCKOO_NOINLINE bool
half_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
		 uint64_t hits, uint64_t place)
{
	return narrow_hit(h, image, hash, hits, place, false);
}

static CUCKOO_NOINLINE bool
whole_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
		  uint64_t hits, uint64_t place)
{
	return narrow_hit(h, image, hash, hits, place, true);
}

/*
 * Whether any lane agrees is the only branch, as in pair_matches(): which bucket
 * it is in is selected.  `lanes` are narrow_lanes().
 */
static CUCKOO_INLINE bool
narrow_contains_at(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				   uint64_t place1, uint64_t place2, uint64_t lanes, bool whole)
{
	CuckooLaneHits hits =
		cuckoo_pair_lane_hits(narrow_bucket(image, place1, whole),
							  narrow_bucket(image, place2, whole), lanes, h);
	uint64_t	place;

	if (CUCKOO_LIKELY(hits.any == 0))
		return false;
	place = cuckoo_select(hits.first != 0, place1, place2);
	return whole ? whole_hit(h, image, hash, hits.any, place)
		: half_hit(h, image, hash, hits.any, place);
}

static CUCKOO_INLINE bool
narrow_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				bool grown, bool whole)
{
	CuckooPair	pair = cuckoo_positions(h, hash, grown);

	return narrow_contains_at(h, image, hash, narrow_place(h, pair.pos1, whole),
							  narrow_place(h, pair.pos2, whole),
							  narrow_lanes(h, hash, grown), whole);
}

/*
 * Whether the filter has grown is a constant too.  The kinds of filters are
 * functions of their own, so that none takes registers from another.
 */
static CUCKOO_NOINLINE bool
grown_whole_contains(const CuckooHeader *h, const uint8_t *image,
					 uint64_t hash)
{
	return narrow_contains(h, image, hash, true, true);
}

static CUCKOO_NOINLINE bool
grown_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return narrow_contains(h, image, hash, true, false);
}

static CUCKOO_NOINLINE bool
level0_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return narrow_contains(h, image, hash, false, false);
}

static CUCKOO_NOINLINE bool
other_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	if (h->whole)
		return grown_whole_contains(h, image, hash);
	if (!h->narrow)
		return any_contains(h, image, hash);
	return h->level > 0 ? grown_contains(h, image, hash)
		: level0_contains(h, image, hash);
}

bool
cuckoo_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	if (!h->plain)
		return other_contains(h, image, hash);
	return narrow_contains(h, image, hash, false, true);
}

int
cuckoo_copies(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return copies_of(image_matches(h, image, cuckoo_pair(h, hash)));
}

typedef void (*BatchFunction) (const CuckooHeader *h, const uint8_t *image,
							   const uint64_t *hashes, size_t n, bool *found);

/* A part of a batch, in narrow buckets; `grown` and `whole` as above. */
static CUCKOO_INLINE void
narrow_batch(const CuckooHeader *h, const uint8_t *image,
			 const uint64_t *hashes, size_t n, bool *found, bool grown,
			 bool whole)
{
	struct
	{
		uint64_t	lanes;
		uint64_t	place1;
		uint64_t	place2;
	}			at[BATCH];

	/* all reads are under way before the first is waited for */
	for (size_t i = 0; i < n; i++)
	{
		CuckooPair	pair = cuckoo_positions(h, hashes[i], grown);

		at[i].lanes = narrow_lanes(h, hashes[i], grown);
		at[i].place1 = narrow_place(h, pair.pos1, whole);
		at[i].place2 = narrow_place(h, pair.pos2, whole);
		CUCKOO_PREFETCH(image + narrow_byte(at[i].place1, whole));
		CUCKOO_PREFETCH(image + narrow_byte(at[i].place2, whole));
	}
	for (size_t i = 0; i < n; i++)
		found[i] = narrow_contains_at(h, image, hashes[i], at[i].place1,
									  at[i].place2, at[i].lanes, whole);
}

/* The kinds of filters, as in cuckoo_contains(). */
static CUCKOO_NOINLINE void
plain_batch(const CuckooHeader *h, const uint8_t *image,
			const uint64_t *hashes, size_t n, bool *found)
{
	narrow_batch(h, image, hashes, n, found, false, true);
}

static CUCKOO_NOINLINE void
grown_whole_batch(const CuckooHeader *h, const uint8_t *image,
				  const uint64_t *hashes, size_t n, bool *found)
{
	narrow_batch(h, image, hashes, n, found, true, true);
}

static CUCKOO_NOINLINE void
grown_batch(const CuckooHeader *h, const uint8_t *image,
			const uint64_t *hashes, size_t n, bool *found)
{
	narrow_batch(h, image, hashes, n, found, true, false);
}

static CUCKOO_NOINLINE void
level0_batch(const CuckooHeader *h, const uint8_t *image,
			 const uint64_t *hashes, size_t n, bool *found)
{
	narrow_batch(h, image, hashes, n, found, false, false);
}

static CUCKOO_INLINE void
prefetch_pair(const CuckooHeader *h, const uint8_t *image, CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;

	CUCKOO_PREFETCH(buckets + cuckoo_bucket_byte(pair.pos1, h->bits));
	CUCKOO_PREFETCH(buckets + cuckoo_bucket_byte(pair.pos2, h->bits));
}

void
cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	prefetch_pair(h, image, cuckoo_positions(h, hash, h->level > 0));
}

/* The same in buckets of any kind. */
static CUCKOO_NOINLINE void
any_batch(const CuckooHeader *h, const uint8_t *image, const uint64_t *hashes,
		  size_t n, bool *found)
{
	CuckooPair	pairs[BATCH];

	for (size_t i = 0; i < n; i++)
	{
		pairs[i] = cuckoo_pair(h, hashes[i]);
		prefetch_pair(h, image, pairs[i]);
	}
	for (size_t i = 0; i < n; i++)
		found[i] = image_matches(h, image, pairs[i]) != 0;
}

void
cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
					  const uint64_t *hashes, size_t n, bool *found)
{
	/* parts differ by one at most, as in a small one little would overlap */
	size_t		parts = (n + BATCH - 1) / BATCH;
	size_t		begin = 0;
	BatchFunction batch = h->plain ? plain_batch
		: h->whole ? grown_whole_batch
		: !h->narrow ? any_batch
		: h->level > 0 ? grown_batch : level0_batch;

	for (size_t part = 0; part < parts; part++)
	{
		size_t		count = (n - begin) / (parts - part);

		if (part % 1024 == 0)
			cuckoo_check_interrupts();
		batch(h, image, hashes + begin, count, found + begin);
		begin += count;
	}
}

void
cuckoo_probe_init(CuckooProbe *probe, const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	pair = cuckoo_pair(h, hash);

	probe->fp = pair.fp;
	probe->pos[0] = pair.pos1;
	probe->pos[1] = pair.pos2;
	probe->length = cuckoo_bucket_reach(h->bits);
	for (int i = 0; i < 2; i++)
		probe->offset[i] = CUCKOO_HEADER_SIZE +
			cuckoo_bucket_byte(probe->pos[i], h->bits);
}

int
cuckoo_probe_copies(const CuckooProbe *probe, const CuckooHeader *h,
					const uint8_t *bytes0, const uint8_t *bytes1)
{
	CuckooPair	pair = {probe->fp, probe->pos[0], probe->pos[1]};

	return copies_of(pair_matches(h, pair, bytes0, bytes1));
}

static inline void
table_get(const CuckooTable *t, uint32_t pos, uint32_t slots[CUCKOO_SLOTS])
{
	int			f = t->header->bits;

	if (t->slots)
		memcpy(slots, t->slots + (size_t) pos * CUCKOO_SLOTS,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_unpack(cuckoo_bucket_load(t->buckets, pos, f), f, slots);
}

static inline void
table_put(const CuckooTable *t, uint32_t pos,
		  const uint32_t slots[CUCKOO_SLOTS])
{
	int			f = t->header->bits;

	if (t->slots)
		memcpy(t->slots + (size_t) pos * CUCKOO_SLOTS, slots,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_store(t->buckets, pos, f, cuckoo_bucket_pack(slots, f));
}

static inline bool
table_has_room(const CuckooTable *t, uint32_t pos)
{
	int			f = t->header->bits;

	if (t->slots)
		return t->slots[(size_t) pos * CUCKOO_SLOTS + CUCKOO_SLOTS - 1] == 0;
	return cuckoo_bucket_has_room(cuckoo_bucket_load(t->buckets, pos, f), f);
}

/* Replaces one slot of a bucket that holds `from`, the first such. */
static void
table_replace(const CuckooTable *t, uint32_t pos, uint32_t from, uint32_t to)
{
	uint32_t	slots[CUCKOO_SLOTS];
	int			i = 0;

	table_get(t, pos, slots);
	while (i < CUCKOO_SLOTS - 1 && slots[i] != from)
		i++;
	CUCKOO_ASSERT(slots[i] == from);
	slots[i] = to;
	table_put(t, pos, slots);
}

/* Adds to a bucket that has room. */
static CUCKOO_NOINLINE void
table_add(const CuckooTable *t, uint32_t pos, uint32_t fp)
{
	const CuckooHeader *h = t->header;

	if (t->slots || !h->narrow)
		table_replace(t, pos, 0, fp);
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
		table_get(table, pos, slots);

		/* a victim whose other bucket has room ends the walk */
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	other;

			victim = slots[(v + i) % CUCKOO_SLOTS];
			other = cuckoo_alternate(table->header, pos, victim);
			if (table_has_room(table, other))
			{
				table_add(table, other, victim);
				slots[(v + i) % CUCKOO_SLOTS] = fp;
				table_put(table, pos, slots);
				return CUCKOO_OK;
			}
		}

		victim = slots[v];
		slots[v] = fp;
		table_put(table, pos, slots);
		trail[n].pos = pos;
		trail[n].in = fp;
		trail[n].out = victim;
		fp = victim;
		pos = cuckoo_alternate(table->header, pos, victim);
	}

	while (n-- > 0)
		table_replace(table, trail[n].pos, trail[n].in, trail[n].out);
	return CUCKOO_FULL;
}

CuckooStatus
cuckoo_insert(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);

	if (copies_of(image_matches(h, image, pair)) >= max_copies)
		return CUCKOO_UNCHANGED;
	if (table_has_room(&table, pair.pos1))
		table_add(&table, pair.pos1, pair.fp);
	else if (table_has_room(&table, pair.pos2))
		table_add(&table, pair.pos2, pair.fp);
	else if (cuckoo_evict(&table, pair.fp, pair.pos1, hash) != CUCKOO_OK)
	{
		if (cuckoo_is_crafted(h, h->items))
			return CUCKOO_CRAFTED;
		return h->bits > CUCKOO_CORE_BITS ? CUCKOO_FULL : CUCKOO_LAST_LEVEL;
	}
	h->items++;
	cuckoo_header_write(h, image);
	return CUCKOO_OK;
}

static CUCKOO_NOINLINE CuckooStatus
remove_any(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);
	uint32_t	matches = image_matches(h, image, pair);

	if (copies_of(matches) != 1)
		return CUCKOO_UNCHANGED;
	table_replace(&table, matches < 1 << CUCKOO_SLOTS ? pair.pos1 : pair.pos2,
				  pair.fp, 0);
	h->items--;
	cuckoo_header_write_items(h, image);
	return CUCKOO_OK;
}

/*
 * Takes a fingerprint out of the bucket at a place, in which one lane agrees, if
 * its nibble does too.
 *
 * Once slot i is empty it sorts first: the slots before i move up by one, those
 * after stay, which can be done to lanes and nibbles where they are.
 */
static CUCKOO_INLINE CuckooStatus
remove_hit(CuckooHeader *h, uint8_t *image, uint64_t hash, uint64_t hit,
		   uint64_t place, bool whole)
{
	uint8_t    *p = image + narrow_byte(place, whole);
	int			shift = narrow_shift(place, whole);
	uint64_t	bucket = cuckoo_load64(p) >> shift;
	uint32_t	nibbles = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK];
	uint32_t	slot = cuckoo_narrow_slots(hit, h->lane_gather);
	uint64_t	change;

	if (CUCKOO_UNLIKELY(((nibbles ^ cuckoo_tables.core_nibbles[hash & 0xff]) &
						 cuckoo_tables.slot_nibbles[slot]) != 0))
		return CUCKOO_UNCHANGED;

	hit = hit * 2 - 1;			/* all bits up to lane i */
	nibbles ^= (nibbles ^ nibbles << 4) & cuckoo_tables.up_to_slot[slot];
	change = bucket ^ (bucket & ~(uint64_t) CUCKOO_CODE_MASK) * h->lane_size;
	change &= hit;
	change ^= cuckoo_tables.zero_codes[nibbles >> 4];
	cuckoo_store64(p, cuckoo_load64(p) ^ change << shift);
	h->items--;
	cuckoo_header_write_items(h, image);
	return CUCKOO_OK;
}

/* As half_hit() and whole_hit(). */
static CUCKOO_NOINLINE CuckooStatus
remove_half_hit(CuckooHeader *h, uint8_t *image, uint64_t hash, uint64_t hit,
				uint64_t place)
{
	return remove_hit(h, image, hash, hit, place, false);
}

static CUCKOO_NOINLINE CuckooStatus
remove_whole_hit(CuckooHeader *h, uint8_t *image, uint64_t hash, uint64_t hit,
				 uint64_t place)
{
	return remove_hit(h, image, hash, hit, place, true);
}

/*
 * As in lookups, narrow buckets have a path of their own, without a branch on
 * which bucket or slot it is.  It is taken when cuckoo_pair_lane_hits() finds a
 * single lane, which then does agree.
 */
static CUCKOO_INLINE CuckooStatus
remove_narrow(CuckooHeader *h, uint8_t *image, uint64_t hash, bool grown,
			  bool whole)
{
	CuckooPair	pair = cuckoo_positions(h, hash, grown);
	uint64_t	place1 = narrow_place(h, pair.pos1, whole);
	uint64_t	place2 = narrow_place(h, pair.pos2, whole);
	CuckooLaneHits hits =
		cuckoo_pair_lane_hits(narrow_bucket(image, place1, whole),
							  narrow_bucket(image, place2, whole),
							  narrow_lanes(h, hash, grown), h);
	uint64_t	place;

	if (hits.any == 0)
		return CUCKOO_UNCHANGED;
	if (CUCKOO_UNLIKELY((((hits.any - 1) & hits.any) | hits.both) != 0))
		return remove_any(h, image, hash);
	place = cuckoo_select(hits.first != 0, place1, place2);
	return whole ? remove_whole_hit(h, image, hash, hits.any, place)
		: remove_half_hit(h, image, hash, hits.any, place);
}

/* The kinds of filters, as in cuckoo_contains() */
static CUCKOO_NOINLINE CuckooStatus
remove_from_other(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	if (h->whole)
		return remove_narrow(h, image, hash, true, true);
	if (!h->narrow)
		return remove_any(h, image, hash);
	return h->level > 0 ? remove_narrow(h, image, hash, true, false)
		: remove_narrow(h, image, hash, false, false);
}

CuckooStatus
cuckoo_remove(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	if (!h->plain)
		return remove_from_other(h, image, hash);
	return remove_narrow(h, image, hash, false, true);
}

/*
 * The fingerprint at the level above of an entry found at j, and in `half`
 * whether it moves to the upper half of the buckets; and back.
 */
static inline uint32_t
fingerprint_up(const CuckooHeader *h, uint32_t j, uint32_t fp, uint32_t *half)
{
	uint32_t	core = fp & 0xff;
	uint32_t	ext = fp >> CUCKOO_CORE_BITS;

	*half = (ext & 1) ^ cuckoo_growth_flip(h, j, core, h->level);
	return core | ext >> 1 << CUCKOO_CORE_BITS;
}

static inline uint32_t
fingerprint_down(const CuckooHeader *h, uint32_t j, uint32_t fp, uint32_t half)
{
	uint32_t	core = fp & 0xff;
	uint32_t	ext = fp >> CUCKOO_CORE_BITS;
	uint32_t	bit = half ^ cuckoo_growth_flip(h, j, core, h->level - 1);

	return core | (ext << 1 | bit) << CUCKOO_CORE_BITS;
}

void
cuckoo_grow(const CuckooHeader *old, const uint8_t *old_image,
			CuckooHeader *h, uint8_t *image)
{
	CuckooTable from = {old, (uint8_t *) old_image + CUCKOO_HEADER_SIZE, NULL};
	CuckooTable to = {h, image + CUCKOO_HEADER_SIZE, NULL};
	uint32_t	j = 0;

	CUCKOO_ASSERT(h->level == old->level + 1 && h->base == old->base);
	for (uint32_t pos = 0; pos < old->buckets; pos++)
	{
		uint32_t	slots[CUCKOO_SLOTS];
		uint32_t	halves[2][CUCKOO_SLOTS] = {{0}};

		if (pos % 65536 == 0)
			cuckoo_check_interrupts();
		table_get(&from, pos, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	half,
						fp;

			if (slots[i] == 0)
				continue;
			fp = fingerprint_up(old, j, slots[i], &half);
			halves[half][i] = fp;
		}
		table_put(&to, pos, halves[0]);
		table_put(&to, pos + old->buckets, halves[1]);
		if (++j == old->base)
			j = 0;
	}
	cuckoo_header_write(h, image);
}

/* The up to eight entries of a bucket one level down, and their number. */
static int
merged_bucket(const CuckooTable *from, uint32_t pos, uint32_t j,
			  uint32_t merged[2 * CUCKOO_SLOTS])
{
	uint32_t	half_buckets = from->header->buckets / 2;
	int			n = 0;

	for (uint32_t half = 0; half < 2; half++)
	{
		uint32_t	slots[CUCKOO_SLOTS];

		table_get(from, pos + half * half_buckets, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
			if (slots[i] != 0)
				merged[n++] = fingerprint_down(from->header, j, slots[i], half);
	}
	return n;
}

CuckooStatus
cuckoo_shrink(const CuckooHeader *old, const uint8_t *old_image,
			  CuckooHeader *h, uint8_t *image)
{
	CuckooTable from = {old, (uint8_t *) old_image + CUCKOO_HEADER_SIZE, NULL};
	CuckooTable to = {h, image + CUCKOO_HEADER_SIZE, NULL};

	CUCKOO_ASSERT(h->level == old->level - 1 && h->base == old->base);
	if (h->items > (uint64_t) h->buckets * CUCKOO_SLOTS)
		return CUCKOO_FULL;

	/* first what stays where it is, then what found its bucket full */
	for (int overflow = 0; overflow < 2; overflow++)
	{
		uint32_t	j = 0;

		for (uint32_t pos = 0; pos < h->buckets; pos++)
		{
			uint32_t	merged[2 * CUCKOO_SLOTS] = {0};
			int			n = merged_bucket(&from, pos, j, merged);

			if (pos % 65536 == 0)
				cuckoo_check_interrupts();
			if (!overflow)
				table_put(&to, pos, merged);
			for (int i = CUCKOO_SLOTS; overflow && i < n; i++)
			{
				uint32_t	other = cuckoo_alternate(h, pos, merged[i]);

				if (table_has_room(&to, pos))
					table_add(&to, pos, merged[i]);
				else if (table_has_room(&to, other))
					table_add(&to, other, merged[i]);
				else if (cuckoo_evict(&to, merged[i], pos, merged[i]) !=
						 CUCKOO_OK)
					return CUCKOO_FULL;
			}
			if (++j == h->base)
				j = 0;
		}
	}
	cuckoo_header_write(h, image);
	return CUCKOO_OK;
}
