// SPDX-License-Identifier: GPL-2.0
/* null() returns 0 whatever its caller's registers hold, and changes none of them. */
#include "subcall_test.h"

TEST(returns_zero_and_keeps_the_registers)
{
	const long before[] = { 1, -1, 3, 4, 5, 6 };
	long arg[] = { 1, -1, 3, 4, 5, 6 };
	long result = raw_call(__NR_null, arg);

	if (result == -ENOSYS)
		SKIP(return, "no null(): is CONFIG_SUBCALL set?");
	EXPECT_EQ(0, result);
	EXPECT_EQ(0, memcmp(before, arg, sizeof(arg)));
}

TEST_HARNESS_MAIN
