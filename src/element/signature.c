/*-------------------------------------------------------------------------
 *
 * element/signature.c
 *		The tag of a type of the family "other".
 *
 * A 16-bit tag protects a filter of "other" against values of another type.  It
 * is the hash of the type signature: everything on which the equality of the
 * type depends (append_type_signature()).  A restore may change the schema, the
 * name and the OID of a type, so the signature has none of these, except the
 * OIDs of built-in types.
 *
 * A type without a complete signature has no tag, and its values cannot be
 * elements.  An enum within an array, range or row is refused, because its hash
 * depends on its OID.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "access/hash.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "common/string.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

bool
cuckoo_is_nondeterministic(Oid collation)
{
	return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

/* True if PostgreSQL hashes the type by its parts (arrays, ranges, rows). */
static bool
is_generic(const TypeCacheEntry *entry)
{
	return IsPolymorphicType(entry->hash_opintype) ||
		entry->hash_opintype == RECORDOID;
}

/*
 * The extended hash function of the default hash operator class, or InvalidOid.
 * The type cache may lack this function (hash_extended_proc), if the session
 * has first looked up an equality operator of another operator class, for
 * example to compare rows.  So this also searches the operator family.
 */
Oid
cuckoo_hash_function(const TypeCacheEntry *entry)
{
	if (OidIsValid(entry->hash_extended_proc) ||
		!OidIsValid(entry->hash_opf) || is_generic(entry))
		return entry->hash_extended_proc;
	return get_opfamily_proc(entry->hash_opf, entry->hash_opintype,
							 entry->hash_opintype, HASHEXTENDED_PROC);
}

/* A reason to refuse values of a type as elements. */
typedef struct Refusal
{
	const char *detail;
	const char *hint;
} Refusal;

static const Refusal no_hash_function = {
	"Elements are hashed with the default hash operator class of their type.",
	"Cast the element to a type that can be hashed, for example json to jsonb, or any other type to text."
};
static const Refusal anonymous_row = {
	"Rows without a named type cannot be distinguished from rows of other types.",
	"Combine the columns into one element: (a, b)::text, ARRAY[a, b] if they have one type, or (a, b)::t with a composite type t."
};
static const Refusal contains_enum = {
	"The type contains an enum, whose hash can change with a dump and restore.",
	"Cast an array to text[], or any other type to text."
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

static const Refusal no_seed = {
	"The type is or contains a row with an attribute whose hash function is not in C. PostgreSQL may call such a function with a null seed.",
	"Write the hash function of the attribute's type in C, or cast the element to text."
};

static void
append_string(StringInfo out, const char *string)
{
	appendBinaryStringInfo(out, string, strlen(string) + 1);
}

/* Appends a text attribute of a catalog row.  Null becomes empty. */
static void
append_attribute(StringInfo out, CuckooCacheId cache, HeapTuple tuple,
				 AttrNumber attribute)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(cache, tuple, attribute, &isnull);

	append_string(out, isnull ? "" : TextDatumGetCString(value));
}

/*
 * Appends the signature of a function: language, file name of its library,
 * source.
 */
static const Refusal *
append_function_signature(StringInfo out, Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			language;
	bool		refused;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	refused = !heap_attisnull(tuple, Anum_pg_proc_prosqlbody, NULL);
	append_string(out, get_language_name(language, false));
	if (language == ClanguageId)
	{
		static const char *const suffixes[] = {".so", ".dylib", ".dll"};
		StringInfoData path;
		char	   *library;

		initStringInfo(&path);
		append_attribute(&path, PROCOID, tuple, Anum_pg_proc_probin);
		library = last_dir_separator(path.data);
		library = library != NULL ? library + 1 : path.data;
		for (int i = 0; i < (int) lengthof(suffixes); i++)
			if (pg_str_endswith(library, suffixes[i]))
				library[strlen(library) - strlen(suffixes[i])] = '\0';
		append_string(out, library);
	}
	append_attribute(out, PROCOID, tuple, Anum_pg_proc_prosrc);
	ReleaseSysCache(tuple);
	return refused ? &sql_body : NULL;
}

static const Refusal *append_type_signature(StringInfo out, Oid type,
											Oid collation);

/*
 * True if the hash function of an attribute's type is in C.  Functions in other
 * languages see the null flag of the seed, which hash_record_extended() does
 * not set.
 */
static bool
hashes_in_c(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(getBaseType(type),
											  TYPECACHE_HASH_EXTENDED_PROC);
	Oid			function = cuckoo_hash_function(entry);
	Oid			language = GetSysCacheOid1(PROCOID, Anum_pg_proc_prolang,
										   ObjectIdGetDatum(function));

	/* a type without a hash function is refused for another reason */
	return !OidIsValid(function) || language == INTERNALlanguageId ||
		language == ClanguageId;
}

/* Appends the signatures of a row's attributes. */
static const Refusal *
append_row(StringInfo out, Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	const Refusal *refusal = NULL;

	for (int i = 0; i < desc->natts && refusal == NULL; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attisdropped)
			continue;
		refusal = append_type_signature(out, attribute->atttypid,
										attribute->attcollation);
		if (refusal == NULL && !hashes_in_c(attribute->atttypid))
			refusal = &no_seed;
	}
	ReleaseTupleDesc(desc);
	appendStringInfoChar(out, ')');
	return refusal;
}

