// SPDX-License-Identifier: MIT
/* ptrace: the tracer sees every call of a batch, with its arguments. */
#include <sys/ptrace.h>

#include "groups.h"
#include "workload.h"

#define WRITES 64
#define MARK 4000 /* the size of write number i is MARK + i */

static void write_marked(int null)
{
	static char text[MARK + WRITES];
	struct ferry_slot calls[WRITES];
	long results[WRITES];
	int i;

	for (i = 0; i < WRITES; i++) {
		calls[i] = SLOT(SYS_write, null, text, MARK + i);
		results[i] = MARK + i;
	}
	expect_run(calls, WRITES, results);
}

static void be_traced(void *arg)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (arg)
		run_writes();
	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	write_marked(null);
}

/* Lets PID, which has just stopped, run to its end.  Records the marked writes, in order. */
static int count_marked(pid_t pid)
{
	struct __ptrace_syscall_info info;
	int expected = 0;
	int status;

	expect(!ptrace(PTRACE_SETOPTIONS, pid, NULL,
		       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)));
	for (;;) {
		expect(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		expect_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		expect(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_write ||
		    info.entry.args[2] < MARK)
			continue;
		expect_equal(info.entry.args[2], MARK + expected);
		expected++;
	}
	expect_equal(status, 0);
	return expected;
}

static void trace_from_the_start(void *warm)
{
	pid_t pid = child_start(be_traced, warm);
	int status;

	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSTOPPED(status));
	expect_equal(count_marked(pid), WRITES);
}

static void a_tracer_sees_every_slot(void **state)
{
	(void)state;
	run_writes();
	trace_from_the_start(NULL);
	trace_from_the_start("warm");
}

/* ---- a tracer that attaches later ---- */

static void wait_for_tracer(void *arg)
{
	const int *fds = arg; /* told by, told to */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte;

	run_writes();
	expect_equal(write(fds[3], "r", 1), 1);
	expect_equal(read(fds[0], &byte, 1), 1);
	write_marked(null);
}

static void a_tracer_that_attaches_later_sees_every_slot(void **state)
{
	int fds[4];
	int status;
	pid_t pid;
	char byte;

	(void)state;
	expect(!pipe2(fds, O_CLOEXEC) && !pipe2(fds + 2, O_CLOEXEC));
	pid = child_start(wait_for_tracer, fds);
	expect_equal(read(fds[2], &byte, 1), 1);
	expect(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	expect(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSTOPPED(status));
	expect_equal(write(fds[1], "g", 1), 1);
	expect_equal(count_marked(pid), WRITES);
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);
	close(fds[3]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_tracer_sees_every_slot),
	cmocka_unit_test(a_tracer_that_attaches_later_sees_every_slot),
};

GROUP(tracing_group, tests);
