/*-------------------------------------------------------------------------
 *
 * cuckoofilter.c
 *		The library: filters around the core, and the hashes of elements.
 *
 * The core (src/core) validates images and looks up hashes.  What it does not
 * have is here: memory, base64, and the canonical bytes of elements, which
 * FORMAT.md specifies ("Element to hash").  literal.c reads values in the form
 * of text.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoofilter.h"
#include "core/core.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>
#include <stdlib.h>

#define DAYS_TO_2000	10957	/* from 1970-01-01 */
#define DAY				INT64_C(86400000000)	/* microseconds */

/* PostgreSQL's range in days since 2000: from 4714-11-24 BC */
#define FIRST_DAY		(-2451545)
#define LAST_DATE		2145031948	/* 5874897-12-31 */

struct cuckoofilter
{
	CuckooHeader h;
	const uint8_t *image;
	uint8_t		own[];			/* the image, unless it is borrowed */
};

/* ---- filters ------------------------------------------------------------ */

/* Makes a filter of an image, of which `own` bytes are to be copied. */
static int
open_image(const void *image, size_t size, size_t own, cuckoofilter **filter)
{
	CuckooStatus status = cuckoo_validate(image, size);

	*filter = NULL;
	if (status != CUCKOO_OK)
		return CUCKOOFILTER_INVALID_IMAGE - (int) status;
	*filter = malloc(sizeof(cuckoofilter) + own);
	if (*filter == NULL)
		return CUCKOOFILTER_OUT_OF_MEMORY;
	if (own > 0)
		memcpy((*filter)->own, image, own);
	(*filter)->image = own > 0 ? (*filter)->own : image;
	cuckoo_header_read(&(*filter)->h, image, size);
	return CUCKOOFILTER_OK;
}

int
cuckoofilter_open(const void *image, size_t size, cuckoofilter **filter)
{
	return open_image(image, size, size, filter);
}

int
cuckoofilter_open_borrowed(const void *image, size_t size,
						   cuckoofilter **filter)
{
	return open_image(image, size, 0, filter);
}

/* The value of a digit of base64, or -1. */
static int
digit_value(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A'
		: c >= 'a' && c <= 'z' ? c - 'a' + 26
		: c >= '0' && c <= '9' ? c - '0' + 52
		: c == '+' ? 62
		: c == '/' ? 63
		: -1;
}

/*
 * Decodes base64, in which white space may be anywhere, to at most
 * length / 4 * 3 + 2 bytes.  Returns false for all but what encoding would
 * make of the bytes.
 */
static bool
decode(const char *text, size_t length, uint8_t *bytes, size_t *size)
{
	uint32_t	group = 0;
	size_t		digits = 0;
	size_t		padding = 0;

	*size = 0;
	for (size_t i = 0; i < length; i++)
	{
		int			value = digit_value(text[i]);

		if (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' ||
			text[i] == '\n')
			continue;
		if (text[i] == '=')
		{
			padding++;
			continue;
		}
		if (value < 0 || padding > 0)
			return false;
		group = group << 6 | (uint32_t) value;
		if (++digits % 4 == 0)
			for (int shift = 16; shift >= 0; shift -= 8)
				bytes[(*size)++] = (uint8_t) (group >> shift);
	}
	switch (digits % 4)
	{
		case 0:
			return padding == 0;
		case 2:
			bytes[(*size)++] = (uint8_t) (group >> 4);
			return padding == 2 && (group & 0xf) == 0;
		case 3:
			bytes[(*size)++] = (uint8_t) (group >> 10);
			bytes[(*size)++] = (uint8_t) (group >> 2);
			return padding == 1 && (group & 0x3) == 0;
		default:
			return false;
	}
}

int
cuckoofilter_open_text(const char *text, size_t length, cuckoofilter **filter)
{
	cuckoofilter *f = malloc(sizeof(cuckoofilter) + length / 4 * 3 + 2);
	CuckooStatus status;
	size_t		size;

	*filter = NULL;
	if (f == NULL)
		return CUCKOOFILTER_OUT_OF_MEMORY;
	if (!decode(text, length, f->own, &size))
	{
		free(f);
		return CUCKOOFILTER_NOT_BASE64;
	}
	status = cuckoo_validate(f->own, size);
	if (status != CUCKOO_OK)
	{
		free(f);
		return CUCKOOFILTER_INVALID_IMAGE - (int) status;
	}
	f->image = f->own;
	cuckoo_header_read(&f->h, f->image, size);
	*filter = f;
	return CUCKOOFILTER_OK;
}

