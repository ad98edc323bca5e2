/*-------------------------------------------------------------------------
 *
 * cuckoo_family.c
 *		From a type to its family of elements, and to the hasher that a call
 *		site keeps for it.
 *
 * Equal values of the types of one family are one element; cuckoo_hash.c has
 * the table of families.  A filter takes elements of one family, or of one
 * type of the family "other".  Any other element is an error.
 *
 * A domain counts as its base type.  Text under a nondeterministic collation
 * belongs to "other".  cuckoo_identity.c distinguishes the types of "other".
 *
 * The type of an element is the one for which the called function is declared.
 * If the function is declared for any type, it is that of the call's argument.
 * The rest of the call's expression does not matter: the planner may rewrite
 * it.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

typedef struct KnownType
{
	Oid			type;
	uint8		family;
	uint8		form;
} KnownType;

static const KnownType known_types[] = {
	{INT2OID, CUCKOO_FAMILY_INTEGER, CUCKOO_FORM_INT2},
	{INT4OID, CUCKOO_FAMILY_INTEGER, CUCKOO_FORM_INT4},
	{INT8OID, CUCKOO_FAMILY_INTEGER, CUCKOO_FORM_INT8},
	{TEXTOID, CUCKOO_FAMILY_TEXT, CUCKOO_FORM_TEXT},
	{VARCHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_FORM_TEXT},
	{BPCHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_FORM_BPCHAR},
	{NAMEOID, CUCKOO_FAMILY_TEXT, CUCKOO_FORM_NAME},
	{CHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_FORM_CHAR},
	{BYTEAOID, CUCKOO_FAMILY_BYTEA, CUCKOO_FORM_BYTEA},
	{UUIDOID, CUCKOO_FAMILY_UUID, CUCKOO_FORM_UUID},
	{BOOLOID, CUCKOO_FAMILY_BOOLEAN, CUCKOO_FORM_BOOL},
	{DATEOID, CUCKOO_FAMILY_DATE, CUCKOO_FORM_DATE},
	{TIMESTAMPOID, CUCKOO_FAMILY_TIMESTAMP, CUCKOO_FORM_INT8},
	{TIMESTAMPTZOID, CUCKOO_FAMILY_TIMESTAMPTZ, CUCKOO_FORM_INT8},
	{FLOAT4OID, CUCKOO_FAMILY_FLOAT, CUCKOO_FORM_FLOAT4},
	{FLOAT8OID, CUCKOO_FAMILY_FLOAT, CUCKOO_FORM_FLOAT8}
};

/* The families, and a type of each. */
typedef struct Family
{
	const char *name;
	const char *type;
} Family;

static const Family families[] = {
	{"none", ""},
	{"integer", "bigint"},
	{"text", "text"},
	{"bytea", "bytea"},
	{"uuid", "uuid"},
	{"boolean", "boolean"},
	{"date", "date"},
	{"timestamp", "timestamp"},
	{"timestamptz", "timestamptz"},
	{"float", "float8"},
	{"other", "numeric"}
};

StaticAssertDecl(lengthof(families) == CUCKOO_FAMILY_LAST + 1,
				 "every family has a name");

const char *
cuckoo_family_name(uint8 family)
{
	Assert(family <= CUCKOO_FAMILY_LAST);
	return families[family].name;
}

/*
 * The type of the elements of a call: that for which the function is declared,
 * else that of the argument.
 */
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
				 errdetail("The function accepts any type, and the call does not tell the type of the element."),
				 errhint("Cast the element to a type for which the extension \"cuckoo_citus\" declares cf_agg, such as text or bigint.")));
	return type;
}

/*
 * Counts changes of what a type's identity depends on: attributes, functions,
 * operator classes.  A call site may outlive such a change (in PL/pgSQL, to the
 * end of the transaction).  It would then use the new hash with the old tag.
 */
static uint64 type_changes = 0;

static void
note_type_change(Datum arg, CuckooCacheId cache, uint32 hash)
{
	type_changes++;
}

/* The count, from the first call on. */
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

/* The family and form of a type where bytes or labels are compared. */
static bool
find_plain_family(Oid type, uint8 *family, CuckooForm *form)
{
	if (type_is_enum(type))
	{
		*family = CUCKOO_FAMILY_TEXT;
		*form = CUCKOO_FORM_ENUM;
		return true;
	}
	for (int i = 0; i < (int) lengthof(known_types); i++)
		if (known_types[i].type == type)
		{
			*family = known_types[i].family;
			*form = known_types[i].form;
			return true;
		}
	return false;
}

bool
cuckoo_hashable(Oid type)
{
	uint8		family;
	CuckooForm	form;

	type = getBaseType(type);
	return find_plain_family(type, &family, &form) ||
		cuckoo_has_tag(type, InvalidOid);
}

