/*-------------------------------------------------------------------------
 *
 * index/unique.c
 *		The trigger function cf_unique_trigger: a value is in one row of a
 *		table, or of all partitions of a table.
 *
 * The trigger is called after a row and its entry in the index have been
 * inserted.  It looks up the value in the index of each partition, and reads
 * the blocks that the lookups return.  Other sessions see an entry before the
 * commit.  If two sessions insert a value at the same time, the session that
 * looks later finds both rows.  It waits for the other transaction, as
 * check_exclusion_or_unique_constraint() of PostgreSQL does:
 *
 *	session A					session B
 *	insert 7 into partition P
 *								insert 7 into partition Q
 *								look in P: a row of A; wait for A
 *	look in Q: a row of B; wait for B: a deadlock, one session fails
 *
 * If A looks before B inserts, A finds its own row alone.  B waits, and fails
 * if A commits.
 *
 * A third session may update a row while we look: its old version is then dead,
 * and its new version may be in a block that we have read already, or did not
 * look up.  So a search also reads versions that were live when it began.  If
 * one of them has the value and is dead now, the search begins again.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(cf_unique_trigger);

/* The state of a trigger, kept for all rows of a statement. */
typedef struct UniqueTrigger
{
	bool		is_set;
	MemoryContext context;		/* for the rest */
	List	   *indexes;		/* OIDs of the indexes of all partitions */
	Oid			missing;		/* an index that was dropped or not valid */
	Oid			index;			/* of the table that has the trigger */
	AttrNumber	column;			/* of that index */
	CuckooHasher hasher;
	FmgrInfo	equal;
	Oid			collation;		/* for `equal` */
} UniqueTrigger;

/* A row that was inserted, and the rows with its value. */
typedef struct Search
{
	Datum		value;
	Oid			table;
	ItemPointerData tid;
	Snapshot	before;			/* taken before the lookups */
	int64		rows;			/* number of rows with the value */
	Oid			other;			/* table of a row that is not this row */
} Search;

/* ---- finding the indexes ---- */

/*
 * The table of the trigger that a trigger of a partition is a copy of, or
 * InvalidOid.  PostgreSQL copies the triggers of a partitioned table.
 */
static Oid
copied_from(Oid trigger)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	Oid			table = InvalidOid;

	while (OidIsValid(trigger))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	row;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1,
								  &key);
		row = systable_getnext(scan);
		trigger = InvalidOid;
		if (HeapTupleIsValid(row))
		{
			table = ((Form_pg_trigger) GETSTRUCT(row))->tgrelid;
			trigger = ((Form_pg_trigger) GETSTRUCT(row))->tgparentid;
		}
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return table;
}

/*
 * The OID of the index that the trigger names.  The copies of a trigger in
 * partitions name the index of the partitioned table, too.  A partition may
 * have another index of the same name in another schema.
 */
static Oid
named_index(Relation rel, const Trigger *trigger)
{
	Oid			table = trigger->tgisclone ? copied_from(trigger->tgoid) :
		RelationGetRelid(rel);
	const char *name = trigger->tgargs[0];
	Oid			index = get_relname_relid(name, get_rel_namespace(table));

	if (!OidIsValid(index) || IndexGetRelation(index, true) != table)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no index \"%s\"",
						get_rel_name(table), name),
				 errdetail("The trigger's argument is the name of an index."),
				 errhint("If the index was renamed, drop the trigger and create it again.")));
	return index;
}

/*
 * Raises error 0A000 if the index does not find rows, or is not an index of a
 * column for all rows.  The trigger would have to evaluate the owner's
 * expression or predicate.
 */
