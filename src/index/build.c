/*-------------------------------------------------------------------------
 *
 * index/build.c
 *		CREATE INDEX and REINDEX: the geometry of an index, and filling it.
 *
 * A build collects a word for each row: the hash, or if the index locates, the
 * top bits of the hash and the block.  Sorted words are in the order of pages,
 * so one page is filled after the other.  Words beyond maintenance_work_mem
 * are inserted.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include <math.h>

/* The range of the default of growth_bits, by the size of the index. */
#define MOST_GROWTH_BITS	12
#define LEAST_GROWTH_BITS	2
#define LEAST_GROWTH_LOCATE	1

/*
 * An index that locates may be made for an empty table.  Unless the option
 * capacity is set, it has at least LEAST_PAGES pages, and expects a table of at
 * least LEAST_BLOCKS blocks.  With fewer pages, a growing table would need more
 * splits, and so more ext bits.
 */
#define LEAST_PAGES			128
#define LEAST_BLOCKS		8192

/* A build fills at most this share of the slots of a page. */
#define FULLEST_PAGE		0.972
#define FIT_TRIES			16

/*
 * The largest fillfactor if memory is short and rows are inserted later.
 * Inserts begin to fail at 95% of the slots of a page.  With 2400 slots, a
 * page reaches that only if it is 4.5 standard deviations above the mean.
 */
#define INSERT_FILLFACTOR	85

/* ---- geometry ---- */

/* The most buckets of f-bit fingerprints in a page, an even number. */
static uint32
buckets_of_page(int bits)
{
	return CUCKOO_PAGE_ROOM * 2 / (bits - 1) / 2 * 2;
}

/* The pages for n elements, from 1 to the most that extents can list. */
static uint32
pages_for(double n, int bits, int fillfactor)
{
	double		per_page = (double) buckets_of_page(bits) * CUCKOO_SLOTS *
		fillfactor / 100;
	double		most = (uint32) CUCKOO_MOST_PAGES;

	return (uint32) Min(ceil(Max(n, 1) / per_page), most);
}

/*
 * Chooses the geometry of a filter for n elements.  With each growth bit, the
 * elements may double once more before the rate rises.  An index of few pages
 * gets more growth bits, because it may be made for an empty table.
 */
static void
choose_filter_geometry(CuckooMeta *meta, const CuckooOptions *options, double n)
{
	int			ft = cuckoo_fpp_bits(meta->fpp);
	int			growth = options->growth_bits;

	n = Max(n, options->capacity);
	for (int bits = MOST_GROWTH_BITS;
		 growth < 0 && bits >= LEAST_GROWTH_BITS; bits--)
	{
		if (bits == LEAST_GROWTH_BITS ||
			(ft + bits <= CUCKOO_MAX_BITS &&
			 (int) pg_ceil_log2_32(pages_for(n, ft + bits,
											 options->fillfactor)) <=
			 MOST_GROWTH_BITS - bits))
			growth = bits;
	}
	meta->fpp_bits = (uint8) ft;
	meta->base_bits = (uint8) Min(ft + growth, CUCKOO_MAX_BITS);
	meta->page_buckets = (uint16) buckets_of_page(meta->base_bits);
	meta->pages = pages_for(n, meta->base_bits, options->fillfactor);
}

/*
 * Chooses the geometry of an index that locates n values in `blocks` blocks,
 * by the formula of README, "False blocks".  A doubling of the table uses up
 * two bits: one ext bit for the split, and one for twice as many blocks.
 */
