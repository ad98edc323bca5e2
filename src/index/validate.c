/*-------------------------------------------------------------------------
 *
 * index/validate.c
 *		Checks of operator classes, and of the columns that use them.
 *
 * Each operator is an equality, and each function hashes one type.  CREATE
 * OPERATOR CLASS and ALTER OPERATOR FAMILY refuse other members.  A new
 * operator class has both for its type.  amvalidate() also checks that each
 * type of an operator has a hash function in the family.
 *
 * No check can prove that equal values have equal hashes.
 *
 * PostgreSQL lets a column use the operator class of another type if a value of
 * the column's type can be used as one of the other type.  varchar is compared
 * as text.  citext has its own equality: an index that compares it as text
 * would let duplicates in.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/amvalidate.h"
#include "access/xact.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* True if a type has a hash function in the family. */
static bool
is_hashable(Oid family, Oid type)
{
	return OidIsValid(get_opfamily_proc(family, type, type, CUCKOO_HASH_PROC));
}

/* True if the family has an equality of two values of a type. */
static bool
is_comparable(Oid family, Oid type)
{
	return OidIsValid(get_opfamily_member(family, type, type, CUCKOO_EQUAL));
}

/* ---- members: functions and operators ---- */

/* The rule that a function breaks, as a sentence; or NULL. */
static const char *
fault_of_function(const OpFamilyMember *member)
{
	if (member->number != CUCKOO_HASH_PROC)
		return "A function must have number 1.";
	if (member->lefttype != member->righttype)
		return "A function must be for one type.";
	if (!check_amproc_signature(member->object, INT8OID, false, 2, 2,
								member->lefttype, INT8OID))
		return psprintf("A function for type %s must have the arguments (%s, bigint) and return bigint.",
						format_type_be(member->lefttype),
						format_type_be(member->lefttype));
	return NULL;
}

/* True if a merge or hash join can use the operator, so it is an equality. */
static bool
is_equality(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	result = form->oprcanmerge || form->oprcanhash;
	ReleaseSysCache(tuple);
	return result;
}

static const char *
fault_of_operator(const OpFamilyMember *member)
{
	if (member->number != CUCKOO_EQUAL)
		return "An operator must have number 1.";
	if (OidIsValid(member->sortfamily))
		return "An operator must not be for ORDER BY.";
	if (!check_amop_signature(member->object, BOOLOID, member->lefttype,
							  member->righttype))
		return "An operator must compare its two types and return boolean.";
	if (!is_equality(member->object))
		return "An operator must be an equality, which has the option MERGES or HASHES.";
	return NULL;
}

static char *
describe(const OpFamilyMember *member)
{
	return member->is_func ?
		psprintf("function %s", format_procedure(member->object)) :
		psprintf("operator %s", format_operator(member->object));
}

/* ---- amvalidate ---- */

/* Reports the fault of a member, if there is one.  Returns true if not. */
static bool
report_fault(Oid family, const OpFamilyMember *member, const char *fault)
{
	HeapTuple	tuple;

	if (fault == NULL)
		return true;
	tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family);
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator family \"%s\" of access method \"cuckoo\" contains the wrong %s",
					NameStr(((Form_pg_opfamily) GETSTRUCT(tuple))->opfname),
					describe(member)),
			 errdetail_internal("%s", fault)));
	ReleaseSysCache(tuple);
	return false;
}

static bool
validate_functions(Oid family)
{
	CatCList   *list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	bool		valid = true;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc form = (Form_pg_amproc)
			GETSTRUCT(&list->members[i]->tuple);
		OpFamilyMember member = {.is_func = true};

		member.object = form->amproc;
		member.number = form->amprocnum;
		member.lefttype = form->amproclefttype;
		member.righttype = form->amprocrighttype;
		valid &= report_fault(family, &member,
							  fault_of_function(&member));
	}
	ReleaseCatCacheList(list);
	return valid;
}

static bool
validate_operators(Oid family)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(family));
	bool		valid = true;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		OpFamilyMember member = {.is_func = false};
		const char *fault;

		member.object = form->amopopr;
		member.number = form->amopstrategy;
		member.lefttype = form->amoplefttype;
		member.righttype = form->amoprighttype;
		member.sortfamily = form->amopsortfamily;
		fault = fault_of_operator(&member);
		if (fault == NULL && !(is_hashable(family, member.lefttype) &&
							   is_hashable(family, member.righttype)))
			fault = "The family must have functions for these types.";
		valid &= report_fault(family, &member, fault);
	}
	ReleaseCatCacheList(list);
	return valid;
}

