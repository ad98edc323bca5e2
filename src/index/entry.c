/*-------------------------------------------------------------------------
 *
 * index/entry.c
 *		The slots of a page: finding, inserting, rewriting.
 *
 * Moves are planned before anything changes, so an insert never loses an entry.
 *
 *-------------------------------------------------------------------------
 */
#include "index/entry.h"

#include <stdlib.h>
#include <string.h>

/* Salts that a rewrite tries.  At 95% of the slots, the first one fits. */
#define SALTS	32

/* Slots that a lookup compares between two branches. */
#define COMPARED_SLOTS	64

/* ---- finding ---- */

uint32_t
cuckoo_find_tag(const CuckooSlots *slots, const CuckooEntryEncoding *encoding,
				uint64_t tag, uint16_t *found)
{
	int			bits = encoding->position_bits;
	uint32_t	want = (uint32_t) (tag << bits >> 8);
	uint32_t	mask = ~(uint32_t) (cuckoo_bit_mask(bits) >> 8);
	uint32_t	n = 0;

	uint32_t	end;

	for (uint32_t from = 0; from < CUCKOO_PAGE_SLOTS; from = end)
	{
		uint32_t	equal = 0;

		/* a loop without branches: compilers compare several slots at once */
		if (from + COMPARED_SLOTS <= CUCKOO_PAGE_SLOTS)
		{
			for (int i = 0; i < COMPARED_SLOTS; i++)
				equal |= ((slots->high[from + i] ^ want) & mask) == 0;
			end = from + COMPARED_SLOTS;
			if (equal == 0)
				continue;
		}
		else
			end = CUCKOO_PAGE_SLOTS;
		for (uint32_t at = from; at < end; at++)
		{
			uint64_t	slot = cuckoo_slot(slots, at);

			if (slot != 0 && slot >> bits == tag)
				found[n++] = (uint16_t) at;
		}
	}
	return n;
}

/* Returns a free slot of a bucket, or -1. */
static int
free_slot(const CuckooSlots *slots, uint32_t bucket)
{
	uint32_t	first = bucket * CUCKOO_BUCKET_SLOTS;

	for (uint32_t at = first; at < first + CUCKOO_BUCKET_SLOTS; at++)
	{
		if (slots->high[at] == 0 && slots->low[at] == 0)
			return (int) at;
	}
	return -1;
}

static int
count_free(const CuckooSlots *slots, uint32_t bucket)
{
	uint32_t	first = bucket * CUCKOO_BUCKET_SLOTS;
	int			n = 0;

	for (uint32_t at = first; at < first + CUCKOO_BUCKET_SLOTS; at++)
		n += slots->high[at] == 0 && slots->low[at] == 0;
	return n;
}

/* ---- inserting ---- */

static void
add_write(CuckooWrites *writes, int at, uint64_t slot)
{
	writes->write[writes->n].at = (uint32_t) at;
	writes->write[writes->n].slot = slot;
	writes->n++;
}

/* The bucket to which the entry in a slot can move. */
static uint32_t
other_bucket_of(const CuckooSlots *slots, const CuckooEntryEncoding *encoding,
				uint32_t at)
{
	return cuckoo_other_bucket(cuckoo_pairing(encoding,
											  cuckoo_slot(slots, at)),
							   at / CUCKOO_BUCKET_SLOTS);
}

/*
 * Plans to free a slot of a full bucket by one move.  Returns the slot, or -1.
 */
static int
plan_move(const CuckooSlots *slots, const CuckooEntryEncoding *encoding,
		  uint32_t bucket, CuckooWrites *writes)
{
	uint32_t	first = bucket * CUCKOO_BUCKET_SLOTS;

	for (uint32_t at = first; at < first + CUCKOO_BUCKET_SLOTS; at++)
	{
		int			to = free_slot(slots, other_bucket_of(slots, encoding, at));

		if (to >= 0)
		{
			add_write(writes, to, cuckoo_slot(slots, at));
			return (int) at;
		}
	}
	return -1;
}

/* Plans to free a slot of a full bucket by two moves, if one is not enough. */
static int
plan_two_moves(const CuckooSlots *slots, const CuckooEntryEncoding *encoding,
			   uint32_t bucket, CuckooWrites *writes)
{
	uint32_t	first = bucket * CUCKOO_BUCKET_SLOTS;

	for (uint32_t at = first; at < first + CUCKOO_BUCKET_SLOTS; at++)
	{
		int			to = plan_move(slots, encoding,
								   other_bucket_of(slots, encoding, at),
								   writes);

		if (to >= 0)
		{
			add_write(writes, to, cuckoo_slot(slots, at));
			return (int) at;
		}
	}
	return -1;
}

bool
cuckoo_plan_insert(const CuckooSlots *slots,
				   const CuckooEntryEncoding *encoding,
				   const CuckooEntry *entry, CuckooWrites *writes)
{
	uint32_t	first;
	uint32_t	second;
	uint64_t	slot = cuckoo_encode(encoding, entry, &first, &second);
	bool		second_is_emptier = count_free(slots, second) >
		count_free(slots, first);
	int			at;

	writes->n = 0;
	at = free_slot(slots, second_is_emptier ? second : first);
	if (at < 0)
		at = plan_move(slots, encoding, first, writes);
	if (at < 0)
		at = plan_move(slots, encoding, second, writes);
	if (at < 0)
		at = plan_two_moves(slots, encoding, first, writes);
	if (at < 0)
		at = plan_two_moves(slots, encoding, second, writes);
	if (at < 0)
		return false;
	add_write(writes, at, slot);
	return true;
}

