/*-------------------------------------------------------------------------
 *
 * index/build.c
 *		CREATE INDEX and REINDEX.
 *
 * sort.c returns the rows in the order of hashes, which is the order of pages.
 * Rows with the same hash are neighbours: very many of them go to a chain.  The
 * density of the others, in the first part of the hashes, gives the number of
 * pages.  Then one page is written after the other.
 *
 * The meta page is written first.  So the map grows as in a complete index.
 * The rows of a page that cannot be split are inserted at the end, like the row
 * of an INSERT.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include <math.h>

/*
 * Rows by which the number of pages is chosen.  Even if each value has
 * CUCKOO_HOT_ROWS rows, the density is known to 8%.
 */
#define SAMPLE_ROWS 65536

/* Rows in an array that grows.  A row with offset 0 is a link to a chain. */
typedef struct BuildRows
{
	CuckooRow  *row;
	int			n;
	int			room;
} BuildRows;

typedef struct Build
{
	Relation	rel;
	CuckooHashing hashing;		/* N is 0 until it is chosen */
	CuckooSort *sort;
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
	BuildRows	sample;			/* rows, until N is known */
	uint32		number;			/* of the page that is filled */
	BuildRows	page;			/* its rows */
	BuildRows	left;			/* rows to be inserted at the end */
	CuckooEntry entries[CUCKOO_PAGE_SLOTS]; /* of the page that is written */
} Build;

static void
push_row(BuildRows *rows, const CuckooRow *row)
{
	if (rows->n == rows->room)
	{
		rows->room = Max(rows->room * 2, 1024);
		rows->row = rows->row == NULL ?
			palloc(rows->room * sizeof(CuckooRow)) :
			repalloc_huge(rows->row, rows->room * sizeof(CuckooRow));
	}
	rows->row[rows->n++] = *row;
}

/* Appends a page to the index, locked exclusively. */
static Buffer
append(Build *b)
{
	CHECK_FOR_INTERRUPTS();
	return cuckoo_extend(b->rel, MAIN_FORKNUM);
}

/* ---- chains ---- */

/*
 * Writes the collected rows to a page of the chain.  Pages are linked from the
 * last one to the first one, and the head comes before them.
 */
static void
write_chain_page(Build *b, Buffer buffer, uint32 sequence)
{
	Page		page = BufferGetPage(buffer);
	CuckooPageHeader *header = cuckoo_page_header(page);

	cuckoo_init_chain(page, b->head, b->chain_rows, b->chain_n);
	header->chain.next = b->chain_next;
	header->chain.sequence = sequence;
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
	UnlockReleaseBuffer(buffer);
}

static void
add_to_chain(Build *b, const CuckooRow *row)
{
	if (b->chain_n == (int) CUCKOO_CHAIN_ROWS)
		write_chain_page(b, append(b), ++b->chain_pages);
	ItemPointerSet(&b->chain_rows[b->chain_n], row->block, row->offset);
	b->chain_n++;
}

static void
end_chain(Build *b)
{
	Buffer		buffer = ReadBuffer(b->rel, b->head);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	write_chain_page(b, buffer, b->chain_pages);
	b->in_chain = false;
}

/* ---- pages of entries ---- */

/* Writes a page of entries, and its block into the map. */
static void
write_page(Build *b, const CuckooPageHeader *header, const CuckooSlots *slots)
{
	Buffer		buffer = append(b);
	Page		page = BufferGetPage(buffer);
	Buffer		map;
	uint32		at;

	cuckoo_init_page(page, CUCKOO_PAGE_ENTRIES);
	cuckoo_page_header(page)->entries = header->entries;
	memcpy(cuckoo_page_slots(page), slots, sizeof(CuckooSlots));
	MarkBufferDirty(buffer);
	map = cuckoo_lock_map(b->rel, header->entries.number,
						  header->entries.segment,
						  BufferGetBlockNumber(buffer), &at);
	cuckoo_page_map(BufferGetPage(map))[at] = BufferGetBlockNumber(buffer);
	MarkBufferDirty(map);
	UnlockReleaseBuffer(map);
	UnlockReleaseBuffer(buffer);
}

/* Fills slots with the rows of a page.  Returns false if they do not fit. */
static bool
fill(Build *b, CuckooSlots *slots, CuckooEntryEncoding *encoding,
	 const CuckooRow *rows, int n)
{
	if (n > CUCKOO_PAGE_SLOTS)
		return false;
	for (int i = 0; i < n; i++)
	{
		b->entries[i].block = rows[i].block;
		b->entries[i].offset = rows[i].offset;
	}
	cuckoo_widen(encoding, b->entries, n);
	for (int i = 0; i < n; i++)
		b->entries[i].tag = cuckoo_tag(rows[i].hash, encoding);
	return cuckoo_fill_slots(slots, encoding, b->entries, n);
}

