/*-------------------------------------------------------------------------
 *
 * index/inspect.c
 *		cf_index_info and cf_index_check.
 *
 * The check sorts by TID the entries of the index, together with the rows of
 * the table that a snapshot sees.  Both directions are proved: a visible row
 * has one entry with its hash, and an entry is a row with this hash, or a
 * version that the snapshot does not see.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"
#include "result.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_index_info);
PG_FUNCTION_INFO_V1(cf_index_check);

/* ---- opening ---- */

/*
 * True if the rows of a table are in shards of Citus, which lists such tables
 * in a catalog.
 */
static bool
is_distributed(Oid table)
{
	Oid			oid = get_relname_relid("pg_dist_partition",
										PG_CATALOG_NAMESPACE);
	Relation	catalog = OidIsValid(oid) ?
		try_relation_open(oid, AccessShareLock) : NULL;
	ScanKeyData key;
	SysScanDesc scan;
	bool		result;

	if (catalog == NULL)
		return false;
	ScanKeyInit(&key, get_attnum(oid, "logicalrelid"), BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	relation_close(catalog, AccessShareLock);
	return result;
}

/*
 * Opens an index and its table, and locks the table in a mode, or not with
 * NoLock.
 *
 *	42809	not an index of this access method, or of a distributed table
 *	0A000	temporary in another session, or unlogged on a standby
 *	55000	it is being built, or building it has failed
 */
static Relation
open_index(Oid oid, LOCKMODE mode, Relation *heap)
{
	Oid			table = IndexGetRelation(oid, true);
	Relation	rel = NULL;

	/* lock the table first, as other code does */
	*heap = OidIsValid(table) ? try_relation_open(table, mode) : NULL;
	if (*heap != NULL)
		rel = try_relation_open(oid, AccessShareLock);
	if (rel == NULL || rel->rd_rel->relkind != RELKIND_INDEX ||
		rel->rd_indam->ambuild != cuckoo_ambuild)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method \"cuckoo\"",
						get_rel_name(oid) != NULL ? get_rel_name(oid)
						: psprintf("%u", oid)),
				 get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX ?
				 errhint("It is the index of a partitioned table. Query the indexes of its partitions, which pg_partition_tree() lists.") : 0));
	if (is_distributed(table))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is the index of a distributed table",
						RelationGetRelationName(rel)),
				 errdetail("Citus stores the rows of table \"%s\" in shards, which have their own indexes.",
						   RelationGetRelationName(*heap)),
				 errhint("Call the function on each shard, by run_command_on_shards().")));
	if (RELATION_IS_OTHER_TEMP(rel) ||
		(rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		 RecoveryInProgress()))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read index \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("It is temporary in another session, or unlogged on a standby.")));
	if (!rel->rd_index->indisready || !rel->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(rel)),
				 errdetail("It is being built, or building it has failed."),
				 errhint("Try again later, or rebuild it with REINDEX.")));
	return rel;
}

/* ---- the list of entries and rows, for cf_index_check ---- */

typedef struct Inspection
{
	Relation	heap;
	Relation	rel;
	int64		of_kind[CUCKOO_PAGE_FREE + 1];	/* pages; [0]: those of zeros */
	int64		slots;			/* occupied */
	int64		rows;
	double		in_vain;		/* rows that an absent lookup reads */
	MemoryContext context;		/* of hashing */
	Tuplesortstate *sort;		/* the items; NULL for cf_index_info */
	CuckooEntry entries[CUCKOO_PAGE_SLOTS]; /* of one page */
} Inspection;

/*
 * An entry or a row: what is known about its hash is the number of its page,
 * and the low bits of the ext bits.
 */
typedef struct CheckItem
{
	BlockNumber block;
	OffsetNumber offset;
	bool		is_row;
	int			bits;			/* number of known bits, up to 40 */
	uint64		ext;
	uint32		number;
} CheckItem;

/* Items are sorted as uuids, by 16 bytes: in the order of TIDs. */
static void
sort_item(Inspection *check, BlockNumber block, OffsetNumber offset,
		  bool is_row, int bits, uint64 ext, uint32 number)
{
	uint64		words[2];

	if (check->sort == NULL)
		return;
	words[0] = pg_hton64((uint64) block << 32 | (uint64) offset << 16 |
						 (uint64) is_row << 15 | (uint64) bits << 8 |
						 (ext >> 32 & 0xff));
	words[1] = pg_hton64(ext << 32 | number);
	tuplesort_putdatum(check->sort, PointerGetDatum(words), false);
}

