/*-------------------------------------------------------------------------
 *
 * index/scan.c
 *		Scans of an index, and their costs.
 *
 * A lookup returns the rows whose entry has the tag of the hash: the rows with
 * the value, and a few others.  The executor checks each row, so another row
 * costs time and never changes a result.  A scan keeps no pin: README, "Scans
 * and VACUUM".
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

/* CPU cost of comparing the slots of a page, in operators. */
#define OPERATORS_PER_PAGE	20

/* The cost of a scan that has no condition on some column. */
#define UNWANTED_COST		1e30

/* The hash function for the values of a column's key. */
typedef struct KeyHash
{
	Oid			type;			/* of the key; InvalidOid for the column's */
	FmgrInfo	proc;
} KeyHash;

typedef struct CuckooScan
{
	KeyHash		hashes[INDEX_MAX_KEYS];
	MemoryContext context;		/* of hashing and chains; hashing resets it */
	bool		began;
	uint64		hash;			/* of the keys */
	int			n;				/* rows that were found */
	int			next;			/* of the rows, to be returned */
	int			dead;			/* rows that are dead to all: the first ones */
	CuckooSource source;		/* the page of the rows */
	List	   *chains;			/* heads of chains that are not read yet */
	CuckooChainPosition chain;	/* the chain that is read */
	BlockNumber block;			/* of the table: next, in a scan of all rows */
	BlockNumber blocks;			/* of the table; 0 unless it scans all rows */
	ItemPointerData rows[Max(Max(CUCKOO_PAGE_SLOTS, CUCKOO_CHAIN_ROWS),
							 MaxHeapTuplesPerPage)];
} CuckooScan;

/* ---- beginning ---- */

/* Removes the entries of dead rows of the page that was read last. */
static void
leave_page(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	if (state->dead > 0)
		cuckoo_kill_rows(scan->heapRelation, scan->indexRelation,
						 &state->source, 1, state->hash, state->rows,
						 state->dead);
	state->dead = 0;
}

IndexScanDesc
cuckoo_ambeginscan(Relation rel, int keys, int orders)
{
	IndexScanDesc scan = RelationGetIndexScan(rel, keys, orders);
	CuckooScan *state = palloc(sizeof(CuckooScan));

	memset(state, 0, offsetof(CuckooScan, rows));
	state->chain.next = InvalidBlockNumber;
	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "cuckoo scan key",
										   ALLOCSET_SMALL_SIZES);
	scan->opaque = state;
	return scan;
}

void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_amrescan(IndexScanDesc scan, ScanKey keys, int n, ScanKey orders,
				int n_orders)
{
	CuckooScan *state = scan->opaque;

	leave_page(scan);
	if (keys != NULL && scan->numberOfKeys > 0)
		memcpy(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	state->began = false;
	state->n = state->next = 0;
	state->chain.next = InvalidBlockNumber;
	state->chains = NIL;
	state->block = state->blocks = 0;
}

void
cuckoo_amendscan(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	leave_page(scan);
	MemoryContextDelete(state->context);
	pfree(state);
}

/* ---- looking up ---- */

/* The key of a column: the first one, if there are several.  NULL for none. */
static ScanKey
key_of_column(IndexScanDesc scan, int column)
{
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		if (scan->keyData[i].sk_attno == column + 1)
			return &scan->keyData[i];
	}
	return NULL;
}

/*
 * The hash function for a key, whose type may be another one of the operator
 * family than the column's.
 */
static FmgrInfo *
hash_of_key(IndexScanDesc scan, int column, const ScanKeyData *key)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	KeyHash    *hash = &state->hashes[column];
	Oid			type = key->sk_subtype;
	Oid			proc;

	if (!OidIsValid(type) || type == rel->rd_opcintype[column])
		return index_getprocinfo(rel, column + 1, CUCKOO_HASH_PROC);
	if (hash->type != type)
	{
		proc = get_opfamily_proc(rel->rd_opfamily[column], type, type,
								 CUCKOO_HASH_PROC);
		if (!OidIsValid(proc))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("operator family of index \"%s\" has no hash function for type %s",
							RelationGetRelationName(rel), format_type_be(type)),
					 errhint("Add it with ALTER OPERATOR FAMILY ... ADD FUNCTION 1.")));
		fmgr_info_cxt(proc, &hash->proc,
					  MemoryContextGetParent(state->context));
		hash->type = type;
	}
	return &hash->proc;
}