void
cuckoofilter_close(cuckoofilter *filter)
{
	free(filter);
}

const char *
cuckoofilter_status_text(int status)
{
	switch (status)
	{
		case CUCKOOFILTER_OK:
			return "no error";
		case CUCKOOFILTER_OUT_OF_MEMORY:
			return "out of memory";
		case CUCKOOFILTER_NOT_BASE64:
			return "not valid base64";
		case CUCKOOFILTER_OTHER_FAMILY:
			return "the filter holds elements of another family";
		case CUCKOOFILTER_INVALID_VALUE:
			return "not a value of this type";
		default:
			return status < CUCKOOFILTER_INVALID_IMAGE && status > -1000
				? cuckoo_status_text((CuckooStatus) (CUCKOOFILTER_INVALID_IMAGE - status))
				: "unknown status";
	}
}

int
cuckoofilter_family(const cuckoofilter *filter)
{
	return filter->h.family;
}

const char *
cuckoofilter_family_name(int family)
{
	static const char *const names[] = {
		"none", "integer", "text", "bytea", "uuid", "boolean", "date",
		"timestamp", "timestamptz", "float", "other", "inet", "macaddr",
		"macaddr8", "numeric", "time", "interval"
	};

	return family >= 0 && (size_t) family < sizeof(names) / sizeof(names[0])
		? names[family] : "unknown";
}

uint64_t
cuckoofilter_items(const cuckoofilter *filter)
{
	return filter->h.items;
}

uint64_t
cuckoofilter_capacity(const cuckoofilter *filter)
{
	return cuckoo_capacity(&filter->h);
}

double
cuckoofilter_fpp(const cuckoofilter *filter)
{
	return cuckoo_fpp_now(&filter->h);
}

int64_t
cuckoofilter_seed(const cuckoofilter *filter)
{
	return (int64_t) filter->h.seed;
}

size_t
cuckoofilter_size(const cuckoofilter *filter)
{
	return (size_t) cuckoo_image_size(&filter->h);
}

/* ---- lookups ------------------------------------------------------------ */

int
cuckoofilter_contains_hash(const cuckoofilter *filter, uint64_t hash)
{
	return cuckoo_contains(&filter->h, filter->image, hash);
}

int
cuckoofilter_count_hash(const cuckoofilter *filter, uint64_t hash)
{
	return cuckoo_copies(&filter->h, filter->image, hash);
}

void
cuckoofilter_contains_hashes(const cuckoofilter *filter,
							 const uint64_t *hashes, size_t n, bool *found)
{
	cuckoo_contains_batch(&filter->h, filter->image, hashes, n, found);
}

/* ---- elements ----------------------------------------------------------- */

/* True if the filter may be asked about elements of the family. */
static inline bool
takes(const cuckoofilter *filter, int family)
{
	return filter->h.family == family ||
		filter->h.family == CUCKOOFILTER_NONE;
}

static inline int
hash_bytes(const cuckoofilter *filter, int family, const void *bytes,
		   size_t size, uint64_t *hash)
{
	if (!takes(filter, family))
		return CUCKOOFILTER_OTHER_FAMILY;
	*hash = XXH3_64bits_withSeed(bytes, size, filter->h.seed);
	return CUCKOOFILTER_OK;
}

static inline int
hash_int64(const cuckoofilter *filter, int family, int64_t value,
		   uint64_t *hash)
{
	uint8_t		bytes[8];

	cuckoo_store64(bytes, (uint64_t) value);
	return hash_bytes(filter, family, bytes, sizeof(bytes), hash);
}

int
cuckoofilter_hash_int64(const cuckoofilter *filter, int64_t value,
						uint64_t *hash)
{
	return hash_int64(filter, CUCKOOFILTER_INTEGER, value, hash);
}

/*
 * The bytes of the UTF-8 character at `text`, or 0 if there is none.  Only the
 * shortest form is one, and neither are surrogates, nor what is beyond
 * U+10FFFF.
 */
