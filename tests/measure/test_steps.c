// SPDX-License-Identifier: MIT
/* Instructions are counted from one count to the next, and not before the first. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/harness/clock.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/steps.h"

#define TURNS 100
#define MANY_TURNS 20000000 /* more than steps are taken, and than are made in a moment */
#define LONGEST 10	    /* instructions of a turn, compiled in any way */

static void turn(long turns)
{
	volatile long turn;

	for (turn = 0; turn < turns; turn++)
		;
}

static void count_turns(volatile long *count)
{
	for (;; ++*count)
		turn(TURNS);
}

static void prepare_and_count(volatile long *count)
{
	turn(MANY_TURNS);
	count_turns(count);
}

static void end_at_once(volatile long *count)
{
	(void)count;
}

/* The signal arrives when this has been stepped for some time. */
static void never_count_again(volatile long *count)
{
	double end = now_ns() + 50e6;

	++*count;
	while (now_ns() < end)
		;
	kill(getppid(), SIGTERM);
	for (;;)
		;
}

static void test_from_count_to_count(void **state)
{
	double steps = instructions_between(count_turns, MOST_WINDOWS);

	(void)state;
	assert_in_range((long)steps, TURNS, LONGEST * TURNS);
}

static void test_a_child_that_prepares_itself(void **state)
{
	double steps = instructions_between(prepare_and_count, MOST_WINDOWS);

	(void)state;
	assert_in_range((long)steps, TURNS, LONGEST * TURNS);
}

static void test_a_child_that_ends(void **state)
{
	(void)state;
	assert_true(isnan(instructions_between(end_at_once, MOST_WINDOWS)));
}

/* The last one: from here on this process counts as interrupted. */
static void test_a_signal(void **state)
{
	(void)state;
	interrupt_catch(SA_RESETHAND);
	alarm(20); /* all steps take longer */
	assert_true(isnan(instructions_between(never_count_again, MOST_WINDOWS)));
	assert_int_equal(interrupted(), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_count_to_count),
		cmocka_unit_test(test_a_child_that_prepares_itself),
		cmocka_unit_test(test_a_child_that_ends),
		cmocka_unit_test(test_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
