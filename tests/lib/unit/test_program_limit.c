// SPDX-License-Identifier: MIT
/* The maximum size of a program.  Tested from inside, because a full one takes 240 GB. */
#include <stdlib.h>

static size_t asked_for;

static void *refuse(size_t size)
{
	asked_for = size;
	return NULL;
}

#define realloc(old, size) ((void)(old), refuse(size))
#include "tests/unit.h"
#include "lib/program/program.c" // NOLINT(bugprone-suspicious-include)
#undef realloc

TEST(full_program_refuses_another_slot)
{
	struct ferry_program program = { .length = INT_MAX, .room = INT_MAX };

	asked_for = 0;
	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(ferry_copy(&program, NULL, NULL), -ENOMEM);
	assert_int_equal(ferry_goto(&program, FERRY_END), -ENOMEM);
	assert_int_equal(program.length, INT_MAX);
	assert_int_equal(asked_for, 0);
}

TEST(last_growth_is_to_the_largest_int)
{
	struct ferry_program program = { .length = INT_MAX / 2 + 1, .room = INT_MAX / 2 + 1 };

	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(asked_for, (size_t)INT_MAX * OUTCOMES * sizeof(struct jump));
	assert_int_equal(program.room, INT_MAX / 2 + 1);
	program.length = program.room = INT_MAX / 2;
	assert_int_equal(ferry_call(&program, 0), -ENOMEM);
	assert_int_equal(asked_for, (size_t)(INT_MAX - 1) * OUTCOMES * sizeof(struct jump));
}

TEST_MAIN
