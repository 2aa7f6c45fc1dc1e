// SPDX-License-Identifier: MIT
/*
 * Signals at every boundary between slots, from outside and from slots: each is handled
 * once, no result changes, and the caller's registers are unchanged afterwards.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include <ferry/batchcall.h>

#include "tests/lib/conformance/contract/filter.h"
#include "hostile.h"

static long handled;

static void count(int sig)
{
	(void)sig;
	handled++;
}

static void catch_signal(int sig, int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };

	expect(!sigaction(sig, &action, NULL));
}

#if defined(__x86_64__)
#define INSTRUCTION "syscall"
#define NUMBER "rax"
#define FIRST "rdi"
#define SECOND "rsi"
#define THIRD "rdx"
#define FOURTH "r10"
#define FIFTH "r8"
#define SIXTH "r9"
#define CHANGED "rcx", "r11", "cc", "memory"
#elif defined(__aarch64__)
#define INSTRUCTION "svc 0"
#define NUMBER "x8"
#define FIRST "x0"
#define SECOND "x1"
#define THIRD "x2"
#define FOURTH "x3"
#define FIFTH "x4"
#define SIXTH "x5"
#define CHANGED "cc", "memory"
#elif defined(__riscv)
#define INSTRUCTION "ecall"
#define NUMBER "a7"
#define FIRST "a0"
#define SECOND "a1"
#define THIRD "a2"
#define FOURTH "a3"
#define FIFTH "a4"
#define SIXTH "a5"
#define CHANGED "memory"
#endif

/* batch() by the bare instruction, to see what the kernel leaves in the registers. */
static long call_checked(struct batch_args *args)
{
	const unsigned long mark = 0x123456789abcdef;
	register unsigned long number __asm__(NUMBER) = FERRY_NR_BATCH;
	register unsigned long first __asm__(FIRST) = (unsigned long)args;
	register unsigned long second __asm__(SECOND) = sizeof(*args);
	register unsigned long third __asm__(THIRD) = mark;
	register unsigned long fourth __asm__(FOURTH) = mark + 1;
	register unsigned long fifth __asm__(FIFTH) = mark + 2;
	register unsigned long sixth __asm__(SIXTH) = mark + 3;
	unsigned long after[7];

	__asm__ volatile(INSTRUCTION
			 : "+r"(number), "+r"(first), "+r"(second), "+r"(third), "+r"(fourth),
			   "+r"(fifth), "+r"(sixth)
			 :
			 : CHANGED);
	after[0] = first;
	after[1] = number;
	after[2] = second;
	after[3] = third;
	after[4] = fourth;
	after[5] = fifth;
	after[6] = sixth;
	expect_equal(after[2], sizeof(*args));
	expect_equal(after[3], mark);
	expect_equal(after[4], mark + 1);
	expect_equal(after[5], mark + 2);
	expect_equal(after[6], mark + 3);
#ifdef __x86_64__
	expect(after[0] == (unsigned long)args);
	return (long)after[1];
#else
	/* The result takes the place of the first argument, and not of the number. */
	expect_equal(after[1], FERRY_NR_BATCH);
	return (long)after[0];
#endif
}

static long run_checked(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args;
	long result;

	if (engine == FERRY_DEVICE)
		return run_batch(rets, calls, ncall);
	ferry_batch_begin(&args, rets, calls, ncall);
	do
		result = call_checked(&args);
	while (!ferry_batch_is_over(&args, result) && ferry_batch_left(&args, &result));
	return result;
}

/* ---- a program whose results are the same every time ---- */

#define SLOTS 40
#define KINDS 8

static int file;
static long cell[SLOTS];
static char text[SLOTS];

static struct batch_slot nth_slot(int i)
{
	switch (i % KINDS) {
	case 0:
		return SLOT(SYS_pwrite64, file, "abcdefgh", 1 + i % 8, i);
	case 1:
		return SLOT(SYS_pread64, file, &text[i], 1, i - 1);
	case 2:
		return SLOT(BATCH_WDCPY, &cell[i], &cell[i - 1]);
	case 3:
		return SLOT(SYS_getpid);
	case 4:
		return forwarding(SLOT(SYS_pwrite64, file, "xyz", -1, i), 2, 3);
	case 5:
		return jumping(SLOT(SYS_close, -1), 1, -1, -1);
	case 6:
		return SLOT(SYS_exit_group, 1);
	default:
		return SLOT(SYS_lseek, file, 1000 + i, SEEK_SET);
	}
}

