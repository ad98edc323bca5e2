/*-------------------------------------------------------------------------
 *
 * core/change.c
 *		Insert, remove, grow.
 *
 * This is the cuckoo filter of Fan et al., see core/lookup.c, except for
 * copies, growth and the search for evictions (core/evict.c).
 *
 *-------------------------------------------------------------------------
 */
#include "core/change.h"
#include "core/match.h"
#include "core/evict.h"

/* The end of an insert: counts the copy placed, or says why there is none. */
static CUCKOO_INLINE CuckooStatus
inserted(CuckooHeader *h, uint8_t *image, CuckooStatus status)
{
	if (status != CUCKOO_OK)
	{
		if (cuckoo_is_crafted(h, h->items))
			return CUCKOO_CRAFTED;
		return h->bits > CUCKOO_CORE_BITS ? CUCKOO_FULL : CUCKOO_LAST_LEVEL;
	}
	h->items++;
	cuckoo_header_write_items(h, image);
	return CUCKOO_OK;
}

/* The insert for wide buckets.  It is correct for narrow ones, too. */
static CUCKOO_NOINLINE CuckooStatus
insert_wide(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);

	if (cuckoo_copies_of(cuckoo_image_matches(h, image, pair)) >= max_copies)
		return CUCKOO_UNCHANGED;
	return inserted(h, image, cuckoo_place(&table, pair.fp,
										   (uint32_t) pair.pos1,
										   (uint32_t) pair.pos2));
}

/* The insert if both buckets are full and hold no copy. */
static CUCKOO_NOINLINE CuckooStatus
insert_evict(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);

	return inserted(h, image, cuckoo_evict(&table, pair.fp,
										   (uint32_t) pair.pos1,
										   (uint32_t) pair.pos2));
}

/*
 * As in lookups, narrow buckets have code of their own, without a branch on
 * which bucket or slot it is.  It serves if no lane agrees, so that there is no
 * copy.  It does what cuckoo_place() would do.
 */
static CUCKOO_INLINE CuckooStatus
insert_narrow(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies,
			  bool grown, bool whole)
{
	CuckooPair	pair = cuckoo_positions(h, hash, grown);
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	place1 = cuckoo_place_of(h, pair.pos1, whole);
	uint64_t	place2 = cuckoo_place_of(h, pair.pos2, whole);
	uint64_t	bucket1 = cuckoo_place_word(buckets, place1, whole);
	uint64_t	bucket2 = cuckoo_place_word(buckets, place2, whole);
	uint64_t	fullness1 = cuckoo_bucket_fullness(bucket1, h);
	uint64_t	fullness2 = cuckoo_bucket_fullness(bucket2, h);
	uint64_t	least = fullness1 < fullness2 ? fullness1 : fullness2;
	uint64_t	place,
				change;
	bool		first;
	CuckooPattern e = {cuckoo_narrow_lanes(h, hash, grown),
	cuckoo_tables.core_nibbles[hash & 0xff]};

	if (CUCKOO_UNLIKELY(cuckoo_pair_lane_hits(bucket1, bucket2, e.lanes,
											  h).any != 0))
		return insert_wide(h, image, hash, max_copies);
	if (least >= CUCKOO_CODES_ZERO)
		return insert_evict(h, image, hash);

	/*
	 * unpredictable; compared again, because compilers would branch on
	 * `least`
	 */
	first = cuckoo_opaque(fullness1) <= fullness2;
	place = cuckoo_select(first, place1, place2);
	change = cuckoo_narrow_add(cuckoo_select(first, bucket1, bucket2), e, h);
	cuckoo_place_change(buckets, place, whole, change);
	return inserted(h, image, CUCKOO_OK);
}

#define INSERT(name, grown, whole) \
static CUCKOO_NOINLINE CuckooStatus \
insert_##name(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies) \
{ \
	return insert_narrow(h, image, hash, max_copies, grown, whole); \
}

CUCKOO_NARROW_KINDS(INSERT)

typedef CuckooStatus (*InsertFunction) (CuckooHeader *h, uint8_t *image,
										uint64_t hash, int max_copies);

static const InsertFunction insert_of[CUCKOO_KINDS] = {
	[CUCKOO_WHOLE] = insert_whole,
	[CUCKOO_WHOLE_GROWN] = insert_whole_grown,
	[CUCKOO_SHARED] = insert_shared,
	[CUCKOO_SHARED_GROWN] = insert_shared_grown,
	[CUCKOO_WIDE] = insert_wide
};

CuckooStatus
cuckoo_insert(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies)
{
	return insert_of[h->kind] (h, image, hash, max_copies);
}

