/*-------------------------------------------------------------------------
 *
 * planner/estimate.c
 *		The selectivity of membership tests.
 *
 * The source of the filter decides what is known:
 *
 *	a constant, a parameter of a custom plan
 *		The column's most common values are looked up in the filter.  Other
 *		values have two estimates of the share that the filter contains:
 *		(1) items / distinct values.  Like the estimates of joins, this assumes
 *		that all items are values of the column, so it is an upper limit.
 *		(2) the share of the values in the histogram that the filter contains.
 *		It varies with the sample, so it is used only if it contradicts (1).
 *		If the number of distinct values is a guess, (1) only limits the
 *		default.
 *	an aggregate in an InitPlan
 *		The number of items is the number of input rows.
 *	any other, such as a column of a table
 *		A test and its negation are each expected to pass half of the rows.
 *
 * The planner derives the estimates of NOT, IS NOT TRUE and similar tests.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"
#include "filter/filter.h"
#include "planner/planner.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include <math.h>

/* The share of the non-null rows that an unknown filter contains. */
#define DEFAULT_CONTAINS_SEL	0.5

/* The known properties of a filter at plan time. */
typedef struct KnownFilter
{
	double		items;
	double		fpp;
	const uint8 *image;			/* NULL if it is not in memory */
	CuckooHeader header;		/* valid with the image */
} KnownFilter;

bool
cuckoo_is_filter_type(Oid type)
{
	Oid			input;
	Oid			param;
	FmgrInfo	info;

	getTypeInputInfo(type, &input, &param);
	fmgr_info(input, &info);
	return info.fn_addr == cuckoofilter_in;
}

/* The InitPlan that sets a parameter, of this or an outer query, or NULL. */
static Plan *
init_plan(PlannerInfo *root, int paramid)
{
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *cell;

		foreach(cell, root->init_plans)
		{
			SubPlan    *subplan = lfirst_node(SubPlan, cell);

			if (list_member_int(subplan->setParam, paramid))
				return list_nth(root->glob->subplans, subplan->plan_id - 1);
		}
	}
	return NULL;
}

/* True if the plan aggregates elements, not filters, to a filter. */
static bool
aggregates_elements(const Plan *plan, Oid filter_type)
{
	ListCell   *cell;

	foreach(cell, plan->targetlist)
	{
		Aggref	   *aggref = (Aggref *) lfirst_node(TargetEntry, cell)->expr;

		if (IsA(aggref, Aggref) && aggref->aggtype == filter_type)
			return aggref->aggfilter == NULL && aggref->aggargtypes != NIL &&
				linitial_oid(aggref->aggargtypes) != filter_type;
	}
	return false;
}

/*
 * The number of input rows of the aggregation on top of a plan.  Returns -1
 * unless it aggregates elements to a filter.
 */
static double
aggregated_rows(const Plan *plan, Oid filter_type)
{
	double		processes = 1;

	if (plan == NULL || !IsA(plan, Agg) ||
		!aggregates_elements(plan, filter_type))
		return -1;
	/* in parallel plans, go down to the partial aggregation of each process */
	for (; plan != NULL; plan = outerPlan(plan))
	{
		if (IsA(plan, Gather))
		{
			int			workers = ((const Gather *) plan)->num_workers;

			/* the leader's share, as in get_parallel_divisor() */
			processes = workers + Max(1 - 0.3 * workers, 0);
		}
		else if (IsA(plan, Agg) &&
				 !DO_AGGSPLIT_COMBINE(((const Agg *) plan)->aggsplit))
			return processes * outerPlan(plan)->plan_rows;
	}
	return -1;
}

/*
 * Fills in *known for the filter argument `node` of type `type`.  Returns false
 * if nothing is known.  For a stored filter, whose TOAST pointer a parameter
 * may contain, reads only the header.
 */
