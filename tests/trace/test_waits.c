// SPDX-License-Identifier: MIT
/* How long calls waited, and how much that differs. */
#include "tests/unit.h"

#include <math.h>
#include <sys/syscall.h>

#include "common/record.h"
#include "trace/findings/waits.h"

static struct wait wait_for(const float ns[], size_t count)
{
	const struct evidence evidence = { .fixed = { NAN, 0 } };
	struct traced_call calls[16] = { 0 };
	struct seen_call seen[16] = { 0 };
	struct member group[16];
	size_t i;

	for (i = 0; i < count; i++) {
		calls[i] = (struct traced_call){ .nr = SYS_fdatasync, .waited_ns = ns[i] };
		seen[i] = (struct seen_call){ .call = &calls[i], .calls = 1 };
		group[i] = (struct member){ 0, &seen[i] };
	}
	return wait_of(&evidence, group, count);
}

TEST(waits_that_are_alike_have_no_spread)
{
	static const float ns[] = { 1e6f, 1e6f, 1e6f, 1e6f, 1e6f };

	assert_true(wait_for(ns, COUNT_OF(ns)).spread == 0);
}

TEST(the_spread_is_that_of_the_quartiles)
{
	static const float ns[] = { 1e6f, 2e6f, 4e6f, 6e6f, 7e6f };

	assert_true(wait_for(ns, COUNT_OF(ns)).mean == 4e6);
	assert_true(wait_for(ns, COUNT_OF(ns)).spread == 0.5);
}

/* Where there are few, that is the longest. */
TEST(ninety_nine_of_a_hundred_are_no_longer)
{
	static const float ns[] = { 9e6f, 1e6f };

	assert_true(wait_for(ns, COUNT_OF(ns)).p99 == 9e6);
	assert_true(wait_for(ns, 1).p99 == 9e6);
}

TEST_MAIN
