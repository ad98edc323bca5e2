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

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "storage/predicate.h"

/* ---- one entry ---- */

/*
 * Writes the slots of a page, and logs them as GenericXLogFinish() would, but
 * faster: README, "WAL Considerations".  The LSN of the page changes.
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
	CuckooPageHeader header;
	CuckooEntryEncoding encoding;	/* widened for the new entry */
	CuckooEntry *entries;
	int			n;
} FullPage;

/* Fills in the entries.  Error XX002 if one is impossible. */
static void
read_full_page(FullPage *full, Relation rel, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	full->rel = rel;
	full->buffer = buffer;
	full->header = *cuckoo_page_header(page);
	full->encoding = cuckoo_page_encoding(page);
	full->entries = palloc(CUCKOO_PAGE_SLOTS * sizeof(CuckooEntry));
	full->n = cuckoo_list_entries(cuckoo_page_slots(page), &full->encoding,
								  full->entries);
	if (full->n < 0)
		cuckoo_impossible_entry(rel, buffer);
}

/*
 * Initializes a page, with other slots.  The caller logs it.  The page keeps
 * its LSN, and its child gets the same, in case the index is not logged.
 */
static void
rewrite(Page page, const FullPage *full, int level,
		const CuckooEntryEncoding *encoding, const CuckooSlots *slots)
{
	cuckoo_init_entries(page, full->header.entries.number,
						full->header.entries.segment, level, encoding);
	cuckoo_page_header(page)->entries.has_chain =
		full->header.entries.has_chain;
	memcpy(cuckoo_page_slots(page), slots, sizeof(CuckooSlots));
	PageSetLSN(page, PageGetLSN(BufferGetPage(full->buffer)));
}

/*
 * Writes the entries with more bits for positions.  Returns false if they do
 * not fit.
 */
static bool
widen(FullPage *full)
{
	CuckooSlots *slots = palloc(sizeof(CuckooSlots));
	CuckooEntryEncoding encoding = full->encoding;
	bool		fits = cuckoo_fill_slots(slots, &encoding, full->entries,
										 full->n);

	if (fits)
	{
		GenericXLogState *state = GenericXLogStart(full->rel);

		rewrite(GenericXLogRegisterBuffer(state, full->buffer,
										  GENERIC_XLOG_FULL_IMAGE),
				full, full->header.entries.level, &encoding, slots);
		GenericXLogFinish(state);
	}
	pfree(slots);
	return fits;
}

/*
 * Splits the page into itself and its child.  Returns false if an address has
 * no bit left for it, or if a half would be full.
 * Locks held on entry: the page; takes those of README, "Lock Definitions".
 */
