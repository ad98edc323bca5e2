/*-------------------------------------------------------------------------
 *
 * index/insert.c
 *		Inserting one entry, making room in a full page, and their WAL.
 *
 * An insert always finds room.  A full page is split, or the rows of its
 * hottest tag move to a chain.  README has lock order and WAL.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "miscadmin.h"
#include "storage/predicate.h"

/* ---- one entry ---- */

/*
 * Writes the slots of a page, and logs them as GenericXLogFinish() would, but
 * faster: README, "WAL Considerations".
 * Locks held: the page, exclusive.
 */
static void
write_and_log(Relation rel, Buffer buffer, const CuckooWrites *writes)
{
	Page		page = BufferGetPage(buffer);
	CuckooSlots *slots = cuckoo_page_slots(page);
	CuckooDelta delta = {0};

	START_CRIT_SECTION();
	cuckoo_write_slots(slots, writes);
	MarkBufferDirty(buffer);
	for (int i = 0; i < writes->n; i++)
	{
		uint32		at = writes->write[i].at;

		cuckoo_add_range(&delta, page, &slots->high[at],
						 sizeof(slots->high[at]));
		cuckoo_add_range(&delta, page, &slots->low[at],
						 sizeof(slots->low[at]));
	}
	cuckoo_log_delta(rel, buffer, &delta);
	END_CRIT_SECTION();
}

/* ---- a full page ---- */

/* A full page, and its entries. */
typedef struct FullPage
{
	Relation	rel;
	Buffer		buffer;
	CuckooEntryEncoding encoding;	/* widened for the new entry */
	CuckooEntry *entries;
	int			n;
} FullPage;

/* Writes the entries into the page.  Returns false if they do not fit. */
static bool
rewrite(FullPage *full, GenericXLogState *state)
{
	Page		page = GenericXLogRegisterBuffer(state, full->buffer,
												 GENERIC_XLOG_FULL_IMAGE);

	if (!cuckoo_fill_slots(cuckoo_page_slots(page), &full->encoding,
						   full->entries, full->n))
		return false;
	cuckoo_page_header(page)->entries.encoding = full->encoding;
	return true;
}

/*
 * Splits the page into itself and its child.  Returns false if the page cannot
 * be split, or if a half would be full.
 * Locks held on entry: the page; takes those of README, "Lock Definitions".
 */
static bool
split(FullPage *full)
{
	Relation	rel = full->rel;
	BlockNumber block = BufferGetBlockNumber(full->buffer);
	CuckooPageHeader header = *cuckoo_page_header(BufferGetPage(full->buffer));
	CuckooPageHeader child_header;
	GenericXLogState *state;
	CuckooEntry *halves;
	CuckooSlots *slots;
	Page		parent;
	Page		page;
	Buffer		map;
	Buffer		child;
	uint32		at;
	int			first;

	/* fill both halves */
	header.entries.encoding = full->encoding;
	if (!cuckoo_plan_split(rel, &header, &child_header))
		return false;
	halves = palloc(full->n * sizeof(CuckooEntry));
	first = cuckoo_part_entries(full->entries, full->n, halves);
	slots = palloc(sizeof(CuckooSlots));
	state = GenericXLogStart(rel);
	parent = GenericXLogRegisterBuffer(state, full->buffer,
									   GENERIC_XLOG_FULL_IMAGE);
	if (!cuckoo_fill_slots(cuckoo_page_slots(parent), &header.entries.encoding,
						   halves, first) ||
		!cuckoo_fill_slots(slots, &child_header.entries.encoding,
						   halves + first, full->n - first))
		return false;
	*cuckoo_page_header(parent) = header;

	/* write the child, and its block into the map */
	map = cuckoo_lock_map(rel, child_header.entries.number,
						  child_header.entries.segment, block, &at);
	if (cuckoo_page_map(BufferGetPage(map))[at] != 0)
		cuckoo_index_corrupt(rel, block,
							 "found level %d, although block %u has segment %u",
							 full->encoding.level,
							 cuckoo_page_map(BufferGetPage(map))[at],
							 child_header.entries.segment);
	child = cuckoo_extend(rel, MAIN_FORKNUM);
	PredicateLockPageSplit(rel, block, BufferGetBlockNumber(child));
	page = GenericXLogRegisterBuffer(state, child, GENERIC_XLOG_FULL_IMAGE);
	cuckoo_init_page(page, CUCKOO_PAGE_ENTRIES);
	*cuckoo_page_header(page) = child_header;
	memcpy(cuckoo_page_slots(page), slots, sizeof(CuckooSlots));
	page = GenericXLogRegisterBuffer(state, map, 0);
	cuckoo_page_map(page)[at] = BufferGetBlockNumber(child);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(child);
	UnlockReleaseBuffer(map);
	return true;
}

/* The rows of a tag that make a chain useful. */
#define FEWEST_ROWS		(CUCKOO_PAGE_SLOTS / 16)

/*
 * Moves the rows of the hottest tag to the head of a new chain, as many as fit,
 * and inserts the link to it.
 * Locks held on entry: the page.
 */
