/*-------------------------------------------------------------------------
 *
 * index/export.c
 *		SQL functions that read the whole index: cf_index_filter exports it as
 *		a filter, cf_index_info describes it, cf_index_check checks it.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"
#include "error.h"
#include "filter/filter.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_index_filter);
PG_FUNCTION_INFO_V1(cf_index_info);
PG_FUNCTION_INFO_V1(cf_index_check);

/* ---- reading all pages ---- */

/* A function that is called for a copy of each page, without locks. */
typedef void (*PageFunction) (Relation rel, Page page, BlockNumber block,
							  void *state);

/*
 * Calls a function for the page of a segment, expected at `level`, and for the
 * pages split off from it.  If the page is at level g by now, its children of
 * levels `level` + 1 to g are read next.  For example, segment 0 is expected
 * at level 0 and found at level 2:
 *
 *	page of segment 0, level 2		our copy
 *	page of segment 1				split off at level 0, expected at level 1
 *	page of segment 2				split off at level 1, expected at level 2
 *
 * The copy has the entries of pages that split off later.  So each hash is read
 * once, and every hash that was inserted before is read.
 * Locks held on entry: none.
 */
static void
read_pages_from(Relation rel, uint32 number, uint32 segment, int level,
				PageFunction function, void *state)
{
	CuckooLocation at = {number, 0, segment << CUCKOO_CORE_BITS | 1};
	Buffer		buffer = cuckoo_index_find(rel, &at, BUFFER_LOCK_SHARE);
	BlockNumber block;
	PGAlignedBlock copy;
	int			found;

	if (!BufferIsValid(buffer))
		return;					/* no value with this number was inserted */
	block = BufferGetBlockNumber(buffer);
	memcpy(copy.data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	found = cuckoo_page_header(copy.data)->level;
	if (cuckoo_page_header(copy.data)->segment != segment)
		cuckoo_index_corrupt(rel, block,
							 "found segment %u, expected segment %u",
							 cuckoo_page_header(copy.data)->segment, segment);
	function(rel, copy.data, block, state);
	for (; level < found; level++)
		read_pages_from(rel, number, segment | UINT32_C(1) << level, level + 1,
						function, state);
}

static void
read_pages(Relation rel, PageFunction function, void *state)
{
	uint32		pages = cuckoo_index_open(rel)->meta.pages;

	for (uint32 number = 0; number < pages; number++)
		read_pages_from(rel, number, 0, 0, function, state);
}

/* ---- cf_index_filter ---- */

typedef struct Export
{
	CuckooMeta	meta;
	CuckooHeader h;				/* header of the filter */
	int			level;			/* highest level of a page */
	uint64		items;
	char	  **pages;
	uint64		count;
	uint64		room;
	uint8	   *image;
} Export;

/* Sets the level of the filter.  Error 54000 if it would be too large. */
static void
set_level(Export *e, Relation rel, int level)
{
	if (cuckoo_header_set_level(&e->h, level) != CUCKOO_OK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the filter of index \"%s\" would exceed the size limit",
						RelationGetRelationName(rel)),
				 errdetail("The size limit of a filter is %d MiB.",
						   (int) (CUCKOO_MAX_SIZE >> 20)),
				 errhint("Take the filters of the partitions one by one, or rebuild the index with a larger fpp.")));
	e->level = level;
}

static void
keep_page(Relation rel, Page page, BlockNumber block, void *state)
{
	Export	   *e = state;
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h = cuckoo_page_filter(cuckoo_index_open(rel), rel, page,
										block);

	if (header->flags & CUCKOO_PAGE_SATURATED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" has saturated pages",
						RelationGetRelationName(rel)),
				 errdetail("A saturated page matches every value, which a filter cannot represent."),
				 errhint("Rebuild it with REINDEX.")));
	if (e->count == e->room)
	{
		e->room *= 2;
		e->pages = repalloc_huge(e->pages, e->room * sizeof(char *));
	}
	e->pages[e->count] = palloc(BLCKSZ);
	memcpy(e->pages[e->count++], page, BLCKSZ);
	if (header->level > e->level)
		set_level(e, rel, header->level);
	e->items += h.items;
}

