/*-------------------------------------------------------------------------
 *
 * index/build.c
 *		CREATE INDEX and REINDEX: the geometry of an index, and filling it.
 *
 * The build collects the hashes of all rows and sorts them, which brings them
 * into the order of pages, and fills each page at once with cuckoo_build().  If
 * they take more than maintenance_work_mem, also without those that are there
 * twice, what was collected so far is inserted in the order of pages, and so is
 * what follows; the number of pages is then that for a table which has as many
 * new elements in its other blocks, but for those before the first element.
 *
 * Geometry.  f0 is ft plus spare bits, of which each doubling of the index
 * takes one, so that the false-positive rate stays as requested until they are
 * used up.  An index with few pages gets up to 12, because it may be made for
 * an empty table; one with thousands gets 2, because a spare bit of a page
 * costs 1 bit an element.  A page takes as many buckets of f0 bits as fit.
 *
 *-------------------------------------------------------------------------
 */
#include "index/handler.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include <math.h>

#define MOST_SPARE		12
#define LEAST_SPARE		2

/* ---- geometry ---- */

/* The buckets of f bits that fit a page, an even number. */
static uint32
buckets_of_page(int bits)
{
	return CUCKOO_PAGE_ROOM * 2 / (bits - 1) / 2 * 2;
}

/* The pages for n elements, at least 1, and at most what runs can list. */
static uint32
pages_for(double n, int bits, int fillfactor)
{
	double		per_page = (double) buckets_of_page(bits) * CUCKOO_SLOTS *
		fillfactor / 100;
	uint64		most = CUCKOO_MAX_RUNS_LISTED * CUCKOO_RUN_PAGES;

	return (uint32) Min(ceil(Max(n, 1) / per_page), (double) most);
}

/* The spare bits for an index of the size that n elements of f0 bits give. */
static int
spare_for(double n, int bits, const CuckooOptions *options)
{
	if (bits > CUCKOO_MAX_BITS)
		return 0;
	return MOST_SPARE -
		(int) pg_ceil_log2_32(pages_for(n, bits, options->fillfactor));
}

/* Chooses the geometry for n elements. */
static void
choose_geometry(CuckooMeta *meta, const CuckooOptions *options, double n)
{
	int			ft = cuckoo_fpp_bits(options->fpp);
	int			spare = options->spare;

	n = Max(n, options->capacity);
	if (spare < 0)
	{
		spare = MOST_SPARE;
		while (spare > LEAST_SPARE && spare > spare_for(n, ft + spare, options))
			spare--;
	}
	meta->fpp_bits = (uint8) ft;
	meta->base_bits = (uint8) Min(ft + spare, CUCKOO_MAX_BITS);
	meta->page_buckets = (uint16) buckets_of_page(meta->base_bits);
	meta->pages = pages_for(n, meta->base_bits, options->fillfactor);
	meta->fillfactor = (uint8) options->fillfactor;
	meta->flags = meta->pages == 1 ? CUCKOO_META_INLINE : 0;
}

