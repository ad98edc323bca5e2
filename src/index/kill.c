/*-------------------------------------------------------------------------
 *
 * index/kill.c
 *		Entries of dead rows, which a lookup removes before VACUUM comes.
 *
 * Only entries whose line pointer in the table is dead are removed.  README,
 * "Entries of Dead Rows", has the proof.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/xlog.h"

/* Fewer dead rows are left to VACUUM. */
#define FEWEST_DEAD		4

/* True if the line pointer of a row is dead.  Locks held: the page. */
static bool
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
is_pruned(Page page, const ItemPointerData *tid)
{
	OffsetNumber offset = ItemPointerGetOffsetNumber(tid);

	return offset <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsDead(PageGetItemId(page, offset));
}

/*
 * Keeps of n dead rows, sorted, those whose line pointers are dead, too.
 * Returns their number.
 */
static int
keep_pruned(Relation heap, ItemPointerData *rows, int n)
{
	Buffer		buffer = InvalidBuffer;
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&rows[i]);

		if (!BufferIsValid(buffer) || BufferGetBlockNumber(buffer) != block)
		{
			if (BufferIsValid(buffer))
				UnlockReleaseBuffer(buffer);
			buffer = ReadBuffer(heap, block);
			LockBuffer(buffer, BUFFER_LOCK_SHARE);
		}
		if (is_pruned(BufferGetPage(buffer), &rows[i]))
			rows[kept++] = rows[i];
	}
	UnlockReleaseBuffer(buffer);
	return kept;
}

/* Clears the slots of rows with a hash.  `page` is a copy of the page. */
static bool
kill_entries(Relation rel, Buffer buffer, Page page, uint64 hash,
			 const ItemPointerData *rows, int n)
{
	uint16		found[CUCKOO_PAGE_SLOTS];
	uint32		matches = cuckoo_find_hash(buffer, hash, found);
	bool		changed = false;

	for (uint32 i = 0; i < matches; i++)
	{
		CuckooEntry entry = cuckoo_decode_slot(rel, buffer, found[i]);
		ItemPointerData tid;

		ItemPointerSet(&tid, entry.block, entry.offset);
		if (entry.offset != 0 && cuckoo_is_among(&tid, rows, n))
		{
			cuckoo_set_slot(cuckoo_page_slots(page), found[i], 0);
			changed = true;
		}
	}
	return changed;
}

/* Removes rows of a page of a chain, which is a copy. */
static bool
kill_in_chain(Page page, const ItemPointerData *rows, int n)
{
	ItemPointerData *all = cuckoo_page_rows(page);
	int			count = cuckoo_count_rows(page);
	int			kept = 0;

	for (int i = 0; i < count; i++)
	{
		if (!cuckoo_is_among(&all[i], rows, n))
			all[kept++] = all[i];
	}
	cuckoo_set_row_count(page, kept);
	/* VACUUM then lists the page as one with room, or frees it */
	cuckoo_page_header(page)->killed = 1;
	return kept < count;
}

/* Removes rows from a page, unless it has changed since they were copied. */
static void
kill_in_page(Relation rel, const CuckooSource *source, uint64 hash,
			 const ItemPointerData *rows, int n)
{
	Buffer		buffer = ReadBuffer(rel, source->block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (PageGetLSN(BufferGetPage(buffer)) == source->lsn)
	{
		GenericXLogState *state = GenericXLogStart(rel);
		Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

		if (cuckoo_page_header(page)->kind == CUCKOO_PAGE_CHAIN ?
			kill_in_chain(page, rows, n) :
			kill_entries(rel, buffer, page, hash, rows, n))
			GenericXLogFinish(state);
		else
			GenericXLogAbort(state);
	}
	UnlockReleaseBuffer(buffer);
}

void
cuckoo_kill_rows(Relation heap, Relation rel, const CuckooSource *sources,
				 int n_sources, uint64 hash, ItemPointerData *rows, int n)
{
	/* without WAL, LSNs show no changes */
	if (n < FEWEST_DEAD || RecoveryInProgress() || !RelationNeedsWAL(rel))
		return;
	cuckoo_sort_tids(rows, n);
	n = keep_pruned(heap, rows, n);
	if (n < FEWEST_DEAD)
		return;
	for (int i = 0; i < n_sources; i++)
		kill_in_page(rel, &sources[i], hash, rows, n);
}
