// SPDX-License-Identifier: MIT
/* Tests <ferry_flexsc.h> on runners in user space and, if available, in the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <ferry_flexsc.h>

#include "tests/lib/unit/child.h"
#include "tests/lib/unit/thread_count.h"
#include "fixture.h"

#define MANY 2000

#ifdef UNDER_THREAD_SANITIZER
/* Children may start threads. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

#endif

static struct ferry_flexsc *start(const struct ferry_flexsc_options *options)
{
	struct ferry_flexsc *flexsc;

	assert_int_equal(ferry_flexsc_start(&flexsc, options), 0);
	return flexsc;
}

static int with_two_runners(void **state)
{
	static const struct ferry_flexsc_options two = { .runners = 2, .entries = 256 };

	*state = start(&two);
	return 0;
}

/* ---- options ---- */

static void options_out_of_range_are_refused(void **state)
{
	static const int no_cpu[] = { CPU_SETSIZE - 1 }, beyond[] = { CPU_SETSIZE };
	static const struct ferry_flexsc_options bad[] = {
		{ .runners = FERRY_FLEXSC_MAX_RUNNERS + 1 },
		{ .entries = 32 },
		{ .entries = 96 },
		{ .entries = 8192 },
		{ .spin_ns = -2 },
		{ .flags = 2 },
		{ .standins = FERRY_FLEXSC_MAX_STANDINS + 1 },
		{ .cpus = no_cpu },
		{ .cpus = beyond },
	};
	struct ferry_flexsc *flexsc;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ferry_flexsc_start(&flexsc, &bad[i]), -EINVAL);
	ferry_flexsc_stop(NULL);
}

/* ---- single calls ---- */

static void results_are_those_of_plain_calls(void **state)
{
	const long bad_fd[] = { -1 };

	assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 0), getpid());
	assert_int_equal(ferry_flexsc_call(*state, SYS_close, bad_fd, 1), -EBADF);
	assert_int_equal(ferry_flexsc_call(*state, 511, NULL, 0), -ENOSYS);
	assert_int_equal(ferry_flexsc_call(*state, 100000, NULL, 0), -ENOSYS);
	assert_int_equal(ferry_flexsc_call(*state, -1, NULL, 0), -ENOSYS);
	assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 7), -EINVAL);
}

static void blocked_calls_are_never_made(void **state)
{
	assert_int_equal(ferry_flexsc_call(*state, SYS_exit_group, (const long[]){ 3 }, 1),
			 -ENOSYS);
	assert_int_equal(ferry_flexsc_call(*state, SYS_rt_sigreturn, NULL, 0), -ENOSYS);
}

/* The name of the thread that opened it. */
static void read_opener(struct ferry_flexsc *flexsc, char name[], size_t size)
{
	const long args[] = { (long)"/proc/thread-self/comm", O_RDONLY, 0 };
	long fd = ferry_flexsc_call(flexsc, SYS_open, args, 3);
	ssize_t length;

	assert_true(fd >= 0);
	length = read((int)fd, name, size - 1);
	assert_true(length > 0);
	name[length] = '\0';
	close((int)fd);
}

/* Not each of them: on a busy machine a caller that waits long makes the call itself. */
static void posted_calls_are_made_by_another_thread(void **state)
{
	static const struct ferry_flexsc_options unconfined = { .flags = FERRY_FLEXSC_UNCONFINED };
	struct ferry_flexsc *flexsc = start(&unconfined);
	char name[64] = "";
	int i;

	(void)state;

	for (i = 0; i < 1000 && strcmp(name, "ferry-runner\n") != 0; i++)
		read_opener(flexsc, name, sizeof(name));
	assert_string_equal(name, "ferry-runner\n");
	ferry_flexsc_stop(flexsc);
}

