/*-------------------------------------------------------------------------
 *
 * cuckoo_faults.h
 *		Points of the extension at which a test can have it fail.
 *
 * The compiler includes this file before each file of src/, for the library
 * cuckoo_faults (see Makefile).  That library is the extension with a counter
 * at each look for a cancel request, and before each call that may run out of
 * memory.  test_fault() in cuckoo_faults.c has the n-th of these fail.  It can
 * also have a session stop before each step of an access to an index.  The pages
 * of indexes are small, so that few rows split them.  test_seed() chooses the
 * seeds of indexes.  Pages that are locked in a wrong order, or changed without
 * an exclusive lock, are errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FAULTS_H
#define CUCKOO_FAULTS_H

#include "compat.h"

#include "access/detoast.h"
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/pg_list.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "core/port.h"

/*
 * The first two may throw, and the third one may wait.  They count the point,
 * which is in this line of this file.
 */
extern void cuckoo_fault_cancel(const char *file, int line);
extern void cuckoo_fault_memory(const char *file, int line);
extern void cuckoo_fault_step(const char *file, int line);

/*
 * The step before a record of WAL has the line in which the record was begun:
 * some functions end the records of several others.
 */
extern void cuckoo_fault_record(const char *file, int line);
extern void cuckoo_fault_record_end(void);

/*
 * Lock and release pages, and check the order: README of src/index, "Lock
 * Definitions".  The last one returns its argument, a page that is about to be
 * changed.  A wrong order or a missing lock is error XX000.
 */
extern void cuckoo_fault_lock(Buffer buffer, int mode);
extern bool cuckoo_fault_try_lock(Buffer buffer);
extern void cuckoo_fault_release(Buffer buffer);
extern Buffer cuckoo_fault_changed(Buffer buffer);

/* ---- cancel requests ---- */

#undef CHECK_FOR_INTERRUPTS
#define CHECK_FOR_INTERRUPTS()	cuckoo_fault_cancel(__FILE__, __LINE__)

#define vacuum_delay_point(...) \
	(CHECK_FOR_INTERRUPTS(), vacuum_delay_point(__VA_ARGS__))

/* Calls have no argument, and the definition has (void). */
#define cuckoo_check_interrupts(none)	FAULTS_CHECK_##none
#define FAULTS_CHECK_					CHECK_FOR_INTERRUPTS()
#define FAULTS_CHECK_void				cuckoo_core_interrupts(void)
extern void cuckoo_core_interrupts(void);

/* The point is the line of the loop, not that of the function in port.h. */
#define cuckoo_pause(n) \
	((n) % 65536 == 0 ? CHECK_FOR_INTERRUPTS() : (void) 0)

/* ---- memory ---- */

#define FAULTS_MEMORY	cuckoo_fault_memory(__FILE__, __LINE__)

/* A macro is not expanded within itself, so the function is called. */
#define palloc(...)		(FAULTS_MEMORY, palloc(__VA_ARGS__))
#define palloc0(...)	(FAULTS_MEMORY, palloc0(__VA_ARGS__))
#define repalloc(...)	(FAULTS_MEMORY, repalloc(__VA_ARGS__))
#define repalloc_huge(...)	(FAULTS_MEMORY, repalloc_huge(__VA_ARGS__))
#define MemoryContextAlloc(...) \
	(FAULTS_MEMORY, MemoryContextAlloc(__VA_ARGS__))
#define MemoryContextAllocZero(...) \
	(FAULTS_MEMORY, MemoryContextAllocZero(__VA_ARGS__))
#define MemoryContextAllocHuge(...) \
	(FAULTS_MEMORY, MemoryContextAllocHuge(__VA_ARGS__))
#define AllocSetContextCreateInternal(...) \
	(FAULTS_MEMORY, AllocSetContextCreateInternal(__VA_ARGS__))
#define GenericXLogStart(...) \
	(FAULTS_MEMORY, cuckoo_fault_record(__FILE__, __LINE__), \
	 GenericXLogStart(__VA_ARGS__))
#define pg_detoast_datum(...) \
	(FAULTS_MEMORY, pg_detoast_datum(__VA_ARGS__))
#define pg_detoast_datum_copy(...) \
	(FAULTS_MEMORY, pg_detoast_datum_copy(__VA_ARGS__))
#define pg_detoast_datum_packed(...) \
	(FAULTS_MEMORY, pg_detoast_datum_packed(__VA_ARGS__))
#define pg_detoast_datum_slice(...) \
	(FAULTS_MEMORY, pg_detoast_datum_slice(__VA_ARGS__))
#define datumCopy(...)	(FAULTS_MEMORY, datumCopy(__VA_ARGS__))
#define hash_create(...)	(FAULTS_MEMORY, hash_create(__VA_ARGS__))
#define hash_search(...)	(FAULTS_MEMORY, hash_search(__VA_ARGS__))
#define table_open(...)	(FAULTS_MEMORY, table_open(__VA_ARGS__))
#define lookup_type_cache(...) \
	(FAULTS_MEMORY, lookup_type_cache(__VA_ARGS__))
