/*-------------------------------------------------------------------------
 *
 * index/chain.c
 *		Chains: the rows of a tag that has very many.
 *
 * A chain is a list of pages with TIDs.  An entry of the tag links to its head,
 * which never changes.  A row is added to the head, or to the first page of the
 * list of pages with room, and never moves.  If there is no room, a page is
 * added after the head.  So an insert writes one page, and VACUUM need not
 * follow rows.
 *
 *	link -> head -> 9 -> 8 -> 5 -> 4		sequence numbers; 6 and 7 were freed
 *	        head -> 5 -> 8				the pages with room
 *
 * VACUUM frees pages that are empty, and any chain may use them again.  A
 * reader may hold the block of a page that is freed meanwhile.  It detects that
 * by the head and the sequence number in the page, and then starts again at the
 * head, with the pages below the last sequence number.  Readers do not look at
 * the list of pages with room.
 *
 * VACUUM also frees the head of an empty chain.  README, "Inserts, Splits,
 * Chains", has the proof for a reader that has copied the link.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "commands/vacuum.h"
#include "miscadmin.h"

/* A reader that finds a chain changed this often has found a corrupt one. */
#define MOST_RESTARTS	10000

/* VACUUM lists pages with at most this number of rows. */
#define ROWS_WITH_ROOM	((int) CUCKOO_CHAIN_ROWS / 8 * 7)

void
cuckoo_init_chain(Page page, BlockNumber head, const ItemPointerData *rows,
				  int n)
{
	CuckooPageHeader *header;

	cuckoo_init_page(page, CUCKOO_PAGE_CHAIN);
	header = cuckoo_page_header(page);
	header->chain.next = InvalidBlockNumber;
	header->chain.head = head;
	header->chain.room = InvalidBlockNumber;
	memcpy(cuckoo_page_rows(page), rows, n * sizeof(ItemPointerData));
	cuckoo_set_row_count(page, n);
}

/* Locks a page of a chain exclusively. */
static Buffer
get_chain_page(Relation rel, BlockNumber block, BlockNumber head)
{
	Buffer		buffer = cuckoo_get_page(rel, block, CUCKOO_PAGE_CHAIN,
										 BUFFER_LOCK_EXCLUSIVE);
	const CuckooPageHeader *header =
		cuckoo_page_header(BufferGetPage(buffer));

	if (header->chain.head != head)
		cuckoo_index_corrupt(rel, block,
							 "found a page of chain %u, expected chain %u",
							 header->chain.head, head);
	return buffer;
}

/* ---- inserting ---- */

/*
 * Adds a row to a page, and logs it.  Returns false if the page is full.
 * Locks held: the page, exclusive.
 */
static bool
write_row(Relation rel, Buffer buffer, ItemPointer tid)
{
	Page		page = BufferGetPage(buffer);
	int			n = cuckoo_count_rows(page);
	CuckooDelta delta = {0};

	if (n >= (int) CUCKOO_CHAIN_ROWS)
		return false;
	START_CRIT_SECTION();
	cuckoo_page_rows(page)[n] = *tid;
	cuckoo_set_row_count(page, n + 1);
	MarkBufferDirty(buffer);
	cuckoo_add_range(&delta, page, &((PageHeader) page)->pd_lower,
					 sizeof(LocationIndex));
	cuckoo_add_range(&delta, page, &cuckoo_page_rows(page)[n],
					 sizeof(ItemPointerData));
	cuckoo_log_delta(rel, buffer, &delta);
	END_CRIT_SECTION();
	return true;
}

CuckooNewPage
cuckoo_new_page(Relation rel, BlockNumber from)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	const CuckooMeta *data = cuckoo_page_meta(BufferGetPage(meta));
	BlockNumber free = data->free;
	CuckooNewPage added = {.meta = meta};

	/* a VACUUM that runs may have passed it already, and not yet `from` */
	if (BlockNumberIsValid(free) && (free > from || data->vacuums % 2 == 0))
	{
		added.page = ReadBuffer(rel, free);
		/* if the list is corrupt, this session may have locked the page */
		if (ConditionalLockBuffer(added.page))
		{
			cuckoo_check_page(rel, added.page, CUCKOO_PAGE_FREE);
			added.free =
				cuckoo_page_header(BufferGetPage(added.page))->chain.next;
			return added;
		}
		ReleaseBuffer(added.page);
	}
	UnlockReleaseBuffer(meta);
	added.meta = InvalidBuffer;
	added.page = cuckoo_extend(rel, MAIN_FORKNUM);
	return added;
}

