// SPDX-License-Identifier: MIT
/* The checker: each reason appears where it belongs and nowhere else; flow against an oracle. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <ferry.h>
#include <ferry/blocked.h>

#include "tests/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* A call with any result, a go-to over SKIP slots, and a copy between two valid words. */
#define CALL .nr = SYS_getpid
#define GOTO(skip) .nr = FERRY_NR_GOTO, .jump_fail = (skip)
#define COPY(dst, src) .nr = BATCH_WDCPY, .argc = 2, .arg = { (long)(dst), (long)(src) }

static long word_a;
static long word_b;

/* An expected problem; its reason is given in part. */
struct expected {
	unsigned long slot;
	enum ferry_severity severity;
	const char *part;
};

static void assert_problems(const struct batch_slot calls[], unsigned long ncall,
			    const struct expected expected[], size_t count)
{
	struct ferry_problem problems[32];
	long found = ferry_check(calls, ncall, problems, LENGTH(problems));

	for (long i = 0; i < found && (size_t)i < LENGTH(problems); i++)
		if ((size_t)found != count || !strstr(problems[i].reason, expected[i].part))
			print_message("slot %lu, %s: %s\n", problems[i].slot,
				      problems[i].severity == FERRY_ERROR ? "error" : "warning",
				      problems[i].reason);
	assert_int_equal(found, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(problems[i].slot, expected[i].slot);
		assert_int_equal(problems[i].severity, expected[i].severity);
		assert_non_null(strstr(problems[i].reason, expected[i].part));
	}
}

#define EXPECT(calls, ...)                                                           \
	do {                                                                         \
		const struct expected expected_[] = { __VA_ARGS__ };                 \
		assert_problems(calls, LENGTH(calls), expected_, LENGTH(expected_)); \
	} while (0)

#define EXPECT_NONE(calls) assert_problems(calls, LENGTH(calls), NULL, 0)

/* ---- arguments of ferry_check() ---- */

TEST(empty_batch_has_no_problems)
{
	struct batch_slot slot = { .nr = SYS_exit };

	assert_int_equal(ferry_check(NULL, 0, NULL, 0), 0);
	assert_int_equal(ferry_check(&slot, 0, NULL, 0), 0);
}

TEST(impossible_arguments_are_refused)
{
	struct batch_slot slot = { CALL };

	assert_int_equal(ferry_check(&slot, BATCH_MAX_SLOTS + 1, NULL, 0), -EINVAL);
	assert_int_equal(ferry_check(&slot, ULONG_MAX, NULL, 0), -EINVAL);
	assert_int_equal(ferry_check(NULL, ULONG_MAX, NULL, 0), -EINVAL);
	assert_int_equal(ferry_check(NULL, 1, NULL, 0), -EFAULT);
	assert_int_equal(ferry_check(&slot, BATCH_MAX_SLOTS, NULL, 0), -ENOMEM);
}

TEST(all_problems_are_counted_and_the_first_are_stored)
{
	struct batch_slot calls[100];
	struct ferry_problem problems[11];

	for (size_t i = 0; i < LENGTH(calls); i++)
		calls[i] = (struct batch_slot){ .nr = SYS_exit };
	memset(problems, 0x55, sizeof(problems));
	assert_int_equal(ferry_check(calls, 100, problems, 10), 100);
	for (unsigned long i = 0; i < 10; i++)
		assert_int_equal(problems[i].slot, i);
	assert_int_equal(problems[10].slot, 0x5555555555555555UL);
	assert_int_equal(ferry_check(calls, 100, NULL, 0), 100);
}

TEST(nothing_outside_the_batch_is_read)
{
	const size_t page = 4096;
	char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct batch_slot *calls = (struct batch_slot *)(pages + page);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(calls, page, PROT_READ | PROT_WRITE), 0);
	for (size_t i = 0; i < page / sizeof(*calls); i++)
		calls[i] = (struct batch_slot){ .nr = (short)(i * 1021),
						.argc = BATCH_ARGC_FORWARD | 6,
						.jump_pos = (short)(i * 511),
						.from = { (unsigned char)i, 255, 1 } };
	assert_true(ferry_check(calls, page / sizeof(*calls), NULL, 0) > 0);
	assert_int_equal(munmap(pages, 3 * page), 0);
}

