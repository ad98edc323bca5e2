/*-------------------------------------------------------------------------
 *
 * test_fixtures.c
 *		Images of format 1 that were stored once are read as they were then, by
 *		every later build and on every machine.
 *
 * usage: test_fixtures [seed [long]], or test_fixtures print FILE
 *
 * Reads test/fixtures/filters.txt, which test/fixtures/make.sh describes, from
 * the current folder.  Each image is valid, has the items that its line says,
 * and its keys and answers have the line's digest.  So do those of the filter
 * that this build makes of the keys.  The seed changes nothing.
 *
 * The second form prints the name and the digest of each line, for make.sh.
 * What is expected of the elements themselves is tested through SQL, see
 * sql/fixtures.sql.
 *
 *-------------------------------------------------------------------------
 */
#include "core/core.h"
#include "unit.h"

#include <string.h>

#define FIXTURES	"test/fixtures/filters.txt"
#define LINE_LENGTH (1 << 20)
#define ANSWERS		2000

/* The columns of a line, which tabs separate. */
enum
{
	COLUMN_NAME,
	COLUMN_ELEMENT,
	COLUMN_N,
	COLUMN_ITEMS,
	COLUMN_COPIES,
	COLUMN_ANSWERS,
	COLUMN_DIGEST,
	COLUMN_IMAGE,
	COLUMNS
};

/* Decodes base64 in place; returns the length, 0 if it is not base64. */
static uint64_t
decode(char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t	bits = 0;
	uint64_t	n = 0;
	uint64_t	length = 0;

	for (; text[n] != '\0' && text[n] != '='; n++)
	{
		const char *digit = strchr(digits, text[n]);

		if (digit == NULL)
			return 0;
		bits = bits << 6 | (uint32_t) (digit - digits);
		if (n % 4 > 0)
			text[length++] = (char) (bits >> (6 - n % 4 * 2));
	}
	return length;
}

/* FNV-1a over a number, its lowest byte first */
static uint64_t
add_number(uint64_t digest, uint64_t number)
{
	for (int i = 0; i < 64; i += 8)
		digest = (digest ^ (number >> i & 0xff)) * UINT64_C(0x100000001b3);
	return digest;
}

/*
 * The digest of a filter's keys, which are left in `keys`, and of its answers
 * for hashes that are always the same, most of which it does not contain.
 */
static uint64_t
digest_of(const UnitFilter *f, uint64_t *keys)
{
	uint64_t   *scratch = unit_alloc(f->h.items * sizeof(uint64_t));
	uint64_t	digest = UINT64_C(0xcbf29ce484222325);

	CHECK(cuckoo_keys_read(&f->h, f->image, keys, scratch) == CUCKOO_OK,
		  "%" PRIu64 " items", f->h.items);
	for (uint64_t i = 0; i < f->h.items; i++)
		digest = add_number(digest, keys[i]);
	for (uint64_t i = 0; i < ANSWERS; i++)
		digest = add_number(digest, (uint64_t)
							cuckoo_copies(&f->h, f->image, unit_mix(i)));
	free(scratch);
	return digest;
}

/* The same keys in a filter of this build, of the same geometry. */
static void
check_again(const char *name, const UnitFilter *f, const uint64_t *keys,
			uint64_t digest)
{
	UnitFilter	again;
	CuckooHeader h = f->h;
	uint64_t   *same = unit_alloc(h.items * sizeof(uint64_t));

	h.items = 0;
	CHECK(cuckoo_header_set_level(&h, 0) == CUCKOO_OK, "%s", name);
	unit_filter_init(&again, &h);
	again.h.family = f->h.family;
	for (uint64_t i = 0; i < f->h.items; i++)
		CHECK(unit_filter_add(&again, keys[i], 2) == CUCKOO_OK, "%s", name);
	CHECK(again.h.items == f->h.items &&
		  digest_of(&again, same) == digest, "%s", name);
	unit_filter_free(&again);
	free(same);
}

static void
check_line(char **columns, bool print)
{
	const char *name = columns[COLUMN_NAME];
	uint64_t	size = decode(columns[COLUMN_IMAGE]);
	UnitFilter	f;

	f.image = unit_alloc(size);
	memcpy(f.image, columns[COLUMN_IMAGE], size);
	CHECK(cuckoo_validate(f.image, size) == CUCKOO_OK, "%s: %s", name,
		  cuckoo_status_text(cuckoo_validate(f.image, size)));
	if (cuckoo_header_read(&f.h, f.image, size) == CUCKOO_OK)
	{
		uint64_t   *keys = unit_alloc(f.h.items * sizeof(uint64_t));
		uint64_t	digest = digest_of(&f, keys);

		if (print)
			printf("%s\t%016" PRIx64 "\n", name, digest);
		else
		{
			uint64_t	found = 0;

			CHECK(f.h.items == strtoull(columns[COLUMN_ITEMS], NULL, 10),
				  "%s: %" PRIu64, name, f.h.items);
			CHECK(digest == strtoull(columns[COLUMN_DIGEST], NULL, 16),
				  "%s: digest %016" PRIx64, name, digest);
			for (uint64_t i = 0; i < f.h.items; i++)
				found += cuckoo_contains(&f.h, f.image, keys[i]);
			CHECK(found == f.h.items, "%s: %" PRIu64 " found", name, found);
			check_again(name, &f, keys, digest);
		}
		free(keys);
	}
	unit_filter_free(&f);
}

static void
check_file(const char *path, bool print)
{
	char	   *line = unit_alloc(LINE_LENGTH);
	FILE	   *file = fopen(path, "r");
	int			lines = 0;

	CHECK(file != NULL, "%s", path);
	while (file != NULL && fgets(line, LINE_LENGTH, file) != NULL)
	{
		char	   *columns[COLUMNS];
		char	   *rest = line;
		int			n = 0;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		while (rest != NULL && n < COLUMNS)
		{
			columns[n++] = rest;
			rest = strchr(rest, '\t');
			if (rest != NULL)
				*rest++ = '\0';
		}
		CHECK(n == COLUMNS && rest == NULL, "%s: %d columns", line, n);
		if (n == COLUMNS)
			check_line(columns, print);
		lines++;
	}
	if (!print)
		printf("%d images\n", lines);
	CHECK(lines > 0, "%s", path);
	if (file != NULL)
		fclose(file);
	free(line);
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "print") == 0)
	{
		check_file(argv[2], true);
		return unit_failures > 0;
	}
	unit_begin(argc, argv, "test_fixtures");
	TEST(check_file(FIXTURES, false));
	return unit_end();
}
