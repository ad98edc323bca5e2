/*-------------------------------------------------------------------------
 *
 * element/element.h
 *		Elements: from an SQL value to its 64-bit hash.
 *
 * A CuckooHasher hashes values of one type.  cuckoo_hasher() returns the hasher
 * of an argument and keeps it for the next call.  cuckoo_array_hasher() does
 * the same for the elements of an array.  cuckoo_check_family() compares a
 * hasher with a filter, and cuckoo_hash() hashes a value.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ELEMENT_H
#define CUCKOO_ELEMENT_H

#include "compat.h"
#include "core/core.h"

#include "fmgr.h"
#include "utils/array.h"
#include "utils/typcache.h"

/* The conversion of a value to canonical bytes; one or more for each family. */
typedef enum CuckooEncoding
{
	CUCKOO_ENCODING_NONE = 0,
	CUCKOO_ENCODING_INT2,
	CUCKOO_ENCODING_INT4,
	CUCKOO_ENCODING_INT8,
	CUCKOO_ENCODING_TEXT,
	CUCKOO_ENCODING_BPCHAR,
	CUCKOO_ENCODING_NAME,
	CUCKOO_ENCODING_CHAR,
	CUCKOO_ENCODING_ENUM,
	CUCKOO_ENCODING_BYTEA,
	CUCKOO_ENCODING_UUID,
	CUCKOO_ENCODING_BOOL,
	CUCKOO_ENCODING_DATE,
	CUCKOO_ENCODING_FLOAT4,
	CUCKOO_ENCODING_FLOAT8,
	CUCKOO_ENCODING_INET,
	CUCKOO_ENCODING_MACADDR,
	CUCKOO_ENCODING_MACADDR8,
	CUCKOO_ENCODING_NUMERIC,
	CUCKOO_ENCODING_INTERVAL,
	CUCKOO_ENCODING_ARRAY,
	CUCKOO_ENCODING_OTHER
} CuckooEncoding;

/* The conversion of values of one SQL type to 64-bit hashes. */
typedef struct CuckooHasher
{
	Oid			type;			/* of the values, as declared */
	Oid			collation;		/* for hash_proc */
	CuckooEncoding encoding;	/* canonical bytes, see element/hash.c */
	uint8		family;
	uint16		tag;			/* of the type, family "other" */
	FmgrInfo   *hash_proc;		/* extended hash function, family "other" */
	int16		length;			/* typlen of hash_proc's argument */
	uint64		changes;		/* see cuckoo_hasher_is_current() */
} CuckooHasher;

/*
 * Fills in a zeroed hasher, which must not outlive `context`, and returns true.
 * If the type cannot be hashed: false if missing_ok, otherwise error 42883 or
 * 0A000.
 */
extern bool cuckoo_hasher_init(CuckooHasher *hasher, Oid declared,
							   Oid collation, MemoryContext context,
							   bool missing_ok);

/*
 * Returns the hasher for an argument of the called function.  fn_extra keeps it
 * as the first member of a zeroed struct of `size` bytes.
 */
extern CuckooHasher *cuckoo_hasher(FunctionCallInfo fcinfo, int argno,
								   Size size);

/* False if types may have changed since cuckoo_hasher_init(). */
extern bool cuckoo_hasher_is_current(const CuckooHasher *hasher);

/* The elements of an array argument. */
typedef struct CuckooElements
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			count;
} CuckooElements;

extern CuckooHasher *cuckoo_array_hasher(FunctionCallInfo fcinfo, int argno,
										 CuckooElements *elements, Size size);

/*
 * Returns an array with the shape of the elements, and a boolean for each
 * element, or null for a null element.
 */
extern ArrayType *cuckoo_boolean_array(const CuckooElements *elements,
									   const bool *values);

/* True if the hasher's values have the family and tag of a filter. */
static inline bool
cuckoo_is_of_family(const CuckooHasher *hasher, const CuckooHeader *h)
{
	return h->family == CUCKOO_FAMILY_NONE ||
		(hasher->family == h->family && hasher->tag == h->tag);
}

/* Throws error 42804 unless the hasher's values have this family and tag. */
extern void cuckoo_check_family(const CuckooHasher *hasher, uint8 family,
								uint16 tag);

extern const char *cuckoo_family_name(uint8 family);

/* The hash of a value that is not null. */
extern uint64 cuckoo_hash(const CuckooHasher *hasher, Datum value, uint64 seed);

/* ---- within this folder: family, tag and hash function of a type ---- */

/*
 * Sets family and encoding for a base type.  Returns false for a type of the
 * family "other", or of none.
 */
extern bool cuckoo_plain_family(CuckooHasher *hasher, Oid type);

/* True if equality under the collation differs from equality of bytes. */
extern bool cuckoo_is_nondeterministic(Oid collation);

/*
 * The tag of a type of "other".  If it has none: 0 if missing_ok, otherwise
 * error 42883 or 0A000.
 */
extern uint16 cuckoo_type_tag(Oid type, Oid collation, bool missing_ok);

/* The extended hash function of a type of "other", or InvalidOid. */
extern Oid	cuckoo_hash_function(const TypeCacheEntry *entry);

#endif							/* CUCKOO_ELEMENT_H */
