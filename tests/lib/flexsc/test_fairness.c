// SPDX-License-Identifier: MIT
/* Whoever can go on gets its turn within a bounded number of switches, whatever the others do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "fixture.h"

#define THREADS 8

/* Far above the bound, and far below what a thread that starves would let pass. */
#define MANY_SWITCHES 5000
#define GIVE_UP 100000

/* Calls that the runner made late are collected at once; their threads may come first. */
#define ONE_ROUND (THREADS + 2)

/* What the others wait for, and how often they switch while it is due. */
struct due {
	bool over;
	long at; /* ns; 0: not known yet */
	long switches;
	long work_ns; /* between two calls */
	int fds[2];
	void (*give_way)(void);
};

/* A call that may wait is posted; one that never waits is not, at this pace. */
static void make_call(void)
{
	ferry_fdatasync(-1);
}

static void make_quick_call(void)
{
	ferry_getpid();
}

static void work(long ns)
{
	long end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void *switch_until_over(void *argument)
{
	struct due *due = argument;
	long at;

	while (!due->over && due->switches < GIVE_UP) {
		if (due->work_ns)
			work(due->work_ns);
		due->give_way();
		at = __atomic_load_n(&due->at, __ATOMIC_ACQUIRE);
		if (!due->over && at && now_ns() > at)
			due->switches++;
	}
	return NULL;
}

static void run_with_others(struct ferry_flexsc *flexsc, void *(*start)(void *), struct due *due)
{
	struct ferry_thread *waiter, *others[THREADS];
	int i;

	assert_int_equal(ferry_thread_spawn(&waiter, flexsc, start, due), 0);
	for (i = 0; i < THREADS; i++)
		ferry_thread_spawn(&others[i], flexsc, switch_until_over, due);
	for (i = 0; i < THREADS; i++)
		ferry_thread_join(others[i], NULL);
	ferry_thread_join(waiter, NULL);
}

static void *sleep_a_while(void *argument)
{
	struct due *due = argument;

	due->at = now_ns() + 2000000;
	ferry_thread_sleep(2000000);
	due->over = true;
	return NULL;
}

static void a_sleeper_wakes_while_others_call(void **state)
{
	struct due due = { .give_way = make_call, .work_ns = 5000 };

	run_with_others(*state, sleep_a_while, &due);
	assert_true(due.switches < MANY_SWITCHES);
}

static void a_sleeper_wakes_while_others_make_calls_that_never_wait(void **state)
{
	struct due due = { .give_way = make_quick_call, .work_ns = 5000 };

	run_with_others(*state, sleep_a_while, &due);
	assert_true(due.switches < MANY_SWITCHES);
}

static void a_sleeper_wakes_while_others_yield(void **state)
{
	struct due due = { .give_way = ferry_thread_yield };

	run_with_others(*state, sleep_a_while, &due);
	assert_true(due.switches < MANY_SWITCHES);
}

/* Once the scheduler knows that each switch takes long, it looks at the clock at each. */
static void *sleep_repeatedly(void *argument)
{
	struct due *due = argument;
	int i;

	for (i = 0; i < 10; i++)
		ferry_thread_sleep(1000);
	due->switches = 0;
	return sleep_a_while(due);
}

static void a_sleeper_wakes_after_one_long_turn(void **state)
{
	struct due due = { .give_way = make_call, .work_ns = 500000 };

	run_with_others(*state, sleep_repeatedly, &due);
	assert_true(due.switches <= ONE_ROUND);
}

/* Where nobody waits for the time, the scheduler seldom looks at it. */
static void *sleep_after_short_turns(void *argument)
{
	struct due *due = argument;
	int i;

	for (i = 0; i < 5000; i++)
		due->give_way();
	due->work_ns = 500000;
	return sleep_a_while(due);
}

static void a_sleeper_wakes_when_turns_have_become_long(void **state)
{
	struct due calls = { .give_way = make_call }, yields = { .give_way = ferry_thread_yield };

	run_with_others(*state, sleep_after_short_turns, &calls);
	assert_true(calls.switches <= ONE_ROUND);
	run_with_others(*state, sleep_after_short_turns, &yields);
	assert_true(yields.switches <= ONE_ROUND);
}

/* One turn after another, nobody else would get one. */
static void *sleep_shortly(void *argument)
{
	struct due *due = argument;

	while (!due->over) {
		work(500000);
		ferry_thread_sleep(1);
	}
	return NULL;
}

static void *take_ten_turns(void *argument)
{
	struct due *due = argument;
	int i;

	for (i = 0; i < 10; i++)
		ferry_thread_yield();
	due->over = true;
	return NULL;
}

/* If it did not hold, it would not end. */
static void others_run_while_a_thread_is_always_due(void **state)
{
	struct ferry_thread *others[THREADS], *last;
	struct due due = { .over = false };
	int i;

	for (i = 0; i < THREADS; i++)
		ferry_thread_spawn(&others[i], *state, sleep_shortly, &due);
	ferry_thread_spawn(&last, *state, take_ten_turns, &due);
	ferry_thread_join(last, NULL);
	for (i = 0; i < THREADS; i++)
		ferry_thread_join(others[i], NULL);
}

static void *write_later(void *argument)
{
	struct due *due = argument;

	work(5000000);
	if (write(due->fds[1], "x", 1) == 1)
		__atomic_store_n(&due->at, now_ns(), __ATOMIC_RELEASE);
	return NULL;
}

static void *read_byte(void *argument)
{
	struct due *due = argument;
	char byte;

	ferry_read(due->fds[0], &byte, 1);
	due->over = true;
	return NULL;
}

/* A thread reads what comes after a while, with others that do as DUE says. */
static void read_with_others(struct ferry_flexsc *flexsc, struct due *due)
{
	pthread_t writer;

	assert_int_equal(pipe(due->fds), 0);
	pthread_create(&writer, NULL, write_later, due);
	run_with_others(flexsc, read_byte, due);
	pthread_join(writer, NULL);
	close(due->fds[0]);
	close(due->fds[1]);
}

/* The time until the runner has the processor again counts, so this is no tight bound. */
static void a_held_up_call_is_collected_while_others_call(void **state)
{
	struct due due = { .give_way = make_call, .work_ns = 5000 };

	read_with_others(*state, &due);
	assert_true(due.switches < GIVE_UP);
}

/* Nobody waits any more once the byte is found, but a thread is ready. */
static void a_ready_thread_runs_while_others_make_calls_that_never_wait(void **state)
{
	struct due due = { .give_way = make_quick_call, .work_ns = 500000 };

	read_with_others(*state, &due);
	assert_true(due.switches <= 4 * THREADS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_defaults, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sleeper_wakes_while_others_call),
		TEST(a_sleeper_wakes_while_others_make_calls_that_never_wait),
		TEST(a_sleeper_wakes_while_others_yield),
		TEST(a_sleeper_wakes_after_one_long_turn),
		TEST(a_sleeper_wakes_when_turns_have_become_long),
		TEST(others_run_while_a_thread_is_always_due),
		TEST(a_held_up_call_is_collected_while_others_call),
		TEST(a_ready_thread_runs_while_others_make_calls_that_never_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
