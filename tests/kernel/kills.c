// SPDX-License-Identifier: MIT
/* SIGKILL at any time, mainly in slots that wait: no process ever gets stuck. */
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>

#include "hostile.h"

#define WAITS 9

/* Every slot waits for ever; the first one to run is chosen. */
static void make_waiting(struct batch_slot calls[WAITS])
{
	static const struct timespec long_time = { 100000, 0 };
	static struct epoll_event event;
	static struct pollfd fds;
	static char byte;
	static long none; /* a futex's value, and an empty mask */
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int sockets[2];
	int ends[2];
	int full[2] = { -1, -1 };

	expect(!pipe2(ends, O_CLOEXEC) && !pipe2(full, O_CLOEXEC | O_NONBLOCK));
	expect(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	while (write(full[1], &fds, 1) == 1)
		;
	fcntl(full[1], F_SETFL, 0);
	fds = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	calls[0] = SLOT(SYS_read, ends[0], &byte, 1);
	calls[1] = SLOT(SYS_nanosleep, &long_time, NULL);
	calls[2] = SLOT(SYS_futex, &none, FUTEX_WAIT, 0, NULL, NULL, 0);
	calls[3] = SLOT(SYS_ppoll, &fds, 1, NULL, NULL, 8);
	calls[4] = SLOT(SYS_epoll_pwait, epoll, &event, 1, -1, NULL, 8);
	calls[5] = SLOT(SYS_recvfrom, sockets[0], &byte, 1, 0, NULL, NULL);
	calls[6] = SLOT(SYS_write, full[1], &byte, 1);
	calls[7] = SLOT(SYS_rt_sigtimedwait, &none, NULL, NULL, 8);
	calls[8] = SLOT(SYS_rt_sigsuspend, &none, 8);
}

static void wait_from(void *arg)
{
	struct batch_slot calls[WAITS];
	long rets[WAITS];
	int first = *(int *)arg;

	patience(0);
	make_waiting(calls);
	run_batch(rets, calls + first, (unsigned long)(WAITS - first));
}

TEST(a_kill_ends_every_call_that_waits)
{
	pid_t pid;
	int i;

	for (i = 0; i < WAITS; i++) {
		pid = child_start(wait_from, &i);
		expect_asleep(pid);
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
}

TEST(a_thousand_kills_leave_nobody_behind)
{
	struct random random = random_new(1);
	int rounds = times(150, 1000);
	int first;
	pid_t pid;

	patience(1200);
	while (rounds--) {
		first = (int)random_below(&random, WAITS);
		pid = child_start(wait_from, &first);
		usleep((useconds_t)random_below(&random, 3000));
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
	expect(waitpid(-1, NULL, WNOHANG) < 0);
}

/* ---- many threads, some between slots, some in calls that wait ---- */

static void *wait_in_thread(void *arg)
{
	wait_from(arg);
	return NULL;
}

static void *hurry(void *arg)
{
	struct batch_slot calls[100];
	long rets[100];
	int i;

	(void)arg;
	for (i = 0; i < 100; i++)
		calls[i] = SLOT(SYS_getpid);
	for (;;)
		run_batch(rets, calls, 100);
	return NULL;
}

static void run_threads(void *arg)
{
	static int first[WAITS];
	int i;

	patience(0);
	for (i = 0; i < WAITS; i++) {
		first[i] = i;
		thread_start(wait_in_thread, &first[i]);
	}
	thread_start(hurry, NULL);
	thread_start(hurry, NULL);
	expect_equal(write(*(int *)arg, "r", 1), 1);
	hurry(NULL);
}

TEST(a_kill_ends_all_threads)
{
	int rounds = times(20, 200);
	int ends[2];
	char byte;
	pid_t pid;

	patience(600);
	expect(!pipe2(ends, O_CLOEXEC));
	while (rounds--) {
		pid = child_start(run_threads, &ends[1]);
		expect_equal(read(ends[0], &byte, 1), 1);
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
}
