/*-------------------------------------------------------------------------
 *
 * cuckoo_plan.c
 *		What the planner is told: how many rows pass a membership test, also in
 *		joins on the tested column, what it costs, and which calls may change a
 *		PL/pgSQL variable in place.
 *
 * Selectivity, of cf_contains() and of the operators alike.  A filter that is
 * known while planning (a constant, a parameter of a custom plan) is asked
 * about the column's most common values, which settles their share of the
 * rows, and about the values of the histogram.  For the values that are not
 * common there are two estimates: that the filter's other items all are values
 * of the column (as joins assume of their smaller side), items / distinct
 * values; and the share of the histogram that the filter contains.  The first
 * is no sample, and the sharper one where its assumption holds, so it is used
 * unless the histogram excludes it; and no more values than that can be
 * contained, whatever a histogram of regular data says.
 *
 * Of a filter that a sub-select aggregates in the same query, cf_agg(...) as an
 * InitPlan, only the number of items is estimated: that of the rows that go in,
 * or the capacity if that is less.
 * Nothing is known of a filter from a table: half of the rows, whether they
 * are then wanted or to be excluded.
 *
 * NOT, IS NOT TRUE and the like are worked out from these by the planner.
 *
 * A filter on a join key mostly repeats what the join does: in
 *
 *		fact JOIN dim USING (k) WHERE dim.category = 0 AND
 *		cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 0), fact.k)
 *
 * the rows of the join are those without the filter.  The planner takes the two
 * for independent: where the filter leaves a share s of the keys and the other
 * conditions on dim a share d, it expects s * d of the rows.  That is too few,
 * and with a few such tables so few that it joins them in nested loops.
 * cuckoo_adjust_joins() makes it min(s, d), which is right for a filter that
 * repeats the join, and for any other the most that can be if no key is more
 * frequent than others.  So a filter of unrelated keys, as a block list, makes
 * the estimate too high, at most as high as without it.  That is the safe side:
 * it costs a larger hash table, where a low estimate costs a pass over a table
 * for each row.  This is for inner joins by columns that are equal; other joins
 * are estimated as before.
 *
 * The cost of a test, in cpu_operator_cost: with a filter that stays the same,
 * 1.1.  As seen, the hash and the probe take about as long as a comparison.
 * But conditions of the same cost are evaluated in the order of writing, with
 * "column = constant" last, and the comparison is better first: it is exact,
 * and its time does not depend on the filter's size.  With a filter that comes
 * from a row it is 10: the filter has to be got into the cache, or by slices.
 *
 * These functions are called with whatever operator names them, so nothing is
 * taken for a filter on the word of an argument's type alone.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_plan.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_contains_support);
PG_FUNCTION_INFO_V1(cf_contains_sel);
PG_FUNCTION_INFO_V1(cf_contains_joinsel);
PG_FUNCTION_INFO_V1(cf_change_support);

/* Share of the rows, nulls aside, that a filter contains which is not known. */
#define DEFAULT_CONTAINS_SEL	0.5

/* What is known of a filter while planning. */
typedef struct KnownFilter
{
	double		items;
	double		fpp;
	CuckooHeader header;
	const uint8 *image;			/* NULL if only the above is known */
} KnownFilter;

/* Is it our type?  No other has its input function, unless a superuser lies. */
static bool
is_filter_type(Oid type)
{
	Oid			input;
	Oid			param;
	FmgrInfo	info;

	getTypeInputInfo(type, &input, &param);
	fmgr_info(input, &info);
	return info.fn_addr == cuckoofilter_in;
}

/* The sub-plan that gives a parameter, or NULL; of this or an outer query. */
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

/* An argument of an aggregate, if it is a constant, else NULL. */
static Const *
constant_argument(const Aggref *aggref, int argno, Oid type)
{
	Const	   *constant;

	if (argno >= list_length(aggref->args))
		return NULL;
	constant = (Const *) list_nth_node(TargetEntry, aggref->args, argno)->expr;
	return IsA(constant, Const) && constant->consttype == type &&
		!constant->constisnull ? constant : NULL;
}