static void
check_kind(Relation rel)
{
	bool		locates = cuckoo_index_locates(cuckoo_index_open(rel));

	if (locates && rel->rd_index->indkey.values[0] != 0 &&
		heap_attisnull(rel->rd_indextuple, Anum_pg_index_indpred, NULL))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cf_unique_trigger cannot use index \"%s\"",
					RelationGetRelationName(rel)),
			 locates ?
			 errdetail("The index has an expression or a predicate.") :
			 errdetail("An index with locate = off does not find rows."),
			 locates ?
			 errhint("Create an index of a column. It may be a generated column.") :
			 errhint("Set locate = on, and rebuild the index with REINDEX.")));
}

/* Prepares to hash and compare values of the index of the trigger's table. */
static void
prepare(UniqueTrigger *state, Relation rel)
{
	Oid			type = rel->rd_opcintype[0];
	Oid			operator = get_opfamily_member(rel->rd_opfamily[0], type, type,
											   1);

	state->index = RelationGetRelid(rel);
	state->column = rel->rd_index->indkey.values[0];
	state->collation = rel->rd_indcollation[0];
	fmgr_info(get_opcode(operator), &state->equal);
	memset(&state->hasher, 0, sizeof(CuckooHasher));
	cuckoo_index_hasher(&state->hasher, rel, CurrentMemoryContext);
}

/*
 * Raises an error if a partition has no index: 0A000 for foreign tables, which
 * an index leaves out, and 55000 otherwise.
 */
static void
check_partitions(Oid index)
{
	List	   *tables;
	ListCell   *cell;

	if (!get_index_isvalid(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", get_rel_name(index)),
				 errdetail("A partition has no index."),
				 errhint("Attach the missing index with ALTER INDEX ... ATTACH PARTITION.")));
	tables = find_all_inheritors(IndexGetRelation(index, false), NoLock, NULL);
	foreach(cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cf_unique_trigger cannot find rows of foreign table \"%s\"",
							get_rel_name(lfirst_oid(cell))),
					 errdetail("It is a partition, and has no index.")));
	}
	list_free(tables);
}

/* Returns the index at the top of the partitions. */
static Oid
top_index(Oid index)
{
	if (get_rel_relispartition(index))
		index = llast_oid(get_partition_ancestors(index));
	if (get_rel_relkind(index) == RELKIND_PARTITIONED_INDEX)
		check_partitions(index);
	return index;
}

/*
 * Locks the indexes of all partitions and their tables until the transaction
 * ends, and prepares the state for the index of a table.  Returns false if an
 * index is missing.  The caller then looks for the indexes again, because
 * REINDEX CONCURRENTLY may have replaced it.  If the same index is missing
 * again, this is an error.
 *
 * While the table is locked, REINDEX CONCURRENTLY lets other sessions insert
 * into the old index, too.
 */
static bool
lock_indexes(UniqueTrigger *state, List *all, Oid table)
{
	ListCell   *cell;

	state->indexes = NIL;
	foreach(cell, all)
	{
		Oid			oid = lfirst_oid(cell);
		CuckooOpenIndex index;

		if (get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX)
			continue;
		if (!cuckoo_open_for_trigger(oid, oid != state->missing, &index))
		{
			state->missing = oid;
			return false;
		}
		check_kind(index.rel);
		if (RelationGetRelid(index.heap) == table)
			prepare(state, index.rel);
		state->indexes = lappend_oid(state->indexes, oid);
		relation_close(index.rel, NoLock);
		relation_close(index.heap, NoLock);
	}
	return true;
}

/*
 * Sets the state for the table of the trigger.  It stays unset if an index is
 * missing.
 */
static void
set_state(UniqueTrigger *state, const Trigger *trigger, Relation table)
{
	List	   *all;

	state->is_set = false;
	all = find_all_inheritors(top_index(named_index(table, trigger)), NoLock,
							  NULL);
	state->is_set = lock_indexes(state, all, RelationGetRelid(table));
}

/*
 * Returns the state.  It is set for the first row of a statement, and again if
 * the hasher is not current.  So a partition that was attached before our row
 * was inserted is in the list: PostgreSQL has changed pg_attribute for it.  If
 * a partition is attached later, a session that inserts our value into it finds
 * our row.
 */
