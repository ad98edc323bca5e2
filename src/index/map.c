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

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* More steps than this mean that the levels contradict each other. */
#define MOST_STEPS	256

/*
 * The data and the map of an index, in its relcache entry.  The map may be old,
 * which costs a lookup one more page.  The next catalog lookup may free it.
 */
typedef struct MapCache
{
	CuckooHashing hashing;
	int			level;			/* the largest level seen */
	uint64		room;			/* length of blocks[] */
	/* 0: not split yet; InvalidBlockNumber: unknown */
	BlockNumber blocks[FLEXIBLE_ARRAY_MEMBER];
} MapCache;

/* ---- meta data ---- */

void
cuckoo_init_meta(Page page, const CuckooHashing *hashing)
{
	CuckooMeta *meta = cuckoo_page_meta(page);

	cuckoo_init_page(page, CUCKOO_PAGE_META);
	meta->magic = CUCKOO_META_MAGIC;
	meta->version = CUCKOO_META_VERSION;
	meta->seed = hashing->seed;
	meta->hash_bits = (uint16) hashing->hash_bits;
	meta->base_pages = hashing->base_pages;
	meta->free = InvalidBlockNumber;
}

Buffer
cuckoo_lock_meta(Relation rel, int mode)
{
	Buffer		buffer = cuckoo_get_page(rel, CUCKOO_META_BLOCK,
										 CUCKOO_PAGE_META, mode);
	const CuckooMeta *meta = cuckoo_page_meta(BufferGetPage(buffer));

	if (meta->magic != CUCKOO_META_MAGIC ||
		meta->version != CUCKOO_META_VERSION)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found magic number %08X and version %u, expected %08X and %u",
							 meta->magic, meta->version, CUCKOO_META_MAGIC,
							 CUCKOO_META_VERSION);
	if (meta->base_pages < CUCKOO_FEWEST_PAGES ||
		meta->base_pages > CUCKOO_MOST_PAGES)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found %u pages, expected at least %d",
							 meta->base_pages, CUCKOO_FEWEST_PAGES);
	if (meta->hash_bits < 1 || meta->hash_bits > 64)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found hashes of %d bits, expected 1 to 64",
							 meta->hash_bits);
	return buffer;
}

static MapCache *
map_cache(Relation rel)
{
	MapCache   *cache = rel->rd_amcache;
	Buffer		buffer;
	const CuckooMeta *meta;

	if (likely(cache != NULL))
		return cache;
	buffer = cuckoo_lock_meta(rel, BUFFER_LOCK_SHARE);
	meta = cuckoo_page_meta(BufferGetPage(buffer));
	cache = MemoryContextAllocZero(rel->rd_indexcxt, sizeof(MapCache));
	cache->hashing.seed = meta->seed;
	cache->hashing.hash_bits = meta->hash_bits;
	cache->hashing.base_pages = meta->base_pages;
	UnlockReleaseBuffer(buffer);
	rel->rd_amcache = cache;
	return cache;
}

CuckooHashing
cuckoo_hashing(Relation rel)
{
	return map_cache(rel)->hashing;
}

/* ---- the map on disk ---- */

/* The place of a page in the map. */
static uint64
map_place(uint32 base_pages, uint32 number, uint32 segment)
{
	return (uint64) segment * base_pages + number;
}

/*
 * Returns the block in a list of blocks, *listed.  If it is 0, appends a map
 * page if `create`.
 * Locks held: the page with the list, exclusive if `create`.
 */
