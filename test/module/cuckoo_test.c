/*-------------------------------------------------------------------------
 *
 * cuckoo_test.c
 *		What other extensions do with ours: run an aggregate as a distributed
 *		engine does, keep a call site after an error, keep rows in another
 *		place than their table, and plan with an index that does not exist.
 *
 * It has the support functions of two aggregates, modeled on those that Citus
 * installs on its nodes:
 *
 *	test_partial_agg(aggregate oid, value)
 *		The text of the state that the aggregate has after all values.  For an
 *		aggregate of several arguments the value is a row of them.
 *	test_combine_agg(aggregate oid, state cstring, NULL::result_type)
 *		The result of the aggregate for the states of several calls of the
 *		former.
 *
 * The functions of the aggregate are called through an FmgrInfo that is new
 * for every row: without a call expression, and without the memory in fn_extra.
 * States are copied and freed by the rules of nodeAgg.c.  Its rules for strict
 * functions hold as well.
 *
 *	test_errors(filter, element, function oid)
 *		How many of three calls function(filter, element) through one FmgrInfo
 *		are errors.
 *
 *	test_claim(state, count bigint)
 *		The state, in memory, which claims to hold so many hashes, all sorted.
 *
 *	test_serialize(internal)
 *		A serialization function whose bytes are those of no state.
 *
 * If this module is loaded before ours, the planner has no scan of a table
 * named "elsewhere" but one of the module's own.  That is like a compressed
 * chunk in TimescaleDB.
 *
 * To the planner, indexes named "hypothetical" have no file and no OID.  That is
 * like an index of HypoPG.
 *
 *	test_table_am(internal)
 *		The handler of an access method for tables that is not heap, although
 *		it does all that heap does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_aggregate.h"
#include "commands/explain.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/pathnodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "agg/agg.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(test_partial_agg_sfunc);
PG_FUNCTION_INFO_V1(test_partial_agg_ffunc);
PG_FUNCTION_INFO_V1(test_combine_agg_sfunc);
PG_FUNCTION_INFO_V1(test_combine_agg_ffunc);
PG_FUNCTION_INFO_V1(test_errors);

PG_FUNCTION_INFO_V1(test_claim);
PG_FUNCTION_INFO_V1(test_serialize);
PG_FUNCTION_INFO_V1(test_table_am);

#define MAX_ARGS	8

/* The state of both aggregates: the state of the one they run, and its type. */
typedef struct Box
{
	Oid			transfn;
	Oid			combinefn;
	Oid			finalfn;
	Oid			type;
	int16		len;
	bool		byval;
	NullableDatum value;
} Box;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "not called as an aggregate");
	return context;
}

/* The box of a call, made by the first one.  Its state is null at first. */
static Box *
get_box(FunctionCallInfo fcinfo)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;
	Box		   *box;

	if (!PG_ARGISNULL(0))
		return (Box *) PG_GETARG_POINTER(0);

	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "no aggregate %u", PG_GETARG_OID(1));
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	if (form->aggtranstype == INTERNALOID || !OidIsValid(form->aggcombinefn))
		elog(ERROR, "aggregate %u cannot be distributed", PG_GETARG_OID(1));
	box = MemoryContextAllocZero(aggregate_context(fcinfo), sizeof(Box));
	box->transfn = form->aggtransfn;
	box->combinefn = form->aggcombinefn;
	box->finalfn = form->aggfinalfn;
	box->type = form->aggtranstype;
	box->value.isnull = true;
	get_typlenbyval(box->type, &box->len, &box->byval);
	ReleaseSysCache(tuple);
	return box;
}

