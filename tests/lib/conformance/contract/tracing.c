// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ptrace: the tracer sees every call of a batch, with its arguments. */
#include "suite.h"
#include "tracer.h"
#include "workload.h"

#define WRITES 64
#define MARK 4000 /* the size of write number i is MARK + i */

static void write_marked(int null)
{
	static char text[MARK + WRITES];
	struct batch_slot calls[WRITES];
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

/* Lets PID run to its end.  Counts the marked writes, which have to come in order. */
static int count_marked(pid_t pid)
{
	struct __ptrace_syscall_info info;
	int expected = 0;

	while (tracer_next(pid, &info)) {
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_write ||
		    info.entry.args[2] < MARK)
			continue;
		expect_equal(info.entry.args[2], MARK + expected);
		expected++;
	}
	return expected;
}

static void trace_from_the_start(void *warm)
{
	pid_t pid = child_start(be_traced, warm);

	tracer_start(pid);
	expect_equal(count_marked(pid), WRITES);
}

TEST(a_tracer_sees_every_slot)
{
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

TEST(a_tracer_that_attaches_later_sees_every_slot)
{
	int fds[4];
	pid_t pid;
	char byte;

	expect(!pipe2(fds, O_CLOEXEC) && !pipe2(fds + 2, O_CLOEXEC));
	pid = child_start(wait_for_tracer, fds);
	expect_equal(read(fds[2], &byte, 1), 1);
	expect(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	expect(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	tracer_start(pid);
	expect_equal(write(fds[1], "g", 1), 1);
	expect_equal(count_marked(pid), WRITES);
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);
	close(fds[3]);
}

/* ---- what it sees of each slot ---- */

struct traced {
	const struct batch_slot *calls;
	unsigned long ncall;
	const long *results;
};

static void run_traced(void *arg)
{
	const struct traced *traced = arg;

	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_run(traced->calls, traced->ncall, traced->results);
}

/* A child that is traced, runs CALLS in one batch, and expects RESULTS. */
static pid_t start_traced(const struct batch_slot calls[], unsigned long ncall,
			  const long results[])
{
	struct traced traced = { calls, ncall, results };
	pid_t pid = child_start(run_traced, &traced);

	tracer_start(pid);
	return pid;
}

TEST(a_tracer_sees_the_arguments_and_the_result_of_each_slot_once)
{
	const struct batch_slot calls[] = {
		SLOT(SYS_fchmod, -1, 2, 3, 4, 5, 6),
		SLOT(SYS_write, memory_file(), "abc", 3, 4, 5, 6),
		SLOT(600, 1, 2, 3, 4, 5, 6), /* a number that no call has */
	};
	const long results[] = { -EBADF, 3, -ENOSYS };
	struct __ptrace_syscall_info info;
	pid_t pid = start_traced(calls, 3, results);
	int i, k;

	for (i = 0; i < 3; i++) {
		tracer_run_to(pid, calls[i].nr, &info);
		for (k = 0; k < BATCH_MAX_ARGS; k++)
			expect_equal(info.entry.args[k], calls[i].arg[k]);
		expect(tracer_next(pid, &info));
		expect_equal(info.op, PTRACE_SYSCALL_INFO_EXIT);
		expect_equal(info.exit.rval, results[i]);
	}
	while (tracer_next(pid, &info))
		for (i = 0; info.op == PTRACE_SYSCALL_INFO_ENTRY && i < 3; i++)
			expect(info.entry.nr != (unsigned long)calls[i].nr);
}

TEST(a_tracer_sees_no_call_of_a_slot_that_makes_none)
{
	static long to, from = 1;
	const struct batch_slot calls[] = { SLOT(SYS_clone), SLOT(-1), WORD_COPY(&to, &from) };
	const long results[] = { -ENOSYS, -ENOSYS, 0 };
	struct __ptrace_syscall_info info;
	pid_t pid = start_traced(calls, 3, results);
	int i;

	while (tracer_next(pid, &info))
		for (i = 0; info.op == PTRACE_SYSCALL_INFO_ENTRY && i < 3; i++)
			expect((int)info.entry.nr != calls[i].nr);
}

static int handled;

static void count_signal(int sig)
{
	(void)sig;
	handled++;
}

static void signal_itself(void *arg)
{
	struct batch_slot calls[8];
	long results[8];
	int i;

	(void)arg;
	signal(SIGUSR1, count_signal);
	for (i = 0; i < 8; i++) {
		calls[i] = i % 2 ? SLOT(SYS_getppid) : SLOT(SYS_kill, getpid(), SIGUSR1);
		results[i] = i % 2 ? getppid() : 0;
	}
	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_run(calls, 8, results);
	expect_equal(handled, 4);
}

TEST(a_tracer_sees_calls_between_signals_once)
{
	struct __ptrace_syscall_info info;
	pid_t pid = child_start(signal_itself, NULL);
	int kills = 0, others = 0;

	tracer_start(pid);
	tracer_run_to(pid, SYS_kill, &info);
	for (kills = 1; tracer_next(pid, &info);) {
		kills += info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_kill;
		others += info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid;
	}
	expect_equal(kills, 4);
	expect_equal(others, 4);
}

/* ---- what it changes ---- */

static const struct change {
	enum tracee_word word; /* of write(file, "abc", 3) */
	bool at_exit;
	long value;
	long result;
	long written;
} changes[] = {
	{ CALL_THIRD, false, 2, 2, 2 },
	{ CALL_NUMBER, false, SYS_fchdir, -ENOTDIR, 0 },
	{ CALL_RESULT, true, -EDOM, -EDOM, 3 },
};

static void expect_change(const struct change *change, int file)
{
	/* The jump is that of the result which the tracer leaves. */
	const struct batch_slot calls[] = {
		SLOT(SYS_getppid),
		jumping(SLOT(SYS_write, file, "abc", 3), 0, -1, change->at_exit ? -1 : 0),
		SLOT(SYS_getppid),
	};
	const long results[] = { getpid(), change->result, getpid() };
	struct __ptrace_syscall_info info;
	pid_t pid = start_traced(calls, 3, results);

	tracer_run_to(pid, SYS_write, &info);
	if (change->at_exit)
		expect(tracer_next(pid, &info));
	tracee_set(pid, change->word, change->value);
	while (tracer_next(pid, &info))
		;
	expect_equal(lseek(file, 0, SEEK_END), change->written);
	close(file);
}

TEST(a_tracer_may_change_a_call_skip_it_and_change_its_result)
{
	int file = memory_file();
	const struct change skip = { CALL_NUMBER, false, -1, tracee_result_at_entry(file), 0 };
	size_t i;

	expect_change(&skip, file);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		expect_change(&changes[i], memory_file());
}

TEST(a_tracer_may_kill_within_a_call)
{
	int file = memory_file();
	const struct batch_slot calls[] = { SLOT(SYS_write, file, "abc", 3) };
	const long results[] = { 3 };
	struct __ptrace_syscall_info info;
	pid_t pid = start_traced(calls, 1, results);
	int status;

	tracer_run_to(pid, SYS_write, &info);
	kill(pid, SIGKILL);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSIGNALED(status));
	expect_equal(lseek(file, 0, SEEK_END), 0);
}

/* ---- the registers that it finds, and changes ---- */

static void ask_for_parent(void *arg)
{
	const int file = *(int *)arg;
	const struct batch_slot calls[] = { SLOT(SYS_getppid, 0x11, 0x22, 0x33),
					    SLOT(SYS_write, file, "a", 1),
					    SLOT(SYS_write, file, "b", 1) };
	const pid_t parent = getppid();

	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_batch(calls, 2, parent, 1, 1);
}

TEST(a_tracer_finds_the_registers_of_a_call)
{
	struct __ptrace_syscall_info info;
	int file = memory_file();
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		pid = child_start(ask_for_parent, &file);
		tracer_start(pid);
		tracer_run_to(pid, SYS_getppid, &info);
		expect_equal(info.entry.args[0], 0x11);
		expect_equal(tracee_get(pid, CALL_NUMBER), SYS_getppid);
		expect_equal(tracee_get(pid, CALL_RESULT), tracee_result_at_entry(0x11));
		expect_equal(tracee_get(pid, CALL_SECOND), 0x22);
		expect_equal(tracee_get(pid, CALL_THIRD), 0x33);
		expect(tracer_next(pid, &info));
		expect_equal(info.op, PTRACE_SYSCALL_INFO_EXIT);
		expect_equal(tracee_get(pid, CALL_NUMBER), SYS_getppid);
		expect_equal(tracee_get(pid, CALL_RESULT), getpid());
		while (tracer_next(pid, &info))
			;
	}
	close(file);
}

