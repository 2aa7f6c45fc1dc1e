/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program by cmocka. */
#ifndef RUN_H
#define RUN_H

/**
 * Runs all tests of this program, each in a child.  A test is called "TITLE: FILE: TEST",
 * where FILE is the name of its source.  Unless FILTER is NULL, tests without it in their
 * names are left out.  Returns how many failed.
 */
int tests_run(const char *title, const char *filter);

#endif /* RUN_H */
