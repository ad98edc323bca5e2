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
 *				"char", enums by label			blanks; see hash_char()
 *	bytea		bytea							as it is
 *	uuid		uuid							its 16 bytes
 *	boolean		boolean							one byte
 *	date		date							int32, little-endian
 *	timestamp, timestamptz						int64, little-endian
 *	float		float4, float8					float8, little-endian; -0 is 0,
 *												one NaN
 *	other		whatever has an extended hash	that hash (with seed 0), int64,
 *				function						little-endian; of an array, its
 *												shape, too
 *
 * Domains are their base type.  An enum that is renamed is another element; an
 * enum within an array, range or row is refused, as its hash is its OID.  Text
 * under a nondeterministic collation is equal where bytes differ, so it is
 * family "other" and hashed as PostgreSQL does.  Hashes of "other" are
 * PostgreSQL's own: stable within a major version and an architecture's byte
 * order, and not written down elsewhere.  A 16-bit tag guards a filter of
 * "other" against values of another type.  It is a hash of what the type's
 * equality depends on, see identify(), so it tells when that has changed, and
 * does not depend on OIDs, schemas and names, which a restore may change.
 *
 * The type of an element is the one for which the called function is declared,
 * or that of the call's argument if it is declared for any type.  Nothing else
 * of the call's expression is looked at: the planner may rewrite that.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "common/string.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
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
	FORM_ARRAY,
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

/* The families, and a type of each. */
static const struct
{
	const char *name;
	const char *type;
}			families[] =
{
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
				 errhint("Cast the element to a type for which cf_agg is declared, such as text or bigint.")));
	return type;
}

/* Does equality under the collation differ from equality of bytes? */
static bool
is_nondeterministic(Oid collation)
{
	return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

/*
 * Counts changes of what a type's identity is made of: attributes, functions,
 * operator classes.  A call site may outlive them (in PL/pgSQL, to the end of
 * the transaction), and would hash by the new and call it the old.
 */
static uint64 type_changes = 0;

static void
type_changed(Datum arg, CuckooCacheId cache, uint32 hash)
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
		CacheRegisterSyscacheCallback(ATTNUM, type_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(PROCOID, type_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(CLAOID, type_changed, (Datum) 0);
	}
	return type_changes;
}

/* Why values of a type cannot be elements. */
typedef struct Refusal
{
	const char *detail;
	const char *hint;
} Refusal;

static const Refusal no_hash_function = {
	"Elements are hashed with the default hash operator class of their type.",
	"Cast the element to a type that can be hashed, such as text or jsonb."
};
static const Refusal contains_enum = {
	"The type contains an enum, whose hash can change with a dump and restore.",
	"Cast the element to a type that holds the labels, such as text[] or jsonb."
};
static const Refusal contains_blanks = {
	"The type contains char(n) or name under a nondeterministic collation, whose hash does not agree with its equality.",
	"Cast the element to a type that contains text instead, such as text[]."
};
static const Refusal odd_range = {
	"The type is or contains a range that is not ordered by the default operator class of its subtype.",
	"Use a range type with the default operator class, or cast the element to text."
};
static const Refusal sql_body = {
	"The type depends on a function with an SQL-standard body, which cannot be identified by its source.",
	"Write the body of the function as a string, or cast the element to text."
};

static void
append_string(StringInfo out, const char *string)
{
	appendBinaryStringInfo(out, string, strlen(string) + 1);
}

/* Appends a catalog row's attribute, a text or a name; nothing for null. */
static void
append_attribute(StringInfo out, CuckooCacheId cache, HeapTuple tuple,
				 AttrNumber attribute, bool is_name)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(cache, tuple, attribute, &isnull);

	append_string(out, isnull ? "" : is_name ? NameStr(*DatumGetName(value))
				  : TextDatumGetCString(value));
}

/*
 * Appends what a function does, as far as that is to be known: its language,
 * library (the file's name alone) and source.
 */
