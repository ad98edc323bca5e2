/*-------------------------------------------------------------------------
 *
 * cuckoo_hash.c
 *		From a Datum to the 64-bit hash of its element, and to the family of
 *		elements that its type belongs to.
 *
 * Values that are equal by their type's default equality are the same element,
 * across the types of a family: the hash is XXH3 (64 bits, with the filter's
 * seed) of canonical bytes that depend on the value only.  The bytes and the
 * hash are specified (FORMAT.md), the same on every machine and in every
 * encoding, and to be had in every language, as filters outlive servers.
 *
 *	family		types							canonical bytes
 *	integer		int2, int4, int8				int64, little-endian
 *	text		text, varchar, char(n), name,	UTF-8; char(n) without trailing
 *				"char", enums by label			blanks
 *	bytea		bytea							as it is
 *	uuid		uuid							its 16 bytes
 *	boolean		boolean							one byte
 *	date		date							int32, little-endian
 *	timestamp, timestamptz						int64, little-endian
 *	float		float4, float8					float8, little-endian; -0 is 0,
 *												one NaN
 *	other		whatever has an extended hash	that hash (with seed 0), int64,
 *				function						little-endian
 *
 * Domains are their base type.  An enum that is renamed is another element; an
 * enum within an array, range or row is refused, see contains_enum().  Text
 * under a nondeterministic collation is equal where bytes differ, so it is
 * family "other" and hashed as PostgreSQL does.  Hashes of "other" are
 * PostgreSQL's own: stable within a major version and an architecture's byte
 * order, and not written down elsewhere.  A 16-bit tag, a hash of the type's
 * name (and of the collation's, where it has a say),
 * guards a filter of "other" against values of another type.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include <math.h>

/* The canonical forms; one or more for each family. */
enum
{
	FORM_INT2 = 1,
	FORM_INT4,
	FORM_INT8,
	FORM_TEXT,
	FORM_BPCHAR,
	FORM_NAME,
	FORM_CHAR,
	FORM_ENUM,
	FORM_BYTEA,
	FORM_UUID,
	FORM_BOOL,
	FORM_DATE,
	FORM_FLOAT4,
	FORM_FLOAT8,
	FORM_OTHER
};

static const struct
{
	Oid			type;
	uint8		family;
	uint8		form;
}			known_types[] =
{
	{INT2OID, CUCKOO_FAMILY_INTEGER, FORM_INT2},
	{INT4OID, CUCKOO_FAMILY_INTEGER, FORM_INT4},
	{INT8OID, CUCKOO_FAMILY_INTEGER, FORM_INT8},
	{TEXTOID, CUCKOO_FAMILY_TEXT, FORM_TEXT},
	{VARCHAROID, CUCKOO_FAMILY_TEXT, FORM_TEXT},
	{BPCHAROID, CUCKOO_FAMILY_TEXT, FORM_BPCHAR},
	{NAMEOID, CUCKOO_FAMILY_TEXT, FORM_NAME},
	{CHAROID, CUCKOO_FAMILY_TEXT, FORM_CHAR},
	{BYTEAOID, CUCKOO_FAMILY_BYTEA, FORM_BYTEA},
	{UUIDOID, CUCKOO_FAMILY_UUID, FORM_UUID},
	{BOOLOID, CUCKOO_FAMILY_BOOLEAN, FORM_BOOL},
	{DATEOID, CUCKOO_FAMILY_DATE, FORM_DATE},
	{TIMESTAMPOID, CUCKOO_FAMILY_TIMESTAMP, FORM_INT8},
	{TIMESTAMPTZOID, CUCKOO_FAMILY_TIMESTAMPTZ, FORM_INT8},
	{FLOAT4OID, CUCKOO_FAMILY_FLOAT, FORM_FLOAT4},
	{FLOAT8OID, CUCKOO_FAMILY_FLOAT, FORM_FLOAT8}
};

static const char *const family_names[] = {
	"none", "integer", "text", "bytea", "uuid", "boolean", "date",
	"timestamp", "timestamptz", "float", "other"
};

StaticAssertDecl(lengthof(family_names) == CUCKOO_FAMILY_LAST + 1,
				 "every family has a name");

