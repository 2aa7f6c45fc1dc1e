// SPDX-License-Identifier: MIT
/* Tests what each user-level thread has of its own, and what it shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "tests/lib/unit/child.h"
#include "fixture.h"

#define THREADS 8

/* Runs THREADS threads at FUNCTION, each with its index: how many return something else. */
static int run(struct ferry_flexsc *flexsc, void *(*function)(void *argument))
{
	struct ferry_thread *threads[THREADS];
	void *value;
	long i;
	int others = 0;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(ferry_thread_spawn(&threads[i], flexsc, function, (void *)i), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(ferry_thread_join(threads[i], &value), 0);
		others += value != (void *)i;
	}
	return others;
}

/* ---- errno ---- */

static void *keep_errno(void *argument)
{
	int i, own = 1000 + (int)(long)argument;

	if (errno)
		return (void *)-1L;
	for (i = 0; i < 100; i++) {
		errno = own;
		if (i % 2)
			ferry_getpid();
		else
			ferry_thread_yield();
		if (errno != own)
			return (void *)-2L;
	}
	return argument;
}

static void each_thread_has_its_errno(void **state)
{
	errno = ENOTTY;
	assert_int_equal(run(*state, keep_errno), 0);
	assert_int_equal(errno, ENOTTY);
}

/* ---- thread-local variables ---- */

static _Thread_local long visits;

static void *visit(void *argument)
{
	visits++;
	ferry_getpid();
	return argument;
}

static void thread_local_variables_belong_to_the_kernel_thread(void **state)
{
	visits = 0;
	assert_int_equal(run(*state, visit), 0);
	assert_int_equal(visits, THREADS);
}

/* ---- names ---- */

static void *check_name(void *argument)
{
	ferry_thread_yield();
	if (strcmp(ferry_thread_name(ferry_thread_self()), "named") != 0)
		return (void *)-1L;
	return argument;
}

static void threads_have_names(void **state)
{
	static const char long_name[] = "a name that is one byte too long";
	struct ferry_thread *thread;
	void *value;

	assert_null(ferry_thread_self());
	assert_int_equal(ferry_thread_spawn(&thread, *state, check_name, NULL), 0);
	assert_string_equal(ferry_thread_name(thread), "");
	assert_int_equal(ferry_thread_set_name(thread, long_name), -ERANGE);
	assert_int_equal(ferry_thread_set_name(thread, "named"), 0);
	assert_null(ferry_thread_self());
	ferry_thread_join(thread, &value);
	assert_null(value);
}

/* ---- signal handlers ---- */

static int null;
static volatile long handled, mishandled;
static volatile bool over;

static void write_in_handler(int signal)
{
	(void)signal;
	mishandled += ferry_write(null, "tick", 4) != 4;
	ferry_thread_yield();
	handled++;
}

static void *write_until_over(void *argument)
{
	while (!over)
		if (ferry_write(null, "x", 1) != 1)
			return (void *)-1L;
	return argument;
}

static void tick(long us)
{
	const struct itimerval timer = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *end_after_ticks(void *argument)
{
	(void)argument;
	while (handled < 300)
		ferry_thread_sleep(1000000);
	over = true;
	return NULL;
}

static void handlers_may_call(void **state)
{
	const struct sigaction action = { .sa_handler = write_in_handler, .sa_flags = SA_RESTART };
	struct ferry_thread *ender;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	handled = mishandled = 0;
	over = false;
	sigaction(SIGALRM, &action, NULL);
	assert_int_equal(ferry_thread_spawn(&ender, *state, end_after_ticks, NULL), 0);
	tick(1000);
	assert_int_equal(run(*state, write_until_over), 0);
	tick(0);
	ferry_thread_join(ender, NULL);
	assert_int_equal(mishandled, 0);
	close(null);
}

/* Interrupts the library most of the time, because switching is all that the threads do. */
static volatile long entered;

static void enter_library(int signal)
{
	static struct ferry_thread *thread;

	(void)signal;
	entered += ferry_thread_spawn(&thread, NULL, visit, NULL) == -EBUSY;
	ferry_thread_yield();
	handled++;
}

/* Outside of the threads a handler would start the scheduler. */
static void *yield_until_handled(void *argument)
{
	if (!argument)
		tick(500);
	while (handled < 300)
		ferry_thread_yield();
	tick(0);
	return argument;
}

static void the_library_is_not_entered_twice(void **state)
{
	const struct sigaction action = { .sa_handler = enter_library, .sa_flags = SA_RESTART };
	long start_ns = now_ns();

	handled = entered = 0;
	sigaction(SIGALRM, &action, NULL);
	assert_int_equal(run(*state, yield_until_handled), 0);
	assert_int_equal(entered, handled);
	assert_true(now_ns() - start_ns < 30000000000L);
}

/* ---- stacks ---- */

static struct ferry_flexsc *start_with_stacks(size_t size)
{
	const struct ferry_flexsc_options options = { .stack_size = size };
	struct ferry_flexsc *flexsc = NULL;

	assert_int_equal(ferry_flexsc_start(&flexsc, &options), 0);
	return flexsc;
}

/* More address space than there is memory; each uses most of its first MiB. */
static void *use_stack(void *argument)
{
	volatile char frame[800 << 10];

	frame[0] = frame[sizeof(frame) - 1] = 1;
	ferry_thread_yield();
	return frame[0] + frame[sizeof(frame) - 1] == 2 ? argument : (void *)-1L;
}

static void stacks_take_memory_when_touched(void **state)
{
	struct ferry_flexsc *flexsc = start_with_stacks(1UL << 30);

	(void)state;
	assert_int_equal(run(flexsc, use_stack), 0);
	assert_int_equal(ferry_flexsc_stop(flexsc), 0);
}

static void *hold_pattern(void *argument)
{
	volatile unsigned char pattern[32 << 10];
	size_t i;

	memset((void *)pattern, 0x5a, sizeof(pattern));
	while (!over)
		ferry_thread_yield();
	for (i = 0; i < sizeof(pattern); i++)
		CHILD_ASSERT(pattern[i] == 0x5a);
	return argument;
}

/* Writes only at the far end of a frame larger than its stack. */
static __attribute__((__noinline__)) int overflow(void)
{
	volatile char frame[72 << 10];
	size_t i;

	for (i = 0; i < 1024; i++)
		frame[i] = 1;
	return frame[1];
}

static void *overflow_among_others(void *argument)
{
	if ((long)argument != THREADS / 2)
		return hold_pattern(argument);
	ferry_thread_yield();
	overflow();
	over = true;
	return argument;
}

static void overflow_in_child(void)
{
	over = false;
	run(start_with_stacks(64 << 10), overflow_among_others);
	_exit(77);
}

static void a_large_frame_does_not_reach_another_stack(void **state)
{
	int status = child_status(overflow_in_child);

	(void)state;
	/* A sanitizer reports the signal and exits with another status. */
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	else
		assert_int_not_equal(WEXITSTATUS(status), 77);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, with_defaults, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_thread_has_its_errno),
		TEST(thread_local_variables_belong_to_the_kernel_thread),
		TEST(threads_have_names),
		TEST(handlers_may_call),
		TEST(the_library_is_not_entered_twice),
		cmocka_unit_test(stacks_take_memory_when_touched),
		cmocka_unit_test(a_large_frame_does_not_reach_another_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
