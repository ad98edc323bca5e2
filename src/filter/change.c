/*-------------------------------------------------------------------------
 *
 * filter/change.c
 *		SQL functions that change a filter: cf_add, cf_delete and variants.
 *
 * A change returns an expanded object (filter/datum.c).  If nothing changes, it
 * returns its argument, and an UPDATE does not write a TOASTed filter again.
 * cf_new() or the first element set the family and tag of a filter for good.
 *
 * An error leaves every visible filter unchanged.  A failed call for one
 * element has not changed its argument.  A failed call for an array may have
 * changed it in place, but PL/pgSQL passes a variable to such a call only if
 * the variable is invisible after an error.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"
#include "error.h"
#include "filter/filter.h"
#include "result.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(cf_add);
PG_FUNCTION_INFO_V1(cf_add_unique);
PG_FUNCTION_INFO_V1(cf_delete);
PG_FUNCTION_INFO_V1(cf_add_all);
PG_FUNCTION_INFO_V1(cf_add_unique_all);
PG_FUNCTION_INFO_V1(cf_delete_all);
PG_FUNCTION_INFO_V1(cf_add_unique_each);
PG_FUNCTION_INFO_V1(cf_add_filter);

/* Elements between prefetching and changing. */
#define PREFETCH_DISTANCE	16

/* A change to the filter that is the first argument of a call. */
typedef struct Change
{
	FunctionCallInfo fcinfo;
	uint8		family;			/* of the added or deleted elements */
	uint16		tag;
	CuckooHeader header;
	const struct varlena *filter;	/* the present filter */
	CuckooExpanded *expanded;	/* the object to write to, or NULL */
} Change;

/* Makes the filter writable: sets change->expanded. */
static void
change_expand(Change *change)
{
	MemoryContext context;

	if (change->expanded != NULL)
		return;
	/* a transition value must live as long as its aggregate */
	if (!AggCheckCallContext(change->fcinfo, &context))
		context = CurrentMemoryContext;
	change->expanded = cuckoo_expand(change->fcinfo->args[0].value, context);
	change->filter = change->expanded->flat;
}

/* Opens the filter for a change with elements of this family and tag. */
static void
change_begin(Change *change, FunctionCallInfo fcinfo, uint8 family, uint16 tag)
{
	struct varlena *argument = (struct varlena *) PG_GETARG_POINTER(0);

	change->fcinfo = fcinfo;
	change->family = family;
	change->tag = tag;
	change->expanded = NULL;
	/* fetch or decompress the filter directly into an expanded object */
	if (VARATT_IS_EXTERNAL_ONDISK(argument) || VARATT_IS_COMPRESSED(argument))
		change_expand(change);
	else
		change->filter = cuckoo_filter(PointerGetDatum(argument));
	cuckoo_open(&change->header, change->filter);
}

/* Like change_begin(), for elements of a hasher.  Checks the family. */
static void
change_begin_hasher(Change *change, FunctionCallInfo fcinfo,
					CuckooHasher *hasher)
{
	change_begin(change, fcinfo, hasher->family, hasher->tag);
	cuckoo_check_family(hasher, change->header.family, change->header.tag);
}

/*
 * Returns the filter one level up, with its header in *h, and frees the old one
 * unless it belongs to the expanded object.  If the filter cannot grow, returns
 * it unchanged with the reason in *status.
 */
static struct varlena *
grow_filter(CuckooExpanded *expanded, CuckooHeader *h, struct varlena *filter,
			CuckooStatus *status)
{
	CuckooHeader old = *h;
	struct varlena *volatile result = NULL;

	*status = cuckoo_header_set_level(h, h->level + 1);
	if (*status != CUCKOO_OK)
		return filter;
	/* the object may outlive an error, so free memory */
	PG_TRY();
	{
		MemoryContext caller = MemoryContextSwitchTo(expanded->hdr.eoh_context);

		result = cuckoo_new_datum(cuckoo_image_size(h));
		MemoryContextSwitchTo(caller);
		cuckoo_grow(&old, cuckoo_image(filter), h, cuckoo_image(result));
	}
	PG_CATCH();
	{
		if (result != NULL)
			pfree(result);
		if (filter != expanded->flat)
			pfree(filter);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (filter != expanded->flat)
		pfree(filter);
	return result;
}

/*
 * Adds an element, unless the filter contains max_copies copies.  Returns true
 * if it was added.
 *
 * `filter` is first the image of the expanded object.  Growing sets it to a
 * larger image.  The object receives the larger image only when the element is
 * inserted, so an error leaves the object unchanged.
 */
static bool
change_add(Change *change, uint64 hash, int max_copies)
{
	CuckooHeader h = change->header;
	struct varlena *filter;
	CuckooStatus status;

	/* do not copy a filter that stays the same */
	if (change->expanded == NULL &&
		cuckoo_copies(&h, cuckoo_image(change->filter), hash) >= max_copies)
		return false;
	h.family = change->family;
	h.tag = change->tag;
	change_expand(change);
	filter = change->expanded->flat;
	while ((status = cuckoo_insert(&h, cuckoo_image(filter), hash,
								   max_copies)) != CUCKOO_OK)
	{
		if (status == CUCKOO_UNCHANGED)
			return false;
		if (status == CUCKOO_FULL)
			filter = grow_filter(change->expanded, &h, filter, &status);
		if (status != CUCKOO_OK)
		{
			if (filter != change->expanded->flat)
				pfree(filter);
			cuckoo_error(status);
		}
	}
	if (filter != change->expanded->flat)
	{
		pfree(change->expanded->flat);
		change->expanded->flat = filter;
	}
	if (h.family != change->header.family)
		cuckoo_header_write(&h, cuckoo_image(filter));
	change->filter = filter;
	change->header = h;
	return true;
}

/* Deletes one element if it has one copy.  Returns true if it was deleted. */
static bool
change_delete(Change *change, uint64 hash)
{
	/* do not copy a filter that stays the same */
	if (change->expanded == NULL &&
		cuckoo_copies(&change->header, cuckoo_image(change->filter), hash) != 1)
		return false;
	change_expand(change);
	return cuckoo_remove(&change->header, cuckoo_image(change->expanded->flat),
						 hash) == CUCKOO_OK;
}

/*
 * Adds n elements, up to max_copies copies of each, or deletes them if
 * max_copies is 0.  Returns true if the filter changed.  If `done` is not NULL,
 * sets done[i] to whether element i changed the filter.
 */
static bool
change_all(Change *change, const uint64 *hashes, int n, int max_copies,
		   bool *done)
{
	bool		any = false;

	for (int i = 0; i < n; i++)
	{
		bool		changes;

		CHECK_FOR_INTERRUPTS();
		if (i + PREFETCH_DISTANCE < n)
			cuckoo_prefetch(&change->header, cuckoo_image(change->filter),
							hashes[i + PREFETCH_DISTANCE]);
		changes = max_copies > 0 ? change_add(change, hashes[i], max_copies)
			: change_delete(change, hashes[i]);
		any |= changes;
		if (done != NULL)
			done[i] = changes;
	}
	return any;
}

/*
 * Begins a change with the elements of an array argument.  Returns the hashes
 * of the non-null elements, and their number in *n.
 */
static uint64 *
change_begin_array(Change *change, FunctionCallInfo fcinfo,
				   CuckooElements *elements, int *n)
{
	CuckooHasher *hasher = cuckoo_array_hasher(fcinfo, 1, elements,
											   sizeof(CuckooHasher));
	uint64	   *hashes = palloc(Max(elements->count, 1) * sizeof(uint64));

	change_begin_hasher(change, fcinfo, hasher);
	*n = 0;
	for (int i = 0; i < elements->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!elements->nulls[i])
			hashes[(*n)++] = cuckoo_hash(hasher, elements->values[i],
										 change->header.seed);
	}
	return hashes;
}