/* Moves the rows without an ext bit to the front.  Returns their number. */
static int
part_rows(CuckooRow *rows, int n, int bit)
{
	int			first = 0;

	for (int i = 0; i < n; i++)
	{
		CuckooRow	row = rows[i];

		if ((cuckoo_ext(row.hash) >> bit & 1) != 0)
			continue;
		rows[i] = rows[first];
		rows[first++] = row;
	}
	return first;
}

/* Leaves a row that is not a link.  Returns the number of the others. */
static int
leave_row(Build *b, CuckooRow *rows, int n)
{
	int			last = n - 1;

	while (last >= 0 && rows[last].offset == 0)
		last--;
	if (last < 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("could not build index \"%s\"",
						RelationGetRelationName(b->rel)),
				 errdetail("A page would have %d links to chains.", n),
				 errhint("Report this.")));
	push_row(&b->left, &rows[last]);
	rows[last] = rows[n - 1];
	return n - 1;
}

/*
 * Writes the rows of a page: to one page, or to several by splits.  If a page
 * cannot be split, some rows are left.
 */
static void
write_rows(Build *b, CuckooPageHeader header, CuckooRow *rows, int n)
{
	CuckooEntryEncoding encoding = header.entries.encoding;
	CuckooSlots slots;
	CuckooPageHeader child;
	int			first;

	check_stack_depth();
	if (!fill(b, &slots, &header.entries.encoding, rows, n))
	{
		header.entries.encoding = encoding;
		if (cuckoo_plan_split(b->rel, &header, &child))
		{
			first = part_rows(rows, n, encoding.level);
			write_rows(b, header, rows, first);
			write_rows(b, child, rows + first, n - first);
			return;
		}
		do
			n = leave_row(b, rows, n);
		while (!fill(b, &slots, &header.entries.encoding, rows, n));
	}
	write_page(b, &header, &slots);
}

/* Writes the page that is filled, and begins the next one. */
static void
end_page(Build *b)
{
	CuckooPageHeader header = {
		.entries = {.number = b->number,.encoding = b->encoding}
	};

	write_rows(b, header, b->page.row, b->page.n);
	b->page.n = 0;
	b->number++;
}

/* ---- rows in the order of hashes ---- */

/* Adds a row, or a link, to its page. */
static void
add_to_page(Build *b, const CuckooRow *row)
{
	while (b->number < cuckoo_page_number(b->hashing.base_pages, row->hash))
		end_page(b);
	push_row(&b->page, row);
}

/*
 * Chooses N by the rows of the sample, which are in a share of the hashes.
 * Then writes the meta page, and moves the rows to their pages.
 */
static void
choose_pages(Build *b, double share)
{
	double		slots = (double) CUCKOO_PAGE_SLOTS * cuckoo_fillfactor(b->rel) /
		100;
	double		pages = ceil(b->sample.n / share / slots);
	Buffer		meta = ReadBuffer(b->rel, CUCKOO_META_BLOCK);
	GenericXLogState *state;

	b->hashing.base_pages = (uint32) Max(Min(pages,
											 (double) CUCKOO_MOST_PAGES / 2),
										 CUCKOO_FEWEST_PAGES);
	LockBuffer(meta, BUFFER_LOCK_EXCLUSIVE);
	/* logged now, because the records of new map pages change it */
	state = GenericXLogStart(b->rel);
	cuckoo_init_meta(GenericXLogRegisterBuffer(state, meta,
											   GENERIC_XLOG_FULL_IMAGE),
					 &b->hashing);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(meta);
	for (int i = 0; i < b->sample.n; i++)
		add_to_page(b, &b->sample.row[i]);
}

static void
add_sorted(Build *b, const CuckooRow *row)
{
	if (b->hashing.base_pages != 0)
		add_to_page(b, row);
	else
	{
		push_row(&b->sample, row);
		if (b->sample.n == SAMPLE_ROWS)
			choose_pages(b, ldexp((double) row->hash + 1, -64));
	}
}

/* Adds the rows with one hash, or the link to their chain. */
static void
end_group(Build *b)
{
	if (b->in_chain)
	{
		CuckooRow	link = {b->group.row[0].hash, b->head, 0};

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

static void
check_in_group(Build *b, const CuckooRow *row)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, row->block, row->offset);
	cuckoo_unique_check_build(b->unique, tid, &b->live);
}