static void
hasher_init_other(CuckooHasher *hasher, Oid type, MemoryContext context)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_EXTENDED_PROC);

	hasher->tag = cuckoo_type_tag(type, hasher->collation);
	hasher->family = CUCKOO_FAMILY_OTHER;
	hasher->length = entry->typlen;
	/* the forms of char(n) and name make a text of the value first */
	if (hasher->form == CUCKOO_FORM_NONE || hasher->form == CUCKOO_FORM_TEXT)
		hasher->form = entry->hash_opintype == ANYARRAYOID ? CUCKOO_FORM_ARRAY
			: CUCKOO_FORM_OTHER;
	/* a copy, because that in the type's cache entry outlives the function */
	hasher->hash_proc = MemoryContextAlloc(context, sizeof(FmgrInfo));
	fmgr_info_cxt(cuckoo_hash_function(entry), hasher->hash_proc, context);
}

void
cuckoo_hasher_init(CuckooHasher *hasher, Oid declared, Oid collation,
				   MemoryContext context)
{
	uint64		changes = watch_types();
	Oid			type = getBaseType(declared);
	bool		plain = find_plain_family(type, &hasher->family, &hasher->form);

	hasher->collation = collation;
	if (!plain)
		hasher_init_other(hasher, type, context);
	/* an enum has no collation; name has "C" unless the query names another */
	else if (hasher->family == CUCKOO_FAMILY_TEXT &&
			 type_is_collatable(type) && cuckoo_is_nondeterministic(collation))
		hasher_init_other(hasher, TEXTOID, context);

	hasher->type = declared;
	/* last, because it says that the rest is valid */
	hasher->changes = changes;
}

bool
cuckoo_hasher_is_current(const CuckooHasher *hasher)
{
	return hasher->changes == type_changes;
}

CuckooHasher *
cuckoo_hasher(FunctionCallInfo fcinfo, int argno, Size size)
{
	CuckooHasher *hasher = (CuckooHasher *) fcinfo->flinfo->fn_extra;

	if (unlikely(hasher == NULL || !cuckoo_hasher_is_current(hasher)))
		hasher = cuckoo_hasher_for_type(fcinfo, element_type(fcinfo, argno),
										size);
	return hasher;
}

CuckooHasher *
cuckoo_hasher_for_type(FunctionCallInfo fcinfo, Oid type, Size size)
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
		/* types may change often, so only what is kept is allocated there */
		cuckoo_hasher_init(hasher, type, PG_GET_COLLATION(), context);
	}
	return hasher;
}

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
	return cuckoo_hasher_for_type(fcinfo, type, size);
}

/* The hint for an element of this hasher, if the filter is of `family`. */
static int
hint_of_family(const CuckooHasher *hasher, uint8 family)
{
	if (family == CUCKOO_FAMILY_TEXT &&
		cuckoo_is_nondeterministic(hasher->collation))
		return errhint("Give the value a deterministic collation, for example $1 COLLATE \"C\".");
	if (family == CUCKOO_FAMILY_OTHER)
		return errhint("Cast the value or parameter to the element type of the filter, for example $1::%s, or give it the collation of the elements.",
					   families[family].type);
	return errhint("Cast the value or parameter to a type of the family \"%s\", for example $1::%s.",
				   families[family].name, families[family].type);
}

void
cuckoo_check_family(const CuckooHasher *hasher, uint8 family, uint16 tag)
{
	if (likely(hasher->family == family && hasher->tag == tag) ||
		family == CUCKOO_FAMILY_NONE)
		return;
	if (hasher->family == family)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cuckoofilter does not contain elements of type %s",
						format_type_be(hasher->type)),
				 errdetail("The filter contains elements of another type or collation of the family \"%s\", or the type has changed.",
						   cuckoo_family_name(family)),
				 errhint("Cast the value to the element type of the filter, or give it the collation of the elements. If the type has changed, build the filter again.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cuckoofilter does not contain elements of type %s",
					format_type_be(hasher->type)),
			 cuckoo_is_nondeterministic(hasher->collation) ?
			 errdetail("The filter contains elements of the family \"%s\". Type %s under the nondeterministic collation \"%s\" belongs to the family \"%s\".",
					   cuckoo_family_name(family),
					   format_type_be(hasher->type),
					   get_collation_name(hasher->collation),
					   cuckoo_family_name(hasher->family)) :
			 errdetail("The filter contains elements of the family \"%s\". Type %s belongs to the family \"%s\".",
					   cuckoo_family_name(family),
					   format_type_be(hasher->type),
					   cuckoo_family_name(hasher->family)),
			 hint_of_family(hasher, family)));
}
