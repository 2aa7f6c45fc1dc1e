// SPDX-License-Identifier: MIT
/* Other threads change the process while one of them is in a batch. */
#include <spawn.h>

#include "hostile.h"
#include "tests/lib/conformance/contract/workload.h"

#define RUNNERS 2

extern char **environ;

static int stop;
static int null_fd;

static void *run_workload(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		run_writes_on(null_fd);
	return NULL;
}

static void *wait_for_ever(void *arg)
{
	char byte;
	const struct batch_slot call = SLOT(SYS_read, *(int *)arg, &byte, 1);
	long ret;

	run_batch(&ret, &call, 1);
	return NULL;
}

static void be_born(void *arg)
{
	(void)arg;
	run_writes();
}

static void spawn_true(void)
{
	char *const arguments[] = { "true", NULL };
	int status;
	pid_t pid;

	expect(!posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ));
	expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
}

TEST(others_may_fork_and_spawn_meanwhile)
{
	pthread_t runners[RUNNERS];
	int rounds = times(15, 500);
	int i;

	patience(600);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < RUNNERS; i++)
		runners[i] = thread_start(run_workload, NULL);
	while (rounds--) {
		expect_child(be_born, NULL);
		spawn_true();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < RUNNERS; i++)
		pthread_join(runners[i], NULL);
}

/* ---- the process ends ---- */

static void start_neighbours(void)
{
	static int ends[2];
	int i;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	expect(!pipe2(ends, O_CLOEXEC));
	for (i = 0; i < RUNNERS; i++) {
		thread_start(run_workload, NULL);
		thread_start(wait_for_ever, &ends[0]);
	}
	usleep(2000);
}

static void execute(void *arg)
{
	char *const arguments[] = { "sh", "-c", "exit 42", NULL };

	(void)arg;
	start_neighbours();
	execve("/bin/sh", arguments, environ);
}

static void exit_all(void *arg)
{
	(void)arg;
	start_neighbours();
	_exit(42);
}

static void abort_all(void *arg)
{
	(void)arg;
	start_neighbours();
	abort();
}

TEST(others_may_end_the_process)
{
	int rounds = times(10, 200);
	int status;

	patience(600);
	while (rounds--) {
		status = in_child(execute, NULL);
		expect(WIFEXITED(status) && WEXITSTATUS(status) == 42);
		status = in_child(exit_all, NULL);
		expect(WIFEXITED(status) && WEXITSTATUS(status) == 42);
		status = in_child(abort_all, NULL);
		expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

static void *wait_cancellable(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return wait_for_ever(arg);
}

TEST(others_may_cancel_the_thread)
{
	pthread_t thread;
	void *result;
	int ends[2];
	int i;

	expect(!pipe2(ends, O_CLOEXEC));
	for (i = 0; i < 20; i++) {
		thread = thread_start(wait_cancellable, &ends[0]);
		usleep(1000);
		expect(!pthread_cancel(thread));
		expect(!pthread_join(thread, &result));
		expect(result == PTHREAD_CANCELED);
	}
}
