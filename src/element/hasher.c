/*-------------------------------------------------------------------------
 *
 * element/hasher.c
 *		Hashers: built for a type and kept by a call site.
 *
 * The type of an element is the declared type of the function's argument.  For
 * a polymorphic argument it is the type of the actual argument.  A hasher
 * depends on nothing else in the call expression, because the planner may
 * rewrite the expression.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"

#include "catalog/pg_type.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static Oid
element_type(FunctionCallInfo fcinfo, int argno)
{
	Oid		   *declared;
	int			nargs;
	Oid			type = InvalidOid;

	get_func_signature(fcinfo->flinfo->fn_oid, &declared, &nargs);
	if (argno < nargs)
		type = declared[argno];
	if (IsPolymorphicType(type))
		type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	/* a distributed engine calls transition functions without an expression */
	if (!OidIsValid(type) || IsPolymorphicType(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the element"),
				 errdetail("The function accepts any type, and the call does not specify the type of the element."),
				 errhint("Cast the element to a type for which the extension \"cuckoo_citus\" declares cf_agg, such as text or bigint.")));
	return type;
}

/*
 * Counts changes of attributes, functions and operator classes, on which the
 * signature of a type depends.  A call site of PL/pgSQL lives until the end of
 * the transaction, and so may outlive a change.  Without this count it would
 * use the new hash function with the old tag.
 */
static uint64 type_changes = 0;

static void
note_type_change(Datum arg, CuckooCacheId cache, uint32 hash)
{
	type_changes++;
}

/* Returns the count.  The first call starts counting. */
static uint64
watch_types(void)
{
	if (type_changes == 0)
	{
		type_changes = 1;
		CacheRegisterSyscacheCallback(ATTNUM, note_type_change, (Datum) 0);
		CacheRegisterSyscacheCallback(PROCOID, note_type_change, (Datum) 0);
		CacheRegisterSyscacheCallback(CLAOID, note_type_change, (Datum) 0);
	}
	return type_changes;
}

static void
hasher_init_other(CuckooHasher *hasher, Oid type, MemoryContext context,
				  bool missing_ok)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_EXTENDED_PROC);

	hasher->tag = cuckoo_type_tag(type, hasher->collation, missing_ok);
	if (hasher->tag == 0)
		return;
	hasher->family = CUCKOO_FAMILY_OTHER;
	hasher->length = entry->typlen;
	/* char(n) and name keep encodings that first convert the value to text */
	if (hasher->encoding == CUCKOO_ENCODING_NONE ||
		hasher->encoding == CUCKOO_ENCODING_TEXT)
		hasher->encoding = entry->hash_opintype == ANYARRAYOID ?
			CUCKOO_ENCODING_ARRAY : CUCKOO_ENCODING_OTHER;
	/* the FmgrInfo of the type cache may be of a function since replaced */
	hasher->hash_proc = MemoryContextAlloc(context, sizeof(FmgrInfo));
	fmgr_info_cxt(cuckoo_hash_function(entry), hasher->hash_proc, context);
}

bool
cuckoo_hasher_init(CuckooHasher *hasher, Oid declared, Oid collation,
				   MemoryContext context, bool missing_ok)
{
	uint64		changes = watch_types();
	Oid			type = getBaseType(declared);

	hasher->collation = collation;
	if (!cuckoo_plain_family(hasher, type))
		hasher_init_other(hasher, type, context, missing_ok);
	/* an enum has no collation; name has "C" by default */
	else if (hasher->family == CUCKOO_FAMILY_TEXT &&
			 type_is_collatable(type) && cuckoo_is_nondeterministic(collation))
		hasher_init_other(hasher, TEXTOID, context, missing_ok);

	hasher->type = declared;
	/* last, because it makes the hasher valid */
	hasher->changes = changes;
	return hasher->family != CUCKOO_FAMILY_NONE;
}

bool
cuckoo_hasher_is_current(const CuckooHasher *hasher)
{
	return hasher->changes == type_changes;
}

/* Returns the hasher of a type, which fn_extra keeps. */
static CuckooHasher *
hasher_for_type(FunctionCallInfo fcinfo, Oid type, Size size)
{
	CuckooHasher *hasher = (CuckooHasher *) fcinfo->flinfo->fn_extra;
	MemoryContext context = fcinfo->flinfo->fn_mcxt;

	if (hasher == NULL)
		fcinfo->flinfo->fn_extra = hasher = MemoryContextAllocZero(context,
																   size);
	if (hasher->type != type || !cuckoo_hasher_is_current(hasher))
	{
		if (hasher->hash_proc != NULL)
			pfree(hasher->hash_proc);
		memset(hasher, 0, sizeof(*hasher));
		/* types may change often: this must not leak into `context` */
		cuckoo_hasher_init(hasher, type, PG_GET_COLLATION(), context, false);
	}
	return hasher;
}

CuckooHasher *
cuckoo_hasher(FunctionCallInfo fcinfo, int argno, Size size)
{
	CuckooHasher *hasher = (CuckooHasher *) fcinfo->flinfo->fn_extra;

	if (unlikely(hasher == NULL || !cuckoo_hasher_is_current(hasher)))
		hasher = hasher_for_type(fcinfo, element_type(fcinfo, argno), size);
	return hasher;
}

/* ---- arrays ---- */

CuckooHasher *
cuckoo_array_hasher(FunctionCallInfo fcinfo, int argno,
					CuckooElements *elements, Size size)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &elements->values,
					  &elements->nulls, &elements->count);
	elements->array = array;
	return hasher_for_type(fcinfo, type, size);
}

ArrayType *
cuckoo_boolean_array(const CuckooElements *elements, const bool *values)
{
	Datum	   *results = palloc(Max(elements->count, 1) * sizeof(Datum));

	for (int i = 0; i < elements->count; i++)
		results[i] = BoolGetDatum(values[i]);
	return construct_md_array(results, elements->nulls,
							  ARR_NDIM(elements->array),
							  ARR_DIMS(elements->array),
							  ARR_LBOUND(elements->array),
							  BOOLOID, sizeof(bool), true, TYPALIGN_CHAR);
}