void
cuckoo_write_slots(CuckooSlots *slots, const CuckooWrites *writes)
{
	for (int i = 0; i < writes->n; i++)
		cuckoo_set_slot(slots, writes->write[i].at, writes->write[i].slot);
}

/* ---- rewriting ---- */

int
cuckoo_list_entries(const CuckooSlots *slots,
					const CuckooEntryEncoding *encoding, CuckooEntry *entries)
{
	int			n = 0;

	for (uint32_t at = 0; at < CUCKOO_PAGE_SLOTS; at++)
	{
		uint64_t	slot = cuckoo_slot(slots, at);

		if (slot == 0)
			continue;
		if (!cuckoo_decode(encoding, slot, at / CUCKOO_BUCKET_SLOTS,
						   &entries[n]))
			return -1;
		n++;
	}
	return n;
}

/* Inserts the entries like cuckoo_plan_insert(), which counts free slots. */
static bool
fill_with_salt(CuckooSlots *slots, const CuckooEntryEncoding *encoding,
			   const CuckooEntry *entries, int n)
{
	uint8_t		used[CUCKOO_PAGE_BUCKETS] = {0};	/* slots, from the first */

	memset(slots, 0, sizeof(CuckooSlots));
	for (int i = 0; i < n; i++)
	{
		uint32_t	first;
		uint32_t	second;
		uint64_t	slot = cuckoo_encode(encoding, &entries[i], &first,
										 &second);
		uint32_t	bucket = used[second] < used[first] ? second : first;
		CuckooWrites writes;

		if (used[bucket] < CUCKOO_BUCKET_SLOTS)
		{
			cuckoo_set_slot(slots, bucket * CUCKOO_BUCKET_SLOTS +
							used[bucket]++, slot);
			continue;
		}
		if (!cuckoo_plan_insert(slots, encoding, &entries[i], &writes))
			return false;
		cuckoo_write_slots(slots, &writes);
		/* the first move ends in the slot that was free */
		used[writes.write[0].at / CUCKOO_BUCKET_SLOTS]++;
	}
	return true;
}

bool
cuckoo_fill_slots(CuckooSlots *slots, CuckooEntryEncoding *encoding,
				  const CuckooEntry *entries, int n)
{
	if (n > CUCKOO_PAGE_SLOTS)
		return false;
	encoding->has_chain = false;
	for (int i = 0; i < n; i++)
		encoding->has_chain |= entries[i].offset == 0;
	for (int i = 0; i < SALTS; i++)
	{
		if (fill_with_salt(slots, encoding, entries, n))
			return true;
		encoding->salt = (encoding->salt + 1) & 0xffffff;
	}
	return false;
}

void
cuckoo_widen(CuckooEntryEncoding *encoding, const CuckooEntry *entries, int n)
{
	uint32_t	last_block = 0;
	int			bits;

	for (int i = 0; i < n; i++)
	{
		bits = cuckoo_bits_of(entries[i].offset);
		if (bits > encoding->offset_bits)
			encoding->offset_bits = (uint8_t) bits;
		if (entries[i].block > last_block)
			last_block = entries[i].block;
	}
	/* more bits for offsets make all positions larger */
	bits = cuckoo_position_bits(last_block, encoding->offset_bits);
	if (bits > encoding->position_bits)
		encoding->position_bits = (uint8_t) bits;
}

void
cuckoo_truncate_tags(CuckooEntry *entries, int n,
					 const CuckooEntryEncoding *encoding)
{
	uint64_t	mask = cuckoo_bit_mask(cuckoo_tag_bits(encoding));

	for (int i = 0; i < n; i++)
		entries[i].tag &= mask;
}

int
cuckoo_part_entries(const CuckooEntry *entries, int n, CuckooEntry *halves)
{
	int			first = 0;
	int			second = n;

	for (int i = 0; i < n; i++)
	{
		CuckooEntry *to = entries[i].tag & 1 ? &halves[--second] :
			&halves[first++];

		*to = entries[i];
		to->tag >>= 1;
	}
	return first;
}

static int
compare_entries(const void *a, const void *b)
{
	const CuckooEntry *x = a;
	const CuckooEntry *y = b;

	if (x->tag != y->tag)
		return x->tag > y->tag ? 1 : -1;
	return (x->offset == 0) - (y->offset == 0);
}

int
cuckoo_hottest_tag(CuckooEntry *entries, int n, uint64_t *tag)
{
	int			most = 0;
	int			begin = 0;

	qsort(entries, (size_t) n, sizeof(CuckooEntry), compare_entries);
	for (int i = 0; i < n; i++)
	{
		if (entries[i].tag != entries[begin].tag)
			begin = i;
		/* the links of a tag come after its rows */
		if (entries[i].offset != 0 && i - begin + 1 > most)
		{
			most = i - begin + 1;
			*tag = entries[i].tag;
		}
	}
	return most;
}

bool
cuckoo_has_hot_tag(CuckooEntry *entries, int n)
{
	uint16_t	counts[256] = {0};	/* of the low bits of tags */
	uint64_t	tag;

	for (int i = 0; i < n; i++)
	{
		if (++counts[entries[i].tag & 255] > CUCKOO_HOT_ROWS)
			return cuckoo_hottest_tag(entries, n, &tag) > CUCKOO_HOT_ROWS;
	}
	return false;
}
