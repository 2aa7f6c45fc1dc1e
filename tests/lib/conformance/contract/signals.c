// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Signals: between slots, in calls that wait, in handlers that run batches, and fatal ones. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

#include "suite.h"
#include "workload.h"

static int seen;       /* signals handled */
static int wake_after; /* at this signal the handler writes a byte to wake_fd */
static int wake_fd;

static void handle(int sig)
{
	(void)sig;
	seen++;
	if (seen == wake_after)
		(void)!write(wake_fd, "w", 1);
}

static void catch_signal(int sig, int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	expect(!sigaction(sig, &action, NULL));
}

/* SIGALRM every USEC microseconds: it is sure to interrupt a call that waits. */
static void tick_every(long usec)
{
	const struct itimerval timer = { { 0, usec }, { 0, usec } };

	expect(!setitimer(ITIMER_REAL, &timer, NULL));
}

static void tick_once(long usec)
{
	const struct itimerval timer = { { 0, 0 }, { 0, usec } };

	expect(!setitimer(ITIMER_REAL, &timer, NULL));
}

static void empty_pipe(int ends[2])
{
	expect(!pipe2(ends, O_CLOEXEC));
}

/* ---- calls that wait ---- */

TEST(a_handler_without_sa_restart_ends_a_read_and_the_batch_goes_on)
{
	int ends[2];
	char byte;

	empty_pipe(ends);
	catch_signal(SIGALRM, 0);
	struct batch_slot calls[] = { jumping(SLOT(SYS_read, ends[0], &byte, 1), 1, -1, -1),
				      result_of(1), result_of(2), SLOT(SYS_read, ends[0], &byte, 1),
				      SLOT(SYS_getpid) };
	tick_every(2000);
	expect_batch(calls, 4, -EINTR, UNTOUCHED, 2, -EINTR, getpid());
	expect(seen >= 2);
}

TEST(a_handler_with_sa_restart_lets_a_read_go_on)
{
	int ends[2];
	char byte;

	empty_pipe(ends);
	wake_fd = ends[1];
	wake_after = 5;
	catch_signal(SIGALRM, SA_RESTART);
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_read, ends[0], &byte, 1),
				      result_of(2) };
	tick_every(2000);
	expect_batch(calls, 2, getpid(), 1, 2);
	expect(seen >= 5);
	expect_equal(byte, 'w');
}

/* Calls that end with -EINTR after a handler, SA_RESTART or not (signal(7)). */
static void interrupt_the_rest(void *arg)
{
	const int flags = *(int *)arg;
	const struct timespec long_time = { 1000, 0 };
	struct timespec rest = { 0, 0 };
	struct timespec rests = { 0, 0 };
	struct pollfd nothing;
	struct epoll_event event;
	sigset_t none;
	sigset_t now;
	int futex = 0;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int ends[2];

	empty_pipe(ends);
	sigemptyset(&none);
	nothing = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	catch_signal(SIGALRM, flags);
	struct batch_slot calls[] = {
		SLOT(SYS_nanosleep, &long_time, &rest),
		SLOT(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, &rests),
		SLOT(SYS_ppoll, &nothing, 1, NULL, &none, 8),
		SLOT(SYS_ppoll, &nothing, 1, &long_time, NULL, 8),
		SLOT(SYS_epoll_pwait, epoll, &event, 1, -1, &none, 8),
		SLOT(SYS_pselect6, 0, 0, 0, 0, 0, 0),
		SLOT(SYS_rt_sigsuspend, &none, 8),
		SLOT(SYS_rt_sigtimedwait, &none, 0, &long_time, 8),
		SLOT(SYS_futex, &futex, 0, 0, &long_time, 0, 0),
		SLOT(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8),
		SLOT(SYS_getpid),
	};
	/* Only a futex with a timeout continues after SA_RESTART: it waits for the rest. */
	if (flags & SA_RESTART)
		calls[8] = SLOT(SYS_futex, &futex, 0, 1, &long_time, 0, 0);
	tick_every(2000);
	expect_batch(calls, 10, -EINTR, -EINTR, -EINTR, -EINTR, -EINTR, -EINTR, -EINTR, -EINTR,
		     flags & SA_RESTART ? -EAGAIN : -EINTR, 0, getpid());
	/* All of it, and the timer's slack, if the signal came before the sleep. */
	expect(rest.tv_sec == 999 || rest.tv_sec == 1000);
	expect(rests.tv_sec == 999 || rests.tv_sec == 1000);
	expect_equal(sigismember(&now, SIGALRM), 0);
}

