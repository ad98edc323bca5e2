/*-------------------------------------------------------------------------
 *
 * index/sort.c
 *		The rows of a table in the order of their hashes, for a build.
 *
 * PostgreSQL's tuplesort sorts the rows by hash, which is the order of pages,
 * and by TID.  If both fit into 64 bits, they are sorted as bigints, otherwise
 * as uuids: README, "Hashing".
 *
 * Parallel workers and the leader scan and sort parts of the table, and the
 * leader merges these, as in nbtsort.c.  The order of rows is total, so the
 * index is the same as without workers.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

/*
 * If a table has few blocks, the block and the offset of a row are sorted with
 * its hash as one bigint.
 */
#define ROW_OFFSET_BITS		(MaxHeapTuplesPerPage < 512 ? 9 : 11)
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

/* ---- the scan and the sort of one process ---- */

/* Begins to sort in that many kB of memory. */
static void
begin_sort(CuckooSort *sort, int memory, SortCoordinate coordinate)
{
	Oid			type = sort->hash_bits < 64 ? INT8OID : UUIDOID;

	sort->state =
		tuplesort_begin_datum(type,
							  lookup_type_cache(type,
												TYPECACHE_LT_OPR)->lt_opr,
							  InvalidOid, false, memory, coordinate,
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

/*
 * Scans a table, and sorts its rows in that many kB of memory.  With `shared`
 * and `scan`, this process is one of several, and reads a part of the table.
 */
static void
scan_and_sort(CuckooSort *sort, Relation heap, Relation rel, IndexInfo *info,
			  int memory, Sharedsort *shared, ParallelTableScanDesc scan)
{
	SortCoordinateData part = {true, -1, shared};

	sort->context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo build",
										  ALLOCSET_SMALL_SIZES);
	begin_sort(sort, memory, shared == NULL ? NULL : &part);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 CUCKOO_PHASE_SCAN);
	sort->heap_rows =
		table_index_build_scan(heap, rel, info, true, !IsParallelWorker(),
							   cuckoo_sort_tuple, sort, scan == NULL ? NULL :
							   CUCKOO_BEGIN_SCAN_PARALLEL(heap, scan,
														  SO_NONE));
	MemoryContextDelete(sort->context);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 CUCKOO_PHASE_SORT);
	tuplesort_performsort(sort->state);
}

/* ---- workers ---- */

/* What is in shared memory. */
#define KEY_TASK	0
#define KEY_SORT	1			/* Sharedsort */
#define KEY_SCAN	2			/* ParallelTableScanDescData */
#define KEY_QUERY	3			/* text for pg_stat_activity */
#define KEYS		4

/* What a worker has to do, and then what it has done. */
typedef struct SortPart
{
	CuckooSort	sort;			/* pointers are for the worker only */
	bool		broken_hot_chain;
	WalUsage	wal;
	BufferUsage buffers;
} SortPart;

typedef struct SortTask
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	int			memory;			/* of each process, in kB */
	uint64		query_id;
	SortPart	parts[FLEXIBLE_ARRAY_MEMBER];	/* of the workers */
} SortTask;

/* A worker runs this, with the user, settings and locks of the leader. */
extern PGDLLEXPORT void cuckoo_sort_worker(dsm_segment *segment, shm_toc *toc);

void
cuckoo_sort_worker(dsm_segment *segment, shm_toc *toc)
{
	SortTask   *task = shm_toc_lookup(toc, KEY_TASK, false);
	SortPart   *part = &task->parts[ParallelWorkerNumber];
	Sharedsort *shared = shm_toc_lookup(toc, KEY_SORT, false);
	Relation	heap;
	Relation	rel;
	IndexInfo  *info;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, false);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(task->query_id, false);
	heap = table_open(task->heap, task->concurrent ?
					  ShareUpdateExclusiveLock : ShareLock);
	rel = index_open(task->index, task->concurrent ?
					 RowExclusiveLock : AccessExclusiveLock);
	info = BuildIndexInfo(rel);
	info->ii_Concurrent = task->concurrent;
	tuplesort_attach_shared(shared, segment);
	InstrStartParallelQuery();
	scan_and_sort(&part->sort, heap, rel, info, task->memory, shared,
				  shm_toc_lookup(toc, KEY_SCAN, false));
	tuplesort_end(part->sort.state);
	part->broken_hot_chain = info->ii_BrokenHotChain;
	InstrEndParallelQuery(&part->buffers, &part->wal);
	index_close(rel, NoLock);
	table_close(heap, NoLock);
}

/*
 * Scans and sorts with n workers, or with those that PostgreSQL has.  Returns
 * false if it has none, and then has read nothing.
 */
