// SPDX-License-Identifier: MIT
/* Tracers attach and detach while batches run; the traced processes do not notice. */
#include <sys/ptrace.h>
#include <time.h>

#include "hostile.h"
#include "tests/lib/conformance/contract/workload.h"

static int *go_on; /* shared with the traced process */

/* Runs batches with known results, and short sleeps in between, until told to end. */
static void run_until_told(void *arg)
{
	static const struct timespec moment = { 0, 100000 };
	const struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_nanosleep, &moment, NULL),
					    SLOT(SYS_getppid) };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	long rets[3];

	(void)arg;
	patience(600);
	while (__atomic_load_n(go_on, __ATOMIC_RELAXED)) {
		run_writes_on(null);
		expect_equal(run_batch(rets, calls, 3), 2);
		expect_equal(rets[0], getpid());
		expect_equal(rets[1], 0);
		expect_equal(rets[2], getppid());
	}
}

static pid_t start_traced(void)
{
	go_on = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(go_on != MAP_FAILED);
	*go_on = 1;
	return child_start(run_until_told, NULL);
}

static void end_traced(pid_t pid)
{
	int status;

	__atomic_store_n(go_on, 0, __ATOMIC_RELAXED);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
}

static void attach(pid_t pid, unsigned long how)
{
	int status;

	if (how == PTRACE_SEIZE) {
		expect(!ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD));
		expect(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	} else {
		expect(!ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	}
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSTOPPED(status));
	if (how != PTRACE_SEIZE)
		expect(!ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD));
}

/* Lets PID run for STEPS stops, with the request HOW. */
static void step(pid_t pid, int how, unsigned long steps)
{
	int status;

	while (steps--) {
		expect(!ptrace(how, pid, NULL, NULL));
		expect_equal(waitpid(pid, &status, 0), pid);
		expect(WIFSTOPPED(status));
	}
}

static void come_and_go(unsigned long how)
{
	struct random random = random_new(how);
	int rounds = times(40, 2000);
	pid_t pid = start_traced();

	while (rounds--) {
		attach(pid, how);
		step(pid, PTRACE_SYSCALL, random_below(&random, 20));
		expect(!ptrace(PTRACE_DETACH, pid, NULL, NULL));
		usleep((useconds_t)random_below(&random, 500));
	}
	end_traced(pid);
}

TEST(tracers_may_come_and_go)
{
	patience(600);
	come_and_go(PTRACE_SEIZE);
	come_and_go(PTRACE_ATTACH);
}

TEST(a_tracer_may_step_through_batches)
{
	pid_t pid;

#ifdef __riscv
	suite_skip("kernels for RISC-V have no PTRACE_SINGLESTEP");
#endif
	patience(600);
	pid = start_traced();
	attach(pid, PTRACE_SEIZE);
	step(pid, PTRACE_SINGLESTEP, (unsigned long)times(2000, 50000));
	expect(!ptrace(PTRACE_DETACH, pid, NULL, NULL));
	end_traced(pid);
}

struct task {
	pid_t traced;
	unsigned long steps;
};

static void trace_until_killed(void *arg)
{
	const struct task *task = arg;

	attach(task->traced, PTRACE_SEIZE);
	step(task->traced, PTRACE_SYSCALL, task->steps);
	raise(SIGKILL);
}

/* The kernel resumes the traced process wherever it is. */
TEST(a_tracer_may_die)
{
	struct random random = random_new(1);
	struct task task = { start_traced(), 0 };
	int rounds = times(30, 1000);

	patience(600);
	while (rounds--) {
		task.steps = random_below(&random, 20);
		expect_killed_by(child_start(trace_until_killed, &task), SIGKILL);
	}
	end_traced(task.traced);
}

/* ---- a tracer that suppresses signals ---- */

static void send_itself_fatal_signals(void *arg)
{
	const struct batch_slot calls[] = {
		SLOT(SYS_getppid),
		SLOT(SYS_kill, getpid(), SIGTERM),
		SLOT(SYS_getpid),
		SLOT(SYS_kill, getpid(), SIGSEGV),
	};

	(void)arg;
	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	expect_batch(calls, 3, getppid(), 0, getpid(), 0);
}

TEST(a_fatal_signal_that_a_tracer_suppresses_ends_nothing)
{
	pid_t pid = child_start(send_itself_fatal_signals, NULL);
	int signals = 0;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		signals++;
		expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	}
	expect_equal(status, 0);
	expect_equal(signals, 2);
}

/* ---- a tracer that makes the calls itself ---- */

/* Not every machine lets tracers emulate calls, and riscv64's C library does not name it. */
#ifdef __x86_64__
#define EMULATE PTRACE_SYSEMU
#else
#define EMULATE 31
#endif

static void be_emulated(void *arg)
{
	struct batch_slot calls[30];
	long rets[30];
	int i;

	(void)arg;
	for (i = 0; i < 30; i++)
		calls[i] = SLOT(SYS_getpid);
	for (;;)
		run_batch(rets, calls, 30);
}

static bool can_emulate(pid_t pid)
{
	return !ptrace(EMULATE, pid, NULL, NULL) && waitpid(pid, NULL, 0) == pid;
}

TEST(a_tracer_may_emulate_calls)
{
	int rounds = times(20, 500);
	pid_t pid;

	patience(600);
	while (rounds--) {
		pid = child_start(be_emulated, NULL);
		attach(pid, PTRACE_SEIZE);
		if (!can_emulate(pid)) {
			kill(pid, SIGKILL);
			suite_skip("tracers cannot emulate calls here");
		}
		step(pid, PTRACE_SYSCALL, (unsigned long)(rounds % 15));
		step(pid, EMULATE, 25);
		step(pid, PTRACE_SYSCALL, (unsigned long)(rounds % 7));
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
}
