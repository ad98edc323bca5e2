/*-------------------------------------------------------------------------
 *
 * core/sort.h
 *		Sorting hashes and keys, whose bits are as good as random.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SORT_H
#define CUCKOO_SORT_H

#include "core/port.h"

/*
 * Sorts words in ascending order, in place.  They should differ, almost all of
 * them, in their `low` lowest bits, or in as many of the highest as it takes to
 * count to `places`.  Then the time is in proportion to their number, otherwise
 * somewhat longer.  `scratch` has room for n words.  Whenever interrupts are
 * checked, `words` holds what it held before, in some order.
 */
extern void cuckoo_sort(uint64_t *words, uint64_t n, uint64_t *scratch,
						int low, uint64_t places);

/*
 * Sorts words by bits `low` to `high` - 1, and keeps the order of those that
 * agree in them.  The result is in `words` or in `scratch`; its address is
 * returned.
 */
extern uint64_t *cuckoo_sort_bits(uint64_t *words, uint64_t n,
								  uint64_t *scratch, int low, int high);

#endif							/* CUCKOO_SORT_H */
