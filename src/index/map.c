/*-------------------------------------------------------------------------
 *
 * index/map.c
 *		The meta page, the map, and finding the page of a hash.
 *
 * README, "Page Addressing" and after, has the algorithm of cuckoo_find_page().
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "port/pg_bitutils.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

/* More steps than this mean that the levels contradict each other. */
#define MOST_STEPS	256

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
	uint32		pages = cuckoo_index_open(rel)->pages;
	uint32		number = header->entries.number;
	uint32		segment = header->entries.segment;
	CuckooEntryEncoding encoding = header->entries.encoding;

	if (number >= pages || encoding.level > CUCKOO_MOST_LEVEL ||
		segment >> encoding.level != 0)
		cuckoo_index_corrupt(rel, block,
							 "found page %u of segment %u at level %d, expected a page up to %u and a segment below 2^level",
							 number, segment, encoding.level, pages - 1);
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
cuckoo_extend(Relation rel, ForkNumber fork)
{
	Buffer		buffer;

	LockRelationForExtension(rel, ExclusiveLock);
	buffer = ReadBufferExtended(rel, fork, P_NEW, RBM_NORMAL, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	UnlockRelationForExtension(rel, ExclusiveLock);
	return buffer;
}

/* Reads a page of a kind, and locks it. */
static Buffer
lock_page(Relation rel, BlockNumber block, int kind, int mode)
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

	if (RelationNeedsWAL(rel))
	{
		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) delta->data, delta->length);
		lsn = XLogInsert(RM_GENERIC_ID, 0);
	}
	else if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		lsn = GetFakeLSNForUnloggedRel();
	else
		return;
	PageSetLSN(BufferGetPage(buffer), lsn);
}

/* ---- meta data ---- */

Buffer
cuckoo_lock_meta(Relation rel, int mode)
{
	Buffer		buffer = lock_page(rel, CUCKOO_META_BLOCK, CUCKOO_PAGE_META,
								   mode);
	const CuckooMeta *meta = cuckoo_page_meta(BufferGetPage(buffer));

	if (meta->magic != CUCKOO_META_MAGIC ||
		meta->version != CUCKOO_META_VERSION)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found magic number %08X and version %u, expected %08X and %u",
							 meta->magic, meta->version, CUCKOO_META_MAGIC,
							 CUCKOO_META_VERSION);
	if (meta->pages < CUCKOO_FEWEST_PAGES || meta->pages > CUCKOO_MOST_PAGES)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found %u pages, expected at least %d",
							 meta->pages, CUCKOO_FEWEST_PAGES);
	if (meta->hash_bits < 1 || meta->hash_bits > 64)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found hashes of %d bits, expected 1 to 64",
							 meta->hash_bits);
	return buffer;
}

CuckooIndex *
cuckoo_index_open(Relation rel)
{
	CuckooIndex *index = rel->rd_amcache;
	Buffer		buffer;
	const CuckooMeta *meta;

	if (likely(index != NULL))
		return index;
	buffer = cuckoo_lock_meta(rel, BUFFER_LOCK_SHARE);
	meta = cuckoo_page_meta(BufferGetPage(buffer));
	index = MemoryContextAllocZero(rel->rd_indexcxt, sizeof(CuckooIndex));
	index->seed = meta->seed;
	index->hash_bits = meta->hash_bits;
	index->pages = meta->pages;
	UnlockReleaseBuffer(buffer);
	rel->rd_amcache = index;
	return index;
}

/* ---- the map ---- */

/* The place of a page in the map. */
static uint64
map_place(const CuckooIndex *index, uint32 number, uint32 segment)
{
	return (uint64) segment * index->pages + number;
}

/*
 * Finds the page that has the block of map page k: the meta page, or a page
 * like a map page.  Returns its buffer, locked in `mode`, or InvalidBuffer if
 * it does not exist.  *at is the number of the block in its list.
 * Locks held: block 0, whose buffer is `meta`, and the page `parent`.
 */
static Buffer
lock_directory(Relation rel, Buffer meta, uint64 k, BlockNumber parent,
			   int mode, uint32 *at)
{
	BlockNumber block;

	k -= CUCKOO_META_DIRECT;
	*at = (uint32) (k % CUCKOO_MAP_BLOCKS);
	block = cuckoo_page_meta(BufferGetPage(meta))->maps[CUCKOO_META_DIRECT +
														k / CUCKOO_MAP_BLOCKS];
	if (block == 0)
		return InvalidBuffer;
	cuckoo_check_other(rel, parent, block);
	return lock_page(rel, block, CUCKOO_PAGE_MAP, mode);
}

/*
 * The block of map page k, or 0 if it does not exist.
 * Locks held: block 0, whose buffer is `meta`, and the page `parent`.
 */
