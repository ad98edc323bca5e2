/*-------------------------------------------------------------------------
 *
 * index/index.h
 *		The access method "cuckoo": an index whose entries are rows.
 *
 * README in this folder explains pages, entries, locks, WAL and the algorithms.
 * Nothing here is for other folders, and this folder uses no other one.
 *
 * Invariants, between any two WAL records:
 *
 *	- A row that a snapshot may see has one entry, in the page of its hash or in
 *	  a chain of this page.  Only a row with a null has none.
 *	- The header of a page of entries decides which hashes it has: those of its
 *	  number, whose low `level` ext bits are its segment.
 *	- Such a page exists for each hash.  It never becomes another kind of page.
 *	- The map has its block as soon as the page exists, and never loses it.
 *	- An entry moves only within its page, or to a child or the head of a new
 *	  chain.  While VACUUM runs, this page is later in the file.
 *	- A chain has one link.  Its rows never move to another page.  Sequence
 *	  numbers fall along the chain, and rise along its list of pages with room.
 *	- A TID gets another row only after its entry was removed, and VACUUM has
 *	  counted its end in block 0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

#include "compat.h"
#include "index/entry.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/* ---- layout of pages ---- */

#define CUCKOO_META_BLOCK		0
#define CUCKOO_META_MAGIC		0x58494643	/* CFIX */
#define CUCKOO_META_VERSION		1
#define CUCKOO_PAGE_ID			0xcf01

/* Kinds of pages. */
#define CUCKOO_PAGE_META		1
#define CUCKOO_PAGE_MAP			2	/* blocks of pages of entries */
#define CUCKOO_PAGE_ENTRIES		3
#define CUCKOO_PAGE_CHAIN		4	/* rows of a tag that has very many */
#define CUCKOO_PAGE_FREE		5	/* was in a chain, and may be again */

/* The special space at the end of each page. */
typedef struct CuckooPageHeader
{
	union
	{
		struct
		{
			uint32		number; /* 0 to N - 1 */
			uint32		segment;
			CuckooEntryEncoding encoding;
		}			entries;
		struct
		{
			BlockNumber next;	/* or InvalidBlockNumber */
			BlockNumber head;	/* of the chain; a head names itself */
			uint32		sequence;	/* falls from the page after the head; of
									 * a head: the largest one so far */
			BlockNumber room;	/* of a head: the first page with room; of
								 * another page: the next one */
		}			chain;
	};
	uint32		killed;			/* 1: rows of a chain were, since VACUUM */
	uint16		kind;
	uint16		page_id;
} CuckooPageHeader;

StaticAssertDecl(sizeof(CuckooPageHeader) == 24, "no padding, on any machine");
StaticAssertDecl(SizeOfPageHeaderData + sizeof(CuckooPageHeader) ==
				 MAXALIGN(CUCKOO_HEADERS),
				 "PageInit() aligns the special space");
StaticAssertDecl(SizeOfPageHeaderData + sizeof(CuckooSlots) +
				 sizeof(CuckooPageHeader) <= BLCKSZ,
				 "the slots fit into a page");
StaticAssertDecl((MaxHeapTuplesPerPage >> CUCKOO_MOST_OFFSET_BITS) == 0,
				 "an entry can store each offset");

/*
 * The meta page: these data, and the blocks of map pages.  Map page k has the
 * blocks of places k * CUCKOO_MAP_BLOCKS and after.  The block of map page k is
 * maps[k]; or after CUCKOO_META_DIRECT map pages, it is in a page like a map
 * page, whose block is in maps[] after the direct ones.
 */
typedef struct CuckooMeta
{
	uint32		magic;
	uint16		version;
	uint16		hash_bits;		/* the top bits of hashes that are used */
	uint64		seed;			/* of the hash: random and secret */
	uint32		base_pages;		/* N, the pages of level 0 */
	BlockNumber free;			/* first free page, or InvalidBlockNumber */
	uint32		vacuums;		/* starts and ends; odd: VACUUM may run */
	BlockNumber maps[FLEXIBLE_ARRAY_MEMBER];
} CuckooMeta;

