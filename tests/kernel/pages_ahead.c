// SPDX-License-Identifier: MIT
/*
 * multi_page_alloc() when memory is short, and in many processes: limits hold, and no page
 * is lost or counted twice.  Meant for a guest whose console is watched.  Exits with 77 if
 * this kernel does not have the call.
 */
#include <err.h>
#include <liburing.h>
#include <sys/klog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>

#include "tests/lib/conformance/contract/suite.h"
#include "tests/lib/conformance/contract/write_file.h"
#include "tests/lib/conformance/run.h"
#include "tests/lib/differential/random.h"

#define EXIT_SKIPPED 77
#define CGROUP "/sys/fs/cgroup/ferry-pages-ahead"
#define LIMIT (16UL << 20)
#define WINDOW 512 /* how many pages a page-table page maps */

static uint64_t seed;

static long multi_page_alloc(long pages)
{
	return ferry_rawcall(FERRY_NR_MULTI_PAGE_ALLOC, pages, 0, 0, 0, 0, 0);
}

static char *map_pages(size_t pages)
{
	const size_t size = (pages + 2 * WINDOW) * PAGE;
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *aligned;

	expect(map != MAP_FAILED);
	aligned = map + (-(unsigned long)map & (WINDOW * PAGE - 1));
	munmap(map, (size_t)(aligned - map));
	munmap(aligned + pages * PAGE, (size_t)(map + size - aligned) - pages * PAGE);
	madvise(aligned, pages * PAGE, MADV_NOHUGEPAGE);
	return aligned;
}

static size_t count_mapped(char *map, size_t pages)
{
	unsigned char resident[WINDOW];
	size_t count = 0, i;

	expect(pages <= WINDOW);
	expect_equal(mincore(map, pages * PAGE, resident), 0);
	for (i = 0; i < pages; i++)
		count += resident[i] & 1;
	return count;
}