static void a_call_is_polled_and_waited_for_once(void **state)
{
	long ticket = ferry_flexsc_post(*state, SYS_getppid, NULL, 0), result = 0;

	assert_true(ticket >= 0);
	while (!ferry_flexsc_poll(*state, ticket, &result))
		;
	assert_int_equal(result, getppid());
	ticket = ferry_flexsc_post(*state, SYS_gettid, NULL, 0);
	assert_int_equal(ferry_flexsc_wait(*state, ticket), gettid());
}

/* As when the error of a post that failed is taken for a ticket. */
static void what_is_no_ticket_is_refused(void **state)
{
	static const long none[] = { -EAGAIN, LONG_MIN, 1000000, LONG_MAX };
	long result;
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(ferry_flexsc_poll(*state, none[i], &result), 0);
		assert_int_equal(ferry_flexsc_wait(*state, none[i]), -EINVAL);
	}
}

static void posts_fail_while_all_entries_are_in_use(void **state)
{
	long tickets[4096], count = 0, i, ticket;

	while ((ticket = ferry_flexsc_post(*state, SYS_getpid, NULL, 0)) >= 0)
		tickets[count++] = ticket;
	assert_int_equal(ticket, -EAGAIN);
	assert_int_equal(count, 128);
	assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 0), getpid());
	for (i = 0; i < count; i++)
		assert_int_equal(ferry_flexsc_wait(*state, tickets[i]), getpid());
	ticket = ferry_flexsc_post(*state, SYS_getpid, NULL, 0);
	assert_int_equal(ferry_flexsc_wait(*state, ticket), getpid());
}

static void a_batch_can_be_posted(void **state)
{
	const struct batch_slot calls[] = {
		{ .nr = SYS_getpid },
		{ .nr = SYS_close, .argc = 1, .arg = { -1 } },
	};
	long rets[2] = { 0 };
	long ticket = ferry_flexsc_post_batch(*state, rets, calls, 2);

	assert_int_equal(ferry_flexsc_wait(*state, ticket), 1);
	assert_int_equal(rets[0], getpid());
	assert_int_equal(rets[1], -EBADF);
}

static void a_batch_with_calls_of_the_thread_is_run_by_the_thread(void **state)
{
	const struct batch_slot calls[] = { { .nr = SYS_gettid } };
	long rets[1];
	long ticket = ferry_flexsc_post_batch(*state, rets, calls, 1);

	assert_int_equal(ferry_flexsc_wait(*state, ticket), 0);
	assert_int_equal(rets[0], gettid());
}

static void *wait_for_calls(void *state)
{
	long i;

	for (i = 0; i < MANY; i++)
		if (ferry_flexsc_call(state, SYS_getpid, NULL, 0) != getpid())
			return "a wrong result";
	return NULL;
}

static void any_thread_may_call(void **state)
{
	pthread_t threads[4];
	void *complaint;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, wait_for_calls, *state);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &complaint);
		assert_null(complaint);
	}
}

/* The runner is in a read that only the second call, which waits behind it, can end. */
static void a_call_behind_one_that_blocks_is_made_by_the_waiter(void **state)
{
	int fds[2];
	char byte = 0;
	long reading, result;

	assert_int_equal(pipe(fds), 0);
	reading = ferry_flexsc_post(*state, SYS_read, (const long[]){ fds[0], (long)&byte, 1 }, 3);
	result = ferry_flexsc_call(*state, SYS_write, (const long[]){ fds[1], (long)"x", 1 }, 3);
	assert_int_equal(result, 1);
	assert_int_equal(ferry_flexsc_wait(*state, reading), 1);
	assert_int_equal(byte, 'x');
	close(fds[0]);
	close(fds[1]);
}

/* Nobody waits for the second call, so it is polling that has it made by another runner. */
static void a_polled_call_behind_one_that_blocks_is_made(void **state)
{
	struct timespec a_while = { 0, 1000000 };
	long reading, behind, result = 0;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	reading = ferry_flexsc_post(*state, SYS_read, (const long[]){ fds[0], (long)&byte, 1 }, 3);
	nanosleep(&a_while, NULL);
	behind = ferry_flexsc_post(*state, SYS_getpid, NULL, 0);
	while (!ferry_flexsc_poll(*state, behind, &result))
		;
	assert_int_equal(result, getpid());
	assert_int_equal(ferry_flexsc_wait(*state, behind), -EINVAL);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(ferry_flexsc_wait(*state, reading), 1);
	close(fds[0]);
	close(fds[1]);
}

