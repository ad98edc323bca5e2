/*-------------------------------------------------------------------------
 *
 * index/unique.c
 *		Unique indexes: no two live rows have one key.
 *
 * PostgreSQL 18 and later allow unique indexes of other access methods than
 * B-tree.  README, "Unique Values", has the algorithm.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

struct CuckooUnique
{
	Relation	heap;
	Relation	rel;
	IndexInfo  *info;			/* or NULL, until a row is looked at */
	EState	   *estate;
	TupleTableSlot *slot;		/* a row that is looked at, or NULL */
	FmgrInfo	equal[INDEX_MAX_KEYS];
};

bool
cuckoo_fetch_row(Relation heap, ItemPointerData tid, Snapshot snapshot,
				 TupleTableSlot *slot)
{
	IndexFetchTableData *fetch = CUCKOO_INDEX_FETCH_BEGIN(heap);
	bool		again = false;
	bool		found = table_index_fetch_tuple(fetch, &tid, snapshot, slot,
												&again, NULL);

	table_index_fetch_end(fetch);
	return found;
}

CuckooUnique *
cuckoo_unique_begin(Relation heap, Relation rel)
{
	CuckooUnique *unique = palloc(sizeof(CuckooUnique));

	unique->heap = heap;
	unique->rel = rel;
	unique->info = NULL;
	unique->estate = CreateExecutorState();
	unique->slot = NULL;
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
		fmgr_info(get_opcode(cuckoo_equality(rel, i)), &unique->equal[i]);
	return unique;
}

/*
 * True if the row in the slot satisfies the predicate of the index.
 *
 * The first call builds the IndexInfo.  For this, PostgreSQL computes constant
 * expressions, and so calls functions.  The build of an index without rows must
 * not call functions: PostgreSQL empties temporary tables during a commit.
 */
static bool
is_indexed(CuckooUnique *unique)
{
	ExprContext *context = GetPerTupleExprContext(unique->estate);

	if (unique->info == NULL)
	{
		IndexInfo  *info;
		MemoryContext caller =
			MemoryContextSwitchTo(unique->estate->es_query_cxt);

		info = BuildIndexInfo(unique->rel);
		info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate,
												  unique->estate);
		unique->info = info;
		MemoryContextSwitchTo(caller);
	}
	context->ecxt_scantuple = unique->slot;
	return ExecQual(unique->info->ii_PredicateState, context);
}

/*
 * The key of the row in the slot.  Returns false if a column is null, or if the
 * row is not in the index: for such a row, expressions may raise errors.
 */
static bool
get_key(CuckooUnique *unique, Datum *values)
{
	bool		isnull[INDEX_MAX_KEYS];

	if (!is_indexed(unique))
		return false;
	FormIndexDatum(unique->info, unique->slot, unique->estate, values, isnull);
	return !cuckoo_has_null(unique->rel, isnull);
}

/*
 * True if the row in the slot has the key.  A row that has taken the TID of
 * another one may have another key, or not be in the index.
 */
static bool
has_key(CuckooUnique *unique, const Datum *key)
{
	Datum		values[INDEX_MAX_KEYS];

	if (!get_key(unique, values))
		return false;
	for (int i = 0; i < unique->info->ii_NumIndexKeyAttrs; i++)
	{
		if (!DatumGetBool(FunctionCall2Coll(&unique->equal[i],
											unique->rel->rd_indcollation[i],
											values[i], key[i])))
			return false;
	}
	return true;
}

/* ---- inserts ---- */

pg_noreturn static void
not_unique(CuckooUnique *unique, Datum *values, bool is_build)
{
	bool		isnull[INDEX_MAX_KEYS] = {false};
	const char *name = RelationGetRelationName(unique->rel);
	const char *key = BuildIndexValueDescription(unique->rel, values, isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 is_build ? errmsg("could not create unique index \"%s\"", name) :
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					name),
			 key == NULL ? (is_build ? errdetail("Duplicate keys exist.") : 0) :
			 is_build ? errdetail("Key %s is duplicated.", key) :
			 errdetail("Key %s already exists.", key),
			 errtableconstraint(unique->heap, name)));
}

