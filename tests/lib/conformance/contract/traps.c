// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Filters that trap: the handler of SIGSYS finds the registers of the slot's call, whatever made
 * it trap, and its answer is the slot's result.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>

#include "filter.h"
#include "suite.h"
#include "tracer.h"

#define ANSWER 4242

static int traps;
static int wrong_traps;

#if defined(__x86_64__)
#define REGISTERS gregs
#define RESULT REG_RAX
static const int arguments[] = { REG_RDI, REG_RSI, REG_RDX };
#elif defined(__riscv)
#define REGISTERS __gregs
#define RESULT REG_A0
static const int arguments[] = { REG_A0, REG_A0 + 1, REG_A0 + 2 };
#elif defined(__aarch64__)
#define REGISTERS regs
#define RESULT 0
static const int arguments[] = { 0, 1, 2 };
#else
#error "which registers hold a call?"
#endif

/* Answers in place of the call; returns whether its arguments were 0x11, 0x22 and 0x33. */
static bool answer_call(void *context, long answer)
{
	const long expected[] = { 0x11, 0x22, 0x33 };
	ucontext_t *interrupted = context;
	bool right = true;
	int i;

	for (i = 0; i < 3; i++)
		right &= (long)interrupted->uc_mcontext.REGISTERS[arguments[i]] == expected[i];
	interrupted->uc_mcontext.REGISTERS[RESULT] = answer;
	return right;
}

static void answer_getuid(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	traps++;
	wrong_traps += !answer_call(context, ANSWER) || info->si_syscall != SYS_getuid;
}

static void answer_with(void (*handler)(int, siginfo_t *, void *))
{
	const struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	expect(!sigaction(SIGSYS, &action, NULL));
}

/* FLAGS are those of seccomp(2). */
static void trap(int nr, long flags)
{
	struct filter filter;

	filter_one(&filter, nr, SECCOMP_RET_TRAP);
	filter_install_with(&filter, flags);
}

/* ---- a tracer holds the call ---- */

struct held {
	int file;
	long nr;       /* of the call that the tracer holds */
	int *hold;     /* shared with it: it holds the call; NULL if the filter comes before */
	bool filtered; /* has a filter before that one, too */
};