static void
make_chain(FullPage *full)
{
	Relation	rel = full->rel;
	BlockNumber block = BufferGetBlockNumber(full->buffer);
	CuckooEntry link = {0};
	ItemPointerData rows[CUCKOO_CHAIN_ROWS];
	int			moved = 0;
	int			n = 0;
	int			hottest;
	CuckooNewPage head;
	GenericXLogState *state;

	/* the rows share the bits of the address, and no tag has many: cut tags */
	while ((hottest = cuckoo_hottest_tag(full->entries, full->n, &link.tag)) <
		   FEWEST_ROWS &&
		   full->encoding.position_bits < CUCKOO_MOST_POSITION_BITS)
	{
		full->encoding.position_bits++;
		cuckoo_truncate_tags(full->entries, full->n, &full->encoding);
	}
	if (hottest == 0)
		cuckoo_index_corrupt(rel, block,
							 "found %d links to chains, expected rows",
							 full->n);
	for (int i = 0; i < full->n; i++)
	{
		const CuckooEntry *entry = &full->entries[i];

		if (entry->tag == link.tag && entry->offset != 0 &&
			moved < (int) CUCKOO_CHAIN_ROWS)
		{
			ItemPointerSet(&rows[moved], entry->block, entry->offset);
			moved++;
		}
		else
			full->entries[n++] = *entry;
	}
	head = cuckoo_new_page(rel, block);
	link.block = BufferGetBlockNumber(head.page);
	state = GenericXLogStart(rel);
	full->entries[n++] = link;
	full->n = n;
	cuckoo_widen(&full->encoding, &link, 1);
	cuckoo_truncate_tags(full->entries, n, &full->encoding);
	/* fewer entries than before: they fit */
	if (!rewrite(full, state))
		cuckoo_index_corrupt(rel, block,
							 "found no place for %d entries, expected one with some salt",
							 n);
	/* after the page: replay locks pages in this order, and so do readers */
	cuckoo_init_chain(GenericXLogRegisterBuffer(state, head.page,
												GENERIC_XLOG_FULL_IMAGE),
					  link.block, rows, moved);
	cuckoo_log_new_page(state, &head);
}

/*
 * Makes room in a page for an entry that it cannot store.  Error XX002 if one
 * of its entries is impossible.
 * Locks held: the page, exclusive.
 */
static void
make_space(Relation rel, Buffer buffer, const CuckooEntry *entry)
{
	Page		page = BufferGetPage(buffer);
	FullPage	full = {
		.rel = rel,
		.buffer = buffer
	};
	GenericXLogState *state;

	full.encoding = cuckoo_page_header(page)->entries.encoding;
	full.entries = palloc(CUCKOO_PAGE_SLOTS * sizeof(CuckooEntry));
	full.n = cuckoo_list_entries(cuckoo_page_slots(page), &full.encoding,
								 full.entries);
	if (full.n < 0)
		cuckoo_impossible_entry(rel, buffer);
	if (!cuckoo_can_encode(&full.encoding, entry->block, entry->offset))
	{
		cuckoo_widen(&full.encoding, entry, 1);
		cuckoo_widen(&full.encoding, full.entries, full.n);
		cuckoo_truncate_tags(full.entries, full.n, &full.encoding);
		state = GenericXLogStart(rel);
		if (rewrite(&full, state))
		{
			GenericXLogFinish(state);
			return;
		}
	}
	if (cuckoo_has_hot_tag(full.entries, full.n) || !split(&full))
		make_chain(&full);
}

/* ---- the two steps ---- */

Buffer
cuckoo_lock_for_insert(Relation rel, uint64 hash)
{
	Buffer		buffer = cuckoo_find_page(rel, hash, BUFFER_LOCK_EXCLUSIVE);

	CheckForSerializableConflictIn(rel, NULL, BufferGetBlockNumber(buffer));
	return buffer;
}

bool
cuckoo_insert_entry(Relation rel, Buffer buffer, uint64 hash, ItemPointer tid)
{
	Page		page = BufferGetPage(buffer);
	CuckooEntryEncoding encoding = cuckoo_page_header(page)->entries.encoding;
	CuckooEntry entry = {
		.tag = cuckoo_tag(hash, &encoding),
		.block = ItemPointerGetBlockNumber(tid),
		.offset = ItemPointerGetOffsetNumber(tid)
	};
	BlockNumber head = cuckoo_find_chain(rel, buffer, hash);
	CuckooWrites writes;
	bool		inserted = true;

	if (BlockNumberIsValid(head))
		cuckoo_chain_insert(rel, BufferGetBlockNumber(buffer), head, tid);
	else if (cuckoo_can_encode(&encoding, entry.block, entry.offset) &&
			 cuckoo_plan_insert(cuckoo_page_slots(page), &encoding, &entry,
								&writes))
		write_and_log(rel, buffer, &writes);
	else
	{
		make_space(rel, buffer, &entry);
		inserted = false;
	}
	UnlockReleaseBuffer(buffer);
	return inserted;
}

void
cuckoo_insert_row(Relation rel, uint64 hash, ItemPointer tid)
{
	while (!cuckoo_insert_entry(rel, cuckoo_lock_for_insert(rel, hash), hash,
								tid))
		CHECK_FOR_INTERRUPTS();
}