TEST(calls_that_are_never_restarted_give_eintr)
{
	int flags = 0;

	expect_child(interrupt_the_rest, &flags);
	flags = SA_RESTART;
	expect_child(interrupt_the_rest, &flags);
}

#define STORM 1500

static void weather_a_storm(void *arg)
{
	static const struct timespec moment = { 0, 30000 };
	static struct timespec left[STORM]; /* ppoll changes its timeout */
	struct guarded batch = guarded_new(STORM, AT_END);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	char byte;
	int i;

	empty_pipe(ends);
	catch_signal(SIGALRM, *(int *)arg);
	for (i = 0; i < STORM; i++) {
		left[i] = moment;
		switch (i % 5) {
		case 0:
			batch.calls[i] = SLOT(SYS_nanosleep, &moment, NULL);
			break;
		case 1:
			batch.calls[i] = SLOT(SYS_ppoll, NULL, 0, &left[i], NULL, 8);
			break;
		case 2:
			batch.calls[i] = SLOT(SYS_getpid);
			break;
		case 3:
			batch.calls[i] = SLOT(SYS_ppoll, &(struct pollfd){ .fd = ends[0] }, 0,
					      &left[i], NULL, 8);
			break;
		default:
			batch.calls[i] = i < STORM / 2 ? SLOT(SYS_write, null, &byte, 1) :
							 SLOT(SYS_read, null, &byte, 1);
		}
	}
	tick_every(300);
	expect_equal(run_batch(batch.rets, batch.calls, STORM), STORM - 1);
	tick_every(0);
	for (i = 0; i < STORM; i++) {
		if (i % 5 == 2)
			expect_equal(batch.rets[i], getpid());
		else if (i % 5 == 4)
			expect_equal(batch.rets[i], i < STORM / 2);
		else
			expect(batch.rets[i] == 0 || batch.rets[i] == -EINTR);
	}
	expect(seen > 10);
}

TEST(a_storm_of_timers_shows_no_internal_error)
{
	int flags = 0;

	expect_child(weather_a_storm, &flags);
	flags = SA_RESTART;
	expect_child(weather_a_storm, &flags);
}

/* ---- between slots ---- */

TEST(a_signal_is_handled_before_the_next_slot)
{
	int file = memory_file();
	int counts[4];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	catch_signal(SIGUSR1, SA_RESTART);
	struct batch_slot calls[] = {
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_write, file, &seen, 4), /* 1 */
		SLOT(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8),
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_write, file, &seen, 4), /* still 1 */
		SLOT(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8),
		SLOT(SYS_write, file, &seen, 4), /* 2 */
		SLOT(SYS_tgkill, getpid(), gettid(), SIGUSR1),
		SLOT(SYS_write, file, &seen, 4), /* 3 */
	};
	expect_batch(calls, 8, 0, 4, 0, 0, 4, 0, 4, 0, 4);
	expect_equal(pread(file, counts, sizeof(counts), 0), sizeof(counts));
	expect_equal(counts[0], 1);
	expect_equal(counts[1], 1);
	expect_equal(counts[2], 2);
	expect_equal(counts[3], 3);
}

/* 100 reads of 4 MiB take many ticks; delivered at the end, these would be one signal. */
TEST(signals_are_handled_between_long_reads)
{
	const size_t size = 4 << 20;
	int file = disk_file();
	unsigned char *bytes = malloc(size);
	struct batch_slot calls[100];
	long results[100];
	int i;

	expect(bytes);
	memset(bytes, 1, size);
	expect_equal(write(file, bytes, size), size);
	for (i = 0; i < 100; i++) {
		calls[i] = SLOT(SYS_pread64, file, bytes, size, 0);
		results[i] = (long)size;
	}
	catch_signal(SIGALRM, SA_RESTART);
	tick_every(1000);
	expect_run(calls, 100, results);
	expect(seen >= 5);
	free(bytes);
}