void
cuckoo_log_new_page(GenericXLogState *state, const CuckooNewPage *added)
{
	if (BufferIsValid(added->meta))
	{
		Page		page = GenericXLogRegisterBuffer(state, added->meta, 0);

		cuckoo_page_meta(page)->free = added->free;
	}
	GenericXLogFinish(state);
	UnlockReleaseBuffer(added->page);
	if (BufferIsValid(added->meta))
		UnlockReleaseBuffer(added->meta);
}

/*
 * Adds a page with one row after the head: a free page, or a new one.
 * Locks held: the head, exclusive; takes block 0, then the page.
 */
static void
add_page(Relation rel, Buffer head, ItemPointer tid)
{
	CuckooNewPage added = cuckoo_new_page(rel, 0);
	GenericXLogState *state = GenericXLogStart(rel);
	CuckooPageHeader *header =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, head, 0));
	Page		page = GenericXLogRegisterBuffer(state, added.page,
												 GENERIC_XLOG_FULL_IMAGE);
	CuckooPageHeader *after = cuckoo_page_header(page);

	cuckoo_init_chain(page, header->chain.head, tid, 1);
	after->chain.next = header->chain.next;
	after->chain.sequence = ++header->chain.sequence;
	header->chain.next = BufferGetBlockNumber(added.page);
	header->chain.room = header->chain.next;
	cuckoo_log_new_page(state, &added);
}

/* Sets the field `room` of a locked page, and logs it. */
static void
set_room(Relation rel, Buffer buffer, BlockNumber room)
{
	GenericXLogState *state = GenericXLogStart(rel);

	cuckoo_page_header(GenericXLogRegisterBuffer(state, buffer,
												 0))->chain.room = room;
	GenericXLogFinish(state);
}

/*
 * Adds a row to a page of the list of pages with room.  Takes pages that are
 * full by now off the list.  Returns false if the list is empty then.
 * Locks held: the head, exclusive, and the page `link`.
 */
static bool
write_to_room(Relation rel, BlockNumber link, Buffer first, ItemPointer tid)
{
	BlockNumber head = BufferGetBlockNumber(first);
	BlockNumber room;
	uint32		sequence = 0;
	bool		written = false;

	while (!written &&
		   (room = cuckoo_page_header(BufferGetPage(first))->chain.room) !=
		   InvalidBlockNumber)
	{
		Buffer		buffer;
		CuckooPageHeader header;

		cuckoo_check_other(rel, head, room);
		cuckoo_check_other(rel, link, room);
		buffer = get_chain_page(rel, room, head);
		header = *cuckoo_page_header(BufferGetPage(buffer));
		/* a cycle would have no end */
		if (header.chain.sequence <= sequence)
			cuckoo_index_corrupt(rel, room,
								 "found sequence number %u, expected one above %u",
								 header.chain.sequence, sequence);
		sequence = header.chain.sequence;
		written = write_row(rel, buffer, tid);
		UnlockReleaseBuffer(buffer);
		if (!written)
			set_room(rel, first, header.chain.room);
	}
	return written;
}

void
cuckoo_chain_insert(Relation rel, BlockNumber link, BlockNumber head,
					ItemPointer tid)
{
	Buffer		first;

	cuckoo_check_other(rel, link, head);
	first = get_chain_page(rel, head, head);
	if (!write_row(rel, first, tid) && !write_to_room(rel, link, first, tid))
		add_page(rel, first, tid);
	UnlockReleaseBuffer(first);
}

/* ---- reading ---- */

/*
 * Reads the page at a position, and advances the position.  Returns the number
 * of its rows, and copies them, or returns -1 if the head is no head any more.
 */