static const Refusal *
identify_function(StringInfo out, Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			language;
	bool		refused;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	refused = CUCKOO_HAS_SQL_BODY(tuple);
	append_string(out, get_language_name(language, false));
	if (language == ClanguageId)
	{
		static const char *const suffixes[] = {".so", ".dylib", ".dll"};
		StringInfoData path;
		char	   *library;

		initStringInfo(&path);
		append_attribute(&path, PROCOID, tuple, Anum_pg_proc_probin, false);
		library = last_dir_separator(path.data);
		library = library != NULL ? library + 1 : path.data;
		for (int i = 0; i < (int) lengthof(suffixes); i++)
			if (pg_str_endswith(library, suffixes[i]))
				library[strlen(library) - strlen(suffixes[i])] = '\0';
		append_string(out, library);
	}
	append_attribute(out, PROCOID, tuple, Anum_pg_proc_prosrc, false);
	ReleaseSysCache(tuple);
	return refused ? &sql_body : NULL;
}

static const Refusal *identify(StringInfo out, Oid type, Oid collation);

/* Appends the identities of a row's attributes; see identify(). */
static const Refusal *
identify_attributes(StringInfo out, Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	const Refusal *refusal = NULL;

	for (int i = 0; i < desc->natts && refusal == NULL; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped)
			refusal = identify(out, attribute->atttypid,
							   attribute->attcollation);
	}
	ReleaseTupleDesc(desc);
	appendStringInfoChar(out, ')');
	return refusal;
}

/* The same of a range type's parts. */
static const Refusal *
identify_range(StringInfo out, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
	FormData_pg_range range;
	TypeCacheEntry *subtype;
	const Refusal *refusal = NULL;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for range type %u", type);
	range = *(Form_pg_range) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	subtype = lookup_type_cache(range.rngsubtype, TYPECACHE_BTREE_OPFAMILY);
	if (get_opclass_family(range.rngsubopc) != subtype->btree_opf)
		return &odd_range;
	if (OidIsValid(range.rngcanonical))
		refusal = identify_function(out, range.rngcanonical);
	else
		append_string(out, "");
	return refusal != NULL ? refusal
		: identify(out, range.rngsubtype, range.rngcollation);
}

/* Appends a collation, if equality depends on it. */
static void
identify_collation(StringInfo out, Oid collation)
{
	HeapTuple	tuple;

	if (!is_nondeterministic(collation))
		return;
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	appendStringInfoChar(out, 'k');
	appendStringInfoChar(out,
						 ((Form_pg_collation) GETSTRUCT(tuple))->collprovider);
	append_attribute(out, COLLOID, tuple, CUCKOO_COLLATION_LOCALE,
					 CUCKOO_LOCALE_IS_NAME);
	if (CUCKOO_COLLATION_RULES != InvalidAttrNumber)
		append_attribute(out, COLLOID, tuple, CUCKOO_COLLATION_RULES, false);
	ReleaseSysCache(tuple);
}

/*
 * Appends the identity of a type that is hashed under a collation: all that its
 * equality and its hash depend on, and nothing that may change without them
 * (FORMAT.md).  Returns why it cannot have one, or NULL.
 */
static const Refusal *
identify(StringInfo out, Oid type, Oid collation)
{
	TypeCacheEntry *entry;
	const Refusal *refusal = NULL;
	bool		generic;
	Oid			part;

	check_stack_depth();
	type = getBaseType(type);
	entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);

	/* types that share an operator class are equal across it: oid, regclass */
	generic = IsPolymorphicType(entry->hash_opintype) ||
		entry->hash_opintype == RECORDOID;
	if (OidIsValid(entry->hash_opintype) && !generic)
		type = entry->hash_opintype;

	if (type_is_enum(type))
		return &contains_enum;
	/* these are within another type: by themselves they are hashed as text */
	if ((type == BPCHAROID || type == NAMEOID) &&
		(!OidIsValid(collation) || is_nondeterministic(collation)))
		return &contains_blanks;

	if (!generic && type < FirstGenbkiObjectId)
	{
		uint8		oid[4];

		cuckoo_store32(oid, type);
		appendStringInfoChar(out, 'b');
		appendBinaryStringInfo(out, (char *) oid, sizeof(oid));
		if (type_is_collatable(type))
			identify_collation(out, collation);
		return NULL;
	}

	if (OidIsValid(part = get_element_type(type)))
	{
		appendStringInfoChar(out, 'a');
		refusal = identify(out, part, collation);
	}
	else if (OidIsValid(get_range_subtype(type)))
	{
		appendStringInfoChar(out, 'r');
		refusal = identify_range(out, type);
	}
	else if (OidIsValid(part = CUCKOO_MULTIRANGE_RANGE(type)))
	{
		appendStringInfoChar(out, 'm');
		refusal = identify(out, part, collation);
	}
	else if (get_typtype(type) == TYPTYPE_COMPOSITE)
	{
		appendStringInfoChar(out, '(');
		refusal = identify_attributes(out, type);
	}
	else
		generic = false;

	/* a hash function that is not PostgreSQL's own for such types */
	if (refusal == NULL && !generic)
	{
		Oid			input;
		Oid			ioparam;

		if (!OidIsValid(entry->hash_extended_proc))
			return &no_hash_function;
		getTypeInputInfo(type, &input, &ioparam);
		appendStringInfoChar(out, 'u');
		refusal = identify_function(out, entry->hash_extended_proc);
		if (refusal == NULL)
			refusal = identify_function(out, input);
		if (type_is_collatable(type))
			identify_collation(out, collation);
	}
	return refusal;
}