/*
 * Writes the buckets of a page into the filter.  A page of a lower level is
 * split in memory first.
 */
static void
store_page(Export *e, const uint8 *image, uint32 number, uint32 segment,
		   int level)
{
	CuckooHeader h;

	cuckoo_page_geometry(&h, &e->meta, level);
	if (level == e->level)
	{
		Size		size = h.buckets / 2 * (h.bits - 1);
		Size		position = (Size) segment * e->meta.pages + number;

		memcpy(e->image + CUCKOO_HEADER_SIZE + position * size,
			   image + CUCKOO_HEADER_SIZE, size);
	}
	else
	{
		uint8	   *lower;
		uint8	   *upper;
		CuckooHeader half;

		cuckoo_page_geometry(&half, &e->meta, level + 1);
		lower = palloc0(cuckoo_image_size(&half));
		upper = palloc0(cuckoo_image_size(&half));
		cuckoo_split(&h, image, &half, lower, upper);
		store_page(e, lower, number, segment, level + 1);
		store_page(e, upper, number, segment | UINT32_C(1) << level, level + 1);
		pfree(lower);
		pfree(upper);
	}
}

/*
 * Raises error 42501 if the seed is secret and the user does not own the
 * index.
 */
static void
check_secret(Relation rel)
{
	uint64		seed;

	/* the index keeps its seed if the option is changed after the build */
	if (!(cuckoo_index_seed(rel, &seed) &&
		  seed == cuckoo_index_open(rel)->meta.seed) &&
		!CUCKOO_OWNS_RELATION(RelationGetRelid(rel), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of index \"%s\" to read its filter",
						RelationGetRelationName(rel)),
				 errdetail("The filter contains the seed of the index, which is secret."),
				 errhint("Its owner can choose a seed that is not secret: ALTER INDEX ... SET (seed = 1), then REINDEX.")));
}

/* cf_index_filter(index) */
Datum
cf_index_filter(PG_FUNCTION_ARGS)
{
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	Export		e = {0};
	struct varlena *filter;

	if (cuckoo_index_locates(cuckoo_index_open(index.rel)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has no filter",
						RelationGetRelationName(index.rel)),
				 errdetail("Its entries say in which blocks values are, which a filter cannot represent."),
				 errhint("Create an index WITH (locate = off), or build a filter with cf_agg.")));
	check_secret(index.rel);
	e.meta = cuckoo_index_open(index.rel)->meta;
	StaticAssertStmt((uint64) CUCKOO_MOST_PAGES * CUCKOO_PAGE_ROOM <=
					 PG_UINT32_MAX, "the buckets of all pages are counted");
	e.h.base = e.meta.pages * e.meta.page_buckets;
	e.h.page = e.meta.page_buckets;
	e.h.base_bits = e.meta.base_bits;
	e.h.fpp_bits = e.meta.fpp_bits;
	e.h.seed = e.meta.seed;
	e.h.family = e.meta.family;
	e.h.tag = e.meta.tag;
	set_level(&e, index.rel, 0);
	e.room = e.meta.pages;
	e.pages = MemoryContextAllocHuge(CurrentMemoryContext,
									 e.room * sizeof(char *));
	read_pages(index.rel, keep_page, &e);

	e.h.items = e.items;
	filter = cuckoo_new_datum(cuckoo_image_size(&e.h));
	e.image = cuckoo_image(filter);
	cuckoo_header_write(&e.h, e.image);
	for (uint64 i = 0; i < e.count; i++)
	{
		const CuckooPageHeader *header = cuckoo_page_header(e.pages[i]);

		CHECK_FOR_INTERRUPTS();
		store_page(&e, cuckoo_page_image(e.pages[i]), header->number,
				   header->segment, header->level);
		pfree(e.pages[i]);
	}
	cuckoo_checksum_write(e.image, cuckoo_image_size(&e.h));
	cuckoo_close(&index);
	PG_RETURN_POINTER(filter);
}

/* ---- cf_index_info ---- */

