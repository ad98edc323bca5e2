/*-------------------------------------------------------------------------
 *
 * index/probe.c
 *		SQL functions that ask an index: cf_index_contains, its forms, and
 *		cuckoo_gate, which plans call.
 *
 *-------------------------------------------------------------------------
 */
#include "index/handler.h"

#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(cf_index_contains);
PG_FUNCTION_INFO_V1(cf_index_contains_any);
PG_FUNCTION_INFO_V1(cf_index_contains_each);
PG_FUNCTION_INFO_V1(cf_index_partitions);
PG_FUNCTION_INFO_V1(cf_index_partitions_any);
PG_FUNCTION_INFO_V1(cuckoo_gate);
PG_FUNCTION_INFO_V1(cuckoo_gate_any);

/* ---- probes ---- */

/* Elements that are probed together. */
#define PROBE_BATCH		64

/* What is asked of several elements. */
typedef enum ProbeMode
{
	PROBE_EACH,
	PROBE_ANY,					/* one is enough */
	PROBE_GATE					/* the same, and true instead of an error */
} ProbeMode;

/* The hasher of an argument as the index hashes it. */
static CuckooHasher *
hasher_for(CuckooHasher *hasher)
{
	if (hasher->encoding == CUCKOO_ENCODING_ENUM)
	{
		CuckooHasher of_enum = {0};

		cuckoo_index_hasher_of(&of_enum, hasher->type, hasher->collation,
							   CurrentMemoryContext);
		*hasher = of_enum;
	}
	hasher->any_text = true;
	return hasher;
}

/*
 * The hasher of values that are looked for in an index: where the column's
 * equality ignores trailing blanks, so does the hash of a text.
 */
static CuckooHasher
hasher_in(const CuckooHasher *hasher, Relation rel)
{
	CuckooMeta	meta = cuckoo_index_open(rel)->meta;
	CuckooHasher result = *hasher;

	cuckoo_check_family(hasher, meta.family, meta.tag);
	if (rel->rd_opcintype[0] == BPCHAROID)
	{
		result.trim = true;
		/* of a nondeterministic collation, which a text's hash trims by this */
		if (result.encoding == CUCKOO_ENCODING_OTHER)
			result.encoding = CUCKOO_ENCODING_BPCHAR;
	}
	return result;
}

/*
 * True if the index is out of date by now, because hashing, which may read
 * tables, has heard that a type has changed.
 */
static bool
has_changed(const CuckooHasher *hasher, Relation rel)
{
	return unlikely(!cuckoo_hasher_is_current(hasher)) &&
		cuckoo_index_is_stale(rel);
}

/* True if the page with this header has a spot. */
static bool
is_page_of(const CuckooPageHeader *header, const CuckooSpot *spot)
{
	return header->number == spot->number &&
		(cuckoo_spot_ext(spot) & cuckoo_low_mask(header->level)) ==
		header->segment;
}

/* The hasher of the second argument, a value or an array. */
static CuckooHasher *
value_hasher(FunctionCallInfo fcinfo)
{
	return hasher_for(cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher)));
}

static CuckooHasher *
array_hasher(FunctionCallInfo fcinfo, CuckooElements *elements)
{
	return hasher_for(cuckoo_array_hasher(fcinfo, 1, elements,
										  sizeof(CuckooHasher)));
}

/* True if a locked page may have a spot. */
static bool
page_contains(Relation rel, Buffer buffer, const CuckooSpot *spot)
{
	Page		page = BufferGetPage(buffer);
	CuckooHeader h = cuckoo_page_filter(cuckoo_index_open(rel), rel, page,
										BufferGetBlockNumber(buffer));
	const CuckooPageHeader *header = cuckoo_page_header(page);

	return (header->flags & CUCKOO_PAGE_SATURATED) != 0 ||
		cuckoo_contains(&h, cuckoo_page_image(page),
						cuckoo_page_key(spot, &h, header->level));
}

bool
cuckoo_index_contains(Relation rel, uint64 hash)
{
	CuckooSpot	spot = cuckoo_index_spot(&cuckoo_index_open(rel)->meta, hash);
	Buffer		buffer = cuckoo_index_find(rel, &spot, BUFFER_LOCK_SHARE);
	bool		result = page_contains(rel, buffer, &spot);

	UnlockReleaseBuffer(buffer);
	return result;
}

/* cf_index_contains(index, value) */
Datum
cf_index_contains(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = value_hasher(fcinfo);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	CuckooHasher of_index = hasher_in(hasher, index.rel);
	uint64		hash = cuckoo_hash(&of_index, PG_GETARG_DATUM(1),
								   cuckoo_index_open(index.rel)->meta.seed);
	bool		result;

	if (has_changed(&of_index, index.rel))
		cuckoo_index_out_of_date(index.rel);
	result = cuckoo_index_contains(index.rel, hash);
	cuckoo_close(&index);
	PG_RETURN_BOOL(result);
}

