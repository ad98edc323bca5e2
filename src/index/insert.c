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
	CuckooEntryEncoding encoding;	/* widened for the new entry */
	CuckooEntry *entries;
	int			n;
} FullPage;

/*
 * Writes the entries into the page, and ends the record.  Returns false if they
 * do not fit.
 */
static bool
rewrite(FullPage *full, GenericXLogState *state)
{
	Page		page = GenericXLogRegisterBuffer(state, full->buffer,
												 GENERIC_XLOG_FULL_IMAGE);

	if (!cuckoo_fill_slots(cuckoo_page_slots(page), &full->encoding,
						   full->entries, full->n))
		return false;
	cuckoo_page_header(page)->entries.encoding = full->encoding;
	GenericXLogFinish(state);
	return true;
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
	BlockNumber block = BufferGetBlockNumber(full->buffer);
	CuckooPageHeader header = *cuckoo_page_header(BufferGetPage(full->buffer));
	CuckooEntryEncoding encoding = full->encoding;
	GenericXLogState *state;
	CuckooEntry *halves;
	CuckooSlots *slots;
	Page		parent;
	Page		page;
	Buffer		map;
	Buffer		child;
	uint32		at;
	int			first;

	if (encoding.level == CUCKOO_MOST_LEVEL ||
		encoding.position_bits == CUCKOO_MOST_POSITION_BITS)
		return false;
	header.entries.segment |= UINT32_C(1) << encoding.level;
	if (!cuckoo_can_map(rel, header.entries.number, header.entries.segment))
		return false;
	encoding.level++;
	encoding.position_bits++;
	header.entries.encoding = encoding;
	halves = palloc(full->n * sizeof(CuckooEntry));
	first = cuckoo_part_entries(full->entries, full->n, halves);
	slots = palloc(sizeof(CuckooSlots));
	state = GenericXLogStart(rel);
	parent = GenericXLogRegisterBuffer(state, full->buffer,
									   GENERIC_XLOG_FULL_IMAGE);
	if (!cuckoo_fill_slots(cuckoo_page_slots(parent), &encoding, halves,
						   first) ||
		!cuckoo_fill_slots(slots, &header.entries.encoding, halves + first,
						   full->n - first))
		return false;
	cuckoo_page_header(parent)->entries.encoding = encoding;

	map = cuckoo_lock_map(rel, header.entries.number, header.entries.segment,
						  block, &at);
	if (cuckoo_page_map(BufferGetPage(map))[at] != 0)
		cuckoo_index_corrupt(rel, block,
							 "found level %d, although block %u has segment %u",
							 encoding.level - 1,
							 cuckoo_page_map(BufferGetPage(map))[at],
							 header.entries.segment);
	child = cuckoo_extend(rel, MAIN_FORKNUM);
	PredicateLockPageSplit(rel, block, BufferGetBlockNumber(child));
	/* the child has the LSN of the page, in case the index is not logged */
	page = GenericXLogRegisterBuffer(state, child, GENERIC_XLOG_FULL_IMAGE);
	memcpy(page, parent, BLCKSZ);
	*cuckoo_page_header(page) = header;
	memcpy(cuckoo_page_slots(page), slots, sizeof(CuckooSlots));
	page = GenericXLogRegisterBuffer(state, map, 0);
	cuckoo_page_map(page)[at] = BufferGetBlockNumber(child);
	GenericXLogFinish(state);
	cuckoo_note_block(rel, header.entries.number, header.entries.segment,
					  encoding.level, BufferGetBlockNumber(child));
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
	Buffer		head = cuckoo_extend(rel, MAIN_FORKNUM);
	GenericXLogState *state = GenericXLogStart(rel);
	Page		chain = GenericXLogRegisterBuffer(state, head,
												  GENERIC_XLOG_FULL_IMAGE);
	int			hottest;
	int			rows = 0;
	int			n = 0;

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
	link.block = BufferGetBlockNumber(head);
	cuckoo_init_chain(chain, link.block);
	for (int i = 0; i < full->n; i++)
	{
		const CuckooEntry *entry = &full->entries[i];

		if (entry->tag == link.tag && entry->offset != 0 &&
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
	full->n = n;
	cuckoo_widen(&full->encoding, &link, 1);
	cuckoo_truncate_tags(full->entries, n, &full->encoding);
	/* fewer entries than before: they fit */
	if (!rewrite(full, state))
		cuckoo_index_corrupt(rel, block,
							 "found no place for %d entries, expected one with some salt",
							 n);
	UnlockReleaseBuffer(head);
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
		if (rewrite(&full, GenericXLogStart(rel)))
			return;
	}
	if (cuckoo_has_hot_tag(full.entries, full.n) || !split(&full))
		make_chain(&full);
}

/*
 * Returns the head of a chain with the tag, or InvalidBlockNumber.
 * Locks held: the page.
 */
static BlockNumber
find_chain(Page page, const CuckooEntryEncoding *encoding, uint64 tag)
{
	const CuckooSlots *slots = cuckoo_page_slots(page);
	uint16		found[CUCKOO_PAGE_SLOTS];
	uint32		n;
	CuckooEntry entry;

	if (!encoding->has_chain)
		return InvalidBlockNumber;
	n = cuckoo_find_tag(slots, encoding, tag, found);
	for (uint32 i = 0; i < n; i++)
	{
		if (cuckoo_decode(encoding, cuckoo_slot(slots, found[i]),
						  found[i] / CUCKOO_BUCKET_SLOTS, &entry) &&
			entry.offset == 0)
			return entry.block;
	}
	return InvalidBlockNumber;
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

	ItemPointerData *rows;
	int			n;
	bool		same;

	if (before->insert_anyway || (before->is_set && before->lsn == lsn))
		return true;
	rows = palloc(CUCKOO_PAGE_SLOTS * sizeof(ItemPointerData));
	n = cuckoo_match_rows(rel, buffer, hash, rows, &heads);
	/* other inserts move entries within the page, but no rows of a chain */
	if (before->vacuum_waits)
		qsort(rows, n, sizeof(ItemPointerData), cuckoo_compare_rows);
	foreach(cell, heads)
	{
		BlockNumber head = lfirst_oid(cell);
		CuckooChainPosition chain = {
			.head = head,
			.next = head,
			.locked = BufferGetBlockNumber(buffer)
		};
		ItemPointerData more[CUCKOO_CHAIN_ROWS];
		int			m;

		while ((m = cuckoo_chain_next(rel, &chain, more)) > 0)
		{
			rows = repalloc_huge(rows, (n + m + CUCKOO_PAGE_SLOTS) *
								 sizeof(ItemPointerData));
			memcpy(rows + n, more, m * sizeof(ItemPointerData));
			n += m;
		}
	}
	same = before->vacuum_waits && n == before->n &&
		memcmp(rows, before->rows, n * sizeof(ItemPointerData)) == 0;
	if (before->rows != NULL)
		pfree(before->rows);
	before->is_set = true;
	before->lsn = lsn;
	before->n = n;
	before->rows = rows;
	return n == 0 || same;
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
		CuckooEntryEncoding encoding =
			cuckoo_page_header(page)->entries.encoding;
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
		entry.tag = cuckoo_tag(hash, &encoding);
		head = find_chain(page, &encoding, entry.tag);
		if (BlockNumberIsValid(head))
		{
			insert_into_chain(rel, buffer, head, tid, before);
			return true;
		}
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
