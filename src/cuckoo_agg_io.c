/*-------------------------------------------------------------------------
 *
 * cuckoo_agg_io.c
 *		States of cf_agg as bytes: the type cuckoostate, and the serialized form
 *		of states of STYPE internal.
 *
 * A flat state may come from a damaged page, so its header is checked whenever
 * it is opened.  Its hashes are checked only on input.  In a damaged state they
 * may be in any order.  This gives a wrong filter, but it is memory-safe.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_agg.h"

#include "libpq/pqformat.h"
#include "miscadmin.h"

/* cuckoo_fpp_bits(CUCKOO_MIN_FPP): 8 * 0.95 / 2^30 is the first under 1e-8. */
#define STATE_BITS_MAX		30

PG_FUNCTION_INFO_V1(cuckoostate_in);
PG_FUNCTION_INFO_V1(cuckoostate_out);
PG_FUNCTION_INFO_V1(cuckoostate_recv);
PG_FUNCTION_INFO_V1(cuckoostate_send);
PG_FUNCTION_INFO_V1(cuckoo_state_final);
PG_FUNCTION_INFO_V1(cuckoo_agg_serialize);
PG_FUNCTION_INFO_V1(cuckoo_agg_deserialize);

/*
 * Returns why the header of a flat state is invalid, or NULL.  A state with a
 * valid header is memory-safe, whatever its hashes.
 */
static const char *
find_header_problem(const struct varlena *flat)
{
	Size		size = VARSIZE(flat) - VARHDRSZ;
	uint8	   *bytes = cuckoo_flat_bytes(flat);
	CuckooAggParams params;
	CuckooHeader h;

	if (size < CUCKOO_STATE_HEADER_SIZE)
		return "shorter than a header";
	if (bytes[CUCKOO_STATE_AT_MAGIC] != 'C' ||
		bytes[CUCKOO_STATE_AT_MAGIC + 1] != 'S')
		return "first two bytes are not \"CS\"";
	if (bytes[CUCKOO_STATE_AT_VERSION] != CUCKOO_STATE_VERSION)
		return "unknown version";
	cuckoo_flat_read_params(flat, &params);
	if (params.family == CUCKOO_FAMILY_NONE ||
		params.family > CUCKOO_FAMILY_LAST ||
		(params.tag != 0 && params.family != CUCKOO_FAMILY_OTHER))
		return "unknown element family";
	if (bytes[CUCKOO_STATE_AT_RESERVED] != 0)
		return "reserved byte is not zero";
	if (params.bits < CUCKOO_CORE_BITS || params.bits > STATE_BITS_MAX ||
		params.capacity < 0 ||
		(params.capacity > 0 &&
		 cuckoo_header_sized(&h, (uint64) params.capacity, params.bits,
							 params.seed) != CUCKOO_OK))
		return "fingerprint bits or capacity out of range";
	if (cuckoo_load64(bytes + CUCKOO_STATE_AT_COUNT) >
		CUCKOO_FLAT_ROOM(VARSIZE(flat)))
		return "length does not agree with the number of hashes";
	return NULL;
}

/* Returns why a flat state from outside is invalid, or NULL. */
static const char *
find_problem(const struct varlena *flat)
{
	const char *problem = find_header_problem(flat);

	if (problem != NULL)
		return problem;
	if (VARSIZE(flat) != cuckoo_flat_size(cuckoo_flat_count(flat)))
		return "length does not agree with the number of hashes";
	for (Size i = 1; i < cuckoo_flat_count(flat); i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (cuckoo_load64(cuckoo_flat_hash(flat, i)) <=
			cuckoo_load64(cuckoo_flat_hash(flat, i - 1)))
			return "hashes are not in order";
	}
	return NULL;
}

/* Throws an error if a flat state that came as bytes is invalid. */
static void
check_input(const struct varlena *flat)
{
	const char *problem = find_problem(flat);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Pass the complete, unaltered bytes of a cuckoostate.")));
}

void
cuckoo_check_flat(const struct varlena *flat)
{
	const char *problem = find_header_problem(flat);

	if (unlikely(problem != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("corrupt cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Compute the state again from the original values.")));
}

/* A copy of a state in the flat form, without room for more hashes. */
static struct varlena *
pack_state(Datum datum)
{
	struct varlena *flat = PG_DETOAST_DATUM_COPY(datum);

	cuckoo_check_flat(flat);
	SET_VARSIZE(flat, cuckoo_flat_size(cuckoo_flat_count(flat)));
	return flat;
}

/* cuckoo_state_final(state): the state as a value */
Datum
cuckoo_state_final(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(pack_state(PG_GETARG_DATUM(0)));
}

Datum
cuckoostate_in(PG_FUNCTION_ARGS)
{
	struct varlena *flat = cuckoo_base64_decode(PG_GETARG_CSTRING(0));
	const char *problem = flat == NULL ? "not base64" : find_problem(flat);

	if (problem != NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Create a cuckoostate with cf_state_agg(), or copy the complete text of an existing one.")));
	PG_RETURN_POINTER(flat);
}

Datum
cuckoostate_out(PG_FUNCTION_ARGS)
{
	struct varlena *flat = pack_state(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(cuckoo_base64_encode(cuckoo_flat_bytes(flat),
										   VARSIZE(flat) - VARHDRSZ));
}

Datum
cuckoostate_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buf->len - buf->cursor;
	struct varlena *flat = cuckoo_new_datum(size);

	pq_copymsgbytes(buf, VARDATA(flat), size);
	check_input(flat);
	PG_RETURN_POINTER(flat);
}

Datum
cuckoostate_send(PG_FUNCTION_ARGS)
{
	struct varlena *flat = pack_state(PG_GETARG_DATUM(0));
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, (const void *) cuckoo_flat_bytes(flat),
				 VARSIZE(flat) - VARHDRSZ);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* cuckoo_agg_serialize(internal): the bytes of the flat form */
Datum
cuckoo_agg_serialize(PG_FUNCTION_ARGS)
{
	CuckooAggState state;

	/* the receiver flattens an expanded one, as it does any bytea */
	cuckoo_open_state(&state, PG_GETARG_DATUM(0), false);
	if (state.expanded != NULL)
		PG_RETURN_DATUM(EOHPGetRODatum(&state.expanded->hdr));
	PG_RETURN_POINTER(pack_state(PG_GETARG_DATUM(0)));
}

/* cuckoo_agg_deserialize(bytea, internal) */
Datum
cuckoo_agg_deserialize(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_BYTEA_P(0);

	check_input(flat);
	PG_RETURN_POINTER(flat);
}
