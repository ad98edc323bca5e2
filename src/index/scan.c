/*-------------------------------------------------------------------------
 *
 * index/scan.c
 *		Bitmap scans of an index that locates, and their costs.
 *
 * A lookup finds the entries with the ext bits of the hash in one page, and
 * decodes blocks from them.  The executor checks each row of these blocks, so
 * a wrong block costs time and never changes a result.  If the blocks are
 * unknown, the bitmap gets all blocks.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/typcache.h"

#include <math.h>

/* CPU cost of scanning a page, in operators. */
#define OPERATORS_PER_PAGE	400

/* ---- looking up ---- */

static void
room_for_blocks(CuckooBlocks *found, uint32 n, MemoryContext context)
{
	if (found->count + n <= found->room)
		return;
	found->room = Max(2 * found->room, found->count + n);
	if (found->blocks == NULL)
		found->blocks = MemoryContextAlloc(context,
										   found->room * sizeof(uint32));
	else
		found->blocks = repalloc(found->blocks, found->room * sizeof(uint32));
}

/*
 * Decodes the blocks of entries that have the ext bits of the hash.  An entry
 * may have been evicted to its partner bucket, so it is decoded with both
 * buckets.
 */
static void
decode(const CuckooLocator *l, const CuckooLocated *at, int level,
	   const CuckooEntry *entries, uint32 n, CuckooBlocks *found)
{
	for (uint32 i = 0; i < n; i++)
	{
		const CuckooEntry *e = &entries[i];

		if ((e->fp & 0xff) == CUCKOO_CORE_MARK)
		{
			found->all = true;
			return;
		}
		found->blocks[found->count++] = (uint32)
			cuckoo_located_block(l, at, level, e->fp, e->pos);
		found->blocks[found->count++] = (uint32)
			cuckoo_located_block(l, at, level, e->fp, e->partner);
	}
}

void
cuckoo_index_lookup(Relation rel, uint64 hash, CuckooBlocks *found,
					MemoryContext context)
{
	const CuckooIndex *index = cuckoo_index_open(rel);
	CuckooLocated at = cuckoo_locate_hash(&index->locator, hash);
	CuckooLocation any = {at.number, 0, at.ext << CUCKOO_CORE_BITS | 1};
	CuckooEntry entries[CUCKOO_LOCATE_SLOTS];
	Buffer		buffer;
	Page		page;
	CuckooHeader h;
	int			level;
	uint32		mask;
	uint32		n;

	found->count = 0;
	found->all = false;
	found->modulus = index->locator.modulus;
	buffer = cuckoo_index_find(rel, &any, BUFFER_LOCK_SHARE);
	if (!BufferIsValid(buffer))
		return;
	index = cuckoo_index_open(rel);
	page = BufferGetPage(buffer);
	h = cuckoo_page_filter(index, rel, page, BufferGetBlockNumber(buffer));
	level = cuckoo_page_header(page)->level;
	found->all = (cuckoo_page_header(page)->flags & CUCKOO_PAGE_SATURATED) != 0;
	mask = (uint32) cuckoo_low_mask(index->locator.ext_bits - level);
	n = cuckoo_find_entries(&h, cuckoo_page_image(page),
							mask << CUCKOO_CORE_BITS,
							at.ext >> level << CUCKOO_CORE_BITS, entries);
	UnlockReleaseBuffer(buffer);
	if (found->all)
		return;
	room_for_blocks(found, 2 * n, context);
	decode(&index->locator, &at, level, entries, n, found);
}

/* ---- scans ---- */

typedef struct CuckooScan
{
	CuckooHasher hasher;
	Oid			type;			/* sk_subtype that `hasher` is for, or 0 */
	BlockNumber blocks;			/* length of the table at the first call */
	bool		began;			/* `blocks` is set, and the read is noted */
	CuckooBlocks found;
	MemoryContext context;		/* memory of the scan */
	MemoryContext key_context;	/* memory for one key */
} CuckooScan;

IndexScanDesc
cuckoo_scan_begin(Relation rel, int keys, int orders)
{
	IndexScanDesc scan = RelationGetIndexScan(rel, keys, orders);
	CuckooScan *state = palloc0(sizeof(CuckooScan));

	state->context = CurrentMemoryContext;
	state->key_context = AllocSetContextCreate(CurrentMemoryContext,
											   "cuckoo scan key",
											   ALLOCSET_SMALL_SIZES);
	scan->opaque = state;
	return scan;
}