static long *handler_target;
static long handler_value;

static void rewrite(int sig)
{
	(void)sig;
	*handler_target = handler_value;
}

TEST(a_handler_may_rewrite_the_slots_to_come)
{
	struct sigaction action = { .sa_handler = rewrite };
	struct guarded batch = guarded_new(3, AT_END);
	const long results[] = { 0, getpid(), 3 };

	sigaction(SIGUSR1, &action, NULL);
	batch.calls[0] = SLOT(SYS_kill, getpid(), SIGUSR1);
	batch.calls[1] = SLOT(-1);
	batch.calls[2] = result_of(3);
	handler_target = (long *)&batch.calls[1];
	handler_value = head_word(SLOT(SYS_getpid));
	expect_equal(run_batch(batch.rets, batch.calls, 3), 2);
	expect_rets(&batch, results);
}

/* ---- batches in handlers ---- */

static int inner_file;
static int inner_wrong;
static int inner_count;

static void run_inner(int sig)
{
	struct batch_slot calls[64];
	long rets[64];
	int i;

	(void)sig;
	for (i = 0; i < 64; i++)
		calls[i] = SLOT(SYS_pwrite64, inner_file, "inner", 5, 5 * i);
	calls[63] = SLOT(SYS_getpid);
	if (run_batch(rets, calls, 64) != 63)
		inner_wrong++;
	for (i = 0; i < 63; i++)
		inner_wrong += rets[i] != 5;
	inner_wrong += rets[63] != getpid();
	inner_count++;
}

static void run_in_handler_of(int sig, int flags)
{
	struct sigaction action = { .sa_handler = run_inner, .sa_flags = flags };

	inner_file = memory_file();
	expect(!sigaction(sig, &action, NULL));
}

static void nest_on_kill(void *arg)
{
	int file = memory_file();
	struct batch_slot calls[128];
	long results[128];
	int i;

	(void)arg;
	run_in_handler_of(SIGUSR1, 0);
	for (i = 0; i < 128; i++) {
		calls[i] = SLOT(SYS_write, file, pattern(128) + i, 1);
		results[i] = 1;
	}
	for (i = 30; i < 128; i += 30) {
		calls[i] = SLOT(SYS_kill, getpid(), SIGUSR1);
		results[i] = 0;
	}
	expect_run(calls, 128, results);
	expect_equal(inner_count, 4);
	expect_equal(inner_wrong, 0);
	expect_equal(lseek(file, 0, SEEK_END), 124);
}

/* A write in the middle of a run raises the signal. */
static void nest_on_sigpipe(void *arg)
{
	struct batch_slot calls[96];
	long results[96];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int ends[2];
	int i;

	(void)arg;
	empty_pipe(ends);
	close(ends[0]);
	run_in_handler_of(SIGPIPE, 0);
	for (i = 0; i < 96; i++) {
		calls[i] = SLOT(SYS_write, i % 8 ? null : ends[1], "xy", 2);
		results[i] = i % 8 ? 2 : -EPIPE;
	}
	expect_run(calls, 96, results);
	expect_equal(inner_count, 12);
	expect_equal(inner_wrong, 0);
}

static void nest_on_timer(void *arg)
{
	int file = memory_file();
	struct batch_slot calls[256];
	long results[256];
	static unsigned char got[256];
	int ticks = -1;
	int i;

	(void)arg;
	run_in_handler_of(SIGALRM, SA_RESTART);
	for (i = 0; i < 256; i++) {
		calls[i] = SLOT(SYS_pwrite64, file, pattern(256) + i, 1, i);
		results[i] = 1;
	}
	/* A periodic timer could keep a slow machine in the handler. */
	while (inner_count < 60) {
		if (ticks < inner_count) {
			ticks = inner_count;
			tick_once(500);
		}
		expect_run(calls, 256, results);
	}
	expect_equal(inner_wrong, 0);
	expect_equal(pread(file, got, 256, 0), 256);
	expect_bytes(got, pattern(256), 256);
}

TEST(a_handler_may_run_a_batch)
{
	expect_child(nest_on_kill, NULL);
	expect_child(nest_on_sigpipe, NULL);
	expect_child(nest_on_timer, NULL);
}

