// SPDX-License-Identifier: GPL-2.0
/* Signals: a batch can be interrupted like the loop that it replaces. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "ferry_test.h"

static long handled;
static long wake_after; /* at this signal the handler writes a byte to wake_fd */
static int wake_fd;

static void handle(int sig)
{
	(void)sig;
	if (++handled == wake_after && write(wake_fd, "w", 1) != 1)
		abort();
}

static void catch_signal(int sig, int flags)
{
	const struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	if (sigaction(sig, &action, NULL))
		abort();
}

/* SIGALRM every USEC: it is sure to interrupt a call that waits. */
static void tick_every(long usec)
{
	const struct itimerval timer = { { 0, usec }, { 0, usec } };

	if (setitimer(ITIMER_REAL, &timer, NULL))
		abort();
}

FIXTURE(signals)
{
	int ends[2];
	long *shared;
};

FIXTURE_SETUP(signals)
{
	if (!have_batch())
		SKIP(return, NO_BATCH);
	ASSERT_EQ(0, pipe(self->ends));
	wake_fd = self->ends[1];
	self->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
}

FIXTURE_TEARDOWN(signals)
{
}

/* ---- between slots ---- */

#define KILLS 200

TEST_F(signals, are_handled_before_the_next_slot)
{
	struct ferry_slot calls[2 * KILLS];
	long rets[2 * KILLS];
	long seen[KILLS];
	int i;

	catch_signal(SIGUSR1, SA_RESTART);
	for (i = 0; i < KILLS; i++) {
		calls[2 * i] = SLOT(__NR_kill, getpid(), SIGUSR1);
		calls[2 * i + 1] = WORD_COPY(&seen[i], &handled);
	}
	EXPECT_EQ(2 * KILLS - 1, batch(rets, calls, 2 * KILLS));
	for (i = 0; i < KILLS; i++) {
		EXPECT_EQ(0, rets[2 * i]);
		EXPECT_EQ(i + 1, seen[i]);
	}
}

TEST_F(signals, wait_while_they_are_blocked)
{
	const unsigned long mask = MASK_OF(SIGUSR1);
	long seen[2];
	struct ferry_slot calls[] = {
		SLOT(__NR_rt_sigprocmask, SIG_BLOCK, P(&mask), 0, MASK_SIZE),
		SLOT(__NR_kill, getpid(), SIGUSR1),
		WORD_COPY(&seen[0], &handled),
		SLOT(__NR_rt_sigprocmask, SIG_UNBLOCK, P(&mask), 0, MASK_SIZE),
		WORD_COPY(&seen[1], &handled),
	};
	long rets[ARRAY_SIZE(calls)];

	catch_signal(SIGUSR1, 0);
	EXPECT_EQ(4, batch(rets, calls, 5));
	EXPECT_EQ(0, seen[0]);
	EXPECT_EQ(1, seen[1]);
}

TEST_F(signals, leave_the_registers_of_the_caller_alone)
{
	struct ferry_slot calls[] = {
		SLOT(__NR_kill, getpid(), SIGUSR1, 3, 4, 5, 6),
		SLOT(__NR_kill, getpid(), SIGUSR1, 3, 4, 5, 6),
		SLOT(__NR_getpid, 1, 2, 3, 4, 5, 6),
	};
	long rets[ARRAY_SIZE(calls)];
	const long before[] = { P(rets), P(calls), 3, 0, sizeof(*calls), 0x1234567 };
	long arg[FERRY_MAX_ARGS];

	catch_signal(SIGUSR1, 0);
	memcpy(arg, before, sizeof(arg));
	EXPECT_EQ(2, raw_call(FERRY_NR_BATCH, arg));
	EXPECT_EQ(2, handled);
	EXPECT_EQ(THIS_PROCESS, rets[2]);
	EXPECT_EQ(0, memcmp(before, arg, sizeof(arg)));
}

static sigjmp_buf outside;

static void jump_out(int sig)
{
	(void)sig;
	siglongjmp(outside, 1);
}

TEST_F(signals, may_be_the_end_of_a_batch)
{
	struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getpid),
	};
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };

	signal(SIGUSR1, jump_out);
	if (!sigsetjmp(outside, 1)) {
		batch(rets, calls, 3);
		ASSERT_TRUE(false);
	}
	EXPECT_EQ(THIS_PROCESS, rets[0]);
	EXPECT_EQ(0, rets[1]);
	EXPECT_EQ(UNTOUCHED, rets[2]);
	EXPECT_EQ(0, batch(rets, calls, 1));
}

static void fill_with_getpid(struct ferry_slot calls[], int ncall)
{
	int i;

	for (i = 0; i < ncall; i++)
		calls[i] = SLOT(__NR_getpid);
}

