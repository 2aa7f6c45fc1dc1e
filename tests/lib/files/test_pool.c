// SPDX-License-Identifier: MIT
/* Tests the threads of the pool. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#include "tests/unit.h"
#include "lib/files/pool.h"

#define USUAL_STACK ((size_t)6 << 20)

/* A callback of the application may be Python, whose limit for recursions expects such a stack. */
static void use_much_stack(void *argument)
{
	char large[USUAL_STACK];

	memset(large, 1, sizeof(large));
	__asm__ volatile("" ::"r"(large) : "memory");
	sem_post(argument);
}

TEST(test_a_stack_is_as_large_as_usual)
{
	sem_t used;

	assert_int_equal(sem_init(&used, 0, 0), 0);
	assert_true(ferry__pool_run(use_much_stack, NULL, &used));
	assert_int_equal(sem_wait(&used), 0);
	sem_destroy(&used);
}

/* ---- a kept thread ---- */

struct look {
	cpu_set_t affinity;
	sem_t done;
};

static void look_at_affinity(void *argument)
{
	struct look *look = argument;

	sched_getaffinity(0, sizeof(look->affinity), &look->affinity);
}

/* With the pool locked until the thread is idle: the next job is for it. */
static void end_look(void *argument)
{
	struct look *look = argument;

	sem_post(&look->done);
}

static void assert_runs_on(const cpu_set_t *expected)
{
	struct look look;

	assert_int_equal(sem_init(&look.done, 0, 0), 0);
	assert_true(ferry__pool_run(look_at_affinity, end_look, &look));
	assert_int_equal(sem_wait(&look.done), 0);
	assert_true(CPU_EQUAL(&look.affinity, expected));
	sem_destroy(&look.done);
}

static int first_cpu(const cpu_set_t *set)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, set))
		cpu++;
	return cpu;
}

TEST(test_a_kept_thread_has_the_present_affinity)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2)
		skip();
	CPU_ZERO(&one);
	CPU_SET(first_cpu(&all), &one);
	assert_runs_on(&all);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_runs_on(&one);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_runs_on(&all);
}

TEST_MAIN
