/*-------------------------------------------------------------------------
 *
 * cuckoo_plan.c
 *		What the planner is told: how many rows pass a membership test, and
 *		which calls may change a PL/pgSQL variable in place.
 *
 * Selectivity, of cf_contains() and of the operators alike.  A filter that is
 * known while planning (a constant, a parameter of a custom plan) is asked
 * about the column's most common values, which settles their share of the
 * rows, and about the values of the histogram.  For the values that are not
 * common there are two estimates: that the filter's other items all are values
 * of the column (as joins assume of their smaller side), items / distinct
 * values; and the share of the histogram that the filter contains.  The first
 * is the sharper one where it holds, being no sample, so it is used unless it
 * is out of what the histogram can mean by chance; then the histogram's is.
 * In a table that ANALYZE has read as a whole the histogram is every n-th value
 * and no random sample: it may miss all even numbers, and has no say.
 *
 * Of a filter that a sub-select aggregates in the same query, cf_agg(...) as an
 * InitPlan, only the number of items is estimated, from the rows that go in.
 * Nothing is known of a filter from a table: half of the rows, whether they
 * are then wanted or to be excluded.
 *
 * NOT, IS NOT TRUE and the like are worked out from these by the planner.
 *
 * The cost of a test, in cpu_operator_cost: with a filter that stays the same, 1,
 * as seen (the hash of the element takes about as long as comparing it); with
 * one that comes from a row, 10: it has to be got into the cache, or by slices.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_contains_support);
PG_FUNCTION_INFO_V1(cf_contains_sel);
PG_FUNCTION_INFO_V1(cf_contains_joinsel);
PG_FUNCTION_INFO_V1(cf_change_support);

/* Share of the rows, nulls aside, that a filter contains which is not known. */
#define DEFAULT_CONTAINS_SEL	0.5

/* Operators that cost as much as a test with another filter each time. */
#define COST_OF_ANOTHER_FILTER	10

/* ANALYZE reads so many rows for each value that it keeps. */
#define ANALYZED_ROWS			300

/* What is known of a filter while planning. */
typedef struct KnownFilter
{
	double		items;
	double		fpp;
	CuckooHeader header;
	const uint8 *image;			/* NULL if only the above is known */
} KnownFilter;

/* Is it a filter that a sub-select aggregates, and from how many rows? */
static bool
aggregated_filter(KnownFilter *known, PlannerInfo *root, const Param *param)
{
	ListCell   *cell;

	foreach(cell, root->init_plans)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, cell);
		Plan	   *plan;
		Aggref	   *aggref;

		if (!list_member_int(subplan->setParam, param->paramid))
			continue;
		plan = list_nth(root->glob->subplans, subplan->plan_id - 1);
		if (!IsA(plan, Agg))
			return false;
		aggref = (Aggref *) linitial_node(TargetEntry, plan->targetlist)->expr;
		if (!IsA(aggref, Aggref) || aggref->aggargtypes == NIL ||
			linitial_oid(aggref->aggargtypes) == param->paramtype)
			return false;		/* of filters, not of elements */
		while (IsA(plan, Agg) || IsA(plan, Gather))
			plan = outerPlan(plan);
		known->items = plan->plan_rows;
		known->fpp = CUCKOO_DEFAULT_FPP;
		return true;
	}
	return false;
}

/*
 * What is known of the filter of a call, which is of this type.  One in a table
 * (a variable may hold its TOAST pointer) is not read beyond the header.
 */
static bool
known_filter(KnownFilter *known, PlannerInfo *root, Node *node, Oid type)
{
	Datum		filter;

	memset(known, 0, sizeof(*known));
	/* which would copy a constant */
	if (!IsA(node, Const))
		node = estimate_expression_value(root, node);
	if (exprType(node) != type)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return aggregated_filter(known, root, (Param *) node);
	if (!IsA(node, Const))
		return false;
	if (((Const *) node)->constisnull)
		return true;			/* contains nothing */

	filter = ((Const *) node)->constvalue;
	cuckoo_read_header(&known->header, filter);
	known->items = (double) known->header.items;
	known->fpp = cuckoo_fpp_now(&known->header);
	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(filter)))
		known->image = cuckoo_image(cuckoo_filter(filter));
	return true;
}

/* Which values of one kind of a column's statistics are in the filter. */
typedef struct SampledValues
{
	int			count;
	int			found;
	double		frequency;		/* of all these values in the column */
	double		found_frequency;
} SampledValues;

/*
 * Probes these values.  They are of the type of the expression that is looked
 * for, or of one that is relabeled to it.
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
 * Share of a column's values, of those that are not common, that the filter
 * contains: `distinct` such values meet `items`; `seen` are some of the values,
 * of a table of so many rows.
 */
static double
contained_share(double items, double distinct, double fpp,
				const SampledValues *seen, double rows)
{
	double		share = items < distinct ? items / distinct : 1;
	double		n = seen->count;
	double		k = seen->found;

	share += (1 - share) * fpp;
	if (n == 0 || (items < distinct && rows <= n * ANALYZED_ROWS))
		return share;
	/* two standard deviations, and what makes a few values mean little */
	if (fabs(share * n - k) > 2 * sqrt(k * (n - k) / n) + 2)
		share = Min(Max(k, 0.5), n - 0.5) / n;
	return share;
}

