// SPDX-License-Identifier: MIT
/* Tests mutexes, conditions and waits with a time limit of user-level threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <time.h>

#include <ferry_flexsc.h>

#include "fixture.h"
#define THREADS 16
#define ROUNDS 50
#define MS 1000000L

static struct ferry_mutex mutex;
static struct ferry_condition condition, other;

static int start(void **state)
{
	mutex = (struct ferry_mutex){ 0 };
	condition = other = (struct ferry_condition){ 0 };
	return with_defaults(state);
}

static void spawn(struct ferry_flexsc *flexsc, struct ferry_thread *threads[THREADS],
		  void *(*function)(void *argument))
{
	long i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(ferry_thread_spawn(&threads[i], flexsc, function, (void *)i), 0);
}

/* How many threads return something else than NULL. */
static int join(struct ferry_thread *threads[THREADS])
{
	void *value;
	int i, complaints = 0;

	for (i = 0; i < THREADS; i++) {
		assert_int_equal(ferry_thread_join(threads[i], &value), 0);
		complaints += value != NULL;
	}
	return complaints;
}

/* ---- mutexes ---- */

static long counter;
static long order[THREADS];

static void *count_slowly(void *argument)
{
	long i, before;

	(void)argument;
	for (i = 0; i < ROUNDS; i++) {
		ferry_mutex_lock(&mutex);
		before = counter;
		if (i % 2)
			ferry_getpid();
		else
			ferry_thread_yield();
		counter = before + 1;
		ferry_mutex_unlock(&mutex);
	}
	return NULL;
}

static void one_thread_at_a_time_has_the_mutex(void **state)
{
	struct ferry_thread *threads[THREADS];

	counter = 0;
	spawn(*state, threads, count_slowly);
	assert_int_equal(join(threads), 0);
	assert_int_equal(counter, THREADS * ROUNDS);
}

static void *note_order(void *argument)
{
	ferry_mutex_lock(&mutex);
	order[counter++] = (long)argument;
	ferry_getpid();
	return (void *)(long)ferry_mutex_unlock(&mutex);
}

