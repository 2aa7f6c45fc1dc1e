// SPDX-License-Identifier: MIT
/*
 * ferry_prefault() maps the range by the mechanism that it reports, keeps the contents of
 * memory, and returns errors for mistakes: on this kernel, and without MADV_POPULATE_*.
 */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include <ferry.h>
#include <ferry_prefault.h>

#include "child.h"
#include "lib/prefault/control_group.h"
#include "lib/prefault/large_pages.h"
#include "lib/prefault/room.h"

#define PAGES 64L
#define SOME_FAULTS 16 /* that may have other causes: the stack, or what a sanitizer keeps */
#define LARGE ((size_t)4 << 20)

static size_t page;

/* ---- the kernel without MADV_POPULATE_* ---- */

static void refuse_populate(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 22, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static bool kernel_populates(void)
{
	return !madvise(NULL, 0, 23);
}

static enum ferry_prefault_way expected_way(void)
{
	return kernel_populates() ? FERRY_PREFAULT_POPULATE : FERRY_PREFAULT_TOUCH;
}

/* ---- what is checked ---- */

static char *map_pages(long pages, int protection)
{
	char *map =
		mmap(NULL, (size_t)pages * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHILD_ASSERT(map != MAP_FAILED);
	madvise(map, (size_t)pages * page, MADV_NOHUGEPAGE);
	return map;
}

/* A mapping aligned to a large page. */
static char *map_large(void)
{
	char *map =
		mmap(NULL, 2 * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHILD_ASSERT(map != MAP_FAILED);
	return map + (-(uintptr_t)map & (LARGE - 1));
}

static long resident(const char *map, long pages)
{
	unsigned char vector[1024];
	long count = 0, i;

	CHILD_ASSERT(!mincore((void *)map, (size_t)pages * page, vector));
	for (i = 0; i < pages; i++)
		count += vector[i] & 1;
	return count;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* The faults from touching every page, without a sanitizer's faults on shadow memory. */
__attribute__((no_sanitize("address", "thread"))) static long
faults_of_touching(char *map, long pages, bool write)
{
	volatile char *byte = map;
	long before = faults(), i;

	for (i = 0; i < pages; i++, byte += page) {
		if (write)
			*byte = 1;
		else
			(void)*byte;
	}
	return faults() - before;
}

/* The first call in a process maps what it uses itself: code, a sanitizer's memory. */
static void call_once(void)
{
	struct ferry_prefaulted done;

	CHILD_ASSERT(!ferry_prefault(&done, sizeof(done), FERRY_PREFAULT_WRITE, &done));
}

/* ---- each of these in a child, on both kernels ---- */

static void write_range(void)
{
	char *map = map_pages(PAGES, PROT_READ | PROT_WRITE);
	struct ferry_prefaulted done;

	call_once();
	CHILD_ASSERT(resident(map, PAGES) == 0);
	CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_WRITE, &done));
	CHILD_ASSERT(done.way == expected_way());
	CHILD_ASSERT(done.large_page == 0);
	CHILD_ASSERT(done.faults > 0 && done.faults <= PAGES + SOME_FAULTS);
	CHILD_ASSERT(resident(map, PAGES) == PAGES);
	CHILD_ASSERT(faults_of_touching(map, PAGES, true) < SOME_FAULTS);
	/* The second call has nothing left to do. */
	CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_WRITE, &done));
	CHILD_ASSERT(done.faults < SOME_FAULTS);
}

static void read_range(void)
{
	char *map = map_pages(PAGES, PROT_READ | PROT_WRITE);

	CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_READ, NULL));
	CHILD_ASSERT(resident(map, PAGES) == PAGES);
	CHILD_ASSERT(faults_of_touching(map, PAGES, false) < SOME_FAULTS);
	/* All were the zero page, so no memory was used. */
	CHILD_ASSERT(faults_of_touching(map, PAGES, true) >= PAGES);
}

