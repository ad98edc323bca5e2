/*-------------------------------------------------------------------------
 *
 * core/core.h
 *		The core: cuckoo filters of 64-bit hashes, in the caller's memory.
 *
 * A filter is an image (core/format.h), which the operations read and change
 * together with the CuckooHeader that cuckoo_header_read() decoded from it.
 * core/geometry.h chooses its size.  core/build.h fills it with many elements
 * at once, core/change.h one by one.  core/lookup.h finds elements, and
 * core/keys.h and core/estimate.h combine and compare filters.
 *
 * A lookup never misses an element that was inserted, and removing an inserted
 * element never removes another one.
 *
 * A filter holds at most two copies of one fingerprint in one pair of buckets,
 * so that repeated elements cannot fill their buckets.  Two copies mean "two or
 * more", and further inserts and removes do not change them.  Elements that
 * share a fingerprint and a pair of buckets do so at every growth level.
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
