/*-------------------------------------------------------------------------
 *
 * core/build.c
 *		Building a filter from all its elements at once.
 *
 * Sorted hashes are in the order of their first bucket, so the table is filled
 * from one end to the other.  First buckets, and both buckets of near
 * elements, stay in the processor's cache; far buckets are prefetched.
 * README, "Evictions", explains walks.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "core/evict.h"

/* Elements whose buckets are prefetched. */
#define AHEAD			CUCKOO_LIMIT(32, 3)

/*
 * The steps of a walk before the filter counts as full.  In a large filter
 * that cannot grow, all walks of a build together may take LAST_STEPS more.  A
 * build without success then ends after a second with 2,000 buckets, and after
 * half a minute with 2^24 (measured at load factor 0.985).
 */
#define MAX_STEPS		CUCKOO_LIMIT(500, 24)
#define LAST_STEPS		CUCKOO_LIMIT(1 << 25, 96)

uint64_t
cuckoo_build_size(const CuckooHeader *h)
{
	return (uint64_t) h->buckets * CUCKOO_SLOTS * sizeof(uint32_t);
}

/* ---- buckets of slots, the occupied slots first ---- */

static CUCKOO_INLINE uint32_t *
bucket_at(uint32_t *slots, uint64_t pos)
{
	return slots + pos * CUCKOO_SLOTS;
}

/* The number of slots that are not fp; with fp = 0, the occupied slots. */
static CUCKOO_INLINE int
count_others(const uint32_t *bucket, uint32_t fp)
{
	return (bucket[0] != fp) + (bucket[1] != fp) + (bucket[2] != fp) +
		(bucket[3] != fp);
}

static inline bool
is_far(uint64_t hash)
{
	/* a fixed byte of 0 is replaced by 1 */
	return (hash & 3) == 0 && (hash & 0xff) != 0;
}

/*
 * Stores `fp` in the full bucket at `pos`.  The first of its fingerprints whose
 * partner bucket has room moves there.  If no partner bucket has room, a random
 * one moves anyway and evicts another fingerprint from its partner bucket.  On
 * CUCKOO_FULL one fingerprint is lost: the caller discards the table.
 */
static CUCKOO_INLINE CuckooStatus
walk(const CuckooHeader *h, uint32_t *slots, uint32_t fp, uint32_t pos,
	 uint64_t random, int *extra_steps)
{
	for (int n = 0; n < MAX_STEPS || *extra_steps > 0; n++)
	{
		uint32_t   *bucket = bucket_at(slots, pos);
		uint32_t	others[CUCKOO_SLOTS];
		uint32_t	evicted;
		int			v;

		if (n >= MAX_STEPS)
			(*extra_steps)--;
		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t	stored = bucket[i];
			uint32_t   *other;

			others[i] = cuckoo_partner(h, pos, stored);
			other = bucket_at(slots, others[i]);
			if (other[CUCKOO_SLOTS - 1] == 0)
			{
				other[count_others(other, 0)] = stored;
				bucket[i] = fp;
				return CUCKOO_OK;
			}
		}
		if (n % MAX_STEPS == MAX_STEPS - 1)
			cuckoo_check_interrupts();

		/* Knuth's linear congruential generator (MMIX); use its top bits */
		random = random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		v = (int) (random >> 62);
		evicted = bucket[v];
		bucket[v] = fp;
		fp = evicted;
		pos = others[v];
	}
	if (h->buckets <= CUCKOO_SEARCHED_BUCKETS)
	{
		CuckooTable table = {h, NULL, slots};
		CuckooPair	pair = {fp, pos, cuckoo_partner(h, pos, fp)};

		return cuckoo_evict(&table, pair);
	}
	return CUCKOO_FULL;
}

/*
 * Stores a fingerprint.  Near elements go to the emptier bucket, which saves a
 * third of their evictions.  Far elements go to the first bucket if it has
 * room, because it is in the cache.  Without windows all elements are far, and
 * some are stored as if they were near.
 */
static CUCKOO_INLINE CuckooStatus
insert_pair(CuckooHeader *h, uint32_t *slots, CuckooPair pair, uint64_t hash,
			int *extra_steps)
{
	uint32_t   *bucket1 = bucket_at(slots, pair.pos1);
	uint32_t   *bucket2 = bucket_at(slots, pair.pos2);
	int			used1 = count_others(bucket1, 0);
	int			used2 = count_others(bucket2, 0);

	if (CUCKOO_UNLIKELY(count_others(bucket1, pair.fp) +
						count_others(bucket2, pair.fp) <=
						2 * CUCKOO_SLOTS - CUCKOO_MAX_COPIES))
		return CUCKOO_OK;
	h->items++;
	if (used1 <= used2 || (used1 < CUCKOO_SLOTS && is_far(hash)))
	{
		if (used1 == CUCKOO_SLOTS)
			return walk(h, slots, pair.fp, (uint32_t) pair.pos1, hash,
						extra_steps);
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
	CuckooPair	pairs[AHEAD] = {{0}};
	CuckooHeader next = *h;
	int			extra_steps;	/* of all walks, beyond MAX_STEPS */

	extra_steps = h->buckets > CUCKOO_SEARCHED_BUCKETS &&
		cuckoo_header_set_level(&next, h->level + 1) != CUCKOO_OK ?
		LAST_STEPS : 0;

	h->items = 0;
	if (n > (uint64_t) h->buckets * CUCKOO_SLOTS)
		return CUCKOO_FULL;
	memset(slots, 0, cuckoo_build_size(h));

	/* first buckets are in order; second buckets are prefetched */
	for (uint64_t i = 0; i < n + AHEAD; i++)
	{
		CuckooPair *pair = &pairs[i % AHEAD];

		cuckoo_pause(i);
		if (i >= AHEAD)
		{
			CuckooStatus status = insert_pair(h, slots, *pair,
											  hashes[i - AHEAD],
											  &extra_steps);

			if (status != CUCKOO_OK)
				return status;
		}
		if (i < n)
		{
			*pair = cuckoo_pair(h, hashes[i]);
			CUCKOO_PREFETCH(bucket_at(slots, pair->pos1));
			CUCKOO_PREFETCH(bucket_at(slots, pair->pos2));
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
		cuckoo_pause(pos);
		cuckoo_bucket_store(buckets, h, pos,
							cuckoo_bucket_pack(slots, h->bits));
		slots += CUCKOO_SLOTS;
	}
}
