// SPDX-License-Identifier: GPL-2.0
/*
 * ptrace: a tracer sees batch() exit before its first call, as if it were to be
 * restarted; then each call enter and exit; then batch() enter again and exit with
 * its result.  Signals may cause more of these restarts.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <linux/ptrace.h>

#include "ferry_test.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)
#define RESTARTED (-513) /* -ERESTARTNOINTR, which tracers know and user space never sees */
#define MAX_EVENTS 64

/* One stop of the tracee at a call. */
struct event {
	bool is_entry;
	long nr; /* at an entry */
	unsigned long arg[FERRY_MAX_ARGS];
	long result; /* at an exit */
};

/* A traced process, the batch that it runs, and the events that were seen. */
struct tracee {
	struct ferry_slot calls[8];
	long *rets; /* shared with the tracee */
	int file;
	pid_t pid;
	struct event events[MAX_EVENTS];
	int count;
	int restarts;
	struct event last_restart;
};

FIXTURE(ptrace)
{
	struct tracee tracee;
};

FIXTURE_SETUP(ptrace)
{
	struct tracee *t = &self->tracee;
	int i;

	if (!have_batch())
		SKIP(return, NO_BATCH);
	t->file = memfd_create("ptrace", 0);
	ASSERT_LE(0, t->file);
	t->rets = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, t->rets);
	for (i = 0; i < 8; i++)
		t->rets[i] = UNTOUCHED;
}

FIXTURE_TEARDOWN(ptrace)
{
}

/* Starts a child that stops, then runs NCALL of the calls and exits with 0. */
static bool start(struct tracee *t, int ncall)
{
	int status;

	t->pid = fork();
	if (!t->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(batch(t->rets, t->calls, ncall) == ncall - 1 ? 0 : 1);
	}
	return waitpid(t->pid, &status, 0) == t->pid && WIFSTOPPED(status) &&
	       !ptrace(PTRACE_SETOPTIONS, t->pid, 0,
		       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
}

/* Lets the child run to its next call, entering or exiting.  False when it has ended. */
static bool next_event(struct tracee *t, struct event *event, int *status)
{
	struct __ptrace_syscall_info info;
	int k;

	do {
		if (ptrace(PTRACE_SYSCALL, t->pid, 0, 0))
			return false;
		if (waitpid(t->pid, status, 0) != t->pid || !WIFSTOPPED(*status))
			return false;
	} while (WSTOPSIG(*status) != SYSCALL_STOP);

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info) <= 0)
		return false;
	event->is_entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (event->is_entry) {
		event->nr = info.entry.nr;
		for (k = 0; k < FERRY_MAX_ARGS; k++)
			event->arg[k] = info.entry.args[k];
	} else {
		event->result = info.exit.rval;
	}
	return true;
}

/*
 * Records the events from the entry of batch() on.  Restarts are only counted.
 * Returns the wait status of the end.
 */
static int watch(struct tracee *t)
{
	struct event event;
	bool begun = false;
	int status = -1;

	while (next_event(t, &event, &status)) {
		begun |= event.is_entry && event.nr == FERRY_NR_BATCH;
		if (!begun || t->count == MAX_EVENTS)
			continue;
		if (!event.is_entry && event.result == RESTARTED) {
			t->count--;
			t->restarts++;
			t->last_restart = t->events[t->count];
			continue;
		}
		t->events[t->count++] = event;
	}
	return status;
}

#define EXPECT_CALL(i, number, value)					\
	do {								\
		const struct event *_event = &t->events[i];		\
									\
		EXPECT_TRUE(_event[0].is_entry);			\
		EXPECT_EQ(number, _event[0].nr);			\
		EXPECT_FALSE(_event[1].is_entry);			\
		EXPECT_EQ(value, _event[1].result);			\
	} while (0)