/* The number after NAME in a line of file PATH, or in its only line. */
static long number_in(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line[256];
	long number = -1;

	while (file && number < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			number = strtol(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* The number of errors about RSS or pages in the kernel log. */
static int complaints(void)
{
	static char text[1 << 20];
	const char *const all[] = { "Bad rss-counter", "Bad page", "non-zero pgtables_bytes" };
	int length = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof(text) - 1);
	int count = 0;
	size_t i;

	if (length < 0)
		return 0;
	text[length] = 0;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		const char *at = text;

		while ((at = strstr(at, all[i]))) {
			count++;
			at++;
		}
	}
	return count;
}

static void reap(pid_t pid, int signal)
{
	int status;

	expect_equal(waitpid(pid, &status, 0), pid);
	if (signal) {
		expect(WIFSIGNALED(status));
		expect_equal(WTERMSIG(status), signal);
	} else {
		expect(WIFEXITED(status));
		expect_equal(WEXITSTATUS(status), 0);
	}
}

/* ---- a memory cgroup ---- */

static bool set_limit(const char *file, unsigned long limit)
{
	char path[100], text[32];

	snprintf(path, sizeof(path), CGROUP "/%s", file);
	snprintf(text, sizeof(text), "%lu", limit);
	return write_file(path, text);
}

static void make_cgroup(const char *file)
{
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if ((mkdir(CGROUP, 0755) && errno != EEXIST) || !set_limit(file, LIMIT))
		suite_skip("no memory cgroup can be made here");
}

static void enter_cgroup(void)
{
	alarm(0);
	expect(write_file(CGROUP "/cgroup.procs", "0"));
}

/* Faults that each map a whole window, until one reaches the limit halfway. */
static void touch_until_the_limit(void *arg)
{
	const size_t windows = 2 * LIMIT / (WINDOW * PAGE);
	char *map = map_pages(windows * WINDOW);
	size_t i, p, mapped = WINDOW;

	(void)arg;
	enter_cgroup();
	expect_equal(multi_page_alloc(WINDOW), 0);
	for (i = 0; i < windows && mapped == WINDOW; i++) {
		map[i * WINDOW * PAGE] = 1;
		mapped = count_mapped(map + i * WINDOW * PAGE, WINDOW);
	}
	expect(mapped >= 1 && mapped < WINDOW);
	for (p = 1; p < mapped; p++)
		expect_equal(*(long *)(map + ((i - 1) * WINDOW + p) * PAGE), 0);
	_exit(0);
}

/* Waits until all charges for pages are returned. */
static void expect_nothing_charged(void)
{
	int i;

	for (i = 0; i < 2000 && number_in(CGROUP "/memory.stat", "anon ") > 0; i++)
		usleep(1000);
	expect_equal(number_in(CGROUP "/memory.stat", "anon "), 0);
}

static void remove_cgroup(void)
{
	int i;

	expect_nothing_charged();
	for (i = 0; i < 2000 && rmdir(CGROUP); i++)
		usleep(1000);
	expect(access(CGROUP, F_OK));
}

TEST(a_limit_within_a_batch_is_no_error)
{
	int before = complaints();

	make_cgroup("memory.max");
	reap(child_start(touch_until_the_limit, NULL), 0);
	expect_equal(number_in(CGROUP "/memory.events", "oom_kill "), 0);
	remove_cgroup();
	expect_equal(complaints(), before);
}

/*
 * Programs that use one page in `step` with as many pages per fault: what is mapped ahead
 * and never used must not be noticed.
 */
struct sparse {
	const char *file;    /* the limit */
	unsigned long limit; /* in bytes */
	bool above;	     /* whether it is the parent's */
	long step;
	size_t size; /* in bytes, of what is touched sparsely */
};

#define MiB (1UL << 20)
#define CHILD CGROUP "/child"

static const struct sparse within_half[] = {
	{ "memory.max", 16 * MiB, false, 64, 64 * MiB },
	{ "memory.max", 16 * MiB, false, 8, 64 * MiB },
	{ "memory.max", 16 * MiB, true, 64, 64 * MiB },
	{ "memory.high", 8 * MiB, false, 64, 32 * MiB },
	{ "memory.high", 8 * MiB, true, 64, 32 * MiB },
};

/* More than half of the limit: only pages ahead that can be dropped leave room for that. */
static const struct sparse beyond_half = { "memory.max", 16 * MiB, false, 2, 28 * MiB };

static void touch_sparsely(void *arg)
{
	const struct sparse *sparse = arg;
	const size_t pages = sparse->size / PAGE;
	char *map = map_pages(pages);
	size_t i;

	alarm(0);
	expect(write_file(sparse->above ? CHILD "/cgroup.procs" : CGROUP "/cgroup.procs", "0"));
	expect_equal(multi_page_alloc(sparse->step), 0);
	for (i = 0; i < pages; i += (size_t)sparse->step) {
		map[i * PAGE] = 1;
		/* Brings the counters of the cgroup up to date, which otherwise takes seconds. */
		number_in(CGROUP "/memory.stat", "anon ");
	}
	for (i = 0; i < pages; i += (size_t)sparse->step)
		expect_equal(map[i * PAGE], 1);
	_exit(0);
}

static void run_sparsely(const struct sparse *sparse)
{
	make_cgroup("memory.max");
	write_file(CGROUP "/memory.max", "max");
	expect(set_limit(sparse->file, sparse->limit));
	if (sparse->above) {
		expect(write_file(CGROUP "/cgroup.subtree_control", "+memory"));
		expect_equal(mkdir(CHILD, 0755), 0);
	}
	reap(child_start(touch_sparsely, (void *)(uintptr_t)sparse), 0);
}

static void remove_both_cgroups(void)
{
	int i;

	for (i = 0; i < 2000 && rmdir(CHILD) && errno != ENOENT; i++)
		usleep(1000);
	remove_cgroup();
}

TEST(pages_ahead_reach_no_limit)
{
	static const char *const events[] = { "high ", "max ", "oom ", "oom_kill " };
	int before = complaints();
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(within_half); i++) {
		run_sparsely(&within_half[i]);
		for (k = 0; k < ARRAY_SIZE(events); k++)
			expect_equal(number_in(CGROUP "/memory.events", events[k]), 0);
		remove_both_cgroups();
	}
	expect_equal(complaints(), before);
}

