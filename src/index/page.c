/*-------------------------------------------------------------------------
 *
 * index/page.c
 *		The pages of an index, and how a hash finds its page.
 *
 * A hash h belongs to page p = floor(h * N / 2^64), and there to the bucket
 * floor(r * w / 2^64), where r = h * N mod 2^64.  With all bits of r this gives
 * p * w + bucket = floor(h * N * w / 2^64), the base bucket of the filter that
 * the whole index is.
 *
 * Which of the pages with this number has the hash depends on their levels: it
 * is that of the segment that the low `level` bits of ext give.  Any level may
 * be tried first.  If the page does not exist, its level is lower; if it does,
 * its own level tells which page to try next.
 *
 *-------------------------------------------------------------------------
 */
#include "index/page.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

void
cuckoo_index_corrupt(Relation rel, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupt", RelationGetRelationName(rel)),
			 errdetail("Block %u: %s.", block, what),
			 errhint("Rebuild it with REINDEX.")));
}

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

static Size
size_of_index(uint32 runs)
{
	return offsetof(CuckooIndex, runs) + runs * sizeof(BlockNumber);
}

/* True if the meta data can be those of an index. */
static bool
is_valid_meta(const CuckooMeta *m)
{
	return m->magic == CUCKOO_META_MAGIC && m->version == CUCKOO_META_VERSION &&
		m->pages > 0 && m->runs <= CUCKOO_MAX_RUNS_LISTED &&
		m->page_buckets > 0 && m->page_buckets % 2 == 0 &&
		m->fpp_bits >= CUCKOO_CORE_BITS && m->base_bits >= m->fpp_bits &&
		m->base_bits <= CUCKOO_MAX_BITS &&
		m->page_buckets / 2 * (m->base_bits - 1) <= CUCKOO_PAGE_ROOM &&
		m->family <= CUCKOO_FAMILY_LAST &&
		((m->flags & CUCKOO_META_INLINE) != 0 ? m->pages == 1 :
		 m->end > m->pages);
}

const CuckooIndex *
cuckoo_index_open(Relation rel)
{
	CuckooIndex *index = rel->rd_amcache;
	Buffer		buffer;
	Page		page;
	CuckooMeta	meta;
	BlockNumber runs[CUCKOO_MAX_RUNS_LISTED];

	if (likely(index != NULL))
		return index;
	buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	memset(&meta, 0, sizeof(meta));
	if (!PageIsNew(page))
		meta = *cuckoo_page_meta(page);
	if (is_valid_meta(&meta))
		memcpy(runs, cuckoo_page_runs(page), meta.runs * sizeof(BlockNumber));
	UnlockReleaseBuffer(buffer);
	if (!is_valid_meta(&meta))
		cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK, "invalid meta data");

	index = MemoryContextAllocZero(rel->rd_indexcxt, size_of_index(meta.runs));
	index->meta = meta;
	for (int level = 0; level <= meta.base_bits - CUCKOO_CORE_BITS; level++)
		cuckoo_page_geometry(&index->filters[level], &meta, level);
	memcpy(index->runs, runs, meta.runs * sizeof(BlockNumber));
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

CuckooSpot
cuckoo_index_spot(const CuckooMeta *meta, uint64 hash)
{
	CuckooSpot	spot;
	uint32		core = (uint32) hash & 0xff;

	spot.number = cuckoo_scale(hash, meta->pages);
	spot.bucket = cuckoo_scale(hash * meta->pages, meta->page_buckets);
	spot.fingerprint = (uint32) (hash & cuckoo_low_mask(meta->base_bits));
	if (core == 0)
		spot.fingerprint |= 1;
	return spot;
}

uint64
cuckoo_page_key(const CuckooSpot *spot, const CuckooHeader *h, int level)
{
	uint32		ext = cuckoo_spot_ext(spot) >> level;
	uint32		fingerprint = ext << CUCKOO_CORE_BITS |
		(spot->fingerprint & 0xff);

	return ((spot->bucket * h->base_inverse >> 32) + 1) << 32 | fingerprint;
}

uint64
cuckoo_index_run(const CuckooMeta *meta, uint32 number, uint32 segment,
				 uint32 *offset, uint32 *length)
{
	int			group = segment == 0 ? 0 : pg_leftmost_one_pos32(segment) + 1;
	uint64		size = meta->pages; /* of the group */
	uint64		place = number; /* in the group */
	uint64		run = 0;
	uint32		pages;

	for (int g = 0; g < group; g++)
	{
		pages = cuckoo_run_pages(size);
		run += (size + pages - 1) / pages;
		size = (uint64) meta->pages << g;
	}
	if (group > 0)
		place += (segment - (UINT64CONST(1) << (group - 1))) * meta->pages;
	pages = cuckoo_run_pages(size);
	*offset = (uint32) (place % pages);
	*length = (uint32) Min(size - place / pages * pages, pages);
	return run + place / pages;
}

