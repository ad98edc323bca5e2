/*-------------------------------------------------------------------------
 *
 * index/open.c
 *		Opens an index for lookups of a function: checks privileges and whether
 *		the index is usable.
 *
 * "No" means that an exact index would find no row that the query could see.  A
 * function raises an error if the index cannot know that (it is not valid yet,
 * stale, or too new for the snapshot).  It does not return "maybe", because a
 * caller that drops duplicates would then drop all rows.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* True if a relation is an index of this access method. */
static bool
is_index(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_INDEX &&
		rel->rd_indam->ambuild == cuckoo_build_index;
}

/* ---- privileges ---- */

static bool
row_security_applies(Oid table)
{
	return check_enable_rls(table, InvalidOid, true) == RLS_ENABLED;
}

/* True if the rights on a table let the user read all rows of it. */
static bool
may_read_by(Oid granting)
{
	return pg_class_aclcheck(granting, GetUserId(), ACL_SELECT) ==
		ACLCHECK_OK && !row_security_applies(granting);
}

/* Rights on a partitioned table are rights on its partitions. */
static bool
may_read(Relation heap)
{
	List	   *ancestors = heap->rd_rel->relispartition ?
		get_partition_ancestors(RelationGetRelid(heap)) : NIL;
	ListCell   *cell;

	if (may_read_by(RelationGetRelid(heap)))
		return true;
	foreach(cell, ancestors)
	{
		if (may_read_by(lfirst_oid(cell)))
			return true;
	}
	return false;
}

/* ---- whether it is usable ---- */

static bool
is_valid(Relation rel)
{
	return rel->rd_index->indisvalid && rel->rd_index->indisready &&
		!ReindexIsProcessingIndex(RelationGetRelid(rel));
}

void
cuckoo_index_not_valid(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" is not valid", RelationGetRelationName(rel)),
			 errdetail("It is being built, or building it has failed."),
			 errhint("Wait until it is built, or rebuild it with REINDEX.")));
}

void
cuckoo_index_stale_error(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" is stale", RelationGetRelationName(rel)),
			 errdetail("The hash of its element type has changed since it was built."),
			 errhint("Rebuild it with REINDEX.")));
}

/* False on a standby for what is not replicated. */
static bool
is_on_server(Relation rel)
{
	return rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT ||
		!RecoveryInProgress();
}

/*
 * True on a standby if the index was built by a transaction that the snapshot
 * does not see.  The build left out rows that nobody on the primary could see
 * any more, but the primary need not know the snapshots of a standby.  REINDEX
 * writes the index's row in pg_class, and CONCURRENTLY that in pg_index.
 */
static bool
is_newer_than(Relation rel, Snapshot snapshot)
{
	HeapTuple	class;
	bool		result;

	if (!snapshot->takenDuringRecovery)
		return false;
	class = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));
	if (!HeapTupleIsValid(class))
		return true;
	result = XidInMVCCSnapshot(HeapTupleHeaderGetXmin(class->t_data),
							   snapshot) ||
		XidInMVCCSnapshot(HeapTupleHeaderGetXmin(rel->rd_indextuple->t_data),
						  snapshot);
	ReleaseSysCache(class);
	return result;
}

bool
cuckoo_index_is_too_new(Relation rel, Snapshot snapshot)
{
	HeapTupleHeader tuple = rel->rd_indextuple->t_data;

	if (rel->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(tuple), TransactionXmin))
		return true;
	return is_newer_than(rel, snapshot);
}

bool
cuckoo_index_is_stale(Relation rel)
{
	CuckooMeta	meta = cuckoo_index_open(rel)->meta;
	CuckooHasher hasher = {0};
	uint64		fresh_at;

	if (meta.flags & CUCKOO_META_STALE)
		return true;
	fresh_at = cuckoo_index_open(rel)->fresh_at;
	if (meta.tag == 0 && fresh_at != 0)
		/* the family determines the hash while the relcache entry lives */
		return false;
	if (fresh_at != 0 && fresh_at == cuckoo_type_changes())
		return cuckoo_index_was_set_stale(rel);
	if (!cuckoo_hashable(TupleDescAttr(RelationGetDescr(rel), 0)->atttypid,
						 rel->rd_indcollation[0]))
		return true;
	cuckoo_index_hasher(&hasher, rel, CurrentMemoryContext);
	/* also of another family: for some types ALTER TABLE keeps the file */
	if (cuckoo_meta_is_stale(&meta, &hasher))
		return true;
	((CuckooIndex *) cuckoo_index_open(rel))->fresh_at = hasher.changes;
	/* it may be the old one again, after rows came with another hash */
	return meta.tag != 0 && cuckoo_index_was_set_stale(rel);
}

/* ---- Citus ---- */

/* Counts changes of any table, once someone has asked. */
static uint64 table_changes = 0;

static void
note_table_change(Datum arg, Oid table)
{
	table_changes++;
}

