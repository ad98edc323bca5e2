/*-------------------------------------------------------------------------
 *
 * index/trigger.c
 *		The trigger function cf_unique_trigger: a key is in one row of a table,
 *		or of all partitions of a table.
 *
 * README, "Unique Values", has the argument.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(cf_unique_trigger);

/*
 * An index that another session is replacing may look invalid for a moment.
 * After this number of milliseconds it is an error.
 */
#define MOST_TRIES	100

/* The index of a partition. */
typedef struct PartitionIndex
{
	Oid			index;
	Oid			table;
	IndexInfo  *info;			/* as if it had an exclusion constraint */
} PartitionIndex;

/* The state of a trigger, kept for all rows of a statement. */
typedef struct UniqueTrigger
{
	bool		is_set;
	uint64		changes;		/* relation_changes, when it was set */
	MemoryContext context;		/* for the rest */
	List	   *indexes;		/* PartitionIndex, of all partitions */
	IndexInfo  *own;			/* of the table that has the trigger */
	EState	   *estate;
} UniqueTrigger;

/* Counts changes of relations, once the callback is registered. */
static uint64 relation_changes = 0;

static void
note_change(Datum arg, Oid relation)
{
	relation_changes++;
}

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
 * The name of an index on a shard, or NULL if the table does not have the name
 * of a shard.  To the names of a distributed table and of its indexes, Citus
 * appends an underscore and the number of the shard.  If the result has more
 * than 63 bytes, the name is cut and also gets its hash.
 */
static char *
name_on_shard(const char *name, const char *table)
{
	const char *number = strrchr(table, '_');
	int			length = (int) strlen(name);
	uint32		hash = hash_bytes((const unsigned char *) name, length);
	int			room;

	if (number == NULL || number[1] == '\0' ||
		number[1 + strspn(number + 1, "0123456789")] != '\0')
		return NULL;
	room = NAMEDATALEN - 1 - (int) strlen(number);
	if (length <= room)
		return psprintf("%s%s", name, number);
	length = pg_mbcliplen(name, length, room - (int) strlen("_01234567"));
	return psprintf("%.*s_%08x%s", length, name, hash, number);
}

/* The OID of the index of the table that has the name, or InvalidOid. */
static Oid
index_of(Oid table, const char *name)
{
	Oid			index = get_relname_relid(name, get_rel_namespace(table));

	return OidIsValid(index) && IndexGetRelation(index, true) == table ?
		index : InvalidOid;
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
	Oid			index = index_of(table, name);

	if (!OidIsValid(index))
	{
		name = name_on_shard(name, get_rel_name(table));
		index = name == NULL ? InvalidOid : index_of(table, name);
	}
	if (!OidIsValid(index))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no index \"%s\"",
						get_rel_name(table), trigger->tgargs[0]),
				 errdetail("The trigger's argument is the name of an index."),
				 errhint("If the index was renamed, drop the trigger and create it again.")));
	return index;
}

/* Raises error 0A000 if a partition is a foreign table, or 55000 if it has no
 * index. */
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
}

/*
 * Raises error 42809 if the index is of another access method, or 0A000 if it
 * is not an index of columns for all rows.  The trigger would have to evaluate
 * the owner's expression or predicate.
 */
static void
check_kind(Relation rel)
{
	if (rel->rd_indam->ambuild != cuckoo_ambuild)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method \"cuckoo\"",
						RelationGetRelationName(rel))));
	if (RelationGetIndexExpressions(rel) != NIL ||
		RelationGetIndexPredicate(rel) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cf_unique_trigger cannot use index \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("The index has an expression or a predicate."),
				 errhint("Create an index of columns. They may be stored generated columns.")));
}

/* The data of an exclusion constraint: no two rows with equal keys. */
static IndexInfo *
exclusion_info(Relation rel)
{
	IndexInfo  *info = BuildIndexInfo(rel);
	int			n = info->ii_NumIndexKeyAttrs;

	info->ii_ExclusionOps = palloc(n * sizeof(Oid));
	info->ii_ExclusionProcs = palloc(n * sizeof(Oid));
	info->ii_ExclusionStrats = palloc(n * sizeof(uint16));
	for (int i = 0; i < n; i++)
	{
		Oid			operator = cuckoo_equality(rel, i);

		info->ii_ExclusionOps[i] = operator;
		info->ii_ExclusionProcs[i] = get_opcode(operator);
		info->ii_ExclusionStrats[i] = CUCKOO_EQUAL;
	}
	return info;
}

/*
 * Locks an index and its table until the transaction ends.  Returns false if
 * another session has just replaced the index, or is replacing it.
 *
 * While the table is locked, REINDEX CONCURRENTLY lets other sessions insert
 * into the old index, too.
 */
static bool
lock_index(UniqueTrigger *state, Oid oid, Oid table)
{
	Oid			indexed = IndexGetRelation(oid, true);
	Relation	heap = OidIsValid(indexed) ?
		try_relation_open(indexed, AccessShareLock) : NULL;
	Relation	rel = heap == NULL ? NULL :
		try_relation_open(oid, AccessShareLock);
	bool		valid = rel != NULL && rel->rd_index != NULL &&
		rel->rd_index->indrelid == indexed && rel->rd_index->indisvalid;

	if (valid)
	{
		PartitionIndex *partition = palloc(sizeof(PartitionIndex));

		check_kind(rel);
		partition->index = oid;
		partition->table = indexed;
		partition->info = exclusion_info(rel);
		state->indexes = lappend(state->indexes, partition);
		if (indexed == table)
			state->own = partition->info;
	}
	if (rel != NULL)
		relation_close(rel, NoLock);
	if (heap != NULL)
		relation_close(heap, NoLock);
	return valid;
}

