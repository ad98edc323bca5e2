/*-------------------------------------------------------------------------
 *
 * index/index.h
 *		The access method "cuckoo": an index that finds rows, or a filter.
 *
 * Only cuckoo_index_init() is for other folders.  README in this folder
 * explains pages, locks, WAL and the algorithms.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

#include "compat.h"
#include "core/core.h"
#include "element/element.h"

#include "access/amapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/* Defines the options.  Called when the library is loaded. */
extern void cuckoo_index_init(void);

/* ---- layout of pages ---- */

#define CUCKOO_META_BLOCK		0
#define CUCKOO_META_MAGIC		0x58494643	/* CFIX */
#define CUCKOO_META_VERSION		1
#define CUCKOO_PAGE_MAGIC		0xcf01

/* Flags of the meta data. */
#define CUCKOO_META_LOCATE		0x01	/* entries store their block */
#define CUCKOO_META_STALE		0x02	/* see cuckoo_index_is_stale() */

/* Flags of a page. */
#define CUCKOO_PAGE_SATURATED	0x01	/* every lookup in the page is true */

/* The meta data: in block 0, after PostgreSQL's page header. */
typedef struct CuckooMeta
{
	uint32		magic;
	uint16		version;
	uint16		flags;
	uint64		seed;
	uint32		pages;			/* N, the pages of level 0 */
	uint32		extents;		/* number of listed extents */
	BlockNumber end;			/* first block after the last extent */
	uint16		page_buckets;	/* w, buckets of a page */
	uint16		tag;			/* of the column's type, if family "other" */
	uint32		layout;			/* cuckoo_type_layout() of that type */
	uint8		base_bits;		/* f0, fingerprint bits at level 0 */
	uint8		fpp_bits;		/* ft; f0 with CUCKOO_META_LOCATE */
	uint8		family;
	uint8		payload_bits;	/* with CUCKOO_META_LOCATE, see core/locate.h */
	uint8		hash_bits;		/* with CUCKOO_META_LOCATE, see core/locate.h */
	uint8		zero[3];
	BlockNumber table_blocks;	/* length of the table at the build */
	double		fpp;			/* the option, or its default */
} CuckooMeta;

/* The header of every other page, after PostgreSQL's page header. */
typedef struct CuckooPageHeader
{
	uint32		number;			/* 0 to N - 1 */
	uint32		segment;
	uint8		items[8];		/* CuckooHeader.items */
	uint8		level;
	uint8		flags;
	uint16		magic;
	uint32		zero;
} CuckooPageHeader;

/*
 * Offsets of the list of extents and of the buckets, and the bytes for
 * buckets.
 */
#define CUCKOO_META_EXTENTS		(SizeOfPageHeaderData + sizeof(CuckooMeta))
#define CUCKOO_PAGE_DATA \
	(SizeOfPageHeaderData + sizeof(CuckooPageHeader))
#define CUCKOO_PAGE_ROOM		(BLCKSZ - CUCKOO_PAGE_DATA - CUCKOO_TAIL_SIZE)

/*
 * To the core, byte 16 of a page is byte 0 of an image: items (32 = 16 + 16)
 * and buckets (48 = 16 + 32) are at the offsets of an image.  The core reads
 * no other bytes of the header; the CuckooHeader comes from
 * cuckoo_page_filter().
 */
#define CUCKOO_PAGE_IMAGE		(CUCKOO_PAGE_DATA - CUCKOO_HEADER_SIZE)

StaticAssertDecl(SizeOfPageHeaderData + offsetof(CuckooPageHeader, items) ==
				 CUCKOO_PAGE_IMAGE + 16,
				 "items are where an image has them");
StaticAssertDecl(sizeof(CuckooMeta) == 56 && sizeof(CuckooPageHeader) == 24,
				 "no padding, on any machine");

/* The least f0 of an index that locates, and the most slots of such a page. */
#define CUCKOO_LOCATE_LEAST_BITS	18
#define CUCKOO_LOCATE_SLOTS \
	(CUCKOO_PAGE_ROOM * 2 / (CUCKOO_LOCATE_LEAST_BITS - 1) * CUCKOO_SLOTS)

