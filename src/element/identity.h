/*-------------------------------------------------------------------------
 *
 * element/identity.h
 *		What tells the types of the family "other" apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_IDENTITY_H
#define CUCKOO_IDENTITY_H

#include "element/element.h"

#include "utils/typcache.h"

/* True if equality under the collation differs from equality of bytes. */
extern bool cuckoo_is_nondeterministic(Oid collation);

/* True if values of the type, under the collation, can be of "other". */
extern bool cuckoo_has_tag(Oid type, Oid collation);

/* The tag of such a type.  A type without one is an error. */
extern uint16 cuckoo_type_tag(Oid type, Oid collation);

/* The function that hashes values of a type of "other", or InvalidOid. */
extern Oid	cuckoo_hash_function(const TypeCacheEntry *entry);

#endif							/* CUCKOO_IDENTITY_H */
