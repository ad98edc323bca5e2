/*-------------------------------------------------------------------------
 *
 * index/handler.c
 *		The access method "cuckoo": its routine, options, inserts and vacuum,
 *		and the checks of its operator classes.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"
#include "filter/filter.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include <float.h>

PG_FUNCTION_INFO_V1(cuckoo_handler);

/* ---- options ---- */

static relopt_kind options_kind;

/* The default of fpp: false blocks of a lookup, if the index locates. */
#define DEFAULT_LOCATE_FPP	0.05

/* The option fpp is not set; its default depends on locate. */
#define FPP_BY_KIND			(-DBL_MAX)

#define DEFAULT_FILLFACTOR	92

static bool
parse_seed(const char *text, uint64 *seed)
{
	char	   *end;

	errno = 0;
	*seed = (uint64) strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static void
check_seed(const char *text)
{
	uint64		seed;

	if (text != NULL && *text != '\0' && !parse_seed(text, &seed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid seed: \"%s\"", text),
				 errhint("A seed is a bigint. Without one, it is random and secret.")));
}

static void
define_options(void)
{
	options_kind = add_reloption_kind();
	add_bool_reloption(options_kind, "locate",
					   "Whether entries say in which block a row is",
					   true, AccessExclusiveLock);
	/* cuckoo_parse_options() checks it: a message here would print 0.000000 */
	add_real_reloption(options_kind, "fpp",
					   "Blocks that a lookup reads in vain; or, without locate, the false-positive rate",
					   FPP_BY_KIND, -DBL_MAX, DBL_MAX, AccessExclusiveLock);
	add_real_reloption(options_kind, "capacity",
					   "Rows for which the index has room, if more than the table has",
					   0, 0, 1e12, AccessExclusiveLock);
	add_int_reloption(options_kind, "fillfactor",
					  "Percentage of the slots that a build fills",
					  DEFAULT_FILLFACTOR, 10, 96, AccessExclusiveLock);
	add_int_reloption(options_kind, "growth_bits",
					  "Doublings of the table at the requested fpp; -1 chooses by size",
					  -1, -1, CUCKOO_MAX_BITS - CUCKOO_CORE_BITS,
					  AccessExclusiveLock);
	add_string_reloption(options_kind, "seed",
						 "Seed of the hash, a bigint; random if there is none",
						 "", check_seed, AccessExclusiveLock);
}

#define OPTION(name, type) \
	{.optname = #name, .opttype = RELOPT_TYPE_##type, \
	 .offset = offsetof(CuckooOptions, name)}

static bytea *
cuckoo_parse_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		OPTION(locate, BOOL),
		OPTION(fpp, REAL),
		OPTION(capacity, REAL),
		OPTION(fillfactor, INT),
		OPTION(growth_bits, INT),
		OPTION(seed, STRING)
	};

	CuckooOptions *options = build_reloptions(reloptions, validate,
											  options_kind,
											  sizeof(CuckooOptions), elements,
											  lengthof(elements));

	if (validate && options != NULL && options->fpp != FPP_BY_KIND)
		(void) cuckoo_checked_fpp(options->fpp);
	return (bytea *) options;
}

CuckooOptions
cuckoo_index_options(Relation rel)
{
	CuckooOptions options = {
		.locate = true,
		.fpp = FPP_BY_KIND,
		.fillfactor = DEFAULT_FILLFACTOR,
		.growth_bits = -1
	};

	if (rel->rd_options != NULL)
		options = *(CuckooOptions *) rel->rd_options;
	if (options.fpp == FPP_BY_KIND)
		options.fpp = options.locate ? DEFAULT_LOCATE_FPP : CUCKOO_DEFAULT_FPP;
	return options;
}

bool
cuckoo_index_seed(Relation rel, uint64 *seed)
{
	const char *text;

	if (rel->rd_options == NULL)
		return false;
	text = GET_STRING_RELOPTION((CuckooOptions *) rel->rd_options, seed);
	return text != NULL && parse_seed(text, seed);
}