#ifdef CUCKOO_SMALL_PAGES
#define CUCKOO_MOST_ROW_BITS	16
#define CUCKOO_MAP_BLOCKS		16
#define CUCKOO_META_DIRECT		4
#define CUCKOO_CHAIN_ROWS		50
#else
#define CUCKOO_MOST_ROW_BITS	28	/* of a TID that is sorted in a bigint */
#define CUCKOO_MAP_BLOCKS \
	((BLCKSZ - SizeOfPageHeaderData - sizeof(CuckooPageHeader)) / \
	 sizeof(BlockNumber))
#define CUCKOO_META_DIRECT		(CUCKOO_META_MAPS / 2)
#define CUCKOO_CHAIN_ROWS \
	((BLCKSZ - SizeOfPageHeaderData - sizeof(CuckooPageHeader)) / \
	 sizeof(ItemPointerData))
#endif
#define CUCKOO_META_MAPS \
	((BLCKSZ - SizeOfPageHeaderData - sizeof(CuckooPageHeader) - \
	  offsetof(CuckooMeta, maps)) / sizeof(BlockNumber))

/* The most pages of entries. */
#define CUCKOO_MOST_PAGES \
	Min(((uint64) CUCKOO_META_DIRECT + \
		 (uint64) (CUCKOO_META_MAPS - CUCKOO_META_DIRECT) * \
		 CUCKOO_MAP_BLOCKS) * CUCKOO_MAP_BLOCKS, MaxBlockNumber)

/*
 * The most splits of a page.  The map has at most 64 places for each block of
 * the file: if the splits of some pages would make it sparser, their hottest
 * tags go to chains.
 */
#define CUCKOO_MOST_LEVEL		31
#define CUCKOO_SPARSEST_MAP		64

/* An index of few rows has this number of pages, see cuckoo_page_number(). */
#define CUCKOO_FEWEST_PAGES		4

/* In its place, even if PostgreSQL's header of the page is damaged. */
static inline CuckooPageHeader *
cuckoo_page_header(Page page)		/* NOLINT: PostgreSQL's type */
{
	return (CuckooPageHeader *)
		((char *) page + BLCKSZ - sizeof(CuckooPageHeader));
}

static inline CuckooMeta *
cuckoo_page_meta(Page page)
{
	return (CuckooMeta *) PageGetContents(page);
}

static inline CuckooSlots *
cuckoo_page_slots(Page page)
{
	return (CuckooSlots *) PageGetContents(page);
}

/* The blocks of a map page. */
static inline BlockNumber *
cuckoo_page_map(Page page)
{
	return (BlockNumber *) PageGetContents(page);
}

/* The rows of a page of a chain. */
static inline ItemPointerData *
cuckoo_page_rows(Page page)
{
	return (ItemPointerData *) PageGetContents(page);
}

static inline int
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_count_rows(Page page)
{
	return (int) ((((PageHeader) page)->pd_lower - SizeOfPageHeaderData) /
				  sizeof(ItemPointerData));
}

static inline void
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_set_row_count(Page page, int n)
{
	((PageHeader) page)->pd_lower = (LocationIndex)
		(SizeOfPageHeaderData + n * sizeof(ItemPointerData));
}

/* ---- addresses of hashes ---- */

/* The ext bits of a hash: segments and tags. */
static inline uint64
cuckoo_ext(uint64 hash)
{
	return cuckoo_mix64(hash + UINT64CONST(0x9e3779b97f4a7c15));
}

/* The tag of a hash in a page. */
static inline uint64
cuckoo_tag(uint64 hash, const CuckooEntryEncoding *encoding)
{
	return cuckoo_ext(hash) >> encoding->level &
		cuckoo_bit_mask(cuckoo_tag_bits(encoding));
}

/*
 * The number of a hash's page, by its top bits: hash order is page order.  The
 * fewest pages have unequal shares of the hashes: README, "Page Addressing".
 */
static inline uint32
cuckoo_page_number(uint32 base_pages, uint64 hash)
{
	uint64		low = (hash & UINT32_MAX) * base_pages >> 32;

	if (base_pages == CUCKOO_FEWEST_PAGES)
		return (hash >= UINT64CONST(0x5269e12f346e2bf9)) +
			(hash >= UINT64CONST(0x95c01a39fbd6879f)) +
			(hash >= UINT64CONST(0xceaecfea80859b33));
	return (uint32) (((hash >> 32) * base_pages + low) >> 32);
}

/* ---- page.c: one page ---- */