/* ---- calls made by the calling thread ---- */

/* If the runner made these, they would return or change something of another thread. */
static void calls_of_the_thread_are_made_by_the_thread(void **state)
{
	unsigned long mask = 1UL << (SIGUSR1 - 1), before = 0, after = 0;
	const long block[] = { SIG_BLOCK, (long)&mask, (long)&before, 8 };
	const long look[] = { SIG_BLOCK, 0, (long)&after, 8 };
	char name[16] = "", own[16] = "";
	stack_t stack = { .ss_flags = SS_DISABLE };

	assert_int_equal(ferry_flexsc_call(*state, SYS_gettid, NULL, 0), gettid());
	assert_int_equal(ferry_flexsc_call(*state, SYS_rt_sigprocmask, block, 4), 0);
	assert_int_equal(syscall(SYS_rt_sigprocmask, look[0], look[1], look[2], look[3]), 0);
	assert_int_equal(after, before | mask);
	assert_int_equal(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, 8), 0);
	prctl(PR_GET_NAME, own);
	ferry_flexsc_call(*state, SYS_prctl, (const long[]){ PR_GET_NAME, (long)name }, 2);
	assert_string_equal(name, own);
	assert_int_equal(
		ferry_flexsc_call(*state, SYS_sigaltstack, (const long[]){ 0, (long)&stack }, 2),
		0);
}

/* ---- stand-ins ---- */

#define LOCKED 20

/* Polls COUNT tickets again and again until all calls are done. */
static void poll_all(struct ferry_flexsc *flexsc, long tickets[], int count, long expected)
{
	int left = count, i;
	long result;

	while (left) {
		for (i = 0; i < count; i++) {
			if (tickets[i] < 0 || !ferry_flexsc_poll(flexsc, tickets[i], &result))
				continue;
			assert_int_equal(result, expected);
			tickets[i] = -1;
			left--;
		}
	}
}

/* Each call waits for the same lock; each one that is polled behind another takes a stand-in. */
static void block_runners(struct ferry_flexsc *flexsc, const char *path)
{
	const int before = threads_of_process();
	long tickets[LOCKED], result;
	int fds[LOCKED + 1], i;

	for (i = 0; i <= LOCKED; i++)
		assert_true((fds[i] = open(path, O_RDWR | O_CLOEXEC)) >= 0);
	assert_int_equal(flock(fds[LOCKED], LOCK_EX), 0);
	for (i = 0; i < LOCKED; i++)
		tickets[i] =
			ferry_flexsc_post(flexsc, SYS_flock, (const long[]){ fds[i], LOCK_SH }, 2);
	while (threads_of_process() < before + LOCKED - 1)
		for (i = 0; i < LOCKED; i++)
			assert_int_equal(ferry_flexsc_poll(flexsc, tickets[i], &result), 0);
	flock(fds[LOCKED], LOCK_UN);
	poll_all(flexsc, tickets, LOCKED, 0);
	for (i = 0; i <= LOCKED; i++)
		close(fds[i]);
}

static void stand_ins_end_when_they_are_idle(void **state)
{
	char path[] = "/tmp/ferry-flexsc-XXXXXX";
	const struct timespec moment = { 0, 10000000 };
	int before = threads_of_process(), fd = mkstemp(path), round, i;
	long used = 0;

	if (ferry_flexsc_in_kernel(*state))
		skip();
	for (round = 0; round < 3; round++) {
		block_runners(*state, path);
		for (i = 0; i < 2000 && threads_of_process() > before; i++)
			nanosleep(&moment, NULL);
		assert_int_equal(threads_of_process(), before);
		assert_true(ferry_flexsc_cpu_ns(*state) > used);
		used = ferry_flexsc_cpu_ns(*state);
	}
	close(fd);
	unlink(path);
}

