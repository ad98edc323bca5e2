/*-------------------------------------------------------------------------
 *
 * filter/info.c
 *		cf_info() and cf_count(filter): the metadata of a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"
#include "filter/filter.h"
#include "result.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include <math.h>

PG_FUNCTION_INFO_V1(cf_count);
PG_FUNCTION_INFO_V1(cf_info);

Datum
cf_count(PG_FUNCTION_ARGS)
{
	CuckooHeader h;

	cuckoo_peek_header(&h, PG_GETARG_DATUM(0));
	PG_RETURN_INT64((int64) h.items);
}

/*
 * The first four digits of a figure, for readers.  Truncates instead of
 * rounding, because rounding could show fpp_now above fpp_at_capacity.
 */
static double
four_digits(double figure)
{
	double		scale = 1;

	while (figure > 0 && figure * scale < 1000)
		scale *= 10;
	return floor(figure * scale) / scale;
}

Datum
cf_info(PG_FUNCTION_ARGS)
{
	CuckooHeader h;
	TupleDesc	desc;
	Datum		values[14];
	bool		nulls[14] = {false};
	uint64		size;
	int			n = 0;

	cuckoo_peek_header(&h, PG_GETARG_DATUM(0));
	desc = cuckoo_result_tupdesc(fcinfo, lengthof(values));

	size = cuckoo_image_size(&h);
	values[n++] = Int64GetDatum((int64) h.items);
	values[n++] = Int64GetDatum((int64) cuckoo_capacity(&h));
	values[n++] = Int64GetDatum((int64) cuckoo_max_items(&h));
	values[n++] = Float8GetDatum(cuckoo_fpp_at_capacity(&h));
	values[n++] = Float8GetDatum(four_digits(cuckoo_fpp_now(&h)));
	values[n++] = Float8GetDatum(four_digits((double) h.items /
											 ((double) h.buckets *
											  CUCKOO_SLOTS)));
	values[n++] = Int32GetDatum(h.bits);
	values[n++] = Int64GetDatum((int64) h.buckets);
	values[n++] = Int32GetDatum(h.level);
	values[n++] = Int64GetDatum((int64) size);
	nulls[n] = h.items == 0;
	values[n++] = Float8GetDatum(h.items == 0 ? 0 :
								 four_digits((double) size * 8 /
											 (double) h.items));
	values[n++] = CStringGetTextDatum(cuckoo_family_name(h.family));
	values[n++] = Int64GetDatum((int64) h.seed);
	values[n++] = Int32GetDatum(CUCKOO_FORMAT_VERSION);
	Assert(n == lengthof(values));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
