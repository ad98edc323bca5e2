/*-------------------------------------------------------------------------
 *
 * cuckoofilter.h
 *		Reads the filters of PostgreSQL's extension cuckoo, without a server.
 *
 * A filter is opened from its image (f::bytea, or the binary format) or from
 * its text (f::text), which are validated, and then asked about elements:
 *
 *	cuckoofilter *f;
 *	int			status = cuckoofilter_open(image, size, &f);
 *
 *	if (status != CUCKOOFILTER_OK)
 *		error(cuckoofilter_status_text(status));
 *	if (cuckoofilter_contains_int64(f, 17) != 0)
 *		ask_the_server(17);
 *	cuckoofilter_close(f);
 *
 * Each cuckoofilter_contains_...() returns 1 if the element is in the set, or
 * is a false positive; 0 if it is certainly not in the set; and a negative
 * status if the filter cannot tell.  A caller who tests for != 0 therefore
 * takes a failure for "maybe", never for "no".
 *
 * Every filter holds elements of one family.  An element of another family is
 * a failure and not a "no", because the set may contain the equal value of the
 * right family.  A filter of no family is empty and contains nothing.
 *
 * Any number of threads may use one filter at the same time.  The functions
 * keep no state besides the filter, and only those that open a filter allocate
 * memory.
 *
 * The functions are plain calls with numbers and pointers, for programs in
 * other languages.  FORMAT.md specifies the bytes and the hash.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOOFILTER_H
#define CUCKOOFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define CUCKOOFILTER_VISIBLE __attribute__((visibility("default")))
#else
#define CUCKOOFILTER_VISIBLE
#endif

#ifdef __cplusplus
#define CUCKOOFILTER_API extern "C" CUCKOOFILTER_VISIBLE
#else
#define CUCKOOFILTER_API extern CUCKOOFILTER_VISIBLE
#endif

typedef struct cuckoofilter cuckoofilter;

/*
 * What becomes of a call.  An image that is not valid gives
 * CUCKOOFILTER_INVALID_IMAGE or a number below it, by what is wrong with it.
 */
enum
{
	CUCKOOFILTER_OK = 0,
	CUCKOOFILTER_OUT_OF_MEMORY = -1,
	CUCKOOFILTER_NOT_BASE64 = -2,	/* the text of a filter */
	CUCKOOFILTER_OTHER_FAMILY = -3, /* the filter has another family */
	CUCKOOFILTER_INVALID_VALUE = -4,	/* no value of that type */
	CUCKOOFILTER_INVALID_IMAGE = -100
};

/* Families, with the numbers of FORMAT.md. */
enum
{
	CUCKOOFILTER_NONE = 0,
	CUCKOOFILTER_INTEGER = 1,
	CUCKOOFILTER_TEXT = 2,
	CUCKOOFILTER_BYTEA = 3,
	CUCKOOFILTER_UUID = 4,
	CUCKOOFILTER_BOOLEAN = 5,
	CUCKOOFILTER_DATE = 6,
	CUCKOOFILTER_TIMESTAMP = 7,
	CUCKOOFILTER_TIMESTAMPTZ = 8,
	CUCKOOFILTER_FLOAT = 9,
	CUCKOOFILTER_OTHER = 10,
	CUCKOOFILTER_INET = 11,
	CUCKOOFILTER_MACADDR = 12,
	CUCKOOFILTER_MACADDR8 = 13,
	CUCKOOFILTER_NUMERIC = 14,
	CUCKOOFILTER_TIME = 15,
	CUCKOOFILTER_INTERVAL = 16
};

/*
 * Opens a filter.  cuckoofilter_open() copies the image.  That of
 * cuckoofilter_open_borrowed() must stay as it is until the filter is closed;
 * it may be a file that mmap() mapped.  The text may contain white space.
 *
 * All of the image is read, to validate it.  Returns CUCKOOFILTER_OK, or sets
 * *filter to NULL and returns a negative status.
 */