/* The rows that an aggregate takes in, or -1 if it does that in an odd way. */
static double
aggregated_rows(const Plan *plan)
{
	if (IsA(plan, Agg) && !DO_AGGSPLIT_COMBINE(((const Agg *) plan)->aggsplit))
		return outerPlan(plan)->plan_rows;
	if (IsA(plan, Agg))
		return aggregated_rows(outerPlan(plan));
	if (IsA(plan, Gather))
	{
		int			workers = ((const Gather *) plan)->num_workers;

		/* each has a part of the rows; the leader's is the planner's guess */
		return aggregated_rows(outerPlan(plan)) *
			(workers + Max(1 - 0.3 * workers, 0));
	}
	if (IsA(plan, Append))
	{
		double		sum = 0;
		ListCell   *cell;

		foreach(cell, ((const Append *) plan)->appendplans)
		{
			double		rows = aggregated_rows(lfirst(cell));

			if (rows < 0)
				return -1;
			sum += rows;
		}
		return sum;
	}
	return -1;
}

/* Is it a filter that a sub-select aggregates, and of how many items? */
static bool
aggregated_filter(KnownFilter *known, PlannerInfo *root, const Param *param)
{
	Plan	   *plan = init_plan(root, param->paramid);
	Aggref	   *aggref;
	bool		exact;
	Const	   *capacity;
	Const	   *asked;
	double		fpp;
	uint64		room;
	CuckooHeader h;

	if (plan == NULL || !IsA(plan, Agg))
		return false;
	aggref = (Aggref *) linitial_node(TargetEntry, plan->targetlist)->expr;
	if (!IsA(aggref, Aggref) || aggref->aggfilter != NULL ||
		aggref->aggargtypes == NIL ||
		linitial_oid(aggref->aggargtypes) == param->paramtype)
		return false;			/* of filters, not of elements */
	known->items = aggregated_rows(plan);
	if (known->items < 0)
		return false;

	/* cf_agg(v [, fpp]) or cf_agg(v, capacity, fpp [, seed]) */
	exact = list_length(aggref->aggargtypes) <= 2;
	capacity = constant_argument(aggref, 1, INT8OID);
	asked = constant_argument(aggref, exact ? 1 : 2, FLOAT8OID);
	if (capacity != NULL)
	{
		double		most = DatumGetInt64(capacity->constvalue);

		known->items = Min(known->items, Max(most, 1));
	}
	fpp = CUCKOO_DEFAULT_FPP;
	if (asked != NULL)
		fpp = DatumGetFloat8(asked->constvalue);
	/* what is out of range, or too large, will be an error */
	if (!(fpp >= CUCKOO_MIN_FPP && fpp <= CUCKOO_MAX_FPP))
		return false;
	room = capacity != NULL ? (uint64) DatumGetInt64(capacity->constvalue)
		: (uint64) Min(known->items, 1e18);
	if ((exact ? cuckoo_header_exact(&h, room, cuckoo_fpp_bits(fpp), 0)
		 : cuckoo_header_sized(&h, room, cuckoo_fpp_bits(fpp), 0)) != CUCKOO_OK)
		return false;
	h.items = (uint64) known->items;
	known->fpp = cuckoo_fpp_now(&h);
	return true;
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
	if (exprType(node) != type || !is_filter_type(type))
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
 * The part of the rows of a table's partitions, of those that are scanned, that
 * are in this one, as its part of the filter's items will be; 1 for what is no
 * partition.
 */
static double
part_of_table(PlannerInfo *root, const RelOptInfo *rel)
{
	double		rows = 0;

	if (rel == NULL || rel->top_parent_relids == NULL)
		return 1;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		/* of a partition that has partitions, the latter count */
		if (other != NULL && !root->simple_rte_array[i]->inh &&
			bms_equal(other->top_parent_relids, rel->top_parent_relids))
			rows += other->tuples;
	}
	return rows > 0 ? rel->tuples / rows : 1;
}

/*
 * Share of a column's values, of those that are not common, that the filter
 * contains: `distinct` such values meet this `part` of `items`; `seen` are some
 * of the values.
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
	 * Is it out of 3.3 standard deviations, and one value?  With 2.5, one
	 * ANALYZE in some hundreds would have it so by chance.
	 */
	if (n > 0 && fabs(share * n - k) > 3.3 * sqrt(share * (1 - share) * n) + 1)
		share = Min(Min(Max(k, 0.5), n - 0.5) / n, most + (1 - most) * fpp);
	return share;
}

/*
 * Takes a call of `function` apart, which is cf_contains, or cf_contained with
 * its arguments exchanged.  False if it is another one.
 */
