/*-------------------------------------------------------------------------
 *
 * index/vacuum.c
 *		VACUUM: removes the entries of dead rows.
 *
 * Reads all pages in physical order: README, "VACUUM and Splits".
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "nodes/pg_list.h"

/* State of one VACUUM. */
typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback is_dead;
	void	   *state;			/* of the callback */
	List	   *heads;			/* of all chains */
	bool		has_empty;		/* a page of a chain is empty */
} Vacuum;

/*
 * Removes the dead rows of a page of entries.  `page` is a copy.  Returns true
 * if it has changed.
 */
static bool
vacuum_entries(Vacuum *v, Buffer buffer, Page page)
{
	CuckooEntryEncoding encoding = cuckoo_page_header(page)->entries.encoding;
	CuckooSlots *slots = cuckoo_page_slots(page);
	bool		changed = false;

	for (uint32 at = 0; at < CUCKOO_PAGE_SLOTS; at++)
	{
		uint64		slot = cuckoo_slot(slots, at);
		CuckooEntry entry;
		ItemPointerData tid;

		if (slot == 0)
			continue;
		if (!cuckoo_decode(&encoding, slot, at / CUCKOO_BUCKET_SLOTS, &entry))
			cuckoo_impossible_entry(v->info->index, buffer);
		ItemPointerSet(&tid, entry.block, entry.offset);
		if (entry.offset == 0)
			v->heads = lappend_oid(v->heads, entry.block);
		else if (v->is_dead(&tid, v->state))
		{
			cuckoo_set_slot(slots, at, 0);
			v->stats->tuples_removed++;
			changed = true;
		}
		else
			v->stats->num_index_tuples++;
	}
	return changed;
}

/*
 * Removes the dead rows of a page of a chain.  `page` is a copy.  Returns true
 * if it has changed.
 */
static bool
vacuum_chain(Vacuum *v, Page page)
{
	ItemPointerData *rows = cuckoo_page_rows(page);
	int			n = cuckoo_count_rows(page);
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		if (!v->is_dead(&rows[i], v->state))
			rows[kept++] = rows[i];
	}
	cuckoo_set_row_count(page, kept);
	v->stats->tuples_removed += n - kept;
	v->stats->num_index_tuples += kept;
	v->has_empty |= kept == 0;
	return kept < n;
}

/* Removes the dead rows of a page, and logs the change. */
static void
vacuum_page(Vacuum *v, BlockNumber block)
{
	Relation	rel = v->info->index;
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, v->info->strategy);
	GenericXLogState *state;
	Page		page;
	bool		changed = false;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	/* an interrupted insert has left a page of zeros */
	if (!PageIsNew(BufferGetPage(buffer)))
	{
		int			kind;

		state = GenericXLogStart(rel);
		page = GenericXLogRegisterBuffer(state, buffer, 0);
		kind = cuckoo_page_header(page)->kind;
		cuckoo_check_page(rel, buffer, kind);
		if (kind == CUCKOO_PAGE_ENTRIES)
			changed = vacuum_entries(v, buffer, page);
		else if (kind == CUCKOO_PAGE_CHAIN)
			changed = vacuum_chain(v, page);
		else if (kind == CUCKOO_PAGE_FREE)
			v->stats->pages_free++;
		if (changed)
			GenericXLogFinish(state);
		else
			GenericXLogAbort(state);
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * Counts this VACUUM in block 0, before PostgreSQL gives the TIDs of the dead
 * rows to other rows: README, "Unique Values".
 */
static void
count_vacuum(Relation rel)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(rel);

	cuckoo_page_meta(GenericXLogRegisterBuffer(state, meta, 0))->vacuums++;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(meta);
}

uint32
cuckoo_count_vacuums(Relation rel)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_SHARE);
	uint32		vacuums = cuckoo_page_meta(BufferGetPage(meta))->vacuums;

	UnlockReleaseBuffer(meta);
	return vacuums;
}

IndexBulkDeleteResult *
cuckoo_ambulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
					IndexBulkDeleteCallback callback, void *callback_state)
{
	Vacuum		v = {
		.info = info,
		.is_dead = callback,
		.state = callback_state
	};
	BlockNumber end = 0;		/* of the file; looked up again when reached */
	ListCell   *cell;

	/* an index of another version is an error, before its pages change */
	cuckoo_hashing(info->index);
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	v.stats = stats;
	stats->num_index_tuples = 0;
	stats->pages_free = 0;
	for (BlockNumber block = CUCKOO_META_BLOCK + 1;
		 block < end || block < (end = RelationGetNumberOfBlocks(info->index));
		 block++)
	{
		CUCKOO_VACUUM_DELAY();
		vacuum_page(&v, block);
	}
	if (v.has_empty)
	{
		foreach(cell, v.heads)
			cuckoo_chain_shrink(info->index, lfirst_oid(cell));
	}
	list_free(v.heads);
	if (info->index->rd_index->indisunique)
		count_vacuum(info->index);
	return stats;
}

IndexBulkDeleteResult *
cuckoo_amvacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	/* NULL if nothing was counted: pg_class keeps its values */
	if (stats != NULL)
		stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}
