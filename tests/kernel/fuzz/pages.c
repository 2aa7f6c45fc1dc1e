// SPDX-License-Identifier: MIT
/*
 * Anonymous memory in which a fault maps several pages: it holds what was written to it, and
 * zeros elsewhere, whatever is done to the mapping.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ferry.h>

#include "subject.h"
#include "tests/lib/conformance/contract/write_file.h"

#define PAGE 4096UL
#define WINDOW 512UL /* pages that a page table maps */
#define PAGES (2 * WINDOW)
#define FIRST (WINDOW - 32) /* where most accesses begin: a table ends soon */
#define MOST_STEPS 40

static char group[] = "/sys/fs/cgroup/ferry-fuzz";
static char *area; /* PAGES pages, from the beginning of a page table on */

/* What the first byte of each page is; 0, or after MADV_FREE maybe 0. */
static unsigned char contents[PAGES];
static bool may_be_lost[PAGES];

static void begin(const char *directory)
{
	char *map =
		mmap(NULL, (PAGES + WINDOW) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)directory;
	if (map == MAP_FAILED)
		err(2, "memory");
	area = map + (-(unsigned long)map & (WINDOW * PAGE - 1));
	if (mmap(area, PAGES * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != area)
		err(2, "memory");
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
}

static void set_limit(const char *file, const char *value)
{
	char path[sizeof(group) + 32];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	write_file(path, value);
}

/* The process needs less than the lowest limit, so none is reached by a page that it touches. */
static void enter_group(struct random *random)
{
	static const char *const limits[] = { "16M", "20M", "64M", "max" };

	mkdir(group, 0755); /* where there is none, nothing is limited */
	set_limit("memory.max", PICK(random, limits));
	set_limit("memory.high", PICK(random, limits));
	set_limit("memory.swap.high", random_percent(random, 80) ? "max" : "0");
	set_limit("cgroup.procs", "0");
}

static void leave_group(void)
{
	write_file("/sys/fs/cgroup/cgroup.procs", "0");
	rmdir(group);
}

/* ---- steps ---- */

static void forget(unsigned long first, unsigned long count)
{
	memset(contents + first, 0, count);
	memset(may_be_lost + first, 0, count * sizeof(may_be_lost[0]));
}

/* Whether the pages from FIRST on hold what was written. */
static bool is_right(unsigned long first, unsigned long count, FILE *why)
{
	unsigned long i;

	for (i = first; i < first + count; i++) {
		unsigned char is = *(volatile unsigned char *)(area + i * PAGE);

		if (is == contents[i])
			continue; /* but it may be lost later */
		if (!is && may_be_lost[i]) {
			forget(i, 1);
			continue;
		}
		fprintf(why, "page %lu holds %u, not %u\n", i, is, contents[i]);
		return false;
	}
	return true;
}

static void fill(unsigned long first, unsigned long count, unsigned char value)
{
	unsigned long i;

	for (i = first; i < first + count; i++) {
		area[i * PAGE] = (char)value;
		contents[i] = value;
		may_be_lost[i] = false;
	}
}

static void advise(struct random *random, unsigned long first, unsigned long count)
{
	static const int advice[] = { MADV_DONTNEED,	   MADV_DONTNEED,   MADV_FREE,
				      MADV_COLD,	   MADV_PAGEOUT,    MADV_POPULATE_READ,
				      MADV_POPULATE_WRITE, MADV_HUGEPAGE,   MADV_NOHUGEPAGE,
				      MADV_MERGEABLE,	   MADV_UNMERGEABLE };
	int chosen = PICK(random, advice);
	unsigned long i;

	/* One that fails has done a part. */
	if (!madvise(area + first * PAGE, count * PAGE, chosen) && chosen == MADV_DONTNEED)
		forget(first, count);
	else if (chosen == MADV_FREE || chosen == MADV_DONTNEED)
		for (i = first; i < first + count; i++)
			may_be_lost[i] = true;
}

/* New memory in the place of old. */
static void renew(unsigned long first, unsigned long count)
{
	char *at = area + first * PAGE;

	if (mmap(at, count * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != at)
		err(2, "memory");
	forget(first, count);
}

static bool protect(unsigned long first, unsigned long count, FILE *why)
{
	bool right;

	mprotect(area + first * PAGE, count * PAGE, PROT_READ);
	right = is_right(first, count, why);
	mprotect(area + first * PAGE, count * PAGE, PROT_READ | PROT_WRITE);
	return right;
}

static void lock(struct random *random, unsigned long first, unsigned long count)
{
	if (random_percent(random, 50))
		munlock(area + first * PAGE, count * PAGE);
	else
		syscall(SYS_mlock2, area + first * PAGE, count * PAGE,
			random_percent(random, 70) ? MLOCK_ONFAULT : 0);
}

/* A child shares the pages until one of both writes. */
static bool share(unsigned long first, unsigned long count, unsigned char value, FILE *why)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		bool right;

		/* The recorder of this subject's process records one thread. */
		coverage_record(1);
		right = is_right(first, count, why);
		fill(first, count, value);
		right = right && is_right(first, count, why);
		fflush(why);
		_exit(!right);
	}
	fill(first, count / 2, (unsigned char)(value + 1));
	return waitpid(pid, &status, 0) == pid && !status && is_right(first, count, why);
}

static bool take_step(struct random *random, FILE *why)
{
	static const long pages[] = { 0, 1, 2, 3, 16, 64, 512, 513, -1 };
	bool wide = random_percent(random, 15);
	unsigned long first = wide ? random_below(random, PAGES) : FIRST + random_below(random, 64);
	unsigned long most = PAGES - first < 48 ? PAGES - first : 48;
	unsigned long count = 1 + random_below(random, random_percent(random, 60) ? 1 : most);
	unsigned char value = (unsigned char)(1 + random_below(random, 200));

	switch (random_below(random, 12)) {
	case 0:
	case 1:
		syscall(FERRY_NR_MULTI_PAGE_ALLOC, PICK(random, pages));
		return true;
	case 2:
	case 3:
	case 4:
		return is_right(first, count, why);
	case 5:
		advise(random, first, count);
		return true;
	case 6:
		renew(first, count);
		return true;
	case 7:
		return protect(first, count, why);
	case 8:
		lock(random, first, count);
		return true;
	case 9:
		return !random_percent(random, 40) || share(first, count, value, why);
	default:
		fill(first, count, value);
		return true;
	}
}

static bool run(struct random *random, FILE *why)
{
	unsigned long steps = 1 + random_below(random, MOST_STEPS);
	bool right = true;

	if (random_percent(random, 40))
		enter_group(random);
	if (random_percent(random, 10))
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	syscall(FERRY_NR_MULTI_PAGE_ALLOC,
		random_percent(random, 80) ? 1 + random_below(random, 512) : 0);
	while (right && steps--)
		right = take_step(random, why);
	right = right && is_right(FIRST, 64, why);
	leave_group();
	return right;
}

const struct subject pages = { .name = "pages", .begin = begin, .run = run, .forks = true };
