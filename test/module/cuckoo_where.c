/*-------------------------------------------------------------------------
 *
 * cuckoo_where.c
 *		Where a lookup of an element looks, and what it finds there.
 *
 * All of it comes from the functions that the extension itself calls; they are
 * linked into this module once more.  cuckoo_where.sql declares the function
 * and says what its columns are.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "element/element.h"
#include "error.h"
#include "filter/filter.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "core/bucket.h"
#include "core/position.h"

PG_FUNCTION_INFO_V1(cuckoo_where);

#define PAIR_SLOTS	(2 * CUCKOO_SLOTS)

static const char *const kind_names[CUCKOO_KINDS] = {
	[CUCKOO_WHOLE] = "whole",
	[CUCKOO_WHOLE_GROWN] = "whole, grown",
	[CUCKOO_SHARED] = "shared",
	[CUCKOO_SHARED_GROWN] = "shared, grown",
	[CUCKOO_ANY] = "any"
};

static Datum
hex(uint64 number)
{
	return CStringGetTextDatum(psprintf("%llx", (unsigned long long) number));
}

/* An array of integers, or of texts. */
static Datum
array(Datum *values, int n, Oid type)
{
	bool		is_int = type == INT4OID;

	return PointerGetDatum(construct_array(values, n, type, is_int ? 4 : -1,
										   is_int, 'i'));
}

/* Copies of an element as a lookup by slices counts them. */
static int
sliced_copies(const CuckooHeader *h, const uint8 *image, uint64 hash)
{
	CuckooProbe probe;

	cuckoo_probe_init(&probe, h, hash);
	return cuckoo_probe_copies(&probe, h, image + probe.offset[0],
							   image + probe.offset[1]);
}

/* cuckoo_where(cuckoofilter, anyelement) */
Datum
cuckoo_where(PG_FUNCTION_ARGS)
{
	struct varlena *datum = (struct varlena *) PG_GETARG_POINTER(0);
	const struct varlena *filter = pg_detoast_datum(datum);
	const uint8 *image = cuckoo_image(filter);
	CuckooHasher *hasher = cuckoo_hasher(fcinfo, 1, sizeof(CuckooHasher));
	CuckooHeader h;
	CuckooStatus status;
	CuckooPair	pair;
	uint64		hash;
	Datum		buckets[2];
	Datum		contents[PAIR_SLOTS];
	Datum		slots[PAIR_SLOTS];
	int			n = 0;
	bool		batch;
	TupleDesc	desc;
	Datum		values[12];
	bool		nulls[12] = {false};

	status = cuckoo_header_read(&h, image, VARSIZE_ANY_EXHDR(filter));
	if (status != CUCKOO_OK)
		cuckoo_error(status);
	cuckoo_check_family(hasher, h.family, h.tag);
	hash = cuckoo_hash(hasher, PG_GETARG_DATUM(1), h.seed);
	pair = cuckoo_pair(&h, hash);
	buckets[0] = Int32GetDatum((int32) pair.pos1);
	buckets[1] = Int32GetDatum((int32) pair.pos2);
	for (int i = 0; i < PAIR_SLOTS; i++)
	{
		uint32		fps[CUCKOO_SLOTS];
		uint64		pos = i < CUCKOO_SLOTS ? pair.pos1 : pair.pos2;

		cuckoo_bucket_unpack(cuckoo_bucket_load(image + CUCKOO_HEADER_SIZE,
												&h, pos), h.bits, fps);
		contents[i] = hex(fps[i % CUCKOO_SLOTS]);
		if (fps[i % CUCKOO_SLOTS] == pair.fp)
			slots[n++] = Int32GetDatum(i);
	}
	cuckoo_contains_batch(&h, image, &hash, 1, &batch);

	values[0] = CStringGetTextDatum(VARATT_IS_EXTERNAL_ONDISK(datum) ?
									"stored" : "memory");
	values[1] = CStringGetTextDatum(kind_names[h.kind]);
	values[2] = hex(hash);
	values[3] = hex(pair.fp);
	values[4] = array(buckets, 2, INT4OID);
	values[5] = BoolGetDatum(cuckoo_partner(&h, (uint32) pair.pos1,
											pair.fp) == pair.pos2 &&
							 cuckoo_partner(&h, (uint32) pair.pos2,
											pair.fp) == pair.pos1);
	values[6] = array(contents, PAIR_SLOTS, TEXTOID);
	values[7] = array(slots, n, INT4OID);
	values[8] = BoolGetDatum(cuckoo_contains(&h, image, hash));
	values[9] = BoolGetDatum(batch);
	values[10] = Int32GetDatum(sliced_copies(&h, image, hash));
	values[11] = Int32GetDatum(cuckoo_copies(&h, image, hash));

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "cuckoo_where is not declared as in cuckoo_where.sql");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
