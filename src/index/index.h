/*-------------------------------------------------------------------------
 *
 * index/index.h
 *		The access method "cuckoo": an index whose entries are rows.
 *
 * README in this folder explains pages, entries, locks, WAL and the algorithms.
 * Nothing here is for other folders, and this folder uses no other one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

#include "compat.h"
#include "index/entry.h"

#include "access/amapi.h"
#include "access/genam.h"
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
			uint32		sequence;	/* falls from the page after the head */
			uint32		last;	/* of a head: the largest sequence so far */
		}			chain;
	};
	uint32		zero;
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
 * blocks of pages k * CUCKOO_MAP_BLOCKS and after.  The block of map page k is
 * maps[k]; or after CUCKOO_META_DIRECT map pages, it is in a page like a map
 * page, whose block is in maps[] after the direct ones.
 */
typedef struct CuckooMeta
{
	uint32		magic;
	uint16		version;
	uint16		hash_bits;		/* the top bits of hashes that are used */
	uint64		seed;			/* of the hash: random and secret */
	uint32		pages;			/* N, the pages of level 0 */
	BlockNumber free;			/* first free page, or InvalidBlockNumber */
	BlockNumber maps[FLEXIBLE_ARRAY_MEMBER];
} CuckooMeta;

#ifdef CUCKOO_SMALL_PAGES
#define CUCKOO_MAP_BLOCKS		16
#define CUCKOO_META_DIRECT		4
#define CUCKOO_CHAIN_ROWS		50
#else
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
cuckoo_page_number(uint32 pages, uint64 hash)
{
	uint64		low = (hash & UINT32_MAX) * pages >> 32;

	if (pages == CUCKOO_FEWEST_PAGES)
		return (hash >= UINT64CONST(0x5269e12f346e2bf9)) +
			(hash >= UINT64CONST(0x95c01a39fbd6879f)) +
			(hash >= UINT64CONST(0xceaecfea80859b33));
	return (uint32) (((hash >> 32) * pages + low) >> 32);
}

/* ---- map.c: the meta page, the map, and the page of a hash ---- */

/*
 * The meta data and the map in the relcache entry of an index.  The map may be
 * old, which costs a lookup one more page.
 */
typedef struct CuckooIndex
{
	uint64		seed;
	int			hash_bits;
	uint32		pages;			/* N */
	int			level;			/* the largest level seen */
	uint64		room;			/* length of blocks[] */
	/* 0: not split yet; InvalidBlockNumber: unknown */
	BlockNumber blocks[FLEXIBLE_ARRAY_MEMBER];
} CuckooIndex;

/*
 * Returns the cached meta data, and reads block 0 if there are none.  The
 * result is valid until the next catalog lookup.  Error XX002 if block 0 is
 * corrupt.
 * Locks held on entry: none.
 */
extern CuckooIndex *cuckoo_index_open(Relation rel);

/*
 * Locks the meta page, and checks its data.  Returns its buffer.
 * Locks held on entry: any pages of entries and chains.
 */
extern Buffer cuckoo_lock_meta(Relation rel, int mode);

/*
 * Finds the page of a hash.  Returns its buffer, pinned and locked in `mode`.
 * Error XX002 if the index is corrupt.
 * Locks held on entry: none.
 */
extern Buffer cuckoo_find_page(Relation rel, uint64 hash, int mode);

/*
 * Checks that a page has a kind and is sound.  Error XX002 otherwise.
 * Locks held: the page.
 */
extern void cuckoo_check_page(Relation rel, Buffer buffer, int kind);

/*
 * Appends a page to a fork.  Returns its buffer, pinned and exclusively
 * locked.  The page is zero.
 * Locks held on entry: any pages; takes the relation extension lock.
 */
extern Buffer cuckoo_extend(Relation rel, ForkNumber fork);

/*
 * Returns the map page for the page of a segment, exclusively locked, and
 * creates it if necessary.  *at is the number of the page in it.
 * Locks held on entry: the parent of the page, in block `parent`; takes block 0
 * and releases it.
 */
extern Buffer cuckoo_lock_map(Relation rel, uint32 number, uint32 segment,
							  BlockNumber parent, uint32 *at);

/* True if the map may have a place for the page of a segment. */
extern bool cuckoo_can_map(Relation rel, uint32 number, uint32 segment);

/* Stores the block of a new page in the cached map. */
extern void cuckoo_note_block(Relation rel, uint32 number, uint32 segment,
							  int level, BlockNumber block);

/* Initializes a page of a kind, without content.  The caller logs it. */
extern void cuckoo_init_page(Page page, int kind);

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
static inline void
cuckoo_check_other(Relation rel, BlockNumber block, BlockNumber other)
{
	if (unlikely(block == other))
		cuckoo_index_corrupt(rel, block,
							 "found a reference to block %u, expected one to another block",
							 other);
}

/* The changed ranges of a page, in the format of generic_xlog.c. */
typedef struct CuckooDelta
{
	int			length;
	char		data[64];
} CuckooDelta;

extern void cuckoo_add_range(CuckooDelta *delta, Page page, const void *from,
							 int length);

/*
 * Writes the generic WAL record of a change.  The page gets its LSN; a false
 * one if the index is unlogged.  The caller is in a critical section.
 * Locks held: the page, exclusive.
 */
extern void cuckoo_log_delta(Relation rel, Buffer buffer,
							 const CuckooDelta *delta);

/* ---- insert.c: one entry, full pages, and their WAL ---- */

