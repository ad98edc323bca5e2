/*-------------------------------------------------------------------------
 *
 * probe.c
 *		The program cuckoo-probe: which elements a filter may contain.
 *
 * It is called like grep, and its exit statuses are those of grep.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L /* getline() */
#include "cuckoofilter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	EXIT_FOUND = 0,
	EXIT_NONE = 1,
	EXIT_ERROR = 2
};

static const char usage[] =
"usage: cuckoo-probe [-v] [--hash] FILE [--] [ELEMENT...]\n"
"       cuckoo-probe --info FILE\n"
"\n"
"Prints those elements that may be in the set of a filter of PostgreSQL's\n"
"extension cuckoo. FILE has the filter as text (f::text) or as bytes (f::bytea);\n"
"it is - for standard input. Without ELEMENT, each line of standard input is one,\n"
"without the LF or CR LF at its end.\n"
"\n"
"  -v      print the elements that are certainly not in the set\n"
"  --hash  elements are given by what cf_hash(element, seed) returns\n"
"  --info  print what the filter says of itself\n"
"\n"
"Elements are written as PostgreSQL prints integers, text, uuid, bytea, boolean\n"
"and dates. Filters of other elements need --hash, because text does not always\n"
"identify them: 0.1 of type real is the element 0.10000000149011612.\n"
"\n"
"The exit status is 0 if an element was printed, 1 if none was, and 2 after an\n"
"error.\n";

typedef struct Options
{
	bool		invert;
	bool		by_hash;
	bool		info;
} Options;

/* What the elements gave so far; an EXIT_... */
static int	status = EXIT_NONE;

static void
complain(const char *about, const char *problem)
{
	fprintf(stderr, "cuckoo-probe: %s: %s\n", about, problem);
	status = EXIT_ERROR;
}

/* Reads a whole file into memory, or returns NULL and sets errno. */
static char *
read_all(FILE *file, size_t *size)
{
	size_t		room = 1 << 16;
	char	   *content = malloc(room);

	*size = 0;
	while (content != NULL)
	{
		char	   *larger;

		*size += fread(content + *size, 1, room - *size, file);
		if (*size < room)
			break;
		room *= 2;
		larger = realloc(content, room);
		if (larger == NULL)
			free(content);
		content = larger;
	}
	if (content != NULL && ferror(file))
	{
		free(content);
		content = NULL;
	}
	return content;
}

/* The filter of a file, or NULL after a complaint. */
static cuckoofilter *
open_file(const char *name)
{
	FILE	   *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
	cuckoofilter *filter;
	char	   *content;
	size_t		size;
	int			result;

	content = file == NULL ? NULL : read_all(file, &size);
	if (content == NULL)
		complain(name, strerror(errno));
	if (file != NULL && file != stdin)
		fclose(file);
	if (content == NULL)
		return NULL;
	/* the text of an image begins with Q0YB */
	result = size >= 2 && memcmp(content, "CF", 2) == 0
		? cuckoofilter_open(content, size, &filter)
		: cuckoofilter_open_text(content, size, &filter);
	free(content);
	if (result != CUCKOOFILTER_OK)
		complain(name, cuckoofilter_status_text(result));
	return filter;
}

static void
print_info(const cuckoofilter *f)
{
	printf("family    %s\n",
		   cuckoofilter_family_name(cuckoofilter_family(f)));
	printf("items     %" PRIu64 "\n", cuckoofilter_items(f));
	printf("capacity  %" PRIu64 "\n", cuckoofilter_capacity(f));
	printf("fpp_now   %.4g\n", cuckoofilter_fpp(f));
	printf("bytes     %zu\n", cuckoofilter_size(f));
	printf("seed      %" PRId64 "\n", cuckoofilter_seed(f));
}

/* 1 or 0, or a negative status. */
static int
contains(const cuckoofilter *f, const Options *options, const char *element,
		 size_t length)
{
	long long	hash;
	char	   *end;

	if (!options->by_hash)
		return cuckoofilter_contains_literal(f, element, length);
	errno = 0;
	hash = strtoll(element, &end, 10);
	if (length == 0 || end != element + length || errno != 0)
		return CUCKOOFILTER_INVALID_VALUE;
	return cuckoofilter_contains_hash(f, (uint64_t) hash);
}

/* Prints the element if it is wanted. */
static void
probe(const cuckoofilter *f, const Options *options, const char *element,
	  size_t length)
{
	int			found = contains(f, options, element, length);

	if (found < 0)
		complain(element, cuckoofilter_status_text(found));
	else if ((found != 0) != options->invert)
	{
		fwrite(element, 1, length, stdout);
		putchar('\n');
		if (status == EXIT_NONE)
			status = EXIT_FOUND;
	}
}

static void
probe_lines(const cuckoofilter *f, const Options *options)
{
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;

	while ((length = getline(&line, &room, stdin)) >= 0)
	{
		if (length > 0 && line[length - 1] == '\n')
			line[--length] = '\0';
		if (length > 0 && line[length - 1] == '\r')
			line[--length] = '\0';
		probe(f, options, line, (size_t) length);
	}
	if (ferror(stdin))
		complain("standard input", strerror(errno));
	free(line);
}

int
main(int argc, char **argv)
{
	Options		options = {0};
	cuckoofilter *f;
	const char *name;
	uint64_t	hash;
	int			i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++)
	{
		if (strcmp(argv[i], "-v") == 0)
			options.invert = true;
		else if (strcmp(argv[i], "--hash") == 0)
			options.by_hash = true;
		else if (strcmp(argv[i], "--info") == 0)
			options.info = true;
		else if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout) == EOF ? EXIT_ERROR : EXIT_FOUND;
		else if (strcmp(argv[i], "--") == 0)
		{
			i++;
			break;
		}
		else
			i = argc;			/* there is no such option */
	}
	if (i >= argc || (options.info && i + 1 < argc))
	{
		fputs(usage, stderr);
		return EXIT_ERROR;
	}

	name = argv[i++];
	if (i < argc && strcmp(argv[i], "--") == 0 && strcmp(argv[i - 2], "--") != 0)
		i++;
	f = open_file(name);
	if (f == NULL)
		return EXIT_ERROR;
	if (options.info)
	{
		print_info(f);
		status = EXIT_FOUND;
	}
	else if (!options.by_hash && cuckoofilter_hash_literal(f, "", 0, &hash) ==
			 CUCKOOFILTER_OTHER_FAMILY)
		complain(cuckoofilter_family_name(cuckoofilter_family(f)),
				 "elements of this family are given by --hash");
	else if (i < argc)
		for (; i < argc; i++)
			probe(f, &options, argv[i], strlen(argv[i]));
	else
		probe_lines(f, &options);
	cuckoofilter_close(f);
	if (fflush(stdout) != 0 || ferror(stdout))
		complain("standard output", strerror(errno));
	return status;
}