/*
 * Raises the error for a corrupt page.  The format says what was found and
 * expected.
 */
pg_noreturn extern void cuckoo_index_corrupt(Relation rel, BlockNumber block,
											 const char *what,...)
			pg_attribute_printf(3, 4);

/* Raises it for an entry that decodes to no row. */
pg_noreturn extern void cuckoo_impossible_entry(Relation rel, Buffer buffer);

/*
 * Error XX002 if a page that is locked refers to itself instead of another
 * page: locking it again would wait forever.
 */
extern void cuckoo_check_other(Relation rel, BlockNumber block,
							   BlockNumber other);

/* Initializes a page of a kind, without content.  The caller logs it. */
extern void cuckoo_init_page(Page page, int kind);

/*
 * Checks that a page has a kind and is sound.  Error XX002 otherwise.
 * Locks held: the page.
 */
extern void cuckoo_check_page(Relation rel, Buffer buffer, int kind);

/*
 * Reads a page, locks it in `mode` (BUFFER_LOCK_SHARE or EXCLUSIVE), and checks
 * its kind.  Returns its buffer, pinned.
 * Locks held on entry: see README, "Lock Definitions".
 */
extern Buffer cuckoo_get_page(Relation rel, BlockNumber block, int kind,
							  int mode);

/*
 * Appends a page to a fork.  Returns its buffer, pinned and exclusively
 * locked.  The page is zero.
 * Locks held on entry: the pages that will refer to it, or none.  Takes the
 * relation extension lock, after all others.
 */
extern Buffer cuckoo_extend(Relation rel, ForkNumber fork);

/*
 * Writes the numbers of the slots that have the tag of a hash to found[], which
 * has room for all slots.  Returns how many there are.
 * Locks held: the page.
 */
extern uint32 cuckoo_find_hash(Buffer buffer, uint64 hash, uint16 *found);

/*
 * Decodes the entry in a slot that is not empty.  Error XX002 if it is
 * impossible.
 * Locks held: the page.
 */
extern CuckooEntry cuckoo_decode_slot(Relation rel, Buffer buffer, uint32 at);

/*
 * Copies the rows of a page that have the tag of a hash to rows[], which has
 * room for all slots, and adds the heads of its chains to a list.  Returns the
 * number of rows.  Error XX002 if an entry is impossible.
 * Locks held: the page.
 */
extern int	cuckoo_match_rows(Relation rel, Buffer buffer, uint64 hash,
							  ItemPointerData *rows, List **heads);

/*
 * Returns the head of a chain with the tag of a hash, or InvalidBlockNumber.
 * Error XX002 if an entry is impossible.
 * Locks held: the page.
 */
extern BlockNumber cuckoo_find_chain(Relation rel, Buffer buffer, uint64 hash);

/*
 * Returns the number of the slot that links to the head of a chain, or -1.
 * Error XX002 if an entry is impossible.
 * Locks held: the page.
 */
extern int	cuckoo_find_link(Relation rel, Buffer buffer, BlockNumber head);

/* Sorts rows: by block, and within a block the last row first. */
extern void cuckoo_sort_tids(ItemPointerData *rows, int n);

/* True if a row is one of n sorted rows. */
extern bool cuckoo_is_among(const ItemPointerData *tid,
							const ItemPointerData *rows, int n);

/* The changed ranges of a page, in the format of generic_xlog.c. */
typedef struct CuckooDelta
{
	int			length;
	char		data[64];
} CuckooDelta;

extern void cuckoo_add_range(CuckooDelta *delta, Page page, const void *from,
							 int length);

/*
 * Writes the generic WAL record of a change, and gives the page its LSN, if the
 * index is logged.  The caller is in a critical section.
 * Locks held: the page, exclusive.
 */
extern void cuckoo_log_delta(Relation rel, Buffer buffer,
							 const CuckooDelta *delta);

/* ---- kill.c: entries of dead rows ---- */

/* A page from which rows were copied, and its LSN then. */
typedef struct CuckooSource
{
	BlockNumber block;
	XLogRecPtr	lsn;
} CuckooSource;

static inline CuckooSource
cuckoo_source(Buffer buffer)
{
	CuckooSource source = {
		BufferGetBlockNumber(buffer), PageGetLSN(BufferGetPage(buffer))
	};

	return source;
}