/* A handler runs its own batch in the middle of another. */
static void run_inner(int sig)
{
	struct ferry_slot calls[16];
	long rets[16];

	(void)sig;
	fill_with_getpid(calls, 16);
	if (batch(rets, calls, 16) == 15 && rets[15] == THIS_PROCESS)
		handled++;
}

TEST_F(signals, may_run_a_batch_in_their_handler)
{
	struct ferry_slot calls[] = {
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getppid),
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getppid),
	};
	long rets[ARRAY_SIZE(calls)];

	signal(SIGUSR1, run_inner);
	EXPECT_EQ(3, batch(rets, calls, 4));
	EXPECT_EQ(2, handled);
	EXPECT_EQ(getppid(), rets[1]);
	EXPECT_EQ(getppid(), rets[3]);
}

/* ---- in calls that wait ---- */

TEST_F(signals, without_sa_restart_end_a_call)
{
	char byte;
	struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_read, self->ends[0], P(&byte), 1),
		SLOT(__NR_getppid),
		SLOT(__NR_read, self->ends[0], P(&byte), 1),
	};
	long rets[ARRAY_SIZE(calls)];

	catch_signal(SIGALRM, 0);
	tick_every(2000);
	EXPECT_EQ(3, batch(rets, calls, 4));
	EXPECT_EQ(THIS_PROCESS, rets[0]);
	EXPECT_EQ(-EINTR, rets[1]);
	EXPECT_EQ(getppid(), rets[2]);
	EXPECT_EQ(-EINTR, rets[3]);
}

TEST_F(signals, with_sa_restart_let_a_call_go_on)
{
	char byte = 0;
	struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_read, self->ends[0], P(&byte), 1),
		SLOT(__NR_getppid),
	};
	long rets[ARRAY_SIZE(calls)];

	wake_after = 5;
	catch_signal(SIGALRM, SA_RESTART);
	tick_every(2000);
	EXPECT_EQ(2, batch(rets, calls, 3));
	EXPECT_EQ(THIS_PROCESS, rets[0]);
	EXPECT_EQ(1, rets[1]);
	EXPECT_EQ('w', byte);
	EXPECT_EQ(getppid(), rets[2]);
	EXPECT_LE(5, handled);
}

static long to_ms(const struct timespec *time)
{
	return time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

TEST_F(signals, end_calls_that_never_restart)
{
	const struct timespec long_time = { 1000, 0 };
	const unsigned long none = 0;
	struct timespec rest = {}, start, end;
	struct ferry_slot calls[] = {
		SLOT(__NR_nanosleep, P(&long_time), P(&rest)),
		SLOT(__NR_ppoll, 0, 0, P(&long_time), P(&none), MASK_SIZE),
		SLOT(__NR_rt_sigsuspend, P(&none), MASK_SIZE),
		SLOT(__NR_pselect6, 0, 0, 0, 0, 0, 0),
	};
	long rets[ARRAY_SIZE(calls)];
	int i;

	catch_signal(SIGALRM, SA_RESTART);
	tick_every(2000);
	clock_gettime(CLOCK_MONOTONIC, &start);
	EXPECT_EQ(3, batch(rets, calls, 4));
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(-EINTR, rets[i]);
	/* The rest is what the sleep, a part of the batch, has not taken; each is rounded. */
	EXPECT_GT(1000, rest.tv_sec);
	EXPECT_LE(to_ms(&long_time), to_ms(&rest) + to_ms(&end) - to_ms(&start) + 2);
}

#define STOPPED_MS 500

/*
 * nanosleep() stores the remaining time when it is interrupted.  A stop neither
 * ends nor restarts it: the elapsed time counts.
 */
TEST_F(signals, that_stop_do_not_lengthen_a_sleep)
{
	struct timespec *rest = (void *)self->shared;
	const struct timespec long_time = { 1000, 0 };
	struct ferry_slot call = SLOT(__NR_nanosleep, P(&long_time), P(rest));
	long ret, before, after;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		batch(&ret, &call, 1);
		_exit(1);
	}
	ASSERT_TRUE(falls_asleep(pid));
	ASSERT_EQ(0, kill(pid, SIGSTOP));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	before = to_ms(rest);
	EXPECT_LT(0, before);
	usleep(STOPPED_MS * 1000);

	ASSERT_EQ(0, kill(pid, SIGCONT));
	ASSERT_TRUE(falls_asleep(pid));
	ASSERT_EQ(0, kill(pid, SIGSTOP));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	after = to_ms(rest);
	EXPECT_LE(after, before - STOPPED_MS);
	EXPECT_LT(0, after);

	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
}

/* After a stop the sleep ends normally and the batch continues. */
TEST_F(signals, that_stop_do_not_end_a_batch)
{
	const struct timespec moment = { 1, 0 };
	struct ferry_slot calls[] = {
		SLOT(__NR_nanosleep, P(&moment), 0),
		SLOT(__NR_getppid),
	};
	long *rets = self->shared;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(batch(rets, calls, 2) == 1 ? 0 : 1);
	ASSERT_TRUE(falls_asleep(pid));
	ASSERT_EQ(0, kill(pid, SIGSTOP));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, rets[0]);
	EXPECT_EQ(THIS_PROCESS, rets[1]);
}

