/*-------------------------------------------------------------------------
 *
 * cuckoo_build.c
 *		Building a filter from all its elements at once.
 *
 * Sorted hashes come in the order of their first bucket, so the table is filled
 * from one end to the other.  The first buckets, and both buckets of near
 * elements, stay in the processor's cache meanwhile.  The far buckets are
 * prefetched.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_build.h"
#include "cuckoo_table.h"

/* Elements whose buckets are prefetched; elements between interrupt checks. */
#define AHEAD			CUCKOO_LIMIT(32, 3)
#define PAUSE_EVERY		65536

/*
 * Walks of evictions that are repeated in a build if the filter cannot grow.  A
 * walk gives up after some steps, so another one, from the other bucket, may
 * succeed.  A build that cannot succeed ends after a second or two more.
 */
#define LAST_WALKS		CUCKOO_LIMIT(65536, 4)

/* The copies of fp in a bucket. */
static inline int
slot_copies(const uint32_t *bucket, uint32_t fp)
{
	return (bucket[0] == fp) + (bucket[1] == fp) +
		(bucket[2] == fp) + (bucket[3] == fp);
}

/* The occupied slots of a bucket.  They come first. */
static inline int
slots_used(const uint32_t *bucket)
{
	return (bucket[0] != 0) + (bucket[1] != 0) +
		(bucket[2] != 0) + (bucket[3] != 0);
}

static inline uint32_t *
slot_bucket(const CuckooTable *table, uint32_t pos)
{
	return table->slots + (size_t) pos * CUCKOO_SLOTS;
}

static inline bool
is_far(uint64_t hash)
{
	/* a core of 0 is replaced by 1 */
	return (hash & 3) == 0 && (hash & 0xff) != 0;
}

/* How many walks may be repeated?  None if the filter can grow. */
static int
count_repeats(const CuckooHeader *h)
{
	CuckooHeader next = *h;

	return cuckoo_header_set_level(&next, h->level + 1) == CUCKOO_OK ? 0
		: LAST_WALKS;
}

/*
 * Makes room for an element whose buckets are full.  *repeats is how often a
 * walk may still be repeated.
 */
static CuckooStatus
walk_repeatedly(const CuckooTable *table, CuckooPair pair, uint64_t hash,
				int *repeats)
{
	uint32_t	pos[2] = {(uint32_t) pair.pos1, (uint32_t) pair.pos2};

	for (unsigned int i = 0;; i++)
	{
		CuckooStatus status = cuckoo_evict(table, pair.fp, pos[i & 1],
										   pos[~i & 1], hash + i);

		if (status == CUCKOO_OK || *repeats == 0)
			return status;
		--*repeats;
		cuckoo_check_interrupts();
	}
}

/*
 * Near elements go to the emptier bucket, which reduces their evictions by a
 * third.  Far elements go to the first bucket if it has room, because it is in
 * the cache.  Without windows all elements are far, and some are placed as if
 * they were near.  cuckoo_place() does not make this difference.
 */
static inline CuckooStatus
place_unpacked(CuckooTable *table, CuckooHeader *h, CuckooPair pair,
			   uint64_t hash, int *repeats)
{
	uint32_t   *bucket1 = slot_bucket(table, pair.pos1);
	uint32_t   *bucket2 = slot_bucket(table, pair.pos2);
	int			used1 = slots_used(bucket1);
	int			used2 = slots_used(bucket2);

	if (CUCKOO_UNLIKELY(slot_copies(bucket1, pair.fp) +
						slot_copies(bucket2, pair.fp) >= CUCKOO_MAX_COPIES))
		return CUCKOO_OK;
	h->items++;
	if (used1 <= used2 || (used1 < CUCKOO_SLOTS && is_far(hash)))
	{
		if (used1 == CUCKOO_SLOTS)
			return walk_repeatedly(table, pair, hash, repeats);
		bucket1[used1] = pair.fp;
	}
	else
		bucket2[used2] = pair.fp;
	return CUCKOO_OK;
}

CuckooStatus
cuckoo_build(CuckooHeader *h, const uint64_t *hashes, uint64_t n,
			 uint32_t *slots)
{
	CuckooTable table = {h, NULL, slots};
	CuckooPair	pairs[AHEAD] = {{0}};
	int			repeats = count_repeats(h);

	h->items = 0;
	if (n > (uint64_t) h->buckets * CUCKOO_SLOTS)
		return CUCKOO_FULL;
	memset(slots, 0, cuckoo_build_slots(h) * sizeof(uint32_t));

	/* first buckets come in order; second ones are prefetched */
	for (uint64_t i = 0; i < n + AHEAD; i++)
	{
		CuckooPair *pair = &pairs[i % AHEAD];

		if (i % PAUSE_EVERY == 0)
			cuckoo_check_interrupts();
		if (i >= AHEAD)
		{
			CuckooStatus status = place_unpacked(&table, h, *pair,
												 hashes[i - AHEAD], &repeats);

			if (status != CUCKOO_OK)
				return status;
		}
		if (i < n)
		{
			*pair = cuckoo_pair(h, hashes[i]);
			CUCKOO_PREFETCH(slot_bucket(&table, pair->pos1));
			CUCKOO_PREFETCH(slot_bucket(&table, pair->pos2));
		}
	}
	return CUCKOO_OK;
}

void
cuckoo_build_pack(const CuckooHeader *h, const uint32_t *slots, uint8_t *image)
{
	uint8_t    *buckets = image + CUCKOO_HEADER_SIZE;

	memset(image, 0, cuckoo_image_size(h));
	cuckoo_header_write(h, image);
	for (uint32_t pos = 0; pos < h->buckets; pos++)
	{
		const uint32_t *bucket = slots + (size_t) pos * CUCKOO_SLOTS;

		if (pos % PAUSE_EVERY == 0)
			cuckoo_check_interrupts();
		cuckoo_bucket_store(buckets, pos, h->bits,
							cuckoo_bucket_pack(bucket, h->bits));
	}
}