/* ---- handlers that do not return ---- */

static sigjmp_buf outside;

static void jump_out(int sig)
{
	(void)sig;
	siglongjmp(outside, 1);
}

TEST(a_handler_may_leave_the_batch_by_longjmp)
{
	struct sigaction action = { .sa_handler = jump_out };
	struct batch_slot calls[40];
	long rets[40];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	static int left;
	int ends[2];
	char byte;
	int i;

	empty_pipe(ends);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
	for (i = 0; i < 40; i++)
		calls[i] = SLOT(SYS_write, null, "x", 1);
	calls[39] = SLOT(SYS_read, ends[0], &byte, 1);
	sigsetjmp(outside, 1);
	if (left++ < 20) {
		tick_once(1000);
		run_batch(rets, calls, 40);
	}
	expect_equal(left, 21);
	/* The next read gets the byte. */
	expect_equal(write(ends[1], "b", 1), 1);
	run_writes();
	expect_equal(read(ends[0], &byte, 1), 1);
	/* From the middle of a run of writes. */
	close(ends[0]);
	calls[20] = SLOT(SYS_write, ends[1], "x", 1);
	left = 0;
	sigsetjmp(outside, 1);
	if (left++ < 20)
		run_batch(rets, calls, 40);
	for (i = 0; i < 100; i++)
		run_writes();
}

TEST(no_slot_runs_after_a_handler_that_leaves_by_longjmp)
{
	struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_kill, getpid(), SIGUSR1),
				      SLOT(SYS_getpid) };
	long rets[] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };

	signal(SIGUSR1, jump_out);
	if (!sigsetjmp(outside, 1)) {
		run_batch(rets, calls, 3);
		expect(!"the handler leaves the batch");
	}
	expect_equal(rets[0], getpid());
	expect_equal(rets[2], UNTOUCHED);
	expect_equal(run_batch(rets, calls, 1), 0);
}

/* ---- fatal, stopping ---- */

struct waiter {
	int ready[2];
	int never[2];
};

/* Reports that it is ready, then waits for ever, in one batch. */
static void wait_for_ever(void *arg)
{
	const struct waiter *waiter = arg;
	char byte;
	struct batch_slot calls[] = { SLOT(SYS_write, waiter->ready[1], "r", 1),
				      SLOT(SYS_read, waiter->never[0], &byte, 1),
				      SLOT(SYS_write, waiter->ready[1], "!", 1) };
	long rets[3];

	run_batch(rets, calls, 3);
}

static void kill_while_waiting(int sig)
{
	struct waiter waiter;
	char byte;
	int status;
	pid_t pid;

	empty_pipe(waiter.ready);
	empty_pipe(waiter.never);
	pid = child_start(wait_for_ever, &waiter);
	expect_equal(read(waiter.ready[0], &byte, 1), 1);
	kill(pid, sig);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	/* Nothing ran afterwards. */
	close(waiter.ready[1]);
	expect_equal(read(waiter.ready[0], &byte, 1), 0);
	close(waiter.ready[0]);
	close(waiter.never[0]);
	close(waiter.never[1]);
}

TEST(fatal_signals_end_the_batch_at_once)
{
	kill_while_waiting(SIGKILL);
	kill_while_waiting(SIGTERM);
}

static void kill_itself(void *arg)
{
	int file = *(int *)arg;
	struct batch_slot calls[] = { SLOT(SYS_write, file, "a", 1),
				      SLOT(SYS_kill, getpid(), SIGKILL),
				      SLOT(SYS_write, file, "b", 1) };
	long rets[3];

	run_batch(rets, calls, 3);
}

TEST(no_slot_runs_after_a_fatal_signal)
{
	int file = memory_file();

	expect_killed(kill_itself, &file, SIGKILL);
	expect_equal(lseek(file, 0, SEEK_END), 1);
	close(file);
}

struct sleeper {
	int ready; /* a pipe, which gets a byte ahead of each sleep */
	int ms;
};

static long ms_between(const struct timespec *from, const struct timespec *to)
{
	return ((to->tv_sec - from->tv_sec) * 1000000000 + to->tv_nsec - from->tv_nsec) / 1000000;
}