static void
choose_locate_geometry(CuckooMeta *meta, const CuckooOptions *options,
					   double n, double blocks)
{
	double		rows = Max(n, options->capacity);
	int			growth = options->growth_bits;
	int			log_pages;

	if (n > 0)
		blocks *= rows / n;
	else
		blocks = Max(blocks, rows / 50);
	if (options->capacity == 0 &&
		pages_for(rows, CUCKOO_MAX_BITS, options->fillfactor) < LEAST_PAGES)
	{
		blocks = Max(blocks, LEAST_BLOCKS);
		rows = LEAST_PAGES * (double) buckets_of_page(CUCKOO_MAX_BITS) *
			CUCKOO_SLOTS * options->fillfactor / 100;
	}
	log_pages = (int) pg_ceil_log2_32(pages_for(rows, 28, options->fillfactor));
	if (growth < 0)
		growth = Max(MOST_GROWTH_BITS + 1 - log_pages, LEAST_GROWTH_LOCATE);
	growth = Min(growth, MOST_GROWTH_BITS);
	blocks = ldexp(Max(blocks, 1), growth);
	meta->base_bits = (uint8)
		Max(Min(ceil(log2(8 * 0.95 * blocks / meta->fpp)) + growth,
				CUCKOO_MAX_BITS), CUCKOO_LOCATE_LEAST_BITS);
	meta->fpp_bits = meta->base_bits;	/* cuckoo_index_derive() requires it */
	meta->page_buckets = (uint16) buckets_of_page(meta->base_bits);
	meta->pages = pages_for(rows, meta->base_bits, options->fillfactor);
	meta->payload_bits = (uint8)
		cuckoo_locate_payload_bits(meta->base_bits, meta->page_buckets, blocks);
}

/*
 * The meta data of a new index for a table of `blocks` blocks, without the
 * geometry.  Error 0A000 for a text type under bpchar_ops.
 */
