/*-------------------------------------------------------------------------
 *
 * core/lookup.c
 *		Looking up elements.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better
 * Than Bloom.  CoNEXT 2014.  README, "Lookups", explains the kinds of
 * functions.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "core/match.h"

/* The lookups of a batch, whose memory accesses overlap. */
#define BATCH				CUCKOO_LIMIT(64, 4)

/* The lookup for wide buckets.  It is right for every filter. */
static CUCKOO_NOINLINE bool
contains_any(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	return cuckoo_image_matches(h, image, cuckoo_pair(h, hash)) != 0;
}

/*
 * True if the element is in one of two buckets.  `hits` are the lanes that
 * match in either (`any` of cuckoo_pair_lane_hits()), and `offset` is the
 * first bucket with such a lane.
 *
 * Usually there is one hit, and its nibble matches, too.  Some of several hits
 * may be false, or belong to the other bucket, but the lowest hit of this
 * bucket is true.  So if the nibbles of all hits match, the element is
 * present.  Otherwise contains_any() decides.
 */
static CUCKOO_INLINE bool
contains_narrow_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
					uint64_t hits, uint64_t offset, bool whole)
{
	uint64_t	bucket = cuckoo_bucket_word(image + CUCKOO_HEADER_SIZE, offset,
											whole);
	uint32_t	slots = cuckoo_narrow_slots(hits, h->lane_gather);

	return CUCKOO_LIKELY(cuckoo_narrow_nibbles_agree(bucket, hash, slots)) ||
		contains_any(h, image, hash);
}

/*
 * Separate functions, which load the bucket again: the code before the hit
 * then has more registers.
 */
static CUCKOO_NOINLINE bool
contains_shared_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
					uint64_t hits, uint64_t offset)
{
	return contains_narrow_hit(h, image, hash, hits, offset, false);
}

static CUCKOO_NOINLINE bool
contains_whole_hit(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				   uint64_t hits, uint64_t offset)
{
	return contains_narrow_hit(h, image, hash, hits, offset, true);
}

/* The only branch is whether any lane matches, as in cuckoo_pair_matches(). */
static CUCKOO_INLINE bool
contains_narrow(const CuckooHeader *h, const uint8_t *image, uint64_t hash,
				CuckooNarrowPair pair, bool whole)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	CuckooLaneHits hits =
		cuckoo_pair_lane_hits(cuckoo_bucket_word(buckets, pair.offset1, whole),
							  cuckoo_bucket_word(buckets, pair.offset2, whole),
							  pair.lanes, h);
	uint64_t	offset;

	if (CUCKOO_LIKELY(hits.any == 0))
		return false;
	offset = cuckoo_select(hits.first != 0, pair.offset1, pair.offset2);
	return whole ? contains_whole_hit(h, image, hash, hits.any, offset)
		: contains_shared_hit(h, image, hash, hits.any, offset);
}

#define CONTAINS(name, grown, whole) \
static CUCKOO_NOINLINE bool \
contains_##name(const CuckooHeader *h, const uint8_t *image, uint64_t hash) \
{ \
	return contains_narrow(h, image, hash, \
						   cuckoo_narrow_pair(h, hash, grown, whole), whole); \
}

CUCKOO_NARROW_KINDS(CONTAINS)

typedef bool (*ContainsFunction) (const CuckooHeader *h, const uint8_t *image,
								  uint64_t hash);

static const ContainsFunction contains_of[] = CUCKOO_BY_KIND(contains);

/* The most common kind skips the table, which saves an instruction. */
bool
cuckoo_contains(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	bool		found = CUCKOO_LIKELY(h->kind == CUCKOO_WHOLE)
		? contains_narrow(h, image, hash,
						  cuckoo_narrow_pair(h, hash, false, true), true)
		: contains_of[h->kind] (h, image, hash);

	CUCKOO_ASSERT(found == contains_any(h, image, hash));
	return found;
}

int
cuckoo_copies(const CuckooHeader *h, const uint8_t *image, uint64_t hash)
{
	CuckooPair	pair = cuckoo_pair(h, hash);

	return cuckoo_copies_of(cuckoo_image_matches(h, image, pair));
}

/* A part of a batch, for narrow buckets. */
static CUCKOO_INLINE void
batch_narrow(const CuckooHeader *h, const uint8_t *image,
			 const uint64_t *hashes, size_t n, bool *found, bool grown,
			 bool whole)
{
	const uint8_t *buckets = image + CUCKOO_HEADER_SIZE;
	CuckooNarrowPair pairs[BATCH];

	/* start all reads before the first lookup */
	for (size_t i = 0; i < n; i++)
	{
		pairs[i] = cuckoo_narrow_pair(h, hashes[i], grown, whole);
		CUCKOO_PREFETCH(buckets + cuckoo_offset_byte(pairs[i].offset1, whole));
		CUCKOO_PREFETCH(buckets + cuckoo_offset_byte(pairs[i].offset2, whole));
	}
	for (size_t i = 0; i < n; i++)
		found[i] = contains_narrow(h, image, hashes[i], pairs[i], whole);
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

/* A part of a batch, for wide buckets. */
static CUCKOO_NOINLINE void
batch_any(const CuckooHeader *h, const uint8_t *image,
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

static const BatchFunction batch_of[] = CUCKOO_BY_KIND(batch);

void
cuckoo_contains_batch(const CuckooHeader *h, const uint8_t *image,
					  const uint64_t *hashes, size_t n, bool *found)
{
	/* parts of equal size, because little would overlap in a small part */
	size_t		parts = (n + BATCH - 1) / BATCH;
	size_t		begin = 0;

	for (size_t part = 0; part < parts; part++)
	{
		size_t		count = (n - begin) / (parts - part);

		if (part % 1024 == 0)
			cuckoo_check_interrupts();
		batch_of[h->kind] (h, image, hashes + begin, count, found + begin);
		for (size_t i = begin; i < begin + count; i++)
			CUCKOO_ASSERT(found[i] == contains_any(h, image, hashes[i]));
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
	/* the bytes that a load reads */
	probe->length = h->bits > CUCKOO_NARROW_BITS ? 16 : 8;
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