static void file_keeps_its_content(void)
{
	int fd = memfd_create("prefault", MFD_CLOEXEC);
	long expected[PAGES], i, word;
	char *map;

	CHILD_ASSERT(!ftruncate(fd, PAGES * (long)page));
	for (i = 0; i < PAGES; i++) {
		expected[i] = i * 0x0123456789abcdefL;
		CHILD_ASSERT(pwrite(fd, &expected[i], sizeof(long), i * (long)page) == 8);
	}
	map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHILD_ASSERT(map != MAP_FAILED);
	CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_WRITE, NULL));
	for (i = 0; i < PAGES; i++)
		CHILD_ASSERT(*(long *)(map + i * page) == expected[i]);
	CHILD_ASSERT(faults_of_touching(map, PAGES, true) < SOME_FAULTS);
	/* Those writes do not reach the file. */
	for (i = 0; i < PAGES; i++) {
		CHILD_ASSERT(pread(fd, &word, sizeof(word), i * (long)page) == 8);
		CHILD_ASSERT(word == expected[i]);
	}
}

static void odd_ends_take_in_whole_pages(void)
{
	char *map = map_pages(8, PROT_READ | PROT_WRITE);

	CHILD_ASSERT(!ferry_prefault(map + 2 * page - 1, page + 2, FERRY_PREFAULT_WRITE, NULL));
	CHILD_ASSERT(resident(map + page, 3) == 3);
	CHILD_ASSERT(resident(map, 8) == 3);
	CHILD_ASSERT(!ferry_prefault(map + 6 * page + 5, 1, FERRY_PREFAULT_WRITE, NULL));
	CHILD_ASSERT(resident(map + 6 * page, 1) == 1);
	CHILD_ASSERT(resident(map, 8) == 4);
}

static void protected_range(void)
{
	char *map = map_pages(PAGES, PROT_READ);
	size_t length = PAGES * page;
	struct ferry_prefaulted done;

	CHILD_ASSERT(ferry_prefault(map, length, FERRY_PREFAULT_WRITE, &done) == -EFAULT);
	CHILD_ASSERT(done.way == expected_way());
	CHILD_ASSERT(!ferry_prefault(map, length, FERRY_PREFAULT_READ, &done));
	CHILD_ASSERT(resident(map, PAGES) == PAGES);
	map = map_pages(PAGES, PROT_NONE);
	CHILD_ASSERT(ferry_prefault(map, length, FERRY_PREFAULT_READ, NULL) == -EFAULT);
}

static void hole(void)
{
	char *map = map_pages(PAGES, PROT_READ | PROT_WRITE);
	unsigned int flags;

	CHILD_ASSERT(!munmap(map + PAGES / 2 * page, page));
	for (flags = FERRY_PREFAULT_READ; flags <= FERRY_PREFAULT_WRITE; flags++)
		CHILD_ASSERT(ferry_prefault(map, PAGES * page, flags, NULL) == -ENOMEM);
	CHILD_ASSERT(ferry_prefault(NULL, page, FERRY_PREFAULT_READ, NULL) == -ENOMEM);
}

static void end_of_file(void)
{
	int fd = memfd_create("prefault", MFD_CLOEXEC);
	unsigned int flags;
	char *map;

	CHILD_ASSERT(!ftruncate(fd, (long)page));
	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHILD_ASSERT(map != MAP_FAILED);
	for (flags = FERRY_PREFAULT_READ; flags <= FERRY_PREFAULT_WRITE; flags++) {
		CHILD_ASSERT(!ferry_prefault(map, page, flags, NULL));
		CHILD_ASSERT(ferry_prefault(map, 2 * page, flags, NULL) == -EFAULT);
	}
}

#define ADDITIONS 2000

static _Atomic int started;

