/*-------------------------------------------------------------------------
 *
 * index/insert.c
 *		Inserting into an index: one element, a page that is full, and the WAL
 *		of both.
 *
 * An insert locks the page of its hash, and if the page does not contain it,
 * adds it and logs what has changed.  A page without room is halved, and one
 * that has no fingerprint bit left for this becomes "saturated": from then on
 * it may contain anything.  Therefore an insert never fails for want of room.
 *
 * Locks.  An insert or a probe holds one content lock.  A split holds that of
 * its page, then that of the new one, which is a child of the first.  New runs
 * of pages are added under the lock for extending the index, with no page
 * locked but those that are added, and then block 0.
 *
 * WAL.  Everything is logged in generic records.  GenericXLogFinish() compares
 * 8 kB byte by byte, under the lock, for an insert that changes a few bytes of
 * a page.  insert_and_log() therefore writes the same record by itself, from
 * what it knows to have changed.  With CUCKOO_PUBLIC_WAL defined, the public
 * functions do this, which test/t/016_faults.pl tests.
 *
 *-------------------------------------------------------------------------
 */
#include "index/page.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

/* ---- one element ---- */

#ifndef CUCKOO_PUBLIC_WAL

/* Changed ranges that are no further apart are logged as one. */
#define RANGE_GAP		8

/* A page as it was, and the record of what has changed. */
typedef struct Change
{
	char		before[BLCKSZ];
	int			length;
	char		delta[2 * BLCKSZ];
} Change;

/* Appends a range of a page to the record, as generic_xlog.c writes it. */
static void
add_range(Change *c, Page page, uint32 from, uint32 to)
{
	OffsetNumber offset = (OffsetNumber) from;
	OffsetNumber length = (OffsetNumber) (to - from);

	memcpy(c->delta + c->length, &offset, sizeof(offset));
	memcpy(c->delta + c->length + sizeof(offset), &length, sizeof(length));
	memcpy(c->delta + c->length + 2 * sizeof(offset), page + from, length);
	c->length += 2 * sizeof(offset) + length;
}

/* Appends what differs between two offsets, which are multiples of 8. */
static void
add_differences(Change *c, Page page, uint32 from, uint32 to)
{
	uint32		begin = 0;		/* of a range; 0 if there is none */
	uint32		end = 0;

	for (uint32 at = from; at < to; at += 8)
	{
		if (memcmp(c->before + at, page + at, 8) == 0)
			continue;
		if (begin != 0 && at - end > RANGE_GAP)
		{
			add_range(c, page, begin, end);
			begin = 0;
		}
		if (begin == 0)
			begin = at;
		end = at + 8;
	}
	if (begin != 0)
		add_range(c, page, begin, end);
}

/*
 * Adds to a locked page.  If the element's buckets have room, nothing else
 * changes but the number of items; otherwise all buckets are compared.
 */
static CuckooStatus
insert_and_log(Relation rel, Buffer buffer, CuckooHeader *h, uint64 key,
			   bool logged)
{
	Page		page = BufferGetPage(buffer);
	uint8	   *image = cuckoo_page_image(page);
	Change		change;
	CuckooProbe probe;
	CuckooStatus status;
	XLogRecPtr	lsn;
	bool		anywhere = logged && !cuckoo_has_room(h, image, key);

	if (logged)
		memcpy(change.before, page, BLCKSZ);
	change.length = 0;

	START_CRIT_SECTION();
	status = cuckoo_insert(h, image, key, 1);
	if (status == CUCKOO_OK)
	{
		MarkBufferDirty(buffer);
		if (logged)
		{
			uint32		items = CUCKOO_PAGE_HEADER +
				offsetof(CuckooPageHeader, items);

			add_differences(&change, page, items, items + 8);
			if (anywhere)
				add_differences(&change, page, CUCKOO_PAGE_DATA, BLCKSZ);
			else
			{
				/* one of two buckets, found as a lookup would read them */
				cuckoo_probe_init(&probe, h, key);
				for (int i = 0; i < 2; i++)
				{
					uint32		at = (uint32) probe.offset[i] +
						CUCKOO_PAGE_DATA - CUCKOO_HEADER_SIZE;

					uint32		end = at + (uint32) probe.length;

					add_differences(&change, page, at / 8 * 8,
									Min((end + 7) / 8 * 8, BLCKSZ));
				}
			}
			XLogBeginInsert();
			XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
			XLogRegisterBufData(0, change.delta, change.length);
			/* PageSetLSN() evaluates its argument twice */
			lsn = XLogInsert(RM_GENERIC_ID, 0);
			PageSetLSN(page, lsn);
		}
	}
	END_CRIT_SECTION();
	return status;
}

#else							/* CUCKOO_PUBLIC_WAL */

