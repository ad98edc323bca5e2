/*-------------------------------------------------------------------------
 *
 * vectors.c
 *		Writes the golden vectors, for programs that read filters.
 *
 * usage: vectors elements|images|refused
 *
 * Prints the file of that name in test/vectors; "make vectors" writes all of
 * them.  test/vectors/README.md describes their contents.  Nothing here is
 * random, so the files are the same on every machine.  test/t/015_vectors.pl
 * checks that, and compares them with what the extension says.
 *
 * Values are PostgreSQL's literals of their types.  The canonical bytes are
 * made here a second time, without PostgreSQL, and the keys of an image with
 * naive.h, without the core, which has to agree.
 *
 *-------------------------------------------------------------------------
 */
#include "core/position.h"
#include "naive.h"
#include "unit.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>

#define DAYS_TO_2000	10957	/* from 1970-01-01 */
#define LONGEST			2000	/* bytes of an element */
#define LISTED			40		/* keys of an image, if there are no more */

static const struct
{
	const char *type;
	CuckooFamily family;
	const char *family_name;
}			types[] = {
	{"", CUCKOO_FAMILY_NONE, "none"},
	{"int2", CUCKOO_FAMILY_INTEGER, "integer"},
	{"int4", CUCKOO_FAMILY_INTEGER, "integer"},
	{"int8", CUCKOO_FAMILY_INTEGER, "integer"},
	{"text", CUCKOO_FAMILY_TEXT, "text"},
	{"char(5)", CUCKOO_FAMILY_TEXT, "text"},
	{"\"char\"", CUCKOO_FAMILY_TEXT, "text"},
	{"bytea", CUCKOO_FAMILY_BYTEA, "bytea"},
	{"uuid", CUCKOO_FAMILY_UUID, "uuid"},
	{"boolean", CUCKOO_FAMILY_BOOLEAN, "boolean"},
	{"date", CUCKOO_FAMILY_DATE, "date"},
	{"timestamp", CUCKOO_FAMILY_TIMESTAMP, "timestamp"},
	{"timestamptz", CUCKOO_FAMILY_TIMESTAMPTZ, "timestamptz"},
	{"float4", CUCKOO_FAMILY_FLOAT, "float"},
	{"float8", CUCKOO_FAMILY_FLOAT, "float"},
	{"inet", CUCKOO_FAMILY_INET, "inet"},
	{"cidr", CUCKOO_FAMILY_INET, "inet"},
	{"macaddr", CUCKOO_FAMILY_MACADDR, "macaddr"},
	{"macaddr8", CUCKOO_FAMILY_MACADDR8, "macaddr8"},
	{"numeric", CUCKOO_FAMILY_NUMERIC, "numeric"},
	{"time", CUCKOO_FAMILY_TIME, "time"},
	{"interval", CUCKOO_FAMILY_INTERVAL, "interval"}
};

static int
type_of(const char *name)
{
	int			i = 0;

	while (strcmp(types[i].type, name) != 0)
		i++;
	return i;
}

/* ---- JSON --------------------------------------------------------------- */

static void
print_string(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++)
	{
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char) *s < ' ')
			printf("\\u%04x", (unsigned char) *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void
print_hex(const uint8_t *bytes, size_t size)
{
	putchar('"');
	for (size_t i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	putchar('"');
}

static char *
base64_of(const uint8_t *bytes, uint64_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	char	   *text = unit_alloc(size / 3 * 4 + 5);
	char	   *end = text;

	for (uint64_t i = 0; i < size; i += 3)
	{
		uint32_t	v = (uint32_t) bytes[i] << 16;

		v |= i + 1 < size ? (uint32_t) bytes[i + 1] << 8 : 0;
		v |= i + 2 < size ? bytes[i + 2] : 0;
		*end++ = digits[v >> 18];
		*end++ = digits[v >> 12 & 63];
		*end++ = i + 1 < size ? digits[v >> 6 & 63] : '=';
		*end++ = i + 2 < size ? digits[v & 63] : '=';
	}
	*end = '\0';
	return text;
}

static void
print_base64(const uint8_t *bytes, uint64_t size)
{
	char	   *text = base64_of(bytes, size);

	printf("\"%s\"", text);
	free(text);
}

/* ---- elements ----------------------------------------------------------- */

/* Days since 2000-01-01 of a day of the Gregorian calendar. */
static int32_t
days_of(int year, int month, int day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273,
	304, 334};
	bool		leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	int			past = year - 1;

	return past * 365 + past / 4 - past / 100 + past / 400 +
		before[month - 1] + (leap && month > 2) + day - 1 - 730119;
}

/* Reads numbers with a character between each two, and steps over them. */
static void
read_numbers(const char **literal, int *numbers, int count)
{
	for (int i = 0; i < count; i++)
	{
		char	   *end;

		numbers[i] = (int) strtol(*literal + (i > 0), &end, 10);
		*literal = end;
	}
}

/* Reads a point and up to six digits, if they are there, as microseconds. */
static int
read_fraction(const char **literal)
{
	int			fraction = 0;

	if (**literal != '.')
		return 0;
	++*literal;
	for (int digits = 0; digits < 6; digits++)
		fraction = fraction * 10 +
			(isdigit((unsigned char) **literal) ? *(*literal)++ - '0' : 0);
	return fraction;
}

/* Reads hours, minutes and seconds, without a sign. */
static int64_t
read_clock(const char **literal)
{
	int			numbers[3];

	read_numbers(literal, numbers, 3);
	return ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) *
		INT64_C(1000000) + read_fraction(literal);
}

static int64_t
microseconds_of(const char *literal)
{
	int			numbers[3];
	int			zone = 0;
	int64_t		clock;

	read_numbers(&literal, numbers, 3);
	literal++;
	clock = read_clock(&literal);
	if (*literal != '\0')
		zone = (int) strtol(literal, NULL, 10);
	return (days_of(numbers[0], numbers[1], numbers[2]) * 24 - zone) *
		INT64_C(3600000000) + clock;
}

static size_t
put_int64(uint8_t *bytes, int64_t value)
{
	cuckoo_store64(bytes, (uint64_t) value);
	return 8;
}

