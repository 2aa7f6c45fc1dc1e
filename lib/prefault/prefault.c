// SPDX-License-Identifier: MIT
/* Mapping whole ranges in one call, with the best mechanism the kernel offers. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/rawcall.h>
#include <ferry_prefault.h>

#include "fault_in.h"
#include "large_pages.h"

/* Since Linux 6.18: large pages are disabled except where advised. */
#define THP_DISABLE_EXCEPT_ADVISED 2

/* The limit of multi_page_alloc(). */
#define MAX_PAGES 512

/* In smaller ranges, looking for large pages takes longer than they save. */
#define WORTH_LARGE_PAGES ((size_t)1 << 20)

/* ---- large pages ---- */

static bool large_pages_disabled(void)
{
	long answer = ferry_rawcall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0, 0);

	return answer > 0 && !(answer & THP_DISABLE_EXCEPT_ADVISED);
}

/* The size of the large pages that PAGES have been advised to have, or 0. */
static size_t advise_large_pages(const struct pages *pages)
{
	size_t size;

	if (ferry__pages_size(pages) < WORTH_LARGE_PAGES || large_pages_disabled())
		return 0;
	size = ferry__advised_large_page(LARGE_PAGES_SETTINGS, pages->start, pages->end);
	if (!size || ferry_rawcall(SYS_madvise, (long)pages->start, (long)ferry__pages_size(pages),
				   MADV_HUGEPAGE, 0, 0, 0))
		return 0;
	return size;
}

/* ---- page by page ---- */

/*
 * Two futex operations touch a word without changing it, and return -EFAULT where an access by
 * the program would raise a signal: a comparison that requeues nobody, and an atomic or with 0.
 * The latter may wake a waiter on the word if it holds -2048; waiters have to expect that.
 */
static int touch(uintptr_t page, bool write)
{
	const long or_0 = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, -2048);
	unsigned int nobody = 0;
	long result;

	if (write)
		result = ferry_rawcall(SYS_futex, (long)&nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG,
				       0, 0, (long)page, or_0);
	else
		result = ferry_rawcall(SYS_futex, (long)page,
				       FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0, (long)page, 0);
	return result >= 0 || result == -EAGAIN ? 0 : (int)result;
}

static int touch_all(const struct pages *pages)
{
	unsigned char resident;
	uintptr_t page;
	int error;

	for (page = pages->start; page < pages->end; page += pages->page) {
		error = touch(page, pages->write);
		if (error == -EFAULT && ferry_rawcall(SYS_mincore, (long)page, (long)pages->page,
						      (long)&resident, 0, 0, 0) == -ENOMEM)
			return -ENOMEM;
		if (error)
			return error;
	}
	return 0;
}

/* ---- the public functions ---- */

/* What one page table maps, which is also the size of the usual large pages. */
static size_t table_reach(size_t page)
{
	return page * (page / sizeof(long));
}

/* Chooses how PAGES are mapped, and advises large pages. */
static struct fault_in choose(const struct pages *pages, unsigned int flags,
			      struct ferry_prefaulted *done)
{
	struct fault_in how = {
		.pages = *pages,
		.map = touch_all,
		.piece = table_reach(pages->page),
		.alone = flags & FERRY_PREFAULT_ALONE,
	};

	done->way = FERRY_PREFAULT_TOUCH;
	if (!ferry__can_populate(pages))
		return how;
	how.map = ferry__populate;
	done->way = FERRY_PREFAULT_POPULATE;
	if (pages->write && !(flags & FERRY_PREFAULT_SMALL))
		done->large_page = advise_large_pages(pages);
	if (done->large_page)
		done->way = FERRY_PREFAULT_LARGE_PAGES;
	if (done->large_page > how.piece)
		how.piece = done->large_page;
	return how;
}

/* Whether there are whole pages with these bytes in the address space. */
static bool find_pages(const void *address, size_t length, struct pages *pages)
{
	uintptr_t start = (uintptr_t)address, end;

	pages->page = (size_t)sysconf(_SC_PAGESIZE);
	if (__builtin_add_overflow(start, length, &end) || end > UINTPTR_MAX - pages->page)
		return false;
	pages->start = start & ~(pages->page - 1);
	pages->end = (end + pages->page - 1) & ~(pages->page - 1);
	return true;
}

int ferry_prefault(const void *address, size_t length, unsigned int flags,
		   struct ferry_prefaulted *done)
{
	const unsigned int all = FERRY_PREFAULT_WRITE | FERRY_PREFAULT_SMALL | FERRY_PREFAULT_ALONE;
	struct pages pages = { .write = flags & FERRY_PREFAULT_WRITE };
	struct ferry_prefaulted unwanted;
	struct fault_in how;
	int error, saved;

	done = done ? done : &unwanted;
	memset(done, 0, sizeof(*done));
	if (flags & ~all || !find_pages(address, length, &pages))
		return -EINVAL;
	if (!length)
		return 0;
	saved = errno;
	how = choose(&pages, flags, done);
	error = ferry__fault_in(&how);
	done->faults = how.faults;
	done->threads = how.threads;
	errno = saved;
	return error;
}

int ferry_prefault_process(long pages, struct ferry_prefaulted *done)
{
	struct ferry_prefaulted unwanted;
	int error;

	done = done ? done : &unwanted;
	memset(done, 0, sizeof(*done));
	if (pages < 0 || pages > MAX_PAGES)
		return -EINVAL;
	error = ferry_multi_page_alloc(pages);
	if (!error && pages > 1)
		done->way = FERRY_PREFAULT_AHEAD;
	/* Without multi_page_alloc() each fault maps one page anyway. */
	return error == -ENOSYS && pages <= 1 ? 0 : error;
}

const char *ferry_prefault_way_name(enum ferry_prefault_way way)
{
	static const char *const names[FERRY_PREFAULT_WAYS] = {
		[FERRY_PREFAULT_NONE] = "none",
		[FERRY_PREFAULT_AHEAD] = "ahead",
		[FERRY_PREFAULT_POPULATE] = "populate",
		[FERRY_PREFAULT_LARGE_PAGES] = "large pages",
		[FERRY_PREFAULT_TOUCH] = "touch",
	};

	return (unsigned int)way < FERRY_PREFAULT_WAYS ? names[way] : NULL;
}