const char *
cuckoo_family_name(uint8 family)
{
	Assert(family <= CUCKOO_FAMILY_LAST);
	return family_names[family];
}

/* The type of an expression behind implicit relabelings. */
static Oid
relabeled_type(Expr *arg)
{
	while (IsA(arg, RelabelType) &&
		   ((RelabelType *) arg)->relabelformat == COERCE_IMPLICIT_CAST)
		arg = ((RelabelType *) arg)->arg;
	return exprType((Node *) arg);
}

/*
 * The same of the argument of an aggregate being called; `declared` if that is
 * nothing to be found out about.
 *
 * An aggregate declared for a concrete type is also chosen for types that
 * coerce to it by a mere relabeling; citext to text is the case that matters,
 * as its equality is another one.  In a window the calls cannot be told apart,
 * but their arguments mostly are of one type.
 */
static Oid
aggregate_argument_type(FunctionCallInfo fcinfo, int argno, Oid declared)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Oid			type = InvalidOid;

	if (aggref != NULL && list_length(aggref->args) >= argno)
	{
		Expr	   *arg = list_nth_node(TargetEntry, aggref->args,
										argno - 1)->expr;

		/* a distributed engine's own aggregate has other arguments */
		return exprType((Node *) arg) == declared ? relabeled_type(arg) : declared;
	}
	if (fcinfo->context != NULL && IsA(fcinfo->context, WindowAggState))
	{
		ListCell   *cell;

		foreach(cell, ((WindowAggState *) fcinfo->context)->funcs)
		{
			WindowFunc *call = lfirst_node(WindowFuncExprState, cell)->wfunc;
			Expr	   *arg;

			if (!call->winagg || list_length(call->args) < argno)
				continue;
			arg = list_nth(call->args, argno - 1);
			if (exprType((Node *) arg) != declared)
				continue;
			if (OidIsValid(type) && type != relabeled_type(arg))
				return declared;
			type = relabeled_type(arg);
		}
	}
	return OidIsValid(type) ? type : declared;
}

/*
 * The type of a call's argument.  Where the call comes without an expression (a
 * distributed engine calls an aggregate's transition function so), it is the
 * declared type.
 */
static Oid
element_type(FunctionCallInfo fcinfo, int argno)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Oid			type = get_fn_expr_argtype(flinfo, argno);

	if (OidIsValid(type))
		type = aggregate_argument_type(fcinfo, argno, type);
	else
	{
		HeapTuple	tuple = SearchSysCache1(PROCOID,
											ObjectIdGetDatum(flinfo->fn_oid));

		if (HeapTupleIsValid(tuple))
		{
			Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

			if (argno < proc->proargtypes.dim1)
				type = proc->proargtypes.values[argno];
			ReleaseSysCache(tuple);
		}
	}

	if (!OidIsValid(type) || IsPolymorphicType(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the element"),
				 errdetail("The call came without an expression, and the function is declared for any type."),
				 errhint("Cast the element to a type for which cf_agg is declared, such as text or bigint.")));
	return type;
}

/* Does equality under the collation differ from equality of bytes? */
static bool
is_nondeterministic(Oid collation)
{
	return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

/* Nonzero 16-bit hash of a type's name, and a collation's if it matters. */
static uint16
type_tag(Oid type, Oid collation)
{
	char	   *name = NULL;
	uint16		tag;
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	name = pstrdup(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname));
	ReleaseSysCache(tuple);
	if (is_nondeterministic(collation))
		name = psprintf("%s %s", name, get_collation_name(collation));
	tag = (uint16) XXH3_64bits(name, strlen(name));
	return tag != 0 ? tag : 1;
}

/*
 * Does a type contain an enum?  Enums are hashed by OID there, which another
 * database, or this one after a restore, gives to another label.
 */