/* ---- waiting for what another thread has posted ---- */

struct shared_ticket {
	struct ferry_flexsc *flexsc;
	long ticket, result;
};

static void *wait_for_other(void *argument)
{
	struct shared_ticket *shared = argument;

	prctl(PR_SET_NAME, "waiter");
	shared->result = ferry_flexsc_wait(shared->flexsc, shared->ticket);
	return NULL;
}

/* The waiter might have more rights than the poster, so another runner makes the call. */
static void a_call_behind_one_that_blocks_is_not_made_by_another_waiter(void **state)
{
	static const struct ferry_flexsc_options unconfined = { .flags = FERRY_FLEXSC_UNCONFINED };
	const long args[] = { AT_FDCWD, (long)"/proc/thread-self/comm", O_RDONLY, 0 };
	struct shared_ticket shared = { .flexsc = start(&unconfined) };
	char byte, name[32] = "";
	pthread_t waiter;
	long reading;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	reading = ferry_flexsc_post(shared.flexsc, SYS_read,
				    (const long[]){ fds[0], (long)&byte, 1 }, 3);
	shared.ticket = ferry_flexsc_post(shared.flexsc, SYS_openat, args, 4);
	pthread_create(&waiter, NULL, wait_for_other, &shared);
	pthread_join(waiter, NULL);
	assert_true(shared.result >= 0);
	assert_true(read((int)shared.result, name, sizeof(name) - 1) > 0);
	assert_string_equal(name, "ferry-runner\n");
	close((int)shared.result);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(ferry_flexsc_wait(shared.flexsc, reading), 1);
	close(fds[0]);
	close(fds[1]);
	ferry_flexsc_stop(shared.flexsc);
}

/* ---- sleeping ---- */

/* The limit is 50 us; a runner that kept spinning would use half a second. */
static void an_idle_runner_uses_no_cpu(void **state)
{
	struct timespec half_a_second = { 0, 500000000 };
	long before;

	ferry_flexsc_call(*state, SYS_getpid, NULL, 0);
	before = ferry_flexsc_cpu_ns(*state);
	nanosleep(&half_a_second, NULL);
	assert_true(ferry_flexsc_cpu_ns(*state) - before < 20000000L);
}

static void a_sleeping_runner_is_woken(void **state)
{
	struct timespec a_while = { 0, 2000000 };
	int i;

	for (i = 0; i < 20; i++) {
		nanosleep(&a_while, NULL);
		assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 0), getpid());
	}
}

static void without_spinning_all_of_it_works(void **state)
{
	static const struct ferry_flexsc_options sleepy = { .spin_ns = FERRY_NO_SPIN };
	struct ferry_flexsc *flexsc = start(&sleepy);

	(void)state;
	wait_for_calls(flexsc);
	ferry_flexsc_stop(flexsc);
}

/* ---- signals and forks ---- */

static void broken_pipe(void)
{
	struct ferry_flexsc *flexsc;
	int fds[2];

	CHILD_ASSERT(!pipe(fds) && !close(fds[0]));
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	ferry_flexsc_call(flexsc, SYS_write, (const long[]){ fds[1], (long)"x", 1 }, 3);
}

static void a_broken_pipe_ends_the_process(void **state)
{
	int status;

	(void)state;
	status = child_status(broken_pipe);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

static struct ferry_flexsc *forked;

static void use_in_child(void)
{
	struct ferry_flexsc *own;

	CHILD_ASSERT(ferry_flexsc_call(forked, SYS_getpid, NULL, 0) == getpid());
	ferry_flexsc_stop(forked);
	CHILD_ASSERT(!ferry_flexsc_start(&own, NULL));
	CHILD_ASSERT(ferry_flexsc_call(own, SYS_getpid, NULL, 0) == getpid());
	ferry_flexsc_stop(own);
}

static void a_child_makes_its_calls_itself(void **state)
{
	forked = *state;
	ASSERT_IN_CHILD(use_in_child);
	assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 0), getpid());
}