static UniqueTrigger *
current_state(FunctionCallInfo fcinfo, const Trigger *trigger, Relation table)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	UniqueTrigger *state = flinfo->fn_extra;
	MemoryContext caller;

	if (state == NULL)
	{
		state = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(UniqueTrigger));
		state->context = AllocSetContextCreate(flinfo->fn_mcxt,
											   "cuckoo unique trigger",
											   ALLOCSET_SMALL_SIZES);
		flinfo->fn_extra = state;
	}
	state->missing = InvalidOid;

	/*
	 * Stop when the state is set.  The hasher may be outdated again: with
	 * debug_discard_caches = 1 each call of AcceptInvalidationMessages()
	 * outdates it.
	 */
	do
	{
		CHECK_FOR_INTERRUPTS();
		AcceptInvalidationMessages();
		if (likely(state->is_set &&
				   cuckoo_hasher_is_current(&state->hasher)))
			break;
		MemoryContextReset(state->context);
		caller = MemoryContextSwitchTo(state->context);
		set_state(state, trigger, table);
		MemoryContextSwitchTo(caller);
	} while (!state->is_set);
	return state;
}

/* ---- searching ---- */

static bool
is_equal(UniqueTrigger *state, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&state->equal, state->collation, a,
										  b));
}

/*
 * True if a dead version of a row may have been live after the snapshot was
 * taken: it is visible to the snapshot, or a transaction has inserted it that
 * had not ended then, and has committed.
 */
static bool
died_after(Snapshot before, Relation heap, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	return table_tuple_satisfies_snapshot(heap, slot, before) ||
		(XidInMVCCSnapshot(xmin, before) && TransactionIdDidCommit(xmin));
}

/*
 * Counts the rows with the value in blocks `first` to `last` of a table.
 * Returns false if another transaction has inserted, updated or deleted such a
 * row since the search began.  That transaction has ended then, and the caller
 * searches again.
 */
static bool
search_range(const CuckooOpenIndex *index, UniqueTrigger *state, Search *s,
			 BlockNumber first, BlockNumber last)
{
	AttrNumber	column = index->rel->rd_index->indkey.values[0];
	TupleTableSlot *slot = table_slot_create(index->heap, NULL);
	TransactionId wait = InvalidTransactionId;
	bool		died = false;
	ItemPointerData from;
	ItemPointerData to;
	SnapshotData dirty;
	TableScanDesc scan;

	InitDirtySnapshot(dirty);
	ItemPointerSet(&from, first, FirstOffsetNumber);
	ItemPointerSet(&to, last, MaxOffsetNumber);
	scan = CUCKOO_BEGIN_SCAN_RANGE(index->heap, SnapshotAny, &from, &to);
	while (!died && !TransactionIdIsValid(wait) &&
		   table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		/* sets xmin and xmax to transactions that change the row */
		bool		live = table_tuple_satisfies_snapshot(index->heap, slot,
														  &dirty);
		bool		isnull;
		Datum		value;

		CHECK_FOR_INTERRUPTS();
		/* other versions may have lost their TOAST values */
		if (!live && !died_after(s->before, index->heap, slot))
			continue;
		value = slot_getattr(slot, column, &isnull);
		if (isnull || !is_equal(state, value, s->value))
			continue;
		died = !live;
		s->rows++;
		if (RelationGetRelid(index->heap) != s->table ||
			!ItemPointerEquals(&slot->tts_tid, &s->tid))
			s->other = RelationGetRelid(index->heap);
		wait = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		from = slot->tts_tid;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	if (!TransactionIdIsValid(wait))
		return !died;
	/* ON CONFLICT inserts on trial, and may then wait for us */
	if (dirty.speculativeToken != 0)
		SpeculativeInsertionWait(wait, dirty.speculativeToken);
	else
		XactLockTableWait(wait, index->heap, &from,
						  XLTW_RecheckExclusionConstr);
	return false;
}

/* True if a[n] is one of the numbers before it. */
static bool
is_repeated(const uint32 *a, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		if (a[i] == a[n])
			return true;
	}
	return false;
}