/* True if Citus's catalog, if there is one, has a row for the table. */
static bool
is_in_catalog_of_citus(Oid table)
{
	Oid			catalog = get_relname_relid("pg_dist_partition",
											PG_CATALOG_NAMESPACE);
	Oid			by_table =
		get_relname_relid("pg_dist_partition_logical_relid_index",
						  PG_CATALOG_NAMESPACE);
	AttrNumber	column;
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	if (!OidIsValid(catalog))
		return false;
	column = get_attnum(catalog, "logicalrelid");
	if (get_atttype(catalog, column) != REGCLASSOID)
		return false;
	rel = table_open(catalog, AccessShareLock);
	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(rel, by_table, OidIsValid(by_table), NULL, 1,
							  &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * True if Citus keeps the rows of the table in shards, which are other tables.
 * It says so in an invalidation of the table's relcache entry, but not of the
 * index's, so a change of any table has us look again.
 */
static bool
is_distributed(const CuckooOpenIndex *index)
{
	uint64		changes = table_changes;

	if (likely(changes > 0 &&
			   cuckoo_index_open(index->rel)->local_at == changes))
		return false;
	if (changes == 0)
	{
		CacheRegisterRelcacheCallback(note_table_change, (Datum) 0);
		changes = table_changes = 1;
	}
	if (is_in_catalog_of_citus(RelationGetRelid(index->heap)))
		return true;
	((CuckooIndex *) cuckoo_index_open(index->rel))->local_at = changes;
	return false;
}

void
cuckoo_check_local(const CuckooOpenIndex *index)
{
	if (is_distributed(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read index \"%s\" of a distributed table",
						RelationGetRelationName(index->rel)),
				 errdetail("Citus keeps the rows of table \"%s\" in shards, which have indexes of their own.",
						   RelationGetRelationName(index->heap)),
				 errhint("Call the function for the index of each shard with run_command_on_shards().")));
}

/* ---- opening ---- */

/*
 * Locks the index for serializable transactions, before anything of it is read
 * (see the end of cuckoo_insert_tuple() in handler.c), and counts the use.
 */
static void
note_use(Relation rel)
{
	PredicateLockRelation(rel, GetActiveSnapshot());
	pgstat_count_index_scan(rel);
}

/* Opens them; false if there is no such index of this access method. */
static bool
open_index(Oid oid, CuckooOpenIndex *index)
{
	Oid			table = IndexGetRelation(oid, true);

	index->heap = index->rel = NULL;
	/* the table first, as everywhere */
	if (OidIsValid(table))
		index->heap = try_relation_open(table, AccessShareLock);
	if (index->heap != NULL)
		index->rel = try_relation_open(oid, AccessShareLock);
	if (index->rel != NULL && is_index(index->rel) &&
		IndexGetRelation(oid, true) == table)
		return true;
	cuckoo_close(index);
	return false;
}

CuckooOpenIndex
cuckoo_open_for_inspection(Oid oid)
{
	CuckooOpenIndex index;

	if (!open_index(oid, &index))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method \"cuckoo\"",
						get_rel_name(oid) != NULL ? get_rel_name(oid)
						: psprintf("%u", oid)),
				 get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX ?
				 errhint("It is the index of a partitioned table. Query the indexes of its partitions, which pg_partition_tree() lists.") :
				 get_rel_name(oid) == NULL ?
				 errhint("REINDEX CONCURRENTLY replaces an index by another one. A view that names an index should write 'name'::text::regclass.") : 0));
	if (!may_read(index.heap))
	{
		if (row_security_applies(RelationGetRelid(index.heap)))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("cannot read index \"%s\"",
							RelationGetRelationName(index.rel)),
					 errdetail("Row security applies to its table, and the index covers rows that the user may not see.")));
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(index.heap->rd_rel->relkind),
					   RelationGetRelationName(index.heap));
	}
	if (RELATION_IS_OTHER_TEMP(index.rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read the temporary index \"%s\" of another session",
						RelationGetRelationName(index.rel))));
	if (!is_on_server(index.rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read the unlogged index \"%s\" during recovery",
						RelationGetRelationName(index.rel))));
	return index;
}

CuckooOpenIndex
cuckoo_open_for_reading(Oid oid)
{
	CuckooOpenIndex index = cuckoo_open_for_inspection(oid);
	const char *name = RelationGetRelationName(index.rel);

	if (!is_valid(index.rel))
		cuckoo_index_not_valid(index.rel);
	cuckoo_check_local(&index);
	if (cuckoo_index_is_too_new(index.rel, GetActiveSnapshot()))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" cannot be used in this transaction", name),
				 errdetail("It was built after the transaction's snapshot, without rows that the snapshot may see."),
				 errhint("Try again in another transaction.")));
	if (cuckoo_index_is_stale(index.rel))
		cuckoo_index_stale_error(index.rel);
	note_use(index.rel);
	return index;
}

void
cuckoo_close(CuckooOpenIndex *index)
{
	if (index->rel != NULL)
		relation_close(index->rel, AccessShareLock);
	if (index->heap != NULL)
		relation_close(index->heap, AccessShareLock);
}