static bool are_pages_ahead_clean(void)
{
	char *map = map_pages(WINDOW);
	long clean;

	expect_equal(multi_page_alloc(WINDOW), 0);
	map[0] = 1;
	clean = number_in("/proc/self/smaps_rollup", "LazyFree:");
	expect_equal(multi_page_alloc(1), 0);
	munmap(map, WINDOW * PAGE);
	return clean > 0;
}

static void skip_unless_clean(void)
{
	if (!are_pages_ahead_clean())
		suite_skip("pages ahead cannot be dropped: this CPU sets no dirty bit");
}

/* Shortens the lists of each CPU, which otherwise keep tens of megabytes. */
static void keep_few_pages_for_cpus(bool few)
{
	write_file("/proc/sys/vm/percpu_pagelist_high_fraction", few ? "1000000" : "0");
}

/*
 * Memory in KiB that is free or in slabs, where KASAN keeps freed objects for a while; without
 * the pages in the lists of each CPU.  A lost page is in neither.
 */
static long free_memory(void)
{
	write_file("/proc/sys/vm/drop_caches", "3");
	return number_in("/proc/meminfo", "MemFree:") + number_in("/proc/meminfo", "Slab:");
}

#define LIMITED 300

TEST(processes_that_reach_a_limit_return_all)
{
	long free_before = 0;
	int i;

	alarm(0);
	make_cgroup("memory.max");
	keep_few_pages_for_cpus(true);
	for (i = 0; i < LIMITED; i++) {
		if (i == LIMITED / 10)
			free_before = free_memory();
		reap(child_start(touch_until_the_limit, NULL), 0);
		expect_nothing_charged();
	}
	/* Half of a chunk for each process would be 64 KiB. */
	expect(free_memory() > free_before - LIMITED * 8L);
	keep_few_pages_for_cpus(false);
	remove_cgroup();
}

#define LOWERED (LIMIT / 8)
#define AHEAD 64 /* pages: what a fault holds while it cannot be reclaimed, less than LOWERED */

static void touch_again_and_again(void *arg)
{
	const size_t size = LIMIT / 2;
	char *map = map_pages(size / PAGE);
	size_t i;

	(void)arg;
	enter_cgroup();
	expect_equal(multi_page_alloc(AHEAD), 0);
	for (;;) {
		for (i = 0; i < size; i += AHEAD * PAGE)
			map[i] = 1;
		madvise(map, size, MADV_DONTNEED);
	}
}

/* Lowers the limit while a process holds pages that are not charged yet. */
static void lower_limit(int times)
{
	pid_t pid = child_start(touch_again_and_again, NULL);

	for (; times; times--) {
		/* The kernel does not report that a group grows, so this polls. */
		while (number_in(CGROUP "/memory.current", "") < (long)LOWERED) {
			expect_equal(waitpid(pid, NULL, WNOHANG), 0);
			usleep(100);
		}
		expect(set_limit("memory.max", LOWERED));
		/* The process charges what it holds, which shows nowhere. */
		usleep(1000);
		expect(set_limit("memory.max", LIMIT));
	}
	kill(pid, SIGKILL);
	reap(pid, SIGKILL);
	expect_nothing_charged();
}

#define TIMES 500

TEST(what_a_limit_refuses_is_not_lost)
{
	long free_before;

	skip_unless_clean();
	alarm(0);
	make_cgroup("memory.max");
	keep_few_pages_for_cpus(true);
	lower_limit(TIMES / 10);
	free_before = free_memory();
	lower_limit(TIMES);
	/* A refusal would lose half of a chunk, 64 KiB: one in 16 shows. */
	expect(free_memory() > free_before - TIMES * 4L);
	expect_equal(number_in(CGROUP "/memory.events", "oom_kill "), 0);
	keep_few_pages_for_cpus(false);
	remove_cgroup();
}

/* ---- a full page cache ---- */

#define WATERMARKS "/proc/sys/vm/watermark_scale_factor"
#define BOOST "/proc/sys/vm/watermark_boost_factor"
#define CACHED "/dev/shm/ferry-cached"
#define CACHED_LOOP "/dev/shm/ferry-cached-loop"

