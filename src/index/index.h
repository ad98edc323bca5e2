/*-------------------------------------------------------------------------
 *
 * index/index.h
 *		The access method "cuckoo": an index of 4 bytes a row that finds rows,
 *		or a filter of 2 bytes a row.
 *
 * cuckoo_index_init() is for module.c; all else is for the files of index/.
 * README in this folder explains pages, locks, WAL and the algorithms.
 *
 *	page.c		the meta page, pages, and finding the page of a hash
 *	insert.c	inserting, marks, splitting, and their WAL
 *	build.c		CREATE INDEX and REINDEX
 *	handler.c	the access method: options, validation, vacuum
 *	scan.c		bitmap scans and their costs
 *	open.c		opening an index for a function: rights, usability
 *	probe.c		SQL functions that look up values
 *	export.c	SQL functions that read the whole index
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

/* Defines the options, at library load. */
extern void cuckoo_index_init(void);

/* ---- layout of pages ---- */

#define CUCKOO_META_BLOCK		0
#define CUCKOO_META_MAGIC		0x58494643	/* CFIX */
#define CUCKOO_META_VERSION		1
#define CUCKOO_PAGE_MAGIC		0xcf01

/* Flags of the meta data. */
#define CUCKOO_META_LOCATE		0x01	/* entries say in which block */
#define CUCKOO_META_STALE		0x02	/* the hash of the type has changed */

/* Flags of a page. */
#define CUCKOO_PAGE_SATURATED	0x01	/* every lookup in it is true */

/* The meta data, in block 0 after the page header. */
typedef struct CuckooMeta
{
	uint32		magic;
	uint16		version;
	uint16		flags;
	uint64		seed;
	uint32		pages;			/* of level 0: N */
	uint32		extents;		/* length of the list */
	BlockNumber end;			/* the block after the last extent */
	uint16		page_buckets;	/* w */
	uint16		tag;			/* of the type, family "other" */
	uint32		layout;			/* of its rows, see cuckoo_type_layout() */
	uint8		base_bits;		/* f0 */
	uint8		fpp_bits;		/* ft, without CUCKOO_META_LOCATE */
	uint8		family;
	uint8		payload_bits;	/* with CUCKOO_META_LOCATE: */
	uint8		hash_bits;		/* see core/locate.h */
	uint8		zero[3];
	BlockNumber table_blocks;	/* for which the index was built */
	double		fpp;			/* that was asked for */
} CuckooMeta;

/* The header of every other page, after PostgreSQL's. */
typedef struct CuckooPageHeader
{
	uint32		number;			/* 0 to N - 1 */
	uint32		segment;
	uint8		items[8];		/* the core's */
	uint8		level;
	uint8		flags;
	uint16		magic;
	uint32		zero;
} CuckooPageHeader;

/* Where the list of extents and the buckets begin. */
#define CUCKOO_META_EXTENTS		(SizeOfPageHeaderData + sizeof(CuckooMeta))
#define CUCKOO_PAGE_DATA \
	(SizeOfPageHeaderData + sizeof(CuckooPageHeader))
#define CUCKOO_PAGE_ROOM		(BLCKSZ - CUCKOO_PAGE_DATA - CUCKOO_TAIL_SIZE)

/*
 * To the core, a page is an image that begins here: its items and buckets are
 * at the offsets of an image.  The core reads no other bytes of the header.
 */
#define CUCKOO_PAGE_IMAGE		(CUCKOO_PAGE_DATA - CUCKOO_HEADER_SIZE)

StaticAssertDecl(SizeOfPageHeaderData + offsetof(CuckooPageHeader, items) ==
				 CUCKOO_PAGE_IMAGE + 16,
				 "items are where an image has them");
StaticAssertDecl(sizeof(CuckooMeta) == 56 && sizeof(CuckooPageHeader) == 24,
				 "no padding, on any machine");

/* The smallest fingerprint that locates, and the slots of a page with it. */
#define CUCKOO_LOCATE_LEAST_BITS	18
#define CUCKOO_LOCATE_SLOTS \
	(CUCKOO_PAGE_ROOM * 2 / (CUCKOO_LOCATE_LEAST_BITS - 1) * CUCKOO_SLOTS)

#define CUCKOO_EXTENT_PAGES		256 /* at most */
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

/* True if the page has entries, false if it was allocated for later. */
static inline bool
cuckoo_page_is_used(Page page)
{
	return cuckoo_page_header(page)->magic == CUCKOO_PAGE_MAGIC;
}

/* ---- page.c ---- */

