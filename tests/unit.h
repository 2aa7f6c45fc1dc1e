/* SPDX-License-Identifier: MIT */
/* Tests that cmocka runs in one process, in the order of the source; each adds itself. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct CMUnitTest unit_tests[64];
static size_t unit_count;

/** A function that is a test; NAME states the rule which it tests. */
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/** The same, with what cmocka calls before and after it. */
#define TEST_BETWEEN(name, before, after)                                        \
	static void name(void **state);                                          \
	static void __attribute__((constructor)) add_##name(void)                \
	{                                                                        \
		unit_tests[unit_count++] =                                       \
			(struct CMUnitTest){ #name, name, before, after, NULL }; \
	}                                                                        \
	static void name(void **state __attribute__((unused)))

/** Runs all tests.  Returns how many failed. */
static inline int run_unit_tests(const char *title)
{
	return _cmocka_run_group_tests(title, unit_tests, unit_count, NULL, NULL);
}

#define TEST_MAIN                               \
	int main(void)                          \
	{                                       \
		return run_unit_tests("tests"); \
	}

#endif /* TESTS_UNIT_H */