static CuckooMeta
new_meta(Relation rel, const CuckooOptions *options, BlockNumber blocks)
{
	CuckooHasher hasher = {0};
	CuckooMeta	meta;

	memset(&meta, 0, sizeof(meta));
	cuckoo_index_hasher(&hasher, rel, CurrentMemoryContext);
	/* such an index would compare like char(n) and hash like text */
	if (rel->rd_opcintype[0] == BPCHAROID &&
		getBaseType(hasher.type) != BPCHAROID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("operator class bpchar_ops cannot index values of type %s",
						format_type_be(hasher.type)),
				 errhint("Create an index on an expression such as (column::bpchar).")));
	meta.magic = CUCKOO_META_MAGIC;
	meta.version = CUCKOO_META_VERSION;
	meta.end = CUCKOO_META_BLOCK + 1;
	meta.family = hasher.family;
	meta.tag = hasher.tag;
	meta.layout = cuckoo_type_layout(hasher.type);
	meta.fpp = options->fpp;
	meta.table_blocks = blocks;
	if (options->locate)
	{
		/* room for the blocks of a table that doubles during the build */
		double		most = 2 * (double) blocks + 65536;

		meta.flags = CUCKOO_META_LOCATE;
		meta.hash_bits = (uint8) (64 - Min(ceil(log2(most)), 32));
	}
	if (!cuckoo_index_seed(rel, &meta.seed) &&
		!pg_strong_random(&meta.seed, sizeof(meta.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	return meta;
}

/* ---- writing ---- */

/* Appends a page to a fork.  Returns its buffer, locked exclusively. */
static Buffer
new_page(Relation rel, ForkNumber fork)
{
	Buffer		buffer = ReadBufferExtended(rel, fork, P_NEW, RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

/*
 * Writes block 0.  If `with_pages`, all pages of level 0 will follow, and
 * their extents are listed.  Otherwise inserts allocate each extent when they
 * need it.
 */
static void
write_meta(Relation rel, ForkNumber fork, const CuckooMeta *meta,
		   bool with_pages)
{
	Buffer		buffer = new_page(rel, fork);
	Page		page = BufferGetPage(buffer);

	Assert(BufferGetBlockNumber(buffer) == CUCKOO_META_BLOCK);
	START_CRIT_SECTION();
	cuckoo_page_init_meta(page, meta);
	if (with_pages)
	{
		uint32		length = cuckoo_extent_pages(meta->pages);
		uint32		extents = (meta->pages + length - 1) / length;

		for (uint32 i = 0; i < extents; i++)
			cuckoo_page_extents(page)[i] = 1 + i * length;
		cuckoo_page_meta(page)->extents = extents;
		cuckoo_page_meta(page)->end = 1 + meta->pages;
		cuckoo_page_set_extents_end(page);
	}
	MarkBufferDirty(buffer);
	if (fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

typedef struct BuildState
{
	Relation	rel;
	CuckooHasher hasher;
	CuckooIndex *index;			/* meta data, locator and filters */
	CuckooOptions options;
	bool		stale;			/* the type has changed during the build */
	BlockNumber blocks;			/* length of the table */
	BlockNumber first;			/* first block with an element */
	bool		created;
	uint64	   *words;
	uint64		count;
	uint64		room;
	uint64		most;			/* limit of `room` by memory */
	double		rows;
	MemoryContext context;		/* memory for hashing one row */
	bool		by_value;		/* hashing needs no memory */
} BuildState;

/* The bits of the hash that the index uses. */
static uint64
hash_of(const BuildState *b, uint64 word)
{
	return b->options.locate ? cuckoo_locator_word(&b->index->locator, word, 0)
		: word;
}

/* The block of a word; 0 if the index does not locate. */
static BlockNumber
block_of(const BuildState *b, uint64 word)
{
	return b->options.locate ? cuckoo_locator_block(&b->index->locator, word)
		: 0;
}

/* Sorts the collected words and drops duplicates. */
static void
sort_words(BuildState *b)
{
	Size		size = Max(b->count, 1) * sizeof(uint64);
	uint64	   *scratch = palloc_extended(size, MCXT_ALLOC_HUGE);
	uint64		kept = 0;

	cuckoo_sort(b->words, b->count, scratch, 0, b->count);
	pfree(scratch);
	for (uint64 i = 0; i < b->count; i++)
	{
		cuckoo_pause(i);
		if (kept == 0 || b->words[kept - 1] != b->words[i])
			b->words[kept++] = b->words[i];
	}
	b->count = kept;
}

/* A value in more blocks than this becomes a mark, see mark_value(). */
static uint64
hot_blocks(const CuckooMeta *meta)
{
	return meta->flags & CUCKOO_META_LOCATE ?
		meta->page_buckets * CUCKOO_SLOTS / 4 : PG_UINT64_MAX;
}

/* The end of the words that have the same hash as word i. */
static uint64
end_of_hash(const BuildState *b, uint64 i)
{
	uint64		hash = hash_of(b, b->words[i]);

	while (i < b->count && hash_of(b, b->words[i]) == hash)
		i++;
	return i;
}

/* The size of an index of `pages` pages, see fit_pages(). */
typedef struct Fit
{
	CuckooMeta	meta;			/* with `pages` pages */
	uint64		most;			/* entries of a page */
	uint64		fullest;		/* entries of the fullest page */
	uint64		total;			/* pages, and those of extents for splits */
	uint64		extents[8];		/* counted last, for each segment */
} Fit;

/* Counts a page, and the extents in which its splits need a page. */
static void
count_page(Fit *fit, uint32 number, uint64 entries)
{
	uint64		room = fit->most;

	fit->fullest = Max(fit->fullest, entries);
	for (uint32 segment = 1; segment < lengthof(fit->extents); segment++)
	{
		CuckooExtent extent;

		/* the segments of a generation begin with a power of two */
		if ((segment & (segment - 1)) == 0)
		{
			if (entries <= room)
				break;
			room *= 2;
		}
		extent = cuckoo_index_extent(&fit->meta, number, segment);
		if (extent.number != fit->extents[segment])
			fit->total += extent.length;
		fit->extents[segment] = extent.number;
	}
}

static void
count_pages(const BuildState *b, const CuckooMeta *meta, uint32 pages, Fit *fit)
{
	uint64		entries = 0;
	uint32		number = 0;
	uint64		hot = hot_blocks(meta);
	uint64		end;

	memset(fit, 0, sizeof(Fit));
	fit->meta = *meta;
	fit->meta.pages = pages;
	fit->most = (uint64) (meta->page_buckets * CUCKOO_SLOTS * FULLEST_PAGE);
	fit->total = pages;
	for (uint64 i = 0; i < b->count; i = end)
	{
		uint32		next = cuckoo_scale(hash_of(b, b->words[i]), pages);

		cuckoo_pause(i);
		end = end_of_hash(b, i);
		if (next != number)
		{
			count_page(fit, number, entries);
			entries = 0;
		}
		number = next;
		entries += end - i > hot ? 1 : end - i;
	}
	count_page(fit, number, entries);
}

/*
 * Adds pages if the index then becomes smaller.  A page that is too full is
 * split, and the first split in an extent allocates up to 256 pages.
 */
static void
fit_pages(BuildState *b, CuckooMeta *meta)
{
	uint64		least = CUCKOO_MOST_PAGES;
	uint64		pages = meta->pages;
	Fit			fit;

	for (int i = 0; i < FIT_TRIES && pages < least; i++)
	{
		double		excess;

		count_pages(b, meta, (uint32) pages, &fit);
		excess = (double) fit.fullest / (double) fit.most - 1;
		if (fit.total < least)
		{
			least = fit.total;
			meta->pages = (uint32) pages;
		}
		if (excess <= 0)
			return;
		pages += (uint64) ceil((double) pages * Max(excess / 2, 0.005));
	}
}

typedef struct FillWork
{
	CuckooHeader h;
	uint64		room;			/* slots of a page */
	uint64	   *keys;
	uint64	   *scratch;
	void	   *slots;
	uint8	   *image;
} FillWork;

/*
 * Writes the keys of words `begin` to `end` - 1 to work->keys.  Returns their
 * number, or room + 1 if they exceed the slots of a page.
 */
static uint64
page_keys(const BuildState *b, FillWork *work, uint64 begin, uint64 end)
{
	const CuckooIndex *index = b->index;
	uint64		hot = hot_blocks(&index->meta);
	uint64		n = 0;
	uint64		kept = 0;
	uint64		next;

	for (uint64 i = begin; i < end; i = next)
	{
		uint64		hash = hash_of(b, b->words[i]);
		CuckooLocation at;

		next = end_of_hash(b, i);
		if (next - i > hot)
		{
			if (n == work->room)
				return work->room + 1;
			at = cuckoo_locate_mark(&index->locator, hash);
			work->keys[n++] = cuckoo_page_key(&at, &work->h, 0);
			continue;
		}
		if (next - i > work->room - n)
			return work->room + 1;
		for (; i < next; i++)
		{
			at = cuckoo_index_location(index, hash, block_of(b, b->words[i]));
			work->keys[n++] = cuckoo_page_key(&at, &work->h, 0);
		}
	}
	if (b->options.locate)
	{
		/* keys of one hash are out of order, and values may share a mark */
		cuckoo_sort(work->keys, n, work->scratch, 0, work->h.base);
		for (uint64 i = 0; i < n; i++)
		{
			if (kept == 0 || work->keys[kept - 1] != work->keys[i])
				work->keys[kept++] = work->keys[i];
		}
		n = kept;
	}
	return n;
}

/*
 * Fills an empty page with words `begin` to `end` - 1.  Returns false if they
 * do not fit; the page is then still empty.
 * Locks held: the page, exclusive.
 */
static bool
fill_page(const BuildState *b, Page page, FillWork *work, uint64 begin,
		  uint64 end)
{
	CuckooHeader *h = &work->h;
	uint64		n = page_keys(b, work, begin, end);

	if (n > work->room ||
		cuckoo_build(h, work->keys, n, work->slots) != CUCKOO_OK)
		return false;
	cuckoo_build_pack(h, work->slots, work->image);
	memcpy(cuckoo_page_image(page) + CUCKOO_HEADER_SIZE,
		   work->image + CUCKOO_HEADER_SIZE,
		   cuckoo_image_size(h) - CUCKOO_HEADER_SIZE - CUCKOO_TAIL_SIZE);
	cuckoo_store64(cuckoo_page_header(page)->items, h->items);
	return true;
}

/* Inserts words 0 to n - 1. */
static void
insert_words(BuildState *b, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
		cuckoo_index_insert(b->rel, hash_of(b, b->words[i]),
							block_of(b, b->words[i]), false);
}

/*
 * Creates block 0 and all pages of level 0, filled with the sorted words.
 * Words that do not fit in their page are inserted afterwards, because a split
 * appends pages, and the pages of level 0 must come first.
 */
static void
create_pages(BuildState *b)
{
	const CuckooMeta *meta = &b->index->meta;
	FillWork	work;
	uint64		begin = 0;
	uint64		left = 0;		/* words to insert, moved to the front */

	work.h = b->index->filters[0];
	work.room = (uint64) work.h.buckets * CUCKOO_SLOTS;
	work.keys = palloc(work.room * sizeof(uint64));
	work.scratch = palloc(work.room * sizeof(uint64));
	work.slots = palloc(cuckoo_build_size(&work.h));
	work.image = palloc(cuckoo_image_size(&work.h));
	write_meta(b->rel, MAIN_FORKNUM, meta, b->count > 0);
	for (uint32 number = 0; b->count > 0 && number < meta->pages; number++)
	{
		uint64		end = begin;
		Buffer		buffer = new_page(b->rel, MAIN_FORKNUM);

		CHECK_FOR_INTERRUPTS();
		cuckoo_page_init(BufferGetPage(buffer), b->index, number, 0, 0);
		while (end < b->count &&
			   cuckoo_scale(hash_of(b, b->words[end]), meta->pages) == number)
			end++;
		if (!fill_page(b, BufferGetPage(buffer), &work, begin, end))
		{
			memmove(b->words + left, b->words + begin,
					(end - begin) * sizeof(uint64));
			left += end - begin;
		}
		MarkBufferDirty(buffer);
		UnlockReleaseBuffer(buffer);
		begin = end;
	}
	pfree(work.keys);
	pfree(work.scratch);
	pfree(work.slots);
	pfree(work.image);
	cuckoo_index_forget(b->rel);
	insert_words(b, left);
	b->created = true;
}

/*
 * Moves the collected words into the index.  The first call creates the pages,
 * for n words.
 */
static void
flush(BuildState *b, double n)
{
	CuckooMeta	meta = b->index->meta;
	CuckooOptions options = b->options;

	if (b->created)
		insert_words(b, b->count);
	else
	{
		if (n > (double) b->count)
			options.fillfactor = Min(options.fillfactor, INSERT_FILLFACTOR);
		if (options.locate)
			choose_locate_geometry(&meta, &options, n, b->blocks);
		else
			choose_filter_geometry(&meta, &options, n);
		fit_pages(b, &meta);
		if (!cuckoo_index_derive(b->index, &meta))
			cuckoo_index_corrupt(b->rel, CUCKOO_META_BLOCK,
								 "the geometry is impossible: %u pages of %u buckets, fingerprints of %d bits",
								 meta.pages, meta.page_buckets,
								 meta.base_bits);
		create_pages(b);
	}
	b->count = 0;
}

/* ---- collecting ---- */

/*
 * Extrapolates the number of distinct words of the table, when the scan has
 * reached `block`.  If blocks 0 to 2 of 10 blocks had 300 words, the result is
 * 1,000.
 */
static double
estimate_words(const BuildState *b, BlockNumber block)
{
	BlockNumber blocks = Max(b->blocks, block + 1);

	return (double) b->count * (blocks - b->first) / (block + 1 - b->first);
}

/*
 * Makes room for a word.  The scan of the table has reached `block`.  If
 * memory is used up, moves the collected words into the index.
 */
static void
room_for_word(BuildState *b, BlockNumber block)
{
	if (b->room == 0)
		b->first = block;
	if (b->room < b->most)
	{
		b->room = Min(Max(b->room * 2, 1024), b->most);
		b->words = repalloc_huge(b->words, b->room * sizeof(uint64));
		return;
	}
	sort_words(b);
	if (b->count > b->most / 2)
		flush(b, estimate_words(b, block));
}

static void
collect_hash(BuildState *b, uint64 hash, BlockNumber block)
{
	const CuckooLocator *l = &b->index->locator;
	uint64		word = hash;

	if (b->options.locate)
	{
		word = cuckoo_locator_word(l, hash, block);
		if (cuckoo_locator_block(l, word) != block)
		{
			/* too large for a word: the table has more than doubled */
			sort_words(b);
			flush(b, (double) b->count);
			cuckoo_index_insert(b->rel, hash, block, false);
			return;
		}
	}
	if (b->count == b->room)
		room_for_word(b, block);
	b->words[b->count++] = word;
}

/*
 * Hashes a value, as cuckoo_insert_tuple() does.  Notes whether the hash
 * function of the type has changed.
 */
static uint64
hash_value(BuildState *b, Datum value)
{
	const CuckooMeta *meta = &b->index->meta;
	uint64		hash = cuckoo_hash(&b->hasher, value, meta->seed);
	uint64		before = ~hash;

	while (b->hasher.tag != 0 && !cuckoo_hasher_is_current(&b->hasher) &&
		   hash != before)
	{
		before = hash;
		memset(&b->hasher, 0, sizeof(CuckooHasher));
		cuckoo_index_hasher(&b->hasher, b->rel,
							MemoryContextGetParent(b->context));
		b->stale |= cuckoo_meta_is_stale(meta, &b->hasher);
		hash = cuckoo_hash(&b->hasher, value, meta->seed);
	}
	return hash;
}

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_collect_tuple(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
					 bool alive, void *state)
{
	BuildState *b = state;
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	uint64		hash;

	b->rows++;
	if (isnull[0])
		return;
	if (b->by_value)
		hash = hash_value(b, values[0]);
	else
	{
		MemoryContext caller = MemoryContextSwitchTo(b->context);

		hash = hash_value(b, values[0]);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(b->context);
	}
	collect_hash(b, hash, block);
}

IndexBuildResult *
cuckoo_build_index(Relation heap, Relation rel, IndexInfo * info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BuildState	b = {.rel = rel};

	b.options = cuckoo_index_options(rel);
	/* block numbers of other access methods may mean something else */
	if (b.options.locate && heap->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot locate rows of table \"%s\"",
						RelationGetRelationName(heap)),
				 errdetail("Its access method is not heap."),
				 errhint("Create the index WITH (locate = off).")));
	b.blocks = RelationGetNumberOfBlocks(heap);
	b.index = palloc0(sizeof(CuckooIndex));
	b.index->meta = new_meta(rel, &b.options, b.blocks);
	/* collect_hash() needs it before a geometry is chosen */
	b.index->locator.hash_bits = b.index->meta.hash_bits;
	cuckoo_index_hasher(&b.hasher, rel, CurrentMemoryContext);
	b.stale = cuckoo_meta_is_stale(&b.index->meta, &b.hasher);
	/* sort_words() needs as much again */
	b.most = Max((uint64) maintenance_work_mem * 1024 / (2 * sizeof(uint64)),
				 8192);
	b.words = palloc(sizeof(uint64));
	b.by_value = TupleDescAttr(RelationGetDescr(rel), 0)->attbyval &&
		b.hasher.hash_proc == NULL;
	b.context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo build",
									  ALLOCSET_SMALL_SIZES);
	/* scan from block 0: estimate_words() needs the blocks in order */
	result->heap_tuples = table_index_build_scan(heap, rel, info, false, true,
												 cuckoo_collect_tuple, &b,
												 NULL);
	sort_words(&b);
	flush(&b, (double) b.count);
	if (b.stale)
		cuckoo_index_set_stale(rel);
	result->index_tuples = b.rows;
	MemoryContextDelete(b.context);
	pfree(b.words);
	pfree(b.index);

	if (RelationNeedsWAL(rel))
		log_newpage_range(rel, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(rel),
						  true);
	return result;
}

void
cuckoo_build_empty(Relation rel)
{
	CuckooOptions options = cuckoo_index_options(rel);
	CuckooMeta	meta = new_meta(rel, &options, 0);

	if (options.locate)
		choose_locate_geometry(&meta, &options, 0, 0);
	else
		choose_filter_geometry(&meta, &options, 0);
	write_meta(rel, INIT_FORKNUM, &meta, false);
}
