/*-------------------------------------------------------------------------
 *
 * cuckoo_faults.c
 *		Has the extension fail at one of its points: see cuckoo_faults.h.
 *
 *	test_fault(kind, n)
 *		From now on the n-th point of that kind, 'cancel' or 'memory', fails,
 *		once.  0 is for none, and -1 for the first one in a line where none
 *		of that kind has failed.  The kind 'kill' has the points of 'cancel',
 *		but ends the process there, and with it all sessions of the server.
 *		The kind 'stop' has the session stop before the n-th step, or with -1
 *		before the first step in each line.  It writes its pid and the line to
 *		the file "stopped" in the data directory, and waits until the file is
 *		gone.
 *
 *	test_fault_left()
 *		What is left of n; 0 if the point has failed.
 *
 *	test_fault_lines(kind)
 *		The points of that kind at which this session failed, as FILE:LINE, since
 *		the last call.
 *
 *	test_hash(key, seed)
 *		A hash function of bigint, by which the index's hash of a key is the key:
 *		so a test chooses the page of a key.
 *
 *	test_seed(seed)
 *		From now on this session builds indexes with that seed.  0 is for random
 *		ones.
 *
 *	test_limit_files(bytes)
 *		From now on this session cannot write files beyond that size, as if the
 *		disk were full.  0 is for no limit.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_faults.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "index/index.h"

#undef CHECK_FOR_INTERRUPTS
#undef ConditionalLockBuffer
#undef LockBuffer
#undef UnlockReleaseBuffer
#undef pg_strong_random

PG_FUNCTION_INFO_V1(test_fault);
PG_FUNCTION_INFO_V1(test_fault_left);
PG_FUNCTION_INFO_V1(test_fault_lines);
PG_FUNCTION_INFO_V1(test_hash);
PG_FUNCTION_INFO_V1(test_seed);
PG_FUNCTION_INFO_V1(test_limit_files);

#define MAX_LINES	1000

typedef struct FaultKind
{
	int64		left;			/* points until the one that fails; 0: none;
								 * -1: until the first one of a new line */
	int			count;
	const char *files[MAX_LINES];
	int			lines[MAX_LINES];
} FaultKind;

static FaultKind cancels;
static FaultKind failures;
static FaultKind kills;
static FaultKind stops;

/* Where the record of WAL was begun. */
static const char *record_file;
static int	record_line;

/* Counts a point, and notes it if it is to fail. */
static bool
is_to_fail(FaultKind *kind, const char *file, int line)
{
	int			i = 0;

	/* a cancel or an error only between critical sections */
	if (kind->left == 0 || (CritSectionCount > 0 && kind != &stops) ||
		(kind->left > 0 && --kind->left > 0))
		return false;
	while (i < kind->count &&
		   (kind->lines[i] != line || strcmp(kind->files[i], file) != 0))
		i++;
	if (kind->left < 0 && (i < kind->count || i == MAX_LINES))
		return false;
	kind->left = 0;
	if (i == kind->count && i < MAX_LINES)
	{
		kind->files[i] = file;
		kind->lines[kind->count++] = line;
	}
	return true;
}

void
cuckoo_fault_cancel(const char *file, int line)
{
	if (is_to_fail(&kills, file, line))
		kill(MyProcPid, SIGKILL);
	if (is_to_fail(&cancels, file, line))
		QueryCancelPending = InterruptPending = true;
	if (InterruptPending)
		ProcessInterrupts();
}

void
cuckoo_fault_memory(const char *file, int line)
{
	if (is_to_fail(&failures, file, line))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				 errdetail("The test had %s:%d fail.", file, line)));
}

void
cuckoo_fault_step(const char *file, int line)
{
	int64		left = Min(stops.left, 0);
	FILE	   *stopped;

	if (!is_to_fail(&stops, file, line))
		return;
	stops.left = left;
	stopped = fopen("stopped", "w");
	if (stopped == NULL)
		abort();
	fprintf(stopped, "%d %s:%d\n", MyProcPid, file, line);
	fclose(stopped);
	while (access("stopped", F_OK) == 0)
		usleep(1000);
}

void
cuckoo_fault_record(const char *file, int line)
{
	record_file = file;
	record_line = line;
}

void
cuckoo_fault_record_end(void)
{
	cuckoo_fault_step(record_file, record_line);
}

/* ---- locks ---- */

/* The pages that this session has locked.  Temporary tables need no locks. */
#define MAX_LOCKED	16

static struct
{
	Buffer		buffer;
	int			mode;
}			locked[MAX_LOCKED];
static int	n_locked;

/* Pages are locked in the order of these numbers. */
static int
rank_of(Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	const CuckooPageHeader *header = cuckoo_page_header(page);

	/* nothing refers to a new page yet */
	if (PageIsNew(page) || header->kind == CUCKOO_PAGE_FREE)
		return 5;
	if (header->page_id != CUCKOO_PAGE_ID)
		return 0;				/* of the table */
	return header->kind == CUCKOO_PAGE_ENTRIES ? 1 :
		header->kind == CUCKOO_PAGE_CHAIN ? 2 :
		header->kind == CUCKOO_PAGE_MAP ? 3 : 4;
}