/* The removal for wide buckets.  It is correct for narrow ones, too. */
static CUCKOO_NOINLINE CuckooStatus
remove_wide(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);
	uint32_t	matches = cuckoo_image_matches(h, image, pair);

	if (cuckoo_copies_of(matches) != 1)
		return CUCKOO_UNCHANGED;
	cuckoo_table_replace(&table,
						 (uint32_t) (matches < 1 << CUCKOO_SLOTS ? pair.pos1 :
									 pair.pos2), pair.fp, 0);
	h->items--;
	cuckoo_header_write_items(h, image);
	return CUCKOO_OK;
}

/*
 * Removes a fingerprint from a bucket in which one lane agrees, if its nibble
 * agrees too.
 *
 * The empty slot sorts first.  So the slots before slot i move up by one, and
 * those after it stay.  This is done to the lanes and the nibbles in place.
 */
static CUCKOO_INLINE CuckooStatus
remove_narrow_hit(CuckooHeader *h, uint8_t *image, uint64_t hash, uint64_t hit,
				  uint64_t place, bool whole)
{
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	bucket = cuckoo_place_word(buckets, place, whole);
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
	cuckoo_place_change(buckets, place, whole, change);
	h->items--;
	cuckoo_header_write_items(h, image);
	return CUCKOO_OK;
}

/*
 * As in lookups, narrow buckets have code of their own, without a branch on
 * which bucket or slot it is.  It serves if cuckoo_pair_lane_hits() finds a
 * single lane, because this lane certainly agrees.
 */
static CUCKOO_INLINE CuckooStatus
remove_narrow(CuckooHeader *h, uint8_t *image, uint64_t hash, bool grown,
			  bool whole)
{
	CuckooPair	pair = cuckoo_positions(h, hash, grown);
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	place1 = cuckoo_place_of(h, pair.pos1, whole);
	uint64_t	place2 = cuckoo_place_of(h, pair.pos2, whole);
	CuckooLaneHits hits =
		cuckoo_pair_lane_hits(cuckoo_place_word(buckets, place1, whole),
							  cuckoo_place_word(buckets, place2, whole),
							  cuckoo_narrow_lanes(h, hash, grown), h);
	uint64_t	place;

	if (hits.any == 0)
		return CUCKOO_UNCHANGED;
	if (CUCKOO_UNLIKELY((((hits.any - 1) & hits.any) | hits.both) != 0))
		return remove_wide(h, image, hash);
	place = cuckoo_select(hits.first != 0, place1, place2);
	return remove_narrow_hit(h, image, hash, hits.any, place, whole);
}

#define REMOVE(name, grown, whole) \
static CUCKOO_NOINLINE CuckooStatus \
remove_##name(CuckooHeader *h, uint8_t *image, uint64_t hash) \
{ \
	return remove_narrow(h, image, hash, grown, whole); \
}

CUCKOO_NARROW_KINDS(REMOVE)

typedef CuckooStatus (*RemoveFunction) (CuckooHeader *h, uint8_t *image,
										uint64_t hash);

static const RemoveFunction remove_of[CUCKOO_KINDS] = {
	[CUCKOO_WHOLE] = remove_whole,
	[CUCKOO_WHOLE_GROWN] = remove_whole_grown,
	[CUCKOO_SHARED] = remove_shared,
	[CUCKOO_SHARED_GROWN] = remove_shared_grown,
	[CUCKOO_WIDE] = remove_wide
};

CuckooStatus
cuckoo_remove(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	return remove_of[h->kind] (h, image, hash);
}

/*
 * The fingerprint one level up of an entry found at j.  *half tells whether the
 * entry moves to the upper half of the buckets.
 */
static inline uint32_t
fingerprint_up(const CuckooHeader *h, uint32_t j, uint32_t fp, uint32_t *half)
{
	uint32_t	core = fp & 0xff;
	uint32_t	ext = fp >> CUCKOO_CORE_BITS;

	*half = (ext & 1) ^ cuckoo_growth_flip(h, j, core, h->level);
	return core | ext >> 1 << CUCKOO_CORE_BITS;
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
		cuckoo_table_get(&from, pos, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	half,
						fp;

			if (slots[i] == 0)
				continue;
			fp = fingerprint_up(old, j, slots[i], &half);
			halves[half][i] = fp;
		}
		cuckoo_table_put(&to, pos, halves[0]);
		cuckoo_table_put(&to, pos + old->buckets, halves[1]);
		if (++j == old->base)
			j = 0;
	}
	cuckoo_header_write(h, image);
}