#define CUCKOO_EXTENT_PAGES		256 /* the most pages of an extent */
#define CUCKOO_EXTENTS_LISTED \
	((BLCKSZ - CUCKOO_META_EXTENTS) / sizeof(BlockNumber))
#define CUCKOO_MOST_PAGES		(CUCKOO_EXTENTS_LISTED * CUCKOO_EXTENT_PAGES)
#define CUCKOO_INDEX_LEVELS		(CUCKOO_MAX_BITS - CUCKOO_CORE_BITS + 1)

static inline CuckooMeta *
cuckoo_page_meta(Page page)
{
	return (CuckooMeta *) ((char *) page + SizeOfPageHeaderData);
}

static inline BlockNumber *
cuckoo_page_extents(Page page)
{
	return (BlockNumber *) ((char *) page + CUCKOO_META_EXTENTS);
}

static inline CuckooPageHeader *
cuckoo_page_header(Page page)
{
	return (CuckooPageHeader *) ((char *) page + SizeOfPageHeaderData);
}

static inline uint8 *
cuckoo_page_image(Page page)
{
	return (uint8 *) page + CUCKOO_PAGE_IMAGE;
}

/* True if the page has been initialized, false if it is only allocated. */
static inline bool
cuckoo_page_is_used(Page page)
{
	return cuckoo_page_header(page)->magic == CUCKOO_PAGE_MAGIC;
}

/* ---- page.c: the meta page, pages, finding the page of a hash ---- */

/*
 * The meta data in the relcache entry of an index, and values derived from
 * them.
 */
typedef struct CuckooIndex
{
	CuckooMeta	meta;			/* as read; `extents` may have grown */
	CuckooLocator locator;		/* with CUCKOO_META_LOCATE */
	int			last_level;		/* pages of this level cannot split */
	int			level;			/* level of the page found last */
	uint64		fresh_at;		/* cuckoo_type_changes() when the index was
								 * last found not to be stale, or 0 */
	uint64		local_at;		/* see is_distributed() in open.c */
	CuckooHeader filters[CUCKOO_INDEX_LEVELS];	/* empty page of level i */
	BlockNumber extents[FLEXIBLE_ARRAY_MEMBER]; /* meta.extents blocks */
} CuckooIndex;

static inline bool
cuckoo_index_locates(const CuckooIndex *index)
{
	return (index->meta.flags & CUCKOO_META_LOCATE) != 0;
}

/*
 * Returns the cached meta data, and reads block 0 if there are none.  The
 * result is valid until the next catalog lookup.  Error XX002 if block 0 is
 * corrupt.
 * Locks held on entry: none.
 */
extern const CuckooIndex *cuckoo_index_open(Relation rel);

/* Drops the cached meta data. */
extern void cuckoo_index_forget(Relation rel);

/*
 * Fills in a zeroed *index from the meta data, except `extents`.  Returns
 * false if the meta data are invalid.
 */
extern bool cuckoo_index_derive(CuckooIndex *index, const CuckooMeta *meta);

/* Sets *h to the header of an empty page at `level`. */
extern void cuckoo_page_geometry(CuckooHeader *h, const CuckooMeta *meta,
								 int level);

/*
 * Returns the page, bucket and fingerprint of a hash at level 0.  An index
 * that does not locate ignores `block`.
 */
extern CuckooLocation cuckoo_index_location(const CuckooIndex *index,
											uint64 hash, BlockNumber block);

/* The ext bits of a fingerprint, and above them the payload. */
static inline uint32
cuckoo_location_ext(const CuckooLocation *at)
{
	return at->fingerprint >> CUCKOO_CORE_BITS;
}

/*
 * A hash to pass to core functions: in the filter *h of a page at `level`, it
 * has the bucket and the fingerprint of the location (README of the core,
 * "Keys").
 */
extern uint64 cuckoo_page_key(const CuckooLocation *at, const CuckooHeader *h,
							  int level);

/*
 * Finds the page of a location.  Returns its buffer, pinned and locked in
 * `mode`, or InvalidBuffer if no page with this number exists yet.  Error
 * XX002 if the index is corrupt.
 * Locks held on entry: none.
 */
extern Buffer cuckoo_index_find(Relation rel, const CuckooLocation *at,
								int mode);

/*
 * Checks the header of a page, and returns the header of its filter with its
 * number of items.  Error XX002 if it is not a page of the index.
 * Locks held: the page.
 */
