/*-------------------------------------------------------------------------
 *
 * cuckoo_pages.c
 *		Indexes whose pages are damaged in memory.
 *
 *	test_page(index, block)
 *		The bytes of a page.
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

PG_FUNCTION_INFO_V1(test_page);
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