static void a_mutex_passes_in_the_order_of_arrival(void **state)
{
	struct ferry_thread *threads[THREADS];
	long i;

	counter = 0;
	assert_int_equal(ferry_mutex_lock(&mutex), 0); /* before there is a scheduler */
	spawn(*state, threads, note_order);
	ferry_thread_yield();
	assert_int_equal(counter, 0);
	assert_int_equal(ferry_mutex_unlock(&mutex), 0);
	assert_int_equal(join(threads), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(order[i], i);
}

static void *misuse_mutex(void *argument)
{
	(void)argument;
	return (void *)(long)(ferry_mutex_trylock(&mutex) != -EBUSY ||
			      ferry_mutex_unlock(&mutex) != -EPERM ||
			      ferry_condition_wait(&condition, &mutex) != -EPERM);
}

static void misuse_of_a_mutex_is_reported(void **state)
{
	struct ferry_thread *threads[THREADS];

	assert_int_equal(ferry_mutex_unlock(&mutex), -EPERM);
	assert_int_equal(ferry_mutex_trylock(&mutex), 0);
	assert_int_equal(ferry_mutex_lock(&mutex), -EDEADLK);
	assert_int_equal(ferry_condition_wait(&condition, &mutex), -EDEADLK);
	assert_int_equal(ferry_condition_signal(&condition), 0);
	spawn(*state, threads, misuse_mutex);
	assert_int_equal(ferry_mutex_lock(&mutex), -EDEADLK);
	assert_int_equal(join(threads), 0);
	assert_int_equal(ferry_mutex_unlock(&mutex), 0);
}

/* ---- conditions ---- */

static long stored, taken;

static void *produce(void *argument)
{
	long i;

	for (i = 0; i < ROUNDS; i++) {
		ferry_mutex_lock(&mutex);
		while (stored)
			ferry_condition_wait(&other, &mutex);
		ferry_getpid();
		stored = 1 + (long)argument;
		ferry_condition_signal(&condition);
		ferry_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *consume(void *argument)
{
	long i;

	(void)argument;
	for (i = 0; i < ROUNDS; i++) {
		ferry_mutex_lock(&mutex);
		while (!stored)
			ferry_condition_wait(&condition, &mutex);
		taken += stored;
		ferry_getpid();
		stored = 0;
		ferry_condition_signal(&other);
		ferry_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *produce_or_consume(void *argument)
{
	return (long)argument % 2 ? consume(argument) : produce(argument);
}

static void conditions_connect_producers_and_consumers(void **state)
{
	struct ferry_thread *threads[THREADS];
	long i, expected = 0;

	stored = taken = 0;
	for (i = 0; i < THREADS; i += 2)
		expected += (1 + i) * ROUNDS;
	spawn(*state, threads, produce_or_consume);
	assert_int_equal(join(threads), 0);
	assert_int_equal(taken, expected);
}

static void *wait_and_count(void *argument)
{
	(void)argument;
	if (ferry_condition_wait(&condition, NULL))
		return "no signal";
	counter++;
	return NULL;
}

static void a_signal_wakes_one_and_a_broadcast_all(void **state)
{
	struct ferry_thread *threads[THREADS];

	counter = 0;
	spawn(*state, threads, wait_and_count);
	ferry_thread_yield();
	ferry_condition_signal(&condition);
	ferry_thread_sleep(MS);
	assert_int_equal(counter, 1);
	ferry_condition_broadcast(&condition);
	assert_int_equal(join(threads), 0);
	assert_int_equal(counter, THREADS);
}

/* ---- time limits ---- */

static void *wait_in_vain(void *argument)
{
	long start_ns = now_ns();

	ferry_mutex_lock(&mutex);
	if (ferry_condition_wait_for(&condition, &mutex, 5 * MS) != -ETIMEDOUT)
		return "not in time";
	if (now_ns() - start_ns < 5 * MS || ferry_mutex_unlock(&mutex))
		return "too early, or without the mutex";
	(void)argument;
	return ferry_condition_wait_for(&condition, NULL, 0) == -ETIMEDOUT ? NULL : "not at once";
}

static void a_wait_ends_at_its_limit(void **state)
{
	struct ferry_thread *threads[THREADS];

	spawn(*state, threads, wait_in_vain);
	assert_int_equal(join(threads), 0);
	assert_null(condition.waiters.first);
}

static bool over;

/* Limits and signals often come at the same time. */
static void *wait_briefly(void *argument)
{
	long i;
	int result;

	for (i = 0; i < 20 * ROUNDS; i++) {
		result = ferry_condition_wait_for(&condition, NULL,
						  (i * 7 + (long)argument) % 50 * 1000);
		if (result && result != -ETIMEDOUT)
			return "another result";
		counter += !result;
	}
	return NULL;
}

static void *signal_often(void *argument)
{
	(void)argument;
	while (!over) {
		ferry_condition_signal(&condition);
		ferry_thread_yield();
	}
	return NULL;
}

static void limits_and_signals_may_coincide(void **state)
{
	struct ferry_thread *threads[THREADS], *signaller;

	over = false;
	counter = 0;
	assert_int_equal(ferry_thread_spawn(&signaller, *state, signal_often, NULL), 0);
	spawn(*state, threads, wait_briefly);
	assert_int_equal(join(threads), 0);
	over = true;
	ferry_thread_join(signaller, NULL);
	assert_in_range(counter, 1, 20 * ROUNDS * THREADS);
	assert_null(condition.waiters.first);
}

static void *wait_for_signal(void *argument)
{
	ferry_condition_wait(&condition, NULL);
	return argument;
}

static void a_join_may_have_a_limit(void **state)
{
	struct ferry_thread *thread;
	long start_ns = now_ns();
	void *value = NULL;

	assert_int_equal(ferry_thread_spawn(&thread, *state, wait_for_signal, &counter), 0);
	assert_int_equal(ferry_thread_join_for(thread, &value, 2 * MS), -ETIMEDOUT);
	assert_true(now_ns() - start_ns >= 2 * MS);
	assert_int_equal(ferry_thread_join_for(thread, &value, 0), -ETIMEDOUT);
	assert_null(value);
	ferry_condition_signal(&condition);
	assert_int_equal(ferry_thread_join_for(thread, &value, LONG_MAX), 0);
	assert_ptr_equal(value, &counter);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_thread_at_a_time_has_the_mutex),
		TEST(a_mutex_passes_in_the_order_of_arrival),
		TEST(misuse_of_a_mutex_is_reported),
		TEST(conditions_connect_producers_and_consumers),
		TEST(a_signal_wakes_one_and_a_broadcast_all),
		TEST(a_wait_ends_at_its_limit),
		TEST(limits_and_signals_may_coincide),
		TEST(a_join_may_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
