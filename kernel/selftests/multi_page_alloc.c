// SPDX-License-Identifier: GPL-2.0
/*
 * multi_page_alloc(): which pages a fault maps, which it leaves alone, and that no
 * page is lost or counted twice.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <linux/userfaultfd.h>

#include "subcall_test.h"

#define PAGE 4096UL
#define TABLE (512 * PAGE) /* the range that a page-table page maps */
#define PAGES 1024
#define N 16

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

static long multi_page_alloc(long pages)
{
	return syscall(__NR_multi_page_alloc, pages) < 0 ? -errno : 0;
}

/* With this environment variable the program reports how many pages a fault maps. */
#define REPORT "FERRY_REPORT_PAGES_PER_FAULT"

static char *map_pages(size_t pages)
{
	char *map = mmap(NULL, pages * PAGE + 2 * TABLE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *aligned = map + (-(unsigned long)map & (TABLE - 1));

	if (map == MAP_FAILED)
		return NULL;
	/* An adjacent mapping would be merged into the same VMA. */
	munmap(map, aligned - map);
	munmap(aligned + pages * PAGE, map + 2 * TABLE - aligned);
	madvise(aligned, pages * PAGE, MADV_NOHUGEPAGE);
	return aligned;
}

/* Whether page I is mapped. */
static bool is_mapped(const char *map, size_t i)
{
	unsigned char resident = 0;

	return !mincore((char *)map + i * PAGE, PAGE, &resident) && (resident & 1);
}

static size_t count_mapped(const char *map, size_t pages)
{
	size_t count = 0, i;

	for (i = 0; i < pages; i++)
		count += is_mapped(map, i);
	return count;
}

/* Whether exactly the pages FIRST to END - 1 are mapped. */
static bool only_mapped(const char *map, size_t pages, size_t first, size_t end)
{
	size_t i;

	for (i = 0; i < pages; i++)
		if (is_mapped(map, i) != (i >= first && i < end))
			return false;
	return true;
}

static bool is_zero(const char *page)
{
	size_t i;

	for (i = 0; i < PAGE; i++)
		if (page[i])
			return false;
	return true;
}

static void write_page(char *map, size_t i)
{
	*(volatile char *)(map + i * PAGE) = 1;
}

static void read_page(const char *map, size_t i)
{
	(void)*(volatile const char *)(map + i * PAGE);
}

/* The kilobytes in a line of a /proc file, or -1. */
static long kilobytes(const char *path, const char *name)
{
	size_t length = strlen(name);
	FILE *file = fopen(path, "r");
	char line[256];
	long found = -1;

	while (file && found < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length))
			found = strtol(line + length, NULL, 10);
	if (file)
		fclose(file);
	return found;
}

static long anonymous_pages(void)
{
	return kilobytes("/proc/self/smaps_rollup", "Anonymous:") / 4;
}

/* Pages that reclaim can drop. */
static long clean_pages(void)
{
	return kilobytes("/proc/self/smaps_rollup", "LazyFree:") / 4;
}

/* How many pages a write fault maps now. */
static int pages_per_fault(void)
{
	char *map = map_pages(PAGES);
	int count;

	write_page(map, 0);
	count = count_mapped(map, PAGES);
	munmap(map, PAGES * PAGE);
	return count;
}

static __attribute__((constructor)) void report(void)
{
	if (getenv(REPORT))
		_exit(pages_per_fault() & 0xff);
}

