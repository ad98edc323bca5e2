/*-------------------------------------------------------------------------
 *
 * cuckoo_filter.h
 *		Operations on one filter: contains, copies, insert, remove, grow,
 *		shrink, validate.
 *
 * All work on an image in the caller's memory and the CuckooHeader that
 * cuckoo_header_read() made of it.  Elements are 64-bit hashes.
 *
 * A filter holds at most two copies of what looks the same to it, that is of
 * one fingerprint in one pair of buckets.  Two means "two or more": further
 * inserts and all removes leave it as it is.  So repeated elements cannot fill
 * their buckets, and no remove of an element that was inserted can take
 * another one with it.  What looks the same does so at every growth level.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "cuckoo_change.h"
#include "cuckoo_lookup.h"
#include "cuckoo_validate.h"

#endif							/* CUCKOO_FILTER_H */