static void *trap_held(void *arg)
{
	const struct held *held = arg;

	while (!__atomic_load_n(held->hold, __ATOMIC_ACQUIRE))
		usleep(1000);
	trap(SYS_getuid, SECCOMP_FILTER_FLAG_TSYNC);
	__atomic_store_n(held->hold, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void be_held(void *arg)
{
	struct held *held = arg;
	const struct batch_slot calls[] = {
		SLOT(SYS_write, held->file, "a", 1),
		SLOT(held->nr, 0x11, 0x22, 0x33),
		SLOT(SYS_write, held->file, "b", 1),
	};
	const uid_t user = getuid();
	long rets[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	pthread_t thread;

	answer_with(answer_getuid);
	if (held->filtered)
		trap(999, 0);
	if (held->hold)
		expect(!pthread_create(&thread, NULL, trap_held, held));
	else
		trap(SYS_getuid, 0);
	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_equal(run_batch(rets, calls, 3), 2);
	expect_equal(rets[0], 1);
	expect_equal(rets[2], 1);
	/* A kernel may look whether the thread has filters before its tracer holds it. */
	if (held->hold && !held->filtered)
		expect_equal(rets[1], traps ? ANSWER : user);
	else
		expect_equal(rets[1], ANSWER);
	expect_equal(traps, rets[1] == ANSWER);
	expect_equal(wrong_traps, 0);
	if (held->hold)
		pthread_join(thread, NULL);
}

static pid_t start_held(struct held *held)
{
	struct __ptrace_syscall_info info;
	pid_t pid = child_start(be_held, held);

	tracer_start(pid);
	tracer_run_to(pid, held->nr, &info);
	return pid;
}

static void let_go(pid_t pid, int file)
{
	struct __ptrace_syscall_info info;

	while (tracer_next(pid, &info))
		;
	expect_equal(lseek(file, 0, SEEK_END), 2);
	expect(!ftruncate(file, 0));
	expect_equal(lseek(file, 0, SEEK_SET), 0);
}

TEST(a_call_that_a_tracer_puts_in_place_of_another_may_trap)
{
	struct held held = { .file = memory_file(), .nr = SYS_getppid };
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		pid = start_held(&held);
		tracee_set(pid, CALL_NUMBER, SYS_getuid);
		let_go(pid, held.file);
	}
	close(held.file);
}

TEST(a_call_that_a_tracer_holds_while_the_filter_comes_may_trap)
{
	struct held held = { .file = memory_file(), .nr = SYS_getuid };
	pid_t pid;
	int i;

	held.hold = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(held.hold != MAP_FAILED);
	for (i = 0; i < repeats(); i++) {
		held.filtered = i % 2;
		pid = start_held(&held);
		__atomic_store_n(held.hold, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(held.hold, __ATOMIC_ACQUIRE))
			usleep(1000);
		let_go(pid, held.file);
	}
	close(held.file);
}

/* ---- another thread installs the filter meanwhile ---- */

#define COUNT 20000
#define MOST_TRAPS 64 /* a signal takes long in an emulated machine */

static struct batch_slot many_calls[COUNT];
static long many_rets[COUNT];

/* From then on, the calls still to be made are ones that do not trap. */
static void answer_some(int sig, siginfo_t *info, void *context)
{
	int i;

	answer_getuid(sig, info, context);
	for (i = 0; traps == MOST_TRAPS && i < COUNT; i++)
		__atomic_store_n(&many_calls[i].nr, SYS_getpid, __ATOMIC_RELAXED);
}

static void *run_many(void *arg)
{
	(void)arg;
	return (void *)run_batch(many_rets, many_calls, COUNT);
}

static void race(void *arg)
{
	const int round = *(int *)arg;
	const int slot = round * 797 % COUNT; /* when the filter is installed */
	const long expected[] = { getuid(), ANSWER, getpid() };
	size_t now = 0;
	pthread_t thread;
	void *last;
	int i;

	answer_with(answer_some);
	if (round % 2)
		trap(999, 0);
	for (i = 0; i < COUNT; i++) {
		many_calls[i] = SLOT(SYS_getuid, 0x11, 0x22, 0x33);
		many_rets[i] = UNTOUCHED;
	}
	expect(!pthread_create(&thread, NULL, run_many, NULL));
	for (i = 0; __atomic_load_n(&many_rets[slot], __ATOMIC_RELAXED) == UNTOUCHED; i++) {
		if (i < 1000)
			sched_yield();
		else
			usleep(100);
	}
	trap(SYS_getuid, SECCOMP_FILTER_FLAG_TSYNC);
	pthread_join(thread, &last);
	expect_equal(last, COUNT - 1);
	expect_equal(wrong_traps, 0);
	for (i = 0; i < COUNT; i++) {
		while (many_rets[i] != expected[now])
			expect(++now < ARRAY_SIZE(expected));
	}
}

TEST(a_filter_from_another_thread_traps_only_real_calls)
{
	int i;

	for (i = 0; i < repeats(); i++)
		expect_child(race, &i);
}

/* ---- the call that goes on after a stop ---- */

static void answer_restart(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	traps++;
	wrong_traps += info->si_syscall != SYS_restart_syscall;
	answer_call(context, -ENOSYS);
}

/* The filter comes before the batch if that begins at slot 2. */
static void sleep_for_long(void *arg)
{
	static const struct timespec time = { 1000, 0 };
	const unsigned long from = *(unsigned long *)arg;
	struct filter filter;
	const struct batch_slot program[] = {
		SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program),
		SLOT(SYS_nanosleep, &time, NULL),
		SLOT(SYS_getpid),
	};
	const long expected[] = { 0, 0, -ENOSYS, getpid() };

	answer_with(answer_restart);
	filter_one(&filter, SYS_restart_syscall, SECCOMP_RET_TRAP);
	if (from)
		trap(SYS_restart_syscall, 0);
	expect_run(program + from, 4 - from, expected + from);
	expect_equal(traps, 1);
	expect_equal(wrong_traps, 0);
}

/* Only a stop in the sleep ends the child: the sleep goes on by restart_syscall(). */
TEST(a_filter_may_trap_the_restart_of_a_call)
{
	unsigned long from;
	int status;
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		from = i % 2 ? 2 : 0;
		pid = child_start(sleep_for_long, &from);
		do {
			usleep(1000);
			kill(pid, SIGSTOP);
			expect_equal(waitpid(pid, &status, WUNTRACED), pid);
			kill(pid, SIGCONT);
		} while (WIFSTOPPED(status));
		expect_equal(status, 0);
	}
}