/* The rows that had the tag of a hash when the page of the hash had an LSN. */
typedef struct CuckooTagRows
{
	bool		is_set;
	bool		insert_anyway;
	bool		vacuum_waits;	/* since before the rows were copied */
	XLogRecPtr	lsn;
	int			n;
	ItemPointerData *rows;		/* allocated */
} CuckooTagRows;

/*
 * Adds the entry of a row.  Splits pages as needed.  With `before`, the entry
 * is only added if no row has its tag, if nothing was inserted into the page
 * since *before was set, if the same rows have the tag and VACUUM waits, or if
 * insert_anyway.  Otherwise returns false, and sets *before.
 * Locks held on entry: none.
 */
extern bool cuckoo_index_insert(Relation rel, uint64 hash, ItemPointer tid,
								CuckooTagRows *before);

/* ---- chain.c: the rows of a tag that has very many ---- */

/*
 * Adds a row to a chain.
 * Locks held on entry: none.
 */
extern void cuckoo_chain_insert(Relation rel, BlockNumber head,
								ItemPointer tid);

/* Initializes the head of a chain, without rows.  The caller logs it. */
extern void cuckoo_init_chain(Page page, BlockNumber head);

/*
 * A position in a chain: the page that is read next.  At the beginning it is
 * the head, and the other numbers are 0.
 */
typedef struct CuckooChainPosition
{
	BlockNumber head;
	BlockNumber next;			/* InvalidBlockNumber after the last page */
	uint32		sequence;		/* pages below it are left; 0: the head */
	uint32		previous;		/* sequence number of the page read last */
	uint32		restarts;		/* pages that were not as expected */
	BlockNumber locked;			/* a page that the caller has locked, or 0 */
	Snapshot	snapshot;		/* of a scan, or NULL */
} CuckooChainPosition;

/*
 * Copies the rows of the next page to rows[], which has room for
 * CUCKOO_CHAIN_ROWS.  Returns their number, or 0 after the last page.  Each
 * row that was in the chain at the beginning is returned once, unless VACUUM
 * has removed it.
 * Locks held on entry: none.
 */
extern int	cuckoo_chain_next(Relation rel, CuckooChainPosition *position,
							  ItemPointerData *rows);

/*
 * Frees the empty pages of a chain, except its head.
 * Locks held on entry: none.
 */
extern void cuckoo_chain_shrink(Relation rel, BlockNumber head);

/* ---- build.c: CREATE INDEX and REINDEX ---- */

extern IndexBuildResult *cuckoo_build_index(Relation heap, Relation rel,
											IndexInfo *info);
extern void cuckoo_build_empty(Relation rel);

/* The name of a phase in pg_stat_progress_create_index. */
extern char *cuckoo_build_phase(int64 phase);

/* ---- vacuum.c ---- */

extern IndexBulkDeleteResult *cuckoo_vacuum(IndexVacuumInfo *info,
											IndexBulkDeleteResult *stats,
											IndexBulkDeleteCallback callback,
											void *callback_state);
extern IndexBulkDeleteResult *cuckoo_cleanup(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats);

/* ---- scan.c: scans and their costs ---- */

extern IndexScanDesc cuckoo_scan_begin(Relation rel, int keys, int orders);
extern void cuckoo_scan_restart(IndexScanDesc scan, ScanKey keys, int n,
								ScanKey orders, int n_orders);
extern bool cuckoo_scan_next(IndexScanDesc scan, ScanDirection direction);
extern int64 cuckoo_scan_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void cuckoo_scan_end(IndexScanDesc scan);
extern void cuckoo_scan_cost(PlannerInfo *root, IndexPath *path,
							 double loop_count, Cost *startup, Cost *total,
							 Selectivity *selectivity, double *correlation,
							 double *pages);

/*
 * Copies the rows of a page that have the tag of a hash to rows[], which has
 * room for all slots, and adds the heads of its chains to a list.  Returns the
 * number of rows.  Error XX002 if an entry is impossible.
 * Locks held: the page.
 */
extern int	cuckoo_match_rows(Relation rel, Buffer buffer, uint64 hash,
							  ItemPointerData *rows, List **heads);

/*
 * Fetches the version of a row that a snapshot sees into the slot.  `tid` is
 * the TID of an entry: the row may be a later version in its HOT chain.
 * Returns false if there is none.
 */
extern bool cuckoo_fetch_row(Relation heap, ItemPointerData tid,
							 Snapshot snapshot, TupleTableSlot *slot);

/* For qsort(): ItemPointerCompare(). */
extern int	cuckoo_compare_rows(const void *a, const void *b);

/* ---- unique.c: unique indexes, from PostgreSQL 18 on ---- */

/* What the check of keys needs, allocated in the current context. */
typedef struct CuckooUnique CuckooUnique;
extern CuckooUnique *cuckoo_unique_begin(Relation heap, Relation rel);

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

#define CUCKOO_DEFAULT_FILLFACTOR	90

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

extern bool cuckoo_validate_opclass(Oid opclass);
extern void cuckoo_adjust_members(Oid family, Oid opclass, List *operators,
								  List *functions);

/*
 * Raises error 42704 if the default equality of a column's type is not the
 * equality of its operator class.  Each build calls it, and the first insert of
 * each statement: ALTER TABLE ... TYPE may keep an index without a build.
 */
extern void cuckoo_check_equality(Relation rel);

#endif							/* CUCKOO_INDEX_H */
