/*-------------------------------------------------------------------------
 *
 * cuckoo_table.h
 *		A table of buckets for placing fingerprints.
 *
 * Internal: for what fills buckets (cuckoo_change.c, cuckoo_build.c).  A table
 * is the buckets of an image, or slots unpacked for a batch build, four a
 * bucket, filled from the first on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLE_H
#define CUCKOO_TABLE_H

#include "cuckoo_bucket.h"
#include "cuckoo_index.h"

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
	int			f = t->header->bits;

	if (t->slots)
		memcpy(slots, t->slots + (size_t) pos * CUCKOO_SLOTS,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_unpack(cuckoo_bucket_load(t->buckets, pos, f), f, slots);
}

static inline void
cuckoo_table_put(const CuckooTable *t, uint32_t pos,
				 const uint32_t slots[CUCKOO_SLOTS])
{
	int			f = t->header->bits;

	if (t->slots)
		memcpy(t->slots + (size_t) pos * CUCKOO_SLOTS, slots,
			   CUCKOO_SLOTS * sizeof(uint32_t));
	else
		cuckoo_bucket_store(t->buckets, pos, f, cuckoo_bucket_pack(slots, f));
}

/* Replaces one slot of a bucket that holds `from`, the first such. */
extern CUCKOO_INTERNAL void cuckoo_table_replace(const CuckooTable *t,
												 uint32_t pos, uint32_t from,
												 uint32_t to);

/* Puts `fp` into the emptier of its two buckets, or evicts as below. */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_place(const CuckooTable *t,
												 uint32_t fp, uint32_t pos,
												 uint32_t other,
												 uint64_t random);

/*
 * Makes room for `fp` in one of its two buckets, which are full, by a walk of
 * evictions and puts it there.  `random` seeds the choice of victims.
 * CUCKOO_OK, or CUCKOO_FULL with the table as it was.
 */
extern CUCKOO_INTERNAL CuckooStatus cuckoo_evict(const CuckooTable *t,
												 uint32_t fp, uint32_t pos,
												 uint32_t other,
												 uint64_t random);

#endif							/* CUCKOO_TABLE_H */
