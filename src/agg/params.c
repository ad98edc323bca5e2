/*-------------------------------------------------------------------------
 *
 * agg/params.c
 *		The parameters of cf_agg: capacity, false-positive rate and seed.
 *
 * Every row passes them, with equal values.  So they are read again only if
 * they differ from those of the last row.
 *
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"

#include "lib/stringinfo.h"

void
cuckoo_read_params(CuckooAggParams *params, int nargs,
				   const NullableDatum *args)
{
	static const char *const names[] = {"capacity", "fpp", "seed"};
	int			first = nargs == 1 ? 1 : 0;
	double		fpp = CUCKOO_DEFAULT_FPP;

	memset(params, 0, sizeof(*params));
	for (int i = 0; first + i < (int) lengthof(names) && i < nargs; i++)
		if (args[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[first + i]),
					 errhint("Specify a value, or use a variant of cf_agg without this argument.")));

	if (nargs > 2)
		params->seed = (uint64) DatumGetInt64(args[2].value);
	if (nargs > 0)
		fpp = DatumGetFloat8(args[nargs == 1 ? 0 : 1].value);
	if (nargs == 1 && fpp > CUCKOO_MAX_FPP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp is out of range"),
				 errdetail("The second argument of cf_agg(value, fpp) is the false-positive rate, and its value is %g.",
						   fpp),
				 errhint("fpp must be between %g and %g. To specify a capacity, use cf_agg(value, capacity, fpp).",
						 CUCKOO_MIN_FPP, CUCKOO_MAX_FPP)));
	params->bits = cuckoo_checked_fpp(fpp);
	if (nargs > 1)
	{
		CuckooHeader h;
		double		capacity = DatumGetFloat8(args[0].value);

		params->capacity = cuckoo_checked_capacity(&h, capacity, params->bits,
												   params->seed);
	}
}

/* Describes in which parameters two states or rows differ, with the values. */
static const char *
difference(const CuckooAggParams *a, const CuckooAggParams *b)
{
	CuckooHeader x = {.fpp_bits = a->bits};
	CuckooHeader y = {.fpp_bits = b->bits};
	StringInfoData text;

	initStringInfo(&text);
	if ((a->capacity == 0) != (b->capacity == 0))
		appendStringInfo(&text, "capacity (an exact fit, and %lld)",
						 (long long) Max(a->capacity, b->capacity));
	else if (a->capacity != b->capacity)
		appendStringInfo(&text, "capacity (%lld and %lld)",
						 (long long) a->capacity, (long long) b->capacity);
	if (a->bits != b->bits)
		appendStringInfo(&text, "%sfpp (%.3g and %.3g, "
						 "rounded down to whole bits)",
						 text.len > 0 ? ", " : "", cuckoo_fpp_at_capacity(&x),
						 cuckoo_fpp_at_capacity(&y));
	if (a->seed != b->seed)
		appendStringInfo(&text, "%sseed (%lld and %lld)",
						 text.len > 0 ? ", " : "", (long long) a->seed,
						 (long long) b->seed);
	return text.data;
}

void
cuckoo_check_params(const CuckooAggParams *params, int nargs,
					const NullableDatum *args, CuckooAggArgs *last)
{
	const CuckooAggParams *given = &last->params;
	bool		same = given->bits != 0;

	nargs = Min(nargs, (int) lengthof(last->bits));
	for (int i = 0; i < nargs; i++)
		same = same && !args[i].isnull &&
			DatumGetInt64(args[i].value) == last->bits[i];
	if (!same)
	{
		CuckooAggArgs row = {.bits = {0}};

		cuckoo_read_params(&row.params, nargs, args);
		for (int i = 0; i < nargs; i++)
			row.bits[i] = DatumGetInt64(args[i].value);
		*last = row;
	}
	if (given->bits != params->bits || given->capacity != params->capacity ||
		given->seed != params->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity, fpp and seed of cf_agg must be the same for all rows"),
				 errdetail("A row differs from the rows before it in %s.",
						   difference(params, given)),
				 errhint("Use constants, or group by the columns that they depend on.")));
}

void
cuckoo_compare_params(const CuckooAggParams *a, const CuckooAggParams *b)
{
	if (a->family != b->family || a->tag != b->tag)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot combine states of cf_agg over different element types"),
				 a->family == b->family ?
				 errdetail("Both states are of the family \"%s\", but of different types or collations.",
						   cuckoo_family_name(a->family)) :
				 errdetail("The families are \"%s\" and \"%s\".",
						   cuckoo_family_name(a->family),
						   cuckoo_family_name(b->family)),
				 errhint("Cast the elements of both states to the same type.")));
	if (a->bits != b->bits || a->capacity != b->capacity || a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine states of cf_agg with different parameters"),
				 errdetail("The states differ in %s.", difference(a, b)),
				 errhint("Create both states with the same arguments of cf_agg.")));
}