/*
 * Counts the rows with the value in the table of one index.  Returns false if
 * the caller must search again.
 */
static bool
search_table(const CuckooOpenIndex *index, UniqueTrigger *state, Search *s)
{
	uint64		seed = cuckoo_index_open(index->rel)->meta.seed;
	uint64		hash = cuckoo_hash(&state->hasher, s->value, seed);
	CuckooBlocks found = {0};
	BlockNumber blocks;

	if (unlikely(!cuckoo_hasher_is_current(&state->hasher)) &&
		cuckoo_index_is_stale(index->rel))
		cuckoo_index_stale_error(index->rel);
	pgstat_count_index_scan(index->rel);
	cuckoo_index_lookup(index->rel, hash, &found, CurrentMemoryContext);
	if (found.count == 0 && !found.all)
		return true;
	/* after the lookup: see README, "Lookup, Insert, Split" */
	blocks = RelationGetNumberOfBlocks(index->heap);
	if (found.all)
		return blocks == 0 || search_range(index, state, s, 0, blocks - 1);
	for (uint32 i = 0; i < found.count; i++)
	{
		if (is_repeated(found.blocks, i))
			continue;
		for (uint64 block = found.blocks[i]; block < blocks;
			 block += found.modulus)
		{
			if (!search_range(index, state, s, (BlockNumber) block,
							  (BlockNumber) block))
				return false;
		}
	}
	return true;
}

/*
 * Counts the rows with the value in all partitions.  Returns false if the
 * caller must search again.
 */
static bool
search(UniqueTrigger *state, Search *s)
{
	bool		done = true;
	ListCell   *cell;

	s->rows = 0;
	s->before = RegisterSnapshot(GetLatestSnapshot());
	/* our deletions have happened, also those of this command */
	s->before->curcid = InvalidCommandId;
	foreach(cell, state->indexes)
	{
		CuckooOpenIndex index;

		index.rel = index_open(lfirst_oid(cell), NoLock);
		index.heap = table_open(index.rel->rd_index->indrelid, NoLock);
		done = search_table(&index, state, s);
		table_close(index.heap, NoLock);
		index_close(index.rel, NoLock);
		if (!done)
			break;
	}
	UnregisterSnapshot(s->before);
	return done;
}

/* The error does not show a value that the user may not read. */
pg_noreturn static void
not_unique(const Trigger *trigger, const UniqueTrigger *state, Relation table,
		   Search *s)
{
	bool		isnull = false;
	const char *key =
		BuildIndexValueDescription(index_open(state->index, NoLock), &s->value,
								   &isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates trigger \"%s\"",
					trigger->tgname),
			 key == NULL ? 0 :
			 errdetail("Key %s already exists in table \"%s\".", key,
					   get_rel_name(s->other)),
			 errtableconstraint(table, trigger->tgname)));
}

static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_AFTER(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event) ||
		data->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("cf_unique_trigger must be called by a trigger AFTER INSERT OR UPDATE, FOR EACH ROW, with one argument"),
				 errhint("The argument is the name of an index.")));
}

/* cf_unique_trigger(index), a trigger function */
Datum
cf_unique_trigger(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Relation	table;
	TupleTableSlot *slot;
	UniqueTrigger *state;
	Search		s = {0};
	bool		isnull;

	check_call(fcinfo);
	table = data->tg_relation;
	slot = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot :
		data->tg_trigslot;
	s.table = RelationGetRelid(table);
	s.tid = slot->tts_tid;
	do
	{
		state = current_state(fcinfo, data->tg_trigger, table);
		s.value = slot_getattr(slot, state->column, &isnull);
	} while (!isnull && !search(state, &s));
	if (s.rows > 1)
		not_unique(data->tg_trigger, state, table, &s);
	return PointerGetDatum(NULL);
}