CUCKOOFILTER_API int cuckoofilter_open(const void *image, size_t size,
									   cuckoofilter **filter);
CUCKOOFILTER_API int cuckoofilter_open_borrowed(const void *image,
												size_t size,
												cuckoofilter **filter);
CUCKOOFILTER_API int cuckoofilter_open_text(const char *text, size_t length,
											cuckoofilter **filter);

/* Frees the filter; NULL is permitted. */
CUCKOOFILTER_API void cuckoofilter_close(cuckoofilter *filter);

/* The meaning of a status, as a lower-case phrase that is never freed. */
CUCKOOFILTER_API const char *cuckoofilter_status_text(int status);

/*
 * What cf_info() says of the filter: the family and its name, the occupied
 * slots, for how many elements it was made, its rate of false positives now,
 * the seed of its hash, and the bytes of its image.
 */
CUCKOOFILTER_API int cuckoofilter_family(const cuckoofilter *filter);
CUCKOOFILTER_API const char *cuckoofilter_family_name(int family);
CUCKOOFILTER_API uint64_t cuckoofilter_items(const cuckoofilter *filter);
CUCKOOFILTER_API uint64_t cuckoofilter_capacity(const cuckoofilter *filter);
CUCKOOFILTER_API double cuckoofilter_fpp(const cuckoofilter *filter);
CUCKOOFILTER_API int64_t cuckoofilter_seed(const cuckoofilter *filter);
CUCKOOFILTER_API size_t cuckoofilter_size(const cuckoofilter *filter);

/*
 * Does the filter contain the element?  Returns 1 (maybe), 0 (certainly not),
 * or CUCKOOFILTER_OTHER_FAMILY or CUCKOOFILTER_INVALID_VALUE.
 *
 * int64		int2, int4, int8
 * text			text, varchar, enums by label: UTF-8 without zero bytes, which
 *				is checked.  Leave out the trailing blanks of char(n).
 * bytea		bytes as they are
 * uuid			16 bytes, in the order in which they are written
 * boolean		0 is false, all else is true
 * date			days since 1970-01-01.  INT32_MAX is infinity, and INT32_MIN
 *				is -infinity.
 * timestamp, timestamptz
 *				microseconds since 1970-01-01 00:00, of timestamptz in UTC.
 *				INT64_MAX is infinity, and INT64_MIN is -infinity.
 * float64		float4 and float8.  A float4 that prints as 0.1 is the element
 *				(double) 0.1f, which is 0.10000000149011612 and not 0.1.
 * inet			inet and cidr: 4 or 16 bytes of the address as on the network,
 *				host bits included, and the length of the mask in bits (32 or
 *				128 for a single host)
 * macaddr		6 bytes, in the order in which they are written
 * macaddr8		8 bytes, likewise
 * time			microseconds since 00:00, to 24:00
 * interval		its three fields
 * literal		text as PostgreSQL prints values with the default settings, in
 *				filters of the families integer, text (the value itself),
 *				bytea (\x00ff), uuid, boolean and date (2026-06-01).  Other
 *				spellings that PostgreSQL would take, such as "tomorrow", are
 *				CUCKOOFILTER_INVALID_VALUE.  Filters of the other families
 *				give CUCKOOFILTER_OTHER_FAMILY.
 *
 * Elements of the family numeric are looked up by their hash.
 */
CUCKOOFILTER_API int cuckoofilter_contains_int64(const cuckoofilter *filter,
												 int64_t value);
CUCKOOFILTER_API int cuckoofilter_contains_text(const cuckoofilter *filter,
												const char *text,
												size_t length);
CUCKOOFILTER_API int cuckoofilter_contains_bytea(const cuckoofilter *filter,
												 const void *bytes,
												 size_t size);
CUCKOOFILTER_API int cuckoofilter_contains_uuid(const cuckoofilter *filter,
												const void *bytes);
CUCKOOFILTER_API int cuckoofilter_contains_boolean(const cuckoofilter *filter,
												   int value);
