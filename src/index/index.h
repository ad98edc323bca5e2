/*-------------------------------------------------------------------------
 *
 * index/index.h
 *		The access method "cuckoo": an index that is a filter.
 *
 * An index has a meta page and pages that each hold one small filter.  The hash
 * of an element chooses the page, so that a probe or an insert locks one buffer
 * and evictions stay within the page.  There are no pointers to rows: the index
 * answers "no" or "maybe".  doc/index.md tells users about it.
 *
 *	index/page.[ch]		pages, and how a hash finds its page
 *	index/insert.c		inserting, splitting, and their WAL
 *	index/build.c		CREATE INDEX and REINDEX
 *	index/handler.c		the access method: options, validation, vacuum
 *	index/open.c		opening an index to ask it: who may, can it answer
 *	index/probe.c		SQL functions that probe
 *	index/export.c		SQL functions that read all of an index
 *	index/gate.c		one-time filters in plans
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

/* Sets the hook of index/gate.c and defines the options, at library load. */
extern void cuckoo_index_init(void);

#endif							/* CUCKOO_INDEX_H */
