// SPDX-License-Identifier: GPL-2.0
/* @NAME@() stores the uptime, and refuses flags and bad addresses. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest_harness.h"

static long @NAME@(uint64_t *uptime, unsigned int flags)
{
	return syscall(__NR_@NAME@, uptime, flags);
}

TEST(uptime_grows)
{
	uint64_t first = 0, second = 0;

	ASSERT_EQ(0, @NAME@(&first, 0));
	ASSERT_EQ(0, @NAME@(&second, 0));
	EXPECT_GT(first, 0);
	EXPECT_GE(second, first);
}

TEST(flags_are_refused)
{
	uint64_t uptime = 1;

	EXPECT_EQ(-1, @NAME@(&uptime, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, uptime);
}

TEST(bad_address_is_refused)
{
	EXPECT_EQ(-1, @NAME@((uint64_t *)1, 0));
	EXPECT_EQ(EFAULT, errno);
}

TEST_HARNESS_MAIN