/* ---- numbers ---- */

struct row {
	long nr;
	const char *name;
	const char *reason;
};

#define ROW(ctx, nr, name, reason) { nr, name, reason },

TEST(every_blocked_call_is_an_error_with_its_reason)
{
	static const struct row rows[] = { SUBCALL_BLOCKED_TABLE(ROW, ) };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct batch_slot calls[] = { { .nr = (short)rows[i].nr } };

		if (rows[i].nr == SUBCALL_NR_ABSENT)
			continue;
		EXPECT(calls, { 0, FERRY_ERROR, rows[i].reason });
		assert_string_equal(ferry_blocked_reason(rows[i].nr), rows[i].reason);
		assert_string_equal(ferry_blocked_name(rows[i].nr), rows[i].name);
	}
}

TEST(other_calls_are_not_blocked)
{
	static const long numbers[] = { SYS_getpid,
					SYS_read,
					FERRY_NR_NULL,
					FERRY_NR_KSTATS,
					SUBCALL_NR_ABSENT,
					BATCH_WDCPY,
					SUBCALL_NR_LIMIT - 1,
					SUBCALL_NR_LIMIT,
					SHRT_MAX,
					SHRT_MIN,
					65536L + SYS_exit,
					-65536L + SYS_exit,
					(1L << 32) + SYS_exit,
					LONG_MIN,
					LONG_MAX };

	for (size_t i = 0; i < LENGTH(numbers); i++) {
		assert_null(ferry_blocked_reason(numbers[i]));
		assert_null(ferry_blocked_name(numbers[i]));
	}
}

TEST(ordinary_calls_have_no_problems)
{
	const struct batch_slot calls[] = {
		{ CALL },
		{ .nr = SYS_write, .argc = 3, .arg = { -1, 0, LONG_MIN } },
		{ .nr = FERRY_NR_NULL },
		{ .nr = SUBCALL_NR_LIMIT - 1, .argc = 6 },
	};

	EXPECT_NONE(calls);
}

TEST(negative_numbers_are_meant_only_as_go_tos)
{
	const struct batch_slot calls[] = {
		{ GOTO(0) },  { GOTO(1), .argc = 1 },
		{ CALL },     { .nr = SHRT_MIN, .jump_fail = 1 },
		{ CALL },     { .nr = -3, .jump_zero = 1, .jump_pos = 1 },
		{ GOTO(-1) },
	};

	EXPECT(calls, { 0, FERRY_WARNING, "negative number" },
	       { 1, FERRY_WARNING, "negative number" }, { 2, FERRY_WARNING, "nothing leads" },
	       { 4, FERRY_WARNING, "nothing leads" }, { 5, FERRY_WARNING, "negative number" });
}

TEST(numbers_that_no_kernel_has_are_meant_only_as_go_tos)
{
	const struct batch_slot calls[] = {
		{ .nr = SUBCALL_NR_LIMIT },
		{ .nr = SHRT_MAX, .argc = 2, .jump_fail = -1 },
	};
	const struct batch_slot meant[] = {
		{ .nr = SUBCALL_NR_LIMIT, .jump_fail = 1 },
	};

	EXPECT(calls, { 0, FERRY_WARNING, "no kernel has" }, { 1, FERRY_WARNING, "no kernel has" });
	EXPECT(meant, { 0, FERRY_WARNING, "past the end" });
}

/* ---- argc, from[] and the reserved byte ---- */

TEST(argc_over_six_is_an_error)
{
	const struct batch_slot calls[] = {
		{ CALL, .argc = 6 },
		{ CALL, .argc = 7 },
		{ CALL, .argc = 127 },
		{ CALL, .argc = 6 | BATCH_ARGC_FORWARD },
		{ CALL, .argc = 7 | BATCH_ARGC_FORWARD },
		{ CALL, .argc = 255 },
	};

	EXPECT(calls, { 1, FERRY_ERROR, "bit 7" }, { 2, FERRY_ERROR, "argc is over 6" },
	       { 4, FERRY_ERROR, "argc is over 6" }, { 5, FERRY_ERROR, "argc is over 6" });
}