typedef struct Info
{
	uint64		items;
	uint64		pages;
	uint64		saturated;
	uint64		slots;
	int			level;
	BlockNumber blocks;			/* length of the table */
	double		rate;			/* sum of the rates of pages, each weighted by
								 * its share of the hashes */
} Info;

/*
 * The rate of a page: the false blocks of a lookup in the page or, in an index
 * that does not locate, the false-positive rate.
 */
static double
rate_of_page(const Info *info, const CuckooIndex *index,
			 const CuckooHeader *h, const CuckooPageHeader *header)
{
	const CuckooLocator *l = &index->locator;
	bool		saturated = (header->flags & CUCKOO_PAGE_SATURATED) != 0;

	if (!cuckoo_index_locates(index))
		return saturated ? 1 : cuckoo_fpp_now(h);
	if (saturated)
		return info->blocks;
	/* each entry with equal ext bits decodes to two blocks */
	return ldexp(2 * (double) h->items, header->level - l->ext_bits) *
		info->blocks / (double) l->modulus;
}

static void
add_info(Relation rel, Page page, BlockNumber block, void *state)
{
	Info	   *info = state;
	const CuckooIndex *index = cuckoo_index_open(rel);
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h = cuckoo_page_filter(index, rel, page, block);

	info->items += h.items;
	info->pages++;
	info->saturated += (header->flags & CUCKOO_PAGE_SATURATED) != 0;
	info->slots += (uint64) h.buckets * CUCKOO_SLOTS;
	info->level = Max(info->level, header->level);
	/* the share of hashes that belong to the page is 2^-level */
	info->rate += ldexp(rate_of_page(info, index, &h, header), -header->level);
}

/* The doublings that are left before the rate exceeds the requested rate. */
static int
growth_bits_left(const CuckooMeta *meta, const Info *info, double rate)
{
	if ((meta->flags & CUCKOO_META_LOCATE) == 0)
		return Max(meta->base_bits - meta->fpp_bits - info->level, 0);
	/* each doubling makes the false blocks four times as many */
	return rate <= 0 ? CUCKOO_MAX_BITS - CUCKOO_CORE_BITS :
		Max((int) floor(log2(meta->fpp / rate) / 2), 0);
}