BlockNumber
cuckoo_index_block(const CuckooIndex *index, uint32 number, uint32 segment)
{
	uint32		offset,
				length;
	uint64		run;

	if (index->meta.flags & CUCKOO_META_INLINE)
		return segment == 0 ? CUCKOO_META_BLOCK : InvalidBlockNumber;
	run = cuckoo_index_run(&index->meta, number, segment, &offset, &length);
	if (run >= index->meta.runs || index->runs[run] == 0)
		return InvalidBlockNumber;
	return index->runs[run] + offset;
}

void
cuckoo_page_init_unused(Page page)
{
	PageInit(page, BLCKSZ, 0);
	((PageHeader) page)->pd_lower = CUCKOO_PAGE_DATA;
}

/* The offset behind the buckets of a page of this filter. */
static LocationIndex
end_of_page(const CuckooHeader *h)
{
	return (LocationIndex)
		(CUCKOO_PAGE_DATA + h->buckets / 2 * (h->bits - 1));
}

void
cuckoo_page_set_end(Page page, const CuckooHeader *h)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = end_of_page(h);
}

void
cuckoo_page_init(Page page, const CuckooMeta *meta, uint32 number,
				 uint32 segment, int level)
{
	CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h;

	PageInit(page, BLCKSZ, 0);
	header->number = number;
	header->segment = segment;
	header->level = (uint8) level;
	header->magic = CUCKOO_PAGE_MAGIC;
	cuckoo_page_geometry(&h, meta, level);
	cuckoo_page_set_end(page, &h);
}

void
cuckoo_meta_init(Page page, const CuckooMeta *meta)
{
	if (meta->flags & CUCKOO_META_INLINE)
		cuckoo_page_init(page, meta, 0, 0, 0);
	else
		cuckoo_page_init_unused(page);
	*cuckoo_page_meta(page) = *meta;
}

CuckooHeader
cuckoo_page_filter(const CuckooIndex *index, Relation rel, Page page,
				   BlockNumber block)
{
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h;

	if (header->level > index->meta.base_bits - CUCKOO_CORE_BITS ||
		header->number >= index->meta.pages ||
		header->segment >> header->level != 0)
		cuckoo_index_corrupt(rel, block, "impossible level, number or segment");
	h = index->filters[header->level];
	if (((PageHeader) page)->pd_lower != end_of_page(&h))
		cuckoo_index_corrupt(rel, block, "its length is not that of its level");
	h.items = cuckoo_load64(header->items);
	return h;
}

/*
 * Reads and locks the page of a segment, or returns InvalidBuffer if it does
 * not exist as far as the meta data know, which may be older than it.
 */
static Buffer
read_segment(Relation rel, uint32 number, uint32 segment, int mode)
{
	const CuckooIndex *index = cuckoo_index_open(rel);
	BlockNumber block = cuckoo_index_block(index, number, segment);
	Buffer		buffer;
	Page		page;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, mode);
	page = BufferGetPage(buffer);
	if (block == CUCKOO_META_BLOCK &&
		(cuckoo_page_meta(page)->flags & CUCKOO_META_INLINE) == 0)
	{
		/* the page has moved out of block 0 */
		UnlockReleaseBuffer(buffer);
		cuckoo_index_forget(rel);
		return read_segment(rel, number, segment, mode);
	}
	if (!cuckoo_page_is_used(page))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	if (cuckoo_page_header(page)->number != number ||
		cuckoo_page_header(page)->segment != segment)
		cuckoo_index_corrupt(rel, block, "another page should be there");
	return buffer;
}

Buffer
cuckoo_index_find(Relation rel, const CuckooSpot *spot, int mode)
{
	uint32		ext = cuckoo_spot_ext(spot);
	int			level = cuckoo_index_open(rel)->level;

	/* each step goes to a page that did not exist when the last one was seen */
	for (int step = 0; step < 8 * CUCKOO_INDEX_LEVELS; step++)
	{
		uint32		segment = ext & (uint32) cuckoo_low_mask(level);
		Buffer		buffer;
		uint32		differ;
		uint8		found;

		CHECK_FOR_INTERRUPTS();
		buffer = read_segment(rel, spot->number, segment, mode);
		if (!BufferIsValid(buffer))
		{
			if (segment == 0)
				cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
									 "a page of level 0 is missing");
			level = pg_leftmost_one_pos32(segment);
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

		/* the page of this hash parted from the one seen at that level */
		level = pg_rightmost_one_pos32(differ) + 1;
		if (cuckoo_index_block(cuckoo_index_open(rel), spot->number,
							   ext & (uint32) cuckoo_low_mask(level)) ==
			InvalidBlockNumber)
			cuckoo_index_forget(rel);	/* it is newer than the meta data */
	}
	cuckoo_index_corrupt(rel, CUCKOO_META_BLOCK,
						 "the levels of its pages contradict each other");
}