TEST(padding_counts_only_in_slots_that_forward)
{
	const struct batch_slot calls[] = {
		{ CALL, .reserved = 1, .from = { 1, 2, 3, 4, 255, 6 } },
		{ CALL, .argc = BATCH_ARGC_FORWARD },
		{ CALL, .argc = BATCH_ARGC_FORWARD, .reserved = 1 },
	};

	EXPECT(calls, { 2, FERRY_ERROR, "reserved byte" });
}

TEST(forwarding_from_before_slot_0_is_an_error)
{
	const struct batch_slot calls[] = {
		{ CALL, .argc = 1 | BATCH_ARGC_FORWARD, .from = { 1 } },
		{ CALL, .argc = 2 | BATCH_ARGC_FORWARD, .from = { 1, 2 } },
		{ CALL, .argc = 2 | BATCH_ARGC_FORWARD, .from = { 1, 2 } },
	};

	EXPECT(calls, { 0, FERRY_ERROR, "before slot 0" }, { 1, FERRY_ERROR, "before slot 0" });
}

TEST(forwarding_into_an_argument_that_is_not_there_is_warned_of)
{
	const struct batch_slot calls[] = {
		{ CALL },
		{ CALL, .argc = 1 | BATCH_ARGC_FORWARD, .from = { 1, 1 } },
		{ CALL, .argc = BATCH_ARGC_FORWARD, .from = { 0, 0, 0, 0, 0, 2 } },
		{ CALL, .argc = 6 | BATCH_ARGC_FORWARD, .from = { 1, 1, 1, 1, 1, 1 } },
	};

	EXPECT(calls, { 1, FERRY_WARNING, "does not have" }, { 2, FERRY_WARNING, "does not have" });
}

TEST(forwarding_from_a_slot_that_cannot_have_run_is_warned_of)
{
	const struct batch_slot calls[] = {
		{ GOTO(1) },
		{ CALL },
		{ CALL, .argc = 2 | BATCH_ARGC_FORWARD, .from = { 1, 2 } },
	};

	EXPECT(calls, { 1, FERRY_WARNING, "nothing leads" },
	       { 2, FERRY_WARNING, "never runs before" });
}

TEST(forwarding_from_a_slot_that_may_be_skipped_is_warned_of)
{
	const struct batch_slot calls[] = {
		{ CALL, .jump_fail = 1 },
		{ CALL },
		{ CALL, .argc = 2 | BATCH_ARGC_FORWARD, .from = { 1, 2 } },
		{ CALL, .argc = 1 | BATCH_ARGC_FORWARD, .from = { 1 } },
	};

	EXPECT(calls, { 2, FERRY_WARNING, "not run on every path" });
}

TEST(forwarding_is_followed_across_255_slots)
{
	static struct batch_slot calls[600];

	for (size_t i = 0; i < LENGTH(calls); i++)
		calls[i] = (struct batch_slot){ CALL };
	calls[300].argc = 1 | BATCH_ARGC_FORWARD;
	calls[300].from[0] = 255;
	EXPECT_NONE(calls);
	calls[301] = calls[300];
	calls[302] = calls[300];
	calls[44].jump_fail = 2; /* over 45 and 46 */
	EXPECT(calls, { 300, FERRY_WARNING, "every path" }, { 301, FERRY_WARNING, "every path" });
	calls[44].jump_zero = 300;
	calls[400] = calls[300];
	EXPECT(calls, { 300, FERRY_WARNING, "every path" }, { 301, FERRY_WARNING, "every path" },
	       { 400, FERRY_WARNING, "every path" });
}

TEST(forwarding_is_followed_over_a_jump_of_254_slots)
{
	static struct batch_slot calls[257];
	struct ferry_problem problems[LENGTH(calls)];

	for (size_t i = 0; i < LENGTH(calls); i++)
		calls[i] = (struct batch_slot){ CALL };
	calls[1] = (struct batch_slot){ GOTO(254) };
	calls[256] = (struct batch_slot){ CALL, .argc = 1 | BATCH_ARGC_FORWARD, .from = { 255 } };
	assert_int_equal(ferry_check(calls, 257, problems, 257), 254);
	assert_int_equal(problems[0].slot, 2);
	assert_int_equal(problems[253].slot, 255);
	calls[256].from[0] = 254;
	assert_int_equal(ferry_check(calls, 257, problems, 257), 255);
	assert_int_equal(problems[254].slot, 256);
	assert_non_null(strstr(problems[254].reason, "never runs"));
}

