/*-------------------------------------------------------------------------
 *
 * index/open.c
 *		Opens an index for a function: checks privileges and usability.
 *
 * "No" means: no row visible to the query has the value.  If the index cannot
 * decide that, the function raises an error.  If it returned "maybe", a caller
 * that drops duplicates would drop every row.
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
#include "catalog/pg_index.h"
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

/* True if the privileges on a table let the user read all its rows. */
static bool
may_read_by(Oid granting)
{
	return pg_class_aclcheck(granting, GetUserId(), ACL_SELECT) ==
		ACLCHECK_OK && !row_security_applies(granting);
}

/*
 * True if the user may read all rows of the table.  Privileges on a
 * partitioned table count for its partitions.
 */
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

/* ---- usability ---- */

static bool
is_valid(Relation rel)
{
	return rel->rd_index->indisvalid && rel->rd_index->indisready &&
		!ReindexIsProcessingIndex(RelationGetRelid(rel));
}

/*
 * Reads pg_index.  The relcache entry may be older: REINDEX CONCURRENTLY makes
 * an index valid a moment before it sends the invalidation.
 */
static bool
is_valid_in_catalog(Oid index)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;
	bool		result;

	ScanKeyInit(&key, Anum_pg_index_indexrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(index));
	scan = systable_beginscan(catalog, IndexRelidIndexId, true, NULL, 1, &key);
	row = systable_getnext(scan);
	result = HeapTupleIsValid(row) &&
		((Form_pg_index) GETSTRUCT(row))->indisvalid;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

void
cuckoo_index_not_valid(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" is not valid", RelationGetRelationName(rel)),
			 errdetail("It is being built, building it has failed, or REINDEX CONCURRENTLY has replaced it."),
			 errhint("Try again later, or rebuild it with REINDEX.")));
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

/* False on a standby for temporary and unlogged indexes. */
static bool
is_on_server(Relation rel)
{
	return rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT ||
		!RecoveryInProgress();
}

/*
 * True on a standby if the transaction that built the index is not visible to
 * the snapshot.  The build left out rows that were dead for all snapshots of
 * the primary, but a snapshot of the standby may be older.  REINDEX writes the
 * index's row in pg_class, and REINDEX CONCURRENTLY the row in pg_index.
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

/*
 * The flag in block 0 and the family, tag and layout of the type decide:
 *
 *	flag as cached	type now		result
 *	set				any				stale
 *	clear			differs			stale
 *	clear			same, "other"	the flag in block 0: rows may have been
 *									inserted while the type was different
 *	clear			same			not stale
 *
 * index->fresh_at avoids a lookup of the type in each call.  It is not 0 if the
 * type was the same once.  If the family is not "other", the type is then the
 * same as long as the relcache entry lives.  In the family "other", it is the
 * same as long as fresh_at equals cuckoo_type_changes().  Row types are looked
 * up each time: a relcache entry may be older than the count.
 */
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
		return false;
	if (fresh_at != 0 && fresh_at == cuckoo_type_changes() && meta.layout == 0)
		return cuckoo_index_was_set_stale(rel);
	if (!cuckoo_hashable(TupleDescAttr(RelationGetDescr(rel), 0)->atttypid,
						 rel->rd_indcollation[0]))
		return true;
	cuckoo_index_hasher(&hasher, rel, CurrentMemoryContext);
	/* even the family may differ: some ALTER TABLE ... TYPE keep the file */
	if (cuckoo_meta_is_stale(&meta, &hasher))
		return true;
	((CuckooIndex *) cuckoo_index_open(rel))->fresh_at = hasher.changes;
	return meta.tag != 0 && cuckoo_index_was_set_stale(rel);
}

/* ---- Citus ---- */

/* Counts invalidations of any table, once the callback is registered. */
static uint64 table_changes = 0;

static void
note_table_change(Datum arg, Oid table)
{
	table_changes++;
}

/* True if Citus's catalog exists and has a row for the table. */
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
 * True if Citus stores the rows of the table in other tables, its shards.
 * When Citus distributes a table, it invalidates the relcache entry of the
 * table, but not of the index.  So look again after an invalidation of any
 * table.
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
				 errdetail("Citus keeps the rows of table \"%s\" in shards, and each shard has an index.",
						   RelationGetRelationName(index->heap)),
				 errhint("Call the function for the index of each shard with run_command_on_shards().")));
}

/* ---- opening ---- */

/*
 * Opens an index and its table.  Returns false if it is not an index of this
 * access method, for example because it was dropped.
 */
static bool
open_index(Oid oid, CuckooOpenIndex *index)
{
	Oid			table = IndexGetRelation(oid, true);

	index->heap = index->rel = NULL;
	/* lock the table first, as other code does */
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

pg_noreturn static void
not_our_index(Oid oid)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not an index of access method \"cuckoo\"",
					get_rel_name(oid) != NULL ? get_rel_name(oid)
					: psprintf("%u", oid)),
			 get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX ?
			 errhint("It is the index of a partitioned table. Query the indexes of its partitions, which pg_partition_tree() lists.") :
			 get_rel_name(oid) == NULL ?
			 errhint("REINDEX CONCURRENTLY replaces an index by another one. A view that names an index should write 'name'::text::regclass.") : 0));
}

CuckooOpenIndex
cuckoo_open_for_inspection(Oid oid)
{
	CuckooOpenIndex index;

	if (!open_index(oid, &index))
		not_our_index(oid);
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

/*
 * Raises error 0A000 or 55000 if the table is distributed or the index is
 * stale.
 */
static void
check_content(const CuckooOpenIndex *index)
{
	cuckoo_check_local(index);
	if (cuckoo_index_is_stale(index->rel))
		cuckoo_index_stale_error(index->rel);
}

bool
cuckoo_open_for_trigger(Oid oid, bool missing_ok, CuckooOpenIndex *index)
{
	if (!open_index(oid, index))
	{
		if (!missing_ok)
			not_our_index(oid);
		return false;
	}
	if (!is_valid(index->rel) && !is_valid_in_catalog(oid))
	{
		if (!missing_ok)
			cuckoo_index_not_valid(index->rel);
		cuckoo_close(index);
		return false;
	}
	check_content(index);
	return true;
}

CuckooOpenIndex
cuckoo_open_for_reading(Oid oid)
{
	CuckooOpenIndex index = cuckoo_open_for_inspection(oid);
	const char *name = RelationGetRelationName(index.rel);

	if (!is_valid(index.rel))
		cuckoo_index_not_valid(index.rel);
	check_content(&index);
	if (cuckoo_index_is_too_new(index.rel, GetActiveSnapshot()))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" cannot be used in this transaction", name),
				 errdetail("It was built after the transaction's snapshot, without rows that the snapshot may see."),
				 errhint("Try again in another transaction.")));
	/* before any page is read: see the end of cuckoo_insert_tuple() */
	PredicateLockRelation(index.rel, GetActiveSnapshot());
	pgstat_count_index_scan(index.rel);
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
