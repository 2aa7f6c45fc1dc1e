/* SPDX-License-Identifier: MIT */
/* What the tests of flexsc begin and end with: a flexsc in *STATE.  Include <cmocka.h> before. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

static inline int with_defaults(void **state)
{
	struct ferry_flexsc *flexsc = NULL;

	assert_int_equal(ferry_flexsc_start(&flexsc, NULL), 0);
	*state = flexsc;
	return 0;
}

static inline int stop(void **state)
{
	assert_int_equal(ferry_flexsc_stop(*state), 0);
	return 0;
}

/* CLOCK_MONOTONIC. */
static inline long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Where they are, as in user-mode Linux, all calls are posted. */
static inline bool crossings_are_slow(void)
{
	long start, took, fastest = 1000000, i;

	for (i = 0; i < 16; i++) {
		start = now_ns();
		getppid();
		took = now_ns() - start;
		fastest = took < fastest ? took : fastest;
	}
	return fastest > 1000;
}

/* Turns of others during a call that does not wait: USUAL, or any number until it was made. */
static inline long most_turns(long usual)
{
	return crossings_are_slow() ? LONG_MAX : usual;
}

#endif /* FIXTURE_H */