static bool is_forking;

/* Takes and leaves the library's own lock. */
static void *use_lock(void *flexsc)
{
	while (__atomic_load_n(&is_forking, __ATOMIC_RELAXED))
		ferry_flexsc_eventfd(flexsc);
	return NULL;
}

static void use_lock_in_child(void)
{
	alarm(20);
	CHILD_ASSERT(ferry_flexsc_eventfd(forked) >= 0);
	ferry_flexsc_stop(forked);
}

static void a_child_finds_no_lock(void **state)
{
	pthread_t user;
	int i;

	forked = *state;
	is_forking = true;
	pthread_create(&user, NULL, use_lock, forked);
	for (i = 0; i < 50; i++)
		ASSERT_IN_CHILD(use_lock_in_child);
	__atomic_store_n(&is_forking, false, __ATOMIC_RELAXED);
	pthread_join(user, NULL);
}

/* ---- a sandbox that does not know runners ---- */

/* A filter for all threads that kills a thread which begins to serve in the kernel. */
static int forbid_serving(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FERRY_NR_FLEXSC_SERVE, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

/* A stop makes all threads leave the kernel and then return to where they were. */
static void live_in_sandbox(void)
{
	struct ferry_flexsc *flexsc;

	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	CHILD_ASSERT(ferry_flexsc_call(flexsc, SYS_getpid, NULL, 0) == getpid());
	CHILD_ASSERT(!forbid_serving());
	kill(getpid(), SIGSTOP);
	for (int i = 0; i < 100; i++)
		CHILD_ASSERT(ferry_flexsc_call(flexsc, SYS_getppid, NULL, 0) == getppid());
	ferry_flexsc_stop(flexsc);
}

static void runners_live_in_a_sandbox_that_came_later(void **state)
{
	pid_t child;
	int status;

	(void)state;
	child = fork();
	if (!child) {
		live_in_sandbox();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define ON_BOTH(test)                                                      \
	{ #test, test, with_defaults, stop, NULL },                        \
	{                                                                  \
#test " (two runners)", test, with_two_runners, stop, NULL \
	}
#define ON_ONE(test)                                   \
	{                                              \
#test, test, with_defaults, stop, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_out_of_range_are_refused),
		ON_BOTH(results_are_those_of_plain_calls),
		ON_ONE(blocked_calls_are_never_made),
		cmocka_unit_test(posted_calls_are_made_by_another_thread),
		ON_BOTH(a_call_is_polled_and_waited_for_once),
		ON_ONE(what_is_no_ticket_is_refused),
		ON_ONE(posts_fail_while_all_entries_are_in_use),
		ON_BOTH(a_batch_can_be_posted),
		ON_ONE(a_batch_with_calls_of_the_thread_is_run_by_the_thread),
		ON_BOTH(any_thread_may_call),
		ON_ONE(a_call_behind_one_that_blocks_is_made_by_the_waiter),
		ON_ONE(a_polled_call_behind_one_that_blocks_is_made),
		ON_ONE(calls_of_the_thread_are_made_by_the_thread),
		ON_ONE(stand_ins_end_when_they_are_idle),
		cmocka_unit_test(a_call_behind_one_that_blocks_is_not_made_by_another_waiter),
		ON_ONE(an_idle_runner_uses_no_cpu),
		ON_ONE(a_sleeping_runner_is_woken),
		cmocka_unit_test(without_spinning_all_of_it_works),
		cmocka_unit_test(a_broken_pipe_ends_the_process),
		ON_BOTH(a_child_makes_its_calls_itself),
		ON_BOTH(a_child_finds_no_lock),
		cmocka_unit_test(runners_live_in_a_sandbox_that_came_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