/* ---- flow ---- */

TEST(slots_that_nothing_reaches_are_warned_of)
{
	const struct batch_slot calls[] = {
		{ CALL, .jump_fail = 3, .jump_zero = 3, .jump_pos = -1 },
		{ CALL },
		{ GOTO(1) },
		{ .nr = SYS_exit },
		{ CALL },
	};

	EXPECT(calls, { 1, FERRY_WARNING, "nothing leads" }, { 2, FERRY_WARNING, "nothing leads" },
	       { 3, FERRY_WARNING, "nothing leads" },
	       { 3, FERRY_ERROR, ferry_blocked_reason(SYS_exit) });
}

TEST(slot_that_can_only_fail_takes_only_that_jump)
{
	const struct batch_slot blocked[] = { { .nr = SYS_exit, .jump_fail = 1 },
					      { CALL },
					      { CALL } };
	const struct batch_slot argc[] = { { CALL, .argc = 9, .jump_fail = 1 },
					   { CALL },
					   { CALL } };
	const struct batch_slot absent[] = { { .nr = 20000, .jump_fail = 1 }, { CALL }, { CALL } };

	EXPECT(blocked, { 0, FERRY_ERROR, "ends the caller" },
	       { 1, FERRY_WARNING, "nothing leads" });
	EXPECT(argc, { 0, FERRY_ERROR, "argc" }, { 1, FERRY_WARNING, "nothing leads" });
	EXPECT(absent, { 1, FERRY_WARNING, "nothing leads" });
}

TEST(word_copy_never_has_a_positive_result)
{
	const struct batch_slot calls[] = {
		{ COPY(&word_a, &word_b), .jump_fail = 1, .jump_zero = 1 },
		{ CALL },
		{ CALL },
	};

	EXPECT(calls, { 1, FERRY_WARNING, "nothing leads" });
}

TEST(jumps_to_the_end_are_fine_and_jumps_past_it_warned_of)
{
	const struct batch_slot calls[] = {
		{ CALL, .jump_fail = 3, .jump_zero = -1, .jump_pos = SHRT_MIN },
		{ CALL, .jump_pos = 3 },
		{ CALL, .jump_fail = 2, .jump_zero = SHRT_MAX, .jump_pos = 1 },
		{ CALL, .jump_zero = 1 },
	};
	const struct batch_slot not_taken[] = { { GOTO(-1), .jump_zero = 9, .jump_pos = 9 } };

	EXPECT(calls, { 1, FERRY_WARNING, "nothing leads" }, { 2, FERRY_WARNING, "nothing leads" },
	       { 3, FERRY_WARNING, "nothing leads" });
	EXPECT_NONE(not_taken);
}

TEST(jumps_past_the_end_are_warned_of_once_per_slot)
{
	const struct batch_slot calls[] = {
		{ CALL, .jump_pos = 3 },
		{ CALL, .jump_fail = 2, .jump_zero = SHRT_MAX },
		{ CALL, .jump_zero = 1 },
	};

	EXPECT(calls, { 0, FERRY_WARNING, "past the end" }, { 1, FERRY_WARNING, "past the end" },
	       { 2, FERRY_WARNING, "past the end" });
}

TEST(longest_jump_is_followed)
{
	const unsigned long ncall = SHRT_MAX + 3UL;
	struct batch_slot *calls = calloc(ncall, sizeof(*calls));
	struct ferry_problem *problems = calloc(ncall, sizeof(*problems));

	assert_non_null(calls);
	assert_non_null(problems);
	for (unsigned long i = 0; i < ncall; i++)
		calls[i] = (struct batch_slot){ CALL };
	calls[0] = (struct batch_slot){ GOTO(SHRT_MAX) };
	assert_int_equal(ferry_check(calls, ncall, problems, ncall), SHRT_MAX);
	assert_int_equal(problems[0].slot, 1);
	assert_int_equal(problems[SHRT_MAX - 1].slot, SHRT_MAX);
	free(problems);
	free(calls);
}

/* ---- word copies ---- */