static void *add_to_every_page(void *map)
{
	long i, turn;

	started = 1;
	for (turn = 0; turn < ADDITIONS; turn++)
		for (i = 0; i < PAGES; i++)
			atomic_fetch_add((_Atomic int *)((char *)map + i * page), 1);
	return NULL;
}

static void others_may_write_meanwhile(void)
{
	char *map = map_pages(PAGES, PROT_READ | PROT_WRITE);
	pthread_t other;
	long i;

	CHILD_ASSERT(!pthread_create(&other, NULL, add_to_every_page, map));
	while (!started)
		;
	for (i = 0; i < ADDITIONS / 4; i++)
		CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_WRITE, NULL));
	pthread_join(other, NULL);
	for (i = 0; i < PAGES; i++)
		CHILD_ASSERT(*(int *)(map + i * page) == ADDITIONS);
}

static void nonsense(void)
{
	char *last = (char *)(UINTPTR_MAX - page + 1);
	struct ferry_prefaulted done = { .way = FERRY_PREFAULT_TOUCH, .faults = 7 };
	/* Kernels before 6.10 look behind the hole, as far as they are asked to at once. */
	char byte = 'x', *before_hole = map_large();

	CHILD_ASSERT(!munmap(before_hole + page, page));
	errno = EXFULL;
	CHILD_ASSERT(ferry_prefault(&byte, 1, 8, &done) == -EINVAL);
	CHILD_ASSERT(done.way == FERRY_PREFAULT_NONE && !done.faults);
	CHILD_ASSERT(ferry_prefault(&byte, SIZE_MAX, FERRY_PREFAULT_READ, NULL) == -EINVAL);
	CHILD_ASSERT(ferry_prefault(last, 1, FERRY_PREFAULT_READ, NULL) == -EINVAL);
	CHILD_ASSERT(ferry_prefault(last - page, 2 * page, FERRY_PREFAULT_READ, NULL) == -EINVAL);
	CHILD_ASSERT(!ferry_prefault(NULL, 0, FERRY_PREFAULT_WRITE, &done));
	CHILD_ASSERT(done.way == FERRY_PREFAULT_NONE && !done.faults);
	CHILD_ASSERT(ferry_prefault(before_hole, SIZE_MAX / 4, FERRY_PREFAULT_READ, NULL) ==
		     -ENOMEM);
	CHILD_ASSERT(errno == EXFULL && byte == 'x');
}

static void (*body_now)(void);

static void without_populate(void)
{
	refuse_populate();
	body_now();
}

static void on_both_kernels(void (*body)(void))
{
	ASSERT_IN_CHILD(body);
	body_now = body;
	ASSERT_IN_CHILD(without_populate);
}

#define ON_BOTH(body)                         \
	static void test_##body(void **state) \
	{                                     \
		(void)state;                  \
		on_both_kernels(body);        \
	}

ON_BOTH(write_range)
ON_BOTH(read_range)
ON_BOTH(file_keeps_its_content)
ON_BOTH(odd_ends_take_in_whole_pages)
ON_BOTH(protected_range)
ON_BOTH(hole)
ON_BOTH(end_of_file)
ON_BOTH(others_may_write_meanwhile)
ON_BOTH(nonsense)

/* ---- large pages ---- */

/*
 * Whether the mapping at ADDRESS has been advised to use large pages, as EXPECTED.  Without
 * /proc/PID/smaps this cannot be checked.
 */
static bool is_advised(const void *address, bool expected)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	unsigned long start, end;
	bool here = false, advised = false;
	char line[512];

	if (!maps)
		return true;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start <= (uintptr_t)address && (uintptr_t)address < end;
		else if (here && !strncmp(line, "VmFlags:", 8))
			advised = strstr(line, " hg") != NULL;
	}
	fclose(maps);
	return advised == expected;
}