TEST_F(ptrace, shows_each_call_once)
{
	struct tracee *t = &self->tracee;
	int k;

	t->calls[0] = SLOT(__NR_getpid);
	t->calls[1] = SLOT(__NR_close, -1);
	t->calls[2] = SLOT(__NR_write, t->file, P("abc"), 3, 4, 5, 6);
	ASSERT_TRUE(start(t, 3));
	EXPECT_EQ(0, watch(t));
	EXPECT_EQ(8 + 1, t->count); /* exit_group enters */
	EXPECT_LE(1, t->restarts);
	EXPECT_EQ(FERRY_NR_BATCH, t->last_restart.nr);
	EXPECT_CALL(0, __NR_getpid, t->pid);
	EXPECT_CALL(2, __NR_close, -EBADF);
	EXPECT_CALL(4, __NR_write, 3);
	EXPECT_CALL(6, FERRY_NR_BATCH, 2);
	for (k = 0; k < FERRY_MAX_ARGS; k++)
		EXPECT_EQ((unsigned long)t->calls[2].arg[k], t->events[4].arg[k]);
	EXPECT_EQ((unsigned long)P(t->rets), t->events[6].arg[0]);
	EXPECT_EQ((unsigned long)P(t->calls), t->events[6].arg[1]);
	EXPECT_EQ(3, t->events[6].arg[2]);
}

TEST_F(ptrace, shows_no_call_that_is_not_made)
{
	struct tracee *t = &self->tracee;
	long from = 1, to;

	t->calls[0] = SLOT(__NR_fork);
	t->calls[1] = SLOT(-1);
	t->calls[2] = WORD_COPY(&to, &from);
	t->calls[3] = SLOT(FERRY_NR_BATCH);
	ASSERT_TRUE(start(t, 4));
	EXPECT_EQ(0, watch(t));
	EXPECT_EQ(2 + 1, t->count);
	EXPECT_CALL(0, FERRY_NR_BATCH, 3);
}

TEST_F(ptrace, shows_a_number_without_a_call)
{
	struct tracee *t = &self->tracee;

	t->calls[0] = SLOT(600);
	ASSERT_TRUE(start(t, 1));
	EXPECT_EQ(0, watch(t));
	EXPECT_EQ(4 + 1, t->count);
	EXPECT_CALL(0, 600, -ENOSYS);
	EXPECT_EQ(-ENOSYS, t->rets[0]);
}

TEST_F(ptrace, shows_what_was_forwarded)
{
	struct tracee *t = &self->tracee;

	t->calls[0] = SLOT(__NR_write, t->file, P("abc"), 3);
	t->calls[1] = forwarding(SLOT(__NR_write, t->file, P("def"), -1), 2, 1);
	ASSERT_TRUE(start(t, 2));
	EXPECT_EQ(0, watch(t));
	EXPECT_CALL(2, __NR_write, 3);
	EXPECT_EQ(3, t->events[2].arg[2]);
}

/* ---- tracers that meddle ---- */

/* Runs the child to the entry of NR, or to the exit from it. */
static bool run_to(struct tracee *t, long nr, bool exit)
{
	struct event event;
	int status;

	while (next_event(t, &event, &status))
		if (event.is_entry && event.nr == nr)
			return !exit || next_event(t, &event, &status);
	return false;
}

static long poke(struct tracee *t, size_t offset, long value)
{
	return ptrace(PTRACE_POKEUSER, t->pid, offset, value);
}

#define NUMBER offsetof(struct user_regs_struct, orig_rax)
#define RESULT offsetof(struct user_regs_struct, rax)
#define THIRD offsetof(struct user_regs_struct, rdx)

static void three_calls(struct tracee *t)
{
	t->calls[0] = SLOT(__NR_getpid);
	t->calls[1] = SLOT(__NR_write, t->file, P("abc"), 3);
	t->calls[2] = SLOT(__NR_getpid);
}

/* Checks the results after the tracer changed the second call. */
#define EXPECT_SECOND(value)						\
	do {								\
		EXPECT_EQ(0, watch(t));				\
		EXPECT_EQ(t->pid, t->rets[0]);			\
		EXPECT_EQ(value, t->rets[1]);			\
		EXPECT_EQ(t->pid, t->rets[2]);			\
	} while (0)

TEST_F(ptrace, may_change_the_arguments)
{
	struct tracee *t = &self->tracee;

	three_calls(t);
	ASSERT_TRUE(start(t, 3));
	ASSERT_TRUE(run_to(t, __NR_write, false));
	ASSERT_EQ(0, poke(t, THIRD, 2));
	EXPECT_SECOND(2);
	EXPECT_EQ(2, lseek(t->file, 0, SEEK_END));
}