bool
cuckoo_amvalidate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	bool		valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	valid = validate_functions(form->opcfamily);
	valid &= validate_operators(form->opcfamily);
	if (!is_comparable(form->opcfamily, form->opcintype) ||
		!is_hashable(form->opcfamily, form->opcintype))
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method \"cuckoo\" lacks an operator or a function for its type",
						NameStr(form->opcname))));
		valid = false;
	}
	ReleaseSysCache(tuple);
	return valid;
}

/* ---- amadjustmembers ---- */

static int
members_hint(void)
{
	return errhint("An operator class has OPERATOR 1, an equality, and FUNCTION 1, (type, bigint) to bigint.");
}

/* Raises error 42P17 if a member is wrong. */
static void
check_member(const OpFamilyMember *member)
{
	const char *fault = member->is_func ? fault_of_function(member) :
		fault_of_operator(member);

	if (fault != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("access method \"cuckoo\" cannot use %s",
						describe(member)),
				 errdetail_internal("%s", fault),
				 members_hint()));
}

/*
 * Raises error 42P17 if a new operator class lacks an operator or a function
 * for its type.  The family may contain both already.  An operator class
 * without members is an alias: a dump may create it before the one that has the
 * members.
 */
static void
check_complete(Oid family, Oid opclass, List *members)
{
	Oid			type = get_opclass_input_type(opclass);
	bool		comparable = is_comparable(family, type);
	bool		hashable = is_hashable(family, type);
	ListCell   *cell;

	foreach(cell, members)
	{
		const OpFamilyMember *member = lfirst(cell);

		if (member->lefttype == type && member->righttype == type)
		{
			hashable |= member->is_func;
			comparable |= !member->is_func;
		}
	}
	if (members != NIL && !(comparable && hashable))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class for access method \"cuckoo\" has no %s for type %s",
						comparable ? "function" : "operator",
						format_type_be(type)),
				 members_hint()));
}

/*
 * Makes a member for one type depend on the operator class of the type, if
 * there is one, as access method hash does.  A member for two types depends on
 * the family.
 */
static void
set_dependency(OpFamilyMember *member, Oid family, Oid opclass)
{
	if (member->lefttype != member->righttype)
		opclass = InvalidOid;
	else if (!OidIsValid(opclass) ||
			 get_opclass_input_type(opclass) != member->lefttype)
		opclass = opclass_for_family_datatype(get_am_oid("cuckoo", true),
											  family, member->lefttype);
	member->ref_is_hard = OidIsValid(opclass);
	member->ref_is_family = !OidIsValid(opclass);
	member->refobjid = OidIsValid(opclass) ? opclass : family;
}

void
cuckoo_amadjustmembers(Oid family, Oid opclass, List *operators,
					   List *functions)
{
	List	   *members = list_concat_copy(operators, functions);
	ListCell   *cell;

	/* CREATE OPERATOR CLASS: see its row of pg_opclass */
	if (OidIsValid(opclass))
		CommandCounterIncrement();
	foreach(cell, members)
	{
		check_member(lfirst(cell));
		set_dependency(lfirst(cell), family, opclass);
	}
	if (OidIsValid(opclass))
		check_complete(family, opclass, members);
}

/* ---- columns ---- */

/*
 * The recipe of an operator class for a type.  Names have their schema, because
 * a build restricts the search path in PostgreSQL 17 and later.
 */
static int
class_hint(const TypeCacheEntry *type)
{
	const char *name = format_type_be_qualified(type->type_id);

	return OidIsValid(type->hash_extended_proc) ?
		errhint("Create an operator class before the index: CREATE OPERATOR CLASS ... DEFAULT FOR TYPE %s USING cuckoo AS OPERATOR 1 %s, FUNCTION 1 %s.",
				name, format_operator_qualified(type->eq_opr),
				format_procedure_qualified(type->hash_extended_proc)) :
		errhint("Index a cast of the column, or create an operator class for type %s.",
				name);
}

void
cuckoo_check_equality(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Oid			type = getBaseType(column->atttypid);
		Oid			equality;
		const TypeCacheEntry *entry;

		/* the user may choose any operator class of the type */
		if (type == rel->rd_opcintype[i])
			continue;
		equality = cuckoo_equality(rel, i);
		entry = lookup_type_cache(type, TYPECACHE_EQ_OPR |
								  TYPECACHE_HASH_EXTENDED_PROC);
		if (!OidIsValid(entry->eq_opr) ||
			get_opcode(entry->eq_opr) == get_opcode(equality))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index \"%s\" does not use the equality of type %s",
						RelationGetRelationName(rel),
						format_type_be_qualified(type)),
				 errdetail("It would compare column \"%s\" by operator %s.",
						   NameStr(column->attname),
						   format_operator_qualified(equality)),
				 class_hint(entry)));
	}
}
