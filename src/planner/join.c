/*-------------------------------------------------------------------------
 *
 * planner/join.c
 *		Estimates of joins on a column that a filter tests.
 *
 * A filter on a join key usually repeats the join.  In
 *
 *		fact JOIN dim USING (k) WHERE dim.category = 0 AND
 *		cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 0), fact.k)
 *
 * the join has the same rows with and without the filter.  The planner treats
 * the two as independent.  If the filter passes a share s of the keys, and the
 * conditions on dim a share d, it expects s * d of the rows.  With several such
 * tables this low estimate leads to nested loops.
 *
 * cuckoo_adjust_joins() changes the estimate to min(s, d).  This is right for a
 * filter that repeats the join.  For another filter, such as a block list,
 * min(s, d) is an upper limit if all keys are equally frequent.  It never
 * exceeds the estimate without the filter.  A high estimate costs a larger hash
 * table.  A low estimate may cost a pass over a table for each row.  Only inner
 * joins are adjusted.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

/* The element of a test, or NULL for another condition. */
static Node *
get_tested_element(RestrictInfo *rinfo)
{
	CuckooTest	test;

	return cuckoo_recognize_test(&test, (Node *) rinfo->clause) &&
		!test.negated && !test.any ? (Node *) test.element : NULL;
}

/* The share of the relation's rows that pass all tests of this element. */
static Selectivity
get_tested_share(PlannerInfo *root, RelOptInfo *rel, Node *element)
{
	List	   *tests = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		if (equal(get_tested_element(lfirst(cell)), element))
			tests = lappend(tests, lfirst(cell));
	}
	return clauselist_selectivity(root, tests, 0, JOIN_INNER, NULL);
}

/*
 * Divides the selectivity of the class's join clauses between two relations by
 * `share`.  Like orclauses.c, this sets the cached selectivity.  A clause with
 * a cached selectivity was adjusted before, from the other side or for another
 * test of the element.
 */
static void
adjust_clauses(PlannerInfo *root, const EquivalenceClass *class,
			   RelOptInfo *outer, RelOptInfo *inner, Selectivity share)
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
 * Removes foreign keys of one column between two relations, for the estimate
 * only.  The planner would estimate the join by the foreign key instead of the
 * clauses of the class, and ignore the adjusted selectivities.
 */
static void
forget_foreign_key(PlannerInfo *root, const EquivalenceClass *class,
				   RelOptInfo *a, RelOptInfo *b)
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
 * True if all joins of the two relations are inner joins.  Estimates of other
 * joins are not proportional to the adjusted selectivity.
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

/* Adjusts the joins of a relation on a tested expression. */
static void
adjust_joins_by(PlannerInfo *root, RelOptInfo *rel, Node *element)
{
	Selectivity tested = get_tested_share(root, rel, element);
	ListCell   *cell;

	foreach(cell, root->eq_classes)
	{
		EquivalenceClass *class = lfirst(cell);
		int			relid = -1;

		if (find_ec_member_matching_expr(class, (Expr *) element,
										 rel->relids) == NULL)
			continue;
		while ((relid = bms_next_member(class->ec_relids, relid)) >= 0)
		{
			RelOptInfo *other = root->simple_rel_array[relid];
			Selectivity share;

			/* NULL: the number belongs to an outer join */
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

	/* members of inheritance trees have separate join clauses */
	if (rel->reloptkind != RELOPT_BASEREL || root->eq_classes == NIL)
		return;
	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *element = get_tested_element(lfirst(cell));

		if (element != NULL)
			adjust_joins_by(root, rel, element);
	}
}