static CuckooStatus
insert_and_log(Relation rel, Buffer buffer, CuckooHeader *h, uint64 key,
			   bool logged)
{
	GenericXLogState *state;
	CuckooStatus status;
	Page		page = BufferGetPage(buffer);

	if (!logged)
	{
		status = cuckoo_insert(h, cuckoo_page_image(page), key, 1);
		MarkBufferDirty(buffer);
		return status;
	}
	state = GenericXLogStart(rel);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	status = cuckoo_insert(h, cuckoo_page_image(page), key, 1);
	if (status == CUCKOO_OK)
		GenericXLogFinish(state);
	else
		GenericXLogAbort(state);
	return status;
}

#endif

/* ---- more pages ---- */

/*
 * Adds unused pages behind those of the runs in the list, from this block on.
 * Some may be there, from somebody who was interrupted in this.
 */
static void
extend(Relation rel, BlockNumber first, uint32 pages)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(rel);

	for (BlockNumber block = first; block < first + pages; block++)
	{
		Buffer		buffer = ReadBuffer(rel, block < blocks ? block : P_NEW);

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		if (BufferGetBlockNumber(buffer) != block ||
			cuckoo_page_is_used(BufferGetPage(buffer)))
			cuckoo_index_corrupt(rel, block, "it is not in the list of runs");
		START_CRIT_SECTION();
		cuckoo_page_init_unused(BufferGetPage(buffer));
		MarkBufferDirty(buffer);
		/* also while the index is built: all is logged again at its end */
		if (RelationNeedsWAL(rel))
			log_newpage_buffer(buffer, true);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * The page of block 0 moves to a run of its own, and a list of runs takes its
 * place.
 */
static void
move_out(Relation rel, BlockNumber target)
{
	Buffer		meta = ReadBuffer(rel, CUCKOO_META_BLOCK);
	Buffer		buffer = ReadBuffer(rel, target);
	GenericXLogState *state;
	Page		from,
				to;
	CuckooMeta	data;

	LockBuffer(meta, BUFFER_LOCK_EXCLUSIVE);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(rel);
	from = GenericXLogRegisterBuffer(state, meta, GENERIC_XLOG_FULL_IMAGE);
	to = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);

	data = *cuckoo_page_meta(from);
	memcpy(to, from, BLCKSZ);
	memset(cuckoo_page_meta(to), 0, sizeof(data));
	data.flags &= ~CUCKOO_META_INLINE;
	data.runs = 1;
	data.end = target + 1;
	cuckoo_meta_init(from, &data);
	*cuckoo_page_runs(from) = target;
	((PageHeader) from)->pd_lower += sizeof(BlockNumber);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	UnlockReleaseBuffer(meta);
	cuckoo_index_forget(rel);
}

/* Enters a run of so many pages, the last of the file, in the list. */
static void
set_run(Relation rel, uint32 run, BlockNumber first, uint32 pages)
{
	Buffer		buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	GenericXLogState *state;
	Page		page;
	CuckooMeta *meta;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(rel);
	/* while the index is built, the page has not been logged before */
	page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	meta = cuckoo_page_meta(page);
	cuckoo_page_runs(page)[run] = first;
	meta->runs = Max(meta->runs, run + 1);
	meta->end = first + pages;
	((PageHeader) page)->pd_lower = (LocationIndex)
		(CUCKOO_PAGE_DATA + meta->runs * sizeof(BlockNumber));
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	cuckoo_index_forget(rel);
}

/*
 * Makes sure that a page has a block.  Returns false if the list of runs is
 * full.  Nothing may be locked.
 */
static bool
allocate(Relation rel, uint32 number, uint32 segment)
{
	const CuckooIndex *index;
	uint32		offset,
				length;
	uint64		run;
	bool		fits;

	LockRelationForExtension(rel, ExclusiveLock);
	cuckoo_index_forget(rel);
	index = cuckoo_index_open(rel);
	if (index->meta.flags & CUCKOO_META_INLINE)
	{
		extend(rel, CUCKOO_META_BLOCK + 1, 1);
		move_out(rel, CUCKOO_META_BLOCK + 1);
		index = cuckoo_index_open(rel);
	}
	run = cuckoo_index_run(&index->meta, number, segment, &offset, &length);
	fits = run < CUCKOO_MAX_RUNS_LISTED;
	if (fits && !BlockNumberIsValid(cuckoo_index_block(index, number, segment)))
	{
		BlockNumber first = index->meta.end;

		extend(rel, first, length);
		set_run(rel, (uint32) run, first, length);
	}
	UnlockRelationForExtension(rel, ExclusiveLock);
	return fits;
}

/* ---- a page that is full ---- */

/* Locks the page of a spot if it is still at this level; else false. */
static bool
lock_full_page(Relation rel, const CuckooSpot *spot, int level, Buffer *buffer)
{
	*buffer = cuckoo_index_find(rel, spot, BUFFER_LOCK_EXCLUSIVE);
	if (cuckoo_page_header(BufferGetPage(*buffer))->level == level)
		return true;
	UnlockReleaseBuffer(*buffer);
	return false;
}

