/*-------------------------------------------------------------------------
 *
 * core/lookup.c
 *		Is an element in the filter, and how often?
 *
 * B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher: Cuckoo Filter:
 * Practically Better Than Bloom.  CoNEXT 2014.
 *
 *-------------------------------------------------------------------------
 */
#include "core/lookup.h"
#include "core/match.h"

/* The number of lookups whose memory accesses overlap. */
#define BATCH				CUCKOO_LIMIT(64, 4)

/* The lookup for wide buckets.  It is correct for narrow ones, too. */
static CUCKOO_NOINLINE bool
contains_wide(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return cuckoo_image_matches(h, image, cuckoo_pair(h, hash)) != 0;
}

/*
 * Is the element in one of two buckets?  `hits` are the lanes that agree in
 * either of them, from cuckoo_pair_lane_hits().  `place` is the first bucket
 * that has such a lane.
 *
 * Mostly there is one hit, and its nibble agrees too.  Of several hits, some
 * may be false or belong to the other bucket.  The lowest hit of the bucket
 * itself is certain.  So if the nibbles of all hits agree, the element is
 * there.  Otherwise contains_wide() decides.
 */
static CUCKOO_INLINE bool
contains_narrow_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
					uint64_t hits, uint64_t place, bool whole)
{
	uint64_t	bucket = cuckoo_place_word(image + CUCKOO_HEADER_SIZE, place,
										   whole);
	uint32_t	other = cuckoo_tables.nibbles[bucket & CUCKOO_CODE_MASK] ^
		cuckoo_tables.core_nibbles[hash & 0xff];
	uint32_t	slots = cuckoo_narrow_slots(hits, h->lane_gather);

	return CUCKOO_LIKELY((other & cuckoo_tables.slot_nibbles[slots]) == 0) ||
		contains_wide(h, image, hash);
}

/* Separate functions, which leave registers to the code before the hit. */
static CUCKOO_NOINLINE bool
contains_shared_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
					uint64_t hits, uint64_t place)
{
	return contains_narrow_hit(h, image, hash, hits, place, false);
}

static CUCKOO_NOINLINE bool
contains_whole_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				   uint64_t hits, uint64_t place)
{
	return contains_narrow_hit(h, image, hash, hits, place, true);
}

/*
 * The only branch is whether any lane agrees, as in cuckoo_pair_matches().  The
 * bucket is selected without a branch.  `lanes` comes from
 * cuckoo_narrow_lanes().
 */
static CUCKOO_INLINE bool
contains_narrow_at(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				   uint64_t place1, uint64_t place2, uint64_t lanes, bool whole)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	uint64_t	bucket1 = cuckoo_place_word(buckets, place1, whole);
	uint64_t	bucket2 = cuckoo_place_word(buckets, place2, whole);
	CuckooLaneHits hits = cuckoo_pair_lane_hits(bucket1, bucket2, lanes, h);
	uint64_t	place;

	if (CUCKOO_LIKELY(hits.any == 0))
		return false;
	place = cuckoo_select(hits.first != 0, place1, place2);
	return whole ? contains_whole_hit(h, image, hash, hits.any, place)
		: contains_shared_hit(h, image, hash, hits.any, place);
}

static CUCKOO_INLINE bool
contains_narrow(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				bool grown, bool whole)
{
	CuckooPair	pair = cuckoo_positions(h, hash, grown);

	return contains_narrow_at(h, image, hash,
							  cuckoo_place_of(h, pair.pos1, whole),
							  cuckoo_place_of(h, pair.pos2, whole),
							  cuckoo_narrow_lanes(h, hash, grown), whole);
}

#define CONTAINS(name, grown, whole) \
static CUCKOO_NOINLINE bool \
contains_##name(const CuckooHeader *h, const uint8_t *image, uint64_t hash) \
{ \
	return contains_narrow(h, image, hash, grown, whole); \
}

CUCKOO_NARROW_KINDS(CONTAINS)

typedef bool (*ContainsFunction) (const CuckooHeader *h, const uint8_t *image,
								  uint64_t hash);

static const ContainsFunction contains_of[CUCKOO_KINDS] = {
	[CUCKOO_WHOLE] = contains_whole,
	[CUCKOO_WHOLE_GROWN] = contains_whole_grown,
	[CUCKOO_SHARED] = contains_shared,
	[CUCKOO_SHARED_GROWN] = contains_shared_grown,
	[CUCKOO_WIDE] = contains_wide
};

static CUCKOO_NOINLINE bool
contains_other(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return contains_of[h->kind] (h, image, hash);
}

/* The first kind avoids the table, which would cost an instruction. */
bool
cuckoo_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	bool		found = CUCKOO_LIKELY(h->kind == CUCKOO_WHOLE)
		? contains_narrow(h, image, hash, false, true)
		: contains_other(h, image, hash);

	CUCKOO_ASSERT(found == contains_wide(h, image, hash));
	return found;
}