static CheckItem
datum_to_item(Datum datum)
{
	uint64		words[2];
	uint64		first;
	CheckItem	item;

	memcpy(words, DatumGetPointer(datum), sizeof(words));
	first = pg_ntoh64(words[0]);
	words[1] = pg_ntoh64(words[1]);
	item.block = (BlockNumber) (first >> 32);
	item.offset = (OffsetNumber) (first >> 16);
	item.is_row = (first >> 15 & 1) != 0;
	item.bits = (int) (first >> 8 & 0x7f);
	item.ext = (first & 0xff) << 32 | words[1] >> 32;
	item.number = (uint32) words[1];
	return item;
}

/* ---- reading entries ---- */

/*
 * Sorts the rows of an entry, which are several if it links to a chain, and
 * returns their number.  `link` is its page, or 0 if VACUUM may free the chain.
 */
static int64
inspect_entry(Inspection *check, const CuckooPageHeader *header,
			  const CuckooEntry *entry, BlockNumber link)
{
	const CuckooEntryEncoding *encoding = &header->entries.encoding;
	uint64		ext = entry->tag << encoding->level | header->entries.segment;
	int			bits = encoding->level + cuckoo_tag_bits(encoding);
	CuckooChainPosition position = cuckoo_chain_begin(entry->block);
	ItemPointerData rows[CUCKOO_CHAIN_ROWS];
	int64		sum = 0;
	int			n;

	position.link = link;
	/* a damaged page may claim more */
	bits = Min(bits, CUCKOO_SLOT_BITS);
	if (entry->offset != 0)
	{
		sort_item(check, entry->block, entry->offset, false, bits, ext,
				  header->entries.number);
		return 1;
	}
	while ((n = cuckoo_chain_next(check->rel, &position, rows)) > 0)
	{
		for (int i = 0; i < n; i++)
			sort_item(check, ItemPointerGetBlockNumber(&rows[i]),
					  ItemPointerGetOffsetNumber(&rows[i]), false, bits, ext,
					  header->entries.number);
		sum += n;
	}
	return sum;
}

/* The share of all hashes that belongs to a number. */
static double
share_of_number(uint32 base_pages, uint32 number)
{
	return base_pages == CUCKOO_FEWEST_PAGES ?
		log2(1 + (number + 1.0) / base_pages) -
		log2(1 + (double) number / base_pages) : 1.0 / base_pages;
}

static void
inspect_page(Inspection *check, BlockNumber block,
			 BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(check->rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buffer);
	CuckooPageHeader header = {.kind = 0};
	int64		rows = 0;
	int			n = 0;

	/*
	 * Beside cf_index_check, VACUUM frees no chain.  On a standby, the lock
	 * of the page keeps the replay of VACUUM from freeing its chains.
	 */
	bool		keep_locked = RecoveryInProgress();
	BlockNumber link = keep_locked || check->sort != NULL ? block : 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page))
	{
		header = *cuckoo_page_header(page);
		if (header.kind < CUCKOO_PAGE_META || header.kind > CUCKOO_PAGE_FREE)
			header.kind = CUCKOO_PAGE_ENTRIES;	/* raises the error */
		cuckoo_check_page(check->rel, buffer, header.kind);
	}
	check->of_kind[header.kind]++;
	if (header.kind == CUCKOO_PAGE_ENTRIES)
		n = cuckoo_list_entries(cuckoo_page_slots(page),
								&header.entries.encoding, check->entries);
	if (n < 0)
		cuckoo_impossible_entry(check->rel, buffer);
	if (!keep_locked)
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (int i = 0; i < n; i++)
		rows += inspect_entry(check, &header, &check->entries[i], link);
	if (keep_locked)
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	if (header.kind != CUCKOO_PAGE_ENTRIES)
		return;
	check->slots += n;
	check->rows += rows;
	/* a tag of t bits is met by one of 2^t absent values of the page */
	check->in_vain += share_of_number(cuckoo_hashing(check->rel).base_pages,
									  header.entries.number) *
		ldexp((double) rows, -header.entries.encoding.level -
			  cuckoo_tag_bits(&header.entries.encoding));
}

/*
 * Reads all pages in physical order, as VACUUM does, so that no entry is
 * missed.
 */
