/*-------------------------------------------------------------------------
 *
 * index/chain.c
 *		Chains: the rows of a tag that has very many.
 *
 * A chain is a list of pages with TIDs.  An entry of the tag links to its head,
 * which never changes.  A row is added to the head or to the page after it, and
 * never moves.  If both are full, a page is added after the head.  So an insert
 * writes one page, and VACUUM need not follow rows.
 *
 *	link -> head -> 9 -> 8 -> 5 -> 4		sequence numbers; 6 and 7 were freed
 *
 * VACUUM frees pages that are empty, and any chain may use them again.  A
 * reader may hold the block of a page that is freed meanwhile.  It detects that
 * by the head and the sequence number in the page, and then starts again at the
 * head, with the pages below the last sequence number.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"

/* A reader that finds a chain changed this often has found a corrupt one. */
#define MOST_RESTARTS	10000

void
cuckoo_init_chain(Page page, BlockNumber head, const ItemPointerData *rows,
				  int n)
{
	CuckooPageHeader *header;

	cuckoo_init_page(page, CUCKOO_PAGE_CHAIN);
	header = cuckoo_page_header(page);
	header->chain.next = InvalidBlockNumber;
	header->chain.head = head;
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

/*
 * Adds a page with one row after the head: a free page, or a new one.
 * Locks held: the head, exclusive; takes block 0, then the page.
 */
static void
add_page(Relation rel, Buffer head, ItemPointer tid)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	BlockNumber free = cuckoo_page_meta(BufferGetPage(meta))->free;
	GenericXLogState *state;
	Buffer		added = InvalidBuffer;
	CuckooPageHeader *header;
	CuckooPageHeader *after;
	Page		page;

	if (BlockNumberIsValid(free))
	{
		/* if the list is corrupt, this session may have locked the page */
		added = ReadBuffer(rel, free);
		if (ConditionalLockBuffer(added))
		{
			cuckoo_check_page(rel, added, CUCKOO_PAGE_FREE);
			free = cuckoo_page_header(BufferGetPage(added))->chain.next;
		}
		else
		{
			ReleaseBuffer(added);
			added = InvalidBuffer;
		}
	}
	if (!BufferIsValid(added))
		added = cuckoo_extend(rel, MAIN_FORKNUM);
	state = GenericXLogStart(rel);
	header = cuckoo_page_header(GenericXLogRegisterBuffer(state, head, 0));
	page = GenericXLogRegisterBuffer(state, added, GENERIC_XLOG_FULL_IMAGE);
	cuckoo_init_chain(page, header->chain.head, tid, 1);
	after = cuckoo_page_header(page);
	after->chain.next = header->chain.next;
	after->chain.sequence = ++header->chain.last;
	header->chain.next = BufferGetBlockNumber(added);
	page = GenericXLogRegisterBuffer(state, meta, 0);
	cuckoo_page_meta(page)->free = free;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(added);
	UnlockReleaseBuffer(meta);
}

void
cuckoo_chain_insert(Relation rel, BlockNumber link, BlockNumber head,
					ItemPointer tid)
{
	Buffer		first;
	Buffer		second = InvalidBuffer;
	BlockNumber next;

	cuckoo_check_other(rel, link, head);
	first = get_chain_page(rel, head, head);
	next = cuckoo_page_header(BufferGetPage(first))->chain.next;
	cuckoo_check_other(rel, head, next);
	if (!write_row(rel, first, tid))
	{
		if (BlockNumberIsValid(next))
			second = get_chain_page(rel, next, head);
		if (!BufferIsValid(second) || !write_row(rel, second, tid))
			add_page(rel, first, tid);
		if (BufferIsValid(second))
			UnlockReleaseBuffer(second);
	}
	UnlockReleaseBuffer(first);
}

/* ---- reading ---- */

/*
 * Reads the page at a position, and advances the position.  Returns the number
 * of its rows, and copies them.
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

	cuckoo_check_other(rel, position->locked, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	CUCKOO_TEST_SNAPSHOT(position->snapshot, rel, page);
	if (PageIsNew(page) || is_head ||
		cuckoo_page_header(page)->kind != CUCKOO_PAGE_FREE)
		cuckoo_check_page(rel, buffer, CUCKOO_PAGE_CHAIN);
	header = *cuckoo_page_header(page);
	if (is_head && header.chain.head != block)
		cuckoo_index_corrupt(rel, block,
							 "found a page of chain %u, expected the head of a chain",
							 header.chain.head);
	if (header.kind == CUCKOO_PAGE_FREE ||
		header.chain.head != position->head)
	{
		/* it has been freed: start again at the head */
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
	return (CuckooChainPosition) {.head = head,.next = head};
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
 * Takes an empty page out of its chain, and puts it on the list of free pages.
 * Locks held: both pages, exclusive; takes block 0.
 */
static void
free_page(Relation rel, Buffer before, Buffer empty)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	GenericXLogState *state = GenericXLogStart(rel);
	CuckooPageHeader *header =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, before, 0));
	CuckooPageHeader *freed =
		cuckoo_page_header(GenericXLogRegisterBuffer(state, empty, 0));
	CuckooMeta *data =
		cuckoo_page_meta(GenericXLogRegisterBuffer(state, meta, 0));

	header->chain.next = freed->chain.next;
	freed->kind = CUCKOO_PAGE_FREE;
	freed->chain.next = data->free;
	data->free = BufferGetBlockNumber(empty);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(meta);
}

static uint32
sequence_of(Buffer buffer)
{
	return cuckoo_page_header(BufferGetPage(buffer))->chain.sequence;
}

/*
 * Only VACUUM frees pages, and there is one VACUUM of an index at a time.  So a
 * page stays in its chain while it is not locked here.
 */
void
cuckoo_chain_shrink(Relation rel, BlockNumber head)
{
	BlockNumber block = head;

	while (BlockNumberIsValid(block))
	{
		Buffer		before;
		BlockNumber next;

		CUCKOO_VACUUM_DELAY();
		before = get_chain_page(rel, block, head);
		next = cuckoo_page_header(BufferGetPage(before))->chain.next;
		cuckoo_check_other(rel, block, next);
		if (BlockNumberIsValid(next))
		{
			Buffer		buffer = get_chain_page(rel, next, head);

			/* a cycle would have no end */
			if (next == head ||
				(block != head && sequence_of(buffer) >= sequence_of(before)))
				cuckoo_index_corrupt(rel, next,
									 "found sequence number %u, expected one below %u",
									 sequence_of(buffer), sequence_of(before));
			if (cuckoo_count_rows(BufferGetPage(buffer)) == 0)
			{
				free_page(rel, before, buffer);
				next = block;
			}
			UnlockReleaseBuffer(buffer);
		}
		UnlockReleaseBuffer(before);
		block = next;
	}
}