/*
 * Removes the entries of n rows that are dead to all, if their line pointers
 * are dead, too.  sources[] are the pages from which the rows were copied.  A
 * page that has changed since is left to VACUUM.  Changes rows[].
 * Locks held on entry: none.
 */
extern void cuckoo_kill_rows(Relation heap, Relation rel,
							 const CuckooSource *sources, int n_sources,
							 uint64 hash, ItemPointerData *rows, int n);

/* ---- map.c: the meta page, the map, and the page of a hash ---- */

/* How an index hashes, from its meta page.  This never changes. */
typedef struct CuckooHashing
{
	uint64		seed;
	int			hash_bits;		/* the top bits of hashes; the others are 0 */
	uint32		base_pages;		/* N */
} CuckooHashing;

/*
 * Returns the data of an index from the relcache entry, or from block 0.  Error
 * XX002 if block 0 is corrupt or of another version.
 * Locks held on entry: none.
 */
extern CuckooHashing cuckoo_hashing(Relation rel);

/* Initializes the meta page of an index without map pages. */
extern void cuckoo_init_meta(Page page, const CuckooHashing *hashing);

/*
 * Locks the meta page, and checks its data.  Returns its buffer.
 * Locks held on entry: none, or pages of entries and of chains.
 */
extern Buffer cuckoo_lock_meta(Relation rel, int mode);

/*
 * Finds the page of a hash.  Returns its buffer, pinned and locked in `mode`.
 * Error XX002 if the index is corrupt.
 * Locks held on entry: none.
 */
extern Buffer cuckoo_find_page(Relation rel, uint64 hash, int mode);

/*
 * Returns the map page for a page of entries, exclusively locked, and creates
 * it if necessary.  *at is the number of the place in it.
 * Locks held on entry: the page `locked`, a parent; takes block 0 and releases
 * it.
 */
extern Buffer cuckoo_lock_map(Relation rel, uint32 number, uint32 segment,
							  BlockNumber locked, uint32 *at);

/*
 * Plans to split a page.  Raises the level in its header, and sets *child to
 * the header of the child.  Returns false if the page cannot be split: an
 * address has no bit left for it, or the map would be too sparse.
 */
extern bool cuckoo_plan_split(Relation rel, CuckooPageHeader *parent,
							  CuckooPageHeader *child);

/* ---- insert.c: one entry, full pages, and their WAL ---- */

/*
 * Adds the entry of a row.  Splits pages as needed.
 * Locks held on entry: none.
 */
extern void cuckoo_insert_row(Relation rel, uint64 hash, ItemPointer tid);

/*
 * The two steps of cuckoo_insert_row().  The first one returns the page of the
 * hash, exclusively locked.  The second one releases it.  It returns false if
 * it only made room in the page: then begin again.
 */
extern Buffer cuckoo_lock_for_insert(Relation rel, uint64 hash);
extern bool cuckoo_insert_entry(Relation rel, Buffer buffer, uint64 hash,
								ItemPointer tid);

/* ---- chain.c: the rows of a tag that has very many ---- */

/*
 * Adds a row to a chain.
 * Locks held on entry: the page of the link, exclusive.
 */
extern void cuckoo_chain_insert(Relation rel, BlockNumber link,
								BlockNumber head, ItemPointer tid);

/*
 * Initializes a page of a chain with n rows, without a next page.  The caller
 * logs it.
 */
extern void cuckoo_init_chain(Page page, BlockNumber head,
							  const ItemPointerData *rows, int n);

/* A page for a chain, locked exclusively. */
typedef struct CuckooNewPage
{
	Buffer		page;
	Buffer		meta;			/* block 0, locked, if the page was free */
	BlockNumber free;			/* the first free page after this change */
} CuckooNewPage;

/*
 * Takes a free page, or appends a page.  If the rows of a page move to it, this
 * page is `from`, otherwise 0.  The caller logs it by cuckoo_log_new_page(), in
 * the record of the page.
 * Locks held on entry: pages of entries and chains.
 */
extern CuckooNewPage cuckoo_new_page(Relation rel, BlockNumber from);

/* Adds the change of block 0 to a record, ends it, and releases both pages. */
extern void cuckoo_log_new_page(GenericXLogState *state,
								const CuckooNewPage *added);

