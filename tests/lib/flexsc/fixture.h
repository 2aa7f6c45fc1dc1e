/* SPDX-License-Identifier: MIT */
/* What the tests of flexsc begin and end with: a flexsc in *STATE.  Include <cmocka.h> before. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <time.h>

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

#endif /* FIXTURE_H */