TEST_F(ptrace, may_change_the_number)
{
	struct tracee *t = &self->tracee;

	three_calls(t);
	ASSERT_TRUE(start(t, 3));
	ASSERT_TRUE(run_to(t, __NR_write, false));
	ASSERT_EQ(0, poke(t, NUMBER, __NR_getppid));
	EXPECT_SECOND(THIS_PROCESS);
	EXPECT_EQ(0, lseek(t->file, 0, SEEK_END));
}

TEST_F(ptrace, makes_no_call_that_is_blocked)
{
	struct tracee *t = &self->tracee;
	static const long numbers[] = { __NR_fork, __NR_exit_group, __NR_restart_syscall,
					__NR_rt_sigreturn, FERRY_NR_BATCH, FERRY_NR_BATCH_ALIAS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		three_calls(t);
		ASSERT_TRUE(start(t, 3));
		ASSERT_TRUE(run_to(t, __NR_write, false));
		ASSERT_EQ(0, poke(t, NUMBER, numbers[i]));
		EXPECT_SECOND(-ENOSYS);
	}
	EXPECT_EQ(0, lseek(t->file, 0, SEEK_END));
}

TEST_F(ptrace, may_skip_a_call)
{
	struct tracee *t = &self->tracee;

	three_calls(t);
	ASSERT_TRUE(start(t, 3));
	ASSERT_TRUE(run_to(t, __NR_write, false));
	ASSERT_EQ(0, poke(t, NUMBER, -1));
	EXPECT_SECOND(-ENOSYS);
	EXPECT_EQ(0, lseek(t->file, 0, SEEK_END));
}

TEST_F(ptrace, may_change_a_result)
{
	struct tracee *t = &self->tracee;

	three_calls(t);
	t->calls[1].jump_pos = -1; /* not taken: the result is another */
	ASSERT_TRUE(start(t, 3));
	ASSERT_TRUE(run_to(t, __NR_write, true));
	ASSERT_EQ(0, poke(t, RESULT, -EDOM));
	EXPECT_SECOND(-EDOM);
	EXPECT_EQ(3, lseek(t->file, 0, SEEK_END));
}

TEST_F(ptrace, may_kill_within_a_call)
{
	struct tracee *t = &self->tracee;
	int status;

	three_calls(t);
	ASSERT_TRUE(start(t, 3));
	ASSERT_TRUE(run_to(t, __NR_write, false));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, lseek(t->file, 0, SEEK_END));
}

/* ---- signals under a tracer ---- */

static int handled;

static void handle(int sig)
{
	(void)sig;
	handled++;
}

static bool is_call(const struct event *event, long nr)
{
	return event->is_entry && event->nr == nr;
}

/* batch() is restarted, but each call is still shown once. */
TEST_F(ptrace, shows_calls_among_signals_once)
{
	struct tracee *t = &self->tracee;
	int i, kills = 0, pids = 0, status, signals = 0;
	struct __ptrace_syscall_info info;
	struct event event;

	for (i = 0; i < 4; i++) {
		t->calls[2 * i] = SLOT(__NR_kill, 0, SIGUSR1);
		t->calls[2 * i + 1] = SLOT(__NR_getppid);
	}
	signal(SIGUSR1, handle);
	t->pid = fork();
	if (!t->pid) {
		for (i = 0; i < 8; i += 2)
			t->calls[i].arg[0] = getpid();
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(batch(t->rets, t->calls, 8) == 7 && handled == 4 ? 0 : 1);
	}
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, t->pid, 0,
			    PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	for (i = 0;;) {
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, t->pid, 0, i));
		ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
		if (!WIFSTOPPED(status))
			break;
		i = WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
		signals += i == SIGUSR1;
		if (i)
			continue;
		ASSERT_LT(0, ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info));
		event.is_entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
		event.nr = info.entry.nr;
		kills += is_call(&event, __NR_kill);
		pids += is_call(&event, __NR_getppid);
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(4, signals);
	EXPECT_EQ(4, kills);
	EXPECT_EQ(4, pids);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(i % 2 ? THIS_PROCESS : 0, t->rets[i]);
}

TEST_HARNESS_MAIN
