/*-------------------------------------------------------------------------
 *
 * element/hash.c
 *		From a Datum to the 64-bit hash of its element.
 *
 * Equal values of a family are the same element.  The hash is XXH3, 64 bits,
 * with the filter's seed, of canonical bytes.  These depend only on the value:
 * they are the same on every machine and in databases of every encoding.
 * FORMAT.md, "Element to hash", specifies the bytes.
 *
 * A renamed enum label is another element.  Text under a nondeterministic
 * collation has the family "other", because different bytes may be equal there.
 * The hashes of "other" are PostgreSQL's.  They are stable only within a major
 * version and a byte order.
 *
 * element/family.c has the family and encoding of each type.
 *
 *-------------------------------------------------------------------------
 */
#include "element/element.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include <math.h>
#include <sys/socket.h>

PG_FUNCTION_INFO_V1(cf_hash);

static uint64
hash_int64(int64 value, uint64 seed)
{
	uint8		bytes[8];

	cuckoo_store64(bytes, (uint64) value);
	return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
}

/*
 * PostgreSQL's hash of a value.  The function may be user-defined.  It may not
 * change an expanded object, because <@ ANY hashes the object for each filter.
 */
static Datum
extended_hash(const CuckooHasher *hasher, Datum value)
{
	return FunctionCall2Coll(hasher->hash_proc, hasher->collation,
							 MakeExpandedObjectReadOnly(value, false,
														hasher->length),
							 Int64GetDatum(0));
}

/* An array: PostgreSQL's hash ignores the shape, so this adds the shape. */
static uint64
hash_shaped(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	AnyArrayType *array = DatumGetAnyArrayP(value);
	bool		expanded = VARATT_IS_EXPANDED_HEADER(array);
	uint8		bytes[8 + 4 + MAXDIM * 8];
	int			ndim = AARR_NDIM(array);
	int			size = 12;
	Datum		hash;

	/* detoast only once; if `array` is expanded, it is not a datum */
	hash = extended_hash(hasher, expanded ? value : PointerGetDatum(array));
	cuckoo_store64(bytes, DatumGetInt64(hash));
	cuckoo_store32(bytes + 8, ndim);
	for (int i = 0; i < ndim; i++, size += 8)
	{
		cuckoo_store32(bytes + size, AARR_DIMS(array)[i]);
		cuckoo_store32(bytes + size + 4, AARR_LBOUND(array)[i]);
	}
	if (!expanded && (Pointer) array != DatumGetPointer(value))
		pfree(array);
	return XXH3_64bits_withSeed(bytes, size, seed);
}

/*
 * Text in the server's encoding: hashed as UTF-8, or by PostgreSQL's function
 * under a nondeterministic collation.  char(n) loses its trailing blanks.
 */
static uint64
hash_text(const CuckooHasher *hasher, const char *text, int len, uint64 seed)
{
	int			encoding = GetDatabaseEncoding();

	if (hasher->encoding == CUCKOO_ENCODING_BPCHAR)
		len = bpchartruelen((char *) text, len);
	if (hasher->hash_proc != NULL)
	{
		struct varlena *copy = cstring_to_text_with_len(text, len);
		Datum		hash = extended_hash(hasher, PointerGetDatum(copy));

		pfree(copy);
		return hash_int64(DatumGetInt64(hash), seed);
	}

	/* SQL_ASCII is no encoding, so its bytes are hashed unchanged */
	if (encoding != PG_UTF8 && encoding != PG_SQL_ASCII)
	{
		char	   *utf8 = pg_server_to_any(text, len, PG_UTF8);

		if (utf8 != text)
		{
			uint64		hash = XXH3_64bits_withSeed(utf8, strlen(utf8), seed);

			/* one call may hash all elements of a large array */
			pfree(utf8);
			return hash;
		}
	}
	return XXH3_64bits_withSeed(text, len, seed);
}

static uint64
hash_float8(float8 value, uint64 seed)
{
	uint64		bits;

	if (isnan(value))
		return hash_int64(INT64CONST(0x7ff8000000000000), seed);
	if (value == 0.0)			/* or -0 */
		return hash_int64(0, seed);
	memcpy(&bits, &value, sizeof(bits));
	return hash_int64((int64) bits, seed);
}