/*
 * Sets the state for the table of the trigger.  Returns false if an index was
 * missing or not valid.
 */
static bool
set_state(UniqueTrigger *state, const Trigger *trigger, Relation table)
{
	Oid			top = named_index(table, trigger);
	List	   *all;
	ListCell   *cell;

	if (get_rel_relispartition(top))
		top = llast_oid(get_partition_ancestors(top));
	if (get_rel_relkind(top) == RELKIND_PARTITIONED_INDEX)
		check_partitions(top);
	all = find_all_inheritors(top, NoLock, NULL);
	state->indexes = NIL;
	state->own = NULL;
	state->estate = CreateExecutorState();
	foreach(cell, all)
	{
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_INDEX &&
			!lock_index(state, lfirst_oid(cell), RelationGetRelid(table)))
			return false;
	}
	return state->own != NULL;
}

/*
 * Returns the state.  It is set for the first row of a statement, and again
 * after a change of any relation: README, "Unique Values".
 */
static UniqueTrigger *
current_state(FunctionCallInfo fcinfo, const Trigger *trigger, Relation table)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	UniqueTrigger *state = flinfo->fn_extra;

	if (relation_changes == 0)
	{
		CacheRegisterRelcacheCallback(note_change, (Datum) 0);
		relation_changes = 1;
	}
	if (state == NULL)
	{
		state = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(UniqueTrigger));
		state->context = AllocSetContextCreate(flinfo->fn_mcxt,
											   "cuckoo unique trigger",
											   ALLOCSET_SMALL_SIZES);
		flinfo->fn_extra = state;
	}
	AcceptInvalidationMessages();
	if (likely(state->is_set && state->changes == relation_changes))
		return state;
	state->is_set = false;
	for (int try = 0; !state->is_set; try++)
	{
		MemoryContext caller;

		if (try == MOST_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("an index of trigger \"%s\" is not valid",
							trigger->tgname),
					 errdetail("Building it has failed, or REINDEX CONCURRENTLY is replacing it."),
					 errhint("Try again later, or rebuild the index with REINDEX.")));
		if (try > 0)
			pg_usleep(1000);
		CHECK_FOR_INTERRUPTS();
		AcceptInvalidationMessages();
		state->changes = relation_changes;
		MemoryContextReset(state->context);
		caller = MemoryContextSwitchTo(state->context);
		state->is_set = set_state(state, trigger, table);
		MemoryContextSwitchTo(caller);
	}
	return state;
}

/* ---- the trigger ---- */

static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	const Trigger *trigger;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_AFTER(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event) ||
		data->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("cf_unique_trigger must be called by a trigger AFTER INSERT OR UPDATE, FOR EACH ROW, with one argument"),
				 errhint("The argument is the name of an index.")));
	trigger = data->tg_trigger;
	if (!TRIGGER_FOR_INSERT(trigger->tgtype) ||
		!TRIGGER_FOR_UPDATE(trigger->tgtype) ||
		trigger->tgnattr != 0 || trigger->tgqual != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" does not check each new version of a row",
						trigger->tgname),
				 errdetail("Another session would not find a row that is updated meanwhile."),
				 errhint("Create it AFTER INSERT OR UPDATE, without OF and without WHEN.")));
}

/*
 * Checks the row of the slot in all partitions.  Waits for other transactions
 * that insert or delete a row with the key.  Raises error 23505 if one of the
 * rows is there.
 */
static void
check_row(UniqueTrigger *state, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ItemPointerData nowhere;
	ListCell   *cell;

	FormIndexDatum(state->own, slot, state->estate, values, isnull);
	for (int i = 0; i < state->own->ii_NumIndexKeyAttrs; i++)
	{
		if (isnull[i])
			return;
	}
	ItemPointerSetInvalid(&nowhere);
	foreach(cell, state->indexes)
	{
		const PartitionIndex *partition = lfirst(cell);
		Relation	rel = index_open(partition->index, NoLock);
		Relation	heap = table_open(partition->table, NoLock);

		CHECK_FOR_INTERRUPTS();
		check_exclusion_constraint(heap, rel, partition->info,
								   partition->info == state->own ?
								   &slot->tts_tid : &nowhere,
								   values, isnull, state->estate, false);
		ResetPerTupleExprContext(state->estate);
		table_close(heap, NoLock);
		index_close(rel, NoLock);
	}
}

/* Checks a row.  The error of PostgreSQL's check becomes one of the trigger. */
static void
check_unique(UniqueTrigger *state, const Trigger *trigger, TupleTableSlot *slot)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		check_row(state, slot);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_EXCLUSION_VIOLATION)
		{
			error->sqlerrcode = ERRCODE_UNIQUE_VIOLATION;
			error->message =
				psprintf("duplicate key value violates trigger \"%s\"",
						 trigger->tgname);
			error->constraint_name = pstrdup(trigger->tgname);
		}
		ReThrowError(error);
	}
	PG_END_TRY();
}

/* cf_unique_trigger(index), a trigger function */
Datum
cf_unique_trigger(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	HeapTuple	row;
	UniqueTrigger *state;
	TupleTableSlot *slot;

	check_call(fcinfo);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple :
		data->tg_trigtuple;
	/* it has no entry of its own: the trigger of its first version checks it */
	if (HeapTupleIsHeapOnly(row))
		return PointerGetDatum(NULL);
	state = current_state(fcinfo, data->tg_trigger, data->tg_relation);
	slot = table_slot_create(data->tg_relation, NULL);
	/* a later version with an entry of its own has a trigger of its own */
	if (cuckoo_fetch_row(data->tg_relation, row->t_self, SnapshotSelf, slot))
		check_unique(state, data->tg_trigger, slot);
	ExecDropSingleTupleTableSlot(slot);
	return PointerGetDatum(NULL);
}
