/*-------------------------------------------------------------------------
 *
 * cuckoo_pg.h
 *		What the PostgreSQL side of cuckoo shares: datum access, element
 *		hashing, errors.  Every PG_VERSION_NUM is here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PG_H
#define CUCKOO_PG_H

#include "postgres.h"

#include "fmgr.h"
#include "lib/ilist.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif

#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/relcache.h"

#include "cuckoo_filter.h"

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

/* ExecutorRun() had another argument before 18. */
#if PG_VERSION_NUM >= 180000
#define CUCKOO_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count
#define CUCKOO_EXECUTOR_RUN_ARGUMENTS query, direction, count
#else
#define CUCKOO_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define CUCKOO_EXECUTOR_RUN_ARGUMENTS query, direction, count, execute_once
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

/* May the user call a function?  An AclResult. */
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

#define CUCKOO_DEFAULT_FPP	0.001

/* The image in a detoasted datum, which may have a short header. */
static inline uint8 *
cuckoo_image(const struct varlena *datum)
{
	return (uint8 *) VARDATA_ANY(datum);
}

/* ---- cuckoo_error.c ---- */

/* Throws the error for a status that is not a success. */
pg_noreturn extern void cuckoo_error(CuckooStatus status);

/* Fingerprint bits for an fpp, which is an error outside the limits. */
extern int	cuckoo_checked_fpp(double fpp);

/* Geometry for a capacity, which is an error outside the limits. */
extern void cuckoo_checked_capacity(CuckooHeader *h, int64 capacity, int bits,
									uint64 seed);

/* Reads the header of a stored filter; corrupt ones are an error. */
extern void cuckoo_open(CuckooHeader *h, const struct varlena *filter);

/* ---- cuckoo_io.c ---- */

/* By which the planner's functions know the type. */
extern Datum cuckoofilter_in(PG_FUNCTION_ARGS);

/*
 * Decodes base64 text to a new datum; NULL if it is none.  The inverse gives
 * a new C string.
 */
extern struct varlena *cuckoo_base64_decode(const char *text);
extern char *cuckoo_base64_encode(const uint8 *bytes, Size size);

/* A new datum with room for an image of `size` bytes, zeroed. */
extern struct varlena *cuckoo_new_datum(uint64 size);

/* An empty filter of the geometry of *h. */
extern struct varlena *cuckoo_new_filter(const CuckooHeader *h);

/* ---- cuckoo_expanded.c ---- */

/* A filter in memory of its own, which is changed in place. */
typedef struct CuckooExpanded
{
	ExpandedObjectHeader hdr;
	struct varlena *flat;		/* the image, behind a 4-byte header */
} CuckooExpanded;

/* The whole of a filter, to be read; not copied where it is in memory. */
extern const struct varlena *cuckoo_filter(Datum datum);

/* The header of a filter, for which a stored one is not fetched. */
extern void cuckoo_read_header(CuckooHeader *h, Datum datum);

/*
 * The filter as an object that the caller may change: the one that the datum is
 * if it comes with the right to write, else a copy below the context `parent`.
 */
extern CuckooExpanded *cuckoo_expand(Datum datum, MemoryContext parent);

/* ---- cuckoo_hash.c ---- */

/* How values of one SQL type become 64-bit hashes. */
typedef struct CuckooHasher
{
	Oid			type;			/* of the values, as declared */
	Oid			collation;		/* for hash_proc */
	int			form;			/* canonical bytes, see cuckoo_hash.c */
	uint8		family;
	uint16		tag;			/* of the type, family "other" */
	FmgrInfo   *hash_proc;		/* extended hash function, family "other" */
	uint64		changes;		/* of types, up to which it is known */
} CuckooHasher;

/* Can values of the type be elements, whatever their collation? */
extern bool cuckoo_hashable(Oid type);

/*
 * Fills in a zeroed hasher, which is to be used while `context` lives; an error
 * for types that cannot be hashed.
 */
extern void cuckoo_hasher_init(CuckooHasher *hasher, Oid declared,
							   Oid collation, MemoryContext context);

/*
 * The hasher for the type of an argument of the function being called, kept
 * in fn_extra as the first member of a zeroed struct of `size` bytes.
 */
extern CuckooHasher *cuckoo_hasher(FunctionCallInfo fcinfo, int argno,
								   Size size);

