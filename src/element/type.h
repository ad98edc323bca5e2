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
 * Sets the family and encoding of a base type.  Returns false for a type of the
 * family "other", or of none.
 */
extern bool cuckoo_plain_family(Oid type, uint8 *family,
								CuckooEncoding *encoding);

/* True if equality under the collation differs from equality of bytes. */
extern bool cuckoo_is_nondeterministic(Oid collation);

/*
 * The tag of a type of "other".  If it has none: 0 if missing_ok, otherwise
 * error 42883 or 0A000.
 */
extern uint16 cuckoo_type_tag(Oid type, Oid collation, bool missing_ok);

/* The extended hash function of a type of "other", or InvalidOid. */
extern Oid	cuckoo_hash_function(const TypeCacheEntry *entry);

#endif							/* CUCKOO_TYPE_H */