TEST_F(signals, that_stop_let_a_read_go_on)
{
	char byte;
	struct ferry_slot call = SLOT(__NR_read, self->ends[0], P(&byte), 1);
	int status, i;
	pid_t pid;
	long ret;

	pid = fork();
	if (!pid) {
		batch(&ret, &call, 1);
		_exit(ret == 1 ? 0 : 1);
	}
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(falls_asleep(pid));
		ASSERT_EQ(0, kill(pid, SIGSTOP));
		ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
		ASSERT_EQ(0, kill(pid, SIGCONT));
	}
	ASSERT_EQ(1, write(self->ends[1], "x", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

#define STORM 1500

TEST_F(signals, show_no_internal_errors)
{
	const struct timespec moment = { 0, 30000 };
	static struct ferry_slot calls[STORM];
	static long rets[STORM];
	int i;

	for (i = 0; i < STORM; i++) {
		if (i % 3 == 0)
			calls[i] = SLOT(__NR_getpid);
		else if (i % 3 == 1)
			calls[i] = SLOT(__NR_nanosleep, P(&moment), 0);
		else
			calls[i] = SLOT(__NR_ppoll, 0, 0, P(&moment), 0, MASK_SIZE);
	}
	catch_signal(SIGALRM, SA_RESTART);
	tick_every(300);
	EXPECT_EQ(STORM - 1, batch(rets, calls, STORM));
	tick_every(0);
	EXPECT_LT(0, handled);
	for (i = 0; i < STORM; i++) {
		bool right = i % 3 == 0 ? rets[i] == THIS_PROCESS :
					  rets[i] == 0 || rets[i] == -EINTR;

		ASSERT_TRUE(right)
			TH_LOG("rets[%d] = %ld", i, rets[i]);
	}
}

/* ---- fatal ones ---- */

TEST_F(signals, that_are_fatal_end_a_batch_at_once)
{
	long from = 1;
	struct ferry_slot calls[] = {
		WORD_COPY(&self->shared[0], &from),
		SLOT(__NR_kill, 0, SIGKILL),
		WORD_COPY(&self->shared[1], &from),
	};
	long rets[ARRAY_SIZE(calls)];
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		calls[1].arg[0] = getpid();
		batch(rets, calls, 3);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_EQ(1, self->shared[0]);
	EXPECT_EQ(0, self->shared[1]);
}

TEST_F(signals, that_are_fatal_end_a_call_that_waits)
{
	char byte;
	struct ferry_slot call = SLOT(__NR_read, self->ends[0], P(&byte), 1);
	int status;
	pid_t pid;
	long ret;

	pid = fork();
	if (!pid) {
		batch(&ret, &call, 1);
		_exit(0);
	}
	ASSERT_TRUE(falls_asleep(pid));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

/* ---- positions that no kernel stored ---- */

TEST_F(signals, have_nothing_to_do_with_a_made_up_position)
{
	struct ferry_slot calls[] = { SLOT(__NR_getpid), SLOT(__NR_getppid), SLOT(__NR_getpid) };
	const long resume = FERRY_BATCH_RESUME;
	const long second = resume | 1L << FERRY_RESUME_SHIFT;
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };

	EXPECT_EQ(2, raw_batch(rets, calls, 3, second, 64));
	EXPECT_EQ(UNTOUCHED, rets[0]);
	EXPECT_EQ(getppid(), rets[1]);
	EXPECT_EQ(THIS_PROCESS, rets[2]);

	/* There is no call to continue. */
	rets[2] = UNTOUCHED;
	calls[1].jump_fail = -1;
	EXPECT_EQ(1, raw_batch(rets, calls, 3, second | FERRY_BATCH_RESTART, 64));
	EXPECT_EQ(-EINTR, rets[1]);
	EXPECT_EQ(UNTOUCHED, rets[2]);

	EXPECT_EQ(-EFAULT, raw_batch(rets, calls, 3, resume | 3L << FERRY_RESUME_SHIFT, 64));
	EXPECT_EQ(-EINVAL, raw_batch(rets, calls, 3, LONG_MIN | resume, 64));
	EXPECT_EQ(-EINVAL, raw_batch(rets, calls, 3, refused_at(1), 64));
	EXPECT_EQ(-EINVAL, raw_batch(rets, calls, 3, resume | FERRY_BATCH_QUERY, 64));
	EXPECT_EQ(-EINVAL, raw_batch(rets, calls, 3, resume | 4, 64));
	EXPECT_EQ(UNTOUCHED, rets[0]);
}

TEST_HARNESS_MAIN