#define fmgr_info_cxt(...)	(FAULTS_MEMORY, fmgr_info_cxt(__VA_ARGS__))
#define fmgr_info_copy(...)	(FAULTS_MEMORY, fmgr_info_copy(__VA_ARGS__))
#define SearchSysCache1(...)	(FAULTS_MEMORY, SearchSysCache1(__VA_ARGS__))
#define deconstruct_array(...) \
	(FAULTS_MEMORY, deconstruct_array(__VA_ARGS__))
#define construct_md_array(...) \
	(FAULTS_MEMORY, construct_md_array(__VA_ARGS__))
#define heap_form_tuple(...)	(FAULTS_MEMORY, heap_form_tuple(__VA_ARGS__))
#define get_call_result_type(...) \
	(FAULTS_MEMORY, get_call_result_type(__VA_ARGS__))
#define InitMaterializedSRF(...) \
	(FAULTS_MEMORY, InitMaterializedSRF(__VA_ARGS__))
#define tuplestore_putvalues(...) \
	(FAULTS_MEMORY, tuplestore_putvalues(__VA_ARGS__))
#define pq_begintypsend(...)	(FAULTS_MEMORY, pq_begintypsend(__VA_ARGS__))
#define ExecInitQual(...)	(FAULTS_MEMORY, ExecInitQual(__VA_ARGS__))
#define ExecInitExpr(...)	(FAULTS_MEMORY, ExecInitExpr(__VA_ARGS__))
#define ExecInitExprWithParams(...) \
	(FAULTS_MEMORY, ExecInitExprWithParams(__VA_ARGS__))
#define ExecInitNode(...)	(FAULTS_MEMORY, ExecInitNode(__VA_ARGS__))
#define lappend(...)	(FAULTS_MEMORY, lappend(__VA_ARGS__))

/* ---- steps ---- */

#define FAULTS_STEP		cuckoo_fault_step(__FILE__, __LINE__)

#define ReadBuffer(...)	(FAULTS_STEP, ReadBuffer(__VA_ARGS__))
#define ReadBufferExtended(...) \
	(FAULTS_STEP, ReadBufferExtended(__VA_ARGS__))
#define LockBuffer(...)	(FAULTS_STEP, cuckoo_fault_lock(__VA_ARGS__))
#define ConditionalLockBuffer(...) \
	(FAULTS_STEP, cuckoo_fault_try_lock(__VA_ARGS__))
#undef START_CRIT_SECTION
#define START_CRIT_SECTION()	(FAULTS_STEP, CritSectionCount++)
#define MarkBufferDirty(buffer) \
	(FAULTS_STEP, MarkBufferDirty(cuckoo_fault_changed(buffer)))
#define GenericXLogRegisterBuffer(state, buffer, flags) \
	GenericXLogRegisterBuffer(state, cuckoo_fault_changed(buffer), flags)
#define UnlockReleaseBuffer(...) \
	(FAULTS_STEP, cuckoo_fault_release(__VA_ARGS__))
#define LockRelationForExtension(...) \
	(FAULTS_STEP, LockRelationForExtension(__VA_ARGS__))
#define UnlockRelationForExtension(...) \
	(FAULTS_STEP, UnlockRelationForExtension(__VA_ARGS__))
#define RelationGetNumberOfBlocksInFork(...) \
	(FAULTS_STEP, RelationGetNumberOfBlocksInFork(__VA_ARGS__))
#define PredicateLockPageSplit(...) \
	(FAULTS_STEP, PredicateLockPageSplit(__VA_ARGS__))
#define XLogInsert(...)	(FAULTS_STEP, XLogInsert(__VA_ARGS__))
#define GenericXLogFinish(...) \
	(cuckoo_fault_record_end(), GenericXLogFinish(__VA_ARGS__))
#define table_index_fetch_tuple(...) \
	(FAULTS_STEP, table_index_fetch_tuple(__VA_ARGS__))
#define ExecDropSingleTupleTableSlot(...) \
	(FAULTS_STEP, ExecDropSingleTupleTableSlot(__VA_ARGS__))
#define XactLockTableWait(...) \
	(FAULTS_STEP, XactLockTableWait(__VA_ARGS__))

/* ---- builds ---- */

extern bool cuckoo_fault_random(void *bytes, size_t n);
#define pg_strong_random(...)	cuckoo_fault_random(__VA_ARGS__)

/* Workers load this library, too. */
#define CreateParallelContext(library, ...) \
	CreateParallelContext("cuckoo_faults", __VA_ARGS__)

#endif							/* CUCKOO_FAULTS_H */
