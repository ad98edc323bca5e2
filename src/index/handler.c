/*-------------------------------------------------------------------------
 *
 * index/handler.c
 *		The access method "cuckoo": its routine, its option, and inserts.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/reloptions.h"
#include "commands/vacuum.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoo_handler);

/* ---- the option ---- */

static relopt_kind options_kind;

void
cuckoo_index_init(void)
{
	options_kind = add_reloption_kind();
	add_int_reloption(options_kind, "fillfactor",
					  "Percentage of the slots that a build fills",
					  CUCKOO_DEFAULT_FILLFACTOR, 10, 100,
					  ShareUpdateExclusiveLock);
}

static bytea *
cuckoo_parse_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{
			.optname = "fillfactor",
			.opttype = RELOPT_TYPE_INT,
			.offset = offsetof(CuckooOptions, fillfactor)
		}
	};

	return build_reloptions(reloptions, validate, options_kind,
							sizeof(CuckooOptions), elements,
							lengthof(elements));
}

/* ---- inserts ---- */

/* Kept for all rows of a statement. */
typedef struct InsertState
{
	MemoryContext context;		/* reset for each row */
	CuckooUnique *unique;		/* or NULL */
} InsertState;

static InsertState *
insert_state(Relation rel, Relation heap, IndexInfo *info)
{
	InsertState *state = info->ii_AmCache;
	MemoryContext caller;

	if (likely(state != NULL))
		return state;
	cuckoo_check_equality(rel);
	caller = MemoryContextSwitchTo(info->ii_Context);
	state = palloc0(sizeof(InsertState));
	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "cuckoo insert",
										   ALLOCSET_SMALL_SIZES);
	if (rel->rd_index->indisunique)
		state->unique = cuckoo_unique_begin(heap, rel);
	MemoryContextSwitchTo(caller);
	info->ii_AmCache = state;
	return state;
}

static bool
/* NOLINTNEXTLINE(readability-non-const-parameter): PostgreSQL's type */
cuckoo_insert_tuple(Relation rel, Datum *values, bool *isnull, ItemPointer tid,
					Relation heap, IndexUniqueCheck check, bool unchanged,
					IndexInfo *info)
{
	InsertState *state = insert_state(rel, heap, info);
	const CuckooIndex *index = cuckoo_index_open(rel);
	MemoryContext caller;
	uint64		hash;
	bool		is_unique = true;

	if (cuckoo_has_null(rel, isnull))
		return true;
	hash = cuckoo_hash_row(rel, state->context, index->seed, index->hash_bits,
						   NULL, values);
	caller = MemoryContextSwitchTo(state->context);
	if (check == UNIQUE_CHECK_NO)
		cuckoo_index_insert(rel, hash, tid, NULL);
	else
		is_unique = cuckoo_unique_insert(state->unique, hash, values, tid,
										 check);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(state->context);
	return is_unique;
}

/* ---- the routine ---- */

#ifdef CUCKOO_COMPARE_TYPES
static CompareType
cuckoo_translate_strategy(StrategyNumber strategy, Oid family)
{
	return strategy == CUCKOO_EQUAL ? COMPARE_EQ : COMPARE_INVALID;
}

static StrategyNumber
cuckoo_translate_compare_type(CompareType type, Oid family)
{
	return type == COMPARE_EQ ? CUCKOO_EQUAL : InvalidStrategy;
}
#endif

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = CUCKOO_EQUAL,
	.amsupport = CUCKOO_HASH_PROC,
	CUCKOO_UNIQUE_ROUTINE
	.amcanmulticol = true,
	/* scans and inserts lock pages */
	.ampredlocks = true,
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
	.amkeytype = InvalidOid,
	.ambuild = cuckoo_build_index,
	.ambuildempty = cuckoo_build_empty,
	.aminsert = cuckoo_insert_tuple,
	.ambulkdelete = cuckoo_vacuum,
	.amvacuumcleanup = cuckoo_cleanup,
	.amcostestimate = cuckoo_scan_cost,
	.ambuildphasename = cuckoo_build_phase,
	.amoptions = cuckoo_parse_options,
	.amvalidate = cuckoo_validate_opclass,
	.amadjustmembers = cuckoo_adjust_members,
	.ambeginscan = cuckoo_scan_begin,
	.amrescan = cuckoo_scan_restart,
	.amgettuple = cuckoo_scan_next,
	.amgetbitmap = cuckoo_scan_bitmap,
	.amendscan = cuckoo_scan_end
};

Datum
cuckoo_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CUCKOO_INDEX_ROUTINE(routine));
}
