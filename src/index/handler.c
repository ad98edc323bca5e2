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
cuckoo_amoptions(Datum reloptions, bool validate)
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
cuckoo_aminsert(Relation rel, Datum *values, bool *isnull, ItemPointer tid,
				Relation heap, IndexUniqueCheck check, bool unchanged,
				IndexInfo *info)
{
	InsertState *state = insert_state(rel, heap, info);
	CuckooHashing hashing = cuckoo_hashing(rel);
	MemoryContext caller;
	uint64		hash;
	bool		is_unique = true;

	if (cuckoo_has_null(rel, isnull))
		return true;
	hash = cuckoo_hash_row(rel, state->context, hashing.seed,
						   hashing.hash_bits, NULL, values);
	caller = MemoryContextSwitchTo(state->context);
	if (check == UNIQUE_CHECK_NO)
		cuckoo_insert_row(rel, hash, tid);
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
cuckoo_amtranslatestrategy(StrategyNumber strategy, Oid family)
{
	return strategy == CUCKOO_EQUAL ? COMPARE_EQ : COMPARE_INVALID;
}

static StrategyNumber
cuckoo_amtranslatecmptype(CompareType type, Oid family)
{
	return type == COMPARE_EQ ? CUCKOO_EQUAL : InvalidStrategy;
}
#endif

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = CUCKOO_EQUAL,
	.amsupport = CUCKOO_HASH_PROC,
#ifdef CUCKOO_COMPARE_TYPES
	.amcanunique = true,
	.amconsistentequality = true,
	.amtranslatestrategy = cuckoo_amtranslatestrategy,
	.amtranslatecmptype = cuckoo_amtranslatecmptype,
#endif
	.amcanmulticol = true,
	/* scans and inserts lock pages */
	.ampredlocks = true,
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
	.amkeytype = InvalidOid,
	.ambuild = cuckoo_ambuild,
	.ambuildempty = cuckoo_ambuildempty,
	.aminsert = cuckoo_aminsert,
	.ambulkdelete = cuckoo_ambulkdelete,
	.amvacuumcleanup = cuckoo_amcleanup,
	.amcostestimate = cuckoo_amcostestimate,
	.ambuildphasename = cuckoo_ambuildphasename,
	.amoptions = cuckoo_amoptions,
	.amvalidate = cuckoo_amvalidate,
	.amadjustmembers = cuckoo_amadjustmembers,
	.ambeginscan = cuckoo_ambeginscan,
	.amrescan = cuckoo_amrescan,
	.amgettuple = cuckoo_amgettuple,
	.amgetbitmap = cuckoo_amgetbitmap,
	.amendscan = cuckoo_amendscan
};

Datum
cuckoo_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CUCKOO_INDEX_ROUTINE(routine));
}
