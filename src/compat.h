/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between versions of PostgreSQL.  Every PG_VERSION_NUM is
 *		here.
 *
 * The oldest version is 13.  Each condition says what changed and when, and
 * defines one name for all versions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMPAT_H
#define CUCKOO_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif

/* Soft errors of input functions came with 16; before, they are thrown. */
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
#endif

/* Multiranges came with 14. */
#if PG_VERSION_NUM >= 140000
#define CUCKOO_MULTIRANGE_RANGE(type) get_multirange_range(type)
#else
#define CUCKOO_MULTIRANGE_RANGE(type) InvalidOid
#endif

/* SQL-standard bodies of functions came with 14. */
#if PG_VERSION_NUM >= 140000
#define CUCKOO_HAS_SQL_BODY(tuple) \
	(!heap_attisnull(tuple, Anum_pg_proc_prosqlbody, NULL))
#else
#define CUCKOO_HAS_SQL_BODY(tuple) false
#endif

/* Numbers of system caches have a type of their own from 19 on. */
#if PG_VERSION_NUM >= 190000
#define CuckooCacheId SysCacheIdentifier
#else
#define CuckooCacheId int
#endif

/*
 * The locale of an ICU collation moved with 15, when it became text, and with
 * 17; rules came with 16.
 */
#if PG_VERSION_NUM >= 170000
#define CUCKOO_COLLATION_LOCALE	Anum_pg_collation_colllocale
#elif PG_VERSION_NUM >= 150000
#define CUCKOO_COLLATION_LOCALE	Anum_pg_collation_colliculocale
#else
#define CUCKOO_COLLATION_LOCALE	Anum_pg_collation_collcollate
#endif
#define CUCKOO_LOCALE_IS_NAME	(PG_VERSION_NUM < 150000)
#if PG_VERSION_NUM >= 160000
#define CUCKOO_COLLATION_RULES	Anum_pg_collation_collicurules
#else
#define CUCKOO_COLLATION_RULES	InvalidAttrNumber
#endif

/* The stored size of an external value shares its field from 14 on. */
#if PG_VERSION_NUM >= 140000
#define CUCKOO_EXTERNAL_SIZE(pointer) VARATT_EXTERNAL_GET_EXTSIZE(pointer)
#else
#define CUCKOO_EXTERNAL_SIZE(pointer) ((uint32) (pointer).va_extsize)
#endif

/* pg_noreturn came with 18; before, it was written another way. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* Changing a variable in place came with 18. */
#if PG_VERSION_NUM >= 180000
#define CUCKOO_MODIFY_IN_PLACE
#endif

/*
 * That custom scans say whether they can project, and reserved prefixes of
 * settings, came with 15.
 */
#if PG_VERSION_NUM < 150000
#define CUSTOMPATH_SUPPORT_PROJECTION	0
#define MarkGUCPrefixReserved(prefix)	EmitWarningsOnPlaceholders(prefix)
#endif

/* Table scans take flags from 19 on.  Ours are those of a sequential scan. */
#if PG_VERSION_NUM >= 190000
#define CUCKOO_SCAN_FLAGS(ss) \
	(ScanRelIsReadOnly(ss) ? SO_HINT_REL_READ_ONLY : SO_NONE)
#define CUCKOO_BEGIN_SCAN(ss) \
	table_beginscan((ss)->ss_currentRelation, (ss)->ps.state->es_snapshot, \
					0, NULL, CUCKOO_SCAN_FLAGS(ss))
#define CUCKOO_BEGIN_SCAN_PARALLEL(ss, pscan) \
	table_beginscan_parallel((ss)->ss_currentRelation, pscan, \
							 CUCKOO_SCAN_FLAGS(ss))
#else
#define CUCKOO_BEGIN_SCAN(ss) \
	table_beginscan((ss)->ss_currentRelation, (ss)->ps.state->es_snapshot, \
					0, NULL)
#define CUCKOO_BEGIN_SCAN_PARALLEL(ss, pscan) \
	table_beginscan_parallel((ss)->ss_currentRelation, pscan)
#endif

/* Slots are told from 19 on that the rows in them obey NOT NULL. */
#if PG_VERSION_NUM >= 190000
#define CUCKOO_MAKE_ROW_SLOT(desc, ops) \
	MakeTupleTableSlot(desc, ops, TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS)
#else
#define CUCKOO_MAKE_ROW_SLOT(desc, ops) MakeTupleTableSlot(desc, ops)
#endif

/* From 16 on, join clauses of equal expressions need the outer join. */
#if PG_VERSION_NUM >= 160000
#define cuckoo_join_equalities(...) \
	generate_join_implied_equalities(__VA_ARGS__, NULL)
#else
#define cuckoo_join_equalities(...) \
	generate_join_implied_equalities(__VA_ARGS__)
#endif

/* _PG_init() has been declared from 16 on. */
#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/*
 * The slots of a custom scan are for virtual rows before 16, and cannot be
 * chosen.  Then what the executor has made ready is made again.
 */
#if PG_VERSION_NUM >= 160000
#define CUCKOO_CUSTOM_SCAN_SLOTS(state, ops) ((state)->slotOps = (ops))
#define CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, state, desc, ops) ((void) 0)
#else
#define CUCKOO_CUSTOM_SCAN_SLOTS(state, ops) ((void) 0)
#define CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, state, desc, ops) \
	(ExecInitScanTupleSlot(estate, &(state)->ss, desc, ops), \
	 ExecAssignScanProjectionInfo(&(state)->ss))
#endif

/* Whether the user may call a function: an AclResult. */
#if PG_VERSION_NUM >= 160000
#define CUCKOO_ACL_EXECUTE(function) \
	object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE)
#else
#define CUCKOO_ACL_EXECUTE(function) \
	pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE)
#endif

/* What a hash table may take, in bytes, has a function from 15 on. */
#if PG_VERSION_NUM >= 150000
#define CUCKOO_HASH_MEMORY() get_hash_memory_limit()
#else
#define CUCKOO_HASH_MEMORY() \
	((Size) Min(work_mem * hash_mem_multiplier * 1024.0, (double) SIZE_MAX / 2))
#endif

#endif							/* CUCKOO_COMPAT_H */