static void
add_to_group(Build *b, const CuckooRow *row)
{
	if (b->group.n > 0 && b->group.row[0].hash != row->hash)
		end_group(b);
	if (b->group.n > 0 && b->unique != NULL)
	{
		/* the first row is checked when there is a second one */
		if (b->group.n == 1)
			check_in_group(b, &b->group.row[0]);
		check_in_group(b, row);
	}
	if (b->group.n < CUCKOO_HOT_ROWS)
	{
		push_row(&b->group, row);
		return;
	}
	if (!b->in_chain)
	{
		begin_chain(b);
		for (int i = 0; i < b->group.n; i++)
			add_to_chain(b, &b->group.row[i]);
	}
	add_to_chain(b, row);
}

/* ---- building ---- */

static uint64
new_seed(void)
{
	uint64		seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random seed")));
	return seed;
}

/* The encoding of level 0 for rows up to a block and an offset. */
static CuckooEntryEncoding
base_encoding(BlockNumber block, OffsetNumber offset)
{
	CuckooEntryEncoding encoding = {.offset_bits = 1};
	CuckooEntry last = {0, block, offset};

	cuckoo_widen(&encoding, &last, 1);
	return encoding;
}

/* Inserts the rows that are left into the complete index. */
static void
insert_left(Build *b)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "cuckoo build",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);

	for (int i = 0; i < b->left.n; i++)
	{
		const CuckooRow *row = &b->left.row[i];
		ItemPointerData tid;

		ItemPointerSet(&tid, row->block, row->offset);
		cuckoo_insert_row(b->rel, row->hash, &tid);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Reads the sorted rows, and writes all pages. */
static void
write_index(Build *b)
{
	CuckooRow	row;
	int64		n = 0;

	UnlockReleaseBuffer(append(b)); /* block 0 */
	while (cuckoo_sort_next(b->sort, &row))
	{
		add_to_group(b, &row);
		if (++n % 4096 == 0)
		{
			CHECK_FOR_INTERRUPTS();
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, n);
		}
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, n);
	cuckoo_sort_end(b->sort);
	if (b->group.n > 0)
		end_group(b);
	if (b->hashing.base_pages == 0)
		choose_pages(b, 1);
	while (b->number < b->hashing.base_pages)
		end_page(b);
	if (RelationNeedsWAL(b->rel))
		log_newpage_range(b->rel, MAIN_FORKNUM, 0,
						  RelationGetNumberOfBlocks(b->rel), true);
	insert_left(b);
}

IndexBuildResult *
cuckoo_ambuild(Relation heap, Relation rel, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build		b = {.rel = rel,.hashing.seed = new_seed()};

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
	/* PostgreSQL may have cut off the file, to build the index there again */
	if (rel->rd_amcache != NULL)
		pfree(rel->rd_amcache);
	rel->rd_amcache = NULL;
	if (info->ii_Unique)
		b.unique = cuckoo_unique_begin(heap, rel);
	b.sort = cuckoo_sort_rows(heap, rel, info, b.hashing.seed);
	b.hashing.hash_bits = b.sort->hash_bits;
	b.encoding = base_encoding(b.sort->last_block, b.sort->last_offset);
	result->heap_tuples = b.sort->heap_rows;
	result->index_tuples = b.sort->rows;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 CUCKOO_PHASE_WRITE);
	write_index(&b);
	return result;
}

void
cuckoo_ambuildempty(Relation rel)
{
	CuckooHashing hashing = {new_seed(), 64, CUCKOO_FEWEST_PAGES};
	BlockNumber first = CUCKOO_META_BLOCK + 2;

	/* the meta page, a map page, and the pages of entries */
	for (BlockNumber block = 0; block < first + CUCKOO_FEWEST_PAGES; block++)
	{
		Buffer		buffer = cuckoo_extend(rel, INIT_FORKNUM);
		Page		page = BufferGetPage(buffer);

		if (block == CUCKOO_META_BLOCK)
		{
			cuckoo_init_meta(page, &hashing);
			cuckoo_page_meta(page)->maps[0] = block + 1;
		}
		else if (block < first)
		{
			cuckoo_init_page(page, CUCKOO_PAGE_MAP);
			for (uint32 i = 0; i < CUCKOO_FEWEST_PAGES; i++)
				cuckoo_page_map(page)[i] = first + i;
		}
		else
		{
			cuckoo_init_page(page, CUCKOO_PAGE_ENTRIES);
			cuckoo_page_header(page)->entries.number = block - first;
			cuckoo_page_header(page)->entries.encoding = base_encoding(0, 0);
		}
		MarkBufferDirty(buffer);
		UnlockReleaseBuffer(buffer);
	}
	log_newpage_range(rel, INIT_FORKNUM, 0, first + CUCKOO_FEWEST_PAGES, true);
}

char *
cuckoo_ambuildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case CUCKOO_PHASE_SCAN:
			return "scanning table";
		case CUCKOO_PHASE_SORT:
			return "sorting rows";
		case CUCKOO_PHASE_WRITE:
			return "writing pages";
		default:
			return NULL;
	}
}