static bool
known_filter(KnownFilter *known, PlannerInfo *root, Node *node, Oid type)
{
	Datum		filter;

	memset(known, 0, sizeof(*known));
	/* estimate_expression_value() would copy a constant */
	if (!IsA(node, Const))
		node = estimate_expression_value(root, node);
	if (exprType(node) != type || !cuckoo_is_filter_type(type))
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
	{
		known->items =
			aggregated_rows(init_plan(root, ((Param *) node)->paramid), type);
		known->fpp = CUCKOO_DEFAULT_FPP;
		return known->items >= 0;
	}
	if (!IsA(node, Const))
		return false;
	if (((Const *) node)->constisnull)
		return true;			/* a null filter contains nothing */

	filter = ((Const *) node)->constvalue;
	cuckoo_peek_header(&known->header, filter);
	known->items = (double) known->header.items;
	known->fpp = cuckoo_fpp_now(&known->header);
	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(filter)))
		known->image = cuckoo_image(cuckoo_filter(filter));
	return true;
}

/* Values of a column's statistics, and those that the filter contains. */
typedef struct SampledValues
{
	int			count;
	int			found;
	double		frequency;		/* sum for all these values */
	double		found_frequency;
} SampledValues;

/*
 * Probes the filter for the values of one kind of statistics.  They have the
 * type of the element expression, or a type that is relabeled to it.
 */
static void
probe_statistics(SampledValues *sampled, HeapTuple statistics, int kind,
				 const KnownFilter *filter, const CuckooHasher *hasher)
{
	AttStatsSlot slot;
	int			flags = ATTSTATSSLOT_VALUES |
		(kind == STATISTIC_KIND_MCV ? ATTSTATSSLOT_NUMBERS : 0);

	memset(sampled, 0, sizeof(*sampled));
	if (!get_attstatsslot(&slot, statistics, kind, InvalidOid, flags))
		return;
	sampled->count = slot.nvalues;
	for (int i = 0; i < slot.nvalues; i++)
	{
		double		frequency = i < slot.nnumbers ? slot.numbers[i] : 0;
		bool		found;

		found = cuckoo_contains(&filter->header, filter->image,
								cuckoo_hash(hasher, slot.values[i],
											filter->header.seed));
		sampled->found += found;
		sampled->frequency += frequency;
		sampled->found_frequency += found ? frequency : 0;
	}
	free_attstatsslot(&slot);
}

/*
 * The rows of all scanned partitions of a partition's table.  Sets *pruned if
 * some partitions are not scanned.
 */
static double
rows_of_table(PlannerInfo *root, const RelOptInfo *rel, bool *pruned)
{
	double		rows = 0;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other == NULL ||
			!(bms_equal(other->top_parent_relids, rel->top_parent_relids) ||
			  bms_equal(other->relids, rel->top_parent_relids)))
			continue;
		*pruned |= other->nparts > bms_num_members(other->live_parts);
		/* count a partition with partitions only by its partitions */
		if (!root->simple_rte_array[i]->inh)
			rows += other->tuples;
	}
	return rows;
}

/*
 * The column of a partition: the number of its distinct values in the whole
 * table.  `rows` is the number of rows in all scanned partitions.  Returns 0
 * without statistics of the table.
 */
static double
distinct_in_table(PlannerInfo *root, Node *element, double rows)
{
	Index		relid;
	AttrNumber	column;
	HeapTuple	statistics;
	double		distinct;

	while (IsA(element, RelabelType))
		element = (Node *) ((RelabelType *) element)->arg;
	if (!IsA(element, Var))
		return 0;
	relid = ((Var *) element)->varno;
	column = ((Var *) element)->varattno;
	for (;;)
	{
		const		AppendRelInfo *member = root->append_rel_array[relid];

		if (member == NULL)
			break;
		if (column <= 0 || column > member->num_child_cols)
			return 0;
		relid = member->parent_relid;
		column = member->parent_colnos[column - 1];
	}
	statistics = SearchSysCache3(STATRELATTINH,
								 root->simple_rte_array[relid]->relid,
								 Int16GetDatum(column), BoolGetDatum(true));
	if (!HeapTupleIsValid(statistics))
		return 0;
	distinct = ((Form_pg_statistic) GETSTRUCT(statistics))->stadistinct;
	ReleaseSysCache(statistics);
	/* see pg_statistic.h */
	return distinct < 0 ? -distinct * rows : distinct;
}

/*
 * The share of a filter's items that are values of a partition's column.  The
 * column has `distinct` values in this partition.  Returns 1 for other
 * relations.
 *
 * The share is the partition's distinct values / the table's distinct values.
 * Without statistics of the table, it is the partition's share of the rows, as
 * if no value were in two partitions.  If partitions are pruned, it is the
 * larger share, because the filter may contain values of the scanned partitions
 * only.
 */
