/*-------------------------------------------------------------------------
 *
 * index/build.c
 *		CREATE INDEX and REINDEX.
 *
 * PostgreSQL's tuplesort sorts the rows by hash, which is the order of pages,
 * and by TID.  Rows with the same hash are neighbours: very many of them go to
 * a chain.  The density of the others, in the first part of the hashes, gives
 * the number of pages.  Then one page is written after the other, and at last
 * the map.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include <math.h>

/*
 * Rows by which the number of pages is chosen.  Even if each value has
 * CUCKOO_HOT_ROWS rows, the density is known to 8%.
 */
#define SAMPLE_ROWS 65536

/*
 * If a table has few blocks, the block and the offset of a row are sorted with
 * its hash as one bigint.
 */
#define ROW_OFFSET_BITS		(MaxHeapTuplesPerPage < 512 ? 9 : 11)
#define MOST_ROW_BITS		28
#define SIGN_BIT			((uint64) PG_INT64_MIN)

/* Phases in pg_stat_progress_create_index. */
#define PHASE_SCAN		2
#define PHASE_SORT		3
#define PHASE_WRITE		4

/*
 * Rows, and links to chains, in an array that grows.  Until its page is
 * written, the tag of a row is its hash.
 */
typedef struct BuildRows
{
	CuckooEntry *row;
	int			n;
	int			room;
} BuildRows;

typedef struct Build
{
	Relation	rel;
	ForkNumber	fork;
	uint64		seed;
	int			hash_bits;
	BlockNumber most_blocks;	/* rows of later blocks cannot be sorted */
	MemoryContext context;		/* of hashing, reset for each row */
	Tuplesortstate *sort;
	double		rows;			/* in the index */
	CuckooEntry last;			/* the largest block and offset of the rows */
	CuckooEntryEncoding encoding;	/* of level 0 */
	BuildRows	group;			/* rows with one hash, up to CUCKOO_HOT_ROWS */
	CuckooUnique *unique;		/* or NULL */
	List	   *live;			/* TIDs of the group, if it has several rows */
	bool		in_chain;		/* the rows of the group go to a chain */
	BlockNumber head;			/* of that chain */
	BlockNumber chain_next;		/* its page that was written last */
	uint32		chain_pages;	/* number of pages without the head */
	int			chain_n;		/* rows that were not written yet */
	ItemPointerData chain_rows[CUCKOO_CHAIN_ROWS];
	BuildRows	sample;			/* rows, until the number of pages is known */
	uint32		pages;			/* N, or 0 */
	uint32		number;			/* of the page that is filled */
	BuildRows	page;			/* its rows */
	BlockNumber *map;
	uint64		map_room;
} Build;

/* ---- pages ---- */

/* Appends a page to the fork, locked exclusively. */
static Buffer
append(Build *b)
{
	CHECK_FOR_INTERRUPTS();
	return cuckoo_extend(b->rel, b->fork);
}

/* Stores the block of a page in the map. */
static void
map_page(Build *b, uint32 segment, BlockNumber block)
{
	uint64		place = (uint64) segment * b->pages + b->number;

	if (place >= b->map_room)
	{
		uint64		room = Max(place + 1, b->map_room * 2);

		/* whole map pages */
		room = (room + CUCKOO_MAP_BLOCKS - 1) / CUCKOO_MAP_BLOCKS *
			CUCKOO_MAP_BLOCKS;
		b->map = b->map == NULL ?
			palloc_extended(room * sizeof(BlockNumber), MCXT_ALLOC_HUGE) :
			repalloc_huge(b->map, room * sizeof(BlockNumber));
		memset(b->map + b->map_room, 0,
			   (room - b->map_room) * sizeof(BlockNumber));
		b->map_room = room;
	}
	b->map[place] = block;
}

/* Writes a list of n blocks in pages, and their blocks to *blocks. */
static void
write_lists(Build *b, const BlockNumber *list, uint64 n, BlockNumber *blocks)
{
	for (uint64 from = 0; from < n; from += CUCKOO_MAP_BLOCKS)
	{
		Buffer		buffer = append(b);
		Page		page = BufferGetPage(buffer);

		cuckoo_init_page(page, CUCKOO_PAGE_MAP);
		memcpy(cuckoo_page_map(page), list + from,
			   Min(n - from, CUCKOO_MAP_BLOCKS) * sizeof(BlockNumber));
		blocks[from / CUCKOO_MAP_BLOCKS] = BufferGetBlockNumber(buffer);
		MarkBufferDirty(buffer);
		UnlockReleaseBuffer(buffer);
	}
}