/* The result of pages_per_fault() in a child that executes this program. */
static int pages_per_fault_after_exec(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		setenv(REPORT, "1", 1);
		execl("/proc/self/exe", "multi_page_alloc", NULL);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Whether BODY(MAP) returns true in a child process. */
static bool child_says(bool (*body)(char *map), char *map)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(body(map) ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The number of errors about RSS and pages in the kernel log, or -1 if it cannot be read. */
static int complaints(void)
{
	static char log[1 << 20];
	int length = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1), count = 0;
	const char *at;

	if (length < 0)
		return -1;
	log[length] = 0;
	for (at = log; (at = strstr(at, "Bad rss-counter")); at++)
		count++;
	for (at = log; (at = strstr(at, "Bad page")); at++)
		count++;
	return count;
}

FIXTURE(pages)
{
	char *map;
	int complaints;
};

FIXTURE_SETUP(pages)
{
	if (multi_page_alloc(N) == -ENOSYS)
		SKIP(return, "no multi_page_alloc(): is CONFIG_MULTI_PAGE_ALLOC set?");
	self->complaints = complaints();
	self->map = map_pages(PAGES);
	ASSERT_NE(NULL, self->map);
}

FIXTURE_TEARDOWN(pages)
{
	munmap(self->map, PAGES * PAGE);
	EXPECT_EQ(self->complaints, complaints());
}

TEST_F(pages, takes_0_to_512)
{
	EXPECT_EQ(0, multi_page_alloc(0));
	EXPECT_EQ(1, pages_per_fault());
	EXPECT_EQ(0, multi_page_alloc(1));
	EXPECT_EQ(1, pages_per_fault());
	EXPECT_EQ(0, multi_page_alloc(2));
	EXPECT_EQ(2, pages_per_fault());
	EXPECT_EQ(0, multi_page_alloc(512));
	EXPECT_EQ(512, pages_per_fault());

	EXPECT_EQ(-EINVAL, multi_page_alloc(513));
	EXPECT_EQ(-EINVAL, multi_page_alloc(-1));
	EXPECT_EQ(-EINVAL, multi_page_alloc(1L << 32));
	EXPECT_EQ(512, pages_per_fault());
}

TEST_F(pages, maps_zeroed_pages_ahead)
{
	long before = anonymous_pages();
	int i;

	write_page(self->map, 5);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 5, 5 + N));
	EXPECT_EQ(before + N, anonymous_pages());
	for (i = 6; i < 5 + N; i++)
		EXPECT_TRUE(is_zero(self->map + i * PAGE));
}

/* Pages that others dirtied before are zeroed too. */
TEST_F(pages, are_zero_when_memory_was_used)
{
	int round, i;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < PAGES; i += N)
			write_page(self->map, i);
		for (i = 0; i < PAGES; i++)
			ASSERT_TRUE(i % N == 0 || is_zero(self->map + i * PAGE));
		memset(self->map, 0xff, PAGES * PAGE);
		ASSERT_EQ(0, madvise(self->map, PAGES * PAGE, MADV_DONTNEED));
		ASSERT_EQ(0, count_mapped(self->map, PAGES));
	}
}

TEST_F(pages, stay_within_the_mapping)
{
	write_page(self->map, PAGES - 3);
	EXPECT_TRUE(only_mapped(self->map, PAGES, PAGES - 3, PAGES));

	/* A different protection makes a separate VMA. */
	ASSERT_EQ(0, mprotect(self->map + 104 * PAGE, PAGE, PROT_READ));
	write_page(self->map, 100);
	EXPECT_TRUE(is_mapped(self->map, 103));
	EXPECT_FALSE(is_mapped(self->map, 104));
	EXPECT_FALSE(is_mapped(self->map, 105));
}

TEST_F(pages, stay_within_the_page_table)
{
	write_page(self->map, 510);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 510, 512));
}

TEST_F(pages, replace_nothing_but_zeros)
{
	long before = anonymous_pages();

	multi_page_alloc(1);
	memset(self->map + 3 * PAGE, 3, PAGE);
	read_page(self->map, 5);
	multi_page_alloc(N);
	write_page(self->map, 0);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 0, N));
	EXPECT_EQ(3, self->map[3 * PAGE]);
	EXPECT_EQ(3, self->map[4 * PAGE - 1]);
	EXPECT_EQ(before + N, anonymous_pages());
	EXPECT_TRUE(is_zero(self->map + 5 * PAGE));
}