static uint64
hash_enum(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	char	   *label = DatumGetCString(DirectFunctionCall1(enum_out, value));
	uint64		hash = hash_text(hasher, label, strlen(label), seed);

	pfree(label);
	return hash;
}

/* "char" as output since PostgreSQL 16: "" for 0, and "\351" for 233. */
static uint64
hash_char(const CuckooHasher *hasher, char value, uint64 seed)
{
	char		text[5] = {value, '\0'};

	if (IS_HIGHBIT_SET(value))
		snprintf(text, sizeof(text), "\\%03o", (unsigned char) value);
	return hash_text(hasher, text, strlen(text), seed);
}

/* The bytes of a varlena value: bytea or text. */
static uint64
hash_varlena(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	const char *bytes = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	uint64		hash;

	hash = hasher->encoding == CUCKOO_ENCODING_BYTEA ?
		XXH3_64bits_withSeed(bytes, len, seed) :
		hash_text(hasher, bytes, len, seed);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return hash;
}

/* An address or network, with its host bits. */
static uint64
hash_inet(Datum value, uint64 seed)
{
	inet	   *ip = DatumGetInetPP(value);
	uint8		bytes[2 + 16];
	uint64		hash;

	bytes[0] = ip_family(ip) == PGSQL_AF_INET ? 4 : 6;
	bytes[1] = ip_bits(ip);
	memcpy(bytes + 2, ip_addr(ip), ip_addrsize(ip));
	hash = XXH3_64bits_withSeed(bytes, 2 + ip_addrsize(ip), seed);
	if ((Pointer) ip != DatumGetPointer(value))
		pfree(ip);
	return hash;
}

/*
 * The bytes of a numeric are "0" for zero, "N" for NaN, "I" for plus infinity
 * and "i" for minus infinity.  Any other value is c * 10^e with an integer c
 * that does not end with a zero.  Its bytes are the sign, e as int32, and the
 * decimal digits of c.  Example: 1.5 and 1.50 give "+", -1, "15".  The digits
 * come from numeric_send(), in groups of four.
 */
static uint64
hash_decimal(Datum value, uint64 seed)
{
	bytea	   *binary = DatumGetByteaP(DirectFunctionCall1(numeric_send,
															value));
	const uint8 *p = (uint8 *) VARDATA(binary);
	int			groups = p[0] << 8 | p[1];
	int			weight = (int16) (p[2] << 8 | p[3]);
	int			sign = p[4] << 8 | p[5];
	char		room[200];
	char	   *bytes = groups > 40 ? palloc(5 + 4 * groups) : room;
	char	   *digits = bytes + 5;
	int			n = 0;
	int			first = 0;
	uint64		hash;

	for (int i = 0; i < groups; i++)
		for (int unit = 1000, group = p[8 + 2 * i] << 8 | p[9 + 2 * i];
			 unit > 0; unit /= 10)
			digits[n++] = (char) ('0' + group / unit % 10);
	while (n > 0 && digits[n - 1] == '0')
		n--;
	while (first < n && digits[first] == '0')
		first++;

	/* move the digits without leading zeros after sign and exponent */
	memmove(digits, digits + first, n - first);
	bytes[0] = sign == 0x4000 ? '-' : '+';
	cuckoo_store32((uint8 *) bytes + 1, (uint32) (4 * (weight + 1) - n));
	if (sign >= 0xc000)
	{
		bytes[0] = sign == 0xd000 ? 'I' : sign == 0xf000 ? 'i' : 'N';
		hash = XXH3_64bits_withSeed(bytes, 1, seed);
	}
	else if (n == first)
		hash = XXH3_64bits_withSeed("0", 1, seed);
	else
		hash = XXH3_64bits_withSeed(bytes, 5 + n - first, seed);
	if (bytes != room)
		pfree(bytes);
	pfree(binary);
	return hash;
}