static bool
split(FullPage *full)
{
	Relation	rel = full->rel;
	uint32		number = full->header.entries.number;
	int			level = full->header.entries.level;
	uint32		segment;
	CuckooEntry *halves;
	CuckooSlots *slots;
	CuckooEntryEncoding encodings[2] = {full->encoding, full->encoding};
	Buffer		map;
	Buffer		child;
	uint32		at;
	int			first;
	bool		fits;

	if (level == CUCKOO_MOST_LEVEL ||
		full->encoding.position_bits == CUCKOO_MOST_POSITION_BITS)
		return false;
	segment = full->header.entries.segment | UINT32_C(1) << level;
	if (!cuckoo_can_map(rel, number, segment))
		return false;
	encodings[0].position_bits++;
	encodings[1].position_bits++;
	halves = palloc(CUCKOO_PAGE_SLOTS * sizeof(CuckooEntry));
	slots = palloc(2 * sizeof(CuckooSlots));
	first = cuckoo_part_entries(full->entries, full->n, halves);
	fits = cuckoo_fill_slots(&slots[0], &encodings[0], halves, first) &&
		cuckoo_fill_slots(&slots[1], &encodings[1], halves + first,
						  full->n - first);
	if (fits)
	{
		GenericXLogState *state;
		Page		page;

		map = cuckoo_lock_map(rel, number, segment,
							  BufferGetBlockNumber(full->buffer), &at);
		child = cuckoo_extend(rel, MAIN_FORKNUM);
		PredicateLockPageSplit(rel, BufferGetBlockNumber(full->buffer),
							   BufferGetBlockNumber(child));
		state = GenericXLogStart(rel);
		rewrite(GenericXLogRegisterBuffer(state, full->buffer,
										  GENERIC_XLOG_FULL_IMAGE),
				full, level + 1, &encodings[0], &slots[0]);
		page = GenericXLogRegisterBuffer(state, child,
										 GENERIC_XLOG_FULL_IMAGE);
		rewrite(page, full, level + 1, &encodings[1], &slots[1]);
		cuckoo_page_header(page)->entries.segment = segment;
		page = GenericXLogRegisterBuffer(state, map, 0);
		cuckoo_page_map(page)[at] = BufferGetBlockNumber(child);
		GenericXLogFinish(state);
		cuckoo_note_block(rel, number, segment, level + 1,
						  BufferGetBlockNumber(child));
		UnlockReleaseBuffer(child);
		UnlockReleaseBuffer(map);
	}
	pfree(halves);
	pfree(slots);
	return fits;
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
	CuckooEntry link;
	CuckooEntryEncoding encoding = full->encoding;
	CuckooSlots *slots = palloc(sizeof(CuckooSlots));
	Buffer		head = cuckoo_extend(rel, MAIN_FORKNUM);
	GenericXLogState *state = GenericXLogStart(rel);
	Page		chain = GenericXLogRegisterBuffer(state, head,
												  GENERIC_XLOG_FULL_IMAGE);
	uint64		tag = 0;
	int			hottest;
	int			rows = 0;
	int			n = 0;
	Page		page;

	/* the rows share the bits of the address, and no tag has many: cut tags */
	while ((hottest = cuckoo_hottest_tag(full->entries, full->n, &tag)) <
		   FEWEST_ROWS && encoding.position_bits < CUCKOO_MOST_POSITION_BITS)
	{
		encoding.position_bits++;
		cuckoo_truncate_tags(full->entries, full->n, &encoding);
	}
	if (hottest == 0)
		cuckoo_index_corrupt(rel, BufferGetBlockNumber(full->buffer),
							 "found %d links to chains, expected rows",
							 full->n);
	link.tag = tag;
	link.block = BufferGetBlockNumber(head);
	link.offset = 0;
	cuckoo_init_chain(chain, link.block);
	for (int i = 0; i < full->n; i++)
	{
		const CuckooEntry *entry = &full->entries[i];

		if (entry->tag == tag && entry->offset != 0 &&
			rows < (int) CUCKOO_CHAIN_ROWS)
		{
			ItemPointerSet(&cuckoo_page_rows(chain)[rows], entry->block,
						   entry->offset);
			rows++;
		}
		else
			full->entries[n++] = *entry;
	}
	cuckoo_set_row_count(chain, rows);
	full->entries[n++] = link;
	cuckoo_widen(&encoding, &link, 1);
	cuckoo_truncate_tags(full->entries, n, &encoding);
	/* fewer entries than before: they fit */
	if (!cuckoo_fill_slots(slots, &encoding, full->entries, n))
		cuckoo_index_corrupt(rel, BufferGetBlockNumber(full->buffer),
							 "found no place for %d entries, expected one with some salt",
							 n);
	page = GenericXLogRegisterBuffer(state, full->buffer,
									 GENERIC_XLOG_FULL_IMAGE);
	rewrite(page, full, full->header.entries.level, &encoding, slots);
	cuckoo_page_header(page)->entries.has_chain = true;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(head);
	pfree(slots);
}

/*
 * Makes room in a page for an entry that it cannot store.
 * Locks held: the page, exclusive.
 */
static void
make_space(Relation rel, Buffer buffer, const CuckooEntry *entry)
{
	FullPage	full;
	bool		done = false;

	read_full_page(&full, rel, buffer);
	if (!cuckoo_can_encode(&full.encoding, entry->block, entry->offset))
	{
		cuckoo_widen(&full.encoding, entry, 1);
		cuckoo_widen(&full.encoding, full.entries, full.n);
		cuckoo_truncate_tags(full.entries, full.n, &full.encoding);
		done = widen(&full);
	}
	if (!done)
		done = !cuckoo_has_hot_tag(full.entries, full.n) && split(&full);
	if (!done)
		make_chain(&full);
	pfree(full.entries);
}

/*
 * Returns the head of a chain with the tag of a hash, or InvalidBlockNumber.
 * Locks held: the page.
 */