static bool
contains_enum(Oid type)
{
	Oid			part;

	check_stack_depth();
	type = getBaseType(type);
	if (type_is_enum(type))
		return true;
	if (OidIsValid(part = get_element_type(type)) ||
		OidIsValid(part = get_range_subtype(type)) ||
		OidIsValid(part = CUCKOO_MULTIRANGE_RANGE(type)))
		return contains_enum(part);
	if (get_typtype(type) == TYPTYPE_COMPOSITE)
	{
		TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
		bool		found = false;

		for (int i = 0; i < desc->natts && !found; i++)
			found = !TupleDescAttr(desc, i)->attisdropped &&
				contains_enum(TupleDescAttr(desc, i)->atttypid);
		ReleaseTupleDesc(desc);
		return found;
	}
	return false;
}

bool
cuckoo_hashable(Oid type)
{
	type = getBaseType(type);
	return type_is_enum(type) ||
		(!contains_enum(type) &&
		 OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc));
}

static void
hasher_init_other(CuckooHasher *hasher, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	Oid			hashed = entry->hash_opintype;

	if (contains_enum(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s cannot be the element type of a cuckoofilter",
						format_type_be(type)),
				 errdetail("It contains an enum, whose hash would change with a dump and restore."),
				 errhint("Cast the element to a type that holds the labels, such as text[] or jsonb.")));

	if (!OidIsValid(entry->hash_extended_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an extended hash function for type %s",
						format_type_be(type)),
				 errdetail("Elements are hashed by the type's default hash operator class."),
				 errhint("Cast the element to a type that can be hashed, such as text or jsonb.")));

	/*
	 * Types that share an operator class are equal across it, as oid and
	 * regclass; char(n) and text have two that hash alike.
	 */
	if (type == BPCHAROID)
		hashed = TEXTOID;
	else if (!OidIsValid(hashed) || IsPolymorphicType(hashed) ||
			 hashed == RECORDOID)
		hashed = type;
	hasher->family = CUCKOO_FAMILY_OTHER;
	hasher->form = FORM_OTHER;
	hasher->tag = type_tag(hashed, hasher->collation);
	/* type cache entries live as long as the backend */
	hasher->hash_proc = &entry->hash_extended_proc_finfo;
}

void
cuckoo_hasher_init(CuckooHasher *hasher, Oid declared, Oid collation)
{
	Oid			type = getBaseType(declared);

	hasher->collation = collation;
	for (int i = 0; i < (int) lengthof(known_types); i++)
		if (known_types[i].type == type)
		{
			hasher->family = known_types[i].family;
			hasher->form = known_types[i].form;
		}
	if (type_is_enum(type))
	{
		hasher->family = CUCKOO_FAMILY_TEXT;
		hasher->form = FORM_ENUM;
	}

	/* name has a collation of its own, "C"; an enum has none */
	if ((hasher->form == FORM_TEXT || hasher->form == FORM_BPCHAR) &&
		is_nondeterministic(collation))
		hasher_init_other(hasher, type);
	else if (hasher->family == CUCKOO_FAMILY_NONE)
		hasher_init_other(hasher, type);

	/* last: it says that all the rest is there */
	hasher->type = declared;
}

CuckooHasher *
cuckoo_hasher(FunctionCallInfo fcinfo, int argno, Size size)
{
	CuckooHasher *hasher = (CuckooHasher *) fcinfo->flinfo->fn_extra;

	if (unlikely(hasher == NULL))
		hasher = cuckoo_hasher_for_type(fcinfo, element_type(fcinfo, argno),
										size);
	return hasher;
}