/* Is it still true?  Types may change while a query runs. */
extern bool cuckoo_hasher_is_current(const CuckooHasher *hasher);

/* The same for a type known at run time, that of an array's elements. */
extern CuckooHasher *cuckoo_hasher_for_type(FunctionCallInfo fcinfo, Oid type,
											Size size);

/* An array argument taken apart, and the hasher for its elements. */
typedef struct CuckooElements
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			count;
} CuckooElements;

extern CuckooHasher *cuckoo_array_hasher(FunctionCallInfo fcinfo, int argno,
										 CuckooElements *elements, Size size);

extern uint64 cuckoo_hash(const CuckooHasher *hasher, Datum value, uint64 seed);

/* Are values of this hasher what the filter takes? */
static inline bool
cuckoo_is_of_family(const CuckooHasher *hasher, const CuckooHeader *h)
{
	return h->family == CUCKOO_FAMILY_NONE ||
		(hasher->family == h->family && hasher->tag == h->tag);
}

/* Throws an error if values of this hasher are not of the family. */
extern void cuckoo_check_family(const CuckooHasher *hasher, uint8 family,
								uint16 tag);

extern const char *cuckoo_family_name(uint8 family);

/* ---- cuckoo_cache.c ---- */

/* The stored filters of a query's call sites. */
typedef struct CuckooCache CuckooCache;

/* One of them. */
typedef struct CuckooStored
{
	struct varatt_external pointer; /* the key, first; zero for none */
	uint32		probes;			/* by slices so far */
	uint32		pins;			/* of those who hold the filter: CuckooSite */
	dlist_node	node;			/* in the order of use */
	struct varlena *filter;		/* the whole value, or NULL */
	CuckooHeader header;		/* known if probes > 0 or there is a filter */
} CuckooStored;

/* The cache for call sites whose fn_mcxt this is. */
extern CuckooCache *cuckoo_cache(MemoryContext context);

/*
 * The entry for a TOAST pointer, which is looked up unless it is the one that
 * the call site had last.
 */
extern CuckooStored *cuckoo_stored(CuckooCache *cache, CuckooStored *last,
								   struct varlena *datum);

/*
 * The whole filter, if it is there, or should be with so many more probes and
 * has room; NULL for "use slices".
 */
extern const struct varlena *cuckoo_stored_filter(CuckooCache *cache,
												  CuckooStored *stored,
												  struct varlena *datum,
												  uint32 probes);

/* Makes sure of the header of a filter that is not fetched. */
extern void cuckoo_stored_header(CuckooStored *stored, Relation toastrel);

/* Some bytes of such a filter, in new memory. */
extern const uint8 *cuckoo_stored_slice(const CuckooStored *stored,
										Relation toastrel, uint64 offset,
										uint32 length);

/* ---- cuckoo_ops.c ---- */

/*
 * An array of the shape that the elements came in, with one boolean for each;
 * null for null.
 */
extern ArrayType *cuckoo_boolean_array(const CuckooElements *elements,
									   const bool *values);

/* ---- cuckoo_probe.c ---- */

/* By which a scan knows its tests. */
extern Datum cf_contains(PG_FUNCTION_ARGS);
extern Datum cf_contained(PG_FUNCTION_ARGS);

/* What a call of these needs to know, for doing many of them at a time. */
typedef struct CuckooSite
{
	const CuckooHasher *hasher;
	const CuckooHeader *header;
	const uint8 *image;			/* NULL: not fetched yet, call the function */
	bool		fits;			/* the header's family is the elements' */
	CuckooStored *stored;		/* pinned, or NULL */
} CuckooSite;

/*
 * Opens the filter of a call, its argument `argno`, for so many probes for
 * elements of the other argument's type.
 */
extern void cuckoo_open_site(CuckooSite *site, FunctionCallInfo fcinfo,
							 int argno, uint32 probes);

/* Ends that; a filter that was fetched may then make way for others. */
extern void cuckoo_close_site(CuckooSite *site);

/* ---- cuckoo_sets.c ---- */

/*
 * The canonical filter of a run of `n` keys (cuckoo_keys.h), which are freed.
 * *h has its geometry, seed and family, and gets its level and items.
 */
extern struct varlena *cuckoo_filter_of_keys(CuckooHeader *h, uint64 *keys,
											 Size n);

#endif							/* CUCKOO_PG_H */