void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_scan_restart(IndexScanDesc scan, ScanKey keys, int n, ScanKey orders,
					int n_orders)
{
	if (keys != NULL && scan->numberOfKeys > 0)
		memcpy(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
}

void
cuckoo_scan_end(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	if (state->found.blocks != NULL)
		pfree(state->found.blocks);
	MemoryContextDelete(state->key_context);
	pfree(state);
}

BlockNumber
cuckoo_table_blocks(Relation rel)
{
	Relation	heap = table_open(rel->rd_index->indrelid, NoLock);
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);

	table_close(heap, NoLock);
	return blocks;
}

/*
 * Prepares the hasher for a key.  A key of the type of the operator class is
 * hashed like the column, even if the column has another type: varchar, a
 * domain, an int column indexed as oid.  Returns false if the key's type cannot
 * be hashed.
 */
static bool
prepare_hasher(CuckooScan *state, Relation rel, const ScanKeyData * key)
{
	Oid			type = key->sk_subtype;

	if (!OidIsValid(type) || type == rel->rd_opcintype[0] ||
		IsPolymorphicType(type))
		type = InvalidOid;
	if (state->hasher.encoding != CUCKOO_ENCODING_NONE &&
		state->type == type && cuckoo_hasher_is_current(&state->hasher))
		return true;
	memset(&state->hasher, 0, sizeof(CuckooHasher));
	state->type = type;
	if (!OidIsValid(type))
		cuckoo_index_hasher(&state->hasher, rel, state->context);
	else if (cuckoo_hashable(type, rel->rd_indcollation[0]))
		cuckoo_index_hasher_of(&state->hasher, type, rel->rd_indcollation[0],
							   state->context);
	else
		return false;
	return true;
}

/*
 * False if a row, or the rows of an array, have another type than the column.
 * Such rows may be equal to a row of the column, but have another hash.
 */
static bool
is_of_column_type(Relation rel, Datum value)
{
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(rel),
												 0)->atttypid);

	if (rel->rd_opcintype[0] == RECORDOID)
		return HeapTupleHeaderGetTypeId(DatumGetHeapTupleHeader(value)) == type;
	if (rel->rd_opcintype[0] == ANYARRAYOID)
		return ARR_ELEMTYPE(DatumGetArrayTypeP(value)) ==
			get_element_type(type);
	return true;
}

/*
 * Hashes the value of a key.  Returns false if rows that are equal to it may
 * have another hash.  Runs in a context that the caller resets.
 */
static bool
hash_scan_key(CuckooScan *state, Relation rel, const ScanKeyData * key,
			  uint64 *hash)
{
	const CuckooMeta *meta;
	uint64		seed;

	if (cuckoo_index_is_stale(rel) || !prepare_hasher(state, rel, key))
		return false;
	meta = &cuckoo_index_open(rel)->meta;
	seed = meta->seed;
	if (state->hasher.family != meta->family ||
		state->hasher.tag != meta->tag ||
		!is_of_column_type(rel, key->sk_argument))
		return false;
	*hash = cuckoo_hash(&state->hasher, key->sk_argument, seed);
	/* hashing may read tables, and so process the change of a type */
	return cuckoo_hasher_is_current(&state->hasher) ||
		!cuckoo_index_is_stale(rel);
}

/* Adds all blocks of the table to the bitmap, and returns their number. */
static int64
add_all_blocks(TIDBitmap * bitmap, BlockNumber blocks)
{
	for (BlockNumber block = 0; block < blocks; block++)
	{
		cuckoo_pause(block);
		tbm_add_page(bitmap, block);
	}
	return blocks;
}

/* Adds the blocks of a lookup to the bitmap, and returns their number. */
static int64
add_blocks(TIDBitmap * bitmap, const CuckooBlocks *found, BlockNumber blocks)
{
	int64		n = 0;

	for (uint32 i = 0; i < found->count; i++)
	{
		for (uint64 block = found->blocks[i]; block < blocks;
			 block += found->modulus)
		{
			cuckoo_pause(n);
			tbm_add_page(bitmap, (BlockNumber) block);
			n++;
		}
	}
	return n;
}

/*
 * Adds the blocks that may have rows with the value of the first key.  Other
 * keys are conditions on the same column, and the executor checks them.
 *
 * The length of the table is read once: rows in blocks that are added later
 * are invisible to the scan's snapshot.
 */
