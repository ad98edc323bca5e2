/*-------------------------------------------------------------------------
 *
 * filter/build.c
 *		New filters: empty ones, and filters of hashes or keys.  The checks of
 *		capacity and fpp.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"
#include "error.h"
#include "filter/filter.h"

#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_new);
PG_FUNCTION_INFO_V1(cf_clear);

int
cuckoo_checked_fpp(double fpp)
{
	/* NaN must fail */
	if (!(fpp >= CUCKOO_MIN_FPP && fpp <= CUCKOO_MAX_FPP))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("The requested false-positive rate is %g.", fpp),
				 errhint("fpp must be between %g and %g. For example, 0.001 means one false positive per thousand absent elements.",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	return cuckoo_fpp_bits(fpp);
}

int64
cuckoo_checked_capacity(CuckooHeader *h, double capacity, int bits, uint64 seed)
{
	/* NaN and numbers beyond int64 must fail */
	if (!(capacity > 0 && capacity < (double) PG_INT64_MAX) ||
		cuckoo_header_sized(h, (uint64) ceil(capacity), bits,
							seed) != CUCKOO_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity is out of range"),
				 errdetail("The requested capacity is %.15g elements.",
						   capacity),
				 errhint("At this fpp, capacity must be between 1 and %llu.",
						 (unsigned long long) cuckoo_max_capacity(bits))));
	return (int64) ceil(capacity);
}

void
cuckoo_header_unsized(CuckooHeader *h)
{
	cuckoo_check_status(cuckoo_header_exact(h, 0,
											cuckoo_fpp_bits(CUCKOO_DEFAULT_FPP),
											0));
}

/*
 * Builds a filter of `n` sorted hashes or ordered keys, with the geometry and
 * level of *h.  Returns NULL if they do not fit.  Error 54000 if a larger
 * filter would not help.
 */
static struct varlena *
try_build(CuckooHeader *h, const uint64 *hashes, Size n)
{
	void	   *slots = MemoryContextAllocHuge(CurrentMemoryContext,
											   cuckoo_build_size(h));
	struct varlena *filter = NULL;

	if (cuckoo_build(h, hashes, n, slots) == CUCKOO_OK)
	{
		filter = palloc(VARHDRSZ + cuckoo_image_size(h));
		SET_VARSIZE(filter, VARHDRSZ + cuckoo_image_size(h));
		cuckoo_build_pack(h, slots, cuckoo_image(filter));
		cuckoo_checksum_write(cuckoo_image(filter), cuckoo_image_size(h));
	}
	else if (cuckoo_is_crafted(h, n))
		cuckoo_error(CUCKOO_CRAFTED);
	pfree(slots);
	return filter;
}

uint64 *
cuckoo_new_keys(Size n)
{
	return MemoryContextAllocHuge(CurrentMemoryContext,
								  Max(n, 1) * sizeof(uint64));
}

struct varlena *
cuckoo_exact_filter(CuckooHeader *h, const uint64 *hashes, Size n)
{
	for (int percent = 1;; percent *= 2)
	{
		struct varlena *filter = try_build(h, hashes, n);

		if (filter != NULL)
			return filter;
		cuckoo_check_status(cuckoo_header_enlarge(h, percent));
	}
}

struct varlena *
cuckoo_sized_filter(CuckooHeader *h, const uint64 *hashes, Size n)
{
	uint64	   *keys = memcpy(cuckoo_new_keys(n), hashes, n * sizeof(uint64));
	uint64	   *scratch = cuckoo_new_keys(n);

	cuckoo_keys_of_hashes(h, keys, n, scratch);
	pfree(scratch);
	return cuckoo_filter_of_keys(h, keys, n);
}

struct varlena *
cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys, Size n)
{
	int			low = CUCKOO_FIXED_BITS;	/* the first unsorted bit */
	struct varlena *filter;

	n = (Size) cuckoo_keys_limit(keys, n, CUCKOO_MAX_COPIES);
	cuckoo_check_status(cuckoo_keys_level(h, n));
	for (;;)
	{
		int			high = CUCKOO_FIXED_BITS + h->level;

		if (high > low)
		{
			uint64	   *scratch = cuckoo_new_keys(n);
			uint64	   *ordered = cuckoo_sort_bits(keys, n, scratch, low, high);

			pfree(ordered == keys ? scratch : keys);
			keys = ordered;
			low = high;
		}
		filter = try_build(h, keys, n);
		if (filter != NULL)
			break;
		cuckoo_check_status(cuckoo_header_set_level(h, h->level + 1));
	}
	pfree(keys);
	return filter;
}

/* Returns an empty filter with the header *h. */
static struct varlena *
empty_filter(const CuckooHeader *h)
{
	struct varlena *filter = cuckoo_new_datum(cuckoo_image_size(h));

	cuckoo_header_write(h, cuckoo_image(filter));
	cuckoo_checksum_write(cuckoo_image(filter), cuckoo_image_size(h));
	return filter;
}

Datum
cf_new(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	int			bits;

	for (int i = 0; i < 3; i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	bits = cuckoo_checked_fpp(PG_GETARG_FLOAT8(1));
	(void) cuckoo_checked_capacity(&h, PG_GETARG_FLOAT8(0), bits,
								   (uint64) PG_GETARG_INT64(2));
	if (!PG_ARGISNULL(3))
	{
		CuckooHasher hasher = {0};
		Oid			type = PG_GETARG_OID(3);

		if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("type with OID %u does not exist", type)));
		cuckoo_hasher_init(&hasher, type, get_typcollation(type),
						   CurrentMemoryContext, false);
		h.family = hasher.family;
		h.tag = hasher.tag;
	}
	PG_RETURN_POINTER(empty_filter(&h));
}

Datum
cf_clear(PG_FUNCTION_ARGS)
{
	CuckooHeader h;

	cuckoo_peek_header(&h, PG_GETARG_DATUM(0));
	cuckoo_check_status(cuckoo_header_set_level(&h, 0));
	/* family and tag stay */
	h.items = 0;
	PG_RETURN_POINTER(empty_filter(&h));
}