/* The meta data of a new index but for its geometry. */
static CuckooMeta
new_meta(Relation rel)
{
	CuckooHasher hasher = {0};
	CuckooMeta	meta;

	memset(&meta, 0, sizeof(meta));
	cuckoo_index_hasher(&hasher, rel, CurrentMemoryContext);
	/* its equality is that of char(n), but text has another hash */
	if (rel->rd_opcintype[0] == BPCHAROID &&
		getBaseType(hasher.type) != BPCHAROID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("operator class bpchar_ops cannot index values of type %s",
						format_type_be(hasher.type)),
				 errhint("Create an index on an expression such as (column::bpchar).")));
	meta.magic = CUCKOO_META_MAGIC;
	meta.version = CUCKOO_META_VERSION;
	meta.family = hasher.family;
	meta.tag = hasher.tag;
	meta.layout = cuckoo_type_layout(hasher.type);
	if (!cuckoo_index_seed(rel, &meta.seed) &&
		!pg_strong_random(&meta.seed, sizeof(meta.seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	return meta;
}

/* ---- writing ---- */

/* A new page at the end of a fork, locked. */
static Buffer
new_page(Relation rel, ForkNumber fork)
{
	Buffer		buffer = ReadBufferExtended(rel, fork, P_NEW, RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

/* Writes block 0, with the list of the runs of group 0. */
static void
write_meta(Relation rel, ForkNumber fork, const CuckooMeta *meta)
{
	Buffer		buffer = new_page(rel, fork);
	Page		page = BufferGetPage(buffer);

	Assert(BufferGetBlockNumber(buffer) == CUCKOO_META_BLOCK);
	START_CRIT_SECTION();
	cuckoo_meta_init(page, meta);
	if ((meta->flags & CUCKOO_META_INLINE) == 0)
	{
		uint32		length = cuckoo_run_pages(meta->pages);
		uint32		runs = (meta->pages + length - 1) / length;

		for (uint32 i = 0; i < runs; i++)
			cuckoo_page_runs(page)[i] = 1 + i * length;
		cuckoo_page_meta(page)->runs = runs;
		cuckoo_page_meta(page)->end = 1 + meta->pages;
		((PageHeader) page)->pd_lower += runs * sizeof(BlockNumber);
	}
	MarkBufferDirty(buffer);
	if (fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* What a build has collected. */
typedef struct BuildState
{
	Relation	rel;
	CuckooHasher hasher;
	CuckooMeta	meta;
	CuckooOptions options;
	bool		fits;			/* the type has not changed meanwhile */
	BlockNumber blocks;			/* of the table */
	BlockNumber first;			/* of them that has an element */
	bool		created;		/* the pages exist */
	uint64	   *hashes;
	uint64		count;
	uint64		room;
	uint64		most;			/* as work memory allows */
	double		rows;
	MemoryContext context;		/* of one row */
	bool		by_value;		/* which needs no memory */
} BuildState;

/* Sorts what was collected and drops what is there twice. */
static void
sort_hashes(BuildState *b)
{
	Size		size = Max(b->count, 1) * sizeof(uint64);
	uint64	   *scratch = palloc_extended(size, MCXT_ALLOC_HUGE);
	uint64		kept = 0;

	cuckoo_sort(b->hashes, b->count, scratch, 0, b->count);
	pfree(scratch);
	for (uint64 i = 0; i < b->count; i++)
	{
		cuckoo_pause(i);
		if (kept == 0 || b->hashes[kept - 1] != b->hashes[i])
			b->hashes[kept++] = b->hashes[i];
	}
	b->count = kept;
}

/* What filling a page takes. */
typedef struct FillWork
{
	CuckooHeader h;
	uint64	   *keys;
	void	   *slots;
	uint8	   *image;
} FillWork;

/*
 * Fills an empty page with its sorted hashes.  Returns false if they do not
 * fit, and leaves it empty.
 */
static bool
fill_page(Page page, const CuckooMeta *meta, FillWork *work,
		  const uint64 *hashes, uint64 n)
{
	CuckooHeader *h = &work->h;

	if (n > (uint64) h->buckets * CUCKOO_SLOTS)
		return false;
	for (uint64 i = 0; i < n; i++)
	{
		CuckooSpot	spot = cuckoo_index_spot(meta, hashes[i]);

		work->keys[i] = cuckoo_page_key(&spot, h, 0);
	}
	if (cuckoo_build(h, work->keys, n, work->slots) != CUCKOO_OK)
		return false;
	cuckoo_build_pack(h, work->slots, work->image);
	memcpy(cuckoo_page_image(page) + CUCKOO_HEADER_SIZE,
		   work->image + CUCKOO_HEADER_SIZE,
		   cuckoo_image_size(h) - CUCKOO_HEADER_SIZE - CUCKOO_TAIL_SIZE);
	cuckoo_store64(cuckoo_page_header(page)->items, h->items);
	return true;
}

/* Inserts hashes that are sorted, and therefore in the order of pages. */
static void
insert_hashes(Relation rel, const uint64 *hashes, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
		cuckoo_index_insert(rel, hashes[i], false);
}

/*
 * Creates block 0 and the pages of group 0, each with its part of the sorted
 * hashes.  Where these are too many for one page, they are inserted when all
 * pages are there, because that adds pages behind them.
 */
static void
create_pages(BuildState *b)
{
	const CuckooMeta *meta = &b->meta;
	bool		is_inline = (meta->flags & CUCKOO_META_INLINE) != 0;
	FillWork	work;
	uint64		begin = 0;
	uint64		left = 0;		/* hashes to insert, at the front of all */

	cuckoo_page_geometry(&work.h, meta, 0);
	work.keys = palloc(work.h.buckets * CUCKOO_SLOTS * sizeof(uint64));
	work.slots = palloc(cuckoo_build_size(&work.h));
	work.image = palloc(cuckoo_image_size(&work.h));
	write_meta(b->rel, MAIN_FORKNUM, meta);
	for (uint32 number = 0; number < meta->pages; number++)
	{
		uint64		end = begin;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		while (end < b->count &&
			   cuckoo_scale(b->hashes[end], meta->pages) == number)
			end++;
		if (is_inline)
		{
			buffer = ReadBuffer(b->rel, CUCKOO_META_BLOCK);
			LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		}
		else
		{
			buffer = new_page(b->rel, MAIN_FORKNUM);
			cuckoo_page_init(BufferGetPage(buffer), meta, number, 0, 0);
		}
		if (!fill_page(BufferGetPage(buffer), meta, &work, b->hashes + begin,
					   end - begin))
		{
			memmove(b->hashes + left, b->hashes + begin,
					(end - begin) * sizeof(uint64));
			left += end - begin;
		}
		MarkBufferDirty(buffer);
		UnlockReleaseBuffer(buffer);
		begin = end;
	}
	pfree(work.keys);
	pfree(work.slots);
	pfree(work.image);
	cuckoo_index_forget(b->rel);
	insert_hashes(b->rel, b->hashes, left);
	b->created = true;
}

/* Moves what was collected into the index, which is made for n elements. */
static void
flush(BuildState *b, double n)
{
	if (b->created)
		insert_hashes(b->rel, b->hashes, b->count);
	else
	{
		choose_geometry(&b->meta, &b->options, n);
		create_pages(b);
	}
	b->count = 0;
}

/* ---- collecting ---- */

/* Makes room for a hash, when the scan has come to this block. */
static void
room_for_hash(BuildState *b, BlockNumber block)
{
	BlockNumber blocks = Max(b->blocks, block + 1);

	if (b->room == 0)
		b->first = block;
	if (b->room < b->most)
	{
		b->room = Min(Max(b->room * 2, 1024), b->most);
		b->hashes = repalloc_huge(b->hashes, b->room * sizeof(uint64));
		return;
	}
	sort_hashes(b);
	if (b->count > b->most / 2)
		flush(b, (double) b->count * (blocks - b->first) /
			  (block + 1 - b->first));
}

/* Hashes a value, and notes whether the type has changed. */
static uint64
hash_value(BuildState *b, Datum value)
{
	uint64		hash = cuckoo_hash(&b->hasher, value, b->meta.seed);

	while (b->hasher.tag != 0 && !cuckoo_hasher_is_current(&b->hasher))
	{
		memset(&b->hasher, 0, sizeof(CuckooHasher));
		cuckoo_index_hasher(&b->hasher, b->rel,
							MemoryContextGetParent(b->context));
		b->fits &= cuckoo_meta_fits(&b->meta, &b->hasher);
		hash = cuckoo_hash(&b->hasher, value, b->meta.seed);
	}
	return hash;
}

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
collect(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
		bool alive, void *state)
{
	BuildState *b = state;
	MemoryContext caller;

	b->rows++;
	if (isnull[0])
		return;
	if (b->count == b->room)
		room_for_hash(b, ItemPointerGetBlockNumber(tid));
	if (b->by_value)
	{
		b->hashes[b->count++] = hash_value(b, values[0]);
		return;
	}
	caller = MemoryContextSwitchTo(b->context);
	b->hashes[b->count++] = hash_value(b, values[0]);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(b->context);
}

IndexBuildResult *
cuckoo_build_index(Relation heap, Relation rel, IndexInfo * info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BuildState	b = {.rel = rel};

	b.options = cuckoo_index_options(rel);
	b.meta = new_meta(rel);
	cuckoo_index_hasher(&b.hasher, rel, CurrentMemoryContext);
	b.fits = cuckoo_meta_fits(&b.meta, &b.hasher);
	b.blocks = RelationGetNumberOfBlocks(heap);
	/* a sort takes as much again */
	b.most = Max((uint64) maintenance_work_mem * 1024 / (2 * sizeof(uint64)),
				 8192);
	b.hashes = palloc(sizeof(uint64));
	b.by_value = TupleDescAttr(RelationGetDescr(rel), 0)->attbyval;
	b.context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo build",
									  ALLOCSET_SMALL_SIZES);
	/* from the first block on, see room_for_hash() */
	result->heap_tuples = table_index_build_scan(heap, rel, info, false, true,
												 collect, &b, NULL);
	sort_hashes(&b);
	flush(&b, (double) b.count);
	if (!b.fits)
		cuckoo_index_set_stale(rel);
	result->index_tuples = b.rows;
	MemoryContextDelete(b.context);
	pfree(b.hashes);

	if (RelationNeedsWAL(rel))
		log_newpage_range(rel, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(rel),
						  true);
	return result;
}

void
cuckoo_build_empty(Relation rel)
{
	CuckooMeta	meta = new_meta(rel);
	CuckooOptions options = cuckoo_index_options(rel);

	choose_geometry(&meta, &options, 0);
	/* pages of a larger one have no place in the init fork */
	if ((meta.flags & CUCKOO_META_INLINE) == 0)
	{
		options.capacity = 0;
		choose_geometry(&meta, &options, 0);
	}
	write_meta(rel, INIT_FORKNUM, &meta);
}
