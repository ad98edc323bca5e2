/*-------------------------------------------------------------------------
 *
 * index/probe.c
 *		SQL functions that look up values in an index: cf_index_contains and
 *		its variants for arrays.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

PG_FUNCTION_INFO_V1(cf_index_contains);
PG_FUNCTION_INFO_V1(cf_index_contains_any);
PG_FUNCTION_INFO_V1(cf_index_contains_each);

/* The most elements of one page that are looked up together. */
#define PROBE_BATCH		64

/* ---- hashing ---- */

/*
 * Changes the hasher of an argument to hash like an index: enums by OID, text
 * that is not UTF-8 by bytes.
 */
static CuckooHasher *
hasher_for(CuckooHasher *hasher)
{
	if (hasher->encoding == CUCKOO_ENCODING_ENUM)
	{
		CuckooHasher of_enum = {0};

		cuckoo_index_hasher_of(&of_enum, hasher->type, hasher->collation,
							   CurrentMemoryContext);
		*hasher = of_enum;
	}
	hasher->any_text = true;
	return hasher;
}

/*
 * The hasher for looking up values in an index.  If the column is char(n),
 * text is hashed without trailing blanks.
 */
static CuckooHasher
hasher_in(const CuckooHasher *hasher, Relation rel)
{
	CuckooMeta	meta = cuckoo_index_open(rel)->meta;
	CuckooHasher result = *hasher;

	cuckoo_check_family(hasher, meta.family, meta.tag);
	if (rel->rd_opcintype[0] == BPCHAROID)
	{
		result.trim = true;
		/* BPCHAR trims text of a nondeterministic collation, too */
		if (result.encoding == CUCKOO_ENCODING_OTHER)
			result.encoding = CUCKOO_ENCODING_BPCHAR;
	}
	return result;
}

/*
 * True if the index is stale now.  Hashing may read tables, and so process the
 * invalidation of a type.
 */
static bool
has_changed(const CuckooHasher *hasher, Relation rel)
{
	return unlikely(!cuckoo_hasher_is_current(hasher)) &&
		cuckoo_index_is_stale(rel);
}

/* The hashers of the second argument: a value, or the elements of an array. */
static CuckooHasher *
value_hasher(FunctionCallInfo fcinfo)
{
	return hasher_for(cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher)));
}

static CuckooHasher *
array_hasher(FunctionCallInfo fcinfo, CuckooElements *elements)
{
	return hasher_for(cuckoo_array_hasher(fcinfo, 1, elements,
										  sizeof(CuckooHasher)));
}

/* ---- one element ---- */

/* True if a lookup has found at least one block of the table. */
static bool
has_block(const CuckooBlocks *found, Relation heap)
{
	BlockNumber blocks;

	if (found->count == 0 && !found->all)
		return false;
	blocks = RelationGetNumberOfBlocks(heap);
	for (uint32 i = 0; i < found->count; i++)
	{
		if (found->blocks[i] < blocks)
			return true;
	}
	return found->all && blocks > 0;
}

/* False if no row has the hash. */
static bool
contains_hash(const CuckooOpenIndex *index, uint64 hash)
{
	const CuckooIndex *meta = cuckoo_index_open(index->rel);
	CuckooBlocks found = {0};
	bool		result;

	if (!cuckoo_index_locates(meta))
		return cuckoo_index_has_row(index->rel, hash, 0);
	cuckoo_index_lookup(index->rel, hash, &found, CurrentMemoryContext);
	result = has_block(&found, index->heap);
	if (found.blocks != NULL)
		pfree(found.blocks);
	return result;
}

/* cf_index_contains(index, value) */
Datum
cf_index_contains(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = value_hasher(fcinfo);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	CuckooHasher of_index = hasher_in(hasher, index.rel);
	uint64		hash = cuckoo_hash(&of_index, PG_GETARG_DATUM(1),
								   cuckoo_index_open(index.rel)->meta.seed);
	bool		result;

	if (has_changed(&of_index, index.rel))
		cuckoo_index_stale_error(index.rel);
	result = contains_hash(&index, hash);
	cuckoo_close(&index);
	PG_RETURN_BOOL(result);
}

/* ---- elements of an array ---- */

/* True if a location belongs to the page with this header. */
static bool
is_page_of(const CuckooPageHeader *header, const CuckooLocation *at)
{
	return header->number == at->number &&
		(cuckoo_location_ext(at) & cuckoo_low_mask(header->level)) ==
		header->segment;
}

/*
 * Looks up the element order[0], and those of the n - 1 elements after it that
 * are in the same page, at most PROBE_BATCH in all.  The low half of order[i]
 * is an index of hashes[] and found[].  Sets found[] of these elements, and
 * returns their number.
 */
