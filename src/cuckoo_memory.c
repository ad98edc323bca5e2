/*-------------------------------------------------------------------------
 *
 * cuckoo_memory.c
 *		Working memory of any size, for what is read and written at random.
 *
 * Where memory is touched at random, as when a filter is built, much of the
 * time goes into finding the pages.  So large pieces ask the system for huge
 * pages, if it offers these to those who ask (madvise of Linux); elsewhere they
 * are as any other memory.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_pg.h"

#include "utils/memutils.h"

#ifndef WIN32
#include <sys/mman.h>
#endif

/* The size of a huge page, and of what is worth asking for them. */
#define HUGE_PAGE		((Size) 2 << 20)
#define LARGE			(4 * HUGE_PAGE)

static void *
ask_for_huge_pages(void *memory, Size size)
{
#ifdef MADV_HUGEPAGE
	char	   *begin = (char *) TYPEALIGN(HUGE_PAGE, memory);
	char	   *end = (char *) TYPEALIGN_DOWN(HUGE_PAGE, (char *) memory + size);

	/* advice: whatever becomes of it, the memory is usable */
	if (size >= LARGE)
		(void) madvise(begin, end - begin, MADV_HUGEPAGE);
#endif
	return memory;
}

void *
cuckoo_alloc(MemoryContext context, Size size)
{
	return ask_for_huge_pages(MemoryContextAllocHuge(context, Max(size, 1)),
							  size);
}

void *
cuckoo_realloc(void *memory, Size size)
{
	return ask_for_huge_pages(repalloc_huge(memory, Max(size, 1)), size);
}