static void large_range(void)
{
	char *map = map_large();
	size_t size = ferry__advised_large_page(LARGE_PAGES_SETTINGS, (uintptr_t)map,
						(uintptr_t)map + LARGE);
	struct ferry_prefaulted done;

	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1)
		size = 0;
	CHILD_ASSERT(!ferry_prefault(map, LARGE, FERRY_PREFAULT_WRITE, &done));
	CHILD_ASSERT(done.large_page == (kernel_populates() ? size : 0));
	CHILD_ASSERT(done.way == (done.large_page ? FERRY_PREFAULT_LARGE_PAGES : expected_way()));
	CHILD_ASSERT(is_advised(map, done.large_page));
	CHILD_ASSERT(faults_of_touching(map, (long)(LARGE / page), true) < SOME_FAULTS);
}

static void large_range_in_small_pages(void)
{
	char *map = map_large();
	struct ferry_prefaulted done;

	CHILD_ASSERT(
		!ferry_prefault(map, LARGE, FERRY_PREFAULT_WRITE | FERRY_PREFAULT_SMALL, &done));
	CHILD_ASSERT(done.way == expected_way() && !done.large_page);
	CHILD_ASSERT(is_advised(map, false));
	CHILD_ASSERT(faults_of_touching(map, (long)(LARGE / page), true) < SOME_FAULTS);
}

static void large_range_where_they_are_disabled(void)
{
	char *map = map_large();
	struct ferry_prefaulted done;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	CHILD_ASSERT(!ferry_prefault(map, LARGE, FERRY_PREFAULT_WRITE, &done));
	CHILD_ASSERT(done.way == expected_way() && !done.large_page);
}

ON_BOTH(large_range)
ON_BOTH(large_range_in_small_pages)
ON_BOTH(large_range_where_they_are_disabled)

/* Settings in the format of the kernel, in a separate directory. */
static char settings[] = "/tmp/ferry-settings-XXXXXX";

