/*-------------------------------------------------------------------------
 *
 * core/evict.h
 *		Placing fingerprints in tables of buckets, by evictions if need be.
 *
 * This header is internal to the files that fill buckets (core/change.c and
 * core/build.c).  A table consists of the buckets of an image, or of those of a
 * small batch build, where a bucket is four words, the occupied ones first.
 * core/build.c evicts by a random walk before it calls cuckoo_evict().
 *
 * Another way to evict gives other bytes, also for cf_agg and set operations,
 * but FORMAT.md leaves that free.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_EVICT_H
#define CUCKOO_EVICT_H

#include "core/bucket.h"
#include "core/position.h"

/*
 * The most buckets that an eviction visits, in a large image and in unpacked
 * slots; 32 times a power of two.  The canonical form depends on it.
 */
#define CUCKOO_SEARCHED_BUCKETS		CUCKOO_LIMIT(1024, 64)

typedef struct CuckooTable
{
	const CuckooHeader *header;
	uint8_t    *buckets;
	uint32_t   *slots;			/* used unless NULL */
} CuckooTable;

static CUCKOO_INLINE void
cuckoo_table_get(const CuckooTable *t, uint32_t pos,
				 uint32_t slots[CUCKOO_SLOTS])
{
	const CuckooHeader *h = t->header;

	if (t->slots)
		memcpy(slots, t->slots + (size_t) pos * CUCKOO_SLOTS,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_unpack(cuckoo_bucket_load(t->buckets, h, pos), h->bits,
							 slots);
}

static inline void
cuckoo_table_put(const CuckooTable *t, uint32_t pos,
				 const uint32_t slots[CUCKOO_SLOTS])
{
	const CuckooHeader *h = t->header;

	if (t->slots)
		memcpy(t->slots + (size_t) pos * CUCKOO_SLOTS, slots,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_store(t->buckets, h, pos,
							cuckoo_bucket_pack(slots, h->bits));
}

/* Replaces `from` by `to` in the first slot of a bucket that holds it. */
extern CUCKOO_INTERNAL void cuckoo_table_replace(const CuckooTable *t,
												 uint32_t pos, uint32_t from,
												 uint32_t to);

/* Puts `fp` into the emptier of its two buckets; if both are full, evicts. */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_table_insert(const CuckooTable *t,
												 uint32_t fp, uint32_t pos,
												 uint32_t other);

/*
 * Makes room for `fp` in one of its two buckets, which are full, by moving
 * entries to their other buckets, and puts it there.  Returns CUCKOO_OK, or
 * CUCKOO_FULL with the table as it was.  In unpacked slots of up to
 * CUCKOO_SEARCHED_BUCKETS buckets, that means that no evictions make room.
 */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_evict(const CuckooTable *t,
												 uint32_t fp, uint32_t pos,
												 uint32_t other);

#endif							/* CUCKOO_EVICT_H */