/* An index, as its relcache entry keeps it. */
typedef struct CuckooIndex
{
	CuckooMeta	meta;			/* as of when it was read */
	CuckooLocator locator;		/* with CUCKOO_META_LOCATE */
	int			last_level;		/* where a page cannot be split */
	int			level;			/* of the page found last */
	uint64		fresh_at;		/* cuckoo_type_changes() when the index was
								 * found not to be stale; or 0 */
	uint64		local_at;		/* see is_distributed() in open.c */
	CuckooHeader filters[CUCKOO_INDEX_LEVELS];	/* of a page at each level */
	BlockNumber extents[FLEXIBLE_ARRAY_MEMBER]; /* meta.extents */
} CuckooIndex;

static inline bool
cuckoo_index_locates(const CuckooIndex *index)
{
	return (index->meta.flags & CUCKOO_META_LOCATE) != 0;
}

/*
 * The meta data of an index, from its relcache entry.  The result is valid
 * until the next call that may look up catalogs.  Error XX002 if the meta page
 * is corrupt.
 */
extern const CuckooIndex *cuckoo_index_open(Relation rel);

/* Forgets them, because they have changed. */
extern void cuckoo_index_forget(Relation rel);

/*
 * Fills in a zeroed index from its meta data, without the list of extents.
 * False if the meta data are invalid.
 */
extern bool cuckoo_index_derive(CuckooIndex *index, const CuckooMeta *meta);

/* The filter of a page at a level. */
extern void cuckoo_page_geometry(CuckooHeader *h, const CuckooMeta *meta,
								 int level);

/*
 * The location of a hash.  In an index that does not locate, `block` does not
 * matter.
 */
extern CuckooLocation cuckoo_index_location(const CuckooIndex *index,
											uint64 hash, BlockNumber block);

/* The bits of the fingerprint that choose the segment, and bits above them. */
static inline uint32
cuckoo_location_ext(const CuckooLocation *at)
{
	return at->fingerprint >> CUCKOO_CORE_BITS;
}

/*
 * What the core takes for the hash, in the filter *h of a page at a level: a
 * hash with the same bucket and fingerprint (core/core.h, on keys).
 */
extern uint64 cuckoo_page_key(const CuckooLocation *at, const CuckooHeader *h,
							  int level);

/*
 * The buffer with the page of a location, pinned, and locked in this mode.
 * InvalidBuffer if there is no such page yet, not even at level 0.  Nothing may
 * be locked.  Error XX002 if the index is corrupt.
 */
extern Buffer cuckoo_index_find(Relation rel, const CuckooLocation *at,
								int mode);

/*
 * The filter of a page, with its items.  The page must be locked.  Error XX002
 * if it is not a page of the index.
 */
extern CuckooHeader cuckoo_page_filter(const CuckooIndex *index, Relation rel,
									   Page page, BlockNumber block);

/* The extent of a page: its position in the list, and the page's in it. */
typedef struct CuckooExtent
{
	uint64		number;
	uint32		offset;
	uint32		length;
} CuckooExtent;

extern CuckooExtent cuckoo_index_extent(const CuckooMeta *meta, uint32 number,
										uint32 segment);

/* The length of the extents of a generation that has so many pages. */
extern uint32 cuckoo_extent_pages(uint64 generation);

/* The block of a page, or InvalidBlockNumber if it has none yet. */
extern BlockNumber cuckoo_index_block(const CuckooIndex *index, uint32 number,
									  uint32 segment);

/* Initialize an empty page, one that is not in use, and the meta page. */
extern void cuckoo_page_init(Page page, const CuckooIndex *index,
							 uint32 number, uint32 segment, int level);
extern void cuckoo_page_init_unused(Page page);
extern void cuckoo_page_init_meta(Page page, const CuckooMeta *meta);

/* Sets pd_lower to the end of the list of extents. */
extern void cuckoo_page_set_extents_end(Page page);

/* The error for a page that is not what it should be, with a format. */
pg_noreturn extern void cuckoo_index_corrupt(Relation rel, BlockNumber block,
											 const char *what,...)
			pg_attribute_printf(3, 4);

/* ---- insert.c ---- */

/*
 * Adds a hash, and its block if the index locates, unless the index has them,
 * and splits pages as needed.  True if it was added.  `logged` is false while
 * the index is built.
 */
extern bool cuckoo_index_insert(Relation rel, uint64 hash, BlockNumber block,
								bool logged);

/* True if the index has the entry of a row, or one that stands for it. */
extern bool cuckoo_index_has_row(Relation rel, uint64 hash,
								 BlockNumber block);

