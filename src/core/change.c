/*-------------------------------------------------------------------------
 *
 * core/change.c
 *		Insert, remove, grow.
 *
 * The cuckoo filter of Fan et al. (see core/lookup.c), except for copies,
 * growth and the search for room (core/evict.c).
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "core/match.h"
#include "core/evict.h"

/* The end of an insert: counts the copy, or returns why there was no room. */
static CUCKOO_INLINE CuckooStatus
inserted(CuckooHeader *h, uint8_t *image, CuckooStatus status)
{
	if (status != CUCKOO_OK)
	{
		if (cuckoo_is_crafted(h, h->items))
			return CUCKOO_CRAFTED;
		return h->bits > CUCKOO_FIXED_BITS ? CUCKOO_FULL : CUCKOO_LAST_LEVEL;
	}
	h->items++;
	cuckoo_store64(image + CUCKOO_AT_ITEMS, h->items);
	return CUCKOO_OK;
}

/* The insert for wide buckets.  It is right for every filter. */
static CUCKOO_NOINLINE CuckooStatus
insert_any(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);

	if (cuckoo_copies_of(cuckoo_image_matches(h, image, pair)) >= max_copies)
		return CUCKOO_UNCHANGED;
	return inserted(h, image, cuckoo_table_insert(&table, pair));
}

/* The insert if both buckets are full and no lane matches. */
static CUCKOO_NOINLINE CuckooStatus
insert_evict(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};

	return inserted(h, image, cuckoo_evict(&table, cuckoo_pair(h, hash)));
}

/*
 * The insert for narrow buckets.  Does not branch on the bucket or the slot.
 * Chooses the bucket like cuckoo_table_insert().  A lane that matches may be a
 * copy: then insert_any() decides.
 */
static CUCKOO_INLINE CuckooStatus
insert_narrow(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies,
			  bool grown, bool whole)
{
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;
	CuckooNarrowPair pair = cuckoo_narrow_pair(h, hash, grown, whole);
	CuckooPattern e = {pair.lanes, cuckoo_tables.fixed_nibbles[hash & 0xff]};
	uint64_t	bucket1 = cuckoo_bucket_word(buckets, pair.offset1, whole);
	uint64_t	bucket2 = cuckoo_bucket_word(buckets, pair.offset2, whole);
	uint64_t	fullness1 = cuckoo_bucket_fullness(bucket1, h);
	uint64_t	fullness2 = cuckoo_bucket_fullness(bucket2, h);
	uint64_t	least = fullness1 < fullness2 ? fullness1 : fullness2;
	uint64_t	offset,
				change;
	bool		first;

	if (CUCKOO_UNLIKELY(cuckoo_pair_lane_hits(bucket1, bucket2, e.lanes,
											  h).any != 0))
		return insert_any(h, image, hash, max_copies);
	if (least >= CUCKOO_CODES_ZERO)
		return insert_evict(h, image, hash);

	/* compare again, because compilers would branch on `least` */
	first = cuckoo_opaque(fullness1) <= fullness2;
	offset = cuckoo_select(first, pair.offset1, pair.offset2);
	change = cuckoo_narrow_add(cuckoo_select(first, bucket1, bucket2), e, h);
	cuckoo_bucket_xor(buckets, offset, whole, change);
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

static const InsertFunction insert_of[] = CUCKOO_BY_KIND(insert);

CuckooStatus
cuckoo_insert(CuckooHeader *h, uint8_t *image, uint64_t hash, int max_copies)
{
	return insert_of[h->kind] (h, image, hash, max_copies);
}

/* The end of a removal: counts the copy. */
static inline CuckooStatus
removed(CuckooHeader *h, uint8_t *image)
{
	h->items--;
	cuckoo_store64(image + CUCKOO_AT_ITEMS, h->items);
	return CUCKOO_OK;
}

/* The removal for wide buckets.  It is right for every filter. */
static CUCKOO_NOINLINE CuckooStatus
remove_any(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	CuckooTable table = {h, image + CUCKOO_HEADER_SIZE, NULL};
	CuckooPair	pair = cuckoo_pair(h, hash);
	uint32_t	matches = cuckoo_image_matches(h, image, pair);
	bool		first = matches < 1 << CUCKOO_SLOTS;

	if (cuckoo_copies_of(matches) != 1)
		return CUCKOO_UNCHANGED;
	cuckoo_table_replace(&table, (uint32_t) (first ? pair.pos1 : pair.pos2),
						 pair.fp, 0);
	return removed(h, image);
}

/* Removes the fingerprint of the only lane that matches, if its nibble does. */
static CUCKOO_INLINE CuckooStatus
remove_narrow_hit(CuckooHeader *h, uint8_t *image, uint64_t hash, uint64_t hit,
				  uint64_t offset, bool whole)
{
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	bucket = cuckoo_bucket_word(buckets, offset, whole);
	uint32_t	slot = cuckoo_narrow_slots(hit, h->lane_gather);

	if (CUCKOO_UNLIKELY(!cuckoo_narrow_nibbles_agree(bucket, hash, slot)))
		return CUCKOO_UNCHANGED;
	cuckoo_bucket_xor(buckets, offset, whole,
					  cuckoo_narrow_remove(bucket, hit, slot, h));
	return removed(h, image);
}

/*
 * Like insert_narrow(), for removals.  If several lanes match, only the lowest
 * match is certain, so remove_any() decides.
 */
static CUCKOO_INLINE CuckooStatus
remove_narrow(CuckooHeader *h, uint8_t *image, uint64_t hash, bool grown,
			  bool whole)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	CuckooNarrowPair pair = cuckoo_narrow_pair(h, hash, grown, whole);
	CuckooLaneHits hits =
		cuckoo_pair_lane_hits(cuckoo_bucket_word(buckets, pair.offset1, whole),
							  cuckoo_bucket_word(buckets, pair.offset2, whole),
							  pair.lanes, h);
	uint64_t	offset;

	if (hits.any == 0)
		return CUCKOO_UNCHANGED;
	if (CUCKOO_UNLIKELY((((hits.any - 1) & hits.any) | hits.both) != 0))
		return remove_any(h, image, hash);
	offset = cuckoo_select(hits.first != 0, pair.offset1, pair.offset2);
	return remove_narrow_hit(h, image, hash, hits.any, offset, whole);
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

static const RemoveFunction remove_of[] = CUCKOO_BY_KIND(remove);

CuckooStatus
cuckoo_remove(CuckooHeader *h, uint8_t *image, uint64_t hash)
{
	return remove_of[h->kind] (h, image, hash);
}

/*
 * Moves the fingerprints of each bucket to the same position, or to that
 * position plus the old number of buckets.
 */
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

		cuckoo_pause(pos);
		cuckoo_table_get(&from, pos, slots);
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	fixed = slots[i] & 0xff;
			uint32_t	ext = slots[i] >> CUCKOO_FIXED_BITS;
			uint32_t	half = (ext & 1) ^ cuckoo_growth_flip(old, j, fixed);

			halves[half][i] = fixed | ext >> 1 << CUCKOO_FIXED_BITS;
		}
		cuckoo_table_put(&to, pos, halves[0]);
		cuckoo_table_put(&to, pos + old->buckets, halves[1]);
		if (++j == old->base)
			j = 0;
	}
	cuckoo_header_write(h, image);
}