static BlockNumber
map_block(Relation rel, Buffer meta, uint64 k, BlockNumber parent)
{
	Buffer		directory;
	BlockNumber block = 0;
	uint32		at;

	if (k < CUCKOO_META_DIRECT)
		return cuckoo_page_meta(BufferGetPage(meta))->maps[k];
	directory = lock_directory(rel, meta, k, parent, BUFFER_LOCK_SHARE, &at);
	if (BufferIsValid(directory))
	{
		block = cuckoo_page_map(BufferGetPage(directory))[at];
		UnlockReleaseBuffer(directory);
	}
	return block;
}

/*
 * Reads map page k into the cached map, and makes room there.  Its blocks are 0
 * if it does not exist.
 * Locks held on entry: none.
 */
static void
load_map(Relation rel, uint64 k)
{
	CuckooIndex *index = cuckoo_index_open(rel);
	uint64		room = (k + 1) * CUCKOO_MAP_BLOCKS;
	BlockNumber *blocks;
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_SHARE);
	BlockNumber block = map_block(rel, meta, k, CUCKOO_META_BLOCK);
	Buffer		buffer;

	UnlockReleaseBuffer(meta);
	if (index->room < room)
	{
		index = repalloc_huge(index, offsetof(CuckooIndex, blocks) +
							  room * sizeof(BlockNumber));
		rel->rd_amcache = index;
		memset(index->blocks + index->room, 0xff,
			   (room - index->room) * sizeof(BlockNumber));
		index->room = room;
	}
	blocks = index->blocks + k * CUCKOO_MAP_BLOCKS;
	if (block == 0)
	{
		memset(blocks, 0, CUCKOO_MAP_BLOCKS * sizeof(BlockNumber));
		return;
	}
	buffer = lock_page(rel, block, CUCKOO_PAGE_MAP, BUFFER_LOCK_SHARE);
	memcpy(blocks, cuckoo_page_map(BufferGetPage(buffer)),
		   CUCKOO_MAP_BLOCKS * sizeof(BlockNumber));
	UnlockReleaseBuffer(buffer);
}

/*
 * Creates map page k, unless it exists.
 * Locks held on entry: the page `parent`; takes block 0 and releases it.
 */
static void
create_map(Relation rel, uint64 k, BlockNumber parent)
{
	Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_EXCLUSIVE);
	Buffer		directory = InvalidBuffer;
	Buffer		map;
	uint32		at = 0;
	GenericXLogState *state;
	BlockNumber *maps;
	Page		page;

	if (map_block(rel, meta, k, parent) != 0)
	{
		UnlockReleaseBuffer(meta);
		return;
	}
	map = cuckoo_extend(rel, MAIN_FORKNUM);
	state = GenericXLogStart(rel);
	cuckoo_init_page(GenericXLogRegisterBuffer(state, map,
											   GENERIC_XLOG_FULL_IMAGE),
					 CUCKOO_PAGE_MAP);
	page = GenericXLogRegisterBuffer(state, meta, 0);
	maps = cuckoo_page_meta(page)->maps;
	if (k < CUCKOO_META_DIRECT)
		maps[k] = BufferGetBlockNumber(map);
	else
	{
		int			flags = 0;

		directory = lock_directory(rel, meta, k, parent, BUFFER_LOCK_EXCLUSIVE,
								   &at);
		if (!BufferIsValid(directory))
		{
			directory = cuckoo_extend(rel, MAIN_FORKNUM);
			maps[CUCKOO_META_DIRECT + (k - CUCKOO_META_DIRECT) /
				 CUCKOO_MAP_BLOCKS] = BufferGetBlockNumber(directory);
			flags = GENERIC_XLOG_FULL_IMAGE;
		}
		page = GenericXLogRegisterBuffer(state, directory, flags);
		if (flags != 0)
			cuckoo_init_page(page, CUCKOO_PAGE_MAP);
		cuckoo_page_map(page)[at] = BufferGetBlockNumber(map);
	}
	GenericXLogFinish(state);
	UnlockReleaseBuffer(map);
	if (BufferIsValid(directory))
		UnlockReleaseBuffer(directory);
	UnlockReleaseBuffer(meta);
}

Buffer
cuckoo_lock_map(Relation rel, uint32 number, uint32 segment,
				BlockNumber parent, uint32 *at)
{
	uint64		place = map_place(cuckoo_index_open(rel), number, segment);

	*at = (uint32) (place % CUCKOO_MAP_BLOCKS);
	for (;;)
	{
		Buffer		meta = cuckoo_lock_meta(rel, BUFFER_LOCK_SHARE);
		BlockNumber block = map_block(rel, meta, place / CUCKOO_MAP_BLOCKS,
									  parent);

		UnlockReleaseBuffer(meta);
		if (block != 0)
		{
			cuckoo_check_other(rel, parent, block);
			return lock_page(rel, block, CUCKOO_PAGE_MAP,
							 BUFFER_LOCK_EXCLUSIVE);
		}
		create_map(rel, place / CUCKOO_MAP_BLOCKS, parent);
	}
}

