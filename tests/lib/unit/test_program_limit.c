// SPDX-License-Identifier: MIT
/* The maximum size of a program.  Tested from inside, because a full one takes 240 GB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static size_t asked_for;

static void *refuse(size_t size)
{
	asked_for = size;
	return NULL;
}

#define realloc(old, size) ((void)(old), refuse(size))
#include "lib/program/program.c" // NOLINT(bugprone-suspicious-include)
#undef realloc

static void full_program_refuses_another_slot(void **state)
{
	struct ferry_program program = { .length = INT_MAX, .room = INT_MAX };

	(void)state;
	asked_for = 0;
	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(ferry_copy(&program, NULL, NULL), -ENOMEM);
	assert_int_equal(ferry_goto(&program, FERRY_END), -ENOMEM);
	assert_int_equal(program.length, INT_MAX);
	assert_int_equal(asked_for, 0);
}

static void last_growth_is_to_the_largest_int(void **state)
{
	struct ferry_program program = { .length = INT_MAX / 2 + 1, .room = INT_MAX / 2 + 1 };

	(void)state;
	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(asked_for, (size_t)INT_MAX * OUTCOMES * sizeof(struct jump));
	assert_int_equal(program.room, INT_MAX / 2 + 1);
	program.length = program.room = INT_MAX / 2;
	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(asked_for, (size_t)(INT_MAX - 1) * OUTCOMES * sizeof(struct jump));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_program_refuses_another_slot),
		cmocka_unit_test(last_growth_is_to_the_largest_int),
	};

	return cmocka_run_group_tests_name("program limit", tests, NULL, NULL);
}
