/*-------------------------------------------------------------------------
 *
 * index/page.h
 *		The pages of an index, and how a hash finds its page.
 *
 * cuckoo_index_open() reads the meta data, which cuckoo_index_find() takes to
 * find the page of a hash.  cuckoo_page_filter() and cuckoo_page_key() let the
 * core work on the page.
 *
 * Layout.  With N pages of w buckets at growth level 0, the index is a filter
 * with the flag "pages" (FORMAT.md) and m0 = N * w base buckets: page p holds
 * base buckets p * w to p * w + w - 1.  A page that is full is halved by the
 * lowest bit of the ext bits, as a filter grows: the page of segment s at level
 * g becomes those of segments s and s + 2^g at level g + 1.  Other pages do not
 * change, so the pages of an index may be at different levels.
 *
 * Block 0 holds the meta data.  As long as the index has one page, it holds
 * that, too ("inline"), so that a first probe reads one block.  Otherwise it
 * lists the runs: pages are allocated in runs, in the order of their segments,
 * and the list has the first block of each.  Group 0 are the pages of segment
 * 0, group g those of segments 2^(g-1) to 2^g - 1.  A run is a 32nd of its
 * group, so that a few splits do not enlarge the index by much, but at most 256
 * pages, so that no insert waits for long.  A list of 2024 runs allows 3 GB.
 *
 *	bytes of a page
 *	0-23	page header; pd_lower is the end of the data, the rest is zero, as
 *			the redo of RM_GENERIC makes it
 *	24-71	block 0: CuckooMeta
 *	72-75	number p of the page, 0 to N - 1
 *	76-79	segment
 *	80-87	items (the core's, little-endian)
 *	88-91	level, flags, magic
 *	92-95	0
 *	96-		buckets, or in block 0 the runs
 *
 * The core takes the page from byte 64 on for an image: its number of items and
 * its buckets are where an image has them, and the header that an image has at
 * other bytes is not read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_PAGE_H
#define CUCKOO_INDEX_PAGE_H

#include "compat.h"
#include "core/core.h"

#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#define CUCKOO_META_BLOCK		0
#define CUCKOO_META_MAGIC		0x58494643	/* CFIX */
#define CUCKOO_META_VERSION		1
#define CUCKOO_PAGE_MAGIC		0xcf01

#define CUCKOO_PAGE_DATA		96	/* offset of the buckets */
#define CUCKOO_PAGE_ROOM		(BLCKSZ - CUCKOO_PAGE_DATA - CUCKOO_TAIL_SIZE)
#define CUCKOO_RUN_PAGES		256 /* of a run, at most */
#define CUCKOO_GROUP_RUNS		32	/* of a group, at most if it is small */
#define CUCKOO_MAX_RUNS_LISTED \
	((BLCKSZ - CUCKOO_PAGE_DATA) / sizeof(BlockNumber))
#define CUCKOO_INDEX_LEVELS		(CUCKOO_MAX_BITS - CUCKOO_CORE_BITS + 1)

/* Flags of the meta data. */
#define CUCKOO_META_INLINE		0x01	/* block 0 holds the only page */
#define CUCKOO_META_STALE		0x02	/* the hash of the type has changed */

/* Flags of a page. */
#define CUCKOO_PAGE_SATURATED	0x01	/* it may contain anything */

/* What block 0 says of the index. */
typedef struct CuckooMeta
{
	uint32		magic;
	uint16		version;
	uint16		flags;
	uint64		seed;
	uint32		pages;			/* N */
	uint32		runs;			/* length of the list */
	BlockNumber end;			/* the block behind these runs */
	uint16		page_buckets;	/* w */
	uint16		tag;			/* of the type, family "other" */
	uint32		layout;			/* of its rows, see cuckoo_type_layout() */
	uint8		base_bits;		/* f0 */
	uint8		fpp_bits;		/* ft */
	uint8		family;
	uint8		fillfactor;
} CuckooMeta;

/* What every page has in front of its buckets; in block 0 if it is inline. */
typedef struct CuckooPageHeader
{
	uint32		number;			/* p */
	uint32		segment;
	uint8		items[8];		/* the core's */
	uint8		level;
	uint8		flags;
	uint16		magic;
	uint32		zero;
} CuckooPageHeader;

#define CUCKOO_PAGE_HEADER		72

StaticAssertDecl(SizeOfPageHeaderData + sizeof(CuckooMeta) <=
				 CUCKOO_PAGE_HEADER,
				 "the meta data fit before the header of the page");
StaticAssertDecl(CUCKOO_PAGE_DATA ==
				 CUCKOO_PAGE_HEADER + sizeof(CuckooPageHeader),
				 "the header of the page ends where the buckets begin");

static inline CuckooMeta *
cuckoo_page_meta(Page page)
{
	return (CuckooMeta *) ((char *) page + SizeOfPageHeaderData);
}

static inline CuckooPageHeader *
cuckoo_page_header(Page page)
{
	return (CuckooPageHeader *) ((char *) page + CUCKOO_PAGE_HEADER);
}