static BlockNumber
listed_block(Relation rel, Buffer list, const BlockNumber *listed, bool create)
{
	ptrdiff_t	offset = (const char *) listed -
		(const char *) BufferGetPage(list);
	GenericXLogState *state;
	Buffer		added;
	BlockNumber block = *listed;

	if (block != 0 || !create)
		return block;
	added = cuckoo_extend(rel, MAIN_FORKNUM);
	block = BufferGetBlockNumber(added);
	state = GenericXLogStart(rel);
	cuckoo_init_page(GenericXLogRegisterBuffer(state, added,
											   GENERIC_XLOG_FULL_IMAGE),
					 CUCKOO_PAGE_MAP);
	*(BlockNumber *) ((char *) GenericXLogRegisterBuffer(state, list, 0) +
					  offset) = block;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(added);
	return block;
}

/*
 * Returns the block of map page k, or 0 if it does not exist and `create` is
 * false.
 * Locks held on entry: the page `locked`, or none.
 */
static BlockNumber
map_block(Relation rel, uint64 k, BlockNumber locked, bool create)
{
	int			mode = create ? BUFFER_LOCK_EXCLUSIVE : BUFFER_LOCK_SHARE;
	Buffer		meta = cuckoo_lock_meta(rel, mode);
	const BlockNumber *maps = cuckoo_page_meta(BufferGetPage(meta))->maps;
	uint64		listed = k - CUCKOO_META_DIRECT;
	BlockNumber block;

	if (k < CUCKOO_META_DIRECT)
		block = listed_block(rel, meta, &maps[k], create);
	else
		block = listed_block(rel, meta, &maps[CUCKOO_META_DIRECT + listed /
											  CUCKOO_MAP_BLOCKS], create);
	UnlockReleaseBuffer(meta);
	if (block != 0)
		cuckoo_check_other(rel, locked, block);
	if (block != 0 && k >= CUCKOO_META_DIRECT)
	{
		Buffer		list = cuckoo_get_page(rel, block, CUCKOO_PAGE_MAP, mode);

		maps = cuckoo_page_map(BufferGetPage(list));
		block = listed_block(rel, list, &maps[listed % CUCKOO_MAP_BLOCKS],
							 create);
		UnlockReleaseBuffer(list);
		if (block != 0)
			cuckoo_check_other(rel, locked, block);
	}
	return block;
}

Buffer
cuckoo_lock_map(Relation rel, uint32 number, uint32 segment,
				BlockNumber locked, uint32 *at)
{
	uint64		place = map_place(cuckoo_hashing(rel).base_pages, number,
								  segment);
	uint64		k = place / CUCKOO_MAP_BLOCKS;
	BlockNumber block = map_block(rel, k, locked, false);

	if (block == 0)
		block = map_block(rel, k, locked, true);
	*at = (uint32) (place % CUCKOO_MAP_BLOCKS);
	return cuckoo_get_page(rel, block, CUCKOO_PAGE_MAP, BUFFER_LOCK_EXCLUSIVE);
}

/*
 * True if the map may have a place for a page.  A build has not written all N
 * pages yet.
 */
static bool
can_map(Relation rel, uint32 number, uint32 segment)
{
	uint32		base_pages = cuckoo_hashing(rel).base_pages;
	uint64		place = map_place(base_pages, number, segment);

	return place < CUCKOO_MOST_PAGES &&
		place / CUCKOO_SPARSEST_MAP < Max(base_pages,
										  RelationGetNumberOfBlocks(rel));
}

bool
cuckoo_plan_split(Relation rel, CuckooPageHeader *parent,
				  CuckooPageHeader *child)
{
	CuckooEntryEncoding *encoding = &parent->entries.encoding;
	uint32		segment = parent->entries.segment |
		UINT32_C(1) << encoding->level;

	if (encoding->level == CUCKOO_MOST_LEVEL ||
		encoding->position_bits == CUCKOO_MOST_POSITION_BITS ||
		!can_map(rel, parent->entries.number, segment))
		return false;
	encoding->level++;
	encoding->position_bits++;
	*child = *parent;
	child->entries.segment = segment;
	return true;
}

/* ---- the cached map ---- */

/*
 * Reads map page k into the cached map, and makes room there.  Its blocks are 0
 * if it does not exist.
 * Locks held on entry: none.
 */
