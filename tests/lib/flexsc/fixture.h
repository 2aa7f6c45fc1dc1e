/* SPDX-License-Identifier: MIT */
/* What the tests of flexsc begin and end with: a flexsc in *STATE.  Include <cmocka.h> before. */
#ifndef FIXTURE_H
#define FIXTURE_H

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
	ferry_flexsc_stop(*state);
	return 0;
}

#endif /* FIXTURE_H */