static void
inspect_pages(Inspection *check)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (BlockNumber block = 0;
		 block < RelationGetNumberOfBlocks(check->rel); block++)
	{
		CHECK_FOR_INTERRUPTS();
		inspect_page(check, block, strategy);
	}
	FreeAccessStrategy(strategy);
}

/* ---- cf_index_info ---- */

/* cf_index_info(index) */
Datum
cf_index_info(PG_FUNCTION_ARGS)
{
	Inspection *info = palloc0(sizeof(Inspection));
	int64		bytes;
	int64		slots;
	TupleDesc	desc;
	Datum		values[8];
	bool		nulls[lengthof(values)] = {false};
	int			n = 0;

	info->rel = open_index(PG_GETARG_OID(0), AccessShareLock, &info->heap);
	if (pg_class_aclcheck(RelationGetRelid(info->heap), GetUserId(),
						  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(info->heap->rd_rel->relkind),
					   RelationGetRelationName(info->heap));
	desc = cuckoo_result_tupdesc(fcinfo, lengthof(values));
	inspect_pages(info);
	bytes = (int64) RelationGetNumberOfBlocks(info->rel) * BLCKSZ;
	slots = info->of_kind[CUCKOO_PAGE_ENTRIES] * CUCKOO_PAGE_SLOTS;

	values[n++] = Int64GetDatum(info->rows);
	values[n++] = Int64GetDatum(info->of_kind[CUCKOO_PAGE_ENTRIES]);
	values[n++] = Int64GetDatum(info->of_kind[CUCKOO_PAGE_CHAIN]);
	values[n++] = Int64GetDatum(info->of_kind[CUCKOO_PAGE_FREE] +
								info->of_kind[0]);
	values[n++] = Int64GetDatum(bytes);
	nulls[n] = info->rows == 0;
	values[n++] = Float8GetDatum((double) bytes / (double) Max(info->rows, 1));
	values[n++] = Float8GetDatum((double) info->slots / (double) slots);
	/* or the hashes are equal, as far as the index uses them */
	info->in_vain += ldexp((double) info->rows,
						   -cuckoo_hashing(info->rel).hash_bits);
	values[n++] = Float8GetDatum(info->in_vain);
	Assert(n == lengthof(values));
	relation_close(info->rel, AccessShareLock);
	relation_close(info->heap, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

/* ---- cf_index_check: rows of the table ---- */

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_check_tuple(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
				   bool alive, void *state)
{
	Inspection *check = state;
	CuckooHashing hashing = cuckoo_hashing(rel);
	uint64		hash;

	if (cuckoo_has_null(rel, isnull))
		return;
	hash = cuckoo_hash_row(rel, check->context, hashing.seed,
						   hashing.hash_bits, NULL, values);
	sort_item(check, ItemPointerGetBlockNumber(tid),
			  ItemPointerGetOffsetNumber(tid), true, CUCKOO_SLOT_BITS,
			  cuckoo_ext(hash),
			  cuckoo_page_number(hashing.base_pages, hash));
}

/*
 * Adds the visible rows, as the owner of the table: expressions and predicates
 * are the owner's code, and even BuildIndexInfo() evaluates constants in them.
 */
static void
sort_rows(Inspection *check, Snapshot snapshot)
{
	Oid			user;
	int			context;
	int			nest = NewGUCNestLevel();
	TableScanDesc scan;
	IndexInfo  *info;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(check->heap->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	CUCKOO_RESTRICT_SEARCH_PATH();
	scan = table_beginscan_strat(check->heap, snapshot, 0, NULL, true, true);
	info = BuildIndexInfo(check->rel);
	/* the scan has an MVCC snapshot, as that of CREATE INDEX CONCURRENTLY */
	info->ii_Concurrent = true;
	table_index_build_scan(check->heap, check->rel, info, true, false,
						   cuckoo_check_tuple, check, scan);
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(user, context);
}

/* ---- cf_index_check: comparing them ---- */

pg_noreturn static void
wrong_entry(const Inspection *check, const CheckItem *row, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("heap tuple (%u,%u) from table \"%s\" lacks matching entry in index \"%s\"",
					row->block, row->offset,
					RelationGetRelationName(check->heap),
					RelationGetRelationName(check->rel)),
			 errdetail("The index has %s.", what),
			 errhint("Rebuild it with REINDEX, and report this.")));
}

/*
 * Raises error XX002 if an entry points to no row at all.  The row may be one
 * that the snapshot does not see, or that VACUUM has not removed yet.
 */
static void
check_unseen(const Inspection *check, BlockNumber block, OffsetNumber offset)
{
	bool		used = false;

	/* VACUUM on the primary may have removed it meanwhile */
	if (RecoveryInProgress())
		return;
	if (block < RelationGetNumberOfBlocks(check->heap))
	{
		Buffer		buffer = ReadBuffer(check->heap, block);
		Page		page = BufferGetPage(buffer);

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		used = !PageIsNew(page) && offset <= PageGetMaxOffsetNumber(page) &&
			ItemIdIsUsed(PageGetItemId(page, offset));
		UnlockReleaseBuffer(buffer);
	}
	if (!used)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has an entry for heap tuple (%u,%u), which table \"%s\" does not have",
						RelationGetRelationName(check->rel), block, offset,
						RelationGetRelationName(check->heap)),
				 errhint("Rebuild it with REINDEX, and report this.")));
}