static int
probe_page(Relation rel, const uint64 *hashes, const uint64 *order, int n,
		   bool *found)
{
	uint64		keys[PROBE_BATCH];
	bool		results[PROBE_BATCH] = {false};
	CuckooLocation at = cuckoo_index_location(cuckoo_index_open(rel),
											  hashes[(uint32) order[0]], 0);
	Buffer		buffer = cuckoo_index_find(rel, &at, BUFFER_LOCK_SHARE);
	const CuckooIndex *index = cuckoo_index_open(rel);
	const CuckooPageHeader *header;
	Page		page;
	CuckooHeader h;
	int			count = 0;

	if (!BufferIsValid(buffer))
	{
		found[(uint32) order[0]] = false;
		return 1;
	}
	page = BufferGetPage(buffer);
	header = cuckoo_page_header(page);
	h = cuckoo_page_filter(index, rel, page, BufferGetBlockNumber(buffer));
	do
	{
		keys[count++] = cuckoo_page_key(&at, &h, header->level);
		if (count == Min(n, PROBE_BATCH))
			break;
		at = cuckoo_index_location(index, hashes[(uint32) order[count]], 0);
	} while (is_page_of(header, &at));
	if (header->flags & CUCKOO_PAGE_SATURATED)
		memset(results, true, sizeof(results));
	else
		cuckoo_contains_batch(&h, cuckoo_page_image(page), keys, count,
							  results);
	UnlockReleaseBuffer(buffer);
	for (int i = 0; i < count; i++)
		found[(uint32) order[i]] = results[i];
	return count;
}

/*
 * Looks up n hashes in an index that does not locate, page by page.  Sets
 * found[].  If `any`, stops after a page with a hash that was found.
 */
static void
probe_filter(Relation rel, const uint64 *hashes, int n, bool any, bool *found)
{
	const CuckooIndex *index = cuckoo_index_open(rel);
	int			page_bits = pg_leftmost_one_pos32(index->meta.pages) + 1;
	int			level = Min(index->level, 32 - page_bits);
	Size		size = Max(n, 1) * sizeof(uint64);
	uint64	   *order = palloc_extended(size, MCXT_ALLOC_HUGE);
	uint64	   *scratch = palloc_extended(size, MCXT_ALLOC_HUGE);
	bool		ends = false;

	for (int i = 0; i < n; i++)
	{
		CuckooLocation at = cuckoo_index_location(index, hashes[i], 0);
		uint64		segment = cuckoo_location_ext(&at) & cuckoo_low_mask(level);

		cuckoo_pause(i);
		order[i] = (segment << page_bits | at.number) <<
			(64 - page_bits - level) | (uint32) i;
	}
	cuckoo_sort(order, n, scratch, 0, (uint64) index->meta.pages << level);
	for (int i = 0; i < n && !ends;)
	{
		int			count = probe_page(rel, hashes, order + i, n - i, found);

		for (int k = i; k < i + count; k++)
			ends |= any && found[(uint32) order[k]];
		i += count;
	}
	pfree(order);
	pfree(scratch);
}

/* Like probe_filter(), for an index that locates. */
static void
probe_locations(const CuckooOpenIndex *index, const uint64 *hashes, int n,
				bool any, bool *found)
{
	CuckooBlocks blocks = {0};

	for (int i = 0; i < n; i++)
	{
		cuckoo_index_lookup(index->rel, hashes[i], &blocks,
							CurrentMemoryContext);
		found[i] = has_block(&blocks, index->heap);
		if (any && found[i])
			break;
	}
	if (blocks.blocks != NULL)
		pfree(blocks.blocks);
}

/*
 * Looks up elements, some of which may be null.  Sets found[].  Returns true
 * if one was found, and may stop there if `any`.
 */
static bool
probe_elements(const CuckooOpenIndex *index, const CuckooHasher *hasher,
			   const CuckooElements *elements, bool any, bool *found)
{
	const CuckooHasher of_index = hasher_in(hasher, index->rel);
	uint64		seed = cuckoo_index_open(index->rel)->meta.seed;
	Size		count = Max(elements->count, 1);
	uint64	   *hashes = palloc_extended(count * sizeof(uint64),
										 MCXT_ALLOC_HUGE);
	bool	   *results = palloc0(count);
	bool		result = false;
	int			n = 0;

	for (int i = 0; i < elements->count; i++)
	{
		cuckoo_pause(i);
		if (!elements->nulls[i])
			hashes[n++] = cuckoo_hash(&of_index, elements->values[i], seed);
	}
	if (has_changed(&of_index, index->rel))
		cuckoo_index_stale_error(index->rel);
	if (cuckoo_index_locates(cuckoo_index_open(index->rel)))
		probe_locations(index, hashes, n, any, results);
	else
		probe_filter(index->rel, hashes, n, any, results);
	n = 0;
	for (int i = 0; i < elements->count; i++)
	{
		found[i] = !elements->nulls[i] && results[n++];
		result |= found[i];
	}
	pfree(hashes);
	pfree(results);
	return result;
}

/* cf_index_contains_any(index, elements) */
Datum
cf_index_contains_any(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher = array_hasher(fcinfo, &elements);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	bool	   *found = palloc(Max(elements.count, 1));
	bool		result = probe_elements(&index, hasher, &elements, true, found);

	cuckoo_close(&index);
	PG_RETURN_BOOL(result);
}

/* cf_index_contains_each(index, elements) */
Datum
cf_index_contains_each(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher = array_hasher(fcinfo, &elements);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	bool	   *found = palloc(Max(elements.count, 1));

	probe_elements(&index, hasher, &elements, false, found);
	cuckoo_close(&index);
	PG_RETURN_ARRAYTYPE_P(cuckoo_boolean_array(&elements, found));
}