/* Notes durably that the hash function of the type has changed. */
extern void cuckoo_index_set_stale(Relation rel);

/* True if that was noted, even if the cached meta data do not have it yet. */
extern bool cuckoo_index_was_set_stale(Relation rel);

/* ---- build.c ---- */

extern IndexBuildResult * cuckoo_build_index(Relation heap, Relation rel,
											 IndexInfo * info);
extern void cuckoo_build_empty(Relation rel);

/* ---- handler.c ---- */

/* WITH (...), see cuckoo_index_init(). */
typedef struct CuckooOptions
{
	int32		vl_len_;
	bool		locate;
	double		fpp;
	double		capacity;
	int			fillfactor;
	int			growth_bits;	/* -1: by size */
	int			seed;			/* offset of the text */
} CuckooOptions;

/* The options of an index, with their defaults where none are given. */
extern CuckooOptions cuckoo_index_options(Relation rel);

/* Sets *seed to that of the options; false if none is given. */
extern bool cuckoo_index_seed(Relation rel, uint64 *seed);

/*
 * Fills in a zeroed hasher for values of a type.  It is that of the type, but
 * an enum is hashed by its OID, so that renaming a label changes nothing, and
 * text without a representation in UTF-8 by its bytes, so that no INSERT fails.
 */
extern void cuckoo_index_hasher_of(CuckooHasher *hasher, Oid type,
								   Oid collation, MemoryContext context);

/* Like cuckoo_index_hasher_of(), for the column of an index. */
extern void cuckoo_index_hasher(CuckooHasher *hasher, Relation rel,
								MemoryContext context);

/* True if the hash of the elements has changed since the index was built. */
extern bool cuckoo_meta_is_stale(const CuckooMeta *meta,
								 const CuckooHasher *hasher);

/* ---- scan.c ---- */

/* What a lookup in an index that locates has found. */
typedef struct CuckooBlocks
{
	bool		all;			/* any block may have the value */
	uint32		count;
	uint32		room;
	uint32	   *blocks;			/* and those that are a multiple of */
	uint64		modulus;		/* this further on */
} CuckooBlocks;

/*
 * Looks up a hash in an index that locates: *found gets the blocks that may
 * have it, in any order, maybe twice.  They may be beyond the end of the table,
 * whose length must be read after this.  found->blocks is palloc'd in
 * `context` and reused.
 */
extern void cuckoo_index_lookup(Relation rel, uint64 hash,
								CuckooBlocks *found, MemoryContext context);

/* The blocks of the table of an index, which the caller has locked. */
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
 * The blocks that a lookup reads in vain, if the table has so many blocks and
 * the index so many pages.  See README, "False blocks".
 */
extern double cuckoo_false_blocks(const CuckooMeta *meta, double blocks,
								  double pages);

/* ---- open.c ---- */

/* An index opened for reading, and its table. */
typedef struct CuckooOpenIndex
{
	Relation	heap;
	Relation	rel;
} CuckooOpenIndex;

/*
 * Opens an index and its table, with AccessShareLock, for lookups of a query.
 * Errors: 42809 if it is no index of this access method, 42501 if the user has
 * no SELECT on the table or row security applies to it, 55000 if it is not
 * valid, or stale, or cannot be used in this transaction, 0A000 if it belongs
 * to another session, or is unlogged and this is a standby, or if Citus keeps
 * the rows of its table in shards.  No code of the table's owner runs: its
 * expressions and predicates are not looked at.
 */
extern CuckooOpenIndex cuckoo_open_for_reading(Oid oid);

/*
 * Like cuckoo_open_for_reading(), but also opens invalid, stale and too new
 * indexes, for functions that report on the index.
 */
extern CuckooOpenIndex cuckoo_open_for_inspection(Oid oid);

extern void cuckoo_close(CuckooOpenIndex *index);

/*
 * Error 0A000 if Citus keeps the rows of the index's table in shards.  The
 * index must have been built.
 */
extern void cuckoo_check_local(const CuckooOpenIndex *index);

/* The errors for an index that is not valid, and for a stale one. */
pg_noreturn extern void cuckoo_index_not_valid(Relation rel);
pg_noreturn extern void cuckoo_index_stale_error(Relation rel);

/* True if the hash of the element type has changed since it was built. */
extern bool cuckoo_index_is_stale(Relation rel);

/*
 * True if the index may lack rows that the snapshot sees, because it was built
 * after it: on a standby, or as pg_index.indcheckxmin says.
 */
extern bool cuckoo_index_is_too_new(Relation rel, Snapshot snapshot);

#endif							/* CUCKOO_INDEX_H */