extern CuckooHeader cuckoo_page_filter(const CuckooIndex *index, Relation rel,
									   Page page, BlockNumber block);

/*
 * The extent of a page: its number in the list, the offset of the page in it,
 * and its length in pages.
 */
typedef struct CuckooExtent
{
	uint64		number;
	uint32		offset;
	uint32		length;
} CuckooExtent;

extern CuckooExtent cuckoo_index_extent(const CuckooMeta *meta, uint32 number,
										uint32 segment);

/* The length of the extents of a generation of `generation` pages. */
extern uint32 cuckoo_extent_pages(uint64 generation);

/*
 * The first block of a page, or InvalidBlockNumber if it has none yet,
 * according to the cached meta data.
 */
extern BlockNumber cuckoo_index_block(const CuckooIndex *index, uint32 number,
									  uint32 segment);

/*
 * Initialize a page for entries, a page that is only allocated, and the meta
 * page.  The caller logs the change.
 * Locks held: the page, exclusive.
 */
extern void cuckoo_page_init(Page page, const CuckooIndex *index,
							 uint32 number, uint32 segment, int level);
extern void cuckoo_page_init_unused(Page page);
extern void cuckoo_page_init_meta(Page page, const CuckooMeta *meta);

/* Sets pd_lower of the meta page to the end of the list of extents. */
extern void cuckoo_page_set_extents_end(Page page);

/*
 * Raises the error for a corrupt page.  The format says what was found and
 * expected.
 */
pg_noreturn extern void cuckoo_index_corrupt(Relation rel, BlockNumber block,
											 const char *what,...)
			pg_attribute_printf(3, 4);

/* ---- insert.c: inserting, marks, splitting, and their WAL ---- */

/*
 * Adds a hash, and its block if the index locates.  Splits pages as needed.
 * Returns false if the index already contains them.  `logged` is false in a
 * build, which logs all pages at its end.
 * Locks held on entry: none.
 */
extern bool cuckoo_index_insert(Relation rel, uint64 hash, BlockNumber block,
								bool logged);

/*
 * True if the index contains the entry of a row, or an entry that stands for
 * it: a mark, or a saturated page.
 * Locks held on entry: none.
 */
extern bool cuckoo_index_has_row(Relation rel, uint64 hash,
								 BlockNumber block);

/*
 * Sets CUCKOO_META_STALE.
 * Locks held on entry: none.
 */
extern void cuckoo_index_set_stale(Relation rel);

/* Reads CUCKOO_META_STALE from block 0: the cached flag may be older. */
extern bool cuckoo_index_was_set_stale(Relation rel);

/* ---- build.c: CREATE INDEX and REINDEX ---- */

extern IndexBuildResult * cuckoo_build_index(Relation heap, Relation rel,
											 IndexInfo * info);
extern void cuckoo_build_empty(Relation rel);

/* ---- handler.c: options, hashing, validation, vacuum ---- */

/* The options of CREATE INDEX ... WITH, see cuckoo_index_init(). */
typedef struct CuckooOptions
{
	int32		vl_len_;
	bool		locate;
	double		fpp;
	double		capacity;
	int			fillfactor;
	int			growth_bits;	/* -1: chosen by size */
	int			seed;			/* offset of the text */
} CuckooOptions;

/* The options of an index, with defaults for those that are not set. */
extern CuckooOptions cuckoo_index_options(Relation rel);

/* Sets *seed from the options.  Returns false if the seed is random. */
extern bool cuckoo_index_seed(Relation rel, uint64 *seed);

/*
 * Fills in a zeroed hasher for values of a type, allocated in `context`.  It
 * differs from the hasher of filters in two cases.  An enum is hashed by its
 * OID, because a label may be renamed.  Text that cannot be converted to UTF-8
 * is hashed by its bytes, because INSERT must not fail.
 */
extern void cuckoo_index_hasher_of(CuckooHasher *hasher, Oid type,
								   Oid collation, MemoryContext context);

/* Like cuckoo_index_hasher_of(), for the column of an index. */
extern void cuckoo_index_hasher(CuckooHasher *hasher, Relation rel,
								MemoryContext context);

/*
 * True if the family, tag or layout of the column's type differs from the
 * index.
 */
