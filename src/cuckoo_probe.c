/*-------------------------------------------------------------------------
 *
 * cuckoo_probe.c
 *		Membership: cf_contains and the count of copies.
 *
 * A filter in memory (an InitPlan's result, a constant, a variable) is used
 * where it lies.  A filter in a table is mostly TOASTed; what a call site
 * fetched last it keeps, keyed by the TOAST pointer's relation and value, so
 * that a scan probing one stored filter reads it once.  A TOAST value is never
 * changed in place, so the key cannot go stale while the query that holds the
 * pointer runs.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "access/detoast.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cf_contains);
PG_FUNCTION_INFO_V1(cf_count_value);

/* What a call site remembers between calls. */
typedef struct ProbeSite
{
	CuckooHasher hasher;		/* first, see cuckoo_hasher() */
	Oid			toastrelid;
	Oid			valueid;
	struct varlena *filter;		/* that value, detoasted, or NULL */
} ProbeSite;

static struct varlena *
probe_filter(FunctionCallInfo fcinfo, ProbeSite *site)
{
	struct varlena *datum = (struct varlena *) PG_GETARG_POINTER(0);
	struct varatt_external pointer;
	MemoryContext caller;

	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return PG_DETOAST_DATUM_PACKED(PointerGetDatum(datum));

	VARATT_EXTERNAL_GET_POINTER(pointer, datum);
	if (site->filter != NULL && site->toastrelid == pointer.va_toastrelid &&
		site->valueid == pointer.va_valueid)
		return site->filter;

	if (site->filter != NULL)
		pfree(site->filter);
	site->filter = NULL;
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	site->filter = PG_DETOAST_DATUM(PointerGetDatum(datum));
	MemoryContextSwitchTo(caller);
	site->toastrelid = pointer.va_toastrelid;
	site->valueid = pointer.va_valueid;
	return site->filter;
}

/* The filter and the element's hash of a call; false if it is empty. */
static bool
probe_arguments(FunctionCallInfo fcinfo, CuckooHeader *h, uint8 **image,
				uint64 *hash)
{
	ProbeSite  *site = (ProbeSite *) cuckoo_hasher(fcinfo, 1,
												   sizeof(ProbeSite));
	struct varlena *filter = probe_filter(fcinfo, site);

	cuckoo_open(h, filter);
	cuckoo_check_family(&site->hasher, h->family, h->tag);
	if (h->items == 0)
		return false;
	*hash = cuckoo_hash(&site->hasher, PG_GETARG_DATUM(1), h->seed);
	*image = cuckoo_image(filter);
	return true;
}

Datum
cf_contains(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	uint8	   *image;
	uint64		hash;

	PG_RETURN_BOOL(probe_arguments(fcinfo, &h, &image, &hash) &&
				   cuckoo_contains(&h, image, hash));
}

Datum
cf_count_value(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	uint8	   *image;
	uint64		hash;

	PG_RETURN_INT32(probe_arguments(fcinfo, &h, &image, &hash) ?
					cuckoo_copies(&h, image, hash) : 0);
}