/* ---- hashing ---- */

void
cuckoo_index_hasher_of(CuckooHasher *hasher, Oid type, Oid collation,
					   MemoryContext context)
{
	Oid			base = getBaseType(type);

	cuckoo_hasher_init(hasher, type, collation, context);
	hasher->any_text = true;
	if (type_is_enum(base))
	{
		hasher->family = CUCKOO_FAMILY_OTHER;
		hasher->encoding = CUCKOO_ENCODING_INT4;
		hasher->tag = (uint16) ((base ^ base >> 16) | 1);
	}
}

void
cuckoo_index_hasher(CuckooHasher *hasher, Relation rel, MemoryContext context)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), 0);

	cuckoo_index_hasher_of(hasher, column->atttypid, rel->rd_indcollation[0],
						   context);
}

bool
cuckoo_meta_is_stale(const CuckooMeta *meta, const CuckooHasher *hasher)
{
	return hasher->family != meta->family || hasher->tag != meta->tag ||
		(meta->tag != 0 && cuckoo_type_layout(hasher->type) != meta->layout);
}

/* ---- the access method ---- */

/* State of the inserts of one statement. */
typedef struct InsertState
{
	CuckooHasher hasher;
	MemoryContext context;		/* memory for hashing one row */
} InsertState;

/*
 * Returns the state of the statement, with a current hasher.  Returns NULL if
 * the column's type has lost its hash function.  Marks the index as stale if
 * the hash of the type has changed.
 */
static InsertState *
insert_state(Relation rel, IndexInfo * info)
{
	InsertState *state = info->ii_AmCache;
	Oid			type = TupleDescAttr(RelationGetDescr(rel), 0)->atttypid;
	CuckooMeta	meta;

	if (state == NULL)
	{
		info->ii_AmCache = state = MemoryContextAllocZero(info->ii_Context,
														  sizeof(InsertState));
		state->context = AllocSetContextCreate(info->ii_Context,
											   "cuckoo insert",
											   ALLOCSET_SMALL_SIZES);
	}
	else if (cuckoo_hasher_is_current(&state->hasher))
		return state;
	memset(&state->hasher, 0, sizeof(CuckooHasher));
	if (!cuckoo_hashable(type, rel->rd_indcollation[0]))
	{
		cuckoo_index_set_stale(rel);
		return NULL;
	}
	cuckoo_index_hasher(&state->hasher, rel, info->ii_Context);
	meta = cuckoo_index_open(rel)->meta;
	if (cuckoo_meta_is_stale(&meta, &state->hasher))
		cuckoo_index_set_stale(rel);
	return state;
}

static bool
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_insert_tuple(Relation rel, Datum *values, bool *isnull, ItemPointer tid,
					Relation heap, IndexUniqueCheck unique, bool unchanged,
					IndexInfo * info)
{
	InsertState *state;
	MemoryContext caller;
	uint64		seed;
	uint64		hash = 0;
	uint64		before;
	int			hashed = 0;

	if (isnull[0])
		return false;

	/*
	 * Hashing may process the invalidation of a type of the family "other".
	 * Then hash again, until the hash is stable.  Do not wait until the
	 * hasher is current: with debug_discard_caches = 1 each catalog lookup
	 * invalidates it.
	 */
	do
	{
		before = hash;
		state = insert_state(rel, info);
		if (state == NULL)
			return false;
		seed = cuckoo_index_open(rel)->meta.seed;
		caller = MemoryContextSwitchTo(state->context);
		hash = cuckoo_hash(&state->hasher, values[0], seed);
		MemoryContextSwitchTo(caller);
		CHECK_FOR_INTERRUPTS();
	} while (state->hasher.tag != 0 &&
			 !cuckoo_hasher_is_current(&state->hasher) &&
			 (hashed++ == 0 || hash != before));
	if (!TupleDescAttr(RelationGetDescr(rel), 0)->attbyval ||
		state->hasher.hash_proc != NULL)
		MemoryContextReset(state->context);
	cuckoo_index_insert(rel, hash, ItemPointerGetBlockNumber(tid), true);

	/*
	 * PostgreSQL leaves this check to us (ampredlocks), because it would
	 * check too early.  A reader takes the predicate lock before it reads a
	 * page.  If it has read this page before our change, the check finds its
	 * lock.  If it reads the page later, it finds the entry.  Check even if
	 * the entry existed before: the reader may have looked for the value
	 * before the table had this row.
	 */
	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);
	return false;
}

