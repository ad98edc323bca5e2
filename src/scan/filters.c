/*-------------------------------------------------------------------------
 *
 * scan/filters.c
 *		The filters of a scan's test: evaluating, opening and probing them.
 *
 * A test may have an array of filters.  It is true if any filter contains the
 * element.  A filter is probed only for rows that the filters before it do not
 * contain.  Results and errors are the same as if the test's function were
 * called for each row.
 *
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"
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
	CuckooOpenFilter open;		/* zero if it is not open */
};

void
cuckoo_init_filters(CuckooScanFilters *set, CuckooTest *test,
					EState *estate)
{
	set->test = test;
	/* no parent, so JIT skips it: it is evaluated once a scan */
	set->expression = ExecInitExprWithParams(test->filter,
											 estate->es_param_list_info);
	set->memory = AllocSetContextCreate(estate->es_query_cxt,
										"CuckooScan filters",
										ALLOCSET_SMALL_SIZES);
}

/* Makes room for n filters, each with a separate call site. */
static void
reserve(CuckooScanFilters *set, int n)
{
	MemoryContext query = MemoryContextGetParent(set->memory);
	MemoryContext caller = MemoryContextSwitchTo(query);

	/* no overflow: an array has at most 1 GB, and a filter at least 40 bytes */
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

	set->all_empty = true;
	for (int i = 0; i < set->count; i++)
	{
		CuckooOpenFilter *open = &set->filters[i].open;

		CHECK_FOR_INTERRUPTS();
		if (open->image == NULL)
			cuckoo_open_filter(open, set->filters[i].call,
							   set->test->filter_no, probes);
		set->hasher = open->hasher;
		if (open->image == NULL || !open->of_family)
			phase = CUCKOO_FILTERS_BY_ROW;
		else if (open->header->items == 0)
			continue;
		else if (set->all_empty)
		{
			set->all_empty = false;
			set->seed = open->header->seed;
		}
		else if (open->header->seed != set->seed)
			phase = CUCKOO_FILTERS_BY_ROW;
	}
	set->phase = phase;
	MemoryContextSwitchTo(caller);
}

void
cuckoo_close_filters(CuckooScanFilters *set)
{
	for (int i = 0; i < set->count; i++)
		memset(&set->filters[i].open, 0, sizeof(CuckooOpenFilter));
	set->phase = CUCKOO_FILTERS_CLOSED;
}

void
cuckoo_count_filters(const CuckooScanFilters *set, uint64 *counts)
{
	if (set->phase < CUCKOO_FILTERS_BY_ROW)
		return;
	for (int i = 0; i < set->count; i++)
	{
		const CuckooOpenFilter *open = &set->filters[i].open;

		if (open->fetched)
			counts[CUCKOO_FILTERS_FETCHED]++;
		else if (open->image != NULL)
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
cuckoo_probe_batch(CuckooScanFilters *set, uint64 *hashes, int n, bool *found)
{
	int			rows[MaxHeapTuplesPerPage]; /* of the hashes that are left */
	bool		buffer[MaxHeapTuplesPerPage];
	bool	   *contained = set->count == 1 ? found : buffer;

	Assert(n <= MaxHeapTuplesPerPage);
	memset(found, 0, n * sizeof(bool));
	for (int i = 0; i < n; i++)
		rows[i] = i;
	for (int i = 0; i < set->count && n > 0 && !set->all_empty; i++)
	{
		const CuckooScanFilter *filter = &set->filters[i];
		int			left = 0;

		CHECK_FOR_INTERRUPTS();
		if (!filter->open.fetched && filter->open.header->items == 0)
			continue;
		cuckoo_probe_hashes(&filter->open, filter->call, set->test->filter_no,
							hashes, n, contained);
		/* the next filter is probed for the hashes that are left */
		for (int j = 0; j < n && contained != found; j++)
		{
			found[rows[j]] = contained[j];
			rows[left] = rows[j];
			hashes[left] = hashes[j];
			left += !contained[j];
		}
		n = left;
	}
}