/* Calls a function through a new FmgrInfo, in the outer call's context. */
static NullableDatum
call(FunctionCallInfo fcinfo, Oid function, int nargs, const NullableDatum *args)
{
	LOCAL_FCINFO(inner, MAX_ARGS);
	FmgrInfo	info;
	NullableDatum result;

	fmgr_info(function, &info);
	InitFunctionCallInfoData(*inner, &info, nargs, fcinfo->fncollation,
							 fcinfo->context, fcinfo->resultinfo);
	memcpy(inner->args, args, nargs * sizeof(NullableDatum));
	result.value = FunctionCallInvoke(inner);
	result.isnull = inner->isnull;
	return result;
}

/* Lets a transition or combine function, whose state is args[0], advance. */
static void
advance(FunctionCallInfo fcinfo, Box *box, Oid function, int nargs,
		NullableDatum *args)
{
	bool		strict = func_strict(function);
	NullableDatum new;

	for (int i = 1; strict && i < nargs; i++)
		if (args[i].isnull)
			return;
	args[0] = box->value;
	/* the first value becomes the state */
	new = strict && box->value.isnull ? args[1] :
		call(fcinfo, function, nargs, args);
	if (!box->byval &&
		DatumGetPointer(new.value) != DatumGetPointer(box->value.value))
	{
		if (!new.isnull)
		{
			MemoryContext context = aggregate_context(fcinfo);

			if (!(DatumIsReadWriteExpandedObject(new.value, false, box->len) &&
				  MemoryContextGetParent(DatumGetEOHP(new.value)->eoh_context) == context))
			{
				MemoryContext caller = MemoryContextSwitchTo(context);

				new.value = datumCopy(new.value, box->byval, box->len);
				MemoryContextSwitchTo(caller);
			}
		}
		if (!box->value.isnull)
		{
			if (DatumIsReadWriteExpandedObject(box->value.value, false, box->len))
				DeleteExpandedObject(box->value.value);
			else
				pfree(DatumGetPointer(box->value.value));
		}
	}
	box->value = new;
}

/* test_partial_agg_sfunc(internal, oid, anyelement) */
Datum
test_partial_agg_sfunc(PG_FUNCTION_ARGS)
{
	Box		   *box = get_box(fcinfo);
	NullableDatum args[MAX_ARGS];
	int			nargs = 2;

	args[1] = fcinfo->args[2];
	if (get_fn_expr_argtype(fcinfo->flinfo, 2) == RECORDOID)
	{
		HeapTupleHeader row = PG_GETARG_HEAPTUPLEHEADER(2);

		nargs = HeapTupleHeaderGetNatts(row) + 1;
		if (nargs > MAX_ARGS)
			elog(ERROR, "too many arguments");
		for (int i = 1; i < nargs; i++)
			args[i].value = GetAttributeByNum(row, i, &args[i].isnull);
	}
	advance(fcinfo, box, box->transfn, nargs, args);
	PG_RETURN_POINTER(box);
}

/* test_partial_agg_ffunc(internal) */
Datum
test_partial_agg_ffunc(PG_FUNCTION_ARGS)
{
	Box		   *box = (Box *) PG_GETARG_POINTER(0);
	Oid			output;
	bool		is_varlena;

	if (PG_ARGISNULL(0) || box->value.isnull)
		PG_RETURN_NULL();
	getTypeOutputInfo(box->type, &output, &is_varlena);
	PG_RETURN_DATUM(call(fcinfo, output, 1, &box->value).value);
}

/* test_combine_agg_sfunc(internal, oid, cstring, anyelement) */
Datum
test_combine_agg_sfunc(PG_FUNCTION_ARGS)
{
	Box		   *box = get_box(fcinfo);
	NullableDatum args[2] = {{0}};

	args[1].isnull = PG_ARGISNULL(2);
	if (!args[1].isnull)
	{
		NullableDatum input[3] = {{0}};
		Oid			function,
					ioparam;

		getTypeInputInfo(box->type, &function, &ioparam);
		input[0] = fcinfo->args[2];
		input[1].value = ObjectIdGetDatum(ioparam);
		input[2].value = Int32GetDatum(-1);
		args[1] = call(fcinfo, function, 3, input);
	}
	advance(fcinfo, box, box->combinefn, 2, args);
	PG_RETURN_POINTER(box);
}