/*
 * Probes the elements of order[0] and what follows it that are on one page, at
 * most PROBE_BATCH of them.  The low half of a word is the element's number.
 * Sets found[] of these elements, and returns how many they are.
 */
static int
probe_page(Relation rel, const CuckooMeta *meta, const uint64 *hashes,
		   const uint64 *order, int n, bool *found)
{
	uint64		keys[PROBE_BATCH];
	bool		results[PROBE_BATCH];
	CuckooSpot	spot = cuckoo_index_spot(meta, hashes[(uint32) order[0]]);
	Buffer		buffer = cuckoo_index_find(rel, &spot, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	const CuckooPageHeader *header = cuckoo_page_header(page);
	CuckooHeader h = cuckoo_page_filter(cuckoo_index_open(rel), rel, page,
										BufferGetBlockNumber(buffer));
	int			count = 0;

	do
	{
		keys[count++] = cuckoo_page_key(&spot, &h, header->level);
		if (count == Min(n, PROBE_BATCH))
			break;
		spot = cuckoo_index_spot(meta, hashes[(uint32) order[count]]);
	} while (is_page_of(header, &spot));
	if (header->flags & CUCKOO_PAGE_SATURATED)
		memset(results, true, sizeof(results));
	else
		cuckoo_contains_batch(&h, cuckoo_page_image(page), keys, count,
							  results);
	UnlockReleaseBuffer(buffer);
	for (int i = 0; i < count; i++)
		found[(uint32) order[i]] = results[i];
	return count;
}

/*
 * Sets found[i] for each element that is not null.  They are probed in the
 * order of pages, as far as their level is known, so that each page is looked
 * up once for many.  Unless each is asked for, ends soon after one is found.
 */
static bool
probe_elements(Relation rel, const CuckooHasher *hasher,
			   const CuckooElements *elements, bool *found, ProbeMode mode)
{
	const CuckooHasher of_index = hasher_in(hasher, rel);
	const CuckooMeta meta = cuckoo_index_open(rel)->meta;
	int			level = cuckoo_index_open(rel)->level;
	int			page_bits = pg_leftmost_one_pos32(meta.pages) + 1;
	Size		size = Max(elements->count, 1) * sizeof(uint64);
	uint64	   *hashes = palloc_extended(size, MCXT_ALLOC_HUGE);
	uint64	   *order = palloc_extended(size, MCXT_ALLOC_HUGE);
	uint64	   *scratch = palloc_extended(size, MCXT_ALLOC_HUGE);
	int			n = 0;
	bool		result = false;

	level = Min(level, 32 - page_bits);
	for (int i = 0; i < elements->count; i++)
	{
		cuckoo_pause(i);
		if (!elements->nulls[i])
		{
			uint64		hash = cuckoo_hash(&of_index, elements->values[i],
										   meta.seed);
			CuckooSpot	spot = cuckoo_index_spot(&meta, hash);
			uint64		segment = cuckoo_spot_ext(&spot) &
				cuckoo_low_mask(level);

			hashes[i] = hash;
			order[n++] = (segment << page_bits | spot.number) <<
				(64 - page_bits - level) | (uint32) i;
		}
	}
	cuckoo_sort(order, n, scratch, 0, (uint64) meta.pages << level);
	if (has_changed(&of_index, rel))
	{
		if (mode != PROBE_GATE)
			cuckoo_index_out_of_date(rel);
		n = 0;
		result = true;
	}
	for (int i = 0; i < n && (mode == PROBE_EACH || !result);)
	{
		int			count = probe_page(rel, &meta, hashes, order + i, n - i,
									   found);

		for (int k = i; k < i + count; k++)
			result |= found[(uint32) order[k]];
		i += count;
	}
	pfree(hashes);
	pfree(order);
	pfree(scratch);
	return result;
}

/* cf_index_contains_any(index, elements) */
Datum
cf_index_contains_any(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher = array_hasher(fcinfo, &elements);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	bool	   *found = palloc(elements.count * sizeof(bool));
	bool		result = probe_elements(index.rel, hasher, &elements, found,
										PROBE_ANY);

	cuckoo_close(&index);
	PG_RETURN_BOOL(result);
}

/* cf_index_contains_each(index, elements) */
Datum
cf_index_contains_each(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher = array_hasher(fcinfo, &elements);
	CuckooOpenIndex index = cuckoo_open_for_reading(PG_GETARG_OID(0));
	bool	   *found = palloc0(elements.count * sizeof(bool));

	probe_elements(index.rel, hasher, &elements, found, PROBE_EACH);
	cuckoo_close(&index);
	PG_RETURN_ARRAYTYPE_P(cuckoo_boolean_array(&elements, found));
}

/* ---- gates ---- */

/*
 * False if no row that the query may see has one of the elements.  Where the
 * user or the index cannot tell, the table has to.
 */
static bool
gate(Oid oid, CuckooHasher *hasher, const CuckooElements *elements)
{
	CuckooOpenIndex index;
	const CuckooMeta *meta;
	bool		result = true;

	if (!cuckoo_open_for_gate(oid, &index))
		return true;
	meta = &cuckoo_index_open(index.rel)->meta;
	/* rows of another type may be equal, but have another hash */
	if (hasher->family == meta->family && hasher->tag == meta->tag)
	{
		bool	   *found = palloc(elements->count * sizeof(bool));

		result = probe_elements(index.rel, hasher, elements, found,
								PROBE_GATE);
		pfree(found);
	}
	cuckoo_close(&index);
	return result;
}

/* False if the type of the second argument has no hash any more. */
static bool
can_hash_argument(FunctionCallInfo fcinfo, bool is_array)
{
	const CuckooHasher *hasher = fcinfo->flinfo->fn_extra;
	Oid			type;

	if (likely(hasher != NULL && cuckoo_hasher_is_current(hasher)))
		return true;
	type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	return cuckoo_hashable(is_array ? get_base_element_type(type) : type,
						   PG_GET_COLLATION());
}

/* cuckoo_gate(index, value) */
Datum
cuckoo_gate(PG_FUNCTION_ARGS)
{
	Datum		value = PG_GETARG_DATUM(1);
	bool		null = false;
	CuckooElements elements = {NULL, &value, &null, 1};

	if (!can_hash_argument(fcinfo, false))
		PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(gate(PG_GETARG_OID(0), value_hasher(fcinfo), &elements));
}

/* cuckoo_gate_any(index, elements) */
Datum
cuckoo_gate_any(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher;

	if (!can_hash_argument(fcinfo, true))
		PG_RETURN_BOOL(true);
	hasher = array_hasher(fcinfo, &elements);
	PG_RETURN_BOOL(gate(PG_GETARG_OID(0), hasher, &elements));
}

/* ---- partitions ---- */

/* Error 55000 unless all partitions have an index below this one. */
static void
check_partitioned_index(Oid oid)
{
	if (!get_index_isvalid(oid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", get_rel_name(oid)),
				 errdetail("Not every partition has an index that is attached to it."),
				 errhint("Create them, and ALTER INDEX ... ATTACH PARTITION.")));
}

/*
 * The tables of the indexes below a partitioned index, or the table of a plain
 * one, that may have one of the elements: an array of regclass.  Foreign tables
 * have no index, and so may have any.
 */
static Datum
partitions_with(Oid oid, CuckooHasher *hasher, const CuckooElements *elements)
{
	bool	   *found = palloc(elements->count * sizeof(bool));
	bool		partitioned = get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX;
	Relation	parent = NULL;
	ArrayBuildState *tables = initArrayResult(REGCLASSOID,
											  CurrentMemoryContext, false);
	List	   *members;
	ListCell   *cell;

	if (partitioned)
	{
		/* so that the partitions stay */
		parent = table_open(IndexGetRelation(oid, false), AccessShareLock);
		check_partitioned_index(oid);
		members = find_all_inheritors(RelationGetRelid(parent), NoLock, NULL);
		foreach(cell, members)
		{
			if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
				accumArrayResult(tables, ObjectIdGetDatum(lfirst_oid(cell)),
								 false, REGCLASSOID, CurrentMemoryContext);
		}
	}
	members = partitioned ? find_all_inheritors(oid, NoLock, NULL)
		: list_make1_oid(oid);
	foreach(cell, members)
	{
		CuckooOpenIndex index;

		CHECK_FOR_INTERRUPTS();
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_PARTITIONED_INDEX)
			continue;
		index = cuckoo_open_for_reading(lfirst_oid(cell));
		if (probe_elements(index.rel, hasher, elements, found, PROBE_ANY))
			accumArrayResult(tables,
							 ObjectIdGetDatum(RelationGetRelid(index.heap)),
							 false, REGCLASSOID, CurrentMemoryContext);
		cuckoo_close(&index);
	}
	if (partitioned)
		table_close(parent, AccessShareLock);
	return makeArrayResult(tables, CurrentMemoryContext);
}

/* cf_index_partitions(index, value) */
Datum
cf_index_partitions(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = value_hasher(fcinfo);
	Datum		value = PG_GETARG_DATUM(1);
	bool		null = false;
	CuckooElements elements = {NULL, &value, &null, 1};

	return partitions_with(PG_GETARG_OID(0), hasher, &elements);
}

/* cf_index_partitions_any(index, elements) */
Datum
cf_index_partitions_any(PG_FUNCTION_ARGS)
{
	CuckooElements elements;
	CuckooHasher *hasher = array_hasher(fcinfo, &elements);

	return partitions_with(PG_GETARG_OID(0), hasher, &elements);
}
