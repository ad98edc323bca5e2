/*-------------------------------------------------------------------------
 *
 * index/vacuum.c
 *		VACUUM: removes the entries of dead rows.
 *
 * Reads all pages in physical order: README, "Scans and VACUUM".
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "commands/vacuum.h"
#include "nodes/pg_list.h"

/* A link, in a page of entries. */
typedef struct ChainLink
{
	BlockNumber head;
	BlockNumber page;
} ChainLink;

/* State of one VACUUM. */
typedef struct Vacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback is_dead;
	void	   *state;			/* of the callback */
	ChainLink  *links;			/* of all chains */
	int			n;
	int			room;
	List	   *changed;		/* heads of chains whose list of pages is old */
} Vacuum;

static void
add_link(Vacuum *v, BlockNumber head, BlockNumber page)
{
	if (v->n == v->room)
	{
		v->room = Max(v->room * 2, 64);
		v->links = v->links == NULL ? palloc(v->room * sizeof(ChainLink)) :
			repalloc_huge(v->links, v->room * sizeof(ChainLink));
	}
	v->links[v->n].head = head;
	v->links[v->n].page = page;
	v->n++;
}

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
			add_link(v, entry.block, BufferGetBlockNumber(buffer));
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
	CuckooPageHeader *header = cuckoo_page_header(page);
	bool		killed = header->killed != 0;
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
	header->killed = 0;
	/* an interrupted VACUUM may have left empty pages */
	if (kept < n || killed || kept == 0)
		v->changed = lappend_oid(v->changed, header->chain.head);
	return kept < n || killed;
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

static int
compare_links(const void *a, const void *b)
{
	BlockNumber x = ((const ChainLink *) a)->head;
	BlockNumber y = ((const ChainLink *) b)->head;

	return (x > y) - (x < y);
}

/*
 * Shrinks the chains from which rows were removed.  A chain that was made after
 * its page was read has no link here.  It is left to the next VACUUM.
 */
static void
shrink_chains(Vacuum *v)
{
	ListCell   *cell;

	if (v->changed == NIL || v->links == NULL)
		return;
	qsort(v->links, v->n, sizeof(ChainLink), compare_links);
	list_sort(v->changed, list_oid_cmp);
	list_deduplicate_oid(v->changed);
	foreach(cell, v->changed)
	{
		ChainLink	key = {.head = lfirst_oid(cell)};
		ChainLink  *link = bsearch(&key, v->links, v->n, sizeof(ChainLink),
								   compare_links);

		if (link != NULL)
			cuckoo_chain_shrink(v->info->index, link->head, link->page);
	}
}

/*
 * Counts the start or the end of VACUUM in block 0: README, "Scans and VACUUM"
 * and "Unique Values".  An interrupted VACUUM leaves an odd number.  The next
 * start does not raise it.
 */
static void
count_vacuum(Relation rel, bool is_end)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);

	if (is_end || cuckoo_page_meta(BufferGetPage(meta))->vacuums % 2 == 0)
	{
		GenericXLogState *state = GenericXLogStart(rel);

		cuckoo_page_meta(GenericXLogRegisterBuffer(state, meta, 0))->vacuums++;
		GenericXLogFinish(state);
	}
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
					IndexBulkDeleteCallback dead, void *state)
{
	Vacuum		v = {
		.info = info,
		.is_dead = dead,
		.state = state
	};
	BlockNumber end = 0;		/* of the file; looked up again when reached */

	/* an index of another version is an error, before its pages change */
	count_vacuum(info->index, false);
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
	shrink_chains(&v);
	list_free(v.changed);
	if (v.links != NULL)
		pfree(v.links);
	/* before PostgreSQL gives the TIDs of the dead rows to other rows */
	count_vacuum(info->index, true);
	return stats;
}

IndexBulkDeleteResult *
cuckoo_amcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	/* NULL if nothing was counted: pg_class keeps its values */
	if (stats != NULL)
		stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}