/* A position in a chain: the page that is read next. */
typedef struct CuckooChainPosition
{
	BlockNumber head;
	BlockNumber next;			/* InvalidBlockNumber after the last page */
	uint32		sequence;		/* that of the page read last; 0 at first */
	uint32		previous;		/* like `sequence`, but also after a restart */
	uint32		restarts;		/* pages that were not as expected */
	BlockNumber link;			/* the page of the link, if VACUUM cannot free
								 * the chain, for example because the caller
								 * has locked the page; or 0 */
	Snapshot	snapshot;		/* of a scan, or NULL */
	CuckooSource source;		/* the page that was read last */
} CuckooChainPosition;

extern CuckooChainPosition cuckoo_chain_begin(BlockNumber head);

/*
 * Copies the rows of the next page to rows[], which has room for
 * CUCKOO_CHAIN_ROWS.  Returns their number, or 0 after the last page.  Each
 * row that was in the chain at the beginning is returned once, unless it has
 * been removed.  Returns -1 if the head is no head any more: VACUUM has freed
 * an empty chain, and with it the link.  Error XX002 if it cannot have done so.
 * Locks held on entry: none, or position->link.
 */
extern int	cuckoo_chain_next(Relation rel, CuckooChainPosition *position,
							  ItemPointerData *rows);

/*
 * Frees the empty pages of a chain, and lists the pages with room.  If the
 * chain is empty, frees its head and removes the link, which was in the page
 * `link`.
 * Locks held on entry: none.
 */
extern void cuckoo_chain_shrink(Relation rel, BlockNumber head,
								BlockNumber link);

/* ---- sort.c: the rows of a table in the order of their hashes ---- */

/* A row in a build. */
typedef struct CuckooRow
{
	uint64		hash;
	BlockNumber block;
	OffsetNumber offset;
} CuckooRow;

/* The sorted rows of a table. */
typedef struct CuckooSort
{
	double		heap_rows;		/* in the table */
	double		rows;			/* sorted: without nulls, with dead rows */
	BlockNumber last_block;		/* the largest block and offset of these */
	OffsetNumber last_offset;
	uint64		seed;
	int			hash_bits;		/* the top bits of hashes; the others are 0 */

	/* below: within sort.c */
	BlockNumber most_blocks;	/* rows of later blocks cannot be sorted */
	MemoryContext context;		/* of hashing, reset for each row */
	struct Tuplesortstate *state;
	struct ParallelContext *workers;	/* or NULL */
} CuckooSort;

/*
 * Scans a table and sorts the rows that an index on it must have, in the
 * memory of maintenance_work_mem and in temporary files.  Chooses hash_bits.
 * If parallel workers help, the session is in parallel mode until
 * cuckoo_sort_end().  Reports progress: the phases of the scan and of the sort,
 * and the total number of rows.
 * Locks held on entry: the table and the index, as in ambuild.
 */
extern CuckooSort *cuckoo_sort_rows(Relation heap, Relation rel,
									IndexInfo *info, uint64 seed);

/*
 * Returns the next row, by hash and then by TID.  Returns false after the last
 * row.
 */
extern bool cuckoo_sort_next(CuckooSort *sort, CuckooRow *row);

extern void cuckoo_sort_end(CuckooSort *sort);

/* ---- build.c: CREATE INDEX and REINDEX ---- */

/* Phases in pg_stat_progress_create_index. */
#define CUCKOO_PHASE_SCAN		2
#define CUCKOO_PHASE_SORT		3
#define CUCKOO_PHASE_WRITE		4

extern IndexBuildResult *cuckoo_ambuild(Relation heap, Relation rel,
										IndexInfo *info);
extern void cuckoo_ambuildempty(Relation rel);

/* The name of a phase in pg_stat_progress_create_index. */
extern char *cuckoo_ambuildphasename(int64 phase);

/* ---- vacuum.c ---- */

extern IndexBulkDeleteResult *cuckoo_ambulkdelete(IndexVacuumInfo *info,
												  IndexBulkDeleteResult *stats,
												  IndexBulkDeleteCallback dead,
												  void *state);
extern IndexBulkDeleteResult *cuckoo_amcleanup(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats);

/*
 * Returns a number that has changed when a VACUUM of the index has ended.
 * Locks held on entry: none, or a page of entries.  Takes block 0.
 */
