/*-------------------------------------------------------------------------
 *
 * cuckoo_scan_filters.c
 *		The filters of a scan's test: where they come from, and asking them.
 *
 * A test may have several filters: those of an array or of a sub-plan.  It is
 * true if one of them contains the element.  Each filter is probed only for the
 * rows that no filter before it contains.
 *
 * The answers are those of the function calls that the test replaces.  So are
 * the errors, which come for the same row.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_scan.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* A filter of the test, and the call that asks it. */
struct CuckooScanFilter
{
	FunctionCallInfo call;		/* of the test, with a call site of its own */
	CuckooSite	site;			/* zero if not open */
};

bool
cuckoo_computes_filters(Node *test)
{
	List	   *arguments = NIL;
	ListCell   *cell;

	if (is_notclause(test))
		test = (Node *) get_notclausearg((Expr *) test);
	if (IsA(test, FuncExpr))
		arguments = ((FuncExpr *) test)->args;
	else if (IsA(test, OpExpr))
		arguments = ((OpExpr *) test)->args;

	/* the other argument, the element, depends on the row */
	foreach(cell, arguments)
	{
		if (IsA(lfirst(cell), Const) || IsA(lfirst(cell), Param))
			return false;
	}
	return true;
}

void
cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
					EState *estate, PlanState *rows, int column)
{
	set->test = test;
	set->rows = rows;
	set->column = column;
	if (rows == NULL)
		/* without a parent it is not compiled; it is evaluated once a scan */
		set->expression = ExecInitExprWithParams(test->filter,
												 estate->es_param_list_info);
	set->query_memory = estate->es_query_cxt;
	set->memory = AllocSetContextCreate(estate->es_query_cxt,
										"CuckooScan filters",
										ALLOCSET_SMALL_SIZES);
}

/* Adds a filter whose value is in set->memory. */
static void
add_filter(CuckooScanFilters *set, Datum value, bool isnull)
{
	MemoryContext caller = MemoryContextSwitchTo(set->query_memory);
	CuckooScanFilter *filter;

	if (set->count == set->room)
	{
		int			room = Max(2 * set->room, 1);
		Size		size = room * sizeof(CuckooScanFilter);

		set->filters = set->filters == NULL ? palloc(size) :
			repalloc(set->filters, size);
		memset(set->filters + set->room, 0,
			   (room - set->room) * sizeof(CuckooScanFilter));
		set->room = room;
	}
	filter = &set->filters[set->count++];
	if (filter->call == NULL)
	{
		FmgrInfo   *function = palloc(sizeof(FmgrInfo));

		fmgr_info_copy(function, &set->test->info, CurrentMemoryContext);
		fmgr_info_set_expr(set->test->call, function);
		filter->call = palloc0(SizeForFunctionCallInfo(2));
		InitFunctionCallInfoData(*filter->call, function, 2,
								 set->test->collation, NULL, NULL);
	}
	filter->call->args[set->test->filter_no].value = value;
	filter->call->args[set->test->filter_no].isnull = isnull;
	MemoryContextSwitchTo(caller);
}

/* Adds the filters of an array. */
static void
add_array(CuckooScanFilters *set, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		add_filter(set, values[i], nulls[i]);
}

/* Adds the filters that the sub-plan gives. */
static void
add_rows(CuckooScanFilters *set)
{
	for (;;)
	{
		TupleTableSlot *row = ExecProcNode(set->rows);
		Datum		value;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(row))
			break;
		value = slot_getattr(row, set->column, &isnull);
		if (!isnull)
		{
			MemoryContext caller = MemoryContextSwitchTo(set->memory);

			/* a TOASTed value stays TOASTed */
			value = datumCopy(value, false, -1);
			MemoryContextSwitchTo(caller);
		}
		add_filter(set, value, isnull);
	}
}

/* Adds the filter of the expression, or those of its array. */
static void
add_values(CuckooScanFilters *set, ExprContext *econtext)
{
	MemoryContext caller = MemoryContextSwitchTo(set->memory);
	bool		isnull;
	Datum		value = ExecEvalExpr(set->expression, econtext, &isnull);

	if (!set->test->any)
		add_filter(set, value, isnull);
	else if (!isnull)
		add_array(set, value);
	MemoryContextSwitchTo(caller);
}

void
cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext)
{
	set->evaluated = true;
	if (set->rows != NULL)
		add_rows(set);
	else
		add_values(set, econtext);
	set->none = set->count == 0 ||
		(set->count == 1 &&
		 set->filters[0].call->args[set->test->filter_no].isnull);
}

void
cuckoo_open_filters(CuckooScanFilters *set, uint32 probes)
{
	MemoryContext caller = MemoryContextSwitchTo(set->memory);

	set->opened = set->together = true;
	set->first = NULL;
	for (int i = 0; i < set->count; i++)
	{
		FunctionCallInfo call = set->filters[i].call;
		CuckooSite *site = &set->filters[i].site;

		if (call->args[set->test->filter_no].isnull)
			continue;
		if (site->image == NULL)
			cuckoo_open_site(site, call, set->test->filter_no, probes);
		set->hasher = site->hasher;
		if (site->image == NULL || !site->fits)
			set->together = false;
		else if (site->header->items == 0)
			continue;
		else if (set->first == NULL)
			set->first = site;
		else if (site->header->seed != set->first->header->seed)
			set->together = false;
	}
	MemoryContextSwitchTo(caller);
}

void
cuckoo_close_filters(CuckooScanFilters *set)
{
	for (int i = 0; i < set->count; i++)
		cuckoo_close_site(&set->filters[i].site);
	set->first = NULL;
	set->hasher = NULL;
	set->opened = set->together = false;
}

void
cuckoo_forget_filters(CuckooScanFilters *set)
{
	cuckoo_close_filters(set);
	set->count = 0;
	set->evaluated = false;
	MemoryContextReset(set->memory);
}

bool
cuckoo_ask_one_by_one(CuckooScanFilters *set, Datum element)
{
	for (int i = 0; i < set->count; i++)
	{
		FunctionCallInfo call = set->filters[i].call;

		call->args[1 - set->test->filter_no].value = element;
		if (!call->args[set->test->filter_no].isnull &&
			DatumGetBool(FunctionCallInvoke(call)))
			return true;
	}
	return false;
}

void
cuckoo_ask_together(const CuckooScanFilters *set, const uint64 *hashes, int n,
					bool *found)
{
	const CuckooSite *first = set->first;

	/* the elements that no filter so far contains: */
	uint64		left_hashes[CUCKOO_BATCH_ROWS];
	int			left[CUCKOO_BATCH_ROWS];
	bool		left_found[CUCKOO_BATCH_ROWS];

	Assert(n <= CUCKOO_BATCH_ROWS);
	if (first == NULL)
	{
		memset(found, 0, n * sizeof(bool));
		return;
	}
	if (n == 1)
		found[0] = cuckoo_contains(first->header, first->image, hashes[0]);
	else
		cuckoo_contains_batch(first->header, first->image, hashes, n, found);
	for (int i = 0; i < set->count; i++)
	{
		const CuckooSite *site = &set->filters[i].site;
		int			left_count = 0;

		if (site == first || site->image == NULL || site->header->items == 0)
			continue;
		for (int row = 0; row < n; row++)
			if (!found[row])
			{
				left_hashes[left_count] = hashes[row];
				left[left_count++] = row;
			}
		if (left_count == 0)
			break;
		cuckoo_contains_batch(site->header, site->image, left_hashes,
							  left_count, left_found);
		for (int j = 0; j < left_count; j++)
			found[left[j]] = left_found[j];
	}
}
