/*-------------------------------------------------------------------------
 *
 * replay.c
 *		A fuzzer without libFuzzer: the corpus, and random inputs.
 *
 * usage: fuzz_x [FILE...]
 *
 * Without files it runs those of test/fuzz/corpus/fuzz_x, and as many random
 * inputs as INPUTS says, half of them changes of these files.  They come from
 * the seed that is printed; SEED=n in the environment repeats them.  An input
 * that fails is printed in hexadecimal.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <dirent.h>
#include <signal.h>

#define INPUTS		3000
#define MOST_BYTES	4096
#define MOST_FILES	256

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *files[MOST_FILES];
static size_t sizes[MOST_FILES];
static size_t count;

static const uint8_t *current;
static size_t current_size;

static void
show_input(int signal_number)
{
	printf("FAILED (seed %" PRIu64 "):", unit_seed);
	for (size_t i = 0; i < current_size; i++)
		printf("%s%02x", i % 32 == 0 ? "\n" : " ", current[i]);
	printf("\n0 passed, 1 failed\n");
	fflush(stdout);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* From exactly as many bytes, so that a sanitizer sees the first beyond. */
static void
run(const uint8_t *data, size_t size)
{
	uint8_t    *input = unit_alloc(size);

	memcpy(input, data, size);
	current = input;
	current_size = size;
	LLVMFuzzerTestOneInput(input, size);
	free(input);
}

static void
read_file(const char *path)
{
	FILE	   *file = fopen(path, "rb");

	if (file == NULL || count == MOST_FILES)
	{
		printf("cannot read %s\n", path);
		exit(2);
	}
	files[count] = unit_alloc(MOST_BYTES);
	sizes[count] = fread(files[count], 1, MOST_BYTES, file);
	count++;
	fclose(file);
}

static void
read_corpus(const char *program)
{
	const char *name = strrchr(program, '/');
	char		folder[200];
	DIR		   *dir;
	const struct dirent *entry;

	snprintf(folder, sizeof(folder), "test/fuzz/corpus/%s",
			 name != NULL ? name + 1 : program);
	dir = opendir(folder);
	if (dir == NULL)
	{
		printf("no corpus %s here\n", folder);
		exit(2);
	}
	while ((entry = readdir(dir)) != NULL)
	{
		char		path[500];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			read_file(path);
	}
	closedir(dir);
}

/* Random bytes, or a file with some bytes changed and its end cut off. */
static size_t
random_input(uint8_t *data, uint64_t number)
{
	uint64_t	state = unit_seed ^ unit_mix(number);
	size_t		file = unit_mix(state + 1) % count;
	size_t		size = unit_mix(state + 2) % 400;

	if (number % 2 == 0 && sizes[file] > 0)
	{
		uint64_t	changes = unit_mix(state + 3) % 8;

		size = sizes[file];
		memcpy(data, files[file], size);
		for (uint64_t i = 0; i < changes; i++)
		{
			uint64_t	change = unit_mix(state + 4 + i);

			data[change % size] = (uint8_t) (change >> 56);
		}
		if (unit_mix(state + 50) % 4 == 0)
			size = unit_mix(state + 51) % (size + 1);
	}
	else
		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t) unit_mix(state + 100 + i);
	return size;
}

int
main(int argc, char **argv)
{
	char	   *seed[] = {argv[0], getenv("SEED")};
	uint8_t		data[MOST_BYTES];

	unit_begin(seed[1] != NULL ? 2 : 1, seed, "fuzz");
	signal(SIGABRT, show_input);
	for (int i = 1; i < argc; i++)
		read_file(argv[i]);
	if (argc == 1)
		read_corpus(argv[0]);
	for (size_t i = 0; i < count; i++)
		run(files[i], sizes[i]);
	for (uint64_t i = 0; argc == 1 && i < INPUTS; i++)
	{
		size_t		size = random_input(data, i);

		run(data, size);
	}
	printf("%zu files, %d random inputs\n1 passed, 0 failed\n", count,
		   argc == 1 ? INPUTS : 0);
	for (size_t i = 0; i < count; i++)
		free(files[i]);
	return 0;
}