/* Pages of a loop device on a sparse file are page cache, and nothing else. */
static void make_cacheable(size_t size)
{
	char command[200];

	snprintf(command, sizeof(command),
		 "truncate -s %zu " CACHED " && d=$(losetup -f --show " CACHED
		 ") && ln -sf $d " CACHED_LOOP,
		 size);
	if (system(command) != 0)
		suite_skip("no loop device can be made here");
}

/* Its page cache is kept while it is open: returns the descriptor. */
static int fill_page_cache(void)
{
	static char buffer[1 << 20];
	int fd = open(CACHED_LOOP, O_RDONLY | O_CLOEXEC);

	expect(fd >= 0);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	return fd;
}

static void remove_cacheable(void)
{
	expect_equal(system("losetup -d " CACHED_LOOP "; rm " CACHED_LOOP " " CACHED), 0);
}

/* Touches SIZE bytes. */
static void expect_fewer_faults(size_t size)
{
	const size_t pages = size / PAGE;
	char *map = map_pages(pages);
	struct rusage before, after;
	size_t i;

	expect_equal(multi_page_alloc(64), 0);
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < pages; i++)
		map[i * PAGE] = 1;
	getrusage(RUSAGE_SELF, &after);
	expect_equal(multi_page_alloc(1), 0);
	expect((size_t)(after.ru_minflt - before.ru_minflt) < pages / 8);
	munmap(map, size);
}

static void touch_beside_cache(void *arg)
{
	(void)arg;
	enter_cgroup();
	fill_page_cache();
	expect(number_in(CGROUP "/memory.stat", "file ") > (long)(LIMIT / 4 * 3));
	expect_fewer_faults(8 * MiB);
	_exit(0);
}

TEST(page_cache_up_to_the_limit_leaves_room)
{
	skip_unless_clean();
	make_cacheable(2 * LIMIT);
	make_cgroup("memory.max");
	reap(child_start(touch_beside_cache, NULL), 0);
	expect_equal(number_in(CGROUP "/memory.events", "oom "), 0);
	remove_cacheable();
	remove_cgroup();
}

TEST(a_full_page_cache_leaves_room)
{
	const long total = number_in("/proc/meminfo", "MemTotal:");
	int cache;

	skip_unless_clean();
	alarm(0);
	make_cacheable((size_t)total * 1280); /* bytes: 1.25 times as much */
	/* kswapd starts when a tenth of the memory is free, and ends at two tenths. */
	expect(write_file(WATERMARKS, "1000"));
	/* These watermarks would grow by a third of the memory while it is fragmented. */
	expect(write_file(BOOST, "0"));
	cache = fill_page_cache();
	expect(number_in("/proc/meminfo", "MemFree:") < total / 2);
	expect_fewer_faults(384 * MiB);
	close(cache);
	expect(write_file(BOOST, "15000"));
	expect(write_file(WATERMARKS, "10"));
	remove_cacheable();
}

TEST(pages_ahead_are_dropped_at_a_limit)
{
	int before = complaints();

	skip_unless_clean();
	run_sparsely(&beyond_half);
	expect_equal(number_in(CGROUP "/memory.events", "oom_kill "), 0);
	remove_both_cgroups();
	expect_equal(complaints(), before);
}

static void touch_too_much(void *pages)
{
	const size_t count = 4 * LIMIT / PAGE;
	char *map = map_pages(count);
	size_t i;

	enter_cgroup();
	expect_equal(multi_page_alloc((long)pages), 0);
	for (i = 0; i < count; i++)
		map[i * PAGE] = 1;
	_exit(0);
}

TEST(who_uses_too_much_is_killed)
{
	int before = complaints();
	long pages;

	for (pages = 1; pages <= WINDOW; pages *= 8) {
		make_cgroup("memory.max");
		reap(child_start(touch_too_much, (void *)pages), SIGKILL);
		expect_equal(number_in(CGROUP "/memory.events", "oom_kill "), 1);
		remove_cgroup();
	}
	expect_equal(complaints(), before);
}

