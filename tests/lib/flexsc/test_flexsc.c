// SPDX-License-Identifier: MIT
/* Tests <ferry_flexsc.h> on runners in user space and, if available, in the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
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
#include "fixture.h"

#define MANY 2000

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/* Children may start threads. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* ThreadSanitizer ignores synchronization in the stack that forked, but not in the others. */
#define SKIP_FORK_IN_THREAD skip()
#endif
#endif
#ifndef SKIP_FORK_IN_THREAD
#define SKIP_FORK_IN_THREAD (void)0
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
		{ .flags = 16 },
		{ .cpus = no_cpu },
		{ .cpus = beyond },
		{ .stack_size = 16383 },
		{ .stack_size = (1UL << 30) + 1 },
	};
	struct ferry_flexsc *flexsc;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ferry_flexsc_start(&flexsc, &bad[i]), -EINVAL);
	assert_int_equal(ferry_flexsc_stop(NULL), 0);
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
	const struct ferry_slot calls[] = {
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
	const struct ferry_slot calls[] = { { .nr = SYS_gettid } };
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

/* ---- user-level threads ---- */

static void *add_pids(void *argument)
{
	long *sum = argument, i;

	for (i = 0; i < 10; i++)
		*sum += ferry_getpid();
	return argument;
}

static void run_threads(struct ferry_flexsc *flexsc, long count)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	struct ferry_thread **threads = calloc((size_t)count, sizeof(*threads));
	long *sums = calloc((size_t)count, sizeof(*sums));
	void *value;
	long i;

	for (i = 0; i < count; i++)
		assert_int_equal(ferry_thread_spawn(&threads[i], flexsc, add_pids, &sums[i]), 0);
	for (i = 0; i < count; i++) {
		assert_int_equal(ferry_thread_join(threads[i], &value), 0);
		assert_ptr_equal(value, &sums[i]);
		assert_int_equal(sums[i], 10L * getpid());
	}
	free(threads);
	free(sums);
}

static void threads_call_and_are_joined(void **state)
{
	run_threads(*state, 1);
	run_threads(*state, 64);
	run_threads(*state, MANY);
}

struct place {
	int fds[2];
	struct ferry_thread *other;
	int turns;
	int order[4];
	int count;
	long last_began_ns;
};

static void *send_bytes(void *argument)
{
	struct place *place = argument;
	int i;

	for (i = 0; i < 20; i++)
		if (ferry_write(place->fds[1], "x", 1) != 1)
			return "no write";
	return NULL;
}

static void *receive_bytes(void *argument)
{
	struct place *place = argument;
	char byte;
	int i;

	for (i = 0; i < 20; i++)
		if (ferry_read(place->fds[0], &byte, 1) != 1)
			return "no read";
	return NULL;
}

/* The readers block all runners until others write, so the writers need other runners. */
static void threads_may_wait_for_each_other_in_the_kernel(void **state)
{
	struct place places[8] = { 0 };
	struct ferry_thread *readers[8], *writers[8];
	void *complaint;
	int i;

	for (i = 0; i < 8; i++) {
		assert_int_equal(pipe(places[i].fds), 0);
		assert_int_equal(ferry_thread_spawn(&readers[i], *state, receive_bytes, &places[i]),
				 0);
	}
	for (i = 0; i < 8; i++)
		assert_int_equal(ferry_thread_spawn(&writers[i], *state, send_bytes, &places[i]),
				 0);
	for (i = 0; i < 8; i++) {
		assert_int_equal(ferry_thread_join(readers[i], &complaint), 0);
		assert_null(complaint);
		assert_int_equal(ferry_thread_join(writers[i], &complaint), 0);
		assert_null(complaint);
		close(places[i].fds[0]);
		close(places[i].fds[1]);
	}
}

static void *read_byte(void *argument)
{
	char byte;

	return (void *)ferry_read(*(const int *)argument, &byte, 1);
}

/* Its first call may wait, so it is posted. */
static void *call_and_write(void *argument)
{
	ferry_fdatasync(-1);
	return (void *)ferry_write(*(const int *)argument, "x", 1);
}

static void join_result(struct ferry_thread *thread, long expected)
{
	void *result;

	assert_int_equal(ferry_thread_join(thread, &result), 0);
	assert_int_equal((long)result, expected);
}

/* The runner's position is 1 when the readers' calls arrive at 0 and 1, so it begins with either.
 */
