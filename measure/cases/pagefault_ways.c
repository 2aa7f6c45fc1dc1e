// SPDX-License-Identifier: MIT
#include "pagefault_ways.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry_prefault.h>

#include "common/memory.h"
#include "lib/prefault/large_pages.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "measure/harness/random.h"

/* Since Linux 5.14; the libc may be older. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define ALIGNMENT ((size_t)2 << 20)
#define POPULATED_AT_ONCE ((size_t)64 << 20) /* so that Ctrl-C is noticed in between */
#define TOUCHED_AT_ONCE 4096		     /* likewise, pages */

const struct order_words orders[ORDERS] = {
	{ "write", "sequential", "Every page written, one after another" },
	{ "write", "random", "Every page written, in a random order" },
	{ "write", "one_in_64", "One page in 64 written" },
	{ "read", "sequential", "Every page read, one after another" },
};

const char *const way_names[WAYS] = { "base",	  "clear",	   "ahead",	   "populate",
				      "prefault", "prefault_here", "map_populate", "large_pages" };

/* ---- the region ---- */

static void shuffle(uint32_t pages[], size_t count, uint64_t seed)
{
	struct random random = { .state = seed };
	size_t i;

	for (i = count; i > 1; i--) {
		size_t other = random_below(&random, i);
		uint32_t page = pages[i - 1];

		pages[i - 1] = pages[other];
		pages[other] = page;
	}
}

static void fill_orders(struct region *region, uint64_t seed)
{
	uint32_t i;
	int order;

	for (order = 0; order < ORDERS; order++) {
		uint32_t step = order == ONE_IN_64 ? SPARSE : 1;

		region->touched[order] = region->pages / step;
		region->orders[order] =
			allocate(region->touched[order], sizeof(*region->orders[order]));
		for (i = 0; i < region->touched[order]; i++)
			region->orders[order][i] = i * step;
	}
	shuffle(region->orders[RANDOM], region->touched[RANDOM], seed);
}