int64
cuckoo_scan_bitmap(IndexScanDesc scan, TIDBitmap * bitmap)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	ScanKey		key = scan->keyData;
	MemoryContext caller;
	uint64		hash = 0;
	bool		known;

	pgstat_count_index_scan(rel);
	CUCKOO_COUNT_SEARCH(scan);
	if (!state->began)
	{
		PredicateLockRelation(rel, scan->xs_snapshot);
		state->blocks = cuckoo_table_blocks(rel);
		state->began = true;
	}
	if (scan->numberOfKeys > 0 && key->sk_flags & SK_ISNULL)
		return 0;
	if (scan->numberOfKeys == 0 ||
		!cuckoo_index_locates(cuckoo_index_open(rel)) ||
		cuckoo_index_is_too_new(rel, scan->xs_snapshot))
		return add_all_blocks(bitmap, state->blocks);

	caller = MemoryContextSwitchTo(state->key_context);
	known = hash_scan_key(state, rel, key, &hash);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(state->key_context);
	if (!known)
		return add_all_blocks(bitmap, state->blocks);
	cuckoo_index_lookup(rel, hash, &state->found, state->context);
	if (state->found.all)
		return add_all_blocks(bitmap, state->blocks);
	return add_blocks(bitmap, &state->found, state->blocks);
}

/* ---- costs ---- */

double
cuckoo_false_blocks(const CuckooMeta *meta, double blocks, double pages)
{
	/* 0.75 is the average load factor of pages that split */
	return 8 * 0.75 * blocks * ldexp(Max(pages / meta->pages, 1),
									 -meta->base_bits);
}

/* The number of lookups of a path: the product of the lengths of its arrays. */
static double
count_of_values(PlannerInfo *root, IndexPath * path)
{
	double		values = 1;
	ListCell   *cell;

	foreach(cell, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, cell);
		ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) clause->rinfo->clause;

		if (IsA(any, ScalarArrayOpExpr))
			values *= Max(CUCKOO_ARRAY_LENGTH(root, lsecond(any->args)), 1);
	}
	return values;
}

/*
 * The cost of a scan: one page of the index for each value, and the check of
 * all rows in the blocks that it finds.  The planner adds the cost of reading
 * the blocks, which it computes from the selectivity.
 *
 * A stale index finds all blocks.  An index that does not locate costs more
 * than any other plan.
 */
void
cuckoo_scan_cost(PlannerInfo *root, IndexPath * path, double loop_count,
				 Cost * startup, Cost * total, Selectivity *selectivity,
				 double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	double		tuples = Max(info->rel->tuples, 1);
	double		blocks = Max(info->rel->pages, 1);
	double		values = count_of_values(root, path);
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	double		rows;
	double		in_vain = 0;
	double		read;
	double		random_cost;
	double		sequential_cost;
	double		all_blocks = 0; /* that a stale index reads */
	bool		locates = true;

	rows = tuples *
		clauselist_selectivity(root, add_predicate_to_index_quals(info, quals),
							   (int) info->rel->relid, JOIN_INNER, NULL);
	if (!info->hypothetical)
	{
		Relation	rel = index_open(info->indexoid, NoLock);
		const CuckooIndex *index = cuckoo_index_open(rel);

		locates = cuckoo_index_locates(index);
		if (cuckoo_index_is_stale(rel))
		{
			in_vain = tuples;
			all_blocks = blocks;
		}
		else if (locates)
		{
			index = cuckoo_index_open(rel);
			in_vain = values * cuckoo_false_blocks(&index->meta, blocks,
												   info->pages) +
				rows * blocks / (double) index->locator.modulus;
		}
		index_close(rel, NoLock);
	}
	*startup = 0;
	*correlation = 0;
	*selectivity = Min((rows + in_vain) / tuples, 1);
	if (!locates)
	{
		*total = 1e30;
		*selectivity = 1;
		*pages = info->pages;
		return;
	}

	/* pages of the index: fewer than values, if some are cached */
	get_tablespace_page_costs(info->reltablespace, &random_cost,
							  &sequential_cost);
	read = Min(values, Max(info->pages, 1));
	if (values * loop_count > 1)
		read = index_pages_fetched(values * loop_count, info->pages,
								   (double) info->pages, root) / loop_count;
	*pages = Min(values, Max(info->pages, 1));
	*total = read * random_cost + all_blocks * sequential_cost +
		values * OPERATORS_PER_PAGE * cpu_operator_cost +
		Min(blocks, rows + in_vain) * tuples / blocks *
		(cpu_tuple_cost + cpu_operator_cost);
}