static size_t
put_inet(uint8_t *bytes, const char *literal)
{
	bool		six = strchr(literal, ':') != NULL;
	const char *mask = strchr(literal, '/');
	char		address[100] = {0};

	memcpy(address, literal, mask != NULL ? (size_t) (mask - literal)
		   : strlen(literal));
	bytes[0] = six ? 6 : 4;
	bytes[1] = (uint8_t) (mask != NULL ? strtol(mask + 1, NULL, 10) :
						  six ? 128 : 32);
	if (inet_pton(six ? AF_INET6 : AF_INET, address, bytes + 2) != 1)
		abort();
	return six ? 18 : 6;
}

static size_t
put_numeric(uint8_t *bytes, const char *literal)
{
	int			exponent = 0;
	size_t		size = 5;
	bool		minus = *literal == '-';
	bool		point = false;

	literal += minus;
	if (*literal == 'N' || *literal == 'I')
	{
		bytes[0] = minus ? 'i' : (uint8_t) *literal;
		return 1;
	}
	for (; *literal != '\0' && *literal != 'e'; literal++)
	{
		exponent -= point && *literal != '.';
		point |= *literal == '.';
		if (isdigit((unsigned char) *literal) && (size > 5 || *literal != '0'))
			bytes[size++] = (uint8_t) *literal;
	}
	if (*literal == 'e')
		exponent += (int) strtol(literal + 1, NULL, 10);
	for (; size > 5 && bytes[size - 1] == '0'; size--)
		exponent++;
	bytes[0] = size == 5 ? '0' : minus ? '-' : '+';
	cuckoo_store32(bytes + 1, (uint32_t) exponent);
	return size == 5 ? 1 : size;
}

/*
 * As PostgreSQL prints it: years, mons, days, a clock, each with its sign.  Not
 * every processor has a type of 128 bits.
 */
static size_t
put_interval(uint8_t *bytes, const char *literal)
{
	int64_t		days = 0;
	int64_t		clock = 0;
	int64_t		seconds;
	int64_t		high;
	int64_t		low;

	while (*literal != '\0')
	{
		int			sign = *literal == '-' ? -1 : 1;
		char	   *end;
		int64_t		number;

		literal += *literal == '-' || *literal == '+';
		number = strtol(literal, &end, 10);
		if (*end == ':')
			clock = sign * read_clock(&literal);
		else
		{
			days += sign * number * (end[1] == 'y' ? 360 : end[1] == 'm' ? 30 : 1);
			literal = end + 1 + strcspn(end + 1, " ");
		}
		literal += *literal == ' ';
	}
	/* high * 2^32 + low */
	seconds = days * 86400;
	low = (seconds & 0xffffffff) * 1000000 + clock;
	high = (seconds >> 32) * 1000000 + (low >> 32);
	cuckoo_store64(bytes, (uint64_t) high << 32 | (low & 0xffffffff));
	cuckoo_store64(bytes + 8, (uint64_t) (high >> 32));
	return 16;
}

/* The canonical bytes of a value; returns how many there are. */
static size_t
canonical(int type, const char *literal, uint8_t *bytes)
{
	bool		infinite = strstr(literal, "infinity") != NULL;
	size_t		size = 0;
	int			numbers[3];
	double		number;
	uint64_t	bits;

	switch (types[type].family)
	{
		case CUCKOO_FAMILY_INTEGER:
			return put_int64(bytes, strtoll(literal, NULL, 10));
		case CUCKOO_FAMILY_TEXT:
			size = strlen(literal);
			memcpy(bytes, literal, size);
			if (strcmp(types[type].type, "char(5)") == 0)
				while (size > 0 && bytes[size - 1] == ' ')
					size--;
			return size;
		case CUCKOO_FAMILY_BYTEA:
		case CUCKOO_FAMILY_UUID:
		case CUCKOO_FAMILY_MACADDR:
		case CUCKOO_FAMILY_MACADDR8:
			for (; *literal != '\0'; literal++)
				if (isxdigit((unsigned char) literal[0]) &&
					isxdigit((unsigned char) literal[1]))
				{
					char		digits[3] = {literal[0], literal[1], '\0'};

					bytes[size++] = (uint8_t) strtol(digits, NULL, 16);
					literal++;
				}
			return size;
		case CUCKOO_FAMILY_BOOLEAN:
			bytes[0] = literal[0] == 't';
			return 1;
		case CUCKOO_FAMILY_DATE:
			if (!infinite)
				read_numbers(&literal, numbers, 3);
			cuckoo_store32(bytes, (uint32_t)
						   (!infinite ?
							days_of(numbers[0], numbers[1], numbers[2]) :
							literal[0] == '-' ? INT32_MIN : INT32_MAX));
			return 4;
		case CUCKOO_FAMILY_TIMESTAMP:
		case CUCKOO_FAMILY_TIMESTAMPTZ:
			return put_int64(bytes, !infinite ? microseconds_of(literal) :
							 literal[0] == '-' ? INT64_MIN : INT64_MAX);
		case CUCKOO_FAMILY_INET:
			return put_inet(bytes, literal);
		case CUCKOO_FAMILY_NUMERIC:
			return put_numeric(bytes, literal);
		case CUCKOO_FAMILY_TIME:
			return put_int64(bytes, read_clock(&literal));
		case CUCKOO_FAMILY_INTERVAL:
			return put_interval(bytes, literal);
		default:
			number = strcmp(types[type].type, "float4") == 0 ?
				strtof(literal, NULL) : strtod(literal, NULL);
			if (isnan(number))
				return put_int64(bytes, INT64_C(0x7ff8000000000000));
			if (number == 0)
				number = fabs(number);	/* not -0 */
			memcpy(&bits, &number, sizeof(bits));
			return put_int64(bytes, (int64_t) bits);
	}
}

static uint64_t
hash_of(int type, const char *literal, uint64_t seed)
{
	uint8_t		bytes[LONGEST];
	size_t		size = canonical(type, literal, bytes);

	return XXH3_64bits_withSeed(bytes, size, seed);
}

static CuckooHeader
header(uint32_t base, bool windows, int base_bits, int fpp_bits, int level,
	   uint64_t seed)
{
	CuckooHeader h = unit_header(base, base_bits, fpp_bits);

	h.windows = windows;
	h.seed = seed;
	if (cuckoo_header_set_level(&h, level) != CUCKOO_OK)
		abort();
	return h;
}