extern bool cuckoo_meta_is_stale(const CuckooMeta *meta,
								 const CuckooHasher *hasher);

/* ---- scan.c: bitmap scans and their costs ---- */

/*
 * The result of a lookup in an index that locates.  The value may be in
 * blocks[i] and in every block that is a multiple of `modulus` after it.
 */
typedef struct CuckooBlocks
{
	bool		all;			/* every block may have the value */
	uint32		count;
	uint32		room;
	uint32	   *blocks;			/* `count` blocks, with room for `room` */
	uint64		modulus;		/* see CuckooLocator */
} CuckooBlocks;

/*
 * Looks up a hash in an index that locates.  *found gets the blocks that may
 * have it, in any order, perhaps twice, perhaps beyond the end of the table.
 * The caller reads the length of the table afterwards, because it may grow.
 * found->blocks is allocated in `context` and reused.
 * Locks held on entry: none.
 */
extern void cuckoo_index_lookup(Relation rel, uint64 hash,
								CuckooBlocks *found, MemoryContext context);

/* The length of the table of an index.  The caller has opened the table. */
extern BlockNumber cuckoo_table_blocks(Relation rel);

extern IndexScanDesc cuckoo_scan_begin(Relation rel, int keys, int orders);
extern void cuckoo_scan_restart(IndexScanDesc scan, ScanKey keys, int n,
								ScanKey orders, int n_orders);
extern int64 cuckoo_scan_bitmap(IndexScanDesc scan, TIDBitmap * bitmap);
extern void cuckoo_scan_end(IndexScanDesc scan);
extern void cuckoo_scan_cost(PlannerInfo *root, IndexPath * path,
							 double loop_count, Cost * startup, Cost * total,
							 Selectivity *selectivity, double *correlation,
							 double *pages);

/*
 * The expected number of blocks that a lookup reads in vain, for a table of
 * `blocks` blocks and an index of `pages` pages.  See README, "False blocks".
 */
extern double cuckoo_false_blocks(const CuckooMeta *meta, double blocks,
								  double pages);

/* ---- open.c: opening an index for a function; privileges, usability ---- */

typedef struct CuckooOpenIndex
{
	Relation	heap;
	Relation	rel;
} CuckooOpenIndex;

/*
 * Opens an index and its table for lookups, with AccessShareLock.  Runs no
 * code of the table's owner: it evaluates neither expressions nor predicates.
 *
 *	42809	not an index of this access method
 *	42501	no SELECT privilege on the table, or row security applies to it
 *	55000	invalid, stale, or too new for this transaction
 *	0A000	temporary in another session, unlogged on a standby, or of a
 *			distributed table
 */
extern CuckooOpenIndex cuckoo_open_for_reading(Oid oid);

/*
 * Like cuckoo_open_for_reading(), but also opens invalid, stale and too new
 * indexes, for functions that report on the index.
 */
extern CuckooOpenIndex cuckoo_open_for_inspection(Oid oid);

/*
 * Like cuckoo_open_for_reading(), but checks neither privileges nor the
 * snapshot: the trigger reads with a dirty snapshot.  Returns false if the
 * index does not exist or is not valid, and raises 42809 or 55000 instead if
 * not `missing_ok`.
 */
extern bool cuckoo_open_for_trigger(Oid oid, bool missing_ok,
									CuckooOpenIndex *index);

extern void cuckoo_close(CuckooOpenIndex *index);

/*
 * Raises error 0A000 if Citus stores the rows of the index's table in shards.
 * Block 0 of the index must exist.
 */
extern void cuckoo_check_local(const CuckooOpenIndex *index);

/* Raise error 55000 for an index that is not valid, or stale. */
pg_noreturn extern void cuckoo_index_not_valid(Relation rel);
pg_noreturn extern void cuckoo_index_stale_error(Relation rel);

/*
 * True if the hash of the column's type has changed since the index was built.
 */
extern bool cuckoo_index_is_stale(Relation rel);

/*
 * True if the index was built too late for the snapshot, on a standby or
 * according to pg_index.indcheckxmin: it may lack rows that the snapshot sees.
 */
extern bool cuckoo_index_is_too_new(Relation rel, Snapshot snapshot);

#endif							/* CUCKOO_INDEX_H */