CUCKOOFILTER_API int cuckoofilter_contains_date(const cuckoofilter *filter,
												int32_t days);
CUCKOOFILTER_API int cuckoofilter_contains_timestamp(const cuckoofilter *filter,
													 int64_t microseconds);
CUCKOOFILTER_API int cuckoofilter_contains_timestamptz(const cuckoofilter *filter,
													   int64_t microseconds);
CUCKOOFILTER_API int cuckoofilter_contains_float64(const cuckoofilter *filter,
												   double value);
CUCKOOFILTER_API int cuckoofilter_contains_inet(const cuckoofilter *filter,
												const void *address,
												size_t size, int mask);
CUCKOOFILTER_API int cuckoofilter_contains_macaddr(const cuckoofilter *filter,
												   const void *bytes);
CUCKOOFILTER_API int cuckoofilter_contains_macaddr8(const cuckoofilter *filter,
													const void *bytes);
CUCKOOFILTER_API int cuckoofilter_contains_time(const cuckoofilter *filter,
												int64_t microseconds);
CUCKOOFILTER_API int cuckoofilter_contains_interval(const cuckoofilter *filter,
													int32_t months,
													int32_t days,
													int64_t microseconds);
CUCKOOFILTER_API int cuckoofilter_contains_literal(const cuckoofilter *filter,
												   const char *text,
												   size_t length);

/*
 * The hash of an element, as cf_hash(value, seed) with the filter's seed, for
 * the functions below.  The arguments are as above.  Returns CUCKOOFILTER_OK
 * and sets *hash, or returns CUCKOOFILTER_OTHER_FAMILY or
 * CUCKOOFILTER_INVALID_VALUE.
 */
CUCKOOFILTER_API int cuckoofilter_hash_int64(const cuckoofilter *filter,
											 int64_t value, uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_text(const cuckoofilter *filter,
											const char *text, size_t length,
											uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_bytea(const cuckoofilter *filter,
											 const void *bytes, size_t size,
											 uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_uuid(const cuckoofilter *filter,
											const void *bytes,
											uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_boolean(const cuckoofilter *filter,
											   int value, uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_date(const cuckoofilter *filter,
											int32_t days, uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_timestamp(const cuckoofilter *filter,
												 int64_t microseconds,
												 uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_timestamptz(const cuckoofilter *filter,
												   int64_t microseconds,
												   uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_float64(const cuckoofilter *filter,
											   double value, uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_inet(const cuckoofilter *filter,
											const void *address, size_t size,
											int mask, uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_macaddr(const cuckoofilter *filter,
											   const void *bytes,
											   uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_macaddr8(const cuckoofilter *filter,
												const void *bytes,
												uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_time(const cuckoofilter *filter,
											int64_t microseconds,
											uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_interval(const cuckoofilter *filter,
												int32_t months, int32_t days,
												int64_t microseconds,
												uint64_t *hash);
CUCKOOFILTER_API int cuckoofilter_hash_literal(const cuckoofilter *filter,
											   const char *text,
											   size_t length,
											   uint64_t *hash);

/*
 * Lookups by hash, for filters of any family.  The hash is what the server
 * returns for cf_hash(value, seed).  Filters of the families "other" and
 * "numeric" have no other lookups.  contains_hash() returns 1
 * or 0, count_hash() the copies of the element: 0, 1, or 2 for two or more.
 *
 * contains_hashes() sets found[i] for each of n hashes.  With filters larger
 * than the processor's cache it is several times as fast as single calls.
 */
CUCKOOFILTER_API int cuckoofilter_contains_hash(const cuckoofilter *filter,
												uint64_t hash);
CUCKOOFILTER_API int cuckoofilter_count_hash(const cuckoofilter *filter,
											 uint64_t hash);
CUCKOOFILTER_API void cuckoofilter_contains_hashes(const cuckoofilter *filter,
												   const uint64_t *hashes,
												   size_t n, bool *found);

#endif							/* CUCKOOFILTER_H */
