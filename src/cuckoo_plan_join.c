/*-------------------------------------------------------------------------
 *
 * cuckoo_plan_join.c
 *		How many rows the planner expects of joins on a column that a filter
 *		tests.
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
 *-------------------------------------------------------------------------
 */
#include "cuckoo_plan.h"

#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

/*
 * Are two expressions the same but for relabelings, of which equivalence
 * classes have more?
 */
static bool
is_same_expression(Node *a, Node *b)
{
	while (a != NULL && IsA(a, RelabelType))
		a = (Node *) ((RelabelType *) a)->arg;
	while (b != NULL && IsA(b, RelabelType))
		b = (Node *) ((RelabelType *) b)->arg;
	return equal(a, b);
}

/* What a condition looks for in a filter, NULL if it is another condition. */
static Node *
get_tested_element(RestrictInfo *rinfo)
{
	CuckooTest	test;

	return cuckoo_take_apart(&test, (Node *) rinfo->clause) &&
		!test.negated && !test.any ? (Node *) test.element : NULL;
}

/* Share of the rows of a relation that pass all its tests of this element. */
static Selectivity
get_tested_share(PlannerInfo *root, RelOptInfo *rel, Node *element)
{
	List	   *tests = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *other = get_tested_element(lfirst(cell));

		if (other != NULL && is_same_expression(other, element))
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
			is_same_expression((Node *) member->em_expr, expression))
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
	Selectivity tested = get_tested_share(root, rel, element);
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
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Node	   *element = get_tested_element(rinfo);

		if (element != NULL)
			adjust_joins_by(root, rel, element);
	}
}
