/*-------------------------------------------------------------------------
 *
 * index/sort.c
 *		The rows of a table in the order of their hashes, for a build.
 *
 * PostgreSQL's tuplesort sorts the rows by hash, which is the order of pages,
 * and by TID.  If both fit into 64 bits, they are sorted as bigints, otherwise
 * as uuids: README, "Hashing".
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

/*
 * If a table has few blocks, the block and the offset of a row are sorted with
 * its hash as one bigint.
 */
#define ROW_OFFSET_BITS		(MaxHeapTuplesPerPage < 512 ? 9 : 11)
#define MOST_ROW_BITS		28
#define SIGN_BIT			((uint64) PG_INT64_MIN)

/* ---- rows as datums ---- */

/*
 * The datum of a row, in the order of hashes and then of TIDs: a bigint, or a
 * uuid.  The caller provides the 16 bytes for it.
 */
static Datum
row_to_datum(const CuckooSort *sort, const CuckooRow *row, int64 *words)
{
	if (sort->hash_bits < 64)
	{
		words[0] = (int64) ((row->hash ^ SIGN_BIT) |
							(uint64) row->block << ROW_OFFSET_BITS |
							row->offset);
		return Int64GetDatumFast(words[0]);
	}
	words[0] = (int64) pg_hton64(row->hash);
	words[1] = (int64) pg_hton64((uint64) row->block << 16 | row->offset);
	return PointerGetDatum(words);
}

static void
datum_to_row(const CuckooSort *sort, Datum datum, CuckooRow *row)
{
	uint64		words[2];

	if (sort->hash_bits < 64)
	{
		uint64		place;

		words[0] = (uint64) DatumGetInt64(datum) ^ SIGN_BIT;
		place = words[0] & (PG_UINT64_MAX >> sort->hash_bits);
		row->hash = words[0] ^ place;
		row->block = (BlockNumber) (place >> ROW_OFFSET_BITS);
		row->offset = place & cuckoo_bit_mask(ROW_OFFSET_BITS);
		return;
	}
	memcpy(words, DatumGetPointer(datum), sizeof(words));
	words[1] = pg_ntoh64(words[1]);
	row->hash = pg_ntoh64(words[0]);
	row->block = (BlockNumber) (words[1] >> 16);
	row->offset = (OffsetNumber) words[1];
}

/* ---- the scan and the sort ---- */

static void
begin_sort(CuckooSort *sort)
{
	Oid			type = sort->hash_bits < 64 ? INT8OID : UUIDOID;

	sort->state =
		tuplesort_begin_datum(type,
							  lookup_type_cache(type,
												TYPECACHE_LT_OPR)->lt_opr,
							  InvalidOid, false, maintenance_work_mem, NULL,
							  TUPLESORT_NONE);
}

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_sort_tuple(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
				  bool alive, void *state)
{
	CuckooSort *sort = state;
	CuckooRow	row = {.block = ItemPointerGetBlockNumber(tid),
	.offset = ItemPointerGetOffsetNumber(tid)};
	int64		words[2];

	if (cuckoo_has_null(rel, isnull))
		return;
	/* CREATE INDEX CONCURRENTLY adds rows of later blocks when it validates */
	if (row.block >= sort->most_blocks)
		return;
	row.hash = cuckoo_hash_row(rel, sort->context, sort->seed, sort->hash_bits,
							   NULL, values);
	tuplesort_putdatum(sort->state, row_to_datum(sort, &row, words), false);
	sort->last_block = Max(sort->last_block, row.block);
	sort->last_offset = Max(sort->last_offset, row.offset);
	sort->rows++;
}

CuckooSort *
cuckoo_sort_rows(Relation heap, Relation rel, IndexInfo *info, uint64 seed)
{
	CuckooSort *sort = palloc0(sizeof(CuckooSort));
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	int			bits = cuckoo_bits_of(blocks) + ROW_OFFSET_BITS;

	sort->seed = seed;
	sort->hash_bits = 64;
	sort->most_blocks = MaxBlockNumber;
	if (bits <= MOST_ROW_BITS)
	{
		sort->hash_bits = 64 - bits;
		sort->most_blocks = (BlockNumber) 1 << cuckoo_bits_of(blocks);
	}
	sort->context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo build",
										  ALLOCSET_SMALL_SIZES);
	begin_sort(sort);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 CUCKOO_PHASE_SCAN);
	sort->heap_rows = table_index_build_scan(heap, rel, info, true, true,
											 cuckoo_sort_tuple, sort, NULL);
	MemoryContextDelete(sort->context);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) sort->rows);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 CUCKOO_PHASE_SORT);
	tuplesort_performsort(sort->state);
	return sort;
}

bool
cuckoo_sort_next(CuckooSort *sort, CuckooRow *row)
{
	Datum		datum;
	bool		isnull;

	if (!CUCKOO_GET_DATUM(sort->state, &datum, &isnull))
		return false;
	datum_to_row(sort, datum, row);
	if (sort->hash_bits == 64 || sizeof(Datum) < sizeof(int64))
		CUCKOO_FREE_DATUM(datum);
	return true;
}

void
cuckoo_sort_end(CuckooSort *sort)
{
	tuplesort_end(sort->state);
	pfree(sort);
}
