/*-------------------------------------------------------------------------
 *
 * literal.c
 *		Elements in the form of text: PostgreSQL's literals.
 *
 * cuckoofilter_hash_literal() reads the text that PostgreSQL prints for a
 * value, and a little more.  It refuses all other text, because a value that is
 * read in another way would be a wrong "no".
 *
 * A Reader is a position in the literal.  The functions read_...() step over
 * the text that they read.  They return false if the text is not as expected.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoofilter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

typedef struct Reader
{
	const char *at;
	const char *end;
} Reader;

static bool
at_end(const Reader *r)
{
	return r->at == r->end;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ASCII only, whatever the locale. */
static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* The value of a hexadecimal digit, or -1. */
static int
hex_value(char c)
{
	c = lower(c);
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
next_is_digit(const Reader *r)
{
	return !at_end(r) && is_digit(*r->at);
}

static bool
read_char(Reader *r, char c)
{
	if (at_end(r) || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Reads the word, in lower case, however it is written. */
static bool
read_word(Reader *r, const char *word)
{
	size_t		length = strlen(word);

	if ((size_t) (r->end - r->at) < length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (lower(r->at[i]) != word[i])
			return false;
	r->at += length;
	return true;
}

/* Reads a number of `least` to `most` digits. */
static bool
read_number(Reader *r, int least, int most, uint64_t *number)
{
	int			digits = 0;

	for (*number = 0; digits < most && next_is_digit(r); digits++)
	{
		unsigned	digit = (unsigned) (*r->at++ - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return digits >= least && !next_is_digit(r);
}

/* ---- integer and boolean ------------------------------------------------ */

static int
hash_integer(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	bool		minus = read_char(&r, '-');
	uint64_t	number;

	if (!minus)
		read_char(&r, '+');
	if (!read_number(&r, 1, INT32_MAX, &number) || !at_end(&r) ||
		number > (uint64_t) INT64_MAX + minus)
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_int64(filter,
								   (int64_t) (minus ? 0 - number : number),
								   hash);
}

static int
hash_boolean(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	bool		value = read_word(&r, "true") || read_word(&r, "t");

	if ((!value && !read_word(&r, "false") && !read_word(&r, "f")) ||
		!at_end(&r))
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_boolean(filter, value, hash);
}

/* ---- bytes -------------------------------------------------------------- */

/* Reads bytes of two hexadecimal digits each. */
static bool
read_hex(Reader *r, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (r->end - r->at < 2 || hex_value(r->at[0]) < 0 ||
			hex_value(r->at[1]) < 0)
			return false;
		bytes[i] = (uint8_t) (hex_value(r->at[0]) << 4 | hex_value(r->at[1]));
		r->at += 2;
	}
	return true;
}

/* \x and any number of bytes. */
static int
hash_bytea(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	uint8_t		bytes[256];

	/* zeroed, because some versions look at the seed before they set it */
	XXH3_state_t state = {0};

	if (!read_char(&r, '\\') || !read_char(&r, 'x'))
		return CUCKOOFILTER_INVALID_VALUE;
	XXH3_64bits_reset_withSeed(&state, (uint64_t) cuckoofilter_seed(filter));
	while (!at_end(&r))
	{
		size_t		count = ((size_t) (r.end - r.at) + 1) / 2;

		if (count > sizeof(bytes))
			count = sizeof(bytes);
		if (!read_hex(&r, bytes, count))
			return CUCKOOFILTER_INVALID_VALUE;
		XXH3_64bits_update(&state, bytes, count);
	}
	*hash = XXH3_64bits_digest(&state);
	return CUCKOOFILTER_OK;
}

/* With or without hyphens, which may be after every four digits. */
static int
hash_uuid(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	uint8_t		bytes[16];

	for (int i = 0; i < 16; i += 2)
	{
		if (i > 0)
			read_char(&r, '-');
		if (!read_hex(&r, bytes + i, 2))
			return CUCKOOFILTER_INVALID_VALUE;
	}
	return at_end(&r) ? cuckoofilter_hash_uuid(filter, bytes, hash)
		: CUCKOOFILTER_INVALID_VALUE;
}

/* ---- date --------------------------------------------------------------- */

/* Reads a day of the Gregorian calendar, as days since 1970-01-01. */
static bool
read_day(Reader *r, int64_t *days)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273,
	304, 334, 365};
	uint64_t	number,
				month,
				day;
	int64_t		year,
				past;
	int			days_of_month;
	bool		leap;

	if (!read_number(r, 4, 7, &number) || number == 0 ||
		!read_char(r, '-') || !read_number(r, 2, 2, &month) || month == 0 ||
		month > 12 || !read_char(r, '-') || !read_number(r, 2, 2, &day))
		return false;
	year = read_word(r, " bc") ? 1 - (int64_t) number : (int64_t) number;
	/* 400 years have 146097 days; these keep the divisions positive */
	year += 10000000;
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	days_of_month = before[month] - before[month - 1] + (leap && month == 2);
	if (day == 0 || day > (uint64_t) days_of_month)
		return false;
	past = year - 1;
	*days = past * 365 + past / 4 - past / 100 + past / 400 +
		before[month - 1] + (leap && month > 2) + (int64_t) day - 1 -
		719162 - (int64_t) 10000000 / 400 * 146097;
	return true;
}

static int
hash_date(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	Reader		word = r;
	bool		minus = read_char(&word, '-');
	int64_t		days;

	if (read_word(&word, "infinity") && at_end(&word))
		return cuckoofilter_hash_date(filter, minus ? INT32_MIN : INT32_MAX,
									  hash);
	/* the limits of int32 would be the infinities */
	if (!read_day(&r, &days) || !at_end(&r) || days <= INT32_MIN ||
		days >= INT32_MAX)
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_date(filter, (int32_t) days, hash);
}

/* ---- by family ---------------------------------------------------------- */

int
cuckoofilter_hash_literal(const cuckoofilter *filter, const char *text,
						  size_t length, uint64_t *hash)
{
	Reader		r = {text, text + length};

	switch (cuckoofilter_family(filter))
	{
		case CUCKOOFILTER_NONE:
			/* the filter is empty, so any hash is as good */
			*hash = 0;
			return CUCKOOFILTER_OK;
		case CUCKOOFILTER_INTEGER:
			return hash_integer(filter, r, hash);
		case CUCKOOFILTER_TEXT:
			return cuckoofilter_hash_text(filter, text, length, hash);
		case CUCKOOFILTER_BYTEA:
			return hash_bytea(filter, r, hash);
		case CUCKOOFILTER_UUID:
			return hash_uuid(filter, r, hash);
		case CUCKOOFILTER_BOOLEAN:
			return hash_boolean(filter, r, hash);
		case CUCKOOFILTER_DATE:
			return hash_date(filter, r, hash);
		default:
			return CUCKOOFILTER_OTHER_FAMILY;
	}
}
