/*-------------------------------------------------------------------------
 *
 * element/family.h
 *		The families of types.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FAMILY_H
#define CUCKOO_FAMILY_H

#include "element/element.h"

/*
 * The family and form of a type where bytes or labels are compared.  Returns
 * false if it is none of these.
 */
extern bool cuckoo_plain_family(Oid type, uint8 *family,
								CuckooEncoding *encoding);

#endif							/* CUCKOO_FAMILY_H */