static void a_call_that_is_done_is_collected_while_an_earlier_one_blocks(void **state)
{
	struct ferry_thread *first, *second, *writer;
	struct timespec settle = { 0, 20000000 };
	int fds[3][2], i, round;

	for (i = 0; i < 3; i++)
		assert_int_equal(pipe(fds[i]), 0);
	for (round = 0; round < 10; round++) {
		ferry_thread_spawn(&first, *state, read_byte, &fds[0][0]);
		ferry_thread_spawn(&writer, *state, call_and_write, &fds[2][1]);
		ferry_thread_join(writer, NULL);
		assert_int_equal(write(fds[0][1], "x", 1), 1);
		join_result(first, 1);
		nanosleep(&settle, NULL);
		ferry_thread_spawn(&first, *state, read_byte, &fds[0][0]);
		ferry_thread_spawn(&second, *state, read_byte, &fds[1][0]);
		ferry_thread_spawn(&writer, *state, call_and_write, &fds[1][1]);
		join_result(writer, 1);
		join_result(second, 1);
		assert_int_equal(write(fds[0][1], "x", 1), 1);
		join_result(first, 1);
		assert_int_equal(read(fds[2][0], &(char){ 0 }, 1), 1);
	}
	for (i = 0; i < 3; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

#define BLOCKED 200

static void many_calls_may_block(void **state)
{
	struct ferry_thread *readers[BLOCKED], *writers[BLOCKED];
	int fds[2], i;

	assert_int_equal(pipe(fds), 0);
	for (i = 0; i < BLOCKED; i++)
		ferry_thread_spawn(&readers[i], *state, read_byte, &fds[0]);
	for (i = 0; i < BLOCKED; i++)
		ferry_thread_spawn(&writers[i], *state, call_and_write, &fds[1]);
	for (i = 0; i < BLOCKED; i++) {
		join_result(readers[i], 1);
		join_result(writers[i], 1);
	}
	close(fds[0]);
	close(fds[1]);
}

/* ---- stand-ins ---- */

#define LOCKED 20

static int threads_of_process(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

static void *lock_file(void *fd)
{
	long error = ferry_thread_call3(SYS_flock, *(const int *)fd, LOCK_EX, 0);

	if (!error)
		ferry_thread_call3(SYS_flock, *(const int *)fd, LOCK_UN, 0);
	return (void *)error;
}

static void *unlock_file(void *fd)
{
	ferry_thread_sleep(10000000);
	flock(*(const int *)fd, LOCK_UN);
	return NULL;
}

/* Each call waits for the same lock, which a thread gives up in the end. */
static void block_runners(struct ferry_flexsc *flexsc, const char *path)
{
	struct ferry_thread *lockers[LOCKED], *unlocker;
	int fds[LOCKED + 1], i;

	for (i = 0; i <= LOCKED; i++)
		assert_true((fds[i] = open(path, O_RDWR | O_CLOEXEC)) >= 0);
	assert_int_equal(flock(fds[LOCKED], LOCK_EX), 0);
	for (i = 0; i < LOCKED; i++)
		ferry_thread_spawn(&lockers[i], flexsc, lock_file, &fds[i]);
	ferry_thread_spawn(&unlocker, flexsc, unlock_file, &fds[LOCKED]);
	for (i = 0; i < LOCKED; i++)
		join_result(lockers[i], 0);
	ferry_thread_join(unlocker, NULL);
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

#define SLEEP_UNIT_NS 5000000L

static void *sleep_and_note(void *argument)
{
	struct place *place = argument;
	int turn = place->turns++;

	place->last_began_ns = now_ns();
	ferry_thread_sleep((4 - turn) * SLEEP_UNIT_NS);
	place->order[place->count++] = turn;
	return NULL;
}

/* Returns false if the threads began so late that the last one need not be the first to wake. */
static bool sleep_four(struct ferry_flexsc *flexsc, struct place *place)
{
	struct ferry_thread *threads[4];
	long start_ns = now_ns();
	int i;

	for (i = 0; i < 4; i++)
		ferry_thread_spawn(&threads[i], flexsc, sleep_and_note, place);
	for (i = 0; i < 4; i++)
		ferry_thread_join(threads[i], NULL);
	assert_true(now_ns() - start_ns >= 4 * SLEEP_UNIT_NS);
	return place->last_began_ns - start_ns < SLEEP_UNIT_NS / 2;
}

static void the_shortest_sleep_ends_first(void **state)
{
	struct place place;
	int i, tries = 0;

	do {
		assert_true(tries++ < 100);
		place = (struct place){ 0 };
	} while (!sleep_four(*state, &place));
	for (i = 0; i < 4; i++)
		assert_int_equal(place.order[i], 3 - i);
}

static void *take_turns(void *argument)
{
	struct place *place = argument;
	int i;

	for (i = 0; i < 100; i++) {
		place->turns++;
		ferry_thread_yield();
	}
	return NULL;
}

static void yield_lets_others_run(void **state)
{
	struct place places[2] = { 0 };
	struct ferry_thread *threads[2];
	int i;

	for (i = 0; i < 2; i++)
		ferry_thread_spawn(&threads[i], *state, take_turns, &places[i]);
	while (places[0].turns < 100) {
		ferry_thread_yield();
		assert_in_range(places[0].turns - places[1].turns + 2, 0, 4);
	}
	for (i = 0; i < 2; i++)
		ferry_thread_join(threads[i], NULL);
}

static void *join_other(void *argument)
{
	struct place *place = argument;

	return (void *)(long)ferry_thread_join(place->other, NULL);
}

static void *join_itself(void *argument)
{
	struct ferry_thread **self = argument;

	return (void *)(long)ferry_thread_join(*self, NULL);
}

static void joining_in_a_circle_fails(void **state)
{
	struct ferry_thread *self, *first, *second;
	struct place places[2] = { 0 };
	void *value;

	ferry_thread_spawn(&self, *state, join_itself, &self);
	ferry_thread_join(self, &value);
	assert_int_equal((long)value, -EDEADLK);
	ferry_thread_spawn(&first, *state, join_other, &places[0]);
	ferry_thread_spawn(&second, *state, join_other, &places[1]);
	places[0].other = second;
	places[1].other = first;
	ferry_thread_join(first, &value);
	assert_int_equal((long)value, 0);
}

static void *note_tid(void *argument)
{
	*(long *)argument = ferry_thread_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return NULL;
}

static void calls_of_the_thread_stay_with_its_kernel_thread(void **state)
{
	struct ferry_thread *thread;
	long tid = 0;

	ferry_thread_spawn(&thread, *state, note_tid, &tid);
	ferry_thread_join(thread, NULL);
	assert_int_equal(tid, gettid());
}

static void *batch_in_thread(void *argument)
{
	const struct ferry_slot calls[] = { { .nr = SYS_getpid }, { .nr = SYS_getppid } };
	long *rets = argument;

	return (void *)ferry_thread_batch(rets, calls, 2);
}

static void a_thread_may_make_a_batch(void **state)
{
	struct ferry_thread *thread;
	long rets[2] = { 0 };
	void *last;

	ferry_thread_spawn(&thread, *state, batch_in_thread, rets);
	ferry_thread_join(thread, &last);
	assert_int_equal((long)last, 1);
	assert_int_equal(rets[0], getpid());
	assert_int_equal(rets[1], getppid());
}

static void outside_of_threads_calls_are_plain(void **state)
{
	(void)state;
	assert_int_equal(ferry_getpid(), getpid());
	assert_int_equal(ferry_close(-1), -EBADF);
	assert_int_equal(ferry_thread_call(SYS_fork, 0, 0, 0, 0, 0, 0), -ENOSYS);
	ferry_thread_yield();
	ferry_thread_sleep(1000);
}

static void threads_keep_flexsc_from_stopping(void **state)
{
	struct ferry_flexsc *other = start(NULL);
	struct ferry_thread *thread, *second;
	long tid;

	ferry_thread_spawn(&thread, *state, note_tid, &tid);
	assert_int_equal(ferry_flexsc_stop(*state), -EBUSY);
	assert_int_equal(ferry_thread_spawn(&second, other, note_tid, &tid), -EBUSY);
	ferry_thread_join(thread, NULL);
	assert_int_equal(ferry_flexsc_stop(other), 0);
}

static void *run_own_threads(void *state)
{
	run_threads(state, 100);
	return NULL;
}

static void kernel_threads_have_threads_of_their_own(void **state)
{
	static const struct ferry_flexsc_options wide = { .entries = 512 };
	struct ferry_flexsc *flexsc = start(&wide);
	pthread_t threads[4];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_own_threads, flexsc);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(ferry_flexsc_stop(flexsc), 0);
}

/* ---- times ---- */

static void *check_times(void *argument)
{
	struct ferry_flexsc_times times;

	(void)argument;
	ferry_getpid();
	times = ferry_flexsc_times();
	return (void *)(long)(times.asked && times.asked <= times.posted &&
			      times.posted <= times.taken && times.taken <= times.run &&
			      times.run <= times.seen);
}

static void times_of_a_call_are_in_order(void **state)
{
	static const struct ferry_flexsc_options timed = { .flags = FERRY_FLEXSC_TIMED };
	struct ferry_flexsc *flexsc = start(&timed);
	struct ferry_thread *threads[200];
	void *in_order;
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		ferry_thread_spawn(&threads[i], flexsc, check_times, NULL);
	for (i = 0; i < 200; i++) {
		ferry_thread_join(threads[i], &in_order);
		assert_true(in_order);
	}
	ferry_flexsc_stop(flexsc);
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
	run_threads(flexsc, 100);
	assert_int_equal(ferry_flexsc_stop(flexsc), 0);
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
	CHILD_ASSERT(!ferry_flexsc_stop(forked));
	CHILD_ASSERT(!ferry_flexsc_start(&own, NULL));
	CHILD_ASSERT(ferry_flexsc_call(own, SYS_getpid, NULL, 0) == getpid());
	CHILD_ASSERT(!ferry_flexsc_stop(own));
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
	CHILD_ASSERT(!ferry_flexsc_stop(forked));
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

static void *fork_and_stop(void *argument)
{
	ASSERT_IN_CHILD(use_in_child);
	return argument;
}

/* Its parent's other kernel threads do not exist there, nor do their user-level threads. */
static void a_child_may_stop_what_others_use(void **state)
{
	struct ferry_thread *thread;
	pthread_t forker;
	long tid;

	forked = *state;
	assert_int_equal(ferry_thread_spawn(&thread, forked, note_tid, &tid), 0);
	pthread_create(&forker, NULL, fork_and_stop, NULL);
	pthread_join(forker, NULL);
	ferry_thread_join(thread, NULL);
}

struct forking {
	int fds[2];
	int status;
	long read;
};

static void *read_forking(void *argument)
{
	struct forking *forking = argument;
	char byte;

	forking->read = ferry_read(forking->fds[0], &byte, 1);
	return NULL;
}

/* Calls that other threads waited for belong to the parent; all can still be joined. */
static void *fork_in_thread(void *argument)
{
	struct forking *forking = argument;

	while (ferry_getpid() != getpid())
		;
	forking->status = fork();
	if (forking->status) {
		int status = -1;

		waitpid(forking->status, &status, 0);
		forking->status = status;
		ferry_write(forking->fds[1], "x", 1);
	} else if (ferry_getpid() != getpid()) {
		_exit(9);
	}
	return NULL;
}

static void fork_within_a_thread(void **state)
{
	pid_t parent = getpid();
	struct forking forking = { 0 };
	struct ferry_thread *reader, *forker;

	SKIP_FORK_IN_THREAD;
	assert_int_equal(pipe(forking.fds), 0);
	ferry_thread_spawn(&reader, *state, read_forking, &forking);
	ferry_thread_spawn(&forker, *state, fork_in_thread, &forking);
	ferry_thread_join(forker, NULL);
	ferry_thread_join(reader, NULL);
	if (getpid() != parent)
		_exit(forking.read == -ECANCELED && !ferry_flexsc_stop(*state) ? 0 : 8);
	assert_int_equal(forking.status, 0);
	assert_int_equal(forking.read, 1);
	close(forking.fds[0]);
	close(forking.fds[1]);
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
	CHILD_ASSERT(!ferry_flexsc_stop(flexsc));
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
		ON_BOTH(threads_call_and_are_joined),
		ON_BOTH(threads_may_wait_for_each_other_in_the_kernel),
		ON_BOTH(a_call_that_is_done_is_collected_while_an_earlier_one_blocks),
		ON_BOTH(many_calls_may_block),
		ON_ONE(stand_ins_end_when_they_are_idle),
		ON_ONE(the_shortest_sleep_ends_first),
		ON_ONE(yield_lets_others_run),
		ON_ONE(joining_in_a_circle_fails),
		ON_ONE(calls_of_the_thread_stay_with_its_kernel_thread),
		ON_BOTH(a_thread_may_make_a_batch),
		cmocka_unit_test(outside_of_threads_calls_are_plain),
		ON_ONE(threads_keep_flexsc_from_stopping),
		cmocka_unit_test(kernel_threads_have_threads_of_their_own),
		cmocka_unit_test(times_of_a_call_are_in_order),
		ON_ONE(an_idle_runner_uses_no_cpu),
		ON_ONE(a_sleeping_runner_is_woken),
		cmocka_unit_test(without_spinning_all_of_it_works),
		cmocka_unit_test(a_broken_pipe_ends_the_process),
		ON_BOTH(a_child_makes_its_calls_itself),
		ON_BOTH(a_child_finds_no_lock),
		ON_BOTH(a_child_may_stop_what_others_use),
		ON_BOTH(fork_within_a_thread),
		cmocka_unit_test(runners_live_in_a_sandbox_that_came_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
