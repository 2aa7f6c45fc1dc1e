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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/rawcall.h>
#include <ferry_prefault.h>

#include "large_pages.h"

/* Since Linux 5.14; the libc may be older. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Since Linux 6.18: large pages are disabled except where advised. */
#define THP_DISABLE_EXCEPT_ADVISED 2

/* The limit of multi_page_alloc(). */
#define MAX_PAGES 512

/* In smaller ranges, looking for large pages takes longer than they save. */
#define WORTH_LARGE_PAGES ((size_t)1 << 20)

struct range {
	uintptr_t start, end; /* whole pages */
	size_t page;
	bool write;
};

static int advise(const struct range *range, int advice)
{
	return (int)ferry_rawcall(SYS_madvise, (long)range->start,
				  (long)(range->end - range->start), advice, 0, 0, 0);
}

/* ---- by the kernel, in one call ---- */

static int populate_advice(const struct range *range)
{
	return range->write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
}

/* A kernel refuses advice for 0 bytes only if it does not know the advice. */
static bool can_populate(const struct range *range)
{
	const struct range none = { range->start, range->start, range->page, range->write };

	return !advise(&none, populate_advice(range));
}

static int populate(const struct range *range)
{
	int error = advise(range, populate_advice(range));

	/* The kernel knows the advice, so the mapping does not allow it. */
	return error == -EINVAL || error == -EPERM ? -EFAULT : error;
}

static bool large_pages_disabled(void)
{
	long answer = ferry_rawcall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0, 0);

	return answer > 0 && !(answer & THP_DISABLE_EXCEPT_ADVISED);
}

/* The size of the large pages that the range has been advised to have, or 0. */
static size_t advise_large_pages(const struct range *range)
{
	size_t size;

	if (range->end - range->start < WORTH_LARGE_PAGES || large_pages_disabled())
		return 0;
	size = ferry__advised_large_page(LARGE_PAGES_SETTINGS, range->start, range->end);
	return size && !advise(range, MADV_HUGEPAGE) ? size : 0;
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

static int touch_all(const struct range *range)
{
	unsigned char resident;
	uintptr_t page;
	int error;

	for (page = range->start; page < range->end; page += range->page) {
		error = touch(page, range->write);
		if (error == -EFAULT && ferry_rawcall(SYS_mincore, (long)page, (long)range->page,
						      (long)&resident, 0, 0, 0) == -ENOMEM)
			return -ENOMEM;
		if (error)
			return error;
	}
	return 0;
}

/* ---- the public functions ---- */

static unsigned long faults(void)
{
	struct rusage usage = { 0 };

	ferry_rawcall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
	return (unsigned long)(usage.ru_minflt + usage.ru_majflt);
}

static int fault_in(const struct range *range, bool small, struct ferry_prefaulted *done)
{
	if (!can_populate(range)) {
		done->way = FERRY_PREFAULT_TOUCH;
		return touch_all(range);
	}
	done->way = FERRY_PREFAULT_POPULATE;
	if (range->write && !small)
		done->large_page = advise_large_pages(range);
	if (done->large_page)
		done->way = FERRY_PREFAULT_LARGE_PAGES;
	return populate(range);
}

/* Whether there are whole pages with these bytes in the address space. */
static bool find_pages(const void *address, size_t length, struct range *range)
{
	uintptr_t start = (uintptr_t)address, end;

	range->page = (size_t)sysconf(_SC_PAGESIZE);
	if (__builtin_add_overflow(start, length, &end) || end > UINTPTR_MAX - range->page)
		return false;
	range->start = start & ~(range->page - 1);
	range->end = (end + range->page - 1) & ~(range->page - 1);
	return true;
}

int ferry_prefault(const void *address, size_t length, unsigned int flags,
		   struct ferry_prefaulted *done)
{
	struct range range = { .write = flags & FERRY_PREFAULT_WRITE };
	struct ferry_prefaulted unwanted;
	int error;

	done = done ? done : &unwanted;
	memset(done, 0, sizeof(*done));
	if (flags & ~(FERRY_PREFAULT_WRITE | FERRY_PREFAULT_SMALL) ||
	    !find_pages(address, length, &range))
		return -EINVAL;
	if (!length)
		return 0;
	done->faults = -faults();
	error = fault_in(&range, flags & FERRY_PREFAULT_SMALL, done);
	done->faults += faults();
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
