// SPDX-License-Identifier: GPL-2.0
/* Signals: the runner leaves for them and continues; what ends a process ends the runner. */
#include <sys/wait.h>
#include <time.h>

#include "flexsc_test.h"

static int handled;

static void handle(int sig)
{
	(void)sig;
	__atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void catch_signal(int sig, int flags)
{
	const struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	if (sigaction(sig, &action, NULL))
		abort();
}

static long since_ns(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000000000L + now.tv_nsec - start->tv_nsec;
}

FIXTURE(signals)
{
	struct flexsc_set *set;
	struct runner runner;
	int ends[2];
	char byte;
};

FIXTURE_SETUP(signals)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	ASSERT_EQ(0, pipe(self->ends));
	self->set = new_set(0);
	handled = 0;
	start(&self->runner, self->set, NULL);
}

FIXTURE_TEARDOWN(signals)
{
	if (self->set)
		EXPECT_EQ(0, stop(&self->runner));
}

/* Sends SIGUSR1 to the runner, and waits until it is back. */
static void interrupt(struct runner *runner)
{
	int before = LOAD(handled);

	pthread_kill(runner->thread, SIGUSR1);
	wait_while(LOAD(handled) == before);
}

TEST_F(signals, an_interrupted_call_ends_with_eintr)
{
	struct flexsc_entry *entry;

	catch_signal(SIGUSR1, 0);
	entry = post(self->set, 5, ENTRY(__NR_read, self->ends[0], P(&self->byte), 1));
	wait_until_blocked(&self->runner, entry);
	interrupt(&self->runner);
	EXPECT_EQ(-EINTR, collect(entry));
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
}

TEST_F(signals, an_interrupted_call_goes_on_with_sa_restart)
{
	struct flexsc_entry *entry;
	int i;

	catch_signal(SIGUSR1, SA_RESTART);
	entry = post(self->set, 5, ENTRY(__NR_read, self->ends[0], P(&self->byte), 1));
	for (i = 0; i < 20; i++) {
		wait_until_blocked(&self->runner, entry);
		interrupt(&self->runner);
		ASSERT_EQ(FLEXSC_ENTRY_SUBMITTED, LOAD(entry->status));
	}
	ASSERT_EQ(1, write(self->ends[1], "x", 1));
	EXPECT_EQ(1, collect(entry));
	EXPECT_EQ('x', self->byte);
}

/* Calls posted meanwhile are made after the begun one. */
TEST_F(signals, the_interrupted_call_is_continued_before_others)
{
	struct flexsc_entry *entry;

	catch_signal(SIGUSR1, SA_RESTART);
	entry = post(self->set, 5, ENTRY(__NR_read, self->ends[0], P(&self->byte), 1));
	wait_until_blocked(&self->runner, entry);
	post(self->set, 0, ENTRY(__NR_getpid));
	interrupt(&self->runner);
	wait_until_blocked(&self->runner, entry);
	EXPECT_EQ(FLEXSC_ENTRY_SUBMITTED, LOAD(self->set->entry[0].status));
	ASSERT_EQ(1, write(self->ends[1], "x", 1));
	EXPECT_EQ(1, collect(entry));
	EXPECT_EQ(THIS_PROCESS, collect(&self->set->entry[0]));
}

TEST_F(signals, a_sleep_is_not_restarted_by_a_handler)
{
	const struct timespec pause = { 1000, 0 };
	struct timespec left = { 0 };
	struct flexsc_entry *entry;

	catch_signal(SIGUSR1, SA_RESTART);
	entry = post(self->set, 1, ENTRY(__NR_nanosleep, P(&pause), P(&left)));
	wait_until_blocked(&self->runner, entry);
	interrupt(&self->runner);
	EXPECT_EQ(-EINTR, collect(entry));
	EXPECT_LT(900, left.tv_sec);
}

/* restart_syscall() continues the rest of it. */
TEST_F(signals, a_sleep_goes_on_after_a_stop)
{
	const struct timespec pause = { 1, 0 };
	struct flexsc_entry *entry;
	struct timespec start;
	pid_t self_pid = getpid(), child;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &start);
	entry = post(self->set, 1, ENTRY(__NR_nanosleep, P(&pause)));
	wait_until_blocked(&self->runner, entry);
	child = fork();
	if (!child) {
		kill(self_pid, SIGSTOP);
		nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
		kill(self_pid, SIGCONT);
		_exit(0);
	}
	EXPECT_EQ(0, collect(entry));
	EXPECT_LE(1000000000, since_ns(&start));
	EXPECT_EQ(child, waitpid(child, &status, 0));
}

