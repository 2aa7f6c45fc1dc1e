/* SPDX-License-Identifier: MIT */
/* Groups of tests, one per file and concern. */
#ifndef GROUP_H
#define GROUP_H

#include "suite.h"

struct group {
	const struct CMUnitTest *tests;
	size_t count;
};

#define GROUP(name, array) const struct group name = { array, ARRAY_SIZE(array) }

struct named_group {
	const char *name;
	const struct group *group;
};

/**
 * Runs the tests of NGROUPS groups, each in a child.  A test is called
 * "TITLE: GROUP: TEST".  Unless FILTER is NULL, tests without it in their names are left
 * out.  Returns how many failed.
 */
int groups_run(const char *title, const struct named_group groups[], size_t ngroups,
	       const char *filter);

#endif /* GROUP_H */
