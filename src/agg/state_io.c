/*-------------------------------------------------------------------------
 *
 * agg/state_io.c
 *		States of cf_agg as bytes: the type cuckoostate, and serialized states
 *		of STYPE internal.
 *
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"

#include "libpq/pqformat.h"

PG_FUNCTION_INFO_V1(cuckoostate_in);
PG_FUNCTION_INFO_V1(cuckoostate_out);
PG_FUNCTION_INFO_V1(cuckoostate_recv);
PG_FUNCTION_INFO_V1(cuckoostate_send);
PG_FUNCTION_INFO_V1(cuckoo_agg_serialize);
PG_FUNCTION_INFO_V1(cuckoo_agg_deserialize);

/* Throws error 22P03 if a flat state from outside is invalid. */
static void
check_input(const struct varlena *flat)
{
	const char *problem = cuckoo_flat_problem(flat);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Pass the complete, unaltered bytes of a cuckoostate.")));
}

/* Returns a flat copy of a state, without room for more hashes. */
static struct varlena *
pack_state(Datum datum)
{
	struct varlena *flat = PG_DETOAST_DATUM_COPY(datum);

	cuckoo_check_flat(flat);
	SET_VARSIZE(flat, cuckoo_flat_size(cuckoo_flat_count(flat)));
	return flat;
}

Datum
cuckoostate_in(PG_FUNCTION_ARGS)
{
	struct varlena *flat = cuckoo_base64_decode(PG_GETARG_CSTRING(0));
	const char *problem = flat == NULL ? "not base64"
		: cuckoo_flat_problem(flat);

	if (problem != NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoostate"),
				 errdetail("The state is invalid: %s.", problem),
				 errhint("Pass the complete, unaltered text of a cuckoostate.")));
	PG_RETURN_POINTER(flat);
}

Datum
cuckoostate_out(PG_FUNCTION_ARGS)
{
	struct varlena *flat = pack_state(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(cuckoo_base64_encode((uint8 *) VARDATA(flat),
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
	PG_RETURN_POINTER(pack_state(PG_GETARG_DATUM(0)));
}

/* cuckoo_agg_serialize(internal): the bytes of the flat state */
Datum
cuckoo_agg_serialize(PG_FUNCTION_ARGS)
{
	CuckooAggState state;

	/* an expanded state is flattened when it becomes part of a tuple */
	cuckoo_open_state(&state, PG_GETARG_DATUM(0), false);
	if (state.expanded != NULL)
		PG_RETURN_DATUM(EOHPGetRODatum(&state.expanded->hdr));
	PG_RETURN_POINTER(pack_state(PG_GETARG_DATUM(0)));
}

Datum
cuckoo_agg_deserialize(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_BYTEA_P(0);

	check_input(flat);
	PG_RETURN_POINTER(flat);
}