static int
read_position(Relation rel, CuckooChainPosition *position,
			  ItemPointerData *rows)
{
	BlockNumber block = position->next;
	Buffer		buffer = ReadBuffer(rel, block);
	bool		is_head = block == position->head;
	Page		page;
	CuckooPageHeader header;
	int			n = 0;

	cuckoo_check_other(rel, position->link, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	CUCKOO_TEST_SNAPSHOT(position->snapshot, rel, page);
	if (PageIsNew(page) || cuckoo_page_header(page)->kind != CUCKOO_PAGE_FREE)
		cuckoo_check_page(rel, buffer, CUCKOO_PAGE_CHAIN);
	header = *cuckoo_page_header(page);
	position->source = cuckoo_source(buffer);
	if (header.kind == CUCKOO_PAGE_FREE ||
		header.chain.head != position->head)
	{
		/* it has been freed: start again at the head, if there is one */
		n = is_head ? -1 : 0;
		if (is_head && position->link != 0)
			cuckoo_index_corrupt(rel, block,
								 "found no chain, although block %u has a link to it",
								 position->link);
		if (++position->restarts > MOST_RESTARTS)
			cuckoo_index_corrupt(rel, block,
								 "found a page of chain %u, expected chain %u",
								 header.chain.head, position->head);
		position->next = position->head;
	}
	else
	{
		if (is_head ? position->sequence == 0 :
			header.chain.sequence < position->sequence)
		{
			n = cuckoo_count_rows(page);
			memcpy(rows, cuckoo_page_rows(page), n * sizeof(ItemPointerData));
			for (int i = 0; i < n; i++)
			{
				/* a bitmap scan needs a possible TID */
				if (!ItemPointerIsValid(&rows[i]) ||
					!BlockNumberIsValid(ItemPointerGetBlockNumber(&rows[i])))
					cuckoo_index_corrupt(rel, block,
										 "found an impossible TID, number %d of %d",
										 i + 1, n);
			}
			position->sequence = is_head ? PG_UINT32_MAX :
				header.chain.sequence;
		}
		/* pages that were read before a restart are no sign of a cycle */
		else if ((is_head || header.chain.sequence >= position->previous) &&
				 ++position->restarts > MOST_RESTARTS)
			cuckoo_index_corrupt(rel, block,
								 "found sequence number %u, expected one below %u",
								 header.chain.sequence, position->previous);
		position->previous = is_head ? PG_UINT32_MAX : header.chain.sequence;
		position->next = header.chain.next;
	}
	UnlockReleaseBuffer(buffer);
	return n;
}

CuckooChainPosition
cuckoo_chain_begin(BlockNumber head)
{
	CuckooChainPosition position = {.head = head,.next = head};

	return position;
}

int
cuckoo_chain_next(Relation rel, CuckooChainPosition *position,
				  ItemPointerData *rows)
{
	int			n = 0;

	while (n == 0 && BlockNumberIsValid(position->next))
	{
		CHECK_FOR_INTERRUPTS();
		n = read_position(rel, position, rows);
	}
	return n;
}

/* ---- freeing ---- */

/*
 * Puts an empty page on the list of free pages, and ends a record, which has
 * the page that referred to it.
 * Locks held: both pages, exclusive; takes block 0.
 */
static void
free_page(Relation rel, GenericXLogState *state, Buffer empty)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	CuckooPageHeader *freed =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, empty, 0));
	CuckooMeta *data =
		cuckoo_page_meta(GenericXLogRegisterBuffer(state, meta, 0));

	freed->kind = CUCKOO_PAGE_FREE;
	freed->chain.next = data->free;
	data->free = BufferGetBlockNumber(empty);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(meta);
}

/*
 * Adds a page to the list of pages with room.
 * Locks held on entry: none; takes the head, then the page.
 */
static void
list_page(Relation rel, BlockNumber head, BlockNumber block)
{
	Buffer		first = get_chain_page(rel, head, head);
	Buffer		buffer = get_chain_page(rel, block, head);
	GenericXLogState *state = GenericXLogStart(rel);
	CuckooPageHeader *header =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, first, 0));
	CuckooPageHeader *listed =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, buffer, 0));

	listed->chain.room = header->chain.room;
	header->chain.room = block;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	UnlockReleaseBuffer(first);
}

/*
 * True if a page of entries has a row with the tag of the link in a slot.
 * Locks held: the page.
 */
static bool
has_row_of_link(Relation rel, Buffer buffer, int at)
{
	Page		page = BufferGetPage(buffer);
	uint16		found[CUCKOO_PAGE_SLOTS];
	uint32		n = cuckoo_find_tag(cuckoo_page_slots(page),
									&cuckoo_page_header(page)->entries.encoding,
									cuckoo_decode_slot(rel, buffer, at).tag,
									found);

	for (uint32 i = 0; i < n; i++)
	{
		if (cuckoo_decode_slot(rel, buffer, found[i]).offset != 0)
			return true;
	}
	return false;
}