static void
load_map(Relation rel, uint64 k)
{
	MapCache   *cache = map_cache(rel);
	uint64		room = (k + 1) * CUCKOO_MAP_BLOCKS;
	BlockNumber *blocks;
	BlockNumber block = map_block(rel, k, InvalidBlockNumber, false);
	Buffer		buffer;

	if (cache->room < room)
	{
		cache = repalloc_huge(cache, offsetof(MapCache, blocks) +
							  room * sizeof(BlockNumber));
		rel->rd_amcache = cache;
		memset(cache->blocks + cache->room, 0xff,
			   (room - cache->room) * sizeof(BlockNumber));
		cache->room = room;
	}
	blocks = cache->blocks + k * CUCKOO_MAP_BLOCKS;
	if (block == 0)
	{
		memset(blocks, 0, CUCKOO_MAP_BLOCKS * sizeof(BlockNumber));
		return;
	}
	buffer = cuckoo_get_page(rel, block, CUCKOO_PAGE_MAP, BUFFER_LOCK_SHARE);
	memcpy(blocks, cuckoo_page_map(BufferGetPage(buffer)),
		   CUCKOO_MAP_BLOCKS * sizeof(BlockNumber));
	UnlockReleaseBuffer(buffer);
}

/*
 * The block of a page, or 0 if it does not exist, according to the cached map.
 * If `again`, its map page is read again.
 */
static BlockNumber
page_block(Relation rel, uint32 number, uint32 segment, bool again)
{
	MapCache   *cache = map_cache(rel);
	uint64		place = map_place(cache->hashing.base_pages, number, segment);

	if (unlikely(again || place >= cache->room ||
				 cache->blocks[place] == InvalidBlockNumber))
	{
		/* no page is there, although a corrupt level says so */
		if (!can_map(rel, number, segment))
			return 0;
		load_map(rel, place / CUCKOO_MAP_BLOCKS);
		cache = map_cache(rel);
	}
	return cache->blocks[place];
}

/* ---- finding ---- */

/*
 * Error XX002 if the page is older than the map, because a write was lost.  The
 * map was read before the page was locked, and both show a split at once.
 */
static void
check_level(Relation rel, const MapCache *cache, Buffer buffer)
{
	const CuckooPageHeader *header =
		cuckoo_page_header(BufferGetPage(buffer));
	uint32		child = header->entries.segment |
		UINT32_C(1) << header->entries.encoding.level;
	uint64		place = map_place(cache->hashing.base_pages,
								  header->entries.number, child);

	if (place < cache->room && cache->blocks[place] != 0 &&
		cache->blocks[place] != InvalidBlockNumber)
		cuckoo_index_corrupt(rel, BufferGetBlockNumber(buffer),
							 "found level %d, although block %u has segment %u",
							 header->entries.encoding.level,
							 cache->blocks[place], child);
}

Buffer
cuckoo_find_page(Relation rel, uint64 hash, int mode)
{
	MapCache   *cache = map_cache(rel);
	uint32		number = cuckoo_page_number(cache->hashing.base_pages, hash);
	uint64		ext = cuckoo_ext(hash);
	int			level = cache->level;
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
		buffer = cuckoo_get_page(rel, block, CUCKOO_PAGE_ENTRIES, mode);
		header = cuckoo_page_header(BufferGetPage(buffer));
		if (header->entries.number != number ||
			header->entries.segment != segment)
			cuckoo_index_corrupt(rel, block,
								 "found page %u of segment %u, expected page %u of segment %u",
								 header->entries.number,
								 header->entries.segment, number, segment);
		differ = (uint32) ((ext ^ segment) &
						   cuckoo_bit_mask(header->entries.encoding.level));
		cache = map_cache(rel);
		cache->level = Max(cache->level, header->entries.encoding.level);
		if (likely(differ == 0))
		{
			check_level(rel, cache, buffer);
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
