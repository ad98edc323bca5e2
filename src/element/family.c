/*-------------------------------------------------------------------------
 *
 * element/family.c
 *		The families of element types, and the error for a wrong family.
 *
 * Equal values of the types of one family are one element.  A filter accepts
 * elements of one family.  In the family "other" it accepts one type, which its
 * tag identifies (element/signature.c).  Any other element is an error.
 *
 * A domain counts as its base type.  Text under a nondeterministic collation
 * has the family "other".
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

typedef struct KnownType
{
	Oid			type;
	uint8		family;
	uint8		encoding;
} KnownType;

static const KnownType known_types[] = {
	{INT2OID, CUCKOO_FAMILY_INTEGER, CUCKOO_ENCODING_INT2},
	{INT4OID, CUCKOO_FAMILY_INTEGER, CUCKOO_ENCODING_INT4},
	{INT8OID, CUCKOO_FAMILY_INTEGER, CUCKOO_ENCODING_INT8},
	{TEXTOID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_TEXT},
	{VARCHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_TEXT},
	{BPCHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_BPCHAR},
	{NAMEOID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_NAME},
	{CHAROID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_CHAR},
	{ANYENUMOID, CUCKOO_FAMILY_TEXT, CUCKOO_ENCODING_ENUM},
	{BYTEAOID, CUCKOO_FAMILY_BYTEA, CUCKOO_ENCODING_BYTEA},
	{UUIDOID, CUCKOO_FAMILY_UUID, CUCKOO_ENCODING_UUID},
	{BOOLOID, CUCKOO_FAMILY_BOOLEAN, CUCKOO_ENCODING_BOOL},
	{DATEOID, CUCKOO_FAMILY_DATE, CUCKOO_ENCODING_DATE},
	{TIMESTAMPOID, CUCKOO_FAMILY_TIMESTAMP, CUCKOO_ENCODING_INT8},
	{TIMESTAMPTZOID, CUCKOO_FAMILY_TIMESTAMPTZ, CUCKOO_ENCODING_INT8},
	{FLOAT4OID, CUCKOO_FAMILY_FLOAT, CUCKOO_ENCODING_FLOAT4},
	{FLOAT8OID, CUCKOO_FAMILY_FLOAT, CUCKOO_ENCODING_FLOAT8},
	{INETOID, CUCKOO_FAMILY_INET, CUCKOO_ENCODING_INET},
	{CIDROID, CUCKOO_FAMILY_INET, CUCKOO_ENCODING_INET},
	{MACADDROID, CUCKOO_FAMILY_MACADDR, CUCKOO_ENCODING_MACADDR},
	{MACADDR8OID, CUCKOO_FAMILY_MACADDR8, CUCKOO_ENCODING_MACADDR8},
	{NUMERICOID, CUCKOO_FAMILY_NUMERIC, CUCKOO_ENCODING_NUMERIC},
	{TIMEOID, CUCKOO_FAMILY_TIME, CUCKOO_ENCODING_INT8},
	{INTERVALOID, CUCKOO_FAMILY_INTERVAL, CUCKOO_ENCODING_INTERVAL}
};

/* The families, each with a type for hints. */
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
	{"other", ""},
	{"inet", "inet"},
	{"macaddr", "macaddr"},
	{"macaddr8", "macaddr8"},
	{"numeric", "numeric"},
	{"time", "time"},
	{"interval", "interval"}
};

StaticAssertDecl(lengthof(families) == CUCKOO_FAMILY_LAST + 1,
				 "every family has a name");

const char *
cuckoo_family_name(uint8 family)
{
	Assert(family <= CUCKOO_FAMILY_LAST);
	return families[family].name;
}

bool
cuckoo_plain_family(CuckooHasher *hasher, Oid type)
{
	if (type_is_enum(type))
		type = ANYENUMOID;
	for (int i = 0; i < (int) lengthof(known_types); i++)
		if (known_types[i].type == type)
		{
			hasher->family = known_types[i].family;
			hasher->encoding = known_types[i].encoding;
			return true;
		}
	return false;
}

/*
 * For hints: how to convert a value to an element of another family.  0 stands
 * for any family.  The first matching row is used.
 */
typedef struct Conversion
{
	uint8		value;
	uint8		filter;
	const char *example;		/* NULL if a cast is enough */
} Conversion;