/* True if two items may have one hash. */
static bool
is_same_hash(const CheckItem *a, const CheckItem *b)
{
	return a->number == b->number &&
		((a->ext ^ b->ext) & cuckoo_bit_mask(Min(a->bits, b->bits))) == 0;
}

/*
 * Compares the sorted items.  Those of one TID come together: first the
 * entries, then the row, if there is one.  A page that was split while the
 * index was read may have shown an entry twice, in the page and in its child.
 * Returns the number of entries.
 */
static int64
compare_items(const Inspection *check)
{
	CheckItem	last = {0};
	int			entries = 0;	/* of the TID of the last item */
	int64		checked = 0;
	Datum		datum;
	bool		isnull;

	while (CUCKOO_GET_DATUM(check->sort, &datum, &isnull))
	{
		CheckItem	item = datum_to_item(datum);

		CHECK_FOR_INTERRUPTS();
		CUCKOO_FREE_DATUM(datum);
		if (item.block != last.block || item.offset != last.offset)
		{
			if (entries > 0 && !last.is_row)
				check_unseen(check, last.block, last.offset);
			entries = 0;
		}
		if (!item.is_row)
		{
			if (entries == 0 || !is_same_hash(&last, &item))
			{
				checked++;
				entries++;
			}
		}
		else if (entries == 0)
			wrong_entry(check, &item, "no entry for it");
		else if (entries > 1)
			wrong_entry(check, &item, "several entries for it");
		else if (!is_same_hash(&last, &item))
			wrong_entry(check, &item, "an entry for it with another hash");
		last = item;
	}
	if (entries > 0 && !last.is_row)
		check_unseen(check, last.block, last.offset);
	return checked;
}

/* cf_index_check(index) */
Datum
cf_index_check(PG_FUNCTION_ARGS)
{
	Oid			table = IndexGetRelation(PG_GETARG_OID(0), true);
	Inspection *check = palloc0(sizeof(Inspection));
	Snapshot	snapshot;
	int64		checked;
	TypeCacheEntry *uuid;

	/* keeps VACUUM away */
	LOCKMODE	lock = RecoveryInProgress() ? AccessShareLock :
		ShareUpdateExclusiveLock;

	if (OidIsValid(table) && !CUCKOO_OWNS_RELATION(table, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(table)),
					   get_rel_name(table));
	/* to wait with a snapshot: a deadlock with CREATE INDEX CONCURRENTLY */
	if (OidIsValid(table) && !ConditionalLockRelationOid(table, lock))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock table \"%s\" for cf_index_check",
						get_rel_name(table)),
				 errdetail("VACUUM, CREATE INDEX or another command holds a lock."),
				 errhint("Try again later.")));
	check->rel = open_index(PG_GETARG_OID(0), NoLock, &check->heap);
	check->context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo check",
										   ALLOCSET_SMALL_SIZES);
	uuid = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);
	check->sort = tuplesort_begin_datum(UUIDOID, uuid->lt_opr, InvalidOid,
										false, maintenance_work_mem, NULL,
										TUPLESORT_NONE);
	/* first the snapshot: the rows that it sees have entries already */
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	inspect_pages(check);
	sort_rows(check, snapshot);
	tuplesort_performsort(check->sort);
	checked = compare_items(check);
	UnregisterSnapshot(snapshot);
	tuplesort_end(check->sort);
	MemoryContextDelete(check->context);
	relation_close(check->rel, AccessShareLock);
	relation_close(check->heap, lock);
	PG_RETURN_INT64(checked);
}