CuckooHasher *
cuckoo_hasher_for_type(FunctionCallInfo fcinfo, Oid type, Size size)
{
	CuckooHasher *hasher = (CuckooHasher *) fcinfo->flinfo->fn_extra;

	if (hasher == NULL || hasher->type != type)
	{
		hasher = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, size);
		cuckoo_hasher_init(hasher, type, PG_GET_COLLATION());
		fcinfo->flinfo->fn_extra = hasher;
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

static uint64
hash_int64(int64 value, uint64 seed)
{
	uint8		bytes[8];

	cuckoo_store64(bytes, (uint64) value);
	return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
}

/* Text in the server's encoding, hashed as UTF-8. */
static uint64
hash_text(const char *text, int len, uint64 seed)
{
	int			encoding = GetDatabaseEncoding();

	/* SQL_ASCII says nothing about its bytes, so they are taken as they are */
	if (encoding != PG_UTF8 && encoding != PG_SQL_ASCII)
	{
		char	   *utf8 = pg_server_to_any(text, len, PG_UTF8);

		if (utf8 != text)
		{
			text = utf8;
			len = strlen(utf8);
		}
	}
	return XXH3_64bits_withSeed(text, len, seed);
}

static uint64
hash_float8(float8 value, uint64 seed)
{
	uint64		bits;

	if (isnan(value))
		return hash_int64(INT64CONST(0x7ff8000000000000), seed);
	if (value == 0.0)
		value = 0.0;			/* not -0 */
	memcpy(&bits, &value, sizeof(bits));
	return hash_int64((int64) bits, seed);
}

static uint64
hash_enum(Oid value, uint64 seed)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	char		label[NAMEDATALEN];

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	strlcpy(label, NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel),
			NAMEDATALEN);
	ReleaseSysCache(tuple);
	return hash_text(label, strlen(label), seed);
}

/* A varlena value's bytes, less trailing blanks if asked, freed afterwards. */
static uint64
hash_varlena(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	const char *bytes = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	uint64		hash;

	if (hasher->form == FORM_BPCHAR)
		len = bpchartruelen((char *) bytes, len);
	hash = hasher->form == FORM_BYTEA ? XXH3_64bits_withSeed(bytes, len, seed)
		: hash_text(bytes, len, seed);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return hash;
}

uint64
cuckoo_hash(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	switch (hasher->form)
	{
		case FORM_INT2:
			return hash_int64(DatumGetInt16(value), seed);
		case FORM_INT4:
			return hash_int64(DatumGetInt32(value), seed);
		case FORM_INT8:
			return hash_int64(DatumGetInt64(value), seed);
		case FORM_TEXT:
		case FORM_BPCHAR:
		case FORM_BYTEA:
			return hash_varlena(hasher, value, seed);
		case FORM_NAME:
			return hash_text(NameStr(*DatumGetName(value)),
							 strlen(NameStr(*DatumGetName(value))), seed);
		case FORM_CHAR:
			{
				char		c = DatumGetChar(value);

				return hash_text(&c, c != '\0', seed);
			}
		case FORM_ENUM:
			return hash_enum(DatumGetObjectId(value), seed);
		case FORM_UUID:
			return XXH3_64bits_withSeed(DatumGetUUIDP(value)->data, UUID_LEN,
										seed);
		case FORM_BOOL:
			{
				uint8		byte = DatumGetBool(value);

				return XXH3_64bits_withSeed(&byte, 1, seed);
			}
		case FORM_DATE:
			{
				uint8		bytes[4];

				cuckoo_store32(bytes, (uint32) DatumGetInt32(value));
				return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
			}
		case FORM_FLOAT4:
			return hash_float8(DatumGetFloat4(value), seed);
		case FORM_FLOAT8:
			return hash_float8(DatumGetFloat8(value), seed);
		default:
			Assert(hasher->form == FORM_OTHER);
			value = FunctionCall2Coll(hasher->hash_proc, hasher->collation,
									  value, Int64GetDatum(0));
			return hash_int64(DatumGetInt64(value), seed);
	}
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
				 errmsg("cuckoofilter was not made of elements of type %s",
						format_type_be(hasher->type)),
				 errdetail("It holds elements of another type or collation of the family \"%s\".",
						   cuckoo_family_name(family)),
				 errhint("Cast the value to the type, or give it the collation, that the filter was made of.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cuckoofilter of family \"%s\" does not take elements of type %s",
					cuckoo_family_name(family), format_type_be(hasher->type)),
			 is_nondeterministic(hasher->collation) ?
			 errdetail("Type %s under the nondeterministic collation \"%s\" belongs to the family \"%s\".",
					   format_type_be(hasher->type),
					   get_collation_name(hasher->collation),
					   cuckoo_family_name(hasher->family)) :
			 errdetail("Type %s belongs to the family \"%s\".",
					   format_type_be(hasher->type),
					   cuckoo_family_name(hasher->family)),
			 errhint("Cast the value to the type, or give it the collation, that the filter was made of.")));
}
