/*-------------------------------------------------------------------------
 *
 * index/page.c
 *		The meta page, pages, and finding the page of a hash.
 *
 * README explains page addressing, with the algorithm of cuckoo_index_find().
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* The most extents of a generation, until an extent has CUCKOO_EXTENT_PAGES. */
#define GENERATION_EXTENTS	32

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

/* ---- meta data ---- */

void
cuckoo_page_geometry(CuckooHeader *h, const CuckooMeta *meta, int level)
{
	memset(h, 0, sizeof(*h));
	h->base = h->page = meta->page_buckets;
	h->base_bits = (uint8_t) (meta->base_bits - level);
	h->fpp_bits = (uint8_t) Min(meta->fpp_bits, h->base_bits);
	h->seed = meta->seed;
	h->family = meta->family;
	h->tag = meta->tag;
	cuckoo_header_derive(h);
}

bool
cuckoo_index_derive(CuckooIndex *index, const CuckooMeta *m)
{
	CuckooLocator *l = &index->locator;

	if (m->magic != CUCKOO_META_MAGIC || m->version != CUCKOO_META_VERSION ||
		m->pages == 0 || m->pages > CUCKOO_MOST_PAGES ||
		m->extents > CUCKOO_EXTENTS_LISTED || m->end == 0 ||
		m->end > MaxBlockNumber - CUCKOO_EXTENT_PAGES ||
		m->page_buckets == 0 || m->page_buckets % 2 != 0 ||
		m->base_bits < CUCKOO_CORE_BITS || m->base_bits > CUCKOO_MAX_BITS ||
		(Size) m->page_buckets / 2 * (m->base_bits - 1u) > CUCKOO_PAGE_ROOM ||
		m->family > CUCKOO_FAMILY_LAST)
		return false;
	index->meta = *m;
	if (m->flags & CUCKOO_META_LOCATE)
	{
		l->pages = m->pages;
		l->page_buckets = m->page_buckets;
		l->base_bits = m->base_bits;
		l->payload_bits = m->payload_bits;
		l->hash_bits = m->hash_bits;
		if (m->base_bits < CUCKOO_LOCATE_LEAST_BITS ||
			!cuckoo_locator_derive(l))
			return false;
		index->last_level = l->ext_bits;
	}
	else
	{
		if (m->fpp_bits < CUCKOO_CORE_BITS || m->base_bits < m->fpp_bits)
			return false;
		index->last_level = m->base_bits - CUCKOO_CORE_BITS;
	}
	for (int level = 0; level <= index->last_level; level++)
		cuckoo_page_geometry(&index->filters[level], m, level);
	return true;
}

/* Reports meta data that cuckoo_index_derive() rejects. */
pg_noreturn static void
corrupt_meta(Relation rel, const CuckooMeta *m)
{
	if (m->magic != CUCKOO_META_MAGIC || m->version != CUCKOO_META_VERSION)
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
							 "found magic number %08X and version %u, expected %08X and %u",
							 m->magic, m->version, CUCKOO_META_MAGIC,
							 CUCKOO_META_VERSION);
	cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
						 "found invalid meta data: %u pages, %u extents up to block %u, %u buckets a page, %d fingerprint bits, family %d",
						 m->pages, m->extents, m->end, m->page_buckets,
						 m->base_bits, m->family);
}

const CuckooIndex *
cuckoo_index_open(Relation rel)
{
	CuckooIndex *index = rel->rd_amcache;
	Size		size = offsetof(CuckooIndex, extents);
	Buffer		buffer;
	Page		page;
	CuckooMeta	meta;
	BlockNumber extents[CUCKOO_EXTENTS_LISTED];

	if (likely(index != NULL))
		return index;
	buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	memset(&meta, 0, sizeof(meta));
	if (!PageIsNew(page))
		meta = *cuckoo_page_meta(page);
	meta.extents = Min(meta.extents, CUCKOO_EXTENTS_LISTED + 1);
	memcpy(extents, cuckoo_page_extents(page),
		   Min(meta.extents, CUCKOO_EXTENTS_LISTED) * sizeof(BlockNumber));
	UnlockReleaseBuffer(buffer);

	size += meta.extents * sizeof(BlockNumber);
	index = MemoryContextAllocZero(rel->rd_indexcxt, size);
	if (!cuckoo_index_derive(index, &meta))
	{
		pfree(index);
		corrupt_meta(rel, &meta);
	}
	for (uint32 i = 0; i < meta.extents; i++)
	{
		if (extents[i] >= meta.end)
		{
			pfree(index);
			cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
								 "found extent %u at block %u, expected all extents before block %u",
								 i, extents[i], meta.end);
		}
	}
	memcpy(index->extents, extents, meta.extents * sizeof(BlockNumber));
	rel->rd_amcache = index;
	return index;
}

