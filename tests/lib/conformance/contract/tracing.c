// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ptrace: the tracer sees every call of a batch, with its arguments. */
#include <sys/user.h>

#include "suite.h"
#include "tracer.h"
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

/* ---- the registers that it finds, and changes ---- */

static struct user_regs_struct registers_of(pid_t pid)
{
	struct user_regs_struct registers;

	expect(!ptrace(PTRACE_GETREGS, pid, NULL, &registers));
	return registers;
}

static void ask_for_parent(void *arg)
{
	const int file = *(int *)arg;
	const struct ferry_slot calls[] = { SLOT(SYS_getppid, 0x11, 0x22, 0x33),
					    SLOT(SYS_write, file, "a", 1),
					    SLOT(SYS_write, file, "b", 1) };
	const pid_t parent = getppid();

	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_batch(calls, 2, parent, 1, 1);
}

TEST(a_tracer_finds_the_registers_of_a_call)
{
	struct user_regs_struct registers;
	struct __ptrace_syscall_info info;
	int file = memory_file();
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		pid = child_start(ask_for_parent, &file);
		tracer_start(pid);
		tracer_run_to(pid, SYS_getppid);
		registers = registers_of(pid);
		expect_equal(registers.orig_rax, SYS_getppid);
		expect_equal(registers.rax, -ENOSYS);
		expect_equal(registers.rdi, 0x11);
		expect_equal(registers.rsi, 0x22);
		expect_equal(registers.rdx, 0x33);
		expect(tracer_next(pid, &info));
		registers = registers_of(pid);
		expect_equal(info.op, PTRACE_SYSCALL_INFO_EXIT);
		expect_equal(registers.orig_rax, SYS_getppid);
		expect_equal(registers.rax, getpid());
		while (tracer_next(pid, &info))
			;
	}
	close(file);
}

/* exit_group(77); with 78 if the kernel goes back by the two bytes of an instruction. */
void elsewhere(void);
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

/* As a debugger does that calls a function of the program. */
static void divert(int file, int sig)
{
	pid_t pid = child_start(ask_for_parent, &file);
	struct user_regs_struct registers;
	struct __ptrace_syscall_info info;
	int status;

	tracer_start(pid);
	tracer_run_to(pid, SYS_getppid);
	expect(tracer_next(pid, &info));
	registers = registers_of(pid);
	registers.rip = (unsigned long)elsewhere;
	registers.orig_rax = (unsigned long)-1;
	expect(!ptrace(PTRACE_SETREGS, pid, NULL, &registers));
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