static bool
contains_arguments(Oid function, List *args, Node **filter, Oid *filter_type,
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

/* The function and the arguments of a call, also by an operator. */
static List *
function_and_arguments(Node *node, Oid *function)
{
	if (node != NULL && IsA(node, FuncExpr))
	{
		*function = ((FuncExpr *) node)->funcid;
		return ((FuncExpr *) node)->args;
	}
	if (node != NULL && IsA(node, OpExpr))
	{
		*function = get_opcode(((OpExpr *) node)->opno);
		return ((OpExpr *) node)->args;
	}
	*function = InvalidOid;
	return NIL;
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

	if (!contains_arguments(function, args, &filter_arg, &filter_type,
							&element))
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
		statistic_proc_security_check(&column, function) &&
		cuckoo_hashable(exprType(element)))
	{
		CuckooHasher hasher = {0};

		cuckoo_hasher_init(&hasher, exprType(element), collation,
						   CurrentMemoryContext);
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
									  part_of_table(root, column.rel),
									  Max(distinct - common.count, 1),
									  filter.fpp, &histogram);
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
		Oid			function;
		List	   *args = function_and_arguments(request->node, &function);
		Node	   *filter;
		Oid			filter_type;
		Node	   *element;

		if (contains_arguments(request->funcid, args, &filter, &filter_type,
							   &element))
		{
			request->startup = 0;
			request->per_tuple = cpu_operator_cost *
				(contain_var_clause(filter) ? CUCKOO_COST_OF_ANOTHER_FILTER
				 : CUCKOO_COST_OF_A_TEST);
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

/* The same but for relabelings, of which equivalence classes have more. */
static bool
same_expression(Node *a, Node *b)
{
	while (a != NULL && IsA(a, RelabelType))
		a = (Node *) ((RelabelType *) a)->arg;
	while (b != NULL && IsA(b, RelabelType))
		b = (Node *) ((RelabelType *) b)->arg;
	return equal(a, b);
}

bool
cuckoo_take_apart(CuckooTest *test, Node *condition)
{
	List	   *args;

	test->any = false;
	test->negated = is_notclause(condition);
	if (test->negated)
		condition = (Node *) get_notclausearg((Expr *) condition);
	test->call = condition;
	if (IsA(condition, FuncExpr))
	{
		test->function = ((FuncExpr *) condition)->funcid;
		test->collation = ((FuncExpr *) condition)->inputcollid;
		args = ((FuncExpr *) condition)->args;
	}
	else if (IsA(condition, OpExpr))
	{
		test->function = ((OpExpr *) condition)->opfuncid;
		test->collation = ((OpExpr *) condition)->inputcollid;
		args = ((OpExpr *) condition)->args;
	}
	else if (IsA(condition, ScalarArrayOpExpr) && !test->negated &&
			 ((ScalarArrayOpExpr *) condition)->useOr)
	{
		test->function = ((ScalarArrayOpExpr *) condition)->opfuncid;
		test->collation = ((ScalarArrayOpExpr *) condition)->inputcollid;
		args = ((ScalarArrayOpExpr *) condition)->args;
		test->any = true;
	}
	else
		return false;

	/* ours have a support function, few others do */
	if (list_length(args) != 2 || !OidIsValid(get_func_support(test->function)))
		return false;
	fmgr_info(test->function, &test->info);
	if (test->info.fn_addr != cf_contained &&
		(test->info.fn_addr != cf_contains || test->any))
		return false;
	test->filter_no = test->info.fn_addr == cf_contains ? 0 : 1;
	test->filter = list_nth(args, test->filter_no);
	test->element = list_nth(args, 1 - test->filter_no);
	return true;
}

/* What a condition looks for in a filter, NULL if it is another condition. */
static Node *
tested_element(RestrictInfo *rinfo)
{
	CuckooTest	test;

	return cuckoo_take_apart(&test, (Node *) rinfo->clause) &&
		!test.negated && !test.any ? (Node *) test.element : NULL;
}

/* Share of the rows of a relation that pass all its tests of this element. */
static Selectivity
tested_share(PlannerInfo *root, RelOptInfo *rel, Node *element)
{
	List	   *tests = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *other = tested_element(lfirst(cell));

		if (other != NULL && same_expression(other, element))
			tests = lappend(tests, lfirst(cell));
	}
	return clauselist_selectivity(root, tests, 0, JOIN_INNER, NULL);
}

/* Is an expression of this relation in the class? */
static bool
is_member(EquivalenceClass *class, RelOptInfo *rel, Node *expression)
{
	ListCell   *cell;

	foreach(cell, class->ec_members)
	{
		EquivalenceMember *member = lfirst(cell);

		if (!member->em_is_child && bms_equal(member->em_relids, rel->relids) &&
			same_expression((Node *) member->em_expr, expression))
			return true;
	}
	return false;
}

/*
 * Makes the join clauses of the class from one relation to another less
 * selective, by this share: as orclauses.c does, in the cached selectivity.  A
 * clause that has one was adjusted before, from the other side or for another
 * test of the element.
 */
static void
adjust_clauses(PlannerInfo *root, EquivalenceClass *class, RelOptInfo *outer,
			   RelOptInfo *inner, Selectivity share)
{
	SpecialJoinInfo *join = makeNode(SpecialJoinInfo);
	ListCell   *cell;

	join->jointype = JOIN_INNER;
	join->min_lefthand = join->syn_lefthand = outer->relids;
	join->min_righthand = join->syn_righthand = inner->relids;
	foreach(cell, cuckoo_join_equalities(root, bms_union(outer->relids,
														 inner->relids),
										 outer->relids, inner))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Selectivity selectivity;

		if (rinfo->parent_ec != class || rinfo->norm_selec >= 0)
			continue;
		selectivity = clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER,
										 join);
		rinfo->norm_selec = Min(selectivity / share, 1);
	}
}

