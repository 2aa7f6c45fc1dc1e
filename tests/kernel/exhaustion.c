// SPDX-License-Identifier: MIT
/* Memory runs out during a batch: for the batch's calls, or for its own pages. */
#include <sys/resource.h>
#include <sys/stat.h>

#include "hostile.h"

#define CGROUP "/sys/fs/cgroup/ferry-exhaustion"
#define LIMIT (16UL << 20)

TEST(address_space_may_run_out)
{
	const struct rlimit limit = { 1, 1 };
	struct batch_slot calls[] = {
		SLOT(SYS_prlimit64, 0, RLIMIT_AS, &limit, NULL),
		SLOT(SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		SLOT(SYS_brk, -1),
		SLOT(SYS_getpid),
	};
	struct batch_slot *lazy = new_page(); /* these pages are mapped, but not yet in memory */
	long *rets = new_page();

	expect_equal(run_batch(rets, calls, 4), 3);
	expect_equal(rets[0], 0);
	expect_equal(rets[1], -ENOMEM);
	expect(rets[2] > 0);
	expect_equal(rets[3], getpid());
	lazy[0] = SLOT(SYS_getppid);
	expect_equal(run_batch(rets + 100, lazy, 1), 0);
	expect_equal(rets[100], getppid());
}

/* ---- a memory cgroup ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		suite_skip("no memory cgroup can be made here");
	close(fd);
}

static void make_cgroup(const char *file, unsigned long limit)
{
	char path[100];
	char text[32];

	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		suite_skip("no memory cgroup can be made here");
	/* Fails where the controller is enabled already. */
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	snprintf(path, sizeof(path), CGROUP "/%s", file);
	snprintf(text, sizeof(text), "%lu", limit);
	write_file(path, text);
}

static void remove_cgroup(void)
{
	int i;

	/* Killed processes may still be exiting. */
	for (i = 0; i < 1000 && rmdir(CGROUP); i++)
		usleep(1000);
}

static void enter_cgroup(void)
{
	write_file(CGROUP "/cgroup.procs", "0");
}

/* Twice as many results as fit the limit; all slots share one page. */
static void write_too_many_results(void *arg)
{
	const unsigned long count = LIMIT / sizeof(long) * 2;
	unsigned long done;
	struct batch_slot calls[512];
	long *rets;
	size_t i;

	patience(0);
	enter_cgroup();
	rets = mmap(NULL, count * sizeof(*rets), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	expect(rets != MAP_FAILED);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = SLOT(SYS_getpid);
	for (done = 0; done < count; done += ARRAY_SIZE(calls)) {
		expect_equal(run_batch(rets + done, calls, ARRAY_SIZE(calls)), 511);
		expect_equal(rets[done + 511], getpid());
	}
	(void)arg;
}

TEST(a_batch_without_memory_for_its_results_is_killed)
{
	pid_t pid;

	make_cgroup("memory.max", LIMIT);
	pid = child_start(write_too_many_results, NULL);
	expect_killed_by(pid, SIGKILL);
	remove_cgroup();
}

/* The calls of a batch need too much memory: read() touches the pages. */
static void read_too_much(void *arg)
{
	const size_t size = 2 * LIMIT;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct batch_slot calls[64];
	long rets[64];
	size_t i;

	(void)arg;
	patience(0);
	enter_cgroup();
	for (i = 0; i < 64; i++)
		calls[i] = SLOT(SYS_read, zero, memory + i * (size / 64), size / 64);
	run_batch(rets, calls, 64);
}

TEST(a_batch_whose_calls_want_too_much_is_killed)
{
	pid_t pid;

	make_cgroup("memory.max", LIMIT);
	pid = child_start(read_too_much, NULL);
	expect_killed_by(pid, SIGKILL);
	remove_cgroup();
}

/* Above memory.high the kernel slows a task down when it leaves a call. */
TEST(a_batch_over_the_high_mark_goes_on)
{
	pid_t pid;
	int status;

	make_cgroup("memory.high", LIMIT);
	pid = child_start(write_too_many_results, NULL);
	usleep(300000);
	kill(pid, SIGKILL);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	remove_cgroup();
}