bool region_open(struct region *region, size_t length, uint64_t seed)
{
	char *reserved = mmap(NULL, length + ALIGNMENT, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (reserved == MAP_FAILED)
		return false;
	*region = (struct region){
		.reserved = reserved,
		.start = reserved + (-(uintptr_t)reserved & (ALIGNMENT - 1)),
		.reserved_length = length + ALIGNMENT,
		.length = length,
		.page = (size_t)sysconf(_SC_PAGESIZE),
	};
	region->pages = length / region->page;
	fill_orders(region, seed);
	return true;
}

void region_close(struct region *region)
{
	int order;

	for (order = 0; order < ORDERS; order++)
		free(region->orders[order]);
	munmap(region->reserved, region->reserved_length);
}

/* ---- ways ---- */

void way_prepare(const struct touch *touch)
{
	static int home = -1; /* the CPU that the process stays on otherwise */

	prctl(PR_SET_THP_DISABLE, touch->way != LARGE_PAGES, 0, 0, 0);
	ferry_multi_page_alloc(touch->way == AHEAD ? touch->per_fault : 0);
	if (home < 0)
		home = cpu_stay(-1);
	use_cpus(touch->way == PREFAULT ? -1 : home, -1);
}

static int populate(const struct region *region, bool write)
{
	int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
	size_t done, length;

	for (done = 0; done < region->length && !interrupted(); done += length) {
		length = region->length - done;
		if (length > POPULATED_AT_ONCE)
			length = POPULATED_AT_ONCE;
		if (madvise(region->start + done, length, advice))
			return -errno;
	}
	return 0;
}

int way_map(const struct region *region, const struct touch *touch)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	if (touch->way == MAP_POPULATED)
		flags |= MAP_POPULATE;
	if (mmap(region->start, region->length, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		return -errno;
	if (touch->way == LARGE_PAGES)
		return madvise(region->start, region->length, MADV_HUGEPAGE) ? -errno : 0;
	if (touch->way == PREFAULT || touch->way == PREFAULT_HERE)
		return ferry_prefault(region->start, region->length,
				      FERRY_PREFAULT_WRITE | FERRY_PREFAULT_SMALL, NULL);
	return touch->way == POPULATE ? populate(region, touch->order != READ) : 0;
}

/* ---- clearing a page as the kernel does ---- */

#if defined(__x86_64__)

#include <cpuid.h>

/* Enhanced `rep stosb`, bit 9 of EBX in leaf 7: clear_page() uses it where the CPU has it. */
static bool has_erms(void)
{
	static int known = -1;
	unsigned int eax, ebx, ecx, edx;

	if (known < 0)
		known = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx >> 9 & 1;
	return known;
}

/* By the instruction that this CPU's kernels clear pages with. */
static void clear_page(char *page, size_t size)
{
	unsigned long count = size;

	if (has_erms()) {
		__asm__ volatile("rep stosb" : "+D"(page), "+c"(count) : "a"(0) : "memory");
		return;
	}
	count /= sizeof(long);
	__asm__ volatile("rep stosq" : "+D"(page), "+c"(count) : "a"(0L) : "memory");
}

#else

static void clear_page(char *page, size_t size)
{
	memset(page, 0, size);
	__asm__ volatile("" : : "r"(page) : "memory");
}

#endif

/* ---- touching ---- */

static void visit_some(const struct region *region, const uint32_t pages[], size_t count,
		       bool write, bool clear)
{
	size_t i;

	for (i = 0; i < count; i++) {
		char *page = region->start + pages[i] * region->page;

		if (clear)
			clear_page(page, region->page);
		else if (write)
			*(volatile char *)page = 1;
		else
			(void)*(volatile char *)page;
	}
}

void visit_pages(const struct region *region, const struct touch *touch, bool clear)
{
	const uint32_t *pages = region->orders[touch->order];
	size_t count = region->touched[touch->order], done, part;

	for (done = 0; done < count && !interrupted(); done += part) {
		part = count - done < TOUCHED_AT_ONCE ? count - done : TOUCHED_AT_ONCE;
		visit_some(region, pages + done, part, touch->order != READ, clear);
	}
}

void region_unmap(const struct region *region)
{
	if (mmap(region->start, region->length, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		err(EXIT_FAILURE, "cannot unmap memory");
}

/* ---- availability ---- */

static const char *ahead_missing(void)
{
	int error = ferry_multi_page_alloc(0);

	if (!error)
		return NULL;
	return error == -ENOSYS ?
		       "multi_page_alloc() is not on this kernel: ferry's patch series has it" :
		       "this kernel has the number of multi_page_alloc() for something else";
}

/* The largest pages that the region gets on advice, or 0. */
static size_t largest_in_use(const struct region *region)
{
	size_t size;

	for (size = LARGEST_LARGE_PAGE; size >= SMALLEST_LARGE_PAGE; size >>= 1)
		if (size <= region->length &&
		    ferry__large_pages_setting(LARGE_PAGES_SETTINGS, size) >= LARGE_PAGES_ADVISED)
			return size;
	return 0;
}

static const char *large_pages_missing(const struct region *region, size_t size)
{
	size_t largest = largest_in_use(region);

	if (!size)
		return "this kernel has no transparent huge pages";
	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1)
		return "transparent huge pages are disabled for this process";
	if (ferry__large_pages_setting(LARGE_PAGES_SETTINGS, size) == LARGE_PAGES_NEVER)
		return "set to never in " LARGE_PAGES_SETTINGS;
	if (size == largest)
		return NULL;
	if (size > region->length)
		return "larger than the memory that is touched";
	return keep_text("the kernel takes pages of %zu KiB first", largest >> 10);
}

const char *touch_missing(const struct region *region, const struct touch *touch)
{
	if (touch->way == AHEAD)
		return ahead_missing();
	if (touch->way == LARGE_PAGES)
		return large_pages_missing(region, touch->large_page);
	if (touch->way == POPULATE && madvise(NULL, 0, MADV_POPULATE_WRITE))
		return "this kernel does not have MADV_POPULATE_WRITE, which came with Linux 5.14";
	return NULL;
}