/*
 * Lets the planner estimate joins of two relations from the clauses of the
 * class, not from a foreign key of one column: that says the same of them, but
 * its selectivity is not cached.
 */
static void
forget_foreign_key(PlannerInfo *root, EquivalenceClass *class, RelOptInfo *a,
				   RelOptInfo *b)
{
	ListCell   *cell;

	foreach(cell, root->fkey_list)
	{
		ForeignKeyOptInfo *key = lfirst(cell);

		if (key->nkeys == 1 && key->eclass[0] == class &&
			((key->con_relid == a->relid && key->ref_relid == b->relid) ||
			 (key->con_relid == b->relid && key->ref_relid == a->relid)))
			root->fkey_list = foreach_delete_current(root->fkey_list, cell);
	}
}

/*
 * Can two relations only be joined by an inner join?  Estimates of other joins
 * are not proportional to the selectivity that is adjusted.
 */
static bool
is_inner_join(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b)
{
	ListCell   *cell;

	foreach(cell, root->join_info_list)
	{
		SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, cell);

		if ((bms_is_member(a->relid, join->syn_lefthand) &&
			 bms_is_member(b->relid, join->syn_righthand)) ||
			(bms_is_member(b->relid, join->syn_lefthand) &&
			 bms_is_member(a->relid, join->syn_righthand)))
			return false;
	}
	return true;
}

/* Adjusts joins of a relation by an expression of it that a filter tests. */
static void
adjust_joins_by(PlannerInfo *root, RelOptInfo *rel, Node *element)
{
	Selectivity tested = tested_share(root, rel, element);
	ListCell   *cell;

	foreach(cell, root->eq_classes)
	{
		EquivalenceClass *class = lfirst(cell);
		int			relid = -1;

		if (!is_member(class, rel, element))
			continue;
		while ((relid = bms_next_member(class->ec_relids, relid)) >= 0)
		{
			RelOptInfo *other = root->simple_rel_array[relid];
			Selectivity share;

			/* numbers are of outer joins, too */
			if (other == NULL || other == rel ||
				other->reloptkind != RELOPT_BASEREL ||
				!is_inner_join(root, rel, other))
				continue;
			/* s * d / max(s, d) = min(s, d) */
			share = Max(tested,
						clauselist_selectivity(root, other->baserestrictinfo,
											   0, JOIN_INNER, NULL));
			if (share <= 0)
				continue;
			adjust_clauses(root, class, rel, other, share);
			adjust_clauses(root, class, other, rel, share);
			forget_foreign_key(root, class, rel, other);
		}
	}
}

void
cuckoo_adjust_joins(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *cell;

	/* members of inheritance trees are joined by clauses of their own */
	if (rel->reloptkind != RELOPT_BASEREL || root->eq_classes == NIL)
		return;
	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *element = tested_element(lfirst_node(RestrictInfo, cell));

		if (element != NULL)
			adjust_joins_by(root, rel, element);
	}
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
		SupportRequestModifyInPlace *request =
			(SupportRequestModifyInPlace *) node;
		Param	   *filter = linitial(request->args);

		if (filter != NULL && IsA(filter, Param) &&
			filter->paramkind == PARAM_EXTERN &&
			filter->paramid == request->paramid)
			result = (Node *) filter;
	}
#endif
	PG_RETURN_POINTER(result);
}