/*
 * The rows that had the tag of a key, page by page, and the number of VACUUMs
 * of the index that had ended before they were copied.
 */
typedef struct SeenRows
{
	uint32		vacuums;
	int			n;				/* -1: none were copied yet */
	ItemPointerData *rows;		/* allocated */
	int			n_sources;
	CuckooSource *sources;		/* the pages that have them; allocated */
} SeenRows;

/*
 * Adds the rows of a chain.
 * Locks held: the page of the link, in block `link`.
 */
static void
add_chain(Relation rel, BlockNumber head, BlockNumber link, SeenRows *seen)
{
	CuckooChainPosition chain = cuckoo_chain_begin(head);
	ItemPointerData more[CUCKOO_CHAIN_ROWS];
	int			n;

	chain.link = link;
	while ((n = cuckoo_chain_next(rel, &chain, more)) > 0)
	{
		seen->rows = repalloc_huge(seen->rows, (Size) (seen->n + n) *
								   sizeof(ItemPointerData));
		memcpy(seen->rows + seen->n, more, n * sizeof(ItemPointerData));
		seen->n += n;
		seen->sources = repalloc(seen->sources, (seen->n_sources + 1) *
								 sizeof(CuckooSource));
		seen->sources[seen->n_sources++] = chain.source;
	}
}

/*
 * Copies the rows that have the tag of a hash.  Other inserts move entries
 * within the page, but no rows of a chain.
 * Locks held: the page of the hash, exclusive; reads block 0, then chains.
 */
static SeenRows
see_rows(Relation rel, Buffer buffer, uint64 hash)
{
	SeenRows	seen = {0};
	List	   *heads = NIL;
	ListCell   *cell;

	seen.rows = palloc(CUCKOO_PAGE_SLOTS * sizeof(ItemPointerData));
	seen.sources = palloc(sizeof(CuckooSource));
	seen.sources[seen.n_sources++] = cuckoo_source(buffer);
	seen.n = cuckoo_match_rows(rel, buffer, hash, seen.rows, &heads);
	cuckoo_sort_tids(seen.rows, seen.n);
	/* VACUUM can remove rows of a chain while they are copied */
	if (seen.n > 0 || heads != NIL)
		seen.vacuums = cuckoo_count_vacuums(rel);
	foreach(cell, heads)
		add_chain(rel, lfirst_oid(cell), BufferGetBlockNumber(buffer), &seen);
	list_free(heads);
	return seen;
}

/*
 * True if the entry may be added: no row has the tag, or the same rows as
 * before, and none of their TIDs has got another row.  Replaces *seen.
 * Locks held: the page of the hash, exclusive; see see_rows().
 */
static bool
is_as_seen(Relation rel, Buffer buffer, uint64 hash, SeenRows *seen)
{
	SeenRows	now = see_rows(rel, buffer, hash);
	bool		same = seen->rows != NULL && now.n == seen->n &&
		now.vacuums == seen->vacuums &&
		memcmp(now.rows, seen->rows, now.n * sizeof(ItemPointerData)) == 0;

	if (seen->rows != NULL)
	{
		pfree(seen->rows);
		pfree(seen->sources);
	}
	*seen = now;
	return now.n == 0 || same;
}

/* Waits for the transaction that decides if a row is live. */
static void
wait_for_row(CuckooUnique *unique, const SnapshotData *dirty, ItemPointer tid)
{
	TransactionId wait = TransactionIdIsValid(dirty->xmin) ? dirty->xmin :
		dirty->xmax;

	/* ON CONFLICT inserts on trial, and may then wait for us */
	if (dirty->speculativeToken != 0)
		SpeculativeInsertionWait(wait, dirty->speculativeToken);
	else
		XactLockTableWait(wait, unique->heap, tid, XLTW_InsertIndex);
}

/*
 * Looks at the rows with the tag, in the order of cuckoo_sort_tids().  Returns
 * true if no row conflicts with the new one.  Otherwise raises error 23505, or
 * waits for a transaction and returns false; with `partial` just returns false.
 */
