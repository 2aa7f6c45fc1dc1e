// SPDX-License-Identifier: GPL-2.0
/*
 * ptrace: batch() leaves the calls of a traced task to user space, so that a tracer sees
 * real calls.  These tests make them with recovering_batch().
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
		_exit(recovering_batch(t->rets, t->calls, ncall) == ncall - 1 ? 0 : 1);
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

/* Records the events after the first entry of batch(), without its own.  Returns the status. */
static int watch(struct tracee *t)
{
	bool begun = false, in_batch = false;
	struct event event;
	int status = -1;

	while (next_event(t, &event, &status)) {
		if (event.is_entry)
			in_batch = event.nr == FERRY_NR_BATCH;
		begun |= in_batch;
		if (begun && !in_batch && t->count < MAX_EVENTS)
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
	EXPECT_EQ(6 + 1, t->count); /* exit_group enters */
	EXPECT_CALL(0, __NR_getpid, t->pid);
	EXPECT_CALL(2, __NR_close, -EBADF);
	EXPECT_CALL(4, __NR_write, 3);
	for (k = 0; k < FERRY_MAX_ARGS; k++)
		EXPECT_EQ((unsigned long)t->calls[2].arg[k], t->events[4].arg[k]);
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
	EXPECT_EQ(0 + 1, t->count);
}

TEST_F(ptrace, shows_a_number_without_a_call)
{
	struct tracee *t = &self->tracee;

	t->calls[0] = SLOT(600);
	ASSERT_TRUE(start(t, 1));
	EXPECT_EQ(0, watch(t));
	EXPECT_EQ(2 + 1, t->count);
	EXPECT_CALL(0, 600, -ENOSYS);
	EXPECT_EQ(-ENOSYS, t->rets[0]);
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

/* A tracer that sends the program elsewhere finds that nothing else ran before. */
void elsewhere(void);
asm(".text\n"
	"	nop\n"
	"	jmp too_early\n"
	"elsewhere:\n"
	"	movl $231, %eax\n" /* exit_group(77) */
	"	movl $77, %edi\n"
	"	syscall\n"
	"too_early:\n"
	"	movl $231, %eax\n" /* exit_group(78) */
	"	movl $78, %edi\n"
	"	syscall\n");

static int divert(struct tracee *t, bool with_a_signal)
{
	struct user_regs_struct regs;
	int status = -1;

	three_calls(t);
	if (!start(t, 3) || !run_to(t, __NR_getpid, true))
		return -1;
	ptrace(PTRACE_GETREGS, t->pid, 0, &regs);
	regs.rip = P(elsewhere);
	regs.orig_rax = -1;
	ptrace(PTRACE_SETREGS, t->pid, 0, &regs);
	if (with_a_signal)
		kill(t->pid, SIGCHLD);
	do
		ptrace(PTRACE_CONT, t->pid, 0, 0);
	while (waitpid(t->pid, &status, 0) == t->pid && WIFSTOPPED(status));
	return status;
}

TEST_F(ptrace, may_send_the_program_elsewhere)
{
	int i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(77 << 8, divert(&self->tracee, i));
		EXPECT_EQ(0, lseek(self->tracee.file, 0, SEEK_END));
	}
}

/* Registers that no call of the batch uses keep what the tracer writes there. */
TEST_F(ptrace, may_change_a_register)
{
	struct tracee *t = &self->tracee;
	struct user_regs_struct regs;
	struct event event;
	int status;
	bool seen = false;

	t->pid = fork();
	if (!t->pid) {
		struct ferry_slot call = SLOT(__NR_getppid);
		long arg[FERRY_MAX_ARGS] = { P(t->rets), P(&call), 1, 0, 64, 0x99 };

		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		raw_call(FERRY_NR_BATCH, arg);
		_exit(arg[5] == 0x1234 ? 0 : 1);
	}
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, t->pid, 0,
			    PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (next_event(t, &event, &status)) {
		ptrace(PTRACE_GETREGS, t->pid, 0, &regs);
		if (event.is_entry)
			seen = event.nr == FERRY_NR_BATCH;
		if (event.is_entry && seen)
			EXPECT_EQ(FERRY_NR_BATCH, (int)regs.orig_rax);
		if (event.is_entry || !seen)
			continue;
		regs.r9 = 0x1234;
		ptrace(PTRACE_SETREGS, t->pid, 0, &regs);
	}
	EXPECT_EQ(0, status);
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
		_exit(recovering_batch(t->rets, t->calls, 8) == 7 && handled == 4 ? 0 : 1);
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