extern uint32 cuckoo_count_vacuums(Relation rel);

/* ---- scan.c: scans and their costs ---- */

extern IndexScanDesc cuckoo_ambeginscan(Relation rel, int keys, int orders);
extern void cuckoo_amrescan(IndexScanDesc scan, ScanKey keys, int n,
							ScanKey orders, int n_orders);
extern bool cuckoo_amgettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 cuckoo_amgetbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void cuckoo_amendscan(IndexScanDesc scan);
extern void cuckoo_amcostestimate(PlannerInfo *root, IndexPath *path,
								  double loop_count, Cost *startup, Cost *total,
								  Selectivity *selectivity, double *correlation,
								  double *pages);

/* ---- unique.c: unique indexes, from PostgreSQL 18 on ---- */

/* What the check of keys needs, allocated in the current context. */
typedef struct CuckooUnique CuckooUnique;
extern CuckooUnique *cuckoo_unique_begin(Relation heap, Relation rel);

/*
 * Fetches the version of a row that a snapshot sees into the slot.  `tid` is
 * the TID of an entry: the row may be a later version in its HOT chain.
 * Returns false if there is none.
 */
extern bool cuckoo_fetch_row(Relation heap, ItemPointerData tid,
							 Snapshot snapshot, TupleTableSlot *slot);

/*
 * Adds the entry of a row with a key, which has no nulls.  Error 23505 if
 * another row has the key.  Waits for transactions that insert or delete such a
 * row.  With UNIQUE_CHECK_PARTIAL it does neither, and returns false if there
 * may be such a row.
 * Locks held on entry: none.
 */
extern bool cuckoo_unique_insert(CuckooUnique *unique, uint64 hash,
								 Datum *values, ItemPointer tid,
								 IndexUniqueCheck check);

/*
 * Checks a row of a build.  rows[] are the *n rows before it that have the same
 * hash and are live; the row is added, if it is live.  Error 23505 if one of
 * them has the same key.
 */
extern void cuckoo_unique_check_build(CuckooUnique *unique,
									  ItemPointerData tid, List **rows);

/* ---- handler.c: the routine and its option ---- */

#define CUCKOO_DEFAULT_FILLFACTOR	70

/* The options of an index: the percentage of the slots that a build fills. */
typedef struct CuckooOptions
{
	int32		vl_len_;
	int			fillfactor;
} CuckooOptions;

static inline int
cuckoo_fillfactor(Relation rel)
{
	return rel->rd_options == NULL ? CUCKOO_DEFAULT_FILLFACTOR :
		((CuckooOptions *) rel->rd_options)->fillfactor;
}

/* Defines the option.  Called when the library is loaded. */
extern void cuckoo_index_init(void);

/* ---- hash.c: hashing by operator classes ---- */

/* The support function of an operator class: (type, bigint) to bigint. */
#define CUCKOO_HASH_PROC	1

/* The strategy of an operator: an equality. */
#define CUCKOO_EQUAL		1

/*
 * The hash of a row, with the seed of the index.  values[] are its columns, and
 * none is null.  procs[] are the functions that hash them; NULL means the
 * functions of the columns' types.  Of the 64 bits, the index uses the top
 * hash_bits; the others are 0.  Resets the context, in which the functions are
 * called.
 */
extern uint64 cuckoo_hash_row(Relation rel, MemoryContext context, uint64 seed,
							  int hash_bits, FmgrInfo *const *procs,
							  const Datum *values);

/* True if a column of the row is null, so that it is not in the index. */
static inline bool
cuckoo_has_null(Relation rel, const bool *isnull)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		if (isnull[i])
			return true;
	}
	return false;
}

/* The equality of a column's operator class. */
extern Oid	cuckoo_equality(Relation rel, int column);

/* ---- validate.c: checks of operator classes and columns ---- */

extern bool cuckoo_amvalidate(Oid opclass);
extern void cuckoo_amadjustmembers(Oid family, Oid opclass, List *operators,
								   List *functions);

/*
 * Raises error 42704 if the default equality of a column's type is not the
 * equality of its operator class.  Each build calls it, and the first insert of
 * each statement: ALTER TABLE ... TYPE may keep an index without a build.
 */
extern void cuckoo_check_equality(Relation rel);

#endif							/* CUCKOO_INDEX_H */