static const Conversion conversions[] = {
	{CUCKOO_FAMILY_BYTEA, CUCKOO_FAMILY_TEXT,
	"encode($1, 'hex') or convert_from($1, 'UTF8')"},
	{CUCKOO_FAMILY_UUID, CUCKOO_FAMILY_TEXT, "$1::text or upper($1::text)"},
	{CUCKOO_FAMILY_INET, CUCKOO_FAMILY_TEXT,
	"host($1), or $1::text with the netmask"},
	{0, CUCKOO_FAMILY_TEXT, "$1::text"},
	{CUCKOO_FAMILY_TEXT, CUCKOO_FAMILY_BYTEA,
	"decode($1, 'hex') or convert_to($1, 'UTF8')"},
	{CUCKOO_FAMILY_UUID, CUCKOO_FAMILY_BYTEA, "uuid_send($1)"},
	{CUCKOO_FAMILY_BYTEA, CUCKOO_FAMILY_UUID, "encode($1, 'hex')::uuid"},
	{CUCKOO_FAMILY_NUMERIC, CUCKOO_FAMILY_INTEGER,
	"$1::bigint of a whole number"},
	{CUCKOO_FAMILY_FLOAT, CUCKOO_FAMILY_INTEGER,
	"$1::bigint of a whole number"},
	{CUCKOO_FAMILY_INTEGER, CUCKOO_FAMILY_NUMERIC, NULL},
	{CUCKOO_FAMILY_FLOAT, CUCKOO_FAMILY_NUMERIC, "$1::text::numeric"},
	{CUCKOO_FAMILY_INTEGER, CUCKOO_FAMILY_FLOAT, "$1::float8 or $1::real"},
	{CUCKOO_FAMILY_NUMERIC, CUCKOO_FAMILY_FLOAT, "$1::float8 or $1::real"},
	{CUCKOO_FAMILY_TEXT, CUCKOO_FAMILY_FLOAT, "$1::float8 or $1::real"},
	{CUCKOO_FAMILY_TIMESTAMP, CUCKOO_FAMILY_DATE, NULL},
	{CUCKOO_FAMILY_TIMESTAMPTZ, CUCKOO_FAMILY_DATE,
	"($1 AT TIME ZONE 'UTC')::date"},
	{CUCKOO_FAMILY_DATE, CUCKOO_FAMILY_TIMESTAMP, NULL},
	{CUCKOO_FAMILY_TIMESTAMPTZ, CUCKOO_FAMILY_TIMESTAMP,
	"$1 AT TIME ZONE 'UTC'"},
	{CUCKOO_FAMILY_DATE, CUCKOO_FAMILY_TIMESTAMPTZ,
	"$1::timestamp AT TIME ZONE 'UTC'"},
	{CUCKOO_FAMILY_TIMESTAMP, CUCKOO_FAMILY_TIMESTAMPTZ,
	"$1 AT TIME ZONE 'UTC'"},
	{CUCKOO_FAMILY_TEXT, CUCKOO_FAMILY_TIMESTAMPTZ,
	"$1::timestamptz in their time zone"},
	/* a cast from text accepts all spellings of a value */
	{CUCKOO_FAMILY_TEXT, 0, NULL}
};

/* The hint for an element of this hasher and a filter of `family`. */
static int
hint_of_family(const CuckooHasher *hasher, uint8 family)
{
	if (family == CUCKOO_FAMILY_OTHER)
		return errhint("Cast the value or parameter to the type of the elements, or give it their collation. The filter does not store the type's name.");
	if (family == CUCKOO_FAMILY_TEXT &&
		cuckoo_is_nondeterministic(hasher->collation))
		return errhint("Give the value a deterministic collation, for example $1 COLLATE \"C\". Then only an element of the same spelling is found.");
	for (int i = 0; i < (int) lengthof(conversions); i++)
	{
		const Conversion *c = &conversions[i];

		if ((c->value != 0 && c->value != hasher->family) ||
			(c->filter != 0 && c->filter != family))
			continue;
		if (c->example != NULL)
			return errhint("Convert the value or parameter to the representation of the elements, for example %s. Another representation is another element.",
						   c->example);
		/* enums and "char" have casts to text only */
		return errhint("Cast the value or parameter to a type of the family \"%s\", for example $1%s::%s.",
					   families[family].name,
					   hasher->encoding == CUCKOO_ENCODING_ENUM ||
					   hasher->encoding == CUCKOO_ENCODING_CHAR ? "::text" : "",
					   families[family].type);
	}
	return errhint("Convert the value or parameter to the representation of the elements, which are of the family \"%s\".",
				   families[family].name);
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
				 errdetail("The filter contains elements of another type or collation of the family \"%s\", the type has changed, or the filter comes from a server with another hash or byte order.",
						   cuckoo_family_name(family)),
				 errhint("Cast the value to the element type of the filter, or give it the collation of the elements. Otherwise build the filter again here.")));
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
