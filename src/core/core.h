/*-------------------------------------------------------------------------
 *
 * core/core.h
 *		The core: filters of 64-bit hashes, in the caller's memory.
 *
 * A lookup never misses an element that was inserted.  Removing an inserted
 * element never removes another one.  The operations work on an image in the
 * caller's memory, and on the CuckooHeader that cuckoo_header_read() decoded
 * from it.  Elements are 64-bit hashes.
 *
 * A filter holds at most two copies of one fingerprint in one pair of buckets.
 * Two copies mean "two or more", and further inserts and removes do not change
 * them.  So repeated elements cannot fill their buckets.  Elements that share a
 * fingerprint and a pair of buckets do so at every growth level.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CORE_H
#define CUCKOO_CORE_H

#include "core/build.h"
#include "core/change.h"
#include "core/estimate.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/keys.h"
#include "core/lookup.h"
#include "core/sort.h"
#include "core/status.h"



#endif							/* CUCKOO_CORE_H */
