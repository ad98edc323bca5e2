/*-------------------------------------------------------------------------
 *
 * index/page.c
 *		One page: checks, the rows of a tag, and WAL of a few bytes.
 *
 * Code reads a page by cuckoo_get_page(), or checks it by cuckoo_check_page().
 * So it meets no page of a wrong kind, and no numbers outside of their range.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "storage/lmgr.h"

/* ---- errors ---- */

void
cuckoo_index_corrupt(Relation rel, BlockNumber block, const char *what,...)
{
	char		detail[256];
	va_list		args;

	va_start(args, what);
	vsnprintf(detail, sizeof(detail), what, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupt", RelationGetRelationName(rel)),
			 errdetail("Block %u: %s.", block, detail),
			 errhint("Rebuild it with REINDEX.")));
}

void
cuckoo_impossible_entry(Relation rel, Buffer buffer)
{
	const CuckooPageHeader *header =
		cuckoo_page_header(BufferGetPage(buffer));

	cuckoo_index_corrupt(rel, BufferGetBlockNumber(buffer),
						 "an entry has no position, expected %d bits of one",
						 header->entries.encoding.position_bits);
}

void
cuckoo_check_other(Relation rel, BlockNumber block, BlockNumber other)
{
	if (unlikely(block == other))
		cuckoo_index_corrupt(rel, block,
							 "found a reference to block %u, expected one to another block",
							 other);
}

/* ---- pages ---- */

void
cuckoo_init_page(Page page, int kind)
{
	CuckooPageHeader *header;

	PageInit(page, BLCKSZ, sizeof(CuckooPageHeader));
	header = cuckoo_page_header(page);
	header->kind = (uint16) kind;
	header->page_id = CUCKOO_PAGE_ID;
	/* the rows of a chain come one by one; other pages have a fixed content */
	if (kind == CUCKOO_PAGE_ENTRIES)
		((PageHeader) page)->pd_lower = SizeOfPageHeaderData +
			sizeof(CuckooSlots);
	else if (kind == CUCKOO_PAGE_META || kind == CUCKOO_PAGE_MAP)
		((PageHeader) page)->pd_lower = ((PageHeader) page)->pd_upper;
}

static void
check_entries(Relation rel, BlockNumber block, const CuckooPageHeader *header)
{
	uint32		segment = header->entries.segment;
	CuckooEntryEncoding encoding = header->entries.encoding;

	if (encoding.level > CUCKOO_MOST_LEVEL || segment >> encoding.level != 0)
		cuckoo_index_corrupt(rel, block,
							 "found page %u of segment %u at level %d, expected a segment below 2^level",
							 header->entries.number, segment, encoding.level);
	if (encoding.position_bits < 1 ||
		encoding.position_bits > CUCKOO_MOST_POSITION_BITS ||
		encoding.offset_bits < 1 ||
		encoding.offset_bits > CUCKOO_MOST_OFFSET_BITS)
		cuckoo_index_corrupt(rel, block,
							 "found %d bits of positions and %d of offsets, expected up to %d and %d",
							 encoding.position_bits, encoding.offset_bits,
							 CUCKOO_MOST_POSITION_BITS,
							 CUCKOO_MOST_OFFSET_BITS);
}

void
cuckoo_check_page(Relation rel, Buffer buffer, int kind)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	PageHeader	postgres = (PageHeader) page;
	const CuckooPageHeader *header;
	LocationIndex end = SizeOfPageHeaderData;

	if (PageIsNew(page))
		cuckoo_index_corrupt(rel, block, "found zeros, expected a page");
	if (postgres->pd_special != BLCKSZ - sizeof(CuckooPageHeader))
		cuckoo_index_corrupt(rel, block,
							 "found the special space at byte %d, expected it at byte %d",
							 postgres->pd_special,
							 (int) (BLCKSZ - sizeof(CuckooPageHeader)));
	/* PostgreSQL clears the bytes from pd_lower to pd_upper */
	if (postgres->pd_upper != postgres->pd_special)
		cuckoo_index_corrupt(rel, block,
							 "found the end of the free space at byte %d, expected it at byte %d",
							 postgres->pd_upper, postgres->pd_special);
	header = cuckoo_page_header(page);
	if (header->page_id != CUCKOO_PAGE_ID || header->kind != kind)
		cuckoo_index_corrupt(rel, block,
							 "found page id %04X and kind %d, expected %04X and %d",
							 header->page_id, header->kind, CUCKOO_PAGE_ID,
							 kind);
	if (kind == CUCKOO_PAGE_ENTRIES)
	{
		check_entries(rel, block, header);
		end += sizeof(CuckooSlots);
	}
	else if (kind == CUCKOO_PAGE_CHAIN || kind == CUCKOO_PAGE_FREE)
	{
		if (postgres->pd_lower < SizeOfPageHeaderData ||
			cuckoo_count_rows(page) > (int) CUCKOO_CHAIN_ROWS)
			cuckoo_index_corrupt(rel, block,
								 "found the end of the rows at byte %d, expected up to %d rows",
								 postgres->pd_lower, (int) CUCKOO_CHAIN_ROWS);
		return;
	}
	else
		end = postgres->pd_special;
	if (postgres->pd_lower != end)
		cuckoo_index_corrupt(rel, block,
							 "found the end of the data at byte %d, expected it at byte %d",
							 postgres->pd_lower, end);
}