/* Sleeps twice; each sleep is stopped and continued. */
static void sleep_through_stops(void *arg)
{
	const struct sleeper *sleeper = arg;
	const struct timespec time = { sleeper->ms / 1000, sleeper->ms % 1000 * 1000000L };
	struct timespec before;
	struct timespec between;
	struct timespec after;
	int ready = sleeper->ready;
	struct batch_slot calls[] = {
		SLOT(SYS_clock_gettime, CLOCK_MONOTONIC, &before),
		SLOT(SYS_write, ready, "r", 1),
		SLOT(SYS_nanosleep, &time, NULL),
		SLOT(SYS_clock_gettime, CLOCK_MONOTONIC, &between),
		SLOT(SYS_write, ready, "r", 1),
#ifdef SYS_poll
		SLOT(SYS_poll, NULL, 0, sleeper->ms),
#else
		SLOT(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL),
#endif
		SLOT(SYS_clock_gettime, CLOCK_MONOTONIC, &after),
	};

	expect_batch(calls, 6, 0, 1, 0, 0, 1, 0, 0);
	expect(ms_between(&before, &between) >= sleeper->ms);
	expect(ms_between(&between, &after) >= sleeper->ms);
}

static void stop(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	expect_equal(waitpid(pid, &status, WUNTRACED), pid);
	expect(WIFSTOPPED(status));
}

/* Returns whether each stop came while the child was there to be stopped. */
static int stop_sleeps_of(int ms)
{
	struct sleeper sleeper = { .ms = ms };
	int status = 0;
	int ready[2];
	char byte;
	pid_t pid;
	int i;

	empty_pipe(ready);
	sleeper.ready = ready[1];
	pid = child_start(sleep_through_stops, &sleeper);
	close(ready[1]);
	for (i = 0; i < 2; i++) {
		expect_equal(read(ready[0], &byte, 1), 1);
		kill(pid, SIGSTOP);
		expect_equal(waitpid(pid, &status, WUNTRACED), pid);
		if (!WIFSTOPPED(status))
			break;
		kill(pid, SIGCONT);
	}
	close(ready[0]);
	if (i == 2)
		expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
	return i == 2;
}

TEST(calls_that_wait_go_on_after_a_stop)
{
	int ms = 60;

	while (!stop_sleeps_of(ms)) {
		ms *= 4;
		expect(ms < 60000); /* a machine that is so busy tests nothing */
	}
}

static void read_byte(void *arg)
{
	char byte;
	struct batch_slot calls[] = { SLOT(SYS_read, *(int *)arg, &byte, 1) };

	expect_batch(calls, 0, 1);
}

TEST(a_read_goes_on_after_stops)
{
	int status, ends[2];
	pid_t pid;
	int i;

	empty_pipe(ends);
	pid = child_start(read_byte, &ends[0]);
	for (i = 0; i < 3; i++) {
		wait_until_asleep(pid);
		stop(pid);
		kill(pid, SIGCONT);
	}
	expect_equal(write(ends[1], "x", 1), 1);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect_equal(status, 0);
}

#define STOPPED_MS 500

static void sleep_for_long(void *rest)
{
	const struct timespec time = { 1000, 0 };
	struct batch_slot call = SLOT(SYS_nanosleep, &time, rest);
	long ret;

	run_batch(&ret, &call, 1);
}

/* The time that nanosleep() has left whenever a stop interrupts it, in ms. */
static long rest_at_stop(pid_t pid, const struct timespec *rest)
{
	wait_until_asleep(pid);
	stop(pid);
	return rest->tv_sec * 1000 + rest->tv_nsec / 1000000;
}

TEST(a_stop_does_not_lengthen_a_sleep)
{
	struct timespec *rest =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before, after;
	int status;
	pid_t pid;

	expect(rest != MAP_FAILED);
	pid = child_start(sleep_for_long, rest);
	before = rest_at_stop(pid, rest);
	usleep(STOPPED_MS * 1000);
	kill(pid, SIGCONT);
	after = rest_at_stop(pid, rest);
	expect(after > 0 && after <= before - STOPPED_MS);
	kill(pid, SIGKILL);
	expect_equal(waitpid(pid, &status, 0), pid);
}