/* cf_index_info(index) */
Datum
cf_index_info(PG_FUNCTION_ARGS)
{
	CuckooOpenIndex index = cuckoo_open_for_inspection(PG_GETARG_OID(0));
	CuckooMeta	meta;
	Info		info = {0};
	int64		bytes;
	double		rate;
	bool		locates;
	TupleDesc	desc;
	Datum		values[15];
	bool		nulls[lengthof(values)] = {false};
	int			n = 0;

	desc = cuckoo_result_tupdesc(fcinfo, lengthof(values));
	bytes = (int64) RelationGetNumberOfBlocks(index.rel) * BLCKSZ;
	/* CREATE INDEX CONCURRENTLY shows the index before it is built */
	if (bytes == 0 || !index.rel->rd_index->indisready)
		cuckoo_index_not_valid(index.rel);
	cuckoo_check_local(&index);
	meta = cuckoo_index_open(index.rel)->meta;
	info.blocks = RelationGetNumberOfBlocks(index.heap);
	read_pages(index.rel, add_info, &info);
	bytes = (int64) RelationGetNumberOfBlocks(index.rel) * BLCKSZ;
	rate = info.rate / meta.pages;
	locates = (meta.flags & CUCKOO_META_LOCATE) != 0;

	values[n++] = Int64GetDatum((int64) info.items);
	values[n++] = BoolGetDatum(locates);
	values[n++] = Float8GetDatum(locates ? meta.fpp :
								 ldexp(8 * 0.95, -meta.fpp_bits));
	/* the probability of one or more false blocks: a Poisson variable */
	values[n++] = Float8GetDatum(locates ? -expm1(-rate) : rate);
	nulls[n] = !locates;
	values[n++] = Float8GetDatum(rate);
	nulls[n] = !locates;
	values[n++] = Float8GetDatum(cuckoo_false_blocks(&meta, meta.table_blocks,
													 meta.pages));
	values[n++] = Float8GetDatum((double) info.items /
								 (double) Max(info.slots, 1));
	values[n++] = Int64GetDatum(bytes);
	nulls[n] = info.items == 0;
	values[n++] = Float8GetDatum(8.0 * (double) bytes /
								 (double) Max(info.items, 1));
	values[n++] = Int64GetDatum((int64) info.pages);
	values[n++] = Int64GetDatum((int64) info.saturated);
	values[n++] = Int32GetDatum(info.level);
	values[n++] = Int32GetDatum(growth_bits_left(&meta, &info, rate));
	values[n++] = CStringGetTextDatum(cuckoo_family_name(meta.family));
	values[n++] = BoolGetDatum(cuckoo_index_is_stale(index.rel));
	Assert(n == lengthof(values));
	cuckoo_close(&index);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

/* ---- cf_index_check ---- */

/* Raises error XX002 if a bucket or the number of items is invalid. */
static void
check_page(Relation rel, Page page, BlockNumber block, void *state)
{
	CuckooHeader h = cuckoo_page_filter(cuckoo_index_open(rel), rel, page,
										block);
	uint64		found;
	CuckooStatus status = cuckoo_validate_buckets(&h, cuckoo_page_image(page),
												  &found);

	if (status == CUCKOO_BAD_ITEMS)
		cuckoo_index_corrupt(rel, block,
							 "found " UINT64_FORMAT " occupied slots, expected " UINT64_FORMAT,
							 found, h.items);
	if (status != CUCKOO_OK)
		cuckoo_index_corrupt(rel, block,
							 "%s, in bucket " UINT64_FORMAT " of %u",
							 cuckoo_status_text(status), found, h.buckets);
}

typedef struct CheckState
{
	CuckooHasher hasher;
	MemoryContext context;
	int64		rows;
} CheckState;

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_check_tuple(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
				   bool alive, void *state)
{
	CheckState *s = state;
	MemoryContext caller;
	uint64		seed = cuckoo_index_open(rel)->meta.seed;

	if (isnull[0])
		return;
	caller = MemoryContextSwitchTo(s->context);
	if (!cuckoo_index_has_row(rel, cuckoo_hash(&s->hasher, values[0], seed),
							  ItemPointerGetBlockNumber(tid)))
	{
		if (!cuckoo_hasher_is_current(&s->hasher) && cuckoo_index_is_stale(rel))
			cuckoo_index_stale_error(rel);
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("heap tuple (%u,%u) from table \"%s\" lacks matching entry in index \"%s\"",
						ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid),
						get_rel_name(rel->rd_index->indrelid),
						RelationGetRelationName(rel)),
				 errhint("Rebuild it with REINDEX, and report this.")));
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(s->context);
	s->rows++;
}

/*
 * Looks up all rows of the table, as its owner: expressions and predicates are
 * the owner's code, and even BuildIndexInfo() evaluates constants in them.
 */
static int64
check_rows(CuckooOpenIndex *index)
{
	IndexInfo  *info;
	CheckState	state = {0};
	Oid			user;
	int			context;
	int			nest;

	if (!CUCKOO_OWNS_RELATION(RelationGetRelid(index->rel), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   RelationGetRelationName(index->rel));
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(index->heap->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	nest = NewGUCNestLevel();
	CUCKOO_RESTRICT_SEARCH_PATH();
	cuckoo_index_hasher(&state.hasher, index->rel, CurrentMemoryContext);
	state.context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo check",
										  ALLOCSET_SMALL_SIZES);
	info = BuildIndexInfo(index->rel);
	/* use the snapshot of the query, as CREATE INDEX CONCURRENTLY does */
	info->ii_Concurrent = true;
	table_index_build_scan(index->heap, index->rel, info, true, false,
						   cuckoo_check_tuple, &state, NULL);
	MemoryContextDelete(state.context);
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(user, context);
	return state.rows;
}

/* cf_index_check(index, rows) */
Datum
cf_index_check(PG_FUNCTION_ARGS)
{
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	int64		rows = 0;

	read_pages(index.rel, check_page, NULL);
	if (PG_GETARG_BOOL(1))
		rows = check_rows(&index);
	cuckoo_close(&index);
	PG_RETURN_INT64(rows);
}
