/*-------------------------------------------------------------------------
 *
 * index/hash.c
 *		Hashing rows by the support functions of operator classes.
 *
 * An operator class has one support function, (type, bigint) to bigint.  It is
 * like the second support function of access method hash.  Equal values have
 * equal hashes, even if their types differ but share an operator family.
 *
 * Most support functions are PostgreSQL's.  This file has the others, which SQL
 * calls cuckoo_hash().  They are for types whose function in PostgreSQL folds
 * 64 bits to 32, is declared for another type, or is wrong: see hash_as_text()
 * and cuckoo_hash_record().
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoo_hash_int16);
PG_FUNCTION_INFO_V1(cuckoo_hash_int32);
PG_FUNCTION_INFO_V1(cuckoo_hash_int64);
PG_FUNCTION_INFO_V1(cuckoo_hash_bool);
PG_FUNCTION_INFO_V1(cuckoo_hash_bytea);
PG_FUNCTION_INFO_V1(cuckoo_hash_bpchar);
PG_FUNCTION_INFO_V1(cuckoo_hash_name);
PG_FUNCTION_INFO_V1(cuckoo_hash_record);

uint64
cuckoo_hash_row(Relation rel, MemoryContext context, uint64 seed,
				int hash_bits, FmgrInfo *const *procs, const Datum *values)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	uint64		hash = seed;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rel); i++)
	{
		FmgrInfo   *proc = procs != NULL ? procs[i] :
			index_getprocinfo(rel, i + 1, CUCKOO_HASH_PROC);
		Datum		column = FunctionCall2Coll(proc, rel->rd_indcollation[i],
											   values[i],
											   Int64GetDatum((int64) seed));

		hash = cuckoo_mix64(hash ^ (uint64) DatumGetInt64(column));
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(context);
	return hash & ~(PG_UINT64_MAX >> 1 >> (hash_bits - 1));
}

Oid
cuckoo_equality(Relation rel, int column)
{
	Oid			type = rel->rd_opcintype[column];

	return get_opfamily_member(rel->rd_opfamily[column], type, type,
							   CUCKOO_EQUAL);
}

/* ---- support functions: cuckoo_hash(value, seed) ---- */

/* A permutation for each seed: different values have different hashes. */
static Datum
hash_int(int64 value, Datum seed)
{
	return Int64GetDatum((int64) cuckoo_mix64((uint64) value ^
											  (uint64) DatumGetInt64(seed)));
}

/* smallint */
Datum
cuckoo_hash_int16(PG_FUNCTION_ARGS)
{
	return hash_int(PG_GETARG_INT16(0), PG_GETARG_DATUM(1));
}

/* integer, date, oid, xid, cid */
Datum
cuckoo_hash_int32(PG_FUNCTION_ARGS)
{
	return hash_int(PG_GETARG_INT32(0), PG_GETARG_DATUM(1));
}

/* bigint, time, timestamp, timestamptz, xid8, pg_lsn */
Datum
cuckoo_hash_int64(PG_FUNCTION_ARGS)
{
	return hash_int(PG_GETARG_INT64(0), PG_GETARG_DATUM(1));
}

Datum
cuckoo_hash_bool(PG_FUNCTION_ARGS)
{
	return hash_int(PG_GETARG_BOOL(0), PG_GETARG_DATUM(1));
}

/* PostgreSQL's function, which SQL may not call with a bytea before 18. */
Datum
cuckoo_hash_bytea(PG_FUNCTION_ARGS)
{
	return hashvarlenaextended(fcinfo);
}

/*
 * Hashes characters as the text that they equal.  PostgreSQL's functions are
 * wrong for nondeterministic collations: hashnameextended() ignores the
 * collation, and hashbpcharextended() of 15 hashes the padding.
 */
static Datum
hash_as_text(const char *characters, int length, FunctionCallInfo fcinfo)
{
	text	   *value = cstring_to_text_with_len(characters, length);
	Datum		hash = DirectFunctionCall2Coll(hashtextextended,
											   PG_GET_COLLATION(),
											   PointerGetDatum(value),
											   PG_GETARG_DATUM(1));

	pfree(value);
	return hash;
}

Datum
cuckoo_hash_bpchar(PG_FUNCTION_ARGS)
{
	BpChar	   *value = PG_GETARG_BPCHAR_PP(0);
	char	   *characters = VARDATA_ANY(value);
	int			length = bpchartruelen(characters,
									   (int) VARSIZE_ANY_EXHDR(value));
	Datum		hash = hash_as_text(characters, length, fcinfo);

	PG_FREE_IF_COPY(value, 0);
	return hash;
}

Datum
cuckoo_hash_name(PG_FUNCTION_ARGS)
{
	const char *name = NameStr(*PG_GETARG_NAME(0));

	return hash_as_text(name, (int) strlen(name), fcinfo);
}

/*
 * Mixes the seed into the 32 bits of hash_record().  PostgreSQL's
 * hash_record_extended() may pass a null seed to the hash function of an
 * attribute: it sets the null flag of the value twice, and never the flag of
 * the seed.  Functions in SQL read that flag.
 */
Datum
cuckoo_hash_record(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, 1);

	/* with our FmgrInfo, because hash_record() keeps a cache there */
	InitFunctionCallInfoData(*call, fcinfo->flinfo, 1, PG_GET_COLLATION(), NULL,
							 NULL);
	call->args[0] = fcinfo->args[0];
	return hash_int(DatumGetInt32(hash_record(call)), PG_GETARG_DATUM(1));
}
