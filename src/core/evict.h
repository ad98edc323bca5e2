/*-------------------------------------------------------------------------
 *
 * core/evict.h
 *		Storing fingerprints in tables of buckets, with evictions if
 *		necessary.
 *
 * For change.c and build.c.  A table is the buckets of an image, or the
 * unpacked slots of a small build: four words for a bucket, occupied slots
 * first.  README, "Evictions", compares the strategies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_EVICT_H
#define CUCKOO_EVICT_H

#include "core/bucket.h"
#include "core/position.h"

/*
 * The most buckets that cuckoo_evict() visits, in a large image and in
 * unpacked slots; 32 times a power of two.  The canonical form depends on it.
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

/*
 * Replaces `from` by `to` in the first slot of a bucket that contains `from`.
 */
extern CUCKOO_INTERNAL void cuckoo_table_replace(const CuckooTable *t,
												 uint32_t pos, uint32_t from,
												 uint32_t to);

/* Stores a fingerprint in its emptier bucket.  Evicts if both are full. */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_table_insert(const CuckooTable *t,
														CuckooPair pair);

/*
 * Makes room for the fingerprint in one of its two full buckets, by moving
 * fingerprints to their partner buckets, and stores it.  Returns CUCKOO_OK, or
 * CUCKOO_FULL with the table unchanged.  In unpacked slots of at most
 * CUCKOO_SEARCHED_BUCKETS buckets, CUCKOO_FULL means that no evictions can
 * make room.
 */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_evict(const CuckooTable *t,
												 CuckooPair pair);

#endif							/* CUCKOO_EVICT_H */