static const uint64_t seeds[] = {0, 1, UINT64_C(0x9e3779b97f4a7c15),
UINT64_MAX};

static const struct
{
	uint32_t	base;
	bool		windows;
	int			base_bits;
	int			level;
}			places[] = {
	{2, false, 9, 0},
	{34, false, 20, 5},
	{130, true, 25, 3},
	{128, true, 32, 19},
	{384, true, 16, 4},
	{4096, false, 32, 11},
	{16384, true, 13, 0},
	{134217726, false, 8, 0},
	{256, true, 20, 3}
};

#define LENGTH(array)	((int) (sizeof(array) / sizeof((array)[0])))

static void
print_geometries(void)
{
	printf("\"seeds\": [");
	for (int i = 0; i < LENGTH(seeds); i++)
		printf("%s\"%016" PRIx64 "\"", i > 0 ? ", " : "", seeds[i]);
	printf("],\n\"geometries\": [\n");
	for (int i = 0; i < LENGTH(places); i++)
		printf("{\"m0\": %" PRIu32 ", \"windows\": %s, \"f0\": %d, \"g\": %d}%s\n",
			   places[i].base, places[i].windows ? "true" : "false",
			   places[i].base_bits, places[i].level,
			   i < LENGTH(places) - 1 ? "," : "");
	printf("],\n\"elements\": [\n");
}

/* Key, fingerprint and buckets of the hash with seed 0. */
static void
print_place(uint64_t hash, int i)
{
	CuckooHeader base = header(places[i].base, places[i].windows,
							   places[i].base_bits, 8, 0, 0);
	CuckooHeader h = header(places[i].base, places[i].windows,
							places[i].base_bits, 8, places[i].level, 0);
	CuckooPair	key = cuckoo_pair(&base, hash);
	CuckooPair	pair = cuckoo_pair(&h, hash);

	printf("%s[%" PRIu64 ", \"%x\", \"%x\", %" PRIu64 ", %" PRIu64 "]",
		   i > 0 ? ", " : "",
		   key.pos1 < key.pos2 ? key.pos1 : key.pos2, key.fp, pair.fp,
		   pair.pos1, pair.pos2);
}

static void
print_element(const char *type_name, const char *literal)
{
	static bool first = true;
	int			type = type_of(type_name);
	uint8_t		bytes[LONGEST];
	size_t		size = canonical(type, literal, bytes);

	printf("%s{\"family\": \"%s\", \"type\": ", first ? "" : ",\n",
		   types[type].family_name);
	print_string(type_name);
	printf(", \"value\": ");
	print_string(literal);
	printf(",\n \"bytes\": ");
	print_hex(bytes, size);
	printf(",\n \"hashes\": [");
	for (int i = 0; i < LENGTH(seeds); i++)
		printf("%s\"%016" PRIx64 "\"", i > 0 ? ", " : "",
			   hash_of(type, literal, seeds[i]));
	printf("],\n \"places\": [");
	for (int i = 0; i < LENGTH(places); i++)
		print_place(hash_of(type, literal, 0), i);
	printf("]}");
	first = false;
}

/* The first integer from 0 on whose hash has the core that becomes 1. */
static const char *
literal_with_low_byte_0(void)
{
	static char literal[20];
	int			i = 0;

	do
		sprintf(literal, "%d", i++);
	while ((hash_of(type_of("int8"), literal, 0) & 0xff) != 0);
	return literal;
}

