/*-------------------------------------------------------------------------
 *
 * element/type.h
 *		Internal to element/: family, tag and hash function of an element type.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TYPE_H
#define CUCKOO_TYPE_H

#include "element/element.h"

#include "utils/typcache.h"

/*
 * The family and encoding of a base type of any family but "other".  Returns
 * false for all other types.
 */
extern bool cuckoo_plain_family(Oid type, uint8 *family,
								CuckooEncoding *encoding);

/* True if equality under the collation differs from equality of bytes. */
extern bool cuckoo_is_nondeterministic(Oid collation);

/* True if values of the type, under the collation, can be of "other". */
extern bool cuckoo_type_is_taggable(Oid type, Oid collation);

/* The tag of such a type.  A type without one is an error. */
extern uint16 cuckoo_type_tag(Oid type, Oid collation);

/* The function that hashes values of a type of "other", or InvalidOid. */
extern Oid	cuckoo_hash_function(const TypeCacheEntry *entry);

#endif							/* CUCKOO_TYPE_H */