/*
 * Computes the hash of the keys.  Returns false if no row can match, because a
 * key is null.
 */
static bool
hash_keys(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	CuckooHashing hashing = cuckoo_hashing(rel);
	FmgrInfo   *procs[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		const ScanKeyData *key = key_of_column(scan, i);

		if (key->sk_flags & SK_ISNULL)
			return false;
		values[i] = key->sk_argument;
		procs[i] = hash_of_key(scan, i, key);
	}
	state->hash = cuckoo_hash_row(rel, state->context, hashing.seed,
								  hashing.hash_bits, procs, values);
	return true;
}

/*
 * True if rows may match that the index cannot find: a column has no condition,
 * or logical replication searches for a null.  A replica identity has no nulls.
 */
static bool
needs_all_rows(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		const ScanKeyData *key = key_of_column(scan, i);

		if (key == NULL || ((key->sk_flags & SK_SEARCHNULL) &&
							!rel->rd_index->indisreplident))
			return true;
	}
	return false;
}

/* For the statistics of the index, and EXPLAIN. */
static void
count_scan(IndexScanDesc scan)
{
	pgstat_count_index_scan(scan->indexRelation);
	CUCKOO_COUNT_SEARCH(scan);
}

/*
 * Returns the number of blocks of the table, after a predicate lock on it.  A
 * row with a null has no entry: a lock on the index would miss its insertion.
 */
static BlockNumber
lock_all_rows(Relation heap, Snapshot snapshot)
{
	PredicateLockRelation(heap, snapshot);
	return RelationGetNumberOfBlocks(heap);
}

/* Collects the rows and chains that have the tag of the hash. */
static void
look_up(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	Buffer		buffer = cuckoo_find_page(rel, state->hash,
										  BUFFER_LOCK_SHARE);
	MemoryContext caller = MemoryContextSwitchTo(state->context);

	CUCKOO_TEST_SNAPSHOT(scan->xs_snapshot, rel, BufferGetPage(buffer));
	PredicateLockPage(rel, BufferGetBlockNumber(buffer), scan->xs_snapshot);
	state->n = cuckoo_match_rows(rel, buffer, state->hash, state->rows,
								 &state->chains);
	state->source = cuckoo_source(buffer);
	UnlockReleaseBuffer(buffer);
	MemoryContextSwitchTo(caller);
	cuckoo_sort_tids(state->rows, state->n);
}

/*
 * Error XX002 if the chain that was read has no head, although its link exists.
 * While the page of the link is locked, VACUUM cannot free the head.
 */
static void
check_freed(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	Buffer		buffer = cuckoo_find_page(rel, state->hash,
										  BUFFER_LOCK_SHARE);
	CuckooChainPosition again = cuckoo_chain_begin(state->chain.head);
	ItemPointerData rows[CUCKOO_CHAIN_ROWS];

	again.link = BufferGetBlockNumber(buffer);
	if (cuckoo_find_link(rel, buffer, again.head) >= 0)
		cuckoo_chain_next(rel, &again, rows);
	UnlockReleaseBuffer(buffer);
}

/*
 * Begins to read all rows.  By a partial index this is an error, because the
 * executor does not check the predicate.
 */
static void
begin_all_rows(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	if (RelationGetIndexPredicate(scan->indexRelation) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("partial index \"%s\" needs a condition on each of its columns",
						RelationGetRelationName(scan->indexRelation)),
				 errhint("Remove the hint or setting that forces this index scan.")));
	state->blocks = lock_all_rows(scan->heapRelation, scan->xs_snapshot);
}

/*
 * Fetches all TIDs of the next block of the table.  PostgreSQL ignores a TID
 * without a row, and the TID of a heap-only tuple.
 */
static void
fetch_block(CuckooScan *state)
{
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < MaxHeapTuplesPerPage; i++)
		ItemPointerSet(&state->rows[i], state->block, i + 1);
	state->n = MaxHeapTuplesPerPage;
	state->block++;
}

/*
 * Fetches more rows: at first the rows of the page, then the rows of each page
 * of a chain.  If all rows are read, it fetches each block of the table.
 * Returns false if there are no more rows.
 */