static double
part_of_items(PlannerInfo *root, const RelOptInfo *rel, Node *element,
			  double distinct)
{
	bool		pruned = false;
	double		rows;
	double		all;
	double		part;

	if (rel == NULL || rel->top_parent_relids == NULL)
		return 1;
	rows = rows_of_table(root, rel, &pruned);
	if (rows <= 0)
		return 1;
	all = distinct_in_table(root, element, rows);
	part = rel->tuples / rows;
	if (all <= 0)
		return part;
	return Min(pruned ? Max(part, distinct / all) : distinct / all, 1);
}

/*
 * The share of a column's uncommon values that the filter contains.  There are
 * `distinct` such values.  Of the `items`, the share `part` are such values.
 * `seen` is a sample of the values.
 */
static double
contained_share(double items, double part, double distinct, double fpp,
				const SampledValues *seen)
{
	double		most = Min(items / distinct, 1);
	double		share = Min(items * part / distinct, 1);
	double		n = seen->count;
	double		k = seen->found;

	share += (1 - share) * fpp;

	/*
	 * Prefer the sample if it differs by more than 3.3 standard deviations
	 * and one value.  With 2.5 standard deviations, this would happen by
	 * chance once in several hundred runs of ANALYZE.
	 */
	if (n > 0 && fabs(share * n - k) > 3.3 * sqrt(share * (1 - share) * n) + 1)
		share = Min(Min(Max(k, 0.5), n - 0.5) / n, most + (1 - most) * fpp);
	return share;
}

/*
 * Probes the filter for a column's values in pg_statistic.  Skips values that
 * the user may not see.  Also skips values of another family, for which the
 * query itself will raise the error.
 */
static void
probe_column(SampledValues *common, SampledValues *histogram,
			 VariableStatData *column, const KnownFilter *filter,
			 Oid function, Oid type, Oid collation)
{
	CuckooHasher hasher = {0};

	if (filter->image == NULL || !HeapTupleIsValid(column->statsTuple) ||
		!statistic_proc_security_check(column, function) ||
		!cuckoo_hasher_init(&hasher, type, collation, CurrentMemoryContext,
							true) ||
		!cuckoo_is_of_family(&hasher, &filter->header))
		return;
	probe_statistics(common, column->statsTuple, STATISTIC_KIND_MCV, filter,
					 &hasher);
	probe_statistics(histogram, column->statsTuple, STATISTIC_KIND_HISTOGRAM,
					 filter, &hasher);
}

Selectivity
cuckoo_selectivity(PlannerInfo *root, Oid function, Oid collation, List *args,
				   int varRelid)
{
	VariableStatData column;
	KnownFilter filter;
	SampledValues common = {0};
	SampledValues histogram = {0};
	Node	   *filter_arg;
	Oid			filter_type;
	Node	   *element;
	bool		known;
	bool		guessed;
	double		nulls = 0;
	double		distinct;
	double		share = DEFAULT_CONTAINS_SEL;	/* of uncommon values */
	double		selectivity;

	if (!cuckoo_test_arguments(function, args, &filter_arg, &filter_type,
							   &element))
		return DEFAULT_CONTAINS_SEL;
	known = known_filter(&filter, root, filter_arg, filter_type);
	if (known && filter.items == 0)
		return 0;

	examine_variable(root, element, varRelid, &column);
	if (HeapTupleIsValid(column.statsTuple))
		nulls = ((Form_pg_statistic) GETSTRUCT(column.statsTuple))->stanullfrac;
	distinct = get_variable_numdistinct(&column, &guessed);
	if (known)
		probe_column(&common, &histogram, &column, &filter, function,
					 exprType(element), collation);
	if (known && !guessed)
		share = contained_share(Max(filter.items - common.found, 0),
								part_of_items(root, column.rel, element,
											  distinct),
								Max(distinct - common.count, 1),
								filter.fpp, &histogram);
	else if (known)
		share = Min(filter.items / distinct, share);
	selectivity = common.found_frequency +
		Max(1 - nulls - common.frequency, 0) * share;
	ReleaseVariableStats(column);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}
