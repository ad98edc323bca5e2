/*-------------------------------------------------------------------------
 *
 * cuckoo_pages.c
 *		The pages of an index: their entries, and damage of them in memory.
 *
 *	test_page(index, block)
 *		The bytes of a page.
 *
 *	test_entry(bytes, slot)
 *		What a slot of a page of entries has: its tag, and the row or the chain.
 *		Or the row in a place of a page of a chain.  NULL for none.
 *
 *	test_set_page(index, block, bytes)
 *		Replaces a page, without WAL, and forgets what the session has cached of
 *		the index.
 *
 *	test_vacuum(index)
 *		Removes the entries of rows with an odd offset, as if these were dead.
 *		Looks at all pages twice, as VACUUM does if it cannot remember all dead
 *		rows.  Returns what VACUUM then reports: entries, free pages, pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "fmgr.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "index/index.h"

PG_FUNCTION_INFO_V1(test_page);
PG_FUNCTION_INFO_V1(test_entry);
PG_FUNCTION_INFO_V1(test_set_page);
PG_FUNCTION_INFO_V1(test_vacuum);

/* test_page(index regclass, block bigint) */
Datum
test_page(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	bytea	   *bytes = palloc(VARHDRSZ + BLCKSZ);

	SET_VARSIZE(bytes, VARHDRSZ + BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(VARDATA(bytes), BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	relation_close(rel, AccessShareLock);
	PG_RETURN_BYTEA_P(bytes);
}

/* test_entry(bytes bytea, slot integer) */
Datum
test_entry(PG_FUNCTION_ARGS)
{
	const bytea *bytes = PG_GETARG_BYTEA_PP(0);
	uint32		at = (uint32) PG_GETARG_INT32(1);
	Page		page = palloc(BLCKSZ);
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooEntry entry;
	uint64		slot = 0;
	const char *what;

	if (VARSIZE_ANY_EXHDR(bytes) != BLCKSZ)
		elog(ERROR, "a page has %d bytes", BLCKSZ);
	memcpy(page, VARDATA_ANY(bytes), BLCKSZ);
	if (header->kind == CUCKOO_PAGE_CHAIN &&
		at < (uint32) cuckoo_count_rows(page))
	{
		const ItemPointerData *row = &cuckoo_page_rows(page)[at];

		PG_RETURN_TEXT_P(cstring_to_text(psprintf("(%u,%u)",
												  ItemPointerGetBlockNumberNoCheck(row),
												  ItemPointerGetOffsetNumberNoCheck(row))));
	}
	if (header->kind == CUCKOO_PAGE_ENTRIES && at < CUCKOO_PAGE_SLOTS)
		slot = cuckoo_slot(cuckoo_page_slots(page), at);
	if (slot == 0)
		PG_RETURN_NULL();
	if (!cuckoo_decode(&header->entries.encoding, slot,
					   at / CUCKOO_BUCKET_SLOTS, &entry))
		what = "impossible";
	else if (entry.offset == 0)
		what = psprintf("%llx chain %u", (unsigned long long) entry.tag,
						entry.block);
	else
		what = psprintf("%llx (%u,%u)", (unsigned long long) entry.tag,
						entry.block, entry.offset);
	PG_RETURN_TEXT_P(cstring_to_text(what));
}

/* test_set_page(index regclass, block bigint, bytes bytea) */
Datum
test_set_page(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), RowExclusiveLock);
	Buffer		buffer = ReadBuffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	bytea	   *bytes = PG_GETARG_BYTEA_PP(2);

	if (VARSIZE_ANY_EXHDR(bytes) != BLCKSZ)
		elog(ERROR, "a page has %d bytes", BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(buffer), VARDATA_ANY(bytes), BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	if (rel->rd_amcache != NULL)
		pfree(rel->rd_amcache);
	rel->rd_amcache = NULL;
	relation_close(rel, RowExclusiveLock);
	PG_RETURN_VOID();
}

static bool
is_odd(ItemPointer tid, void *state)
{
	return ItemPointerGetOffsetNumberNoCheck(tid) % 2 == 1;
}

/* test_vacuum(index regclass) */
Datum
test_vacuum(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), RowExclusiveLock);
	IndexVacuumInfo info = {.index = rel};
	IndexBulkDeleteResult *result = NULL;

	for (int pass = 0; pass < 2; pass++)
		result = index_bulk_delete(&info, result, is_odd, NULL);
	result = index_vacuum_cleanup(&info, result);
	relation_close(rel, RowExclusiveLock);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%.0f %u %u",
											  result->num_index_tuples,
											  result->pages_free,
											  result->num_pages)));
}