/* The list of runs in block 0. */
static inline BlockNumber *
cuckoo_page_runs(Page page)
{
	return (BlockNumber *) ((char *) page + CUCKOO_PAGE_DATA);
}

/* The page as an image of the core. */
static inline uint8 *
cuckoo_page_image(Page page)
{
	return (uint8 *) page + CUCKOO_PAGE_DATA - CUCKOO_HEADER_SIZE;
}

/* An index, as its relcache entry keeps it. */
typedef struct CuckooIndex
{
	CuckooMeta	meta;			/* as of when it was read */
	int			level;			/* where most pages are */
	bool		fits_type;		/* known to be hashed as its column is now */
	uint64		local_at;		/* see is_distributed() */
	CuckooHeader filters[CUCKOO_INDEX_LEVELS];	/* of a page at each level */
	BlockNumber runs[FLEXIBLE_ARRAY_MEMBER];	/* meta.runs */
} CuckooIndex;

/*
 * The meta data of an index, from its relcache entry.  The result is valid
 * until the next call that may look up catalogs.  Error XX002 if the meta page
 * is corrupt.
 */
extern const CuckooIndex *cuckoo_index_open(Relation rel);

/* Forgets them, because they have changed. */
extern void cuckoo_index_forget(Relation rel);

/* The filter of a page at a level, from meta data. */
extern void cuckoo_page_geometry(CuckooHeader *h, const CuckooMeta *meta,
								 int level);

/* A hash in an index: its page, its first bucket there, its fingerprint. */
typedef struct CuckooSpot
{
	uint32		number;			/* of the page */
	uint32		bucket;			/* within the page */
	uint32		fingerprint;	/* of f0 bits */
} CuckooSpot;

extern CuckooSpot cuckoo_index_spot(const CuckooMeta *meta, uint64 hash);

/* The bits of the fingerprint that choose the segment, at the last level. */
static inline uint32
cuckoo_spot_ext(const CuckooSpot *spot)
{
	return spot->fingerprint >> CUCKOO_CORE_BITS;
}

/*
 * What the core takes for the hash, in the filter *h of a page at a level: a
 * hash with the same bucket and fingerprint (core/core.h, on keys).
 */
extern uint64 cuckoo_page_key(const CuckooSpot *spot, const CuckooHeader *h,
							  int level);

/*
 * The buffer with the page of a spot, pinned, and locked in this mode.  Nothing
 * must be locked.  Error XX002 if the index is corrupt.
 */
extern Buffer cuckoo_index_find(Relation rel, const CuckooSpot *spot, int mode);

/*
 * The filter of a page, with its items, and its image.  The page must be
 * locked.  Error XX002 if it is not a page of the index.
 */
extern CuckooHeader cuckoo_page_filter(const CuckooIndex *index, Relation rel,
									   Page page, BlockNumber block);

/* The pages of a run in a group of so many pages, at least 1. */
static inline uint32
cuckoo_run_pages(uint64 group)
{
	return (uint32) Max(Min((group + CUCKOO_GROUP_RUNS - 1) / CUCKOO_GROUP_RUNS,
							CUCKOO_RUN_PAGES), 1);
}

/* The block of a page, or InvalidBlockNumber if it has none yet. */
extern BlockNumber cuckoo_index_block(const CuckooIndex *index, uint32 number,
									  uint32 segment);

/*
 * The position in the list of the run that has a page, the position of the page
 * in it, and the length of the run.
 */
extern uint64 cuckoo_index_run(const CuckooMeta *meta, uint32 number,
							   uint32 segment, uint32 *offset, uint32 *length);

/* Initializes the page of a number and segment, empty, or as not in use. */
extern void cuckoo_page_init(Page page, const CuckooMeta *meta, uint32 number,
							 uint32 segment, int level);
extern void cuckoo_page_init_unused(Page page);

/* Sets pd_lower behind the buckets of a page of this filter. */
extern void cuckoo_page_set_end(Page page, const CuckooHeader *h);

/* True if the page holds a filter, false if it is allocated for later. */
static inline bool
cuckoo_page_is_used(Page page)
{
	return !PageIsNew(page) &&
		cuckoo_page_header(page)->magic == CUCKOO_PAGE_MAGIC;
}

/*
 * Adds a hash, at most once, and splits pages as needed; true if it was not
 * there.  `logged` is false while the index is built.
 */
extern bool cuckoo_index_insert(Relation rel, uint64 hash, bool logged);

/* Notes durably that the hash function of the type has changed. */
extern void cuckoo_index_set_stale(Relation rel);

/* True if that was noted, also by a session that this one has not heard of. */
extern bool cuckoo_index_was_set_stale(Relation rel);

/* The block 0 of an empty index; see index/build.c for what is chosen. */
extern void cuckoo_meta_init(Page page, const CuckooMeta *meta);

/* The error for a page that is not what it should be. */
pg_noreturn extern void cuckoo_index_corrupt(Relation rel, BlockNumber block,
											 const char *what);

#endif							/* CUCKOO_INDEX_PAGE_H */