int
cuckoo_copies(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	CuckooPair	pair = cuckoo_pair(h, hash);

	return cuckoo_copies_of(cuckoo_image_matches(h, image, pair));
}

/*
 * One part of a batch, for narrow buckets; `grown` and `whole` are constants.
 */
static CUCKOO_INLINE void
batch_narrow(const CuckooHeader *h, const uint8_t *image,
			 const uint64_t *hashes, size_t n, bool *found, bool grown,
			 bool whole)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	struct
	{
		uint64_t	lanes;
		uint64_t	place1;
		uint64_t	place2;
	}			at[BATCH];

	/* start all reads before waiting for the first one */
	for (size_t i = 0; i < n; i++)
	{
		CuckooPair	pair = cuckoo_positions(h, hashes[i], grown);

		at[i].lanes = cuckoo_narrow_lanes(h, hashes[i], grown);
		at[i].place1 = cuckoo_place_of(h, pair.pos1, whole);
		at[i].place2 = cuckoo_place_of(h, pair.pos2, whole);
		CUCKOO_PREFETCH(buckets + cuckoo_place_byte(at[i].place1, whole));
		CUCKOO_PREFETCH(buckets + cuckoo_place_byte(at[i].place2, whole));
	}
	for (size_t i = 0; i < n; i++)
		found[i] = contains_narrow_at(h, image, hashes[i], at[i].place1,
									  at[i].place2, at[i].lanes, whole);
}

#define BATCH_OF(name, grown, whole) \
static CUCKOO_NOINLINE void \
batch_##name(const CuckooHeader *h, const uint8_t *image, \
			 const uint64_t *hashes, size_t n, bool *found) \
{ \
	batch_narrow(h, image, hashes, n, found, grown, whole); \
}

CUCKOO_NARROW_KINDS(BATCH_OF)

static CUCKOO_INLINE void
prefetch_pair(const CuckooHeader *h, const uint8_t *image, CuckooPair pair)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;

	CUCKOO_PREFETCH(buckets + cuckoo_bucket_byte(h, pair.pos1));
	CUCKOO_PREFETCH(buckets + cuckoo_bucket_byte(h, pair.pos2));
}

void
cuckoo_prefetch(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	prefetch_pair(h, image, cuckoo_positions(h, hash, h->level > 0));
}

/* One part of a batch, for wide buckets. */
static CUCKOO_NOINLINE void
batch_wide(const CuckooHeader *h, const uint8_t *image,
		   const uint64_t *hashes, size_t n, bool *found)
{
	CuckooPair	pairs[BATCH];

	for (size_t i = 0; i < n; i++)
	{
		pairs[i] = cuckoo_pair(h, hashes[i]);
		prefetch_pair(h, image, pairs[i]);
	}
	for (size_t i = 0; i < n; i++)
		found[i] = cuckoo_image_matches(h, image, pairs[i]) != 0;
}

typedef void (*BatchFunction) (const CuckooHeader *h, const uint8_t *image,
							   const uint64_t *hashes, size_t n, bool *found);

static const BatchFunction batch_of[CUCKOO_KINDS] = {
	[CUCKOO_WHOLE] = batch_whole,
	[CUCKOO_WHOLE_GROWN] = batch_whole_grown,
	[CUCKOO_SHARED] = batch_shared,
	[CUCKOO_SHARED_GROWN] = batch_shared_grown,
	[CUCKOO_WIDE] = batch_wide
};

void
cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
					  const uint64_t *hashes, size_t n, bool *found)
{
	/* parts are of equal size, because in a small one little would overlap */
	size_t		parts = (n + BATCH - 1) / BATCH;
	size_t		begin = 0;

	for (size_t part = 0; part < parts; part++)
	{
		size_t		count = (n - begin) / (parts - part);

		if (part % 1024 == 0)
			cuckoo_check_interrupts();
		batch_of[h->kind] (h, image, hashes + begin, count, found + begin);
		for (size_t i = begin; i < begin + count; i++)
			CUCKOO_ASSERT(found[i] == contains_wide(h, image, hashes[i]));
		begin += count;
	}
}

void
cuckoo_probe_init(CuckooProbe *probe, const CuckooHeader *h, uint64_t hash)
{
	CuckooPair	pair = cuckoo_pair(h, hash);

	probe->fp = pair.fp;
	probe->pos[0] = pair.pos1;
	probe->pos[1] = pair.pos2;
	probe->length = h->kind == CUCKOO_WIDE ? 16 : 8;	/* what a load reads */
	for (int i = 0; i < 2; i++)
		probe->offset[i] = CUCKOO_HEADER_SIZE +
			cuckoo_bucket_byte(h, probe->pos[i]);
}

int
cuckoo_probe_copies(const CuckooProbe *probe, const CuckooHeader *h,
					const uint8_t *bytes0, const uint8_t *bytes1)
{
	CuckooPair	pair = {probe->fp, probe->pos[0], probe->pos[1]};

	return cuckoo_copies_of(cuckoo_pair_matches(h, pair, bytes0, bytes1));
}