static void make_program(struct batch_slot calls[SLOTS])
{
	int i;

	for (i = 0; i < SLOTS; i++)
		calls[i] = nth_slot(i);
}

static void forget(long rets[SLOTS])
{
	int i;

	for (i = 0; i < SLOTS; i++)
		rets[i] = UNTOUCHED;
	memset(text, 0, sizeof(text));
	memset(cell, 1, sizeof(cell));
	expect(!ftruncate(file, 0));
}

/* ---- signals from slots ---- */

TEST(a_signal_at_any_boundary_changes_no_result)
{
	struct batch_slot calls[SLOTS];
	long kernels[SLOTS];
	long loops[SLOTS];
	char loop_text[SLOTS];
	long last;
	int i;

	file = memory_file();
	catch_signal(SIGUSR1, SA_RESTART);
	for (i = 0; i < SLOTS; i++) {
		make_program(calls);
		calls[i] = SLOT(SYS_kill, getpid(), SIGUSR1);
		forget(loops);
		handled = 0;
		last = ferry_loop(loops, calls, SLOTS);
		expect_equal(handled, i % KINDS != 6); /* that one is jumped over */
		memcpy(loop_text, text, SLOTS);

		forget(kernels);
		handled = 0;
		expect_equal(run_checked(kernels, calls, SLOTS), last);
		expect_equal(handled, i % KINDS != 6);
		expect_bytes(kernels, loops, sizeof(loops));
		expect_bytes(text, loop_text, SLOTS);
	}
}

/* ---- signals from outside ---- */

#define ENOUGH 100 /* how many signals a test has to see */

static int sent; /* by the other thread, while it runs */
static int stop;

/* Signals from SIGRTMIN up are queued individually. */
static void *send_signals(void *arg)
{
	struct random random = random_new(1);
	const union sigval value = { .sival_ptr = arg };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (!pthread_sigqueue(*(pthread_t *)arg, SIGRTMIN + (int)random_below(&random, 3),
				      value))
			__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
		if (random_percent(&random, 50))
			usleep((useconds_t)random_below(&random, 100));
	}
	return NULL;
}

