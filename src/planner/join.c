/*-------------------------------------------------------------------------
 *
 * planner/join.c
 *		Planner support: how many rows joins have on a column that a filter
 *		tests.
 *
 * A filter on a join key usually repeats what the join does.  In
 *
 *		fact JOIN dim USING (k) WHERE dim.category = 0 AND
 *		cf_contains((SELECT cf_agg(k) FROM dim WHERE category = 0), fact.k)
 *
 * the join has the same rows with and without the filter, but the planner
 * treats the two as independent: if the filter leaves a share s of the keys,
 * and the other conditions on dim a share d, it expects s * d of the rows.
 * That is too few, and with several such tables it chooses nested loops.
 *
 * cuckoo_adjust_joins() changes the estimate to min(s, d).  This is right for a
 * filter that repeats the join.  For any other filter, such as a block list, it
 * is the most that is possible if all keys are equally frequent, but not more
 * than without the filter.  That errs on the safe side, because a high estimate
 * costs a larger hash table, but a low one a pass over a table for each row.
 * Only inner joins on equal columns are adjusted.
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

/* True if two expressions are equal except for relabelings. */
static bool
is_same_expression(Node *a, Node *b)
{
	while (a != NULL && IsA(a, RelabelType))
		a = (Node *) ((RelabelType *) a)->arg;
	while (b != NULL && IsA(b, RelabelType))
		b = (Node *) ((RelabelType *) b)->arg;
	return equal(a, b);
}

/* The element that a condition looks for, or NULL if it is no filter test. */
static Node *
get_tested_element(RestrictInfo *rinfo)
{
	CuckooTest	test;

	return cuckoo_recognize_test(&test, (Node *) rinfo->clause) &&
		!test.negated && !test.any ? (Node *) test.element : NULL;
}

/* The share of a relation's rows that pass all its tests of this element. */
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

/* True if this expression of the relation is in the class. */
static bool
is_member(const EquivalenceClass *class, RelOptInfo *rel, Node *expression)
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
 * Makes the join clauses of the class between two relations less selective, by
 * this share.  As in orclauses.c, this sets their cached selectivity.  A clause
 * that already has one was adjusted before, from the other side or for another
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
 * Makes the planner estimate joins of two relations from the clauses of the
 * class instead of a foreign key of one column.  The foreign key says the same
 * about the join, but its selectivity is not cached.
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
 * True if every join of the two relations is an inner join.  Estimates of other
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

/* Adjusts joins of a relation on an expression that a filter tests. */
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

			/* some numbers belong to outer joins, not to relations */
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

	/* members of inheritance trees have their own join clauses */
	if (rel->reloptkind != RELOPT_BASEREL || root->eq_classes == NIL)
		return;
	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *element = get_tested_element(lfirst(cell));

		if (element != NULL)
			adjust_joins_by(root, rel, element);
	}
}