void
cuckoo_index_forget(Relation rel)
{
	if (rel->rd_amcache != NULL)
		pfree(rel->rd_amcache);
	rel->rd_amcache = NULL;
}

/* ---- locations ---- */

CuckooLocation
cuckoo_index_location(const CuckooIndex *index, uint64 hash, BlockNumber block)
{
	const CuckooMeta *meta = &index->meta;
	CuckooLocation at;

	if (cuckoo_index_locates(index))
		return cuckoo_locate(&index->locator, hash, block);

	/*
	 * The whole index is like one filter with N * w base buckets, so the base
	 * bucket of a hash is floor(hash * N * w / 2^64).  The page number is
	 * floor(hash * N / 2^64), and the remainder of that division gives the
	 * bucket in the page.
	 */
	at.number = cuckoo_scale(hash, meta->pages);
	at.bucket = cuckoo_scale(hash * meta->pages, meta->page_buckets);
	at.fingerprint = (uint32) (hash & cuckoo_low_mask(meta->base_bits));
	if ((hash & 0xff) == 0)
		at.fingerprint |= 1;
	return at;
}

uint64
cuckoo_page_key(const CuckooLocation *at, const CuckooHeader *h, int level)
{
	uint32		ext = cuckoo_location_ext(at) >> level;
	uint32		fingerprint = ext << CUCKOO_CORE_BITS |
		(at->fingerprint & 0xff);

	return ((at->bucket * h->base_inverse >> 32) + 1) << 32 | fingerprint;
}

/* ---- extents ---- */

uint32
cuckoo_extent_pages(uint64 generation)
{
	uint64		pages = (generation + GENERATION_EXTENTS - 1) /
		GENERATION_EXTENTS;

	return (uint32) Max(Min(pages, CUCKOO_EXTENT_PAGES), 1);
}

CuckooExtent
cuckoo_index_extent(const CuckooMeta *meta, uint32 number, uint32 segment)
{
	CuckooExtent extent = {0};
	int			generation = segment == 0 ? 0 :
		pg_leftmost_one_pos32(segment) + 1;
	uint64		size = meta->pages; /* pages of the generation */
	uint64		position = number;	/* of the page in the generation */
	uint32		pages;

	for (int g = 0; g < generation; g++)
	{
		pages = cuckoo_extent_pages(size);
		extent.number += (size + pages - 1) / pages;
		size = (uint64) meta->pages << g;
	}
	if (generation > 0)
		position += meta->pages *
			(segment - (UINT64CONST(1) << (generation - 1)));
	pages = cuckoo_extent_pages(size);
	extent.number += position / pages;
	extent.offset = (uint32) (position % pages);
	extent.length = (uint32) Min(size - position / pages * pages, pages);
	return extent;
}

BlockNumber
cuckoo_index_block(const CuckooIndex *index, uint32 number, uint32 segment)
{
	CuckooExtent extent = cuckoo_index_extent(&index->meta, number, segment);

	if (extent.number >= index->meta.extents ||
		index->extents[extent.number] == 0)
		return InvalidBlockNumber;
	return index->extents[extent.number] + extent.offset;
}

/* ---- initializing ---- */

void
cuckoo_page_init_unused(Page page)
{
	PageInit(page, BLCKSZ, 0);
	((PageHeader) page)->pd_lower = CUCKOO_PAGE_DATA;
}

/* The offset of the first byte after the buckets of a page. */
static LocationIndex
end_of_page(const CuckooHeader *h)
{
	return (LocationIndex)
		(CUCKOO_PAGE_DATA + h->buckets / 2 * (h->bits - 1));
}

void
cuckoo_page_init(Page page, const CuckooIndex *index, uint32 number,
				 uint32 segment, int level)
{
	CuckooPageHeader *header = cuckoo_page_header(page);

	PageInit(page, BLCKSZ, 0);
	header->number = number;
	header->segment = segment;
	header->level = (uint8) level;
	header->magic = CUCKOO_PAGE_MAGIC;
	((PageHeader) page)->pd_lower = end_of_page(&index->filters[level]);
}

void
cuckoo_page_set_extents_end(Page page)
{
	((PageHeader) page)->pd_lower = (LocationIndex)
		(CUCKOO_META_EXTENTS +
		 cuckoo_page_meta(page)->extents * sizeof(BlockNumber));
}

void
cuckoo_page_init_meta(Page page, const CuckooMeta *meta)
{
	PageInit(page, BLCKSZ, 0);
	*cuckoo_page_meta(page) = *meta;
	cuckoo_page_set_extents_end(page);
}

/* ---- finding ---- */

