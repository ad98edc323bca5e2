/*-------------------------------------------------------------------------
 *
 * probe/cache.c
 *		The stored filters that a query probes, each fetched at most once.
 *
 * A probe in slices costs as much as reading several chunks of a TOASTed value
 * in sequence.  A query that keeps probing a filter therefore fetches it when
 * its slices have cost as much as fetching.  Both together cost at most twice
 * as much as fetching at once.  The entry of a filter counts its probes in
 * slices.
 *
 * All call sites with the same fn_mcxt share a cache in that context: several
 * calls in one query, or the partitions of a table.  In PL/pgSQL this context
 * lives as long as the transaction or DO block.
 *
 * The key is the TOAST pointer.  An entry is never stale: a changed filter has
 * another TOAST pointer.
 *
 * There are KEPT entries.  Their filters together may use the memory of a hash
 * table, work_mem times hash_mem_multiplier.  A single filter may have any
 * size.  The least recently used entry is dropped for another filter, so any
 * probe may drop the filters of other call sites.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "probe/probe.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "miscadmin.h"

/*
 * The number of chunks that are read in sequence in the time of one probe in
 * slices (measured on PostgreSQL 15: 10 microseconds a probe, 1.3 a chunk).
 */
#define CHUNKS_OF_A_PROBE	8

/*
 * The number of entries.  A linear search through 30 entries is as fast as a
 * hash table.  If a query probes more than KEPT filters in turn, each probe
 * reads slices, and takes 50 times as long.
 */
#define KEPT				64

struct CuckooCache
{
	MemoryContext context;
	CuckooCache *next;			/* of all caches */
	MemoryContextCallback end;
	uint64		now;			/* counts uses */
	Size		bytes;			/* of the filters */
	CuckooStored stored[KEPT];
};

static CuckooCache *all_caches;

/* Called before the memory of a cache is freed. */
static void
/* cppcheck-suppress constParameter ; callbacks have this type */
forget_cache(void *cache)
{
	CuckooCache **link = &all_caches;

	while (*link != cache)
		link = &(*link)->next;
	*link = (*link)->next;
}

CuckooCache *
cuckoo_cache(MemoryContext context)
{
	CuckooCache *cache;

	for (cache = all_caches; cache != NULL; cache = cache->next)
		if (cache->context == context)
			return cache;

	cache = MemoryContextAllocZero(context, sizeof(CuckooCache));
	cache->context = context;
	cache->end.func = forget_cache;
	cache->end.arg = cache;
	MemoryContextRegisterResetCallback(context, &cache->end);
	cache->next = all_caches;
	all_caches = cache;
	return cache;
}

/*
 * Drops the filter of an entry and zeroes the entry.  A call site may still
 * point to the entry, but the TOAST pointers then differ.
 */
static void
drop(CuckooCache *cache, CuckooStored *stored)
{
	if (stored->filter != NULL)
	{
		cache->bytes -= VARSIZE(stored->filter);
		pfree(stored->filter);
	}
	memset(stored, 0, sizeof(*stored));
}

/* Drops least recently used filters until there is room for `size` bytes. */
static void
make_room(CuckooCache *cache, Size size)
{
	while (cache->bytes > 0 && cache->bytes + size > get_hash_memory_limit())
	{
		CuckooStored *oldest = cache->stored;

		for (CuckooStored *s = cache->stored; s < cache->stored + KEPT; s++)
			if (s->filter != NULL &&
				(oldest->filter == NULL || s->used < oldest->used))
				oldest = s;
		drop(cache, oldest);
	}
}

/* The entry for a TOAST pointer.  First tries `last`, which may be NULL. */
static CuckooStored *
find_stored(CuckooCache *cache, CuckooStored *last, struct varlena *datum)
{
	struct varatt_external pointer;
	CuckooStored *oldest = cache->stored;
	CuckooStored *s = last;

	VARATT_EXTERNAL_GET_POINTER(pointer, datum);
	if (s == NULL || memcmp(&s->pointer, &pointer, sizeof(pointer)) != 0)
	{
		for (s = cache->stored; s < cache->stored + KEPT; s++)
		{
			if (memcmp(&s->pointer, &pointer, sizeof(pointer)) == 0)
				break;
			if (s->used < oldest->used)
				oldest = s;
		}
		if (s == cache->stored + KEPT)
		{
			s = oldest;
			drop(cache, s);
			s->pointer = pointer;
		}
	}
	s->used = ++cache->now;
	return s;
}

const struct varlena *
cuckoo_stored_filter(CuckooCache *cache, CuckooStored **last,
					 struct varlena *datum, uint32 probes)
{
	CuckooStored *stored = *last = find_stored(cache, *last, datum);
	const struct varatt_external *pointer = &stored->pointer;
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*pointer);

	/* a compressed value can only be read from its beginning */
	if (stored->filter == NULL &&
		(size < (uint32) pointer->va_rawsize - VARHDRSZ ||
		 (uint64) stored->probes + probes >
		 size / TOAST_MAX_CHUNK_SIZE / CHUNKS_OF_A_PROBE))
	{
		MemoryContext caller;

		make_room(cache, pointer->va_rawsize);
		caller = MemoryContextSwitchTo(cache->context);
		stored->filter = PG_DETOAST_DATUM(PointerGetDatum(datum));
		MemoryContextSwitchTo(caller);
		cache->bytes += VARSIZE(stored->filter);
	}
	/* after an error the next call reads the header again */
	if (!stored->has_header)
	{
		cuckoo_peek_header(&stored->header,
						   PointerGetDatum(stored->filter != NULL ?
										   stored->filter : datum));
		stored->has_header = true;
	}
	return stored->filter;
}