TEST_F(signals, a_batch_goes_on_where_it_was)
{
	int file = memfd_create("batch", 0);
	long rets[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_slot calls[] = {
		SLOT(__NR_write, file, P("x"), 1),
		SLOT(__NR_read, self->ends[0], P(&self->byte), 1),
		SLOT(__NR_getpid),
	};
	struct batch_args args = batch_args(rets, calls, 3);
	struct flexsc_entry *entry;
	int i;

	catch_signal(SIGUSR1, SA_RESTART);
	entry = post(self->set, 2, ENTRY(__NR_batch, P(&args), sizeof(args)));
	for (i = 0; i < 5; i++) {
		wait_until_blocked(&self->runner, entry);
		interrupt(&self->runner);
	}
	ASSERT_EQ(1, write(self->ends[1], "x", 1));
	EXPECT_EQ(2, collect(entry));
	EXPECT_EQ(1, rets[0]);
	EXPECT_EQ(1, rets[1]);
	EXPECT_EQ(THIS_PROCESS, rets[2]);
	EXPECT_EQ(1, lseek(file, 0, SEEK_END));
}

TEST_F(signals, a_runner_that_sleeps_or_spins_handles_them)
{
	int i;

	catch_signal(SIGUSR1, 0);
	for (i = 0; i < 50; i++) {
		if (i % 2)
			wait_until_idle(&self->runner);
		interrupt(&self->runner);
		EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	}
}

/* Each call is made exactly once, whatever else happens. */
TEST_F(signals, many_signals_lose_no_call)
{
	int file = memfd_create("many", 0), i;

	catch_signal(SIGUSR1, SA_RESTART);
	for (i = 0; i < 3000; i++) {
		if (!(i % 10))
			pthread_kill(self->runner.thread, SIGUSR1);
		post(self->set, i % COUNT, ENTRY(__NR_write, file, P("x"), 1));
		ASSERT_EQ(1, collect(&self->set->entry[i % COUNT]));
	}
	EXPECT_EQ(3000, lseek(file, 0, SEEK_END));
	EXPECT_LT(0, handled);
}

/* A handler that jumps away leaves the call begun; the next runner continues it. */
TEST_F(signals, another_runner_takes_over)
{
	struct flexsc_set *set = new_set(0);
	struct runner runner;

	set->entry[7] = ENTRY(__NR_getpid);
	set->entry[7].begun = FLEXSC_BEGUN;
	STORE(set->entry[7].status, FLEXSC_ENTRY_SUBMITTED);
	set->entry[8] = ENTRY(__NR_nanosleep, 0);
	set->entry[8].begun = FLEXSC_BEGUN_RESTART;
	STORE(set->entry[8].status, FLEXSC_ENTRY_SUBMITTED);
	start(&runner, set, NULL);
	EXPECT_EQ(THIS_PROCESS, collect(&set->entry[7]));
	EXPECT_NE(0, collect(&set->entry[8]));
	EXPECT_EQ(0, stop(&runner));
}

/* ---- ends ---- */

enum { WORKING, SPINNING, SLEEPING, BLOCKED, STATES };

/* A child whose runner is in STATE when it returns. */
static pid_t child_with_runner(int state)
{
	struct flexsc_set *set;
	struct runner runner;
	int ready[2], ends[2];
	pid_t child;
	char byte;

	if (pipe(ready) || pipe(ends))
		abort();
	child = fork();
	if (child) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			abort();
		close(ready[0]);
		close(ends[0]);
		close(ends[1]);
		return child;
	}
	set = new_set(FLEXSC_FENCES);
	if (state == SPINNING)
		set->spin_ns = LONG_MAX;
	start(&runner, set, NULL);
	if (state == BLOCKED)
		wait_until_blocked(&runner, post(set, 0, ENTRY(__NR_read, ends[0], P(&byte), 1)));
	if (state == SLEEPING)
		wait_until_idle(&runner);
	if (write(ready[1], "r", 1) != 1)
		abort();
	while (state == WORKING)
		made(set, ENTRY(__NR_getpid));
	for (;;)
		pause();
}

TEST(sigkill_ends_it_in_every_state)
{
	int state, status, i;
	pid_t child;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	for (i = 0; i < 10; i++) {
		for (state = 0; state < STATES; state++) {
			child = child_with_runner(state);
			kill(child, SIGKILL);
			ASSERT_EQ(child, waitpid(child, &status, 0));
			EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		}
	}
}

static void child_that_ends(struct flexsc_set *set, bool by_exec)
{
	struct runner runner;
	int i;

	start(&runner, set, NULL);
	for (i = 0; i < COUNT; i++)
		post(set, i, ENTRY(__NR_getpid));
	if (by_exec)
		execl("/bin/sh", "sh", "-c", "exit 7", NULL);
	_exit(7);
}

TEST(exec_and_exit_end_it)
{
	int i, status;
	pid_t child;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child)
			child_that_ends(new_set(FLEXSC_FENCES), i % 2);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(7, WEXITSTATUS(status));
	}
}

/* The call raises SIGPIPE, which kills the runner. */
TEST(a_signal_that_a_call_raises_ends_the_process)
{
	struct flexsc_set *set = new_set(FLEXSC_FENCES);
	struct runner runner;
	int ends[2], status;
	pid_t child;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	child = fork();
	if (!child) {
		if (pipe(ends) || close(ends[0]))
			_exit(1);
		start(&runner, set, NULL);
		made(set, ENTRY(__NR_write, ends[1], P("x"), 1));
		_exit(stop(&runner) ? 2 : 3);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

TEST_HARNESS_MAIN
