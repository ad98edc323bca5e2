/*-------------------------------------------------------------------------
 *
 * compat.h
 *		Differences between versions of PostgreSQL.  Every PG_VERSION_NUM is
 *		here.
 *
 * The oldest version is 15.  Each condition describes the changes in a version,
 * and defines one name for all versions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMPAT_H
#define CUCKOO_COMPAT_H

#include "postgres.h"

/*
 * 16: ICU collations have rules.  generate_join_implied_equalities() has an
 * argument for the outer join.  A custom scan chooses its kind of slots.  (In
 * 15 PostgreSQL initializes slots for virtual rows, and our scan initializes
 * slot and projection again.)  Errors of input functions can be soft.  One
 * function checks the owner of any object.  A sort returns a datum without a
 * copy.  fmgr.h declares _PG_init().
 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#define CUCKOO_OWNS_RELATION(relation, user) \
	object_ownercheck(RelationRelationId, relation, user)
#define CUCKOO_COLLATION_RULES	Anum_pg_collation_collicurules
#define CUCKOO_GET_DATUM(sort, datum, isnull) \
	tuplesort_getdatum(sort, true, false, datum, isnull, NULL)
#define CUCKOO_FREE_DATUM(datum) ((void) (datum))
#define cuckoo_join_equalities(...) \
	generate_join_implied_equalities(__VA_ARGS__, NULL)
#define CUCKOO_CUSTOM_SCAN_SLOTS(state, ops) ((state)->slotOps = (ops))
#define CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, state, desc, ops) ((void) 0)
#else
#define CUCKOO_OWNS_RELATION(relation, user) \
	pg_class_ownercheck(relation, user)
#define CUCKOO_COLLATION_RULES	InvalidAttrNumber
#define CUCKOO_GET_DATUM(sort, datum, isnull) \
	tuplesort_getdatum(sort, true, datum, isnull, NULL)
#define CUCKOO_FREE_DATUM(datum) pfree(DatumGetPointer(datum))
#define cuckoo_join_equalities(...) \
	generate_join_implied_equalities(__VA_ARGS__)
#define CUCKOO_CUSTOM_SCAN_SLOTS(state, ops) ((void) 0)
#define CUCKOO_INIT_CUSTOM_SCAN_SLOT(estate, state, desc, ops) \
	(ExecInitScanTupleSlot(estate, &(state)->ss, desc, ops), \
	 ExecAssignScanProjectionInfo(&(state)->ss))
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
extern PGDLLEXPORT void _PG_init(void);
#endif

/*
 * 17: The locale of an ICU collation moved.  Maintenance restricts the search
 * path.  VACUUM keeps all rows that a snapshot sees: old_snapshot_threshold is
 * gone.
 */
#if PG_VERSION_NUM >= 170000
#define CUCKOO_COLLATION_LOCALE	Anum_pg_collation_colllocale
#define CUCKOO_RESTRICT_SEARCH_PATH() RestrictSearchPath()
#define CUCKOO_TEST_SNAPSHOT(snapshot, rel, page) ((void) 0)
#else
#define CUCKOO_COLLATION_LOCALE	Anum_pg_collation_colliculocale
#define CUCKOO_RESTRICT_SEARCH_PATH() ((void) 0)
#define CUCKOO_TEST_SNAPSHOT(snapshot, rel, page) \
	TestForOldSnapshot(snapshot, rel, page)
#endif

/*
 * 18: A library names itself and its release.  Support functions allow changing
 * variables in place.  pg_noreturn has a new place.  EXPLAIN shows the searches
 * of an index.  Paths count disabled nodes.  A delay point knows its command.
 * Unique indexes may be of other access methods than B-tree.
 */
#if PG_VERSION_NUM >= 180000
#define CUCKOO_MODULE_MAGIC(release) \
	PG_MODULE_MAGIC_EXT(.name = "cuckoo", .version = (release))
#define CUCKOO_COUNT_SEARCH(scan) \
	((void) ((scan)->instrument && (scan)->instrument->nsearches++))
#define CUCKOO_DISABLE_PATH(index_path) \
	((index_path)->path.disabled_nodes += 1000)
#define CUCKOO_VACUUM_DELAY() vacuum_delay_point(false)
#define CUCKOO_COMPARE_TYPES
#include "commands/explain_format.h"
#define CUCKOO_MODIFY_IN_PLACE
#else
#define CUCKOO_MODULE_MAGIC(release) PG_MODULE_MAGIC
#define CUCKOO_COUNT_SEARCH(scan) ((void) 0)
#define CUCKOO_DISABLE_PATH(index_path) ((void) 0)
#define CUCKOO_VACUUM_DELAY() vacuum_delay_point()
#define pg_noreturn pg_attribute_noreturn()
#endif

/*
 * 19: Numbers of system caches have a separate type.  Table scans have flags;
 * ours are the flags of a sequential scan.  A handler returns a constant
 * IndexAmRoutine instead of a copy.
 */
#if PG_VERSION_NUM >= 190000
#define CUCKOO_INDEX_ROUTINE(routine) (&(routine))
#define CuckooCacheId SysCacheIdentifier
#define CUCKOO_SCAN_FLAGS(ss) \
	(ScanRelIsReadOnly(ss) ? SO_HINT_REL_READ_ONLY : SO_NONE)
#define CUCKOO_BEGIN_SCAN(ss) \
	table_beginscan((ss)->ss_currentRelation, (ss)->ps.state->es_snapshot, \
					0, NULL, CUCKOO_SCAN_FLAGS(ss))
#define CUCKOO_BEGIN_SCAN_PARALLEL(rel, pscan, flags) \
	table_beginscan_parallel(rel, pscan, flags)
#define CUCKOO_INDEX_FETCH_BEGIN(heap) \
	table_index_fetch_begin(heap, SO_NONE)
#else
#define CUCKOO_INDEX_ROUTINE(routine) \
	memcpy(palloc(sizeof(routine)), &(routine), sizeof(routine))
#define CuckooCacheId int
#define CUCKOO_BEGIN_SCAN(ss) \
	table_beginscan((ss)->ss_currentRelation, (ss)->ps.state->es_snapshot, \
					0, NULL)
#define CUCKOO_BEGIN_SCAN_PARALLEL(rel, pscan, flags) \
	table_beginscan_parallel(rel, pscan)
#define CUCKOO_INDEX_FETCH_BEGIN(heap) table_index_fetch_begin(heap)
#endif

#endif							/* CUCKOO_COMPAT_H */