/* Two pages of one chain may be locked, but no other two of a kind. */
static void
note_lock(Buffer buffer, int mode)
{
	int			rank = rank_of(buffer);

	for (int i = 0; i < n_locked; i++)
	{
		int			other = rank_of(locked[i].buffer);

		if (other > rank || (other == rank && rank != 2))
			elog(ERROR, "locked a page of rank %d after one of rank %d", rank,
				 other);
	}
	if (n_locked == MAX_LOCKED)
		elog(ERROR, "locked %d pages", n_locked);
	locked[n_locked].buffer = buffer;
	locked[n_locked++].mode = mode;
}

/* The place of a page in locked[], or n_locked. */
static int
find_lock(Buffer buffer)
{
	int			i = 0;

	while (i < n_locked && locked[i].buffer != buffer)
		i++;
	return i;
}

static void
forget_lock(Buffer buffer)
{
	int			i = find_lock(buffer);

	if (i < n_locked)
		locked[i] = locked[--n_locked];
}

void
cuckoo_fault_lock(Buffer buffer, int mode)
{
	/* after an error there are no locks, which hold off interrupts */
	if (InterruptHoldoffCount == 0)
		n_locked = 0;
	LockBuffer(buffer, mode);
	if (mode == BUFFER_LOCK_UNLOCK)
		forget_lock(buffer);
	else if (!BufferIsLocal(buffer))
		note_lock(buffer, mode);
}

bool
cuckoo_fault_try_lock(Buffer buffer)
{
	bool		done = ConditionalLockBuffer(buffer);

	if (done && !BufferIsLocal(buffer))
		note_lock(buffer, BUFFER_LOCK_EXCLUSIVE);
	return done;
}

void
cuckoo_fault_release(Buffer buffer)
{
	forget_lock(buffer);
	UnlockReleaseBuffer(buffer);
}

Buffer
cuckoo_fault_changed(Buffer buffer)
{
	int			i = find_lock(buffer);

	if (!BufferIsLocal(buffer) &&
		(i == n_locked || locked[i].mode != BUFFER_LOCK_EXCLUSIVE))
		elog(ERROR, "changed a page without an exclusive lock");
	return buffer;
}

/* ---- for SQL ---- */

/* The kind that is the first argument of a call. */
static FaultKind *
kind_argument(FunctionCallInfo fcinfo)
{
	const char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	return strcmp(name, "cancel") == 0 ? &cancels :
		strcmp(name, "kill") == 0 ? &kills :
		strcmp(name, "stop") == 0 ? &stops : &failures;
}

/* test_fault(text, bigint) */
Datum
test_fault(PG_FUNCTION_ARGS)
{
	cancels.left = failures.left = kills.left = stops.left = 0;
	kind_argument(fcinfo)->left = PG_GETARG_INT64(1);
	PG_RETURN_VOID();
}

/* test_fault_left() */
Datum
test_fault_left(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(cancels.left + failures.left + kills.left);
}

/* test_fault_lines(text) */
Datum
test_fault_lines(PG_FUNCTION_ARGS)
{
	FaultKind  *kind = kind_argument(fcinfo);
	StringInfoData lines;

	initStringInfo(&lines);
	for (int i = 0; i < kind->count; i++)
		appendStringInfo(&lines, "%s:%d\n", kind->files[i], kind->lines[i]);
	kind->count = 0;
	PG_RETURN_TEXT_P(cstring_to_text(lines.data));
}

/*
 * test_hash(bigint, bigint)
 *
 * The inverse of cuckoo_hash_row()'s mixing of a seed and a column's hash.
 */
Datum
test_hash(PG_FUNCTION_ARGS)
{
	uint64		z = (uint64) PG_GETARG_INT64(0);

	z = (z ^ z >> 31 ^ z >> 62) * UINT64CONST(0x319642b2d24d8ec3);
	z = (z ^ z >> 27 ^ z >> 54) * UINT64CONST(0x96de1b173f119089);
	z = z ^ z >> 30 ^ z >> 60;
	PG_RETURN_INT64((int64) z ^ PG_GETARG_INT64(1));
}

static int64 seed;

bool
cuckoo_fault_random(void *bytes, size_t n)
{
	if (seed == 0 || n != sizeof(seed))
		return pg_strong_random(bytes, n);
	memcpy(bytes, &seed, n);
	return true;
}

/* test_seed(bigint) */
Datum
test_seed(PG_FUNCTION_ARGS)
{
	seed = PG_GETARG_INT64(0);
	PG_RETURN_VOID();
}

/* test_limit_files(bigint) */
Datum
test_limit_files(PG_FUNCTION_ARGS)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
		elog(ERROR, "getrlimit: %m");
	limit.rlim_cur = PG_GETARG_INT64(0) == 0 ? limit.rlim_max :
		(rlim_t) PG_GETARG_INT64(0);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		elog(ERROR, "setrlimit: %m");
	PG_RETURN_VOID();
}