CuckooHeader
cuckoo_page_filter(const CuckooIndex *index, Relation rel, Page page,
				   BlockNumber block)
{
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h;

	if (header->level > index->last_level ||
		header->number >= index->meta.pages ||
		header->segment >> header->level != 0)
		cuckoo_index_corrupt(rel, block,
							 "found level %d, page %u, segment %u, expected a level up to %d, a page up to %u, a segment below 2^level",
							 header->level, header->number, header->segment,
							 index->last_level, index->meta.pages - 1);
	h = index->filters[header->level];
	if (((PageHeader) page)->pd_lower != end_of_page(&h))
		cuckoo_index_corrupt(rel, block,
							 "found the end of the data at byte %d, expected byte %d at level %d",
							 ((PageHeader) page)->pd_lower, end_of_page(&h),
							 header->level);
	h.items = cuckoo_load64(header->items);
	return h;
}

/*
 * Reads the page of a segment.  Returns its buffer, pinned and locked in
 * `mode`.  Returns InvalidBuffer if the page is only allocated, or not in the
 * cached list of extents, which may be old.
 * Locks held on entry: none.
 */
static Buffer
read_segment(Relation rel, uint32 number, uint32 segment, int mode)
{
	BlockNumber block = cuckoo_index_block(cuckoo_index_open(rel), number,
										   segment);
	Buffer		buffer;
	Page		page;
	const CuckooPageHeader *header;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, mode);
	page = BufferGetPage(buffer);
	header = cuckoo_page_header(page);
	if (PageIsNew(page))
		cuckoo_index_corrupt(rel, block,
							 "found zeros, expected page %u of segment %u",
							 number, segment);
	if (!cuckoo_page_is_used(page))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	if (header->number != number || header->segment != segment)
		cuckoo_index_corrupt(rel, block,
							 "found page %u of segment %u, expected page %u of segment %u",
							 header->number, header->segment, number, segment);
	return buffer;
}

/*
 * If the meta page lists the extent of a page and the cached meta data do not,
 * forgets the cached meta data and returns true.
 * Locks held on entry: none.
 */
static bool
has_new_extent(Relation rel, uint32 number, uint32 segment)
{
	const CuckooIndex *index = cuckoo_index_open(rel);
	CuckooExtent extent = cuckoo_index_extent(&index->meta, number, segment);
	Buffer		buffer;
	Page		page;
	bool		result;

	if (BlockNumberIsValid(cuckoo_index_block(index, number, segment)))
		return false;
	buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	result = extent.number < Min(cuckoo_page_meta(page)->extents,
								 CUCKOO_EXTENTS_LISTED) &&
		cuckoo_page_extents(page)[extent.number] != 0;
	UnlockReleaseBuffer(buffer);
	if (result)
		cuckoo_index_forget(rel);
	return result;
}

Buffer
cuckoo_index_find(Relation rel, const CuckooLocation *at, int mode)
{
	uint32		ext = cuckoo_location_ext(at);
	int			level = cuckoo_index_open(rel)->level;

	/*
	 * A missing page leads to its parent's level, and a page that was split
	 * leads to its child.  More steps than levels mean that the levels
	 * contradict each other.
	 */
	for (int step = 0; step < 8 * CUCKOO_INDEX_LEVELS; step++)
	{
		uint32		segment = ext & (uint32) cuckoo_low_mask(level);
		Buffer		buffer;
		uint32		differ;
		uint8		found;

		CHECK_FOR_INTERRUPTS();
		buffer = read_segment(rel, at->number, segment, mode);
		if (!BufferIsValid(buffer))
		{
			/* try the level of its parent; segment 0 has no parent */
			if (segment != 0)
				level = pg_leftmost_one_pos32(segment);
			else if (!has_new_extent(rel, at->number, 0))
				return InvalidBuffer;
			continue;
		}
		found = cuckoo_page_header(BufferGetPage(buffer))->level;
		differ = (ext ^ segment) & (uint32) cuckoo_low_mask(Min(found, 32));
		if (differ == 0)
		{
			((CuckooIndex *) cuckoo_index_open(rel))->level = found;
			return buffer;
		}
		UnlockReleaseBuffer(buffer);

		/* this page has been split: try the child that got the hash */
		level = pg_rightmost_one_pos32(differ) + 1;
		if (cuckoo_index_block(cuckoo_index_open(rel), at->number,
							   ext & (uint32) cuckoo_low_mask(level)) ==
			InvalidBlockNumber)
			cuckoo_index_forget(rel);	/* old cache: without the child */
	}
	cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
						 "found no page of ext bits %u in %d steps, because the levels of page %u contradict each other",
						 ext, 8 * CUCKOO_INDEX_LEVELS, at->number);
}