TEST(word_copy_needs_both_pointers)
{
	const struct batch_slot calls[] = {
		{ COPY(&word_a, (char *)&word_b + 1) },
		{ COPY(NULL, &word_b) },
		{ COPY(&word_a, NULL) },
		{ COPY(NULL, NULL) },
	};

	EXPECT(calls, { 1, FERRY_ERROR, "destination" }, { 2, FERRY_ERROR, "source" },
	       { 3, FERRY_ERROR, "destination" }, { 3, FERRY_ERROR, "source" });
}

TEST(word_copy_has_two_arguments)
{
	struct batch_slot calls[] = { { COPY(&word_a, &word_b) }, { COPY(&word_a, &word_b) } };

	calls[0].argc = 1;
	calls[1].argc = 3;
	EXPECT(calls, { 0, FERRY_WARNING, "two arguments" }, { 1, FERRY_WARNING, "two arguments" });
}

TEST(forwarded_pointer_of_a_word_copy_is_not_null)
{
	const struct batch_slot calls[] = {
		{ CALL },
		{ .nr = BATCH_WDCPY,
		  .argc = 2 | BATCH_ARGC_FORWARD,
		  .from = { 1 },
		  .arg = { 0, (long)&word_b } },
		{ .nr = BATCH_WDCPY,
		  .argc = 2 | BATCH_ARGC_FORWARD,
		  .from = { 2 },
		  .arg = { 0, 0 } },
	};

	EXPECT(calls, { 2, FERRY_ERROR, "source" });
}

TEST(pointer_that_an_earlier_copy_may_write_is_not_null)
{
	struct batch_slot calls[] = {
		{ COPY(&calls[1].arg[1], &word_a) },
		{ COPY(&word_b, NULL) },
		{ COPY(&calls[1].arg[1], &word_a) },
		{ COPY((char *)&calls[4].arg[0] + 1, &word_a) },
		{ COPY(NULL, NULL) },
		{ COPY(NULL, &word_a) },
	};

	EXPECT(calls, { 5, FERRY_ERROR, "destination" });
}

TEST(copy_that_cannot_run_writes_nothing)
{
	struct batch_slot calls[] = {
		{ GOTO(1) },
		{ COPY(&calls[4].arg[1], &word_a) },
		{ COPY(&calls[4].arg[1], NULL) },
		{ COPY(&calls[4].arg[1], &word_a) },
		{ COPY(&word_b, NULL) },
	};

	calls[3].argc = 7;
	EXPECT(calls, { 1, FERRY_WARNING, "nothing leads" }, { 2, FERRY_ERROR, "source" },
	       { 3, FERRY_ERROR, "argc" }, { 3, FERRY_WARNING, "two arguments" },
	       { 4, FERRY_ERROR, "source" });
}

TEST(slot_whose_number_a_copy_may_write_can_be_anything)
{
	struct batch_slot calls[] = {
		{ COPY(&calls[1], &word_a) },
		{ .nr = SYS_exit, .jump_fail = 30 },
		{ GOTO(1) },
		{ CALL },
		{ CALL, .argc = 1 | BATCH_ARGC_FORWARD, .from = { 1 } },
		{ .nr = SYS_exit_group },
	};

	EXPECT(calls, { 5, FERRY_ERROR, "ends the caller" });
}

TEST(slot_whose_argc_a_copy_may_write_is_judged_by_its_number)
{
	struct batch_slot calls[] = {
		{ COPY(&calls[2].argc, &word_a) },
		{ COPY(&calls[3].argc, &word_a) },
		{ CALL, .argc = 77, .reserved = 1 },
		{ .nr = SYS_exit, .argc = 77, .jump_fail = 1 },
		{ CALL },
		{ CALL },
	};

	EXPECT(calls, { 3, FERRY_ERROR, "ends the caller" }, { 4, FERRY_WARNING, "nothing leads" });
}

TEST(copy_to_a_place_that_is_not_fixed_is_not_followed)
{
	struct batch_slot forwarded[] = {
		{ CALL },
		{ COPY(&forwarded[2], &word_a) },
		{ .nr = SYS_exit },
	};
	struct batch_slot written[] = {
		{ COPY(&written[1].arg[0], &word_a) },
		{ COPY(&written[2], &word_a) },
		{ .nr = SYS_exit },
	};

	EXPECT_NONE(forwarded);
	forwarded[1].argc |= BATCH_ARGC_FORWARD;
	forwarded[1].from[0] = 1;
	EXPECT(forwarded, { 2, FERRY_ERROR, "ends the caller" });
	EXPECT(written, { 2, FERRY_ERROR, "ends the caller" });
}

