/*-------------------------------------------------------------------------
 *
 * element/family.c
 *		The families of element types, and the error for an element of another
 *		family.
 *
 * Equal values of the types of one family are one element.  A filter takes
 * elements of one family or, if it is "other", of one type, which is told by
 * its tag (element/identity.c).  Any other element is an error.
 *
 * A domain counts as its base type, and text under a nondeterministic collation
 * belongs to "other".
 *
 *-------------------------------------------------------------------------
 */
#include "element/type.h"

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
	{"other", "pg_lsn"},
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
cuckoo_plain_family(Oid type, uint8 *family, CuckooEncoding *encoding)
{
	if (type_is_enum(type))
	{
		*family = CUCKOO_FAMILY_TEXT;
		*encoding = CUCKOO_ENCODING_ENUM;
		return true;
	}
	for (int i = 0; i < (int) lengthof(known_types); i++)
		if (known_types[i].type == type)
		{
			*family = known_types[i].family;
			*encoding = known_types[i].encoding;
			return true;
		}
	return false;
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