/*
 * An interval in microseconds, in 128 bits.  A month has 30 days and a day 24
 * hours, as in comparisons.  The low 20 bits of the days, and the bits above,
 * are converted to microseconds separately, so that no product exceeds 64 bits.
 */
static uint64
hash_interval(Datum value, uint64 seed)
{
	const		Interval *interval = DatumGetIntervalP(value);
	int64		days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	int64		parts[2];
	int64		upper = (days >> 20) * USECS_PER_DAY;
	uint64		low = (uint64) upper << 20;
	uint64		high = (uint64) (upper >> 44);
	uint8		bytes[16];

	parts[0] = (days & 0xfffff) * USECS_PER_DAY;
	parts[1] = interval->time;
	for (int i = 0; i < 2; i++)
	{
		low += (uint64) parts[i];
		high += (uint64) (parts[i] >> 63) + (low < (uint64) parts[i]);
	}
	cuckoo_store64(bytes, low);
	cuckoo_store64(bytes + 8, high);
	return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
}

uint64
cuckoo_hash(const CuckooHasher *hasher, Datum value, uint64 seed)
{
	switch (hasher->encoding)
	{
		case CUCKOO_ENCODING_INT2:
			return hash_int64(DatumGetInt16(value), seed);
		case CUCKOO_ENCODING_INT4:
			return hash_int64(DatumGetInt32(value), seed);
		case CUCKOO_ENCODING_INT8:
			return hash_int64(DatumGetInt64(value), seed);
		case CUCKOO_ENCODING_TEXT:
		case CUCKOO_ENCODING_BPCHAR:
		case CUCKOO_ENCODING_BYTEA:
			return hash_varlena(hasher, value, seed);
		case CUCKOO_ENCODING_NAME:
			return hash_text(hasher, NameStr(*DatumGetName(value)),
							 strlen(NameStr(*DatumGetName(value))), seed);
		case CUCKOO_ENCODING_CHAR:
			return hash_char(hasher, DatumGetChar(value), seed);
		case CUCKOO_ENCODING_ENUM:
			return hash_enum(hasher, value, seed);
		case CUCKOO_ENCODING_UUID:
			return XXH3_64bits_withSeed(DatumGetUUIDP(value)->data, UUID_LEN,
										seed);
		case CUCKOO_ENCODING_BOOL:
			{
				uint8		byte = DatumGetBool(value);

				return XXH3_64bits_withSeed(&byte, 1, seed);
			}
		case CUCKOO_ENCODING_DATE:
			{
				uint8		bytes[4];

				cuckoo_store32(bytes, (uint32) DatumGetInt32(value));
				return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
			}
		case CUCKOO_ENCODING_FLOAT4:
			return hash_float8(DatumGetFloat4(value), seed);
		case CUCKOO_ENCODING_FLOAT8:
			return hash_float8(DatumGetFloat8(value), seed);
		case CUCKOO_ENCODING_INET:
			return hash_inet(value, seed);
		case CUCKOO_ENCODING_MACADDR:
			return XXH3_64bits_withSeed(DatumGetPointer(value), 6, seed);
		case CUCKOO_ENCODING_MACADDR8:
			return XXH3_64bits_withSeed(DatumGetPointer(value), 8, seed);
		case CUCKOO_ENCODING_NUMERIC:
			return hash_decimal(value, seed);
		case CUCKOO_ENCODING_INTERVAL:
			return hash_interval(value, seed);
		case CUCKOO_ENCODING_ARRAY:
			return hash_shaped(hasher, value, seed);
		default:
			Assert(hasher->encoding == CUCKOO_ENCODING_OTHER);
			return hash_int64(DatumGetInt64(extended_hash(hasher, value)),
							  seed);
	}
}

/* cf_hash(element, seed): the hash of the element in filters with this seed */
Datum
cf_hash(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = cuckoo_hasher(fcinfo, 0, sizeof(CuckooHasher));

	PG_RETURN_INT64((int64) cuckoo_hash(hasher, PG_GETARG_DATUM(0),
										(uint64) PG_GETARG_INT64(1)));
}