/* test_combine_agg_ffunc(internal, oid, cstring, anyelement) */
Datum
test_combine_agg_ffunc(PG_FUNCTION_ARGS)
{
	Box		   *box = (Box *) PG_GETARG_POINTER(0);
	NullableDatum result;

	if (PG_ARGISNULL(0) || (box->value.isnull && func_strict(box->finalfn)))
		PG_RETURN_NULL();
	result = call(fcinfo, box->finalfn, 1, &box->value);
	fcinfo->isnull = result.isnull;
	return result.value;
}

/* test_errors(cuckoofilter, anyelement, oid) */
Datum
test_errors(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, 2);
	FmgrInfo	info;
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile int errors = 0;

	fmgr_info(PG_GETARG_OID(2), &info);
	/* where the type of the element is to be found */
	info.fn_expr = fcinfo->flinfo->fn_expr;
	InitFunctionCallInfoData(*inner, &info, 2, PG_GET_COLLATION(), NULL, NULL);
	inner->args[0] = fcinfo->args[0];
	inner->args[1] = fcinfo->args[1];
	for (int i = 0; i < 3; i++)
	{
		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(context);
		PG_TRY();
		{
			(void) FunctionCallInvoke(inner);
			ReleaseCurrentSubTransaction();
		}
		PG_CATCH();
		{
			MemoryContextSwitchTo(context);
			FlushErrorState();
			RollbackAndReleaseCurrentSubTransaction();
			errors++;
		}
		PG_END_TRY();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_RETURN_INT32(errors);
}

/* test_claim(state, count bigint): for what comes next to be refused */
Datum
test_claim(PG_FUNCTION_ARGS)
{
	CuckooExpandedState *state;

	if (!VARATT_IS_EXTERNAL_EXPANDED(PG_GETARG_POINTER(0)))
		elog(ERROR, "not a state in memory");
	state = (CuckooExpandedState *) DatumGetEOHP(PG_GETARG_DATUM(0));
	state->count = state->sorted = state->room = PG_GETARG_INT64(1);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->hdr));
}

/* test_serialize(internal) */
Datum
test_serialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = palloc0(VARHDRSZ + 40);

	SET_VARSIZE(bytes, VARHDRSZ + 40);
	PG_RETURN_BYTEA_P(bytes);
}

static set_rel_pathlist_hook_type next_paths;

static void
replace_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Path	   *path;

	if (next_paths != NULL)
		next_paths(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION ||
		strcmp(get_rel_name(rte->relid), "elsewhere") != 0)
		return;
	path = (Path *) create_group_result_path(root, rel, rel->reltarget, NIL);
	path->total_cost = 1e9;
	rel->pathlist = list_make1(path);
	rel->partial_pathlist = NIL;
}

static void
hide_indexes(RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (strcmp(get_rel_name(index->indexoid), "hypothetical") != 0)
			continue;
		index->hypothetical = true;
		index->indexoid = InvalidOid;
	}
}

/* 19 has the hook in another place. */
#if PG_VERSION_NUM >= 190000
static void
change_relation(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	hide_indexes(rel);
}
#else
static void
change_relation(PlannerInfo *root, Oid table, bool parent, RelOptInfo *rel)
{
	hide_indexes(rel);
}
#endif

static const char *
name_of_hidden(Oid index)
{
	return OidIsValid(index) ? NULL : "hypothetical";
}

/* test_table_am(internal) */
Datum
test_table_am(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	PG_RETURN_POINTER(&routine);
}

void
_PG_init(void)
{
	next_paths = set_rel_pathlist_hook;
	set_rel_pathlist_hook = replace_paths;
#if PG_VERSION_NUM >= 190000
	build_simple_rel_hook = change_relation;
#else
	get_relation_info_hook = change_relation;
#endif
	explain_get_index_name_hook = name_of_hidden;
}
