/*-------------------------------------------------------------------------
 *
 * element/array.c
 *		Arrays of elements.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

CuckooHasher *
cuckoo_array_hasher(FunctionCallInfo fcinfo, int argno,
					CuckooElements *elements, Size size)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &elements->values,
					  &elements->nulls, &elements->count);
	elements->array = array;
	return cuckoo_hasher_for_type(fcinfo, type, size);
}

ArrayType *
cuckoo_boolean_array(const CuckooElements *elements, const bool *values)
{
	Datum	   *results = palloc(Max(elements->count, 1) * sizeof(Datum));

	for (int i = 0; i < elements->count; i++)
		results[i] = BoolGetDatum(values[i]);
	return construct_md_array(results, elements->nulls,
							  ARR_NDIM(elements->array),
							  ARR_DIMS(elements->array),
							  ARR_LBOUND(elements->array),
							  BOOLOID, sizeof(bool), true, TYPALIGN_CHAR);
}