TEST(copies_next_to_the_batch_write_none_of_it)
{
	struct batch_slot around[4] = {
		[1] = { COPY(&around[0].arg[5], &word_a) },
		[2] = { .nr = SYS_exit },
	};

	around[1].arg[0] = (long)&around[3];
	assert_int_equal(ferry_check(&around[1], 2, NULL, 0), 1);
	around[1].arg[0] = (long)&around[3] - (long)sizeof(long) + 1;
	assert_int_equal(ferry_check(&around[1], 2, NULL, 0), 1);
	around[1].arg[0] = LONG_MAX;
	assert_int_equal(ferry_check(&around[1], 2, NULL, 0), 1);
	around[1].arg[0] = -1;
	assert_int_equal(ferry_check(&around[1], 2, NULL, 0), 1);
	around[1].arg[0] = (long)&around[2] - (long)sizeof(long) + 1;
	assert_int_equal(ferry_check(&around[1], 2, NULL, 0), 0);
}

/* ---- the flow against an oracle that walks every path ---- */

#define SMALL 8

struct oracle {
	const struct batch_slot *calls;
	unsigned int reached;
	unsigned int some[SMALL];  /* slots that ran on some path to this one */
	unsigned int every[SMALL]; /* ... on every path */
};

static void walk(struct oracle *oracle, unsigned long i, unsigned int ran)
{
	const struct batch_slot *slot = &oracle->calls[i];
	bool first = !(oracle->reached >> i & 1);
	const short jumps[] = { slot->jump_fail, slot->jump_zero, slot->jump_pos };
	int results = slot->nr == FERRY_NR_GOTO ? 1 : 3;

	oracle->reached |= 1U << i;
	oracle->some[i] |= ran;
	oracle->every[i] = first ? ran : oracle->every[i] & ran;
	for (int k = 0; k < results; k++)
		if (jumps[k] >= 0 && i + 1 + (unsigned long)jumps[k] < SMALL)
			walk(oracle, i + 1 + (unsigned long)jumps[k], ran | 1U << i);
}

static size_t oracle_says(const struct oracle *oracle, struct expected expected[])
{
	size_t count = 0;

	for (unsigned long i = 0; i < SMALL; i++) {
		const struct batch_slot *slot = &oracle->calls[i];
		unsigned long source = i - slot->from[0];

		if (!(oracle->reached >> i & 1))
			expected[count++] = (struct expected){ i, FERRY_WARNING, "nothing leads" };
		else if (!slot->from[0])
			continue;
		else if (!(oracle->some[i] >> source & 1))
			expected[count++] = (struct expected){ i, FERRY_WARNING, "never runs" };
		else if (!(oracle->every[i] >> source & 1))
			expected[count++] = (struct expected){ i, FERRY_WARNING, "every path" };
	}
	return count;
}

static short random_jump(unsigned long i)
{
	return (short)(rand() % (int)(SMALL - i + 1) - 1);
}

static void random_flow(struct batch_slot calls[])
{
	for (unsigned long i = 0; i < SMALL; i++) {
		unsigned char from = (unsigned char)(rand() % (int)(i + 1));

		calls[i] = (struct batch_slot){ CALL,
						.argc = 1 | BATCH_ARGC_FORWARD,
						.from = { from },
						.jump_fail = random_jump(i),
						.jump_zero = random_jump(i),
						.jump_pos = random_jump(i) };
		if (rand() % 4 == 0)
			calls[i] = (struct batch_slot){ GOTO(rand() % 2 ? -1 : 1) };
		if (calls[i].nr == FERRY_NR_GOTO && i + 1 == SMALL)
			calls[i].jump_fail = -1;
	}
}

TEST(random_flows_match_a_walk_of_every_path)
{
	const char *given = getenv("SEED");
	unsigned int seed =
		given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	struct batch_slot calls[SMALL];
	struct expected expected[SMALL];

	print_message("seed %u (set SEED to repeat)\n", seed);
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		struct oracle oracle = { .calls = calls };

		random_flow(calls);
		walk(&oracle, 0, 0);
		assert_problems(calls, SMALL, expected, oracle_says(&oracle, expected));
	}
}

TEST_MAIN