static BlockNumber
find_chain(Relation rel, Buffer buffer, uint64 hash)
{
	ItemPointerData rows[CUCKOO_PAGE_SLOTS];
	List	   *heads = NIL;

	if (cuckoo_page_header(BufferGetPage(buffer))->entries.has_chain)
		cuckoo_match_rows(rel, buffer, hash, rows, &heads);
	return heads == NIL ? InvalidBlockNumber : linitial_oid(heads);
}

/*
 * True if the entry may be added.  Otherwise sets *before.
 * Locks held: the page, exclusive; reads chains.
 */
static bool
is_as_before(Relation rel, Buffer buffer, uint64 hash, CuckooTagRows *before)
{
	XLogRecPtr	lsn = PageGetLSN(BufferGetPage(buffer));
	List	   *heads = NIL;
	ListCell   *cell;

	if (before->insert_anyway || (before->is_set && before->lsn == lsn))
		return true;
	before->is_set = true;
	before->lsn = lsn;
	if (before->rows == NULL)
		before->rows = palloc(CUCKOO_PAGE_SLOTS * sizeof(ItemPointerData));
	before->n = cuckoo_match_rows(rel, buffer, hash, before->rows, &heads);
	foreach(cell, heads)
	{
		BlockNumber head = lfirst_oid(cell);
		CuckooChainPosition chain = {
			.head = head,
			.next = head
		};
		ItemPointerData rows[CUCKOO_CHAIN_ROWS];
		int			n;

		cuckoo_check_other(rel, BufferGetBlockNumber(buffer), head);
		while ((n = cuckoo_chain_next(rel, &chain, rows)) > 0)
		{
			before->rows = repalloc_huge(before->rows, (before->n + n +
														CUCKOO_PAGE_SLOTS) *
										 sizeof(ItemPointerData));
			memcpy(before->rows + before->n, rows, n * sizeof(ItemPointerData));
			before->n += n;
		}
	}
	return before->n == 0;
}

/*
 * Adds a row to a chain of the page.  With `before`, a new LSN of the page
 * shows other sessions that a row was inserted.
 * Locks held on entry: the page, exclusive, which is released.
 */
static void
insert_into_chain(Relation rel, Buffer buffer, BlockNumber head,
				  ItemPointer tid, const CuckooTagRows *before)
{
	const CuckooSlots *slots = cuckoo_page_slots(BufferGetPage(buffer));
	CuckooWrites same = {1, {{0, cuckoo_slot(slots, 0)}}};

	if (before == NULL)
	{
		UnlockReleaseBuffer(buffer);
		cuckoo_chain_insert(rel, head, tid);
		return;
	}
	cuckoo_check_other(rel, BufferGetBlockNumber(buffer), head);
	write_and_log(rel, buffer, &same);
	cuckoo_chain_insert(rel, head, tid);
	UnlockReleaseBuffer(buffer);
}

bool
cuckoo_index_insert(Relation rel, uint64 hash, ItemPointer tid,
					CuckooTagRows *before)
{
	CuckooEntry entry = {
		.block = ItemPointerGetBlockNumber(tid),
		.offset = ItemPointerGetOffsetNumber(tid)
	};

	for (;;)
	{
		Buffer		buffer = cuckoo_find_page(rel, hash,
											  BUFFER_LOCK_EXCLUSIVE);
		Page		page = BufferGetPage(buffer);
		CuckooEntryEncoding encoding = cuckoo_page_encoding(page);
		BlockNumber head;
		CuckooWrites writes;
		bool		inserted;

		CheckForSerializableConflictIn(rel, NULL,
									   BufferGetBlockNumber(buffer));
		if (before != NULL && !is_as_before(rel, buffer, hash, before))
		{
			UnlockReleaseBuffer(buffer);
			return false;
		}
		head = find_chain(rel, buffer, hash);
		if (BlockNumberIsValid(head))
		{
			insert_into_chain(rel, buffer, head, tid, before);
			return true;
		}
		entry.tag = cuckoo_tag(hash, cuckoo_page_header(page)->entries.level,
							   &encoding);
		inserted = cuckoo_can_encode(&encoding, entry.block, entry.offset) &&
			cuckoo_plan_insert(cuckoo_page_slots(page), &encoding, &entry,
							   &writes);
		if (inserted)
			write_and_log(rel, buffer, &writes);
		else
			make_space(rel, buffer, &entry);
		UnlockReleaseBuffer(buffer);
		if (inserted)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
}