static void
print_elements(void)
{
	/* where XXH3 begins to do something else, and one byte less */
	static const int lengths[] = {3, 4, 8, 9, 16, 17, 128, 129, 240, 241,
	1024, 1025};
	static const char *const values[][2] = {
		{"int2", "-32768"}, {"int2", "-1"}, {"int2", "0"}, {"int2", "17"},
		{"int4", "17"}, {"int4", "2147483647"}, {"int8", "17"}, {"int8", "1"},
		{"int8", "-2147483649"}, {"int8", "9007199254740993"},
		{"int8", "-9223372036854775808"}, {"int8", "9223372036854775807"},
		{"text", ""}, {"text", "a"}, {"text", "A"}, {"text", "a "},
		{"text", "\xc3\xa9"}, {"text", "e\xcc\x81"},
		{"text", "\xe2\x82\xac\xf0\x9f\xa5\x9a"},
		{"text", "https://bad.example/1"}, {"text", "\"quoted\"\t\\"},
		{"char(5)", "a    "}, {"char(5)", ""}, {"\"char\"", "a"},
		{"\"char\"", ""}, {"\"char\"", "\\351"},
		{"bytea", "\\x"}, {"bytea", "\\x00"}, {"bytea", "\\x61"},
		{"bytea", "\\x00ff80c3"},
		{"uuid", "00000000-0000-0000-0000-000000000000"},
		{"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"boolean", "false"}, {"boolean", "true"},
		{"date", "0001-01-01"}, {"date", "1999-12-31"}, {"date", "2000-01-01"},
		{"date", "2024-02-29"}, {"date", "9999-12-31"},
		{"date", "infinity"}, {"date", "-infinity"},
		{"timestamp", "0001-01-01 00:00:00"},
		{"timestamp", "1999-12-31 23:59:59.999999"},
		{"timestamp", "2000-01-01 00:00:00"},
		{"timestamp", "2026-06-01 12:34:56.5"},
		{"timestamp", "9999-12-31 23:59:59.999999"},
		{"timestamp", "infinity"}, {"timestamp", "-infinity"},
		{"timestamptz", "2000-01-01 00:00:00+00"},
		{"timestamptz", "2026-06-01 12:34:56.000001+02"},
		{"timestamptz", "1969-07-20 20:17:40-05"},
		{"timestamptz", "infinity"}, {"timestamptz", "-infinity"},
		{"float4", "0.1"}, {"float8", "0.1"}, {"float8", "0"},
		{"float8", "-0"}, {"float8", "NaN"}, {"float8", "Infinity"},
		{"float8", "-Infinity"}, {"float8", "-1.5"}, {"float8", "5e-324"},
		{"float8", "1.7976931348623157e308"},
		{"inet", "10.0.0.1"}, {"inet", "10.0.0.1/24"}, {"inet", "10.0.0.0/24"},
		{"inet", "0.0.0.0/0"}, {"inet", "255.255.255.255"}, {"inet", "::"},
		{"inet", "2001:db8::1"}, {"inet", "2001:db8::1/64"},
		{"inet", "::ffff:10.0.0.1"}, {"inet", "::/0"},
		{"cidr", "10.0.0.0/24"}, {"cidr", "10.0.0.1/32"},
		{"cidr", "2001:db8::/32"},
		{"macaddr", "08:00:2b:01:02:03"}, {"macaddr", "00:00:00:00:00:00"},
		{"macaddr8", "08:00:2b:01:02:03:04:05"},
		{"macaddr8", "08:00:2b:ff:fe:01:02:03"},
		{"numeric", "0"}, {"numeric", "0.00"}, {"numeric", "1"},
		{"numeric", "1.0"}, {"numeric", "10"}, {"numeric", "1200.000"},
		{"numeric", "-0.025"}, {"numeric", "0.1"}, {"numeric", "10000"},
		{"numeric", "12345678901234567890.0123456789"},
		{"numeric", "-0.00000000000000000000000000000000000000001"},
		{"numeric", "1e131071"}, {"numeric", "1e-16383"}, {"numeric", "NaN"},
		{"numeric", "Infinity"}, {"numeric", "-Infinity"},
		{"time", "00:00:00"}, {"time", "24:00:00"}, {"time", "12:34:56.5"},
		{"time", "23:59:59.999999"},
		{"interval", "00:00:00"}, {"interval", "1 mon"},
		{"interval", "30 days"}, {"interval", "1 day"},
		{"interval", "24:00:00"}, {"interval", "-00:00:00.000001"},
		{"interval", "1 year 2 mons 3 days 04:05:06.789"},
		{"interval", "-1 mons +30 days -00:00:01"},
		{"interval", "178000000 years"}, {"interval", "-178000000 years"}
	};

	printf("{\n");
	print_geometries();
	for (int i = 0; i < LENGTH(values); i++)
		print_element(values[i][0], values[i][1]);
	print_element("int8", literal_with_low_byte_0());
	for (int i = 0; i < LENGTH(lengths); i++)
	{
		char		text[LONGEST];

		for (int k = 0; k < lengths[i]; k++)
			text[k] = (char) ('a' + k % 26);
		text[lengths[i]] = '\0';
		print_element("text", text);
	}
	printf("\n]\n}\n");
}

/* ---- images ------------------------------------------------------------- */

/* Values of a type that differ by their number. */
static const char *
literal_of(int type, uint64_t i)
{
	static char literal[100];
	unsigned	n = (unsigned) i;

	switch (types[type].family)
	{
		case CUCKOO_FAMILY_INTEGER:
		case CUCKOO_FAMILY_NONE:
			sprintf(literal, "%d", n % 2 == 1 ? (int) n : -(int) n);
			break;
		case CUCKOO_FAMILY_TEXT:
			sprintf(literal, "https://example.com/%u", n);
			break;
		case CUCKOO_FAMILY_BYTEA:
			sprintf(literal, "\\x%08x", n * 2654435761u);
			break;
		case CUCKOO_FAMILY_UUID:
			sprintf(literal, "%08x-0000-4000-8000-%012x", n * 2654435761u, n);
			break;
		case CUCKOO_FAMILY_BOOLEAN:
			strcpy(literal, n == 0 ? "false" : "true");
			break;
		case CUCKOO_FAMILY_DATE:
			sprintf(literal, "%04u-%02u-%02u", 1950 + n, 1 + n % 12, 1 + n % 28);
			break;
		case CUCKOO_FAMILY_TIMESTAMP:
			sprintf(literal, "%04u-%02u-28 23:%02u:59.%06u", 1950 + n,
					1 + n % 12, n % 60, n * 1001);
			break;
		case CUCKOO_FAMILY_TIMESTAMPTZ:
			sprintf(literal, "%04u-%02u-28 23:%02u:59.%06u%+03d", 1950 + n,
					1 + n % 12, n % 60, n * 1001, (int) n % 20 - 10);
			break;
		case CUCKOO_FAMILY_INET:
			if (n % 2 == 0)
				sprintf(literal, "2001:db8::%x", n);
			else
				sprintf(literal, "10.%u.%u.1/%u", n / 256, n % 256, 8 + n % 24);
			break;
		case CUCKOO_FAMILY_MACADDR:
			sprintf(literal, "08:00:2b:00:%02x:%02x", n / 256, n % 256);
			break;
		case CUCKOO_FAMILY_MACADDR8:
			sprintf(literal, "08:00:2b:ff:fe:00:%02x:%02x", n / 256, n % 256);
			break;
		case CUCKOO_FAMILY_NUMERIC:
			sprintf(literal, "%s%u.%02u", n % 2 == 1 ? "-" : "", n / 100, n % 100);
			break;
		case CUCKOO_FAMILY_TIME:
			sprintf(literal, "%02u:%02u:%02u.%06u", n / 3600, n / 60 % 60, n % 60,
					n * 101);
			break;
		case CUCKOO_FAMILY_INTERVAL:
			if (n % 2 == 0)
				sprintf(literal, "%u mons %u days", n, n % 29);
			else
				sprintf(literal, "-%u days +%02u:00:00.5", n, n % 24);
			break;
		default:
			sprintf(literal, "%.17g", (double) n / 4);
			break;
	}
	return literal;
}

/*
 * Values 0 to added - 1 are added.  The first `removed` of them go again,
 * unless there are two that look the same.  Of the others every fifth is added
 * twice.
 */
typedef struct Recipe
{
	const char *name;
	const char *type;
	uint32_t	base;
	bool		windows;
	int			base_bits;
	int			fpp_bits;
	int			level;			/* the least */
	unsigned	added;
	unsigned	removed;
	uint64_t	seed;
} Recipe;

#define SECRET	UINT64_C(0xf3c1a5d28e9b7046)

static const Recipe recipes[] = {
	{"no family", "", 2, false, 9, 8, 0, 0, 0, 0},
	{"no family, grown", "", 34, false, 20, 13, 2, 0, 0, SECRET},
	{"empty", "text", 34, false, 20, 13, 0, 0, 0, 0},
	{"all of it deleted", "int8", 34, false, 20, 13, 2, 40, 40, 0},
	{"grown", "int8", 2, false, 18, 8, 0, 900, 0, 0},
	{"grown to the last level", "int8", 6, false, 13, 8, 5, 500, 0, SECRET},
	{"grown, almost empty", "int8", 10, false, 32, 8, 6, 5, 0, SECRET},
	{"grown, half deleted", "int8", 34, false, 20, 13, 0, 600, 300, 0},
	{"10 kB", "int8", 640, false, 32, 13, 0, 2200, 0, 0},
	{"segments as windows", "int8", 128, true, 12, 8, 0, 480, 0, 0},
	{"segments as windows, grown", "int8", 130, true, 21, 8, 2, 700, 0, 0},
	{"segments as windows, deleted", "int8", 254, true, 25, 13, 1, 900, 600, SECRET},
	{"segments without windows", "int8", 130, false, 21, 8, 2, 700, 0, 0},
	{"windows of 128", "int8", 256, true, 10, 10, 0, 950, 0, 0},
	{"windows of 128, grown", "int8", 256, true, 18, 13, 2, 900, 0, SECRET},
	{"windows of 128, three of them", "int8", 384, true, 16, 8, 1, 700, 100, 0},
	{"int2", "int2", 6, false, 20, 13, 1, 30, 0, 0},
	{"int4", "int4", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"text", "text", 6, false, 20, 13, 1, 30, 0, 0},
	{"text, secret seed", "text", 6, false, 20, 13, 1, 30, 10, SECRET},
	{"bytea", "bytea", 6, false, 20, 13, 1, 30, 0, 0},
	{"uuid", "uuid", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"boolean", "boolean", 2, false, 10, 9, 0, 1, 0, 0},
	{"date", "date", 6, false, 20, 13, 1, 30, 0, 0},
	{"timestamp", "timestamp", 6, false, 20, 13, 1, 30, 0, 0},
	{"timestamptz", "timestamptz", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"float4", "float4", 6, false, 20, 13, 1, 30, 0, 0},
	{"float8", "float8", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"inet", "inet", 6, false, 20, 13, 1, 30, 0, 0},
	{"macaddr", "macaddr", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"macaddr8", "macaddr8", 6, false, 20, 13, 1, 30, 0, 0},
	{"numeric", "numeric", 6, false, 20, 13, 1, 30, 0, SECRET},
	{"time", "time", 6, false, 20, 13, 1, 30, 0, 0},
	{"interval", "interval", 6, false, 20, 13, 1, 30, 0, SECRET}
};

static UnitFilter
filter_of(const Recipe *r)
{
	int			type = type_of(r->type);
	CuckooHeader h = header(r->base, r->windows, r->base_bits, r->fpp_bits,
							0, r->seed);
	UnitFilter	f;

	unit_filter_init(&f, &h);
	f.h.family = (uint8_t) types[type].family;
	for (unsigned i = 0; i < r->added; i++)
		for (unsigned copy = 0; copy < (i >= r->removed && i % 5 == 4 ? 2u : 1u); copy++)
			if (unit_filter_add(&f, hash_of(type, literal_of(type, i), r->seed),
								CUCKOO_MAX_COPIES) > CUCKOO_UNCHANGED)
				abort();
	while (f.h.level < r->level)
		unit_filter_grow(&f);
	for (unsigned i = 0; i < r->removed; i++)
		cuckoo_remove(&f.h, f.image, hash_of(type, literal_of(type, i), r->seed));
	cuckoo_header_write(&f.h, f.image);
	return f;
}

/*
 * Some values that are in the filter, some that are not (any more), and two
 * false positives where there are any.
 */
static void
print_probes(const Recipe *r, const UnitFilter *f)
{
	int			type = type_of(r->type);
	char		counts[200];
	int			n = 0;
	int			found = 0;
	unsigned	last = types[type].family == CUCKOO_FAMILY_BOOLEAN ? 2
		: types[type].family == CUCKOO_FAMILY_DATE ? 100 : 4000;

	printf(" \"probes\": [");
	for (unsigned i = 0; i < last; i++)
	{
		const char *literal = literal_of(type, i);
		uint64_t	hash = hash_of(type, literal, r->seed);
		int			count = types[type].family == CUCKOO_FAMILY_NONE ? 0
			: cuckoo_copies(&f->h, f->image, hash);
		bool		member = i >= r->removed && i < r->added;

		if (member && count == 0)
			abort();
		if (i < 10 || (i >= r->removed && i < r->removed + 20) ||
			(i >= r->added && (i < r->added + 20 ||
							   (count > 0 && found++ < 2))))
		{
			if (n > 0)
				printf(", ");
			print_string(literal);
			counts[n++] = (char) ('0' + count);
		}
	}
	counts[n] = '\0';
	printf("],\n \"counts\": \"%s\"", counts);
}

/* The fields of a filter, and its image. */
static void
print_head(const char *name, const char *type, const UnitFilter *f)
{
	printf("{\"name\": \"%s\", \"family\": \"%s\", \"type\": ", name,
		   types[type_of(type)].family_name);
	print_string(type);
	printf(", \"f0\": %d, \"ft\": %d, \"g\": %d, \"windows\": %s, \"m0\": %" PRIu32
		   ", \"items\": %" PRIu64 ", \"seed\": \"%016" PRIx64 "\",\n \"image\": ",
		   f->h.base_bits, f->h.fpp_bits, f->h.level,
		   f->h.windows ? "true" : "false", f->h.base, f->h.items, f->h.seed);
	cuckoo_checksum_write(f->image, cuckoo_image_size(&f->h));
	print_base64(f->image, cuckoo_image_size(&f->h));
	printf(",\n");
}

static int
compare_keys(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* The keys that the core finds are these, each at most twice. */
static bool
core_agrees(const UnitFilter *f, const uint64_t *keys, uint64_t n)
{
	uint64_t   *found = unit_alloc(f->h.items * sizeof(uint64_t));
	uint64_t   *scratch = unit_alloc(f->h.items * sizeof(uint64_t));
	bool		same = cuckoo_keys_read(&f->h, f->image, found, scratch) ==
		CUCKOO_OK && cuckoo_keys_limit(found, f->h.items, CUCKOO_MAX_COPIES) == n;

	for (uint64_t i = 0; same && i < n; i++)
		same = naive_scale(found[i], f->h.base) == keys[i] >> 32 &&
			(found[i] & cuckoo_low_mask(f->h.base_bits)) == (uint32_t) keys[i];
	free(found);
	free(scratch);
	return same;
}

/* The keys as they are hashed: j << 32 | fingerprint. */
static void
print_keys(const UnitFilter *f)
{
	uint64_t   *keys = unit_alloc(f->h.items * sizeof(uint64_t));
	uint8_t    *bytes = unit_alloc(f->h.items * sizeof(uint64_t));
	uint64_t	read = 0;
	uint64_t	n = 0;

	for (uint32_t pos = 0; pos < f->h.buckets; pos++)
	{
		uint32_t	slots[4];

		naive_get(f->image + CUCKOO_HEADER_SIZE, pos, f->h.bits, slots);
		for (int i = 0; i < 4; i++)
			if (slots[i] != 0)
			{
				NaiveClass	c = naive_stored_class(f->h.base, f->h.windows,
												   f->h.level, pos, slots[i]);

				keys[read++] = (uint64_t) c.low << 32 | c.fp;
			}
	}
	qsort(keys, read, sizeof(uint64_t), compare_keys);
	for (uint64_t i = 0; i < read; i++)
		if (n < 2 || keys[n - 2] != keys[i])
		{
			keys[n] = keys[i];
			cuckoo_store64(bytes + n * 8, keys[n]);
			n++;
		}
	if (read != f->h.items || !core_agrees(f, keys, n))
		abort();
	printf(",\n \"key_count\": %" PRIu64 ", \"key_hash\": \"%016" PRIx64 "\"",
		   n, (uint64_t) XXH3_64bits(bytes, n * 8));
	if (n <= LISTED)
	{
		printf(", \"keys\": [");
		for (uint64_t i = 0; i < n; i++)
			printf("%s[%" PRIu64 ", \"%" PRIx32 "\"]", i > 0 ? ", " : "",
				   keys[i] >> 32, (uint32_t) keys[i]);
		printf("]");
	}
	printf("}");
	free(keys);
	free(bytes);
}

static void
print_image(const Recipe *r)
{
	UnitFilter	f = filter_of(r);

	printf(",\n");
	print_head(r->name, r->type, &f);
	print_probes(r, &f);
	print_keys(&f);
	unit_filter_free(&f);
}

/* An image with the integer 1 and, at a higher level, 57. */
static void
print_example(const char *name, CuckooHeader h, int level)
{
	int			type = type_of("int8");
	UnitFilter	f;

	unit_filter_init(&f, &h);
	unit_filter_add(&f, hash_of(type, "1", 0), CUCKOO_MAX_COPIES);
	if (level > 0)
		unit_filter_add(&f, hash_of(type, "57", 0), CUCKOO_MAX_COPIES);
	while (f.h.level < level)
		unit_filter_grow(&f);
	cuckoo_header_write(&f.h, f.image);
	print_head(name, "int8", &f);
	printf(" \"probes\": [\"1\", \"57\", \"2\"], \"counts\": \"%s\"",
		   level == 0 ? "100" : "110");
	print_keys(&f);
	unit_filter_free(&f);
}

/*
 * Copies of the integer 1, two of 2 where they find room, and others.  cuckoo
 * keeps at most two, but the image is valid.
 */
static void
print_copies(const char *name, int copies, uint32_t base, int others)
{
	int			type = type_of("int8");
	CuckooHeader h = header(base, false, 12, 12, 0, 0);
	UnitFilter	f;

	unit_filter_init(&f, &h);
	for (int i = 4; i < 4 + others; i++)
		if (unit_filter_add(&f, hash_of(type, literal_of(type, (uint64_t) i),
										0), 1) > CUCKOO_UNCHANGED)
			abort();
	for (int copy = 1; copy <= copies; copy++)
		cuckoo_insert(&f.h, f.image, hash_of(type, "1", 0), copy);
	for (int copy = 1; copy <= 2; copy++)
		cuckoo_insert(&f.h, f.image, hash_of(type, "2", 0), copy);
	cuckoo_header_write(&f.h, f.image);
	printf(",\n");
	print_head(name, "int8", &f);
	printf(" \"probes\": [\"1\", \"2\", \"3\"], \"counts\": \"2%d0\"",
		   copies < 8 ? 2 : 0);
	print_keys(&f);
	unit_filter_free(&f);
}

/* The text of a valid image of 39 + bits bytes, which says how it is padded. */
static char *
text_of(int bits)
{
	CuckooHeader h = header(2, false, bits, 8, 0, 0);
	UnitFilter	f;
	char	   *text;

	unit_filter_init(&f, &h);
	cuckoo_checksum_write(f.image, cuckoo_image_size(&h));
	text = base64_of(f.image, cuckoo_image_size(&h));
	unit_filter_free(&f);
	return text;
}

/* The text of an image, and the same with white space wherever it may be. */
static void
print_spaced(int bits)
{
	static const char spaces[] = " \t\r\n";
	char	   *text = text_of(bits);
	char		spaced[200];
	int			n = 0;

	spaced[n++] = ' ';
	for (int i = 0; text[i] != '\0'; i++)
	{
		spaced[n++] = text[i];
		spaced[n++] = spaces[i % 4];
	}
	spaced[n] = '\0';
	printf("%s[", bits > 9 ? ",\n" : "");
	print_string(spaced);
	printf(", \"%s\"]", text);
	free(text);
}

static void
print_images(void)
{
	CuckooHeader h;

	printf("{\n\"images\": [\n");
	if (cuckoo_header_sized(&h, 1, cuckoo_fpp_bits(0.03), 0) != CUCKOO_OK)
		abort();
	print_example("first example of FORMAT.md", h, 0);
	printf(",\n");
	if (cuckoo_header_sized(&h, 2000000, cuckoo_fpp_bits(0.5), 0) != CUCKOO_OK)
		abort();
	print_example("second example of FORMAT.md", h, 2);
	for (int i = 0; i < LENGTH(recipes); i++)
		print_image(&recipes[i]);

	print_copies("three copies", 3, 2, 0);
	print_copies("six copies, which is full", 6, 2, 0);
	print_copies("eight copies", 8, 2, 0);
	print_copies("four copies among others", 4, 500, 1400);

	/* every width of fingerprints */
	for (int bits = 8; bits <= 32; bits++)
	{
		char		name[20];
		Recipe		r = {name, "int8", (uint32_t) (6 + 2 * (bits % 4)), false,
		bits, bits, 0, 20, 2, (uint64_t) bits};

		sprintf(name, "width %d", bits);
		print_image(&r);
	}
	printf("\n],\n\"texts\": [\n");
	for (int bits = 9; bits <= 11; bits++)
		print_spaced(bits);
	printf("\n]\n}\n");
}

/* ---- images to be refused ----------------------------------------------- */

static void
print_damaged(const char *what, const uint8_t *image, uint64_t size)
{
	static bool first = true;
	CuckooStatus status = cuckoo_validate(image, size);

	if (status < CUCKOO_BAD_SHORT)
		abort();
	printf("%s{\"name\": \"%s\", \"reason\": ", first ? "" : ",\n", what);
	print_string(cuckoo_status_text(status));
	printf(",\n \"image\": ");
	print_base64(image, size);
	printf("}");
	first = false;
}

/* The same with a right checksum, so that it is refused for another reason. */
static void
print_refused(const char *what, const uint8_t *image, uint64_t size)
{
	uint8_t    *copy = unit_alloc(size);

	memcpy(copy, image, size);
	if (size >= CUCKOO_TAIL_SIZE)
		cuckoo_checksum_write(copy, size);
	print_damaged(what, copy, size);
	free(copy);
}

/* The image with a byte changed. */
static void
print_changed(const char *what, const UnitFilter *f, int offset, uint8_t byte)
{
	uint64_t	size = cuckoo_image_size(&f->h);
	uint8_t    *image = unit_alloc(size);

	memcpy(image, f->image, size);
	image[offset] = byte;
	print_refused(what, image, size);
	free(image);
}

/* The image with one bit of a byte flipped, counted from its end if below 0. */
static void
print_flipped(const char *what, const UnitFilter *f, int offset, int bit)
{
	uint64_t	size = cuckoo_image_size(&f->h);
	uint8_t    *image = unit_alloc(size);

	memcpy(image, f->image, size);
	image[offset < 0 ? (int) size + offset : offset] ^= (uint8_t) (1 << bit);
	print_damaged(what, image, size);
	free(image);
}

/* The image with another checksum. */
static void
print_checksum(const char *what, const UnitFilter *f, uint64_t checksum)
{
	uint64_t	size = cuckoo_image_size(&f->h);
	uint8_t    *image = unit_alloc(size);

	memcpy(image, f->image, size);
	cuckoo_store64(image + size - CUCKOO_TAIL_SIZE, checksum);
	print_damaged(what, image, size);
	free(image);
}

/* Damage that only the checksum shows. */
static void
print_damages(void)
{
	static const Recipe r = {"", "int8", 6, false, 12, 10, 1, 30, 0, 7};
	UnitFilter	f = filter_of(&r);
	uint64_t	size = cuckoo_image_size(&f.h);
	uint64_t	checksum;
	uint64_t	reversed = 0;

	cuckoo_checksum_write(f.image, size);
	checksum = cuckoo_load64(f.image + size - CUCKOO_TAIL_SIZE);
	for (int i = 0; i < 8; i++)
		reversed = reversed << 8 | (checksum >> 8 * i & 0xff);
	print_flipped("a bit of the family", &f, CUCKOO_AT_FAMILY, 1);
	print_flipped("a bit of ft", &f, CUCKOO_AT_FPP_BITS, 0);
	print_flipped("the lowest bit of the seed", &f, CUCKOO_AT_SEED, 0);
	print_flipped("the highest bit of the seed", &f, CUCKOO_AT_SEED + 7, 7);
	print_flipped("a bit of a lane", &f, CUCKOO_HEADER_SIZE + 2, 3);
	print_flipped("the last bit of the buckets", &f, -9, 7);
	print_flipped("the first bit of the checksum", &f, -8, 0);
	print_flipped("the last bit of the checksum", &f, -1, 7);
	print_checksum("a checksum of 0", &f, 0);
	print_checksum("a checksum in big-endian order", &f, reversed);
	print_checksum("a checksum with the seed of the filter", &f,
				   XXH3_64bits_withSeed(f.image, size - CUCKOO_TAIL_SIZE,
										f.h.seed));
	print_checksum("a checksum of the buckets alone", &f,
				   XXH3_64bits(f.image + CUCKOO_HEADER_SIZE, size -
							   CUCKOO_HEADER_SIZE - CUCKOO_TAIL_SIZE));
	unit_filter_free(&f);
}

/*
 * An empty image of so many base buckets and bits, whose length agrees with
 * them.  It has windows if there are more than 256.
 */
static void
print_empty(const char *what, uint32_t base, int base_bits, int level)
{
	CuckooHeader h = header(2, false, 12, 8, 0, 0);
	uint64_t	size = CUCKOO_HEADER_SIZE + CUCKOO_TAIL_SIZE +
		((uint64_t) base << level) * (uint64_t) (base_bits - level - 1) / 2;
	uint8_t    *image = unit_alloc(size);

	memset(image, 0, size);
	h.base = base;
	h.base_bits = (uint8_t) base_bits;
	h.fpp_bits = 8;
	h.level = (uint8_t) level;
	h.windows = base > 256;
	cuckoo_header_write(&h, image);
	print_refused(what, image, size);
	free(image);
}

/*
 * An image of two buckets with f = 12, whose first bucket has this code and
 * these lanes, and which counts so many items.
 */
static void
print_bucket(const char *what, uint64_t code, uint64_t lane0, uint64_t lane1,
			 uint64_t lane2, uint64_t lane3, uint64_t items)
{
	CuckooHeader h = header(2, false, 12, 12, 0, 0);
	UnitFilter	f;

	unit_filter_init(&f, &h);
	f.h.items = items;
	cuckoo_header_write(&f.h, f.image);
	cuckoo_store64(f.image + CUCKOO_HEADER_SIZE, code | lane0 << 12 |
				   lane1 << 20 | lane2 << 28 | lane3 << 36);
	print_refused(what, f.image, cuckoo_image_size(&f.h));
	unit_filter_free(&f);
}

/*
 * Prints a text up to its n-th character from the end, and something else in
 * its place.
 */
static void
print_text(const char *text, int n, const char *instead)
{
	static bool first = true;
	char		changed[200];

	sprintf(changed, "%.*s%s", (int) strlen(text) - n, text, instead);
	if (!first)
		printf(",\n");
	print_string(changed);
	first = false;
}

static void
print_refused_texts(void)
{
	char	   *none = text_of(9);	/* no padding */
	char	   *two = text_of(10);	/* AA== */
	char	   *one = text_of(11);	/* AAA= */

	print_text(none, 1, "");
	print_text(none, 3, "");
	print_text(none, 0, "=");
	print_text(none, 0, "====");
	print_text(none, 0, "Q===");
	print_text(none, 4, "A*AA");
	print_text(none, 4, "A-AA");
	print_text(none, 4, "A_AA");
	print_text(none, 4, "A=AA");
	print_text(none, 0, "\v");
	print_text(one, 1, "");
	print_text(one, 1, "==");
	print_text(one, 2, "B=");
	print_text(one, 0, "A");
	print_text(one, 0, " AAAA");
	print_text(two, 2, "");
	print_text(two, 2, "=");
	print_text(two, 2, "===");
	print_text(two, 2, "=Z");
	print_text(two, 3, "B==");
	print_text(two, 2, "\u00a0==");
	print_text(two, 0, "AAAA");
	print_text(two, 0, "\n*");
	print_text(two, 0, "\f");
	free(none);
	free(one);
	free(two);
}

static void
print_refusals(void)
{
	static const Recipe r = {"", "int8", 6, false, 12, 10, 1, 6, 0, 0};
	UnitFilter	f = filter_of(&r);
	uint64_t	size = cuckoo_image_size(&f.h);
	uint8_t    *longer = unit_alloc(size + 1);
	char		family[20];

	memcpy(longer, f.image, size);
	printf("{\n\"images\": [\n");
	print_refused("no bytes", longer, 0);
	print_refused("31 bytes", longer, 31);
	print_refused("only a header", longer, 32);
	print_refused("one byte less", longer, size - 1);
	print_refused("one byte more", longer, size + 1);
	print_changed("magic", &f, CUCKOO_AT_MAGIC, 'c');
	print_changed("magic, second byte", &f, CUCKOO_AT_MAGIC + 1, 'f');
	print_changed("version 0", &f, CUCKOO_AT_VERSION, 0);
	print_changed("version 2", &f, CUCKOO_AT_VERSION, 2);
	snprintf(family, sizeof(family), "family %d", CUCKOO_FAMILY_LAST + 1);
	print_changed(family, &f, CUCKOO_AT_FAMILY, CUCKOO_FAMILY_LAST + 1);
	print_changed("items without a family", &f, CUCKOO_AT_FAMILY, 0);
	print_changed("f0 below ft", &f, CUCKOO_AT_FPP_BITS, 13);
	print_empty("f0 33", 2, 33, 0);
	print_changed("ft 7", &f, CUCKOO_AT_FPP_BITS, 7);
	print_empty("g above f0 - 8", 6, 12, 5);
	print_changed("another g", &f, CUCKOO_AT_LEVEL, 2);
	print_changed("an unknown flag", &f, CUCKOO_AT_FLAGS, 4);
	print_changed("flag 2", &f, CUCKOO_AT_FLAGS, 2);
	print_changed("flags 3", &f, CUCKOO_AT_FLAGS, 3);
	print_changed("windows with m0 = 6", &f, CUCKOO_AT_FLAGS, 1);
	print_empty("windows with m0 = 258", 258, 8, 0);
	print_empty("m0 0", 0, 12, 0);
	print_empty("m0 odd", 7, 12, 1);
	print_changed("m0 of another length", &f, CUCKOO_AT_BASE, 8);
	print_changed("m0 beyond 512 MiB", &f, CUCKOO_AT_BASE + 3, 0xff);
	print_changed("tag of an integer", &f, CUCKOO_AT_TAG + 1, 1);
	print_changed("byte 14", &f, CUCKOO_AT_RESERVED, 2);
	print_changed("byte 15", &f, CUCKOO_AT_RESERVED + 1, 0x80);
	print_changed("one item more", &f, CUCKOO_AT_ITEMS, (uint8_t) (f.h.items + 1));
	print_changed("one item less", &f, CUCKOO_AT_ITEMS, (uint8_t) (f.h.items - 1));
	print_changed("2^63 items more", &f, CUCKOO_AT_ITEMS + 7, 0x80);
	print_damages();

	/* code 1 is 0001, 16 is 0011, 815 is 0fff, 816 is 1111 */
	print_bucket("code 3876", 3876, 1, 1, 1, 1, 4);
	print_bucket("code 4095", 4095, 1, 1, 1, 1, 4);
	print_bucket("fixed byte 0", 0, 0, 0, 0, 0x10, 1);
	print_bucket("fixed byte 0 beside others", 1, 0, 0, 0x20, 1, 2);
	print_bucket("an empty slot after one with nibble 0", 0, 0, 0, 3, 0, 1);
	print_bucket("equal nibbles in the wrong order", 816, 1, 1, 3, 2, 4);
	print_bucket("nibbles 0 in the wrong order", 1, 0, 3, 2, 5, 3);
	printf("\n],\n\"texts\": [");
	print_refused_texts();
	printf("]\n}\n");
	free(longer);
	unit_filter_free(&f);
}

int
main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	naive_init();
	if (strcmp(what, "elements") == 0)
		print_elements();
	else if (strcmp(what, "images") == 0)
		print_images();
	else if (strcmp(what, "refused") == 0)
		print_refusals();
	else
	{
		fprintf(stderr, "usage: vectors elements|images|refused\n");
		return 2;
	}
	return 0;
}