static inline size_t
utf8_length(const uint8_t *text, size_t length)
{
	uint8_t		least = 0x80;
	uint8_t		most = 0xbf;
	size_t		size;

	if (text[0] < 0x80)
		return 1;
	size = text[0] < 0xc2 || text[0] > 0xf4 ? 0
		: text[0] < 0xe0 ? 2
		: text[0] < 0xf0 ? 3
		: 4;
	switch (text[0])
	{
		case 0xe0:
			least = 0xa0;
			break;
		case 0xed:
			most = 0x9f;
			break;
		case 0xf0:
			least = 0x90;
			break;
		case 0xf4:
			most = 0x8f;
			break;
	}
	if (size > length || (size > 0 && (text[1] < least || text[1] > most)))
		return 0;
	for (size_t i = 2; i < size; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return size;
}

int
cuckoofilter_hash_text(const cuckoofilter *filter, const char *text,
					   size_t length, uint64_t *hash)
{
	const uint8_t *bytes = (const uint8_t *) text;

	/* PostgreSQL's text cannot contain a zero byte */
	if (length > 0 && memchr(text, 0, length) != NULL)
		return CUCKOOFILTER_INVALID_VALUE;
	for (size_t at = 0; at < length;)
	{
		size_t		size;

		/* eight at once, which mostly are ASCII */
		if (length - at >= 8 &&
			(cuckoo_load64(bytes + at) & UINT64_C(0x8080808080808080)) == 0)
			size = 8;
		else
			size = utf8_length(bytes + at, length - at);
		if (size == 0)
			return CUCKOOFILTER_INVALID_VALUE;
		at += size;
	}
	return hash_bytes(filter, CUCKOOFILTER_TEXT, text, length, hash);
}

int
cuckoofilter_hash_bytea(const cuckoofilter *filter, const void *bytes,
						size_t size, uint64_t *hash)
{
	return hash_bytes(filter, CUCKOOFILTER_BYTEA, bytes, size, hash);
}

int
cuckoofilter_hash_uuid(const cuckoofilter *filter, const void *bytes,
					   uint64_t *hash)
{
	return hash_bytes(filter, CUCKOOFILTER_UUID, bytes, 16, hash);
}

int
cuckoofilter_hash_boolean(const cuckoofilter *filter, int value,
						  uint64_t *hash)
{
	uint8_t		byte = value != 0;

	return hash_bytes(filter, CUCKOOFILTER_BOOLEAN, &byte, 1, hash);
}

int
cuckoofilter_hash_date(const cuckoofilter *filter, int32_t days,
					   uint64_t *hash)
{
	uint8_t		bytes[4];

	if (days != INT32_MAX && days != INT32_MIN)
	{
		if (days < FIRST_DAY + DAYS_TO_2000 ||
			days - DAYS_TO_2000 > LAST_DATE)
			return CUCKOOFILTER_INVALID_VALUE;
		days -= DAYS_TO_2000;
	}
	cuckoo_store32(bytes, (uint32_t) days);
	return hash_bytes(filter, CUCKOOFILTER_DATE, bytes, sizeof(bytes), hash);
}

static int
hash_timestamp(const cuckoofilter *filter, int family, int64_t microseconds,
			   uint64_t *hash)
{
	if (microseconds != INT64_MAX && microseconds != INT64_MIN)
	{
		/* PostgreSQL's last 29 years are beyond INT64_MAX here */
		if (microseconds < (FIRST_DAY + DAYS_TO_2000) * DAY)
			return CUCKOOFILTER_INVALID_VALUE;
		microseconds -= DAYS_TO_2000 * DAY;
	}
	return hash_int64(filter, family, microseconds, hash);
}

int
cuckoofilter_hash_timestamp(const cuckoofilter *filter, int64_t microseconds,
							uint64_t *hash)
{
	return hash_timestamp(filter, CUCKOOFILTER_TIMESTAMP, microseconds, hash);
}

int
cuckoofilter_hash_timestamptz(const cuckoofilter *filter,
							  int64_t microseconds, uint64_t *hash)
{
	return hash_timestamp(filter, CUCKOOFILTER_TIMESTAMPTZ, microseconds,
						  hash);
}

int
cuckoofilter_hash_float64(const cuckoofilter *filter, double value,
						  uint64_t *hash)
{
	int64_t		bits = 0;		/* of -0, too */

	if (isnan(value))
		bits = INT64_C(0x7ff8000000000000);
	else if (value != 0)
		memcpy(&bits, &value, sizeof(bits));
	return hash_int64(filter, CUCKOOFILTER_FLOAT, bits, hash);
}

int
cuckoofilter_hash_inet(const cuckoofilter *filter, const void *address,
					   size_t size, int mask, uint64_t *hash)
{
	uint8_t		bytes[18] = {size == 4 ? 4 : 6, (uint8_t) mask};

	if ((size != 4 && size != 16) || mask < 0 || (size_t) mask > size * 8)
		return CUCKOOFILTER_INVALID_VALUE;
	memcpy(bytes + 2, address, size);
	return hash_bytes(filter, CUCKOOFILTER_INET, bytes, size + 2, hash);
}

int
cuckoofilter_hash_macaddr(const cuckoofilter *filter, const void *bytes,
						  uint64_t *hash)
{
	return hash_bytes(filter, CUCKOOFILTER_MACADDR, bytes, 6, hash);
}

int
cuckoofilter_hash_macaddr8(const cuckoofilter *filter, const void *bytes,
						   uint64_t *hash)
{
	return hash_bytes(filter, CUCKOOFILTER_MACADDR8, bytes, 8, hash);
}

int
cuckoofilter_hash_time(const cuckoofilter *filter, int64_t microseconds,
					   uint64_t *hash)
{
	if (microseconds < 0 || microseconds > DAY)
		return CUCKOOFILTER_INVALID_VALUE;
	return hash_int64(filter, CUCKOOFILTER_TIME, microseconds, hash);
}

/* Adds to a number of 128 bits in two's complement. */
static void
add_int128(uint64_t number[2], int64_t summand)
{
	number[0] += (uint64_t) summand;
	number[1] += (summand < 0 ? UINT64_MAX : 0) +
		(number[0] < (uint64_t) summand);
}

int
cuckoofilter_hash_interval(const cuckoofilter *filter, int32_t months,
						   int32_t days, int64_t microseconds, uint64_t *hash)
{
	/* below 2^37: the low 20 bits and the others are multiplied apart */
	int64_t		all_days = (int64_t) months * 30 + days;
	uint64_t	number[2] = {0, 0};
	uint8_t		bytes[16];

	add_int128(number, all_days / (1 << 20) * DAY);
	number[1] = number[1] << 20 | number[0] >> 44;
	number[0] <<= 20;
	add_int128(number, all_days % (1 << 20) * DAY);
	add_int128(number, microseconds);
	cuckoo_store64(bytes, number[0]);
	cuckoo_store64(bytes + 8, number[1]);
	return hash_bytes(filter, CUCKOOFILTER_INTERVAL, bytes, sizeof(bytes),
					  hash);
}

/* ---- from hash to answer ------------------------------------------------ */

#define CONTAINS(type, declared, passed) \
int \
cuckoofilter_contains_##type declared \
{ \
	uint64_t	hash; \
	int			status = cuckoofilter_hash_##type passed; \
\
	return status != CUCKOOFILTER_OK ? status \
		: cuckoofilter_contains_hash(filter, hash); \
}

CONTAINS(int64, (const cuckoofilter *filter, int64_t value),
		 (filter, value, &hash))
CONTAINS(text, (const cuckoofilter *filter, const char *text, size_t length),
		 (filter, text, length, &hash))
CONTAINS(bytea, (const cuckoofilter *filter, const void *bytes, size_t size),
		 (filter, bytes, size, &hash))
CONTAINS(uuid, (const cuckoofilter *filter, const void *bytes),
		 (filter, bytes, &hash))
CONTAINS(boolean, (const cuckoofilter *filter, int value),
		 (filter, value, &hash))
CONTAINS(date, (const cuckoofilter *filter, int32_t days),
		 (filter, days, &hash))
CONTAINS(timestamp, (const cuckoofilter *filter, int64_t microseconds),
		 (filter, microseconds, &hash))
CONTAINS(timestamptz, (const cuckoofilter *filter, int64_t microseconds),
		 (filter, microseconds, &hash))
CONTAINS(float64, (const cuckoofilter *filter, double value),
		 (filter, value, &hash))
CONTAINS(inet, (const cuckoofilter *filter, const void *address, size_t size,
				int mask),
		 (filter, address, size, mask, &hash))
CONTAINS(macaddr, (const cuckoofilter *filter, const void *bytes),
		 (filter, bytes, &hash))
CONTAINS(macaddr8, (const cuckoofilter *filter, const void *bytes),
		 (filter, bytes, &hash))
CONTAINS(time, (const cuckoofilter *filter, int64_t microseconds),
		 (filter, microseconds, &hash))
CONTAINS(interval, (const cuckoofilter *filter, int32_t months, int32_t days,
					int64_t microseconds),
		 (filter, months, days, microseconds, &hash))
CONTAINS(literal, (const cuckoofilter *filter, const char *text,
				   size_t length),
		 (filter, text, length, &hash))
