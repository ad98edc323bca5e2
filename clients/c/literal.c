/*-------------------------------------------------------------------------
 *
 * literal.c
 *		Elements in the form of text: PostgreSQL's literals.
 *
 * cuckoofilter_hash_literal() takes what PostgreSQL prints for a value of the
 * filter's family, and a little more.  What it does not know it refuses, since
 * a value that was understood in another way would be a wrong "no".
 *
 * A Reader stands in the literal.  The functions read_...() step over what they
 * read, and return false if it is not what they expect.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoofilter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND			INT64_C(1000000)	/* in microseconds */
#define DAY				(86400 * SECOND)
#define LAST_DAY		(INT64_MAX / DAY - 2)	/* time and zone fit, too */
#define LONGEST_FLOAT	1000	/* characters */

/* The decimal places of numeric: 10^-16383 to 10^131071. */
#define NUMERIC_LEAST	(-16383)
#define NUMERIC_LAST	131071

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

/* Reads a sign, if there is one. */
static bool
read_minus(Reader *r)
{
	if (read_char(r, '-'))
		return true;
	read_char(r, '+');
	return false;
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

static bool
read_two_digits(Reader *r, int most, int64_t *number)
{
	uint64_t	value;

	if (!read_number(r, 2, 2, &value) || value > (uint64_t) most)
		return false;
	*number = (int64_t) value;
	return true;
}

/* Reads infinity or -infinity. */
static bool
read_infinity(Reader *r, bool *minus)
{
	*minus = read_char(r, '-');
	return read_word(r, "infinity") && at_end(r);
}

/* ---- integer, boolean, float, numeric ----------------------------------- */

static int
hash_integer(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	bool		minus = read_minus(&r);
	uint64_t	number;

	if (!read_number(&r, 1, INT32_MAX, &number) || !at_end(&r) ||
		number > (uint64_t) INT64_MAX + minus)
		return CUCKOOFILTER_INVALID_VALUE;
	/* -number - 1 cannot overflow */
	return cuckoofilter_hash_int64(filter, !minus ? (int64_t) number
								   : number == 0 ? 0
								   : -(int64_t) (number - 1) - 1, hash);
}

static int
hash_boolean(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	bool		value = read_word(&r, "true") || read_word(&r, "t");

	if (!value && !read_word(&r, "false") && !read_word(&r, "f"))
		return CUCKOOFILTER_INVALID_VALUE;
	if (!at_end(&r))
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_boolean(filter, value, hash);
}

/* A decimal number: where its digits are, and its power of ten. */
typedef struct Decimal
{
	bool		minus;
	const char *whole;
	const char *fraction;
	int64_t		whole_digits;
	int64_t		fraction_digits;
	int64_t		power;
} Decimal;

static int64_t
read_digits(Reader *r)
{
	const char *begin = r->at;

	while (next_is_digit(r))
		r->at++;
	return r->at - begin;
}

/* Reads all of the literal. */
static bool
read_decimal(Reader *r, Decimal *d)
{
	d->minus = read_minus(r);
	d->whole = r->at;
	d->whole_digits = read_digits(r);
	d->fraction = r->at;
	d->fraction_digits = 0;
	d->power = 0;
	if (read_char(r, '.'))
	{
		d->fraction = r->at;
		d->fraction_digits = read_digits(r);
	}
	if (d->whole_digits + d->fraction_digits == 0)
		return false;
	if (read_word(r, "e"))
	{
		bool		minus = read_minus(r);
		uint64_t	power;

		if (!read_number(r, 1, 9, &power))
			return false;
		d->power = minus ? -(int64_t) power : (int64_t) power;
	}
	return at_end(r);
}

static char
digit_of(const Decimal *d, int64_t i)
{
	return i < d->whole_digits ? d->whole[i]
		: d->fraction[i - d->whole_digits];
}

/* Finds the first and the last digit but 0; false if there is none. */
static bool
find_digits(const Decimal *d, int64_t *first, int64_t *last)
{
	int64_t		digits = d->whole_digits + d->fraction_digits;
	int64_t		begin = 0;
	int64_t		end = digits;

	while (begin < digits && digit_of(d, begin) == '0')
		begin++;
	while (end > begin && digit_of(d, end - 1) == '0')
		end--;
	*first = begin;
	*last = end - 1;
	return begin < end;
}

/*
 * Reads NaN, inf or infinity, and returns 'N', 'I' or 'i', as in the canonical
 * bytes of numeric, or 0 if it is none of these.
 */
static char
read_special(Reader r)
{
	bool		minus;

	if (read_word(&r, "nan"))
		return at_end(&r) ? 'N' : 0;
	minus = read_minus(&r);
	if (!read_word(&r, "infinity") && !read_word(&r, "inf"))
		return 0;
	return !at_end(&r) ? 0 : minus ? 'i' : 'I';
}

/*
 * strtod() expects the decimal point of the locale, which snprintf() tells.  A
 * number that is not 0 but too small, or too large, is no float8.
 */
static int
hash_float(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	char		special = read_special(r);
	char		one[20];
	char		buffer[LONGEST_FLOAT + 50];
	double		value;
	Decimal		d;
	int64_t		first,
				last;

	if (special != 0)
		return cuckoofilter_hash_float64(filter,
										 special == 'N' ? (double) NAN
										 : special == 'I' ? HUGE_VAL
										 : -HUGE_VAL, hash);
	if (r.end - r.at > LONGEST_FLOAT || !read_decimal(&r, &d))
		return CUCKOOFILTER_INVALID_VALUE;
	snprintf(one, sizeof(one), "%#.0f", 1.0);
	snprintf(buffer, sizeof(buffer), "%s%.*s%s%.*se%d", d.minus ? "-" : "",
			 (int) d.whole_digits, d.whole, one + 1,
			 (int) d.fraction_digits, d.fraction, (int) d.power);
	value = strtod(buffer, NULL);
	if (isinf(value) || (value == 0 && find_digits(&d, &first, &last)))
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_float64(filter, value, hash);
}

/* Hashes the digits from `from` to before `to`, whether whole or fraction. */
static void
update_digits(XXH3_state_t *state, const Decimal *d, int64_t from, int64_t to)
{
	int64_t		point = d->whole_digits;

	if (from < point)
		XXH3_64bits_update(state, d->whole + from,
						   (size_t) ((to < point ? to : point) - from));
	if (from < point)
		from = point;
	if (from < to)
		XXH3_64bits_update(state, d->fraction + (from - point),
						   (size_t) (to - from));
}

/* There may be 147,456 digits, so the hash takes them where they are. */
int
cuckoofilter_hash_numeric(const cuckoofilter *filter, const char *digits,
						  size_t length, uint64_t *hash)
{
	Reader		r = {digits, digits + length};
	char		special = read_special(r);

	/* zeroed, because some versions look at the seed before they set it */
	XXH3_state_t state = {0};
	int			family = cuckoofilter_family(filter);
	char		head[5];
	int64_t		first,
				last,
				exponent;
	Decimal		d;

	if (family != CUCKOOFILTER_NUMERIC && family != CUCKOOFILTER_NONE)
		return CUCKOOFILTER_OTHER_FAMILY;
	XXH3_64bits_reset_withSeed(&state, (uint64_t) cuckoofilter_seed(filter));
	if (special != 0)
		XXH3_64bits_update(&state, &special, 1);
	else if (!read_decimal(&r, &d))
		return CUCKOOFILTER_INVALID_VALUE;
	else if (!find_digits(&d, &first, &last))
		XXH3_64bits_update(&state, "0", 1);
	else
	{
		exponent = d.whole_digits - 1 - last + d.power;
		if (exponent < NUMERIC_LEAST || exponent + last - first > NUMERIC_LAST)
			return CUCKOOFILTER_INVALID_VALUE;
		head[0] = d.minus ? '-' : '+';
		for (int i = 0; i < 4; i++)
			head[i + 1] = (char) ((uint32_t) exponent >> 8 * i & 0xff);
		XXH3_64bits_update(&state, head, sizeof(head));
		update_digits(&state, &d, first, last + 1);
	}
	*hash = XXH3_64bits_digest(&state);
	return CUCKOOFILTER_OK;
}

/* ---- bytes -------------------------------------------------------------- */

/* Reads bytes of two hexadecimal digits each. */
static bool
read_hex(Reader *r, uint8_t *bytes, int count)
{
	for (int i = 0; i < count; i++)
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
	XXH3_state_t state = {0};

	if (!read_char(&r, '\\') || !read_char(&r, 'x'))
		return CUCKOOFILTER_INVALID_VALUE;
	XXH3_64bits_reset_withSeed(&state, (uint64_t) cuckoofilter_seed(filter));
	while (!at_end(&r))
	{
		uint8_t		byte;

		if (!read_hex(&r, &byte, 1))
			return CUCKOOFILTER_INVALID_VALUE;
		XXH3_64bits_update(&state, &byte, 1);
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

/*
 * Reads a MAC address in one of PostgreSQL's forms, in which x is a
 * hexadecimal digit.  Returns how many bytes it has, 6 or 8, or 0.
 */
static int
read_mac(Reader r, uint8_t *bytes)
{
	static const char *const forms[] = {
		"xx:xx:xx:xx:xx:xx", "xx-xx-xx-xx-xx-xx", "xxxxxx:xxxxxx",
		"xxxxxx-xxxxxx", "xxxx.xxxx.xxxx", "xxxx-xxxx-xxxx", "xxxxxxxxxxxx",
		"xx:xx:xx:xx:xx:xx:xx:xx", "xx-xx-xx-xx-xx-xx-xx-xx",
		"xxxxxx:xxxxxxxxxx", "xxxxxx-xxxxxxxxxx", "xxxx.xxxx.xxxx.xxxx",
		"xxxx-xxxx-xxxx-xxxx", "xxxxxxxx:xxxxxxxx", "xxxxxxxxxxxxxxxx"
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
	{
		Reader		left = r;
		const char *form = forms[i];
		int			count = 0;

		while (*form == 'x' ? read_hex(&left, bytes + count, 1)
			   : *form != '\0' && read_char(&left, *form))
		{
			count += *form == 'x';
			form += *form == 'x' ? 2 : 1;
		}
		if (*form == '\0' && at_end(&left))
			return count;
	}
	return 0;
}

static int
hash_macaddr(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	uint8_t		bytes[8];

	return read_mac(r, bytes) == 6
		? cuckoofilter_hash_macaddr(filter, bytes, hash)
		: CUCKOOFILTER_INVALID_VALUE;
}

/* Like PostgreSQL, this widens six bytes to eight. */
static int
hash_macaddr8(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	uint8_t		bytes[8];
	int			count = read_mac(r, bytes);

	if (count == 6)
	{
		memmove(bytes + 5, bytes + 3, 3);
		bytes[3] = 0xff;
		bytes[4] = 0xfe;
	}
	return count != 0 ? cuckoofilter_hash_macaddr8(filter, bytes, hash)
		: CUCKOOFILTER_INVALID_VALUE;
}

/* Leading zeros are refused, because some programs take them for octal. */
static bool
read_octet(Reader *r, uint8_t *octet)
{
	bool		zero = !at_end(r) && *r->at == '0';
	uint64_t	number;

	if (!read_number(r, 1, zero ? 1 : 3, &number) || number > 255)
		return false;
	*octet = (uint8_t) number;
	return true;
}

static bool
read_ipv4(Reader *r, uint8_t *address)
{
	for (int i = 0; i < 4; i++)
		if ((i > 0 && !read_char(r, '.')) || !read_octet(r, address + i))
			return false;
	return true;
}

/* Reads one to four hexadecimal digits. */
static bool
read_group(Reader *r, uint8_t *bytes)
{
	const char *begin = r->at;
	unsigned	group = 0;

	while (!at_end(r) && hex_value(*r->at) >= 0 && r->at - begin < 4)
		group = group << 4 | (unsigned) hex_value(*r->at++);
	bytes[0] = (uint8_t) (group >> 8);
	bytes[1] = (uint8_t) group;
	return r->at > begin;
}

/*
 * Eight groups, of which the last two may be an IPv4 address.  "::" stands for
 * one or more groups of zeros.
 */
static bool
read_ipv6(Reader *r, uint8_t *address)
{
	int			size = 0;
	int			gap = -1;		/* where "::" is */
	bool		more = true;	/* a group may follow */

	if (read_word(r, "::"))
		gap = 0;
	while (more && size < 16)
	{
		Reader		before = *r;

		if (size <= 12 && read_ipv4(r, address + size))
		{
			size += 4;
			break;
		}
		*r = before;
		if (!read_group(r, address + size))
		{
			/* nothing has to follow "::" */
			if (gap != size)
				return false;
			break;
		}
		size += 2;
		more = read_char(r, ':');
		if (more && read_char(r, ':'))
		{
			if (gap >= 0)
				return false;
			gap = size;
		}
	}
	if (gap < 0)
		return size == 16;
	memmove(address + 16 - (size - gap), address + gap, (size_t) (size - gap));
	memset(address + gap, 0, (size_t) (16 - size));
	return size < 16;
}

static int
hash_inet(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	Reader		begin = r;
	uint8_t		address[16];
	size_t		size = 4;
	uint64_t	mask;

	if (!read_ipv4(&r, address) || (!at_end(&r) && *r.at != '/'))
	{
		r = begin;
		size = 16;
		if (!read_ipv6(&r, address))
			return CUCKOOFILTER_INVALID_VALUE;
	}
	mask = size * 8;
	if (read_char(&r, '/') && !read_number(&r, 1, 3, &mask))
		return CUCKOOFILTER_INVALID_VALUE;
	return at_end(&r)
		? cuckoofilter_hash_inet(filter, address, size, (int) mask, hash)
		: CUCKOOFILTER_INVALID_VALUE;
}

/* ---- times -------------------------------------------------------------- */

/* Cuts off " BC" and tells whether it was there. */
static bool
cut_bc(Reader *r)
{
	if (r->end - r->at < 3 || memcmp(r->end - 3, " BC", 3) != 0)
		return false;
	r->end -= 3;
	return true;
}

/* Reads a day of the Gregorian calendar, as days since 1970-01-01. */
static bool
read_day(Reader *r, bool bc, int64_t *days)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273,
	304, 334, 365};
	uint64_t	number;
	int64_t		year,
				month,
				day,
				past;
	bool		leap;

	if (!read_number(r, 4, 7, &number) || number == 0 ||
		!read_char(r, '-') || !read_two_digits(r, 12, &month) || month == 0 ||
		!read_char(r, '-') || !read_two_digits(r, 31, &day) || day == 0)
		return false;
	/* 400 years have 146097 days, so years can be moved by them */
	year = (bc ? 1 - (int64_t) number : (int64_t) number) + 10000000;
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (day > before[month] - before[month - 1] + (leap && month == 2))
		return false;
	past = year - 1;
	*days = past * 365 + past / 4 - past / 100 + past / 400 +
		before[month - 1] + (leap && month > 2) + day - 1 -
		719162 - (int64_t) 10000000 / 400 * 146097;
	return true;
}

/* Reads the microseconds after a point, if there is one. */
static bool
read_fraction(Reader *r, uint64_t *microseconds)
{
	const char *begin;

	*microseconds = 0;
	if (!read_char(r, '.'))
		return true;
	begin = r->at;
	if (!read_number(r, 1, 6, microseconds))
		return false;
	for (int i = (int) (r->at - begin); i < 6; i++)
		*microseconds *= 10;
	return true;
}

/* Reads what follows the hours: minutes, and seconds with up to six digits. */
static bool
read_minutes(Reader *r, int64_t *microseconds)
{
	int64_t		minutes,
				seconds = 0;
	uint64_t	fraction = 0;

	if (!read_char(r, ':') || !read_two_digits(r, 59, &minutes))
		return false;
	if (read_char(r, ':') &&
		(!read_two_digits(r, 59, &seconds) || !read_fraction(r, &fraction)))
		return false;
	*microseconds = (minutes * 60 + seconds) * SECOND + (int64_t) fraction;
	return true;
}

/* Reads Z, or the hours, minutes and seconds before UTC. */
static bool
read_zone(Reader *r, int64_t *microseconds)
{
	int64_t		hours,
				minutes = 0,
				seconds = 0;
	bool		minus = !at_end(r) && *r->at == '-';

	*microseconds = 0;
	if (read_char(r, 'Z'))
		return true;
	if (!read_char(r, '-') && !read_char(r, '+'))
		return false;
	if (!read_two_digits(r, 15, &hours))
		return false;
	if (read_char(r, ':') && !read_two_digits(r, 59, &minutes))
		return false;
	if (read_char(r, ':') && !read_two_digits(r, 59, &seconds))
		return false;
	*microseconds = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
	if (minus)
		*microseconds = -*microseconds;
	return true;
}

static int
hash_date(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	Reader		infinity = r;
	bool		minus;
	bool		bc;
	int64_t		days;

	if (read_infinity(&infinity, &minus))
		return cuckoofilter_hash_date(filter, minus ? INT32_MIN : INT32_MAX,
									  hash);
	bc = cut_bc(&r);
	if (!read_day(&r, bc, &days) || !at_end(&r) || days <= INT32_MIN ||
		days >= INT32_MAX)
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_date(filter, (int32_t) days, hash);
}

/*
 * PostgreSQL has 29 years more than microseconds from 1970 on can count.  They
 * are refused.
 */
static int
hash_timestamp(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	bool		with_zone = cuckoofilter_family(filter) == CUCKOOFILTER_TIMESTAMPTZ;
	bool		minus;
	int64_t		days,
				hours,
				microseconds,
				zone = 0;
	Reader		infinity = r;

	if (read_infinity(&infinity, &minus))
		microseconds = minus ? INT64_MIN : INT64_MAX;
	else
	{
		bool		bc = cut_bc(&r);

		if (!read_day(&r, bc, &days) || days < -LAST_DAY || days > LAST_DAY ||
			(!read_char(&r, ' ') && !read_char(&r, 'T')) ||
			!read_two_digits(&r, 23, &hours) ||
			!read_minutes(&r, &microseconds) ||
			(with_zone && !read_zone(&r, &zone)) || !at_end(&r))
			return CUCKOOFILTER_INVALID_VALUE;
		microseconds += days * DAY + hours * 3600 * SECOND - zone;
	}
	return with_zone
		? cuckoofilter_hash_timestamptz(filter, microseconds, hash)
		: cuckoofilter_hash_timestamp(filter, microseconds, hash);
}

static int
hash_time(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	int64_t		hours,
				microseconds;

	if (!read_two_digits(&r, 24, &hours) || !read_minutes(&r, &microseconds) ||
		!at_end(&r))
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_time(filter, hours * 3600 * SECOND + microseconds,
								  hash);
}

/* ---- interval ----------------------------------------------------------- */

/* The fields of an interval, in the order in which they are written. */
static const struct
{
	const char *word;			/* "year", which may have an s */
	const char *abbreviation;	/* likewise */
	char		letter;			/* of ISO 8601 */
	int			field;			/* months, days or microseconds */
	int64_t		factor;
}			units[] = {
	{"year", "year", 'Y', 0, 12},
	{"month", "mon", 'M', 0, 1},
	{"week", "week", 'W', 1, 7},
	{"day", "day", 'D', 1, 1},
	{"hour", "hour", 'H', 2, 3600 * SECOND},
	{"minute", "min", 'M', 2, 60 * SECOND},
	{"second", "sec", 'S', 2, SECOND}
};

#define HOURS		4			/* where they are */
#define UNITS		7

/* Adds what is of the sign, unless the sum would overflow. */
static bool
add(int64_t *sum, bool minus, uint64_t amount, int64_t factor)
{
	int64_t		summand;

	if (amount > (uint64_t) (INT64_MAX / factor))
		return false;
	summand = (int64_t) amount * factor;
	if (minus ? *sum < INT64_MIN + summand : *sum > INT64_MAX - summand)
		return false;
	*sum += minus ? -summand : summand;
	return true;
}

/*
 * Reads the unit of an amount, one of those from `unit` on.  Returns its
 * number, or UNITS.  In ISO 8601 it is a letter.
 */
static int
read_unit(Reader *r, bool iso, int unit, int end)
{
	Reader		begin = *r;

	for (; unit < end; unit++)
	{
		*r = begin;
		if (iso ? read_char(r, units[unit].letter)
			: read_word(r, units[unit].word) ||
			read_word(r, units[unit].abbreviation))
		{
			if (iso)
				return unit;
			read_char(r, 's');
			if (at_end(r) || read_char(r, ' '))
				return unit;
		}
	}
	return UNITS;
}

/*
 * Reads an interval in words, whose time may be as on a clock, or in ISO 8601.
 */
static bool
read_interval(Reader *r, int64_t fields[3])
{
	bool		iso = read_char(r, 'P');
	bool		time = !iso;	/* units of time may follow */
	int			unit = 0;		/* the least that may follow */

	if (at_end(r))
		return false;
	while (!at_end(r))
	{
		bool		minus;
		uint64_t	number;
		uint64_t	fraction;
		bool		whole;

		if (!time && read_char(r, 'T'))
		{
			time = true;
			unit = HOURS;
		}
		minus = read_minus(r);
		if (!read_number(r, 1, 19, &number))
			return false;
		if (!iso && unit <= HOURS && !at_end(r) && *r->at == ':')
		{
			int64_t		microseconds;

			return add(&fields[2], minus, number, units[HOURS].factor) &&
				read_minutes(r, &microseconds) && at_end(r) &&
				add(&fields[2], minus, (uint64_t) microseconds, 1);
		}
		whole = at_end(r) || *r->at != '.';
		if (!read_fraction(r, &fraction))
			return false;
		if (!iso && !read_char(r, ' '))
			return false;
		unit = read_unit(r, iso, unit, time ? UNITS : HOURS);
		/* only seconds have fractions */
		if (unit == UNITS || (!whole && unit != UNITS - 1) ||
			!add(&fields[units[unit].field], minus, number,
				 units[unit].factor) ||
			!add(&fields[2], minus, fraction, 1))
			return false;
		unit++;
	}
	/* " " may not be the last character */
	return r->end[-1] != ' ';
}

/* Infinities are as PostgreSQL 17 and later store them. */
static int
hash_interval(const cuckoofilter *filter, Reader r, uint64_t *hash)
{
	int64_t		fields[3] = {0, 0, 0};
	Reader		infinity = r;
	bool		minus;

	if (read_infinity(&infinity, &minus))
		return minus
			? cuckoofilter_hash_interval(filter, INT32_MIN, INT32_MIN,
										 INT64_MIN, hash)
			: cuckoofilter_hash_interval(filter, INT32_MAX, INT32_MAX,
										 INT64_MAX, hash);
	if (!read_interval(&r, fields) ||
		fields[0] < INT32_MIN || fields[0] > INT32_MAX ||
		fields[1] < INT32_MIN || fields[1] > INT32_MAX)
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_hash_interval(filter, (int32_t) fields[0],
									  (int32_t) fields[1], fields[2], hash);
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
		case CUCKOOFILTER_TIMESTAMP:
		case CUCKOOFILTER_TIMESTAMPTZ:
			return hash_timestamp(filter, r, hash);
		case CUCKOOFILTER_FLOAT:
			return hash_float(filter, r, hash);
		case CUCKOOFILTER_INET:
			return hash_inet(filter, r, hash);
		case CUCKOOFILTER_MACADDR:
			return hash_macaddr(filter, r, hash);
		case CUCKOOFILTER_MACADDR8:
			return hash_macaddr8(filter, r, hash);
		case CUCKOOFILTER_NUMERIC:
			return cuckoofilter_hash_numeric(filter, text, length, hash);
		case CUCKOOFILTER_TIME:
			return hash_time(filter, r, hash);
		case CUCKOOFILTER_INTERVAL:
			return hash_interval(filter, r, hash);
		default:
			return CUCKOOFILTER_OTHER_FAMILY;
	}
}
