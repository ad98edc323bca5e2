/*-------------------------------------------------------------------------
 *
 * filter/compatible.c
 *		Whether two filters can be combined, and the errors if not.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"
#include "filter/filter.h"

PG_FUNCTION_INFO_V1(cf_compatible);

static bool
same_geometry(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->base == b->base && a->base_bits == b->base_bits &&
		a->fpp_bits == b->fpp_bits && a->windows == b->windows;
}

static bool
same_family(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->family == CUCKOO_FAMILY_NONE || b->family == CUCKOO_FAMILY_NONE ||
		(a->family == b->family && a->tag == b->tag);
}

/*
 * An unsized filter comes from cf_agg(value) without values.  It combines with
 * any geometry, because the query specified none.  An empty filter from
 * cf_new() has a geometry, and combining it with another one is an error.
 */
static bool
is_unsized(const CuckooHeader *h)
{
	CuckooHeader unsized;

	if (h->items > 0 || h->family != CUCKOO_FAMILY_NONE || h->seed != 0)
		return false;
	cuckoo_header_unsized(&unsized);
	return same_geometry(h, &unsized);
}

static bool
is_compatible(const CuckooHeader *a, const CuckooHeader *b)
{
	return is_unsized(a) || is_unsized(b) ||
		(same_family(a, b) && a->seed == b->seed && same_geometry(a, b));
}

/*
 * The number of doublings up to the capacity of a filter.  At its capacity the
 * fingerprints have the fpp_bits of its fpp, but at least 9.
 */
static int
doublings(const CuckooHeader *h)
{
	return Max(h->base_bits - Max(h->fpp_bits, CUCKOO_FIXED_BITS + 1), 0);
}

/* Describes a geometry in a user's terms, and in terms of FORMAT.md. */
static const char *
geometry_text(const CuckooHeader *h, bool with_windows)
{
	uint64		buckets = (uint64) h->base << doublings(h);

	return psprintf("for up to %llu elements at fpp %.3g (%u base buckets, fingerprints of %d bits)%s",
					(unsigned long long) CUCKOO_TARGET_ITEMS(buckets),
					cuckoo_fpp_at_capacity(h), h->base, h->base_bits,
					!with_windows ? "" :
					h->windows ? ", with windows" : ", without windows");
}

pg_noreturn static void
complain_of_geometry(const CuckooHeader *a, const CuckooHeader *b)
{
	bool		fpp = a->fpp_bits != b->fpp_bits;
	bool		capacity = (uint64) a->base << doublings(a) !=
		(uint64) b->base << doublings(b);
	bool		windows = a->windows != b->windows;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("cannot combine cuckoofilters of different geometry"),
			 errdetail("They differ in %s. One is %s, the other %s.",
					   fpp && capacity ? "capacity and fpp" :
					   fpp ? "fpp" : capacity ? "capacity" :
					   windows ? "windows" : "bits",
					   geometry_text(a, windows), geometry_text(b, windows)),
			 errhint("Build both filters with cf_agg(value, capacity, fpp) or cf_new(), with the same capacity and fpp. cf_agg(value) fits each filter to its elements, so geometries usually differ.")));
}

void
cuckoo_check_compatible(const CuckooHeader *a, const CuckooHeader *b)
{
	if (is_compatible(a, b))
		return;
	if (!same_family(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine cuckoofilters of different element types"),
				 a->family == b->family ?
				 errdetail("Both are of the family \"%s\", but of different types or collations.",
						   cuckoo_family_name(a->family)) :
				 errdetail("The families are \"%s\" and \"%s\".",
						   cuckoo_family_name(a->family),
						   cuckoo_family_name(b->family)),
				 errhint("Build both from elements of one type.")));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine cuckoofilters with different seeds"),
				 errdetail("The seeds are %lld and %lld.",
						   (long long) a->seed, (long long) b->seed),
				 errhint("Build both with the same seed.")));
	complain_of_geometry(a, b);
}

void
cuckoo_header_inherit(CuckooHeader *h, const CuckooHeader *other)
{
	if (is_unsized(h))
		*h = *other;
	else if (h->family == CUCKOO_FAMILY_NONE)
	{
		h->family = other->family;
		h->tag = other->tag;
	}
}

Datum
cf_compatible(PG_FUNCTION_ARGS)
{
	CuckooHeader a,
				b;

	cuckoo_peek_header(&a, PG_GETARG_DATUM(0));
	cuckoo_peek_header(&b, PG_GETARG_DATUM(1));
	PG_RETURN_BOOL(is_compatible(&a, &b));
}