TEST(every_signal_is_handled_once)
{
	int rounds = times(2000, 100000);
	pthread_t self = pthread_self();
	struct batch_slot calls[SLOTS];
	long want[SLOTS];
	long rets[SLOTS];
	pthread_t sender;
	sigset_t none;
	long last;

	patience(600);
	file = memory_file();
	make_program(calls);
	forget(want);
	last = ferry_loop(want, calls, SLOTS);
	catch_signal(SIGRTMIN, SA_RESTART);
	catch_signal(SIGRTMIN + 1, 0);
	catch_signal(SIGRTMIN + 2, SA_RESTART | SA_NODEFER);
	sender = thread_start(send_signals, &self);
	while (rounds-- > 0 || __atomic_load_n(&sent, __ATOMIC_RELAXED) < ENOUGH) {
		forget(rets);
		expect_equal(run_checked(rets, calls, SLOTS), last);
		expect_bytes(rets, want, sizeof(want));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(sender, NULL);
	sigemptyset(&none);
	expect(!sigpending(&none));
	expect_equal(handled, sent);
}

/* ---- signals in calls that wait ---- */

#define WAITS 30

TEST(calls_that_wait_end_as_they_would_alone)
{
	static const struct timespec moment = { 0, 200000 };
	int rounds = times(50, 2000);
	pthread_t self = pthread_self();
	struct batch_slot calls[WAITS];
	struct pollfd nothing;
	long rets[WAITS];
	pthread_t sender;
	int ends[2];
	int i;

	patience(600);
	expect(!pipe2(ends, O_CLOEXEC));
	nothing = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	for (i = 0; i < WAITS; i += 3) {
		calls[i] = SLOT(SYS_nanosleep, &moment, NULL);
		calls[i + 1] = SLOT(SYS_ppoll, &nothing, 1, &moment, NULL, 8);
		calls[i + 2] = SLOT(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
	}
	catch_signal(SIGRTMIN, SA_RESTART);
	catch_signal(SIGRTMIN + 1, 0);
	catch_signal(SIGRTMIN + 2, SA_RESTART);
	sender = thread_start(send_signals, &self);
	while (rounds-- > 0 || __atomic_load_n(&sent, __ATOMIC_RELAXED) < ENOUGH) {
		expect_equal(run_checked(rets, calls, WAITS), WAITS - 1);
		for (i = 0; i < WAITS; i++)
			expect(rets[i] == 0 || rets[i] == -EINTR);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(sender, NULL);
	expect_equal(handled, sent);
}

/* ---- a stop in a call that continues where it was ---- */

static int ready[2];

/* Its own filter allows neither another batch nor an ioctl of the module. */
static void sleep_confined(void *arg)
{
	static const int numbers[] = { FERRY_NR_BATCH, SYS_ioctl };
	struct filter filter;
	const struct batch_slot calls[] = {
		SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program),
		SLOT(SYS_write, ready[1], "r", 1),
		SLOT(SYS_nanosleep, arg, NULL),
		SLOT(SYS_getpid),
	};
	long rets[5];

	filter_make(&filter, numbers, 2, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
	expect_equal(ferry_batch_on(engine, rets, calls, 5, 0, 0), 4);
	expect_equal(rets[3], 0);
	expect_equal(rets[4], getpid());
}

/* A call made again from the start would find an invalid time. */
TEST(a_sleep_goes_on_after_a_stop_without_another_batch)
{
	struct timespec *time =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	char byte;
	pid_t pid;

	expect(time != MAP_FAILED);
	expect(!pipe2(ready, O_CLOEXEC));
	time->tv_sec = 1;
	pid = child_start(sleep_confined, time);
	expect_equal(read(ready[0], &byte, 1), 1);
	expect_asleep(pid);
	time->tv_nsec = -1;
	kill(pid, SIGSTOP);
	expect_equal(waitpid(pid, &status, WUNTRACED), pid);
	expect(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
}

/* ---- handlers that tamper ---- */

static struct random tamper_random;
static struct batch_args *tampered;

/* The arguments hold the state in which the batch will continue. */
static void tamper(int sig)
{
	__u64 *words = (__u64 *)tampered;
	const size_t count = sizeof(*tampered) / sizeof(*words);

	(void)sig;
	if (random_percent(&tamper_random, 50))
		words[random_below(&tamper_random, count)] = random_word(&tamper_random);
	else
		tampered->state = random_below(&tamper_random, BATCH_ANSWER + 2);
	if (random_percent(&tamper_random, 20))
		tampered->position = random_below(&tamper_random, 2L * SLOTS);
	/* What it makes the kernel call is to be harmless to the test. */
	tampered->slot.nr = SYS_getpid;
}

static void be_tampered_with(void *arg)
{
	const struct sigaction action = { .sa_handler = tamper };
	const struct guarded batch = guarded_new(SLOTS, AT_END);
	const long nr = engine == FERRY_DEVICE ? SYS_ioctl : FERRY_NR_BATCH;
	struct batch_args args;
	int fd, i;

	tamper_random = random_new(*(uint64_t *)arg);
	tampered = &args;
	fd = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	expect(!sigaction(SIGUSR1, &action, NULL));
	for (i = 0; i < SLOTS; i++)
		batch.calls[i] = i % 8 == 3 ? SLOT(SYS_kill, getpid(), SIGUSR1) : SLOT(SYS_getpid);
	for (i = 0; i < 20; i++) {
		ferry_batch_begin(&args, batch.rets, batch.calls, SLOTS);
		if (nr == SYS_ioctl)
			ferry_batchcall_raw(nr, fd, (long)FERRY_IOC_BATCH, (long)&args);
		else
			ferry_batchcall_raw(nr, (long)&args, sizeof(args), 0);
	}
	expect_guards(__FILE__, __LINE__, &batch);
}

/* It may make its own batch continue elsewhere or fail, but harm nothing else. */
TEST(a_handler_that_changes_the_state_harms_only_itself)
{
	uint64_t rounds = (uint64_t)times(100, 5000);
	int status;

	patience(600);
	while (rounds--) {
		status = in_child(be_tampered_with, &rounds);
		expect(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
	}
}