static bool
fetch_rows(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	CuckooScan *state = scan->opaque;

	leave_page(scan);
	state->n = state->next = 0;
	if (!state->began)
	{
		count_scan(scan);
		state->began = true;
		if (unlikely(needs_all_rows(scan)))
			begin_all_rows(scan);
		else if (hash_keys(scan))
			look_up(scan);
		if (state->n > 0)
			return true;
	}
	if (state->block < state->blocks)
	{
		fetch_block(state);
		return true;
	}
	while ((state->n = cuckoo_chain_next(rel, &state->chain,
										 state->rows)) <= 0)
	{
		if (state->n < 0)
			check_freed(scan);
		if (state->chains == NIL)
			return false;
		state->chain = cuckoo_chain_begin(llast_oid(state->chains));
		state->chain.snapshot = scan->xs_snapshot;
		state->chains = list_delete_last(state->chains);
	}
	state->source = state->chain.source;
	return true;
}

/*
 * Compares the row with the keys, for logical replication: README, "Scans and
 * VACUUM".  A replica identity has no expressions and no predicate.
 */
static bool
is_equal(IndexScanDesc scan)
{
	TupleTableSlot *slot = table_slot_create(scan->heapRelation, NULL);
	bool		equal = cuckoo_fetch_row(scan->heapRelation, scan->xs_heaptid,
										 scan->xs_snapshot, slot);

	for (int i = 0; i < scan->numberOfKeys && equal; i++)
	{
		ScanKey		key = &scan->keyData[i];
		AttrNumber	column =
			scan->indexRelation->rd_index->indkey.values[key->sk_attno - 1];
		bool		isnull;
		Datum		value = slot_getattr(slot, column, &isnull);

		equal = !isnull &&
			DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
										   value, key->sk_argument));
	}
	ExecDropSingleTupleTableSlot(slot);
	return equal;
}

bool
cuckoo_amgettuple(IndexScanDesc scan, ScanDirection direction)
{
	CuckooScan *state = scan->opaque;

	Assert(ScanDirectionIsForward(direction));
	if (scan->kill_prior_tuple && state->next > 0 && state->blocks == 0)
		state->rows[state->dead++] = state->rows[state->next - 1];
	do
	{
		if (state->next >= state->n && !fetch_rows(scan))
			return false;
		scan->xs_heaptid = state->rows[state->next++];
		scan->xs_recheck = true;
	} while (scan->indexRelation->rd_index->indisreplident &&
			 !IsMVCCSnapshot(scan->xs_snapshot) && !is_equal(scan));
	return true;
}

/* Adds all blocks of the table to the bitmap, and returns their number. */
static int64
add_all_blocks(IndexScanDesc scan, TIDBitmap *bitmap)
{
	Relation	heap = table_open(scan->indexRelation->rd_index->indrelid,
								  NoLock);
	BlockNumber blocks = lock_all_rows(heap, scan->xs_snapshot);

	table_close(heap, NoLock);
	count_scan(scan);
	for (BlockNumber block = 0; block < blocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		tbm_add_page(bitmap, block);
	}
	return blocks;
}

int64
cuckoo_amgetbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	CuckooScan *state = scan->opaque;
	int64		n = 0;

	if (unlikely(needs_all_rows(scan)))
		return add_all_blocks(scan, bitmap);
	while (fetch_rows(scan))
	{
		tbm_add_tuples(bitmap, state->rows, state->n, true);
		n += state->n;
	}
	return n;
}

/* ---- costs ---- */

/* True if the path has a condition on each column. */
static bool
has_all_conditions(IndexPath *path)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, path->indexclauses)
		columns = bms_add_member(columns,
								 lfirst_node(IndexClause, cell)->indexcol);
	return bms_num_members(columns) == path->indexinfo->nkeycolumns;
}

/*
 * The cost of a scan is that of a hash index: the pages that have the rows, and
 * the comparison of the slots of a page for each value.
 */
void
cuckoo_amcostestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					  Cost *startup, Cost *total, Selectivity *selectivity,
					  double *correlation, double *pages)
{
	GenericCosts costs = {0};

	genericcostestimate(root, path, loop_count, &costs);
	*startup = costs.indexStartupCost;
	*total = costs.indexTotalCost +
		costs.num_sa_scans * OPERATORS_PER_PAGE * cpu_operator_cost;
	*selectivity = costs.indexSelectivity;
	*correlation = 0;
	*pages = costs.numIndexPages;
	if (!has_all_conditions(path))
	{
		CUCKOO_DISABLE_PATH(path);
		*total = UNWANTED_COST;
	}
}