static bool
look_at_rows(CuckooUnique *unique, const SeenRows *seen, uint64 hash,
			 Datum *key, ItemPointer tid, bool partial)
{
	Size		size = Max(seen->n, 1) * sizeof(ItemPointerData);
	ItemPointerData *rows = palloc_extended(size, MCXT_ALLOC_HUGE);
	IndexFetchTableData *fetch = CUCKOO_INDEX_FETCH_BEGIN(unique->heap);
	SnapshotData dirty;
	bool		conflict = false;
	int			n_dead = 0;

	unique->slot = table_slot_create(unique->heap, NULL);
	memcpy(rows, seen->rows, seen->n * sizeof(ItemPointerData));
	cuckoo_sort_tids(rows, seen->n);
	for (int i = 0; i < seen->n && !conflict; i++)
	{
		ItemPointerData row = rows[i];
		bool		again = false;
		bool		all_dead = false;

		CHECK_FOR_INTERRUPTS();
		InitDirtySnapshot(dirty);
		/* dead, or another key? */
		conflict = table_index_fetch_tuple(fetch, &row, &dirty, unique->slot,
										   &again, &all_dead) &&
			has_key(unique, key);
		if (all_dead)
			rows[n_dead++] = rows[i];
	}
	/* keep no pin while we wait */
	ExecClearTuple(unique->slot);
	table_index_fetch_end(fetch);
	if (!conflict)
		cuckoo_kill_rows(unique->heap, unique->rel, seen->sources,
						 seen->n_sources, hash, rows, n_dead);
	else if (!partial)
	{
		if (TransactionIdIsValid(dirty.xmin) ||
			TransactionIdIsValid(dirty.xmax))
			wait_for_row(unique, &dirty, tid);
		/* CREATE INDEX CONCURRENTLY may add a row that is dead by now */
		else if (cuckoo_fetch_row(unique->heap, *tid, SnapshotSelf,
								  unique->slot))
			not_unique(unique, key, false);
		else
			conflict = false;
	}
	pfree(rows);
	ExecDropSingleTupleTableSlot(unique->slot);
	ResetPerTupleExprContext(unique->estate);
	return !conflict;
}

bool
cuckoo_unique_insert(CuckooUnique *unique, uint64 hash, Datum *values,
					 ItemPointer tid, IndexUniqueCheck check)
{
	Relation	rel = unique->rel;
	bool		partial = check == UNIQUE_CHECK_PARTIAL;
	bool		is_unique = true;
	SeenRows	seen = {.n = -1};

	/* for deferrable constraints, which are always B-trees */
	Assert(check != UNIQUE_CHECK_EXISTING);
	for (;;)
	{
		Buffer		buffer = cuckoo_lock_for_insert(rel, hash);

		if (!is_unique || is_as_seen(rel, buffer, hash, &seen))
		{
			if (cuckoo_insert_entry(rel, buffer, hash, tid))
				return is_unique;
		}
		else
		{
			UnlockReleaseBuffer(buffer);
			if (!look_at_rows(unique, &seen, hash, values, tid,
							  partial))
			{
				seen.n = -1;
				is_unique = !partial;
			}
		}
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- builds ---- */

void
cuckoo_unique_check_build(CuckooUnique *unique, ItemPointerData tid,
						  List **rows)
{
	TupleTableSlot *added = table_slot_create(unique->heap, NULL);
	Datum		key[INDEX_MAX_KEYS];
	ListCell   *cell;

	unique->slot = added;
	if (cuckoo_fetch_row(unique->heap, tid, SnapshotSelf, unique->slot) &&
		get_key(unique, key))
	{
		unique->slot = table_slot_create(unique->heap, NULL);
		foreach(cell, *rows)
		{
			const ItemPointerData *row = lfirst(cell);

			if (cuckoo_fetch_row(unique->heap, *row, SnapshotSelf,
								 unique->slot) && has_key(unique, key))
				not_unique(unique, key, true);
		}
		ExecDropSingleTupleTableSlot(unique->slot);
		*rows = lappend(*rows, memcpy(palloc(sizeof(tid)), &tid, sizeof(tid)));
	}
	ExecDropSingleTupleTableSlot(added);
	ResetPerTupleExprContext(unique->estate);
}