static bool
sort_with_workers(CuckooSort *sort, Relation heap, Relation rel,
				  IndexInfo *info, int n)
{
	/* with SnapshotAny, the scan decides which rows are dead to all */
	Snapshot	snapshot = info->ii_Concurrent ?
		RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	const char *query = debug_query_string == NULL ? "" : debug_query_string;
	SortTask   *task;
	Size		sizes[KEYS] = {
		[KEY_TASK] = offsetof(SortTask, parts) + n * sizeof(SortPart),
		[KEY_SORT] = tuplesort_estimate_shared(n + 1),
		[KEY_SCAN] = table_parallelscan_estimate(heap, snapshot),
		[KEY_QUERY] = strlen(query) + 1
	};
	void	   *chunks[KEYS];
	ParallelContext *workers;

	EnterParallelMode();
	/* the name of the library in cuckoo.control */
	workers = CreateParallelContext("$libdir/cuckoo", "cuckoo_sort_worker", n);
	for (int i = 0; i < KEYS; i++)
		shm_toc_estimate_chunk(&workers->estimator, sizes[i]);
	shm_toc_estimate_keys(&workers->estimator, KEYS);
	InitializeParallelDSM(workers);
	for (int i = 0; i < KEYS; i++)
	{
		chunks[i] = shm_toc_allocate(workers->toc, sizes[i]);
		shm_toc_insert(workers->toc, i, chunks[i]);
	}
	task = memset(chunks[KEY_TASK], 0, sizes[KEY_TASK]);
	task->heap = RelationGetRelid(heap);
	task->index = RelationGetRelid(rel);
	task->concurrent = info->ii_Concurrent;
	task->memory = maintenance_work_mem / (n + 1);
	task->query_id = pgstat_get_my_query_id();
	for (int i = 0; i < n; i++)
		task->parts[i].sort = *sort;
	tuplesort_initialize_shared(chunks[KEY_SORT], n + 1, workers->seg);
	table_parallelscan_initialize(heap, chunks[KEY_SCAN], snapshot);
	memcpy(chunks[KEY_QUERY], query, sizes[KEY_QUERY]);
	LaunchParallelWorkers(workers);
	n = workers->nworkers_launched;
	if (n > 0)
	{
		SortCoordinateData leader = {false, n + 1, chunks[KEY_SORT]};

		scan_and_sort(sort, heap, rel, info, task->memory, chunks[KEY_SORT],
					  chunks[KEY_SCAN]);
		tuplesort_end(sort->state);
		WaitForParallelWorkersToFinish(workers);
		for (int i = 0; i < n; i++)
		{
			SortPart   *part = &task->parts[i];

			sort->heap_rows += part->sort.heap_rows;
			sort->rows += part->sort.rows;
			sort->last_block = Max(sort->last_block, part->sort.last_block);
			sort->last_offset = Max(sort->last_offset, part->sort.last_offset);
			info->ii_BrokenHotChain |= part->broken_hot_chain;
			InstrAccumParallelQuery(&part->buffers, &part->wal);
		}
		begin_sort(sort, maintenance_work_mem, &leader);
		tuplesort_performsort(sort->state);
		sort->workers = workers;
	}
	if (info->ii_Concurrent)
		UnregisterSnapshot(snapshot);
	if (n == 0)
	{
		DestroyParallelContext(workers);
		ExitParallelMode();
	}
	return n > 0;
}

/*
 * The number of workers that would be useful, or 0.  PostgreSQL looks at the
 * expressions of an index, and not at its support functions.
 */
static int
count_workers(Relation heap, Relation rel)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		if (func_parallel(index_getprocid(rel, i + 1, CUCKOO_HASH_PROC)) !=
			PROPARALLEL_SAFE)
			return 0;
	}
	return plan_create_index_workers(RelationGetRelid(heap),
									 RelationGetRelid(rel));
}

/* ---- for build.c ---- */

CuckooSort *
cuckoo_sort_rows(Relation heap, Relation rel, IndexInfo *info, uint64 seed)
{
	CuckooSort *sort = palloc0(sizeof(CuckooSort));
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	int			bits = cuckoo_bits_of(blocks) + ROW_OFFSET_BITS;
	int			n = blocks == 0 ? 0 : count_workers(heap, rel);

	sort->seed = seed;
	sort->hash_bits = 64;
	sort->most_blocks = MaxBlockNumber;
	if (bits <= CUCKOO_MOST_ROW_BITS)
	{
		sort->hash_bits = 64 - bits;
		sort->most_blocks = (BlockNumber) 1 << cuckoo_bits_of(blocks);
	}
	if (n == 0 || !sort_with_workers(sort, heap, rel, info, n))
		scan_and_sort(sort, heap, rel, info, maintenance_work_mem, NULL, NULL);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) sort->rows);
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
	if (sort->workers != NULL)
	{
		DestroyParallelContext(sort->workers);
		ExitParallelMode();
	}
	pfree(sort);
}