/* Appends the signature of a range type: its functions and subtype. */
static const Refusal *
append_range(StringInfo out, Oid type)
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
		refusal = append_function_signature(out, range.rngcanonical);
	else
		append_string(out, "");
	return refusal != NULL ? refusal
		: append_type_signature(out, range.rngsubtype, range.rngcollation);
}

/* Appends a nondeterministic collation: equality depends on it. */
static void
append_collation(StringInfo out, Oid collation)
{
	HeapTuple	tuple;

	if (!cuckoo_is_nondeterministic(collation))
		return;
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	appendStringInfoChar(out, 'k');
	appendStringInfoChar(out,
						 ((Form_pg_collation) GETSTRUCT(tuple))->collprovider);
	append_attribute(out, COLLOID, tuple, CUCKOO_COLLATION_LOCALE);
	if (CUCKOO_COLLATION_RULES != InvalidAttrNumber)
		append_attribute(out, COLLOID, tuple, CUCKOO_COLLATION_RULES);
	ReleaseSysCache(tuple);
}

/* Appends a built-in type, by its OID, which never changes. */
static void
append_builtin(StringInfo out, Oid type, Oid collation)
{
	uint8		oid[4];

	cuckoo_store32(oid, type);
	appendStringInfoChar(out, 'b');
	appendBinaryStringInfo(out, (char *) oid, sizeof(oid));
	if (type_is_collatable(type))
		append_collation(out, collation);
}

/* Appends the parts of an array, range, multirange or row, if it is one. */
static const Refusal *
append_parts(StringInfo out, Oid type, Oid collation, bool *has_parts)
{
	Oid			part;

	*has_parts = true;
	if (OidIsValid(part = get_element_type(type)))
	{
		appendStringInfoChar(out, 'a');
		return append_type_signature(out, part, collation);
	}
	if (OidIsValid(get_range_subtype(type)))
	{
		appendStringInfoChar(out, 'r');
		return append_range(out, type);
	}
	if (OidIsValid(part = get_multirange_range(type)))
	{
		appendStringInfoChar(out, 'm');
		return append_type_signature(out, part, collation);
	}
	if (get_typtype(type) == TYPTYPE_COMPOSITE)
	{
		appendStringInfoChar(out, '(');
		return append_row(out, type);
	}
	*has_parts = false;
	return NULL;
}

/* Appends the hash function and the input function of a type. */
static const Refusal *
append_functions(StringInfo out, Oid type, const TypeCacheEntry *entry,
				 Oid collation)
{
	Oid			hash = cuckoo_hash_function(entry);
	Oid			input;
	Oid			ioparam;
	const Refusal *refusal;

	if (!OidIsValid(hash))
		return &no_hash_function;
	getTypeInputInfo(type, &input, &ioparam);
	appendStringInfoChar(out, 'u');
	refusal = append_function_signature(out, hash);
	if (refusal == NULL)
		refusal = append_function_signature(out, input);
	if (type_is_collatable(type))
		append_collation(out, collation);
	return refusal;
}

/*
 * Appends the signature of a type under a collation, as FORMAT.md specifies it.
 * Returns the reason why it cannot have one, or NULL.
 */
static const Refusal *
append_type_signature(StringInfo out, Oid type, Oid collation)
{
	TypeCacheEntry *entry;
	const Refusal *refusal;
	bool		generic;
	bool		has_parts;

	check_stack_depth();
	type = getBaseType(type);
	entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);

	/* use the input type of the operator class: oid for regclass */
	generic = is_generic(entry);
	if (OidIsValid(entry->hash_opintype) && !generic)
		type = entry->hash_opintype;

	if (type == RECORDOID)
		return &anonymous_row;
	if (type_is_enum(type))
		return &contains_enum;
	/* only within another type: by themselves they are hashed as text */
	if ((type == BPCHAROID || type == NAMEOID) &&
		(!OidIsValid(collation) || cuckoo_is_nondeterministic(collation)))
		return &contains_blanks;

	if (!generic && type < FirstGenbkiObjectId)
	{
		append_builtin(out, type, collation);
		return NULL;
	}
	refusal = append_parts(out, type, collation, &has_parts);
	if (refusal != NULL || (generic && has_parts))
		return refusal;

	/*
	 * User-defined types: the hash and input functions are part of the
	 * signature, even if the type has parts.
	 */
	return append_functions(out, type, entry, collation);
}

/*
 * Appends PostgreSQL's hash of some bytes.  Filters from a server with another
 * byte order or another hash therefore have other tags.
 */
static void
append_platform_check(StringInfo signature)
{
	static const char bytes[] = "cuckoo";
	char		check[8];

	cuckoo_store64((uint8 *) check,
				   hash_bytes_extended((const unsigned char *) bytes,
									   sizeof(bytes) - 1, 0));
	appendBinaryStringInfo(signature, check, sizeof(check));
}

uint16
cuckoo_type_tag(Oid type, Oid collation, bool missing_ok)
{
	TypeCacheEntry *entry;
	StringInfoData signature;
	const Refusal *refusal;
	uint16		tag;

	entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
	initStringInfo(&signature);
	append_platform_check(&signature);
	refusal = append_type_signature(&signature, type, collation);
	if (refusal == NULL && !OidIsValid(cuckoo_hash_function(entry)))
		refusal = &no_hash_function;
	tag = (uint16) XXH3_64bits(signature.data, signature.len);
	pfree(signature.data);
	if (refusal == NULL)
		return Max(tag, 1);
	if (!missing_ok)
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
	return 0;
}