Buffer
cuckoo_get_page(Relation rel, BlockNumber block, int kind, int mode)
{
	Buffer		buffer;

	/* ReadBuffer() would append a page */
	if (!BlockNumberIsValid(block))
		cuckoo_index_corrupt(rel, block,
							 "found a reference to this block, expected one to a page of kind %d",
							 kind);
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, mode);
	cuckoo_check_page(rel, buffer, kind);
	return buffer;
}

Buffer
cuckoo_extend(Relation rel, ForkNumber fork)
{
	Buffer		buffer;

	LockRelationForExtension(rel, ExclusiveLock);
	buffer = ReadBufferExtended(rel, fork, P_NEW, RBM_NORMAL, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	UnlockRelationForExtension(rel, ExclusiveLock);
	return buffer;
}

/* ---- the rows of a tag ---- */

CuckooEntry
cuckoo_decode_slot(Relation rel, Buffer buffer, uint32 at)
{
	Page		page = BufferGetPage(buffer);
	CuckooEntry entry;

	if (!cuckoo_decode(&cuckoo_page_header(page)->entries.encoding,
					   cuckoo_slot(cuckoo_page_slots(page), at),
					   at / CUCKOO_BUCKET_SLOTS, &entry))
		cuckoo_impossible_entry(rel, buffer);
	return entry;
}

uint32
cuckoo_find_hash(Buffer buffer, uint64 hash, uint16 *found)
{
	Page		page = BufferGetPage(buffer);
	const CuckooEntryEncoding *encoding =
		&cuckoo_page_header(page)->entries.encoding;

	return cuckoo_find_tag(cuckoo_page_slots(page), encoding,
						   cuckoo_tag(hash, encoding), found);
}

int
cuckoo_match_rows(Relation rel, Buffer buffer, uint64 hash,
				  ItemPointerData *rows, List **heads)
{
	uint16		found[CUCKOO_PAGE_SLOTS];
	uint32		n = cuckoo_find_hash(buffer, hash, found);
	int			matches = 0;

	for (uint32 i = 0; i < n; i++)
	{
		CuckooEntry entry = cuckoo_decode_slot(rel, buffer, found[i]);

		if (entry.offset == 0)
			*heads = lappend_oid(*heads, entry.block);
		else
		{
			ItemPointerSet(&rows[matches], entry.block, entry.offset);
			matches++;
		}
	}
	return matches;
}

BlockNumber
cuckoo_find_chain(Relation rel, Buffer buffer, uint64 hash)
{
	uint16		found[CUCKOO_PAGE_SLOTS];
	uint32		n = 0;

	if (cuckoo_page_header(BufferGetPage(buffer))->entries.encoding.has_chain)
		n = cuckoo_find_hash(buffer, hash, found);
	for (uint32 i = 0; i < n; i++)
	{
		CuckooEntry entry = cuckoo_decode_slot(rel, buffer, found[i]);

		if (entry.offset == 0)
			return entry.block;
	}
	return InvalidBlockNumber;
}

int
cuckoo_find_link(Relation rel, Buffer buffer, BlockNumber head)
{
	const CuckooSlots *slots = cuckoo_page_slots(BufferGetPage(buffer));

	for (uint32 at = 0; at < CUCKOO_PAGE_SLOTS; at++)
	{
		CuckooEntry entry;

		if (cuckoo_slot(slots, at) == 0)
			continue;
		entry = cuckoo_decode_slot(rel, buffer, at);
		if (entry.offset == 0 && entry.block == head)
			return (int) at;
	}
	return -1;
}

/*
 * Compares rows by their blocks.  Within a block the last row comes first: it
 * is probably the live version of the others, and its discovery ends the search
 * of a constraint.
 */
static int
compare_tids(const void *a, const void *b)
{
	const ItemPointerData *x = a;
	const ItemPointerData *y = b;
	BlockNumber x_block = ItemPointerGetBlockNumberNoCheck(x);
	BlockNumber y_block = ItemPointerGetBlockNumberNoCheck(y);

	if (x_block != y_block)
		return x_block > y_block ? 1 : -1;
	return (int) ItemPointerGetOffsetNumberNoCheck(y) -
		(int) ItemPointerGetOffsetNumberNoCheck(x);
}

void
cuckoo_sort_tids(ItemPointerData *rows, int n)
{
	/* most lookups find one row */
	if (n > 1)
		qsort(rows, n, sizeof(ItemPointerData), compare_tids);
}

bool
cuckoo_is_among(const ItemPointerData *tid, const ItemPointerData *rows, int n)
{
	return bsearch(tid, rows, n, sizeof(ItemPointerData),
				   compare_tids) != NULL;
}

/* ---- WAL of a few bytes ---- */

void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_add_range(CuckooDelta *delta, Page page, const void *from, int length)
{
	OffsetNumber offset = (OffsetNumber) ((const char *) from - (char *) page);
	OffsetNumber size = (OffsetNumber) length;

	Assert(delta->length + 2 * sizeof(offset) + length <= sizeof(delta->data));
	memcpy(delta->data + delta->length, &offset, sizeof(offset));
	memcpy(delta->data + delta->length + sizeof(offset), &size, sizeof(size));
	memcpy(delta->data + delta->length + 2 * sizeof(offset), from, length);
	delta->length += 2 * (int) sizeof(offset) + length;
}

void
cuckoo_log_delta(Relation rel, Buffer buffer, const CuckooDelta *delta)
{
	XLogRecPtr	lsn;

	if (!RelationNeedsWAL(rel))
		return;
	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, (char *) delta->data, delta->length);
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(BufferGetPage(buffer), lsn);
}