/* The tag of a type of the family "other", or why there is none. */
static const Refusal *
type_tag(uint16 *tag, Oid type, Oid collation)
{
	TypeCacheEntry *entry;
	StringInfoData identity;
	const Refusal *refusal;

	entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
	initStringInfo(&identity);
	refusal = identify(&identity, type, collation);
	if (refusal == NULL && !OidIsValid(entry->hash_extended_proc))
		refusal = &no_hash_function;
	*tag = (uint16) XXH3_64bits(identity.data, identity.len);
	if (*tag == 0)
		*tag = 1;
	pfree(identity.data);
	return refusal;
}

/* The family and form of a type where bytes or labels are compared. */
static bool
plain_family(Oid type, uint8 *family, int *form)
{
	if (type_is_enum(type))
	{
		*family = CUCKOO_FAMILY_TEXT;
		*form = FORM_ENUM;
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
	int			form;
	uint16		tag;

	type = getBaseType(type);
	return plain_family(type, &family, &form) ||
		type_tag(&tag, type, InvalidOid) == NULL;
}

static void
hasher_init_other(CuckooHasher *hasher, Oid type, MemoryContext context)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_EXTENDED_PROC);
	const Refusal *refusal = type_tag(&hasher->tag, type, hasher->collation);

	if (refusal != NULL)
		ereport(ERROR,
				(errcode(refusal == &no_hash_function ?
						 ERRCODE_UNDEFINED_FUNCTION :
						 ERRCODE_FEATURE_NOT_SUPPORTED),
				 refusal == &no_hash_function ?
				 errmsg("could not identify an extended hash function for type %s",
						format_type_be(type)) :
				 errmsg("type %s cannot be the element type of a cuckoofilter",
						format_type_be(type)),
				 errdetail("%s", refusal->detail),
				 errhint("%s", refusal->hint)));

	hasher->family = CUCKOO_FAMILY_OTHER;
	/* the forms of char(n) and name make a text of the value first */
	if (hasher->form == 0 || hasher->form == FORM_TEXT)
		hasher->form = entry->hash_opintype == ANYARRAYOID ? FORM_ARRAY
			: FORM_OTHER;
	/* of its own, as that in the type's cache entry outlives the function */
	hasher->hash_proc = MemoryContextAlloc(context, sizeof(FmgrInfo));
	fmgr_info_cxt(entry->hash_extended_proc, hasher->hash_proc, context);
}

