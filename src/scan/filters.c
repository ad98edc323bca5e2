/*-------------------------------------------------------------------------
 *
 * scan/filters.c
 *		The filters of a scan's test: where they come from, and probing them.
 *
 * A test may have several filters: those of an array.  It is true if one of
 * them contains the element, and each filter is probed only for the rows that
 * no filter before it contains.  The answers are those of the function calls
 * that the test replaces, and so are the errors, which come for the same row.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/filters.h"
#include "element/element.h"
#include "filter/filter.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

struct CuckooScanFilter
{
	FunctionCallInfo call;		/* of the test's function */
	CuckooOpenFilter site;		/* zero if not open */
};

void
cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
					EState *estate)
{
	set->test = test;
	/* without a parent it is not compiled; it is evaluated once a scan */
	set->expression = ExecInitExprWithParams(test->filter,
											 estate->es_param_list_info);
	set->memory = AllocSetContextCreate(estate->es_query_cxt,
										"CuckooScan filters",
										ALLOCSET_SMALL_SIZES);
}

/* Makes room for n filters, each with a call site of its own. */
static void
reserve(CuckooScanFilters *set, int n)
{
	MemoryContext query = MemoryContextGetParent(set->memory);
	MemoryContext caller = MemoryContextSwitchTo(query);

	/* no overflow: each has 40 bytes and more in an array of up to 1 GB */
	Size		size = n * sizeof(CuckooScanFilter);

	if (n > set->room)
		set->filters = set->filters == NULL ? palloc(size) :
			repalloc(set->filters, size);
	for (; set->room < n; set->room++)
	{
		FmgrInfo   *function = palloc(sizeof(FmgrInfo));
		FunctionCallInfo call = palloc0(SizeForFunctionCallInfo(2));

		CHECK_FOR_INTERRUPTS();
		fmgr_info_copy(function, &set->test->info, CurrentMemoryContext);
		fmgr_info_set_expr(set->test->call, function);
		InitFunctionCallInfoData(*call, function, 2,
								 exprInputCollation(set->test->call),
								 NULL, NULL);
		memset(&set->filters[set->room], 0, sizeof(CuckooScanFilter));
		set->filters[set->room].call = call;
	}
	MemoryContextSwitchTo(caller);
}

void
cuckoo_eval_filters(CuckooScanFilters *set, ExprContext *econtext)
{
	MemoryContext caller = MemoryContextSwitchTo(set->memory);
	bool		isnull;
	Datum		value = ExecEvalExpr(set->expression, econtext, &isnull);
	Datum	   *values = &value;
	bool	   *nulls = &isnull;
	int			n = 1;
	int			kept = 0;

	if (set->test->any && !isnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(value);

		deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT,
						  &values, &nulls, &n);
	}
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			values[kept++] = values[i];
	reserve(set, kept);
	for (int i = 0; i < kept; i++)
		set->filters[i].call->args[set->test->filter_no].value = values[i];
	set->count = kept;
	set->phase = CUCKOO_FILTERS_CLOSED;
	MemoryContextSwitchTo(caller);
}

void
cuckoo_open_filters(CuckooScanFilters *set, uint32 probes)
{
	MemoryContext caller = MemoryContextSwitchTo(set->memory);
	CuckooFiltersPhase phase = CUCKOO_FILTERS_BY_BATCH;

	set->first = NULL;
	for (int i = 0; i < set->count; i++)
	{
		FunctionCallInfo call = set->filters[i].call;
		CuckooOpenFilter *site = &set->filters[i].site;

		CHECK_FOR_INTERRUPTS();
		if (site->image == NULL)
			cuckoo_open_filter(site, call, set->test->filter_no, probes);
		set->hasher = site->hasher;
		if (site->image == NULL || !site->fits)
			phase = CUCKOO_FILTERS_BY_ROW;
		else if (site->header->items == 0)
			continue;
		else if (set->first == NULL)
			set->first = site;
		else if (site->header->seed != set->first->header->seed)
			phase = CUCKOO_FILTERS_BY_ROW;
	}
	set->phase = phase;
	MemoryContextSwitchTo(caller);
}

void
cuckoo_close_filters(CuckooScanFilters *set)
{
	for (int i = 0; i < set->count; i++)
		cuckoo_close_filter(&set->filters[i].site);
	set->phase = CUCKOO_FILTERS_CLOSED;
}

void
cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts)
{
	if (set->phase < CUCKOO_FILTERS_BY_ROW)
		return;
	for (int i = 0; i < set->count; i++)
	{
		const CuckooOpenFilter *site = &set->filters[i].site;

		if (site->stored != NULL)
			counts[CUCKOO_FILTERS_FETCHED]++;
		else if (site->image != NULL)
			counts[CUCKOO_FILTERS_IN_MEMORY]++;
		else
			counts[CUCKOO_FILTERS_SLICED]++;
	}
}

void
cuckoo_forget_filters(CuckooScanFilters *set, uint64 *counts)
{
	cuckoo_count_filters(set, counts);
	cuckoo_close_filters(set);
	set->count = 0;
	set->phase = CUCKOO_FILTERS_UNKNOWN;
	MemoryContextReset(set->memory);
}

bool
cuckoo_probe_row(CuckooScanFilters *set, Datum element)
{
	for (int i = 0; i < set->count; i++)
	{
		FunctionCallInfo call = set->filters[i].call;

		call->args[1 - set->test->filter_no].value = element;
		if (DatumGetBool(FunctionCallInvoke(call)))
			return true;
	}
	return false;
}

void
cuckoo_probe_batch(const CuckooScanFilters *set, const uint64 *hashes, int n,
				   bool *found)
{
	const CuckooOpenFilter *first = set->first;

	/* of the elements that no filter so far contains: */
	uint64		left_hashes[MaxHeapTuplesPerPage];
	int			left[MaxHeapTuplesPerPage];
	bool		left_found[MaxHeapTuplesPerPage];

	Assert(n <= MaxHeapTuplesPerPage);
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
		const CuckooOpenFilter *site = &set->filters[i].site;
		int			left_count = 0;

		CHECK_FOR_INTERRUPTS();
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