bool
cuckoo_can_map(Relation rel, uint32 number, uint32 segment)
{
	uint64		place = map_place(cuckoo_index_open(rel), number, segment);

	return place < CUCKOO_MOST_PAGES &&
		place / CUCKOO_SPARSEST_MAP < RelationGetNumberOfBlocks(rel);
}

void
cuckoo_note_block(Relation rel, uint32 number, uint32 segment, int level,
				  BlockNumber block)
{
	CuckooIndex *index = cuckoo_index_open(rel);
	uint64		place = map_place(index, number, segment);

	/* a map page that is not cached will be read when it is needed */
	if (place < index->room && index->blocks[place] != InvalidBlockNumber)
		index->blocks[place] = block;
	index->level = Max(index->level, level);
}

/*
 * The block of a page, or 0 if it does not exist, according to the cached map.
 * If `again`, its map page is read again.
 */
static BlockNumber
page_block(Relation rel, uint32 number, uint32 segment, bool again)
{
	CuckooIndex *index = cuckoo_index_open(rel);
	uint64		place = map_place(index, number, segment);

	if (unlikely(again || place >= index->room ||
				 index->blocks[place] == InvalidBlockNumber))
	{
		/* no page is there, although a corrupt level says so */
		if (!cuckoo_can_map(rel, number, segment))
			return 0;
		load_map(rel, place / CUCKOO_MAP_BLOCKS);
		index = cuckoo_index_open(rel);
	}
	return index->blocks[place];
}

/* ---- finding ---- */

/*
 * Error XX002 if the page is older than the map, because a write was lost.  The
 * map was read before the page was locked, and both show a split at once.
 */
static void
check_level(Relation rel, const CuckooIndex *index, Buffer buffer)
{
	const CuckooPageHeader *header =
		cuckoo_page_header(BufferGetPage(buffer));
	uint32		child = header->entries.segment |
		UINT32_C(1) << header->entries.encoding.level;
	uint64		place = map_place(index, header->entries.number, child);

	if (place < index->room && index->blocks[place] != 0 &&
		index->blocks[place] != InvalidBlockNumber)
		cuckoo_index_corrupt(rel, BufferGetBlockNumber(buffer),
							 "found level %d, although block %u has segment %u",
							 header->entries.encoding.level,
							 index->blocks[place], child);
}

Buffer
cuckoo_find_page(Relation rel, uint64 hash, int mode)
{
	CuckooIndex *index = cuckoo_index_open(rel);
	uint32		number = cuckoo_page_number(index->pages, hash);
	uint64		ext = cuckoo_ext(hash);
	int			level = index->level;
	bool		again = false;	/* the cached map is old */

	for (int step = 0; step < MOST_STEPS; step++)
	{
		uint32		segment = (uint32) (ext & cuckoo_bit_mask(level));
		BlockNumber block = page_block(rel, number, segment, again);
		Buffer		buffer;
		const CuckooPageHeader *header;
		uint32		differ;

		if (block == 0)
		{
			/* its parent has not been split yet */
			if (segment == 0 || again)
				break;
			level = pg_leftmost_one_pos32(segment);
			continue;
		}
		buffer = lock_page(rel, block, CUCKOO_PAGE_ENTRIES, mode);
		header = cuckoo_page_header(BufferGetPage(buffer));
		if (header->entries.number != number ||
			header->entries.segment != segment)
			cuckoo_index_corrupt(rel, block,
								 "found page %u of segment %u, expected page %u of segment %u",
								 header->entries.number,
								 header->entries.segment, number, segment);
		differ = (uint32) ((ext ^ segment) &
						   cuckoo_bit_mask(header->entries.encoding.level));
		index = cuckoo_index_open(rel);
		index->level = Max(index->level, header->entries.encoding.level);
		if (likely(differ == 0))
		{
			check_level(rel, index, buffer);
			return buffer;
		}
		UnlockReleaseBuffer(buffer);

		/* this page has been split: the child that got the hash exists */
		level = pg_rightmost_one_pos32(differ) + 1;
		again = page_block(rel, number,
						   (uint32) (ext & cuckoo_bit_mask(level)), false) == 0;
	}
	cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
						 "found no block of page %u for ext bits %08X, because map and levels contradict each other",
						 number, (uint32) ext);
}