TEST_F(pages, are_the_zero_page_when_read)
{
	long before = anonymous_pages();
	int i;

	read_page(self->map, 7);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 7, 7 + N));
	EXPECT_EQ(before, anonymous_pages());
	for (i = 7; i < 7 + N; i++)
		EXPECT_TRUE(is_zero(self->map + i * PAGE));
	/* A write replaces the zero pages from there on; page 7 remains one. */
	write_page(self->map, 8);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 7, 8 + N));
	EXPECT_EQ(before + N, anonymous_pages());
	EXPECT_TRUE(is_zero(self->map + 7 * PAGE));
	EXPECT_TRUE(is_zero(self->map + 9 * PAGE));
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Besides the fault of the read itself, reading first costs no faults. */
TEST_F(pages, take_no_more_faults_after_a_read)
{
	long before = faults();
	int i, round;

	for (round = 0; round < 8; round++) {
		read_page(self->map, round * N);
		for (i = 0; i < N; i++)
			write_page(self->map, round * N + i);
	}
	/* One for each write that meets the zero page, one for each read, a few elsewhere. */
	EXPECT_LE(faults() - before, 2 * 8 + 4);
}

/*
 * Where the CPU maintains the dirty bit, memory pressure takes back the pages ahead
 * that were not written, and no others.
 */
TEST_F(pages, can_be_dropped_unless_written)
{
	long before = clean_pages();

	write_page(self->map, 0);
	if (clean_pages() == before)
		SKIP(return, "this CPU does not maintain the dirty bit");
	EXPECT_EQ(before + N - 1, clean_pages());
	write_page(self->map, 3);
	EXPECT_EQ(before + N - 2, clean_pages());
	ASSERT_EQ(0, madvise(self->map, N * PAGE, MADV_PAGEOUT));
	EXPECT_EQ(1, self->map[0]);
	EXPECT_EQ(1, self->map[3 * PAGE]);
	EXPECT_GE(N / 2, count_mapped(self->map, N));
	multi_page_alloc(1);
	EXPECT_TRUE(is_zero(self->map + PAGE));
	EXPECT_TRUE(is_zero(self->map + (N - 1) * PAGE));
}

static bool maps_n(char *map)
{
	(void)map;
	return pages_per_fault() == N;
}

TEST_F(pages, are_inherited_by_fork_and_cleared_by_exec)
{
	EXPECT_TRUE(child_says(maps_n, NULL));
	EXPECT_EQ(1, pages_per_fault_after_exec());
	EXPECT_EQ(N, pages_per_fault());
}

static void *count_in_thread(void *count)
{
	*(int *)count = pages_per_fault();
	return NULL;
}

TEST_F(pages, are_set_for_all_threads)
{
	pthread_t thread;
	int count = 0;

	ASSERT_EQ(0, pthread_create(&thread, NULL, count_in_thread, &count));
	pthread_join(thread, NULL);
	EXPECT_EQ(N, count);
}

/* Pages that the parent mapped ahead become private when parent or child writes. */
static bool child_writes(char *map)
{
	int i;

	for (i = 0; i < N; i++) {
		if (map[i * PAGE] != (i ? 0 : 1))
			return false;
		map[i * PAGE] = 7;
	}
	return map[(N - 1) * PAGE] == 7;
}

TEST_F(pages, are_copied_on_write)
{
	int i;

	write_page(self->map, 0);
	EXPECT_TRUE(child_says(child_writes, self->map));
	for (i = 1; i < N; i++)
		EXPECT_TRUE(is_zero(self->map + i * PAGE));
	EXPECT_EQ(1, self->map[0]);
}

TEST_F(pages, move_with_mremap)
{
	char *target = map_pages(PAGES);
	long before = anonymous_pages();

	ASSERT_NE(NULL, target);
	write_page(self->map, 2);
	ASSERT_EQ(target, mremap(self->map, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
				 target));
	EXPECT_TRUE(only_mapped(target, 8, 2, 8));
	EXPECT_EQ(1, target[2 * PAGE]);
	EXPECT_TRUE(is_zero(target + 7 * PAGE));
	EXPECT_EQ(before + N, anonymous_pages());
	munmap(target, PAGES * PAGE);
	EXPECT_EQ(before + N - 6, anonymous_pages());
}

