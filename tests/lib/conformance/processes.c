// SPDX-License-Identifier: MIT
/* Processes: engines inherited by fork, shared by vfork, and used on both sides. */
#include <sched.h>

#include "contract/suite.h"
#include "contract/workload.h"

static void run_some(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 50; i++)
		run_writes();
}

TEST(a_child_runs_batches_on_what_it_inherited)
{
	int i;

	for (i = 0; i < 20; i++) {
		run_writes();
		expect_child(run_some, NULL);
	}
	run_writes();
}

static void run_on_both_sides(void *arg)
{
	int left = *(int *)arg;
	pid_t pid;
	int status;

	run_writes();
	if (!left--)
		return;
	pid = child_start(run_on_both_sides, &left);
	run_some(NULL);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
	run_some(NULL);
}

TEST(parent_and_child_run_batches_at_once)
{
	int generations = 3;

	run_on_both_sides(&generations);
}

/* Parent and child have separate descriptors: each writes to its own. */
static void write_elsewhere(void *arg)
{
	int fd = *(int *)arg;
	int own = memory_file();
	struct batch_slot calls[64];
	long results[64];
	int i;

	expect_equal(dup2(own, fd), fd);
	for (i = 0; i < 64; i++) {
		calls[i] = SLOT(SYS_write, fd, "c", 1);
		results[i] = 1;
	}
	expect_run(calls, 64, results);
	expect_equal(lseek(own, 0, SEEK_END), 64);
}

TEST(descriptors_of_a_child_are_its_own)
{
	int file = memory_file();

	run_writes();
	expect_child(write_elsewhere, &file);
	expect_equal(lseek(file, 0, SEEK_END), 0);
	run_writes();
	close(file);
}

/* The parent has ended when the grandchild runs. */
static void outlive_parent(void *arg)
{
	const int *fds = arg; /* result to, told by */
	char byte;

	run_writes();
	if (fork())
		_exit(0);
	close(fds[3]);
	/* End of file: the parent's and the test's copies of the other end are closed. */
	expect_equal(read(fds[2], &byte, 1), 0);
	byte = workload_right(open("/dev/null", O_RDWR)) ? 'y' : 'n';
	expect_equal(write(fds[1], &byte, 1), 1);
}

TEST(a_child_outlives_the_parent_that_made_the_engine)
{
	int fds[4];
	char byte;

	expect(!pipe2(fds, O_CLOEXEC) && !pipe2(fds + 2, O_CLOEXEC));
	expect_child(outlive_parent, fds);
	close(fds[3]);
	expect_equal(read(fds[0], &byte, 1), 1);
	expect_equal(byte, 'y');
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);
}

/* ---- memory shared with the parent ---- */

static int null_fd;
static int child_was_right;
static int probed; /* before the child ran */

static int run_in_shared_memory(void *arg)
{
	(void)arg;
	child_was_right = workload_right(null_fd);
	_exit(0);
}

static void share_memory(int flags)
{
	static unsigned char stack[256 * 1024] __attribute__((aligned(16)));
	const char *why;
	int status;
	pid_t pid;
	int i;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < 10; i++) {
		child_was_right = 0;
		pid = clone(run_in_shared_memory, stack + sizeof(stack), flags | SIGCHLD, NULL);
		expect(pid > 0);
		expect_equal(waitpid(pid, &status, 0), pid);
		expect_equal(status, 0);
		expect(child_was_right);
		expect_equal(way_probe(&why), probed);
		run_writes();
	}
	close(null_fd);
}

static void share_memory_fresh(void *arg)
{
	(void)arg;
	share_memory(CLONE_VM | CLONE_VFORK);
	share_memory(CLONE_VM | CLONE_VFORK | CLONE_FILES);
}

TEST(a_vfork_child_runs_batches)
{
	const char *why;

	probed = way_probe(&why);
	run_writes();
	share_memory_fresh(NULL);
	expect_child(in_new_thread, share_memory_fresh);
}
