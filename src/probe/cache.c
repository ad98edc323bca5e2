/*-------------------------------------------------------------------------
 *
 * probe/cache.c
 *		The stored filters that a query probes, each fetched at most once.
 *
 * A probe by slices costs as much as reading several chunks of a TOASTed value
 * in sequence.  A query that keeps probing one filter therefore fetches it in
 * full once its slices have cost about as much, which is at most twice the work
 * of fetching it at once.  The entry of a filter that was not fetched counts
 * the probes so far.
 *
 * All call sites with the same fn_mcxt, the memory of their query (in PL/pgSQL
 * that of the transaction or DO block), share a cache, which lives there: for
 * example several calls in one query, or the partitions of a table.
 *
 * The key is the TOAST pointer.  An entry is never stale, because a TOAST value
 * is never changed in place: a changed filter gets another one.
 *
 * All entries together, with their filters, may take as much memory as a hash
 * table, work_mem times hash_mem_multiplier.  Beyond that, the least recently
 * used ones are dropped, but never the one that is being probed, whatever its
 * size.  They are in a list in the order of use, because a query over a million
 * filters drops almost as many, and should not search for each.
 *
 *-------------------------------------------------------------------------
 */
#include "filter/filter.h"
#include "probe/cache.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

/*
 * The number of chunks that are read in sequence in the time of a probe by
 * slices (measured on PostgreSQL 15: 10 microseconds against 1.3 for a chunk).
 */
#define CHUNKS_OF_A_PROBE	8

struct CuckooCache
{
	MemoryContext context;
	CuckooCache *next;			/* of all caches */
	MemoryContextCallback end;
	HTAB	   *entries;		/* of CuckooStored */
	dlist_head	by_use;			/* the same, the last used one at the end */
	Size		bytes;			/* of entries and their filters */
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
	HASHCTL		control;

	for (cache = all_caches; cache != NULL; cache = cache->next)
		if (cache->context == context)
			return cache;

	cache = MemoryContextAllocZero(context, sizeof(CuckooCache));
	cache->context = context;
	control.keysize = sizeof(struct varatt_external);
	control.entrysize = sizeof(CuckooStored);
	control.hcxt = context;
	dlist_init(&cache->by_use);
	cache->entries = hash_create("stored cuckoofilters", 16, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	cache->end.func = forget_cache;
	cache->end.arg = cache;
	MemoryContextRegisterResetCallback(context, &cache->end);
	cache->next = all_caches;
	all_caches = cache;
	return cache;
}

/* Drops the entry.  A call site that still points to it finds a zero key. */
static void
drop(CuckooCache *cache, CuckooStored *stored)
{
	struct varatt_external key = stored->pointer;

	if (stored->filter != NULL)
	{
		cache->bytes -= VARSIZE(stored->filter);
		pfree(stored->filter);
	}
	cache->bytes -= sizeof(*stored);
	dlist_delete(&stored->node);
	hash_search(cache->entries, &key, HASH_REMOVE, NULL);
	memset(stored, 0, sizeof(*stored));
}

/*
 * Drops the least recently used entries, except the last one and those that are
 * pinned, until there is room for `size` bytes.  Returns false if those that
 * are pinned leave no room.
 */
static bool
make_room(CuckooCache *cache, Size size)
{
	Size		limit = get_hash_memory_limit();
	bool		held = false;
	dlist_mutable_iter entry;

	dlist_foreach_modify(entry, &cache->by_use)
	{
		CuckooStored *stored = dlist_container(CuckooStored, node, entry.cur);

		if (cache->bytes + size <= limit || !dlist_has_next(&cache->by_use,
															entry.cur))
			break;
		if (stored->pins == 0)
			drop(cache, stored);
		else
			held = true;
	}
	return !held || cache->bytes + size <= limit;
}

CuckooStored *
cuckoo_stored(CuckooCache *cache, CuckooStored *last, struct varlena *datum)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, datum);
	if (last == NULL ||
		memcmp(&last->pointer, &pointer, sizeof(pointer)) != 0)
		last = hash_search(cache->entries, &pointer, HASH_FIND, NULL);
	if (last == NULL)
	{
		(void) make_room(cache, sizeof(*last));
		last = hash_search(cache->entries, &pointer, HASH_ENTER, NULL);
		memset((char *) last + sizeof(pointer), 0,
			   sizeof(*last) - sizeof(pointer));
		dlist_push_tail(&cache->by_use, &last->node);
		cache->bytes += sizeof(*last);
	}
	if (dlist_has_next(&cache->by_use, &last->node))
	{
		dlist_delete(&last->node);
		dlist_push_tail(&cache->by_use, &last->node);
	}
	return last;
}

struct varlena *
cuckoo_stored_slice(const CuckooStored *stored, Relation toastrel,
					uint64 offset, uint32 length)
{
	const struct varatt_external *pointer = &stored->pointer;
	struct varlena *slice = palloc(VARHDRSZ + length);

	SET_VARSIZE(slice, VARHDRSZ + length);
	table_relation_fetch_toast_slice(toastrel, pointer->va_valueid,
									 VARATT_EXTERNAL_GET_EXTSIZE(*pointer),
									 (int32) offset, (int32) length, slice);
	return slice;
}

void
cuckoo_stored_header(CuckooStored *stored, struct varlena *datum)
{
	if (stored->has_header)
		return;
	cuckoo_peek_header(&stored->header,
					   PointerGetDatum(stored->filter != NULL ? stored->filter
									   : datum));
	stored->has_header = true;
}

/* Fetches the filter if it pays, as probe/cache.h says. */
static void
fetch_if_it_pays(CuckooCache *cache, CuckooStored *stored,
				 struct varlena *datum, uint32 probes)
{
	const struct varatt_external *pointer = &stored->pointer;
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*pointer);
	bool		compressed = size < (uint32) pointer->va_rawsize - VARHDRSZ;
	MemoryContext caller;

	/* a compressed value can only be read from its beginning */
	if (!compressed &&
		(uint64) stored->probes + probes <=
		size / TOAST_MAX_CHUNK_SIZE / CHUNKS_OF_A_PROBE)
		return;
	if (!make_room(cache, pointer->va_rawsize) && !compressed)
		return;
	caller = MemoryContextSwitchTo(cache->context);
	if (compressed)
		stored->filter = PG_DETOAST_DATUM(PointerGetDatum(datum));
	else
	{
		Relation	toastrel = table_open(pointer->va_toastrelid,
										  AccessShareLock);

		stored->filter = cuckoo_stored_slice(stored, toastrel, 0, size);
		table_close(toastrel, AccessShareLock);
	}
	MemoryContextSwitchTo(caller);
	cache->bytes += VARSIZE(stored->filter);
}

const struct varlena *
cuckoo_stored_filter(CuckooCache *cache, CuckooStored *stored,
					 struct varlena *datum, uint32 probes)
{
	if (stored->filter == NULL)
		fetch_if_it_pays(cache, stored, datum, probes);
	/* if the filter is corrupt, every call is an error, not only the first */
	if (stored->filter != NULL)
		cuckoo_stored_header(stored, datum);
	return stored->filter;
}