TEST_F(pages, obey_mprotect)
{
	write_page(self->map, 0);
	ASSERT_EQ(0, mprotect(self->map, N * PAGE, PROT_READ));
	EXPECT_TRUE(is_zero(self->map + PAGE));
	ASSERT_EQ(0, mprotect(self->map, N * PAGE, PROT_READ | PROT_WRITE));
	memset(self->map, 9, N * PAGE);
	EXPECT_EQ(9, self->map[N * PAGE - 1]);

	/* Pages mapped ahead read-only become writable with mprotect(). */
	ASSERT_EQ(0, mprotect(self->map + 64 * PAGE, N * PAGE, PROT_READ));
	read_page(self->map, 64);
	ASSERT_EQ(0, mprotect(self->map + 64 * PAGE, N * PAGE, PROT_READ | PROT_WRITE));
	write_page(self->map, 70);
	EXPECT_TRUE(is_zero(self->map + 71 * PAGE));
}

TEST_F(pages, are_given_back_by_munmap)
{
	long before = anonymous_pages();

	write_page(self->map, 0);
	ASSERT_EQ(0, munmap(self->map + 4 * PAGE, 4 * PAGE));
	EXPECT_EQ(before + N - 4, anonymous_pages());
	/* The VMA ends at the hole. */
	ASSERT_EQ(0, madvise(self->map, 4 * PAGE, MADV_DONTNEED));
	write_page(self->map, 1);
	EXPECT_TRUE(only_mapped(self->map, 4, 1, 4));
	EXPECT_EQ(before + N - 5, anonymous_pages());
	EXPECT_EQ(-1, madvise(self->map + 4 * PAGE, PAGE, MADV_DONTNEED));
}

TEST_F(pages, obey_madvise)
{
	int i;

	memset(self->map, 5, N * PAGE);
	ASSERT_EQ(0, madvise(self->map + PAGE, 3 * PAGE, MADV_DONTNEED));
	write_page(self->map, 1);
	EXPECT_TRUE(is_zero(self->map + 2 * PAGE));
	EXPECT_TRUE(is_zero(self->map + 3 * PAGE));
	EXPECT_EQ(5, self->map[4 * PAGE]);

	write_page(self->map, 64);
	ASSERT_EQ(0, madvise(self->map + 64 * PAGE, N * PAGE, MADV_FREE));
	madvise(self->map + 64 * PAGE, N * PAGE, MADV_PAGEOUT);
	for (i = 65; i < 64 + N; i++)
		EXPECT_TRUE(is_zero(self->map + i * PAGE));
}

TEST_F(pages, leave_guards_alone)
{
	if (madvise(self->map + 3 * PAGE, PAGE, MADV_GUARD_INSTALL))
		SKIP(return, "this kernel has no guard pages");
	write_page(self->map, 0);
	read_page(self->map, 1);
	EXPECT_FALSE(is_mapped(self->map, 3));
	EXPECT_TRUE(is_mapped(self->map, 4));
}

TEST_F(pages, are_locked_in_locked_memory)
{
	if (mlock(self->map, 2 * N * PAGE))
		SKIP(return, "may not lock %lu KiB", 2 * N * PAGE / 1024);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 0, 2 * N));
	EXPECT_EQ(2 * N * PAGE / 1024, kilobytes("/proc/self/smaps_rollup", "Locked:"));
	ASSERT_EQ(0, munlock(self->map, PAGES * PAGE));
	EXPECT_EQ(0, kilobytes("/proc/self/smaps_rollup", "Locked:"));
}