/* Writes the map and the meta page. */
static void
write_meta(Build *b)
{
	uint64		n = b->map_room / CUCKOO_MAP_BLOCKS;
	uint64		direct = Min(n, CUCKOO_META_DIRECT);
	BlockNumber *maps = palloc_extended(n * sizeof(BlockNumber),
										MCXT_ALLOC_HUGE);
	Buffer		buffer;
	Page		page;
	CuckooMeta *meta;

	write_lists(b, b->map, b->map_room, maps);
	buffer = ReadBufferExtended(b->rel, b->fork, CUCKOO_META_BLOCK, RBM_NORMAL,
								NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(buffer);
	cuckoo_init_page(page, CUCKOO_PAGE_META);
	meta = cuckoo_page_meta(page);
	meta->magic = CUCKOO_META_MAGIC;
	meta->version = CUCKOO_META_VERSION;
	meta->seed = b->seed;
	meta->hash_bits = (uint16) b->hash_bits;
	meta->pages = b->pages;
	meta->free = InvalidBlockNumber;
	memcpy(meta->maps, maps, direct * sizeof(BlockNumber));
	write_lists(b, maps + direct, n - direct, meta->maps + CUCKOO_META_DIRECT);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/* ---- chains ---- */

/*
 * Writes the collected rows to a page of the chain.  Pages are linked from the
 * last one to the first one, and the head comes before them.
 */
static void
write_chain_page(Build *b, Buffer buffer, uint32 sequence, uint32 last)
{
	Page		page = BufferGetPage(buffer);
	CuckooPageHeader *header;

	cuckoo_init_chain(page, b->head);
	header = cuckoo_page_header(page);
	header->chain.next = b->chain_next;
	header->chain.sequence = sequence;
	header->chain.last = last;
	memcpy(cuckoo_page_rows(page), b->chain_rows,
		   b->chain_n * sizeof(ItemPointerData));
	cuckoo_set_row_count(page, b->chain_n);
	MarkBufferDirty(buffer);
	b->chain_next = BufferGetBlockNumber(buffer);
	b->chain_n = 0;
	UnlockReleaseBuffer(buffer);
}

static void
begin_chain(Build *b)
{
	Buffer		buffer = append(b);

	b->in_chain = true;
	b->head = BufferGetBlockNumber(buffer);
	b->chain_next = InvalidBlockNumber;
	b->chain_pages = 0;
	b->chain_n = 0;
	UnlockReleaseBuffer(buffer);
}

static void
add_to_chain(Build *b, BlockNumber block, OffsetNumber offset)
{
	if (b->chain_n == (int) CUCKOO_CHAIN_ROWS)
		write_chain_page(b, append(b), ++b->chain_pages, 0);
	ItemPointerSet(&b->chain_rows[b->chain_n], block, offset);
	b->chain_n++;
}

static void
end_chain(Build *b)
{
	Buffer		buffer = ReadBufferExtended(b->rel, b->fork, b->head,
											RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	write_chain_page(b, buffer, 0, b->chain_pages);
	b->in_chain = false;
}

/* ---- pages of entries ---- */

/*
 * Moves the rows of the hottest tag to a chain.  Returns the number of entries
 * that are left, with the link.
 */
static int
move_hottest(Build *b, CuckooEntry *entries, int n)
{
	uint64		tag = 0;
	int			kept = 0;

	if (cuckoo_hottest_tag(entries, n, &tag) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("could not build index \"%s\"",
						RelationGetRelationName(b->rel)),
				 errdetail("A page would have %d links to chains.", n),
				 errhint("Report this.")));
	begin_chain(b);
	for (int i = 0; i < n; i++)
	{
		if (entries[i].tag == tag && entries[i].offset != 0)
			add_to_chain(b, entries[i].block, entries[i].offset);
		else
			entries[kept++] = entries[i];
	}
	end_chain(b);
	memset(&entries[kept], 0, sizeof(CuckooEntry));
	entries[kept].tag = tag;
	entries[kept++].block = b->head;
	return kept;
}

/* Writes a page with the entries, which fit into the slots. */
static void
write_page(Build *b, uint32 segment, const CuckooEntryEncoding *encoding,
		   const CuckooSlots *slots)
{
	Buffer		buffer = append(b);
	Page		page = BufferGetPage(buffer);
	CuckooPageHeader *header;

	cuckoo_init_page(page, CUCKOO_PAGE_ENTRIES);
	header = cuckoo_page_header(page);
	header->entries.number = b->number;
	header->entries.segment = segment;
	header->entries.encoding = *encoding;
	memcpy(cuckoo_page_slots(page), slots, sizeof(CuckooSlots));
	map_page(b, segment, BufferGetBlockNumber(buffer));
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * Writes entries whose tags have all ext bits above the level: in one page, or
 * in two that are split, or if no bit is left with chains.
 */
static void
write_entries(Build *b, uint32 segment, int level, CuckooEntry *entries, int n)
{
	CuckooEntryEncoding encoding = b->encoding;
	bool		may_split;
	bool		fits;
	CuckooSlots *slots = palloc(sizeof(CuckooSlots));
	CuckooEntry *cut = palloc_extended(n * sizeof(CuckooEntry),
									   MCXT_ALLOC_HUGE);

	check_stack_depth();
	encoding.level = (uint8) level;
	encoding.position_bits = (uint8) Min(encoding.position_bits + level,
										 CUCKOO_MOST_POSITION_BITS);
	cuckoo_widen(&encoding, entries, n);
	for (int i = 0; i < n; i++)
		cut[i] = entries[i];
	/* see cuckoo_can_map(): the file will have more than N blocks */
	may_split = level < CUCKOO_MOST_LEVEL &&
		encoding.position_bits < CUCKOO_MOST_POSITION_BITS &&
		(segment | UINT32_C(1) << level) < CUCKOO_SPARSEST_MAP;
	cuckoo_truncate_tags(cut, n, &encoding);
	fits = cuckoo_fill_slots(slots, &encoding, cut, n);
	while (!fits && !may_split)
	{
		n = move_hottest(b, cut, n);
		fits = cuckoo_fill_slots(slots, &encoding, cut, n);
	}
	if (fits)
		write_page(b, segment, &encoding, slots);
	else
	{
		int			first = cuckoo_part_entries(entries, n, cut);

		write_entries(b, segment, level + 1, cut, first);
		write_entries(b, segment | UINT32_C(1) << level, level + 1, cut + first,
					  n - first);
	}
	pfree(cut);
	pfree(slots);
}

/* Writes the page that is filled, and begins the next one. */
static void
end_page(Build *b)
{
	for (int i = 0; i < b->page.n; i++)
		b->page.row[i].tag = cuckoo_ext(b->page.row[i].tag);
	write_entries(b, 0, 0, b->page.row, b->page.n);
	b->page.n = 0;
	b->number++;
}

/* ---- rows in the order of hashes ---- */

static void
push_row(BuildRows *rows, const CuckooEntry *row)
{
	if (rows->n == rows->room)
	{
		rows->room = Max(rows->room * 2, 1024);
		rows->row = rows->row == NULL ?
			palloc(rows->room * sizeof(CuckooEntry)) :
			repalloc_huge(rows->row, rows->room * sizeof(CuckooEntry));
	}
	rows->row[rows->n++] = *row;
}

/* Adds a row, or a link, to its page. */
static void
add_to_page(Build *b, const CuckooEntry *row)
{
	while (b->number < cuckoo_page_number(b->pages, row->tag))
		end_page(b);
	push_row(&b->page, row);
}

/*
 * Chooses the number of pages by the rows of the sample, which are in a share
 * of the hashes, and moves them to their pages.
 */
static void
choose_pages(Build *b, double share)
{
	double		slots = (double) CUCKOO_PAGE_SLOTS * cuckoo_fillfactor(b->rel) /
		100;
	double		pages = ceil(b->sample.n / share / slots);

	b->pages = (uint32) Max(Min(pages, (double) CUCKOO_MOST_PAGES / 2),
							CUCKOO_FEWEST_PAGES);
	for (int i = 0; i < b->sample.n; i++)
		add_to_page(b, &b->sample.row[i]);
}

static void
add_sorted(Build *b, const CuckooEntry *row)
{
	if (b->pages != 0)
		add_to_page(b, row);
	else
	{
		push_row(&b->sample, row);
		if (b->sample.n == SAMPLE_ROWS)
			choose_pages(b, ldexp((double) row->tag + 1, -64));
	}
}

/* Adds the rows with one hash, or the link to their chain. */
static void
end_group(Build *b)
{
	if (b->in_chain)
	{
		CuckooEntry link = {b->group.row[0].tag, b->head, 0};

		end_chain(b);
		add_sorted(b, &link);
	}
	else
	{
		for (int i = 0; i < b->group.n; i++)
			add_sorted(b, &b->group.row[i]);
	}
	b->group.n = 0;
	list_free_deep(b->live);
	b->live = NIL;
}

/* Raises error 23505 if a row of the group has the same key. */
static void
check_group(Build *b, const CuckooEntry *row)
{
	ItemPointerData tid;

	/* the first row is checked when there is a second one */
	if (b->group.n == 1)
	{
		ItemPointerSet(&tid, b->group.row[0].block, b->group.row[0].offset);
		cuckoo_unique_check_build(b->unique, tid, &b->live);
	}
	ItemPointerSet(&tid, row->block, row->offset);
	cuckoo_unique_check_build(b->unique, tid, &b->live);
}

static void
add_to_group(Build *b, const CuckooEntry *row)
{
	if (b->group.n > 0 && b->group.row[0].tag != row->tag)
		end_group(b);
	if (b->group.n > 0 && b->unique != NULL)
		check_group(b, row);
	if (b->in_chain)
		add_to_chain(b, row->block, row->offset);
	else if (b->group.n < CUCKOO_HOT_ROWS)
		push_row(&b->group, row);
	else
	{
		begin_chain(b);
		for (int i = 0; i < b->group.n; i++)
			add_to_chain(b, b->group.row[i].block, b->group.row[i].offset);
		add_to_chain(b, row->block, row->offset);
	}
}

/* ---- sorting ---- */

/*
 * The datum of a row, in the order of hashes and then of TIDs: a bigint, or a
 * uuid.  The caller provides the 16 bytes for it.
 */
static Datum
row_to_datum(const Build *b, const CuckooEntry *row, int64 *words)
{
	if (b->hash_bits < 64)
	{
		words[0] = (int64) ((row->tag ^ SIGN_BIT) |
							(uint64) row->block << ROW_OFFSET_BITS |
							row->offset);
		return Int64GetDatumFast(words[0]);
	}
	words[0] = (int64) pg_hton64(row->tag);
	words[1] = (int64) pg_hton64((uint64) row->block << 16 | row->offset);
	return PointerGetDatum(words);
}

static CuckooEntry
datum_to_row(const Build *b, Datum datum)
{
	uint64		words[2];
	CuckooEntry row;

	if (b->hash_bits < 64)
	{
		uint64		place;

		words[0] = (uint64) DatumGetInt64(datum) ^ SIGN_BIT;
		place = words[0] & (PG_UINT64_MAX >> b->hash_bits);
		row.tag = words[0] ^ place;
		row.block = (BlockNumber) (place >> ROW_OFFSET_BITS);
		row.offset = place & cuckoo_bit_mask(ROW_OFFSET_BITS);
		return row;
	}
	memcpy(words, DatumGetPointer(datum), sizeof(words));
	words[1] = pg_ntoh64(words[1]);
	row.tag = pg_ntoh64(words[0]);
	row.block = (BlockNumber) (words[1] >> 16);
	row.offset = (OffsetNumber) words[1];
	return row;
}

/*
 * Begins to sort the rows of a table with a number of blocks.  If hash and TID
 * fit into 64 bits, they are sorted as bigints: README, "Hashing".
 */
static void
begin_sort(Build *b, BlockNumber blocks)
{
	int			bits = cuckoo_bits_of(blocks) + ROW_OFFSET_BITS;
	Oid			type = UUIDOID;

	if (bits <= MOST_ROW_BITS)
	{
		type = INT8OID;
		b->hash_bits = 64 - bits;
		b->most_blocks = (BlockNumber) 1 << cuckoo_bits_of(blocks);
	}
	b->sort = tuplesort_begin_datum(type,
									lookup_type_cache(type,
													  TYPECACHE_LT_OPR)->lt_opr,
									InvalidOid, false, maintenance_work_mem,
									NULL, TUPLESORT_NONE);
}

static void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_sort_tuple(Relation rel, ItemPointer tid, Datum *values, bool *isnull,
				  bool alive, void *state)
{
	Build	   *b = state;
	CuckooEntry row = {.block = ItemPointerGetBlockNumber(tid),
	.offset = ItemPointerGetOffsetNumber(tid)};
	int64		words[2];

	if (cuckoo_has_null(rel, isnull))
		return;
	/* CREATE INDEX CONCURRENTLY adds rows of later blocks when it validates */
	if (row.block >= b->most_blocks)
		return;
	row.tag = cuckoo_hash_row(rel, b->context, b->seed, b->hash_bits, NULL,
							  values);
	tuplesort_putdatum(b->sort, row_to_datum(b, &row, words), false);
	b->last.block = Max(b->last.block, row.block);
	b->last.offset = Max(b->last.offset, row.offset);
	b->rows++;
}

/* Reads the sorted rows. */
static void
read_sorted(Build *b)
{
	Datum		datum;
	bool		isnull;
	int64		n = 0;

	while (CUCKOO_GET_DATUM(b->sort, &datum, &isnull))
	{
		CuckooEntry row = datum_to_row(b, datum);

		add_to_group(b, &row);
		if (b->hash_bits == 64 || sizeof(Datum) < sizeof(int64))
			CUCKOO_FREE_DATUM(datum);
		if (++n % 4096 == 0)
		{
			CHECK_FOR_INTERRUPTS();
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, n);
		}
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, n);
}

/* ---- building ---- */

static void
begin(Build *b, Relation rel, ForkNumber fork)
{
	memset(b, 0, sizeof(Build));
	b->rel = rel;
	b->fork = fork;
	b->hash_bits = 64;
	b->most_blocks = MaxBlockNumber;
	if (!pg_strong_random(&b->seed, sizeof(b->seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
}

/* Writes all pages, from the sorted rows if there are any. */
static void
write_index(Build *b)
{
	UnlockReleaseBuffer(append(b)); /* block 0 */
	b->encoding.offset_bits = 1;
	cuckoo_widen(&b->encoding, &b->last, 1);
	if (b->sort != NULL)
		read_sorted(b);
	if (b->group.n > 0)
		end_group(b);
	if (b->pages == 0)
		choose_pages(b, 1);
	while (b->number < b->pages)
		end_page(b);
	write_meta(b);
	if (b->fork == INIT_FORKNUM || RelationNeedsWAL(b->rel))
		log_newpage_range(b->rel, b->fork, 0,
						  RelationGetNumberOfBlocksInFork(b->rel, b->fork),
						  true);
}

IndexBuildResult *
cuckoo_build_index(Relation heap, Relation rel, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build		b;

	/* the TIDs of other access methods may be of another kind */
	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"cuckoo\" cannot index table \"%s\"",
						RelationGetRelationName(heap)),
				 errdetail("The access method of the table is not heap."),
				 errhint("Use an index of another access method.")));
	cuckoo_check_equality(rel);
	if (info->ii_NullsNotDistinct)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"cuckoo\" does not support NULLS NOT DISTINCT"),
				 errdetail("A row with a null is not in the index."),
				 errhint("Declare the columns NOT NULL, or use a B-tree.")));
	begin(&b, rel, MAIN_FORKNUM);
	b.context = AllocSetContextCreate(CurrentMemoryContext, "cuckoo build",
									  ALLOCSET_SMALL_SIZES);
	if (info->ii_Unique)
		b.unique = cuckoo_unique_begin(heap, rel);
	begin_sort(&b, RelationGetNumberOfBlocks(heap));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, rel, info, true, true,
												 cuckoo_sort_tuple, &b, NULL);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) b.rows);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_SORT);
	tuplesort_performsort(b.sort);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WRITE);
	write_index(&b);
	tuplesort_end(b.sort);
	MemoryContextDelete(b.context);
	result->index_tuples = b.rows;
	return result;
}

void
cuckoo_build_empty(Relation rel)
{
	Build		b;

	begin(&b, rel, INIT_FORKNUM);
	write_index(&b);
}

char *
cuckoo_build_phase(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_SCAN:
			return "scanning table";
		case PHASE_SORT:
			return "sorting rows";
		case PHASE_WRITE:
			return "writing pages";
		default:
			return NULL;
	}
}