static void
saturate(Relation rel, const CuckooSpot *spot, int level)
{
	Buffer		buffer;
	GenericXLogState *state;
	Page		page;

	if (!lock_full_page(rel, spot, level, &buffer))
		return;
	state = GenericXLogStart(rel);
	page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	cuckoo_page_header(page)->flags |= CUCKOO_PAGE_SATURATED;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/* Halves a page by the lowest ext bit into itself and its child. */
static void
split(Relation rel, const CuckooSpot *spot, int level)
{
	const CuckooIndex *index = cuckoo_index_open(rel);
	uint32		segment = cuckoo_spot_ext(spot) &
		(uint32) cuckoo_low_mask(level);
	uint32		child_segment = segment | UINT32_C(1) << level;
	PGAlignedBlock before;
	GenericXLogState *state;
	Buffer		buffer,
				child_buffer;
	BlockNumber child_block;
	Page		page,
				child;
	CuckooHeader h,
				half;
	CuckooMeta	meta;
	uint64		moved;

	if (level == index->meta.base_bits - CUCKOO_CORE_BITS ||
		!allocate(rel, spot->number, child_segment))
	{
		saturate(rel, spot, level);
		return;
	}
	child_block = cuckoo_index_block(cuckoo_index_open(rel), spot->number,
									 child_segment);
	child_buffer = ReadBuffer(rel, child_block);
	if (!lock_full_page(rel, spot, level, &buffer))
	{
		ReleaseBuffer(child_buffer);
		return;
	}
	index = cuckoo_index_open(rel);
	meta = index->meta;
	h = cuckoo_page_filter(index, rel, BufferGetPage(buffer),
						   BufferGetBlockNumber(buffer));
	half = index->filters[level + 1];
	LockBuffer(child_buffer, BUFFER_LOCK_EXCLUSIVE);
	if (cuckoo_page_is_used(BufferGetPage(child_buffer)))
		cuckoo_index_corrupt(rel, child_block, "it is in use before its time");

	memcpy(before.data, BufferGetPage(buffer), BLCKSZ);
	state = GenericXLogStart(rel);
	page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	child = GenericXLogRegisterBuffer(state, child_buffer,
									  GENERIC_XLOG_FULL_IMAGE);
	cuckoo_page_init(page, &meta, spot->number, segment, level + 1);
	cuckoo_page_init(child, &meta, spot->number, child_segment, level + 1);
	moved = cuckoo_split(&h, cuckoo_page_image(before.data), &half,
						 cuckoo_page_image(page), cuckoo_page_image(child));
	cuckoo_store64(cuckoo_page_header(page)->items, h.items - moved);
	cuckoo_store64(cuckoo_page_header(child)->items, moved);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(child_buffer);
	UnlockReleaseBuffer(buffer);
}

bool
cuckoo_index_insert(Relation rel, uint64 hash, bool logged)
{
	CuckooSpot	spot = cuckoo_index_spot(&cuckoo_index_open(rel)->meta, hash);

	logged &= RelationNeedsWAL(rel);
	for (;;)
	{
		Buffer		buffer = cuckoo_index_find(rel, &spot,
											   BUFFER_LOCK_EXCLUSIVE);
		Page		page = BufferGetPage(buffer);
		const CuckooPageHeader *header = cuckoo_page_header(page);
		CuckooHeader h = cuckoo_page_filter(cuckoo_index_open(rel), rel, page,
											BufferGetBlockNumber(buffer));
		int			level = header->level;
		CuckooStatus status;

		if (header->flags & CUCKOO_PAGE_SATURATED)
			status = CUCKOO_UNCHANGED;
		else if (cuckoo_contains(&h, cuckoo_page_image(page),
								 cuckoo_page_key(&spot, &h, level)))
			status = CUCKOO_UNCHANGED;
		else
			status = insert_and_log(rel, buffer, &h,
									cuckoo_page_key(&spot, &h, level), logged);
		UnlockReleaseBuffer(buffer);
		if (status == CUCKOO_OK || status == CUCKOO_UNCHANGED)
			return status == CUCKOO_OK;
		CHECK_FOR_INTERRUPTS();
		split(rel, &spot, level);
	}
}

bool
cuckoo_index_was_set_stale(Relation rel)
{
	Buffer		buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	bool		result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	result = (cuckoo_page_meta(BufferGetPage(buffer))->flags &
			  CUCKOO_META_STALE) != 0;
	UnlockReleaseBuffer(buffer);
	return result;
}

void
cuckoo_index_set_stale(Relation rel)
{
	Buffer		buffer;
	GenericXLogState *state;

	if (cuckoo_index_open(rel)->meta.flags & CUCKOO_META_STALE)
		return;
	buffer = ReadBuffer(rel, CUCKOO_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(rel);
	/* a build has not logged the page before */
	cuckoo_page_meta(GenericXLogRegisterBuffer(state, buffer,
											   GENERIC_XLOG_FULL_IMAGE))
		->flags |= CUCKOO_META_STALE;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	cuckoo_index_forget(rel);
}