/* All of the guest's memory, without a cgroup; the OOM killer's victim is known. */
static void touch_all_memory(void *pages)
{
	const size_t count = 1UL << 20;
	char *map = map_pages(count);
	size_t i;

	alarm(0);
	expect(write_file("/proc/self/oom_score_adj", "1000"));
	expect_equal(multi_page_alloc((long)pages), 0);
	for (i = 0; i < count; i++)
		map[i * PAGE] = 1;
	_exit(0);
}

TEST(the_oom_killer_gets_all_back)
{
	long free_before = number_in("/proc/meminfo", "MemFree:");
	int before = complaints();

	if (number_in("/proc/meminfo", "MemTotal:") > 2L << 20)
		suite_skip("this machine has too much memory to fill it");
	reap(child_start(touch_all_memory, (void *)64L), SIGKILL);
	expect_equal(complaints(), before);
	/* The page cache may even be smaller than before. */
	expect(number_in("/proc/meminfo", "MemFree:") > free_before - (8L << 10));
}

/* ---- accounting ---- */

TEST(committed_memory_stays)
{
	char *map = mmap(NULL, WINDOW * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	long before = number_in("/proc/meminfo", "Committed_AS:");
	size_t i;

	expect_equal(multi_page_alloc(WINDOW), 0);
	for (i = 0; i < WINDOW; i++)
		map[i * PAGE] = 1;
	/* Other processes run too, but do not use that much. */
	expect(labs(number_in("/proc/meminfo", "Committed_AS:") - before) < 1024);
}

static void use_memory_at_random(void *arg)
{
	struct random random = random_for(seed, (uint64_t)arg);
	const size_t count = 2 * WINDOW;
	char *map = map_pages(count);
	int i;

	expect_equal(multi_page_alloc(1 + (long)random_below(&random, WINDOW)), 0);
	for (i = 0; i < 15; i++) {
		size_t page = random_below(&random, count);
		size_t pages = 1 + random_below(&random, count - page);
		char *at = map + page * PAGE;

		switch (random_below(&random, 8)) {
		case 0:
			madvise(at, pages * PAGE, MADV_DONTNEED);
			break;
		case 1:
			madvise(at, pages * PAGE, MADV_FREE);
			break;
		case 2:
			mprotect(at, pages * PAGE, PROT_READ);
			expect_equal(at[0] & ~1, 0);
			mprotect(at, pages * PAGE, PROT_READ | PROT_WRITE);
			break;
		case 3:
			if (!fork()) {
				map[page * PAGE] = 1;
				_exit(0);
			}
			break;
		case 4:
			expect_equal(*(volatile char *)at & ~1, 0);
			break;
		default:
			at[0] = 1;
		}
	}
	if (random_below(&random, 2))
		kill(getpid(), SIGKILL);
	_exit(0);
}

#define PROCESSES 1000
#define AT_ONCE 8
#define LAG 2048 /* KiB: half a page for each of the processes */

TEST(a_thousand_processes_leave_nothing)
{
	long anonymous = number_in("/proc/meminfo", "AnonPages:");
	int before = complaints(), started = 0, running = 0, status, i;

	alarm(0);
	while (started < PROCESSES || running) {
		if (started < PROCESSES && running < AT_ONCE) {
			child_start(use_memory_at_random, (void *)(long)started++);
			running++;
			continue;
		}
		expect(wait(&status) > 0);
		expect(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !WEXITSTATUS(status));
		running--;
	}
	expect_equal(complaints(), before);
	/* Grandchildren may still be exiting, and the counters of each CPU lag a little. */
	for (i = 0; i < 10000 && number_in("/proc/meminfo", "AnonPages:") > anonymous + LAG; i++)
		usleep(1000);
	expect(number_in("/proc/meminfo", "AnonPages:") <= anonymous + LAG);
}

/* ---- swap ---- */

#define SWAP_SIZE (8UL << 20)

/* Swaps to a loop device in memory. */
static void swap_on(void)
{
	if (system("dd if=/dev/zero of=/dev/shm/ferry-swap bs=1M count=8 2> /dev/null && "
		   "d=$(losetup -f --show /dev/shm/ferry-swap) && ln -sf $d /dev/shm/ferry-loop && "
		   "mkswap -q $d && swapon $d") != 0)
		suite_skip("no swap space can be made here");
}

static void swap_off(void)
{
	expect_equal(system("swapoff /dev/shm/ferry-loop && losetup -d /dev/shm/ferry-loop; "
			    "rm -f /dev/shm/ferry-loop /dev/shm/ferry-swap"),
		     0);
}

static bool is_in_swap(const char *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	expect_equal(pread(fd, &entry, sizeof(entry), (long)((uintptr_t)page / PAGE * 8)), 8);
	close(fd);
	return entry >> 62 & 1;
}

TEST(pages_in_swap_stay_there)
{
	char *map = map_pages(WINDOW);
	int before = complaints();
	int i;

	swap_on();
	for (i = 0; i < 16; i += 2)
		memset(map + i * PAGE, i + 1, PAGE);
	for (i = 0; i < 100 && !(is_in_swap(map) && is_in_swap(map + 14 * PAGE)); i++)
		madvise(map, 16 * PAGE, MADV_PAGEOUT);
	expect_equal(multi_page_alloc(16), 0);
	map[PAGE] = 1;
	for (i = 0; i < 16; i++) {
		expect_equal(is_in_swap(map + i * PAGE), i % 2 == 0);
		expect_equal(count_mapped(map + i * PAGE, 1) || i % 2 == 0, 1);
	}
	for (i = 0; i < 16; i++)
		expect_equal(map[i * PAGE + PAGE - 1], i % 2 ? 0 : i + 1);
	expect_equal(munmap(map, WINDOW * PAGE), 0);
	swap_off();
	expect_equal(complaints(), before);
}

/* Has io_uring write to pages that it pins for that: the CPU's dirty bits stay clear. */
static void fill_pinned(char *map, size_t size)
{
	const struct iovec buffer = { map, size };
	int file = memfd_create("data", MFD_CLOEXEC);
	struct io_uring_cqe *done;
	struct io_uring ring;

	for (size_t i = 0; i < size; i += PAGE)
		expect_equal(pwrite(file, "data", 4, (long)i), 4);
	expect(!ftruncate(file, (long)size));
	if (io_uring_queue_init(1, &ring, 0))
		suite_skip("no io_uring here");
	expect(!io_uring_register_buffers(&ring, &buffer, 1));
	io_uring_prep_read_fixed(io_uring_get_sqe(&ring), file, map, (unsigned int)size, 0, 0);
	expect_equal(io_uring_submit_and_wait(&ring, 1), 1);
	expect(!io_uring_peek_cqe(&ring, &done));
	expect_equal(done->res, size);
	expect(!io_uring_unregister_buffers(&ring));
	io_uring_queue_exit(&ring);
	close(file);
}

/* Fills 64 clean pages, and has them reclaimed. */
static void expect_device_writes_stay(char *map)
{
	int i;

	fill_pinned(map, 64 * PAGE);
	for (i = 0; i < 10; i++)
		madvise(map, 64 * PAGE, MADV_PAGEOUT);
	for (i = 0; i < 64; i++)
		expect_bytes(map + i * PAGE, "data", 4);
	expect_equal(munmap(map, WINDOW * PAGE), 0);
}

TEST(what_a_device_writes_stays)
{
	char *map = map_pages(WINDOW);

	expect_equal(multi_page_alloc(64), 0);
	map[0] = 1;
	expect_device_writes_stay(map);
}

TEST(what_a_device_writes_after_madv_free_stays)
{
	char *map = map_pages(WINDOW);

	memset(map, 1, 64 * PAGE);
	expect_equal(madvise(map, 64 * PAGE, MADV_FREE), 0);
	expect_device_writes_stay(map);
}

int main(int argc, char **argv)
{
	const char *filter = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "--only")) {
		filter = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc > 2)
		errx(2, "usage: pages_ahead [--only TEXT] [SEED]");
	if (multi_page_alloc(0)) {
		printf("skipped: this kernel does not have multi_page_alloc()\n");
		return EXIT_SKIPPED;
	}
	seed = argc == 2 ? strtoull(argv[1], NULL, 0) : any_seed();
	printf("seed: %llu\n", (unsigned long long)seed);
	return tests_run("kernel", filter) ? 1 : 0;
}