/*
 * Takes a call of `function` apart, which is cf_contains, or cf_contained with
 * its arguments exchanged.  False if it is another one.
 */
static bool
call_arguments(Oid function, List *args, Node **filter, Oid *filter_type,
			   Node **element)
{
	Oid		   *types;
	int			nargs;
	int			element_no;

	get_func_signature(function, &types, &nargs);
	if (nargs != 2 || list_length(args) != 2)
		return false;
	element_no = IsPolymorphicType(types[0]) ? 0 : 1;
	*element = list_nth(args, element_no);
	*filter = list_nth(args, 1 - element_no);
	*filter_type = types[1 - element_no];
	return true;
}

/* Share of all rows for which a filter contains the element of a call. */
static Selectivity
contains_selectivity(PlannerInfo *root, Oid function, Oid collation, List *args,
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
	double		selectivity;

	if (!call_arguments(function, args, &filter_arg, &filter_type, &element))
		return DEFAULT_CONTAINS_SEL;
	known = known_filter(&filter, root, filter_arg, filter_type);
	if (known && filter.items == 0)
		return 0;

	examine_variable(root, element, varRelid, &column);
	if (HeapTupleIsValid(column.statsTuple))
		nulls = ((Form_pg_statistic) GETSTRUCT(column.statsTuple))->stanullfrac;
	distinct = get_variable_numdistinct(&column, &guessed);
	if (known && filter.image != NULL &&
		HeapTupleIsValid(column.statsTuple) &&
		statistic_proc_security_check(&column, function))
	{
		CuckooHasher hasher = {0};

		cuckoo_hasher_init(&hasher, exprType(element), collation);
		/* another family is for the call to complain of */
		if (hasher.family == filter.header.family &&
			hasher.tag == filter.header.tag)
		{
			probe_statistics(&common, column.statsTuple, STATISTIC_KIND_MCV,
							 &filter, &hasher);
			probe_statistics(&histogram, column.statsTuple,
							 STATISTIC_KIND_HISTOGRAM, &filter, &hasher);
		}
	}

	if (known && !guessed)
		selectivity = contained_share(Max(filter.items - common.found, 0),
									  Max(distinct - common.count, 1),
									  filter.fpp, &histogram,
									  column.rel != NULL ? column.rel->tuples : 0);
	else
		selectivity = DEFAULT_CONTAINS_SEL;
	selectivity = common.found_frequency +
		Max(1 - nulls - common.frequency, 0) * selectivity;
	ReleaseVariableStats(column);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* Support function of cf_contains() and cf_contained(). */
Datum
cf_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *node = (Node *) PG_GETARG_POINTER(0);

	if (IsA(node, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *request = (SupportRequestSelectivity *) node;

		request->selectivity = contains_selectivity(request->root,
													request->funcid,
													request->inputcollid,
													request->args,
													request->varRelid);
		PG_RETURN_POINTER(request);
	}
	if (IsA(node, SupportRequestCost))
	{
		SupportRequestCost *request = (SupportRequestCost *) node;
		List	   *args = NIL;
		Node	   *filter;
		Oid			filter_type;
		Node	   *element;

		if (request->node != NULL && IsA(request->node, FuncExpr))
			args = ((FuncExpr *) request->node)->args;
		else if (request->node != NULL && IsA(request->node, OpExpr))
			args = ((OpExpr *) request->node)->args;
		if (call_arguments(request->funcid, args, &filter, &filter_type,
						   &element) &&
			contain_var_clause(filter))
		{
			request->startup = 0;
			request->per_tuple = COST_OF_ANOTHER_FILTER * cpu_operator_cost;
			PG_RETURN_POINTER(request);
		}
	}
	PG_RETURN_POINTER(NULL);
}

/* Selectivity of the operators as restrictions. */
Datum
cf_contains_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(contains_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
										  get_opcode(PG_GETARG_OID(1)),
										  PG_GET_COLLATION(),
										  (List *) PG_GETARG_POINTER(2),
										  PG_GETARG_INT32(3)));
}

/* And as join clauses, where the filter is a column. */
Datum
cf_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(contains_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
										  get_opcode(PG_GETARG_OID(1)),
										  PG_GET_COLLATION(),
										  (List *) PG_GETARG_POINTER(2),
										  0));
}

/*
 * Support function of what changes a filter by one element: in "f := cf_add(f,
 * x)" the variable may be changed in place, as an error leaves it as it was.
 * The element is hashed before, so it may come from the variable, too.
 */
Datum
cf_change_support(PG_FUNCTION_ARGS)
{
	Node	   *result = NULL;

#ifdef CUCKOO_MODIFY_IN_PLACE
	Node	   *node = (Node *) PG_GETARG_POINTER(0);

	if (IsA(node, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *request = (SupportRequestModifyInPlace *) node;
		Param	   *filter = linitial(request->args);

		if (filter != NULL && IsA(filter, Param) &&
			filter->paramkind == PARAM_EXTERN &&
			filter->paramid == request->paramid)
			result = (Node *) filter;
	}
#endif
	PG_RETURN_POINTER(result);
}
