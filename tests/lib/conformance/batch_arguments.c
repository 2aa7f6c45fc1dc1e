// SPDX-License-Identifier: MIT
/* The arguments of batch(): flags, size, the query, and arrays that are too long. */
#include "contract/suite.h"

/* The header ignores flags and size. */
static bool checks_flags_and_size(void)
{
	return strcmp(way->name, "header") != 0;
}

static void expect_refused(unsigned long ncall, long flags, long size)
{
	struct guarded batch = guarded_new(1, AT_END);
	const long untouched[] = { UNTOUCHED };

	batch.calls[0] = SLOT(SYS_getppid);
	expect_equal(way_run(batch.rets, batch.calls, ncall, flags, size), -EINVAL);
	expect_rets(&batch, untouched);
}

/* Of a batch whose FLAGS and SIZE are not defined, the header runs as many slots as of any. */
static void expect_undefined(unsigned long ncall, long flags, long size)
{
	struct batch_slot call = SLOT(SYS_getpid);
	long ret = UNTOUCHED;

	if (checks_flags_and_size()) {
		expect_refused(ncall, flags, size);
		return;
	}
	expect_equal(way_run(&ret, &call, ncall, flags, size), 0);
	expect_equal(ret, ncall ? getpid() : UNTOUCHED);
}

TEST(unknown_flags_give_einval)
{
	static const long flags[] = { 2, 3, 4, 1L << 31, 1L << 32, -1, LONG_MIN, 64, 501 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		expect_undefined(1, flags[i], 0);
		expect_undefined(1, flags[i], sizeof(struct batch_slot));
		expect_undefined(0, flags[i], 0);
	}
}

TEST(sizes_but_0_and_64_give_einval)
{
	static const long sizes[] = { 1,       8,  56,	63,	  65,	    72,
				      128,     -1, -64, LONG_MIN, 1L << 32, (1L << 32) + 64,
				      LONG_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		expect_undefined(1, 0, sizes[i]);
		expect_undefined(0, 0, sizes[i]);
	}
}

TEST(sizes_0_and_64_run)
{
	struct batch_slot call = SLOT(SYS_getpid);
	long ret = UNTOUCHED;

	expect_equal(way_run(&ret, &call, 1, 0, 0), 0);
	expect_equal(ret, getpid());
	ret = UNTOUCHED;
	expect_equal(way_run(&ret, &call, 1, 0, 64), 0);
	expect_equal(ret, getpid());
	expect_equal(way_run(&ret, &call, 0, 0, 64), 0);
}

TEST(the_query_answers_version_and_features)
{
	const long answer = 3 | (1 | 2) << 8;

	expect_equal(way_run(NULL, NULL, 0, FERRY_BATCH_QUERY, 0), answer);
	expect_equal(BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD)
					     << BATCH_FEATURE_SHIFT,
		     answer);
}

TEST(a_query_with_anything_else_gives_einval)
{
	struct batch_slot call = SLOT(SYS_getppid);
	long ret = UNTOUCHED;

	if (!checks_flags_and_size())
		return;
	expect_equal(way_run(&ret, NULL, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way_run(NULL, &call, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way_run(NULL, NULL, 1, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way_run(NULL, NULL, 0, FERRY_BATCH_QUERY, 64), -EINVAL);
	expect_equal(way_run(NULL, NULL, 0, FERRY_BATCH_QUERY | 2, 0), -EINVAL);
	expect_equal(way_run(&ret, &call, 1, FERRY_BATCH_QUERY, 64), -EINVAL);
	expect_equal(ret, UNTOUCHED);
}

TEST(arrays_too_long_to_address_give_einval)
{
	expect_refused(BATCH_MAX_SLOTS + 1, 0, 0);
	expect_refused(1UL << 57, 0, 0);
	expect_refused(1UL << 58, 0, 0); /* times 64 is 0 in a word */
	expect_refused((1UL << 58) + 1, 0, 0);
	expect_refused(1UL << 63, 0, 0);
	expect_refused(ULONG_MAX, 0, 64);
}