/* Locking what is touched is a promise not to lock more. */
TEST_F(pages, are_not_locked_ahead)
{
	if (mlock2(self->map, PAGES * PAGE, MLOCK_ONFAULT))
		SKIP(return, "may not lock %lu KiB", PAGES * PAGE / 1024);
	write_page(self->map, 0);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 0, 1));
	EXPECT_EQ(PAGE / 1024, kilobytes("/proc/self/smaps_rollup", "Locked:"));
}

TEST_F(pages, are_populated)
{
	ASSERT_EQ(0, madvise(self->map, 100 * PAGE, 23 /* MADV_POPULATE_WRITE */));
	EXPECT_TRUE(only_mapped(self->map, 100, 0, 100));
}

/* A userfaultfd for MODE on the mapping, or -1. */
static int arm(char *map, unsigned long mode)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = P(map), .len = PAGES * PAGE },
		.mode = mode,
	};
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)) {
		close(fd);
		return -1;
	}
	return fd;
}

struct toucher {
	char *map;
	size_t page;
};

static void *touch(void *arg)
{
	const struct toucher *toucher = arg;

	write_page(toucher->map, toucher->page);
	return NULL;
}

TEST_F(pages, leave_userfaultfd_its_faults)
{
	struct toucher toucher = { self->map, 4 };
	int fd = arm(self->map, UFFDIO_REGISTER_MODE_MISSING);
	struct uffdio_zeropage zero = {
		.range = { .start = P(self->map + 4 * PAGE), .len = PAGE },
	};
	struct uffd_msg message;
	pthread_t thread;

	if (fd < 0)
		SKIP(return, "no userfaultfd");
	ASSERT_EQ(0, pthread_create(&thread, NULL, touch, &toucher));
	while (read(fd, &message, sizeof(message)) != sizeof(message))
		usleep(100);
	EXPECT_EQ(UFFD_EVENT_PAGEFAULT, message.event);
	EXPECT_EQ(P(self->map + 4 * PAGE), (long)message.arg.pagefault.address);
	EXPECT_EQ(0, count_mapped(self->map, PAGES));
	EXPECT_EQ(0, ioctl(fd, UFFDIO_ZEROPAGE, &zero));
	pthread_join(thread, NULL);
	EXPECT_TRUE(only_mapped(self->map, PAGES, 4, 5));
	close(fd);
	/* No longer registered. */
	write_page(self->map, 32);
	EXPECT_TRUE(is_mapped(self->map, 33));
}

TEST_F(pages, leave_huge_pages_their_faults)
{
	char *map = map_pages(PAGES);

	if (madvise(map, PAGES * PAGE, MADV_HUGEPAGE))
		SKIP(return, "no transparent huge pages");
	write_page(map, 3);
	if (kilobytes("/proc/self/smaps_rollup", "AnonHugePages:") != TABLE / 1024)
		SKIP(return, "no huge page was available");
	EXPECT_EQ(512, count_mapped(map, PAGES));
	munmap(map, PAGES * PAGE);
}

#define THREADS 4

static pthread_barrier_t barrier;

static void *touch_all(void *map)
{
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < PAGES; i++)
		__atomic_fetch_add((int *)((char *)map + i * PAGE), 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Reads each page before it writes, so that zero pages are replaced while others read them. */
static void *read_and_touch_all(void *map)
{
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < PAGES; i++) {
		read_page(map, PAGES - 1 - i);
		read_page(map, i);
		__atomic_fetch_add((int *)((char *)map + i * PAGE), 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* No page replaces another that is mapped already. */
TEST_F(pages, survive_racing_threads)
{
	pthread_t threads[THREADS];
	int round, i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (round = 0; round < 20; round++) {
		multi_page_alloc(round % 2 ? 512 : 8);
		for (i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL,
						    round % 4 < 2 ? touch_all : read_and_touch_all,
						    self->map));
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		for (i = 0; i < PAGES; i++)
			ASSERT_EQ(THREADS, *(int *)(self->map + i * PAGE));
		ASSERT_EQ(0, madvise(self->map, PAGES * PAGE, MADV_DONTNEED));
	}
}

TEST_HARNESS_MAIN