/* Returns the changed filter, or the argument if nothing changed. */
static Datum
change_end(Change *change, bool any)
{
	if (any)
		return EOHPGetRWDatum(&change->expanded->hdr);

	/* free the fetched copy, if there is one */
	if (change->expanded != NULL)
		MemoryContextDelete(change->expanded->hdr.eoh_context);
	return change->fcinfo->args[0].value;
}

/* Changes the filter argument by an element or an array. */
static Datum
change_filter(FunctionCallInfo fcinfo, bool array, int max_copies)
{
	CuckooElements elements;
	Change		change;
	uint64	   *hashes;
	uint64		hash;
	int			n = 1;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	if (array)
		hashes = change_begin_array(&change, fcinfo, &elements, &n);
	else
	{
		CuckooHasher *hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));

		change_begin_hasher(&change, fcinfo, hasher);
		hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), change.header.seed);
		hashes = &hash;
	}
	PG_RETURN_DATUM(change_end(&change, change_all(&change, hashes, n,
												   max_copies, NULL)));
}

Datum
cf_add(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, false, CUCKOO_MAX_COPIES);
}

Datum
cf_add_unique(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, false, 1);
}

Datum
cf_delete(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, false, 0);
}

Datum
cf_add_all(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, true, CUCKOO_MAX_COPIES);
}

Datum
cf_add_unique_all(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, true, 1);
}

Datum
cf_delete_all(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, true, 0);
}

/*
 * Returns one row in a tuplestore, which can store the TOAST pointer of an
 * unchanged filter.  A composite value would contain the whole filter.
 */
Datum
cf_add_unique_each(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[2];
	bool		nulls[2] = {
		PG_ARGISNULL(0), PG_ARGISNULL(0) || PG_ARGISNULL(1)
	};

	(void) cuckoo_result_tupdesc(fcinfo, lengthof(values));
	InitMaterializedSRF(fcinfo, 0);

	values[0] = fcinfo->args[0].value;
	if (!nulls[1])
	{
		CuckooElements elements;
		Change		change;
		int			n;
		uint64	   *hashes = change_begin_array(&change, fcinfo, &elements, &n);
		bool	   *added = palloc0(Max(elements.count, 1) * sizeof(bool));

		values[0] = change_end(&change,
							   change_all(&change, hashes, n, 1, added));
		/* null elements have no hash: spread the results, last one first */
		for (int i = elements.count - 1; i >= 0; i--)
			if (!elements.nulls[i])
				added[i] = added[--n];
		values[1] = PointerGetDatum(cuckoo_boolean_array(&elements, added));
	}

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	PG_RETURN_NULL();
}

/*
 * cf_add_filter(filter, other): the sum of both.  Inserts the elements of
 * `other`.  Their keys work as hashes (core/README, "Keys").
 */
Datum
cf_add_filter(PG_FUNCTION_ARGS)
{
	Change		change;
	CuckooHeader other;
	const struct varlena *filter;
	CuckooRun	run;
	bool		any;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	filter = cuckoo_filter(PG_GETARG_DATUM(1));
	cuckoo_open(&other, filter);
	change_begin(&change, fcinfo, other.family, other.tag);
	cuckoo_check_compatible(&change.header, &other);
	if (change.header.items == 0 && other.items > 0)
	{
		change_end(&change, false);
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	}
	run = cuckoo_read_run(&other, filter);
	any = change_all(&change, run.keys, (int) run.count, CUCKOO_MAX_COPIES,
					 NULL);
	pfree(run.keys);
	PG_RETURN_DATUM(change_end(&change, any));
}