static void set(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", settings, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_settings(void)
{
	assert_non_null(mkdtemp(settings));
	set("hpage_pmd_size", "2097152\n");
}

static void make_size(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", settings, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

#define MIB ((uintptr_t)1 << 20)

static size_t advised(uintptr_t start, uintptr_t end)
{
	return ferry__advised_large_page(settings, start, end);
}

static void test_large_pages_are_those_of_the_settings(void **state)
{
	(void)state;
	assert_int_equal(ferry__advised_large_page("/nowhere", 0, 64 * MIB), 0);
	make_settings();
	assert_int_equal(advised(0, 64 * MIB), 0);
	/* Before Linux 6.8: one setting, for one size. */
	set("enabled", "always [madvise] never\n");
	assert_int_equal(advised(0, 64 * MIB), 2 * MIB);
	assert_int_equal(advised(MIB, 4 * MIB), 2 * MIB);
	assert_int_equal(advised(MIB, 4 * MIB - 4096), 0);
	assert_int_equal(advised(UINTPTR_MAX - MIB + 1, UINTPTR_MAX - 4095), 0);
	set("enabled", "[always] madvise never\n");
	assert_int_equal(advised(0, 64 * MIB), 0);
	set("enabled", "always madvise [never]\n");
	assert_int_equal(advised(0, 64 * MIB), 0);

	make_size("hugepages-2048kB");
	make_size("hugepages-64kB");
	set("hugepages-2048kB/enabled", "always [inherit] madvise never\n");
	set("hugepages-64kB/enabled", "always inherit [madvise] never\n");
	assert_int_equal(advised(0, 64 * MIB), 64 << 10);
	assert_int_equal(advised(4096, 64 << 10), 0);
	set("enabled", "always [madvise] never\n");
	assert_int_equal(advised(0, 64 * MIB), 2 * MIB);
	assert_int_equal(advised(0, 2 * MIB - 4096), 64 << 10);
	/* The kernel takes the largest size that is enabled, and needs no advice for it. */
	set("enabled", "[always] madvise never\n");
	assert_int_equal(advised(0, 64 * MIB), 0);
	assert_int_equal(advised(0, MIB), 64 << 10);
	assert_int_equal(ferry__large_pages_setting(settings, 2 * MIB), LARGE_PAGES_ALWAYS);
	assert_int_equal(ferry__large_pages_setting(settings, 64 << 10), LARGE_PAGES_ADVISED);
	assert_int_equal(ferry__large_pages_setting(settings, 32 << 10), NO_LARGE_PAGES);
	set("hugepages-64kB/enabled", "always inherit madvise [never]\n");
	assert_int_equal(ferry__large_pages_setting(settings, 64 << 10), LARGE_PAGES_NEVER);
}

static int remove_settings(void **state)
{
	static const char *const names[] = { "hugepages-2048kB/enabled",
					     "hugepages-64kB/enabled",
					     "hugepages-2048kB",
					     "hugepages-64kB",
					     "hpage_pmd_size",
					     "enabled",
					     "" };
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", settings, names[i]);
		remove(path);
	}
	return 0;
}

/* ---- a process ---- */

static void process(void)
{
	const bool can = !ferry_multi_page_alloc(16);
	char *map = map_pages(PAGES, PROT_READ | PROT_WRITE);
	struct ferry_prefaulted done;

	ferry_multi_page_alloc(0);
	CHILD_ASSERT(ferry_prefault_process(16, &done) == (can ? 0 : -ENOSYS));
	CHILD_ASSERT(done.way == (can ? FERRY_PREFAULT_AHEAD : FERRY_PREFAULT_NONE));
	if (can) {
		CHILD_ASSERT(faults_of_touching(map, PAGES, true) <= PAGES / 16 + SOME_FAULTS);
		madvise(map, PAGES * page, MADV_DONTNEED);
		call_once();
		CHILD_ASSERT(!ferry_prefault(map, PAGES * page, FERRY_PREFAULT_WRITE, &done));
		CHILD_ASSERT(done.way == expected_way());
		CHILD_ASSERT(done.faults <= PAGES / 16 + SOME_FAULTS);
	}
	CHILD_ASSERT(can || faults_of_touching(map, PAGES, true) >= PAGES);
	CHILD_ASSERT(!ferry_prefault_process(1, &done) && done.way == FERRY_PREFAULT_NONE);
	CHILD_ASSERT(!ferry_prefault_process(0, NULL));
	madvise(map, PAGES * page, MADV_DONTNEED);
	CHILD_ASSERT(faults_of_touching(map, PAGES, true) >= PAGES);
	CHILD_ASSERT(ferry_prefault_process(513, &done) == -EINVAL);
	CHILD_ASSERT(ferry_prefault_process(-1, NULL) == -EINVAL);
}

/* ---- several threads ---- */

#define VAST ((size_t)256 << 20)

static void prefault_vast(unsigned int flags, unsigned int most_threads)
{
	char *map = mmap(NULL, VAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ferry_prefaulted done;

	CHILD_ASSERT(map != MAP_FAILED);
	map[5000] = 'x';
	errno = 77;
	CHILD_ASSERT(!ferry_prefault(map + 1, VAST - 2,
				     FERRY_PREFAULT_WRITE | FERRY_PREFAULT_SMALL | flags, &done));
	CHILD_ASSERT(errno == 77);
	CHILD_ASSERT(done.threads >= 1 && done.threads <= most_threads);
	CHILD_ASSERT(map[5000] == 'x');
	CHILD_ASSERT(faults_of_touching(map, (long)(VAST / page), true) < SOME_FAULTS);
	munmap(map, VAST);
}

static void prefault_with_help(void)
{
	prefault_vast(0, 16);
}

static void prefault_alone(void)
{
	prefault_vast(FERRY_PREFAULT_ALONE, 1);
}

static void prefault_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHILD_ASSERT(!sched_setaffinity(0, sizeof(one), &one));
	prefault_vast(0, 1);
}

/* A hole in the middle: whoever meets it, the error is reported, and all threads stop. */
static void prefault_a_hole(void)
{
	char *map = mmap(NULL, VAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHILD_ASSERT(map != MAP_FAILED && !munmap(map + VAST / 2, page));
	CHILD_ASSERT(ferry_prefault(map, VAST, FERRY_PREFAULT_WRITE, NULL) == -ENOMEM);
	CHILD_ASSERT(!mprotect(map, page, PROT_READ));
	CHILD_ASSERT(ferry_prefault(map, VAST, FERRY_PREFAULT_WRITE, NULL) == -EFAULT);
}

static void test_several_threads(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(prefault_with_help);
	ASSERT_IN_CHILD(prefault_alone);
	ASSERT_IN_CHILD(prefault_on_one_cpu);
	ASSERT_IN_CHILD(prefault_a_hole);
}

/* ---- memory limits ---- */

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_dirs(const char *root, const char *const names[], size_t count)
{
	char path[512];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
}

static void remove_tree(const char *root)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

/* The innermost of three groups has no limit, and the others have different ones. */
static void test_limits_of_version_2(void **state)
{
	static const char *const dirs[] = { "self", "a", "a/b", "a/b/c" };
	char root[] = "prefault.XXXXXX", inner[64], outer[64];
	const struct system_files files = { mkdtemp(root), root };

	(void)state;
	make_dirs(root, dirs, 4);
	snprintf(outer, sizeof(outer), "%s/a", root);
	snprintf(inner, sizeof(inner), "%s/a/b", root);
	write_file(root, "self/cgroup", "0::/a/b/c\n");
	assert_true(ferry__group_room(&files, 0) == SIZE_MAX);
	assert_int_equal(ferry__group_cpus(&files), UINT_MAX);
	write_file(root, "a/b/c/memory.max", "max\n");
	write_file(root, "a/b/c/cpu.max", "max 100000\n");
	write_file(inner, "memory.max", "1073741824\n");
	write_file(inner, "memory.current", "1000000000\n");
	write_file(inner, "memory.stat", "anon 5\ninactive_file 20000000\nactive_file 30000000\n");
	write_file(inner, "cpu.max", "350000 100000\n");
	assert_int_equal(ferry__group_room(&files, 0), 73741824 - (4 << 20));
	assert_int_equal(ferry__group_room(&files, 80000000), 123741824 - (4 << 20));
	assert_int_equal(ferry__group_cpus(&files), 3);
	write_file(outer, "memory.max", "2000\n");
	write_file(outer, "memory.current", "1000\n");
	write_file(outer, "cpu.max", "50000 100000\n");
	assert_int_equal(ferry__group_room(&files, 0), 0);
	assert_int_equal(ferry__group_cpus(&files), 1);
	remove_tree(root);
}

static void test_limits_of_version_1(void **state)
{
	static const char *const dirs[] = { "self", "memory", "memory/a", "cpu", "cpu/a" };
	char root[] = "prefault.XXXXXX";
	const struct system_files files = { mkdtemp(root), root };

	(void)state;
	make_dirs(root, dirs, 5);
	write_file(root, "self/cgroup", "9:name=systemd:/x\n4:memory:/a\n3:cpuacct,cpu:/a\n0::/\n");
	write_file(root, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	write_file(root, "memory/memory.usage_in_bytes", "12345\n");
	write_file(root, "memory/a/memory.limit_in_bytes", "1073741824\n");
	write_file(root, "memory/a/memory.usage_in_bytes", "73741824\n");
	write_file(root, "memory/a/memory.stat", "total_inactive_file 70000000\n");
	write_file(root, "cpu/a/cpu.cfs_quota_us", "200000\n");
	write_file(root, "cpu/a/cpu.cfs_period_us", "100000\n");
	assert_int_equal(ferry__group_room(&files, 0), 1000000000 - (4 << 20));
	assert_int_equal(ferry__group_cpus(&files), 2);
	write_file(root, "cpu/a/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(ferry__group_cpus(&files), UINT_MAX);
	remove_tree(root);
}

static void test_memory_left(void **state)
{
	static const char *const dirs[] = { "self" };
	char root[] = "prefault.XXXXXX";
	const struct system_files files = { mkdtemp(root), root };

	(void)state;
	make_dirs(root, dirs, 1);
	write_file(root, "meminfo", "MemTotal: 9999 kB\nMemAvailable:   1600 kB\n");
	assert_int_equal(ferry__memory_left(&files, SIZE_MAX), 1500 << 10);
	remove_tree(root);
}

/* Memory groups of either version that this test may make, or NULL. */
static const char *make_group(bool *old)
{
	static char path[128];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/memory/ferry-test-%d", getpid());
	*old = !mkdir(path, 0755);
	if (*old)
		return path;
	snprintf(path, sizeof(path), "/sys/fs/cgroup/ferry-test-%d", getpid());
	return mkdir(path, 0755) ? NULL : path;
}

static bool write_group(const char *group, const char *name, const char *text)
{
	char path[256];
	bool written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	file = fopen(path, "w");
	if (!file)
		return false;
	written = fputs(text, file) >= 0;
	return !fclose(file) && written;
}

static const char *limited_group;

static void exceed_the_limit(void)
{
	char *map = mmap(NULL, VAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHILD_ASSERT(map != MAP_FAILED);
	CHILD_ASSERT(write_group(limited_group, "cgroup.procs", "0"));
	CHILD_ASSERT(ferry_prefault(map, VAST, FERRY_PREFAULT_WRITE, NULL) == -ENOMEM);
	/* What fits, fits again, though there is no room for it twice. */
	CHILD_ASSERT(!ferry_prefault(map, VAST / 8, FERRY_PREFAULT_WRITE, NULL));
	CHILD_ASSERT(!ferry_prefault(map, VAST / 8, FERRY_PREFAULT_WRITE, NULL));
}

static void test_a_limit_stops_it(void **state)
{
	bool old;
	int status;

	(void)state;
	limited_group = make_group(&old);
	if (!limited_group)
		skip();
	if (!write_group(limited_group, old ? "memory.limit_in_bytes" : "memory.max",
			 "100663296")) {
		rmdir(limited_group);
		skip();
	}
	status = child_status(exceed_the_limit);
	rmdir(limited_group);
	assert_int_equal(status, 0);
}

static void test_process(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(process);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ferry_prefault_way_name(FERRY_PREFAULT_NONE), "none");
	assert_string_equal(ferry_prefault_way_name(FERRY_PREFAULT_LARGE_PAGES), "large pages");
	assert_string_equal(ferry_prefault_way_name(FERRY_PREFAULT_TOUCH), "touch");
	assert_null(ferry_prefault_way_name(FERRY_PREFAULT_WAYS));
	assert_null(ferry_prefault_way_name((enum ferry_prefault_way) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_range),
		cmocka_unit_test(test_read_range),
		cmocka_unit_test(test_file_keeps_its_content),
		cmocka_unit_test(test_odd_ends_take_in_whole_pages),
		cmocka_unit_test(test_protected_range),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_end_of_file),
		cmocka_unit_test(test_others_may_write_meanwhile),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_large_range),
		cmocka_unit_test(test_large_range_in_small_pages),
		cmocka_unit_test(test_large_range_where_they_are_disabled),
		cmocka_unit_test_teardown(test_large_pages_are_those_of_the_settings,
					  remove_settings),
		cmocka_unit_test(test_several_threads),
		cmocka_unit_test(test_limits_of_version_2),
		cmocka_unit_test(test_limits_of_version_1),
		cmocka_unit_test(test_memory_left),
		cmocka_unit_test(test_a_limit_stops_it),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_names),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