/*
 * Frees the head of a chain without rows, and removes its link from the page
 * `link`.  If a split has moved the link, this is left to the next VACUUM.  So
 * it is while the page has rows of the tag: a reader that has copied them and
 * the link would find them again, if they moved to a new chain with this head.
 * Locks held on entry: none; takes the page of the link, the head, block 0.
 */
static void
free_head(Relation rel, BlockNumber head, BlockNumber link)
{
	Buffer		buffer = cuckoo_get_page(rel, link, CUCKOO_PAGE_ENTRIES,
										 BUFFER_LOCK_EXCLUSIVE);
	int			at = cuckoo_find_link(rel, buffer, head);

	if (at >= 0 && !has_row_of_link(rel, buffer, at))
	{
		Buffer		first = get_chain_page(rel, head, head);
		Page		page = BufferGetPage(first);

		if (cuckoo_count_rows(page) == 0 &&
			!BlockNumberIsValid(cuckoo_page_header(page)->chain.next))
		{
			GenericXLogState *state = GenericXLogStart(rel);

			page = GenericXLogRegisterBuffer(state, buffer, 0);
			cuckoo_set_slot(cuckoo_page_slots(page), at, 0);
			free_page(rel, state, first);
		}
		UnlockReleaseBuffer(first);
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * Takes an empty page out of its chain.
 * Locks held: the page before it and the page, exclusive; takes block 0.
 */
static void
unlink_page(Relation rel, Buffer before, Buffer empty)
{
	GenericXLogState *state = GenericXLogStart(rel);

	cuckoo_page_header(GenericXLogRegisterBuffer(state, before,
												 0))->chain.next =
		cuckoo_page_header(BufferGetPage(empty))->chain.next;
	free_page(rel, state, empty);
}

/*
 * Empties the list of pages with room.  Returns the largest sequence number:
 * pages that are added meanwhile have larger ones.
 * Locks held on entry: none; takes the head.
 */
static uint32
clear_room(Relation rel, BlockNumber head)
{
	Buffer		first = get_chain_page(rel, head, head);
	CuckooPageHeader header = *cuckoo_page_header(BufferGetPage(first));

	if (BlockNumberIsValid(header.chain.room))
		set_room(rel, first, InvalidBlockNumber);
	UnlockReleaseBuffer(first);
	return header.chain.sequence;
}

/*
 * Only VACUUM frees pages, and there is one VACUUM of an index at a time.  So a
 * page stays in its chain while it is not locked here.
 */
void
cuckoo_chain_shrink(Relation rel, BlockNumber head, BlockNumber link)
{
	uint32		largest = clear_room(rel, head);
	BlockNumber block = head;

	while (BlockNumberIsValid(block))
	{
		Buffer		before;
		CuckooPageHeader header;
		BlockNumber next;
		bool		has_room;

		CUCKOO_VACUUM_DELAY();
		before = get_chain_page(rel, block, head);
		header = *cuckoo_page_header(BufferGetPage(before));
		has_room = block != head && header.chain.sequence <= largest &&
			cuckoo_count_rows(BufferGetPage(before)) <= ROWS_WITH_ROOM;
		next = header.chain.next;
		cuckoo_check_other(rel, block, next);
		if (BlockNumberIsValid(next))
		{
			Buffer		buffer;
			uint32		sequence;

			/* an insert locks the head first */
			cuckoo_check_other(rel, head, next);
			buffer = get_chain_page(rel, next, head);
			sequence =
				cuckoo_page_header(BufferGetPage(buffer))->chain.sequence;

			/* a cycle would have no end */
			if (block != head && sequence >= header.chain.sequence)
				cuckoo_index_corrupt(rel, next,
									 "found sequence number %u, expected one below %u",
									 sequence, header.chain.sequence);
			/* a newer page is on the list of pages with room */
			if (sequence <= largest &&
				cuckoo_count_rows(BufferGetPage(buffer)) == 0)
			{
				unlink_page(rel, before, buffer);
				next = block;
			}
			UnlockReleaseBuffer(buffer);
		}
		UnlockReleaseBuffer(before);
		if (has_room && next != block)
			list_page(rel, head, block);
		block = next;
	}
	free_head(rel, head, link);
}