/* Removes nothing: the index cannot know which row an entry belongs to. */
static IndexBulkDeleteResult *
cuckoo_bulk_delete(IndexVacuumInfo * info, IndexBulkDeleteResult * stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	return stats != NULL ? stats : palloc0(sizeof(IndexBulkDeleteResult));
}

/*
 * Recommends a rebuild in the server's log if a lookup reads more than one
 * block in vain.
 */
static void
advise_rebuild(IndexVacuumInfo * info, BlockNumber pages)
{
	BlockNumber blocks = cuckoo_table_blocks(info->index);
	const CuckooIndex *index = cuckoo_index_open(info->index);
	double		rate = cuckoo_false_blocks(&index->meta, blocks, pages);

	if (!cuckoo_index_locates(index) || rate <= 1)
		return;
	ereport(LOG,
			(errmsg("lookups in index \"%s\" read about %.0f blocks in vain",
					RelationGetRelationName(info->index), rate),
			 errhint("Rebuild the index with REINDEX INDEX CONCURRENTLY.")));
}

static IndexBulkDeleteResult *
cuckoo_vacuum_cleanup(IndexVacuumInfo * info, IndexBulkDeleteResult * stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = true;
	advise_rebuild(info, stats->num_pages);
	return stats;
}

/* True if a merge or hash join can use the operator, so it is an equality. */
static bool
is_equality(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	result = form->oprcanmerge || form->oprcanhash;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Checks that all operators of the family are equalities of strategy 1, and
 * that the operator class has one for its own type.
 */
static bool
cuckoo_validate_opclass(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	CatCList   *operators;
	bool		valid = true;
	bool		own = false;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(form->opcfamily));
	for (int i = 0; i < operators->n_members; i++)
	{
		HeapTuple	member = &operators->members[i]->tuple;
		Form_pg_amop op = (Form_pg_amop) GETSTRUCT(member);

		if (op->amopstrategy != 1 || op->amoppurpose != AMOP_SEARCH ||
			!is_equality(op->amopopr))
		{
			ereport(INFO,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator family of access method \"cuckoo\" contains an operator that is not an equality of strategy 1: %s",
							format_operator(op->amopopr))));
			valid = false;
		}
		own |= op->amoplefttype == form->opcintype &&
			op->amoprighttype == form->opcintype;
	}
	if (!own)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method \"cuckoo\" has no operator for its type",
						NameStr(form->opcname))));
		valid = false;
	}
	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	return valid;
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = 1,
	/* readers lock the index; cuckoo_insert_tuple() checks for conflicts */
	.ampredlocks = true,
	.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
	.amkeytype = InvalidOid,
	.ambuild = cuckoo_build_index,
	.ambuildempty = cuckoo_build_empty,
	.aminsert = cuckoo_insert_tuple,
	.ambulkdelete = cuckoo_bulk_delete,
	.amvacuumcleanup = cuckoo_vacuum_cleanup,
	.amcostestimate = cuckoo_scan_cost,
	.amoptions = cuckoo_parse_options,
	.amvalidate = cuckoo_validate_opclass,
	.ambeginscan = cuckoo_scan_begin,
	.amrescan = cuckoo_scan_restart,
	.amgetbitmap = cuckoo_scan_bitmap,
	.amendscan = cuckoo_scan_end
};

Datum
cuckoo_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CUCKOO_INDEX_ROUTINE(routine));
}

void
cuckoo_index_init(void)
{
	define_options();
}