void
cuckoo_hasher_init(CuckooHasher *hasher, Oid declared, Oid collation,
				   MemoryContext context)
{
	uint64		changes = watch_types();
	Oid			type = getBaseType(declared);
	bool		plain = plain_family(type, &hasher->family, &hasher->form);

	hasher->collation = collation;
	if (!plain)
		hasher_init_other(hasher, type, context);
	/* an enum has no collation; name has "C", unless it is given another */
	else if (hasher->family == CUCKOO_FAMILY_TEXT &&
			 type_is_collatable(type) && is_nondeterministic(collation))
		hasher_init_other(hasher, TEXTOID, context);

	hasher->type = declared;
	/* last: it says that all the rest is there */
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
		/* only what is kept goes there, as types may change often */
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

static uint64
hash_int64(int64 value, uint64 seed)
{
	uint8		bytes[8];

	cuckoo_store64(bytes, (uint64) value);
	return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
}

/* PostgreSQL's hash of a value. */
static Datum
extended_hash(const CuckooHasher *hasher, Datum value)
{
	return FunctionCall2Coll(hasher->hash_proc, hasher->collation, value,
							 Int64GetDatum(0));
}

/*
 * An array.  Its hash function passes over its shape, which equality does not.
 */
static uint64
hash_shaped(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	AnyArrayType *array = DatumGetAnyArrayP(value);
	uint8		bytes[8 + 4 + MAXDIM * 8];
	int			ndim = AARR_NDIM(array);
	int			size = 12;

	cuckoo_store64(bytes, DatumGetInt64(extended_hash(hasher,
													  PointerGetDatum(array))));
	cuckoo_store32(bytes + 8, ndim);
	for (int i = 0; i < ndim; i++, size += 8)
	{
		cuckoo_store32(bytes + size, AARR_DIMS(array)[i]);
		cuckoo_store32(bytes + size + 4, AARR_LBOUND(array)[i]);
	}
	if (!VARATT_IS_EXPANDED_HEADER(array) &&
		(Pointer) array != DatumGetPointer(value))
		pfree(array);
	return XXH3_64bits_withSeed(bytes, size, seed);
}

/*
 * Text in the server's encoding, hashed as UTF-8, or by PostgreSQL's function
 * under a nondeterministic collation.
 */
static uint64
hash_text(const CuckooHasher *hasher, const char *text, int len, uint64 seed)
{
	int			encoding = GetDatabaseEncoding();

	if (hasher->hash_proc != NULL)
	{
		struct varlena *copy = cstring_to_text_with_len(text, len);
		Datum		hash = extended_hash(hasher, PointerGetDatum(copy));

		pfree(copy);
		return hash_int64(DatumGetInt64(hash), seed);
	}

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
hash_enum(const CuckooHasher *hasher, Oid value, uint64 seed)
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
	return hash_text(hasher, label, strlen(label), seed);
}

/* "char" as it is written from PostgreSQL 16 on: empty for 0, "\351". */
static uint64
hash_char(const CuckooHasher *hasher, char value, uint64 seed)
{
	char		text[5] = {value, '\0'};

	if (IS_HIGHBIT_SET(value))
		snprintf(text, sizeof(text), "\\%03o", (unsigned char) value);
	return hash_text(hasher, text, strlen(text), seed);
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
		: hash_text(hasher, bytes, len, seed);
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
			return hash_text(hasher, NameStr(*DatumGetName(value)),
							 strlen(NameStr(*DatumGetName(value))), seed);
		case FORM_CHAR:
			return hash_char(hasher, DatumGetChar(value), seed);
		case FORM_ENUM:
			return hash_enum(hasher, DatumGetObjectId(value), seed);
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
		case FORM_ARRAY:
			return hash_shaped(hasher, value, seed);
		default:
			Assert(hasher->form == FORM_OTHER);
			return hash_int64(DatumGetInt64(extended_hash(hasher, value)),
							  seed);
	}
}

/* Is it citext, or a domain over it, wherever that may be? */
static bool
is_citext(Oid type)
{
	Oid			extension = getExtensionOfObject(TypeRelationId,
												 getBaseType(type));
	char	   *name = OidIsValid(extension) ? get_extension_name(extension)
		: NULL;

	return name != NULL && strcmp(name, "citext") == 0;
}

/* What to do about elements of this hasher where the filter has others. */
static int
hint_of_family(const CuckooHasher *hasher, uint8 family)
{
	if (family == CUCKOO_FAMILY_TEXT && is_citext(hasher->type))
		return errhint("Build the filter with cf_agg of the extension \"cuckoo_citext\" to ignore case, or cast the value to text, for example $1::text.");
	if (family == CUCKOO_FAMILY_TEXT && is_nondeterministic(hasher->collation))
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
			 is_nondeterministic(hasher->collation) ?
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
