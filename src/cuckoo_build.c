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
 * Evictions walk at random, as in Fan et al., "Cuckoo Filter: Practically
 * Better Than Bloom", CoNEXT 2014.  A walk soon leaves the full part of the
 * table.  A breadth-first search (cuckoo_table.c) would look at 1.6 times as
 * many buckets here.  But that search is exhaustive in a small table, so there
 * it follows a walk without success.  So a small filter can be built from its
 * keys at its level, however full inserts have made it.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_build.h"
#include "cuckoo_table.h"

/* Elements whose buckets are prefetched; elements between interrupt checks. */
#define AHEAD			CUCKOO_LIMIT(32, 3)
#define PAUSE_EVERY		65536

/*
 * Steps of a walk before the filter counts as full.  If it is large and cannot
 * grow, all walks of a build together may take LAST_STEPS more.  Then a build
 * that cannot succeed ends after a second with 2,000 buckets, and after half a
 * minute with 2^24 (measured at load factor 0.985).
 */
#define MAX_STEPS		CUCKOO_LIMIT(500, 24)
#define LAST_STEPS		CUCKOO_LIMIT(1 << 25, 96)

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
slot_bucket(uint32_t *slots, uint64_t pos)
{
	return slots + pos * CUCKOO_SLOTS;
}

static inline bool
is_far(uint64_t hash)
{
	/* a core of 0 is replaced by 1 */
	return (hash & 3) == 0 && (hash & 0xff) != 0;
}

static inline bool
is_small(const CuckooHeader *h)
{
	return h->buckets <= CUCKOO_SEARCHED_BUCKETS;
}

/* The steps of walks beyond MAX_STEPS */
static int
spare_steps(const CuckooHeader *h)
{
	CuckooHeader next = *h;

	return is_small(h) ||
		cuckoo_header_set_level(&next, h->level + 1) == CUCKOO_OK ? 0
		: LAST_STEPS;
}

/*
 * Puts `fp` into the full bucket at `pos`.  The first of its entries that has
 * room in its other bucket moves there.  If none has, a random entry does, and
 * evicts another one.  If there is no room, a fingerprint is lost, and the
 * result is CUCKOO_FULL.
 */
static CuckooStatus
walk(const CuckooHeader *h, uint32_t *slots, uint32_t fp, uint32_t pos,
	 uint64_t random, int *spare)
{
	for (int n = 0; n < MAX_STEPS || (*spare)-- > 0; n++)
	{
		uint32_t   *bucket = slot_bucket(slots, pos);
		uint32_t	others[CUCKOO_SLOTS];
		uint32_t	evicted;
		int			v;

		for (int i = 0; i < CUCKOO_SLOTS; i++)
		{
			uint32_t   *other;
			int			used;

			others[i] = cuckoo_alternate(h, pos, bucket[i]);
			other = slot_bucket(slots, others[i]);
			used = slots_used(other);
			if (used < CUCKOO_SLOTS)
			{
				other[used] = bucket[i];
				bucket[i] = fp;
				return CUCKOO_OK;
			}
		}
		if (n % MAX_STEPS == MAX_STEPS - 1)
			cuckoo_check_interrupts();

		/* Knuth's linear congruential generator (MMIX); its top bits serve */
		random = random * UINT64_C(6364136223846793005) +
			UINT64_C(1442695040888963407);
		v = (int) (random >> 62);
		evicted = bucket[v];
		bucket[v] = fp;
		fp = evicted;
		pos = others[v];
	}
	if (is_small(h))
	{
		CuckooTable table = {h, NULL, slots};

		return cuckoo_evict(&table, fp, pos, cuckoo_alternate(h, pos, fp));
	}
	return CUCKOO_FULL;
}

/*
 * Near elements go to the emptier bucket, which reduces their evictions by a
 * third.  Far elements go to the first bucket if it has room, because it is in
 * the cache.  Without windows all elements are far, and some are placed as if
 * they were near.  An insert does not make this difference.
 */
static inline CuckooStatus
place(CuckooHeader *h, uint32_t *slots, CuckooPair pair, uint64_t hash,
	  int *spare)
{
	uint32_t   *bucket1 = slot_bucket(slots, pair.pos1);
	uint32_t   *bucket2 = slot_bucket(slots, pair.pos2);
	int			used1 = slots_used(bucket1);
	int			used2 = slots_used(bucket2);

	if (CUCKOO_UNLIKELY(slot_copies(bucket1, pair.fp) +
						slot_copies(bucket2, pair.fp) >= CUCKOO_MAX_COPIES))
		return CUCKOO_OK;
	h->items++;
	if (used1 <= used2 || (used1 < CUCKOO_SLOTS && is_far(hash)))
	{
		if (used1 == CUCKOO_SLOTS)
			return walk(h, slots, pair.fp, (uint32_t) pair.pos1, hash, spare);
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
	int			spare = spare_steps(h);

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
			CuckooStatus status = place(h, slots, *pair, hashes[i - AHEAD],
										&spare);

			if (status != CUCKOO_OK)
				return status;
		}
		if (i < n)
		{
			*pair = cuckoo_pair(h, hashes[i]);
			CUCKOO_PREFETCH(slot_bucket(slots, pair->pos1));
			CUCKOO_PREFETCH(slot_bucket(slots, pair->pos2));
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