/* exit_group(77); with 78 if the kernel goes back by an instruction. */
void elsewhere(void);
/* As C expects: for a local symbol, GNU's linker makes a wrong table of addresses on arm64. */
__asm__(".globl elsewhere\n");
#if defined(__x86_64__)
__asm__(".text\n"
	"	nop\n"
	"	jmp too_early\n"
	"elsewhere:\n"
	"	movl $231, %eax\n"
	"	movl $77, %edi\n"
	"	syscall\n"
	"too_early:\n"
	"	movl $231, %eax\n"
	"	movl $78, %edi\n"
	"	syscall\n");
#elif defined(__riscv)
__asm__(".text\n"
	"	.option push\n"
	"	.option norvc\n"
	"	j too_early\n"
	"elsewhere:\n"
	"	li a7, 94\n"
	"	li a0, 77\n"
	"	ecall\n"
	"too_early:\n"
	"	li a7, 94\n"
	"	li a0, 78\n"
	"	ecall\n"
	"	.option pop\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	"	b too_early\n"
	"elsewhere:\n"
	"	mov x8, #94\n"
	"	mov x0, #77\n"
	"	svc #0\n"
	"too_early:\n"
	"	mov x8, #94\n"
	"	mov x0, #78\n"
	"	svc #0\n");
#else
#error "how does this machine exit?"
#endif

/* As a debugger does that calls a function of the program. */
static void divert(int file, int sig)
{
	pid_t pid = child_start(ask_for_parent, &file);
	struct __ptrace_syscall_info info;
	int status;

	tracer_start(pid);
	tracer_run_to(pid, SYS_getppid, &info);
	expect(tracer_next(pid, &info));
	tracee_set(pid, NEXT_INSTRUCTION, (long)elsewhere);
	tracee_set(pid, CALL_NUMBER, -1);
	if (sig)
		kill(pid, sig);
	do
		expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	expect(WIFEXITED(status));
	expect_equal(WEXITSTATUS(status), 77);
}

TEST(a_tracer_may_send_the_program_elsewhere)
{
	int file = memory_file();
	int i;

	for (i = 0; i < repeats(); i++) {
		divert(file, 0);
		divert(file, SIGCHLD);
	}
	expect_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
}
