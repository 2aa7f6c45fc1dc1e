// SPDX-License-Identifier: MIT
/* The arguments of slots, and those of batch() itself. */
#include "groups.h"

static void all_six_arguments_reach_the_call_in_order(void **state)
{
	int from = memory_file();
	int to = memory_file();
	off_t from_at = 3;
	off_t to_at = 5;
	unsigned char got[5];
	struct ferry_slot calls[] = {
		SLOT(SYS_copy_file_range, from, &from_at, to, &to_at, 4, 0),
		SLOT(SYS_copy_file_range, from, &from_at, to, &to_at, 4, 1), /* flags must be 0 */
	};

	(void)state;
	expect_equal(pwrite(from, "abcdefgh", 8, 0), 8);
	expect_batch(calls, 1, 4, -EINVAL);
	expect_equal(from_at, 7);
	expect_equal(to_at, 9);
	expect_equal(pread(to, got, 5, 5), 4);
	expect_bytes(got, "defg", 4);
	close(from);
	close(to);
}

static void arguments_are_whole_words(void **state)
{
	struct ferry_slot calls[] = { result_of(0x123456789abcdef0), result_of(1L << 32),
				      result_of(LONG_MIN) };

	(void)state;
	expect_pure(calls, 2, 0x123456789abcdef0, 1L << 32, LONG_MIN);
}

static void argc_up_to_6_is_no_limit_on_the_arguments(void **state)
{
	struct ferry_slot calls[7];
	long results[7];
	int i;

	(void)state;
	for (i = 0; i < 7; i++) {
		calls[i] = result_of(100 + i);
		calls[i].argc = (unsigned char)i;
		results[i] = 100 + i;
	}
	expect_run(calls, 7, results);
}

static void argc_over_6_gives_enosys(void **state)
{
	int argc;

	(void)state;
	for (argc = 7; argc < 256; argc++) {
		struct ferry_slot calls[] = { result_of(5), jumping(result_of(6), 1, -1, -1),
					      result_of(7), result_of(8) };

		if ((argc & ~FERRY_ARGC_FORWARD) <= FERRY_MAX_ARGS)
			continue;
		calls[1].argc = (unsigned char)argc;
		expect_batch(calls, 3, 5, -ENOSYS, UNTOUCHED, 8);
	}
}

static void a_slot_with_a_bad_argc_does_nothing(void **state)
{
	static const unsigned char argcs[] = { 7, 127, 7 | FERRY_ARGC_FORWARD, 255 };
	long word = 1;
	long other = 2;
	int file = memory_file();
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(argcs); i++) {
		struct ferry_slot calls[] = { SLOT(SYS_write, file, "x", 1),
					      WORD_COPY(&word, &other) };

		calls[0].argc = argcs[i];
		calls[1].argc = argcs[i];
		expect_pure(calls, 1, -ENOSYS, -ENOSYS);
	}
	expect_equal(word, 1);
	expect_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
}

static void the_reserved_byte_and_from_are_ignored_without_bit_7(void **state)
{
	struct ferry_slot calls[] = { result_of(7), result_of(8) };
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		memset(calls[i].from, 0xff, sizeof(calls[i].from));
		calls[i].reserved = 0xff;
	}
	expect_pure(calls, 1, 7, 8);
}

/* ---- the arguments of batch() ---- */

static void expect_refused(unsigned long ncall, long flags, long size)
{
	struct guarded batch = guarded_new(1, AT_END);
	const long untouched[] = { UNTOUCHED };

	batch.calls[0] = SLOT(SYS_getppid);
	expect_equal(way->run(batch.rets, batch.calls, ncall, flags, size), -EINVAL);
	expect_rets(&batch, untouched);
}

/* Of a batch whose FLAGS and SIZE are not defined, the header runs as many slots as of any. */
static void expect_undefined(unsigned long ncall, long flags, long size)
{
	struct ferry_slot call = SLOT(SYS_getpid);
	long ret = UNTOUCHED;

	if (checks_flags_and_size()) {
		expect_refused(ncall, flags, size);
		return;
	}
	expect_equal(way->run(&ret, &call, ncall, flags, size), 0);
	expect_equal(ret, ncall ? getpid() : UNTOUCHED);
}

static void unknown_flags_give_einval(void **state)
{
	static const long flags[] = { 2, 3, 4, 1L << 31, 1L << 32, -1, LONG_MIN, 64, 501 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		expect_undefined(1, flags[i], 0);
		expect_undefined(1, flags[i], sizeof(struct ferry_slot));
		expect_undefined(0, flags[i], 0);
	}
}

static void sizes_but_0_and_64_give_einval(void **state)
{
	static const long sizes[] = { 1,       8,  56,	63,	  65,	    72,
				      128,     -1, -64, LONG_MIN, 1L << 32, (1L << 32) + 64,
				      LONG_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		expect_undefined(1, 0, sizes[i]);
		expect_undefined(0, 0, sizes[i]);
	}
}

static void sizes_0_and_64_run(void **state)
{
	struct ferry_slot call = SLOT(SYS_getpid);
	long ret = UNTOUCHED;

	(void)state;
	expect_equal(way->run(&ret, &call, 1, 0, 0), 0);
	expect_equal(ret, getpid());
	ret = UNTOUCHED;
	expect_equal(way->run(&ret, &call, 1, 0, 64), 0);
	expect_equal(ret, getpid());
	expect_equal(way->run(&ret, &call, 0, 0, 64), 0);
}

static void the_query_answers_version_and_features(void **state)
{
	const long answer = 2 | (1 | 2) << 8;

	(void)state;
	expect_equal(way->run(NULL, NULL, 0, FERRY_BATCH_QUERY, 0), answer);
	expect_equal(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD)
						 << FERRY_FEATURE_SHIFT,
		     answer);
}

static void a_query_with_anything_else_gives_einval(void **state)
{
	struct ferry_slot call = SLOT(SYS_getppid);
	long ret = UNTOUCHED;

	(void)state;
	if (!checks_flags_and_size())
		return;
	expect_equal(way->run(&ret, NULL, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way->run(NULL, &call, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way->run(NULL, NULL, 1, FERRY_BATCH_QUERY, 0), -EINVAL);
	expect_equal(way->run(NULL, NULL, 0, FERRY_BATCH_QUERY, 64), -EINVAL);
	expect_equal(way->run(NULL, NULL, 0, FERRY_BATCH_QUERY | 2, 0), -EINVAL);
	expect_equal(way->run(&ret, &call, 1, FERRY_BATCH_QUERY, 64), -EINVAL);
	expect_equal(ret, UNTOUCHED);
}

static void arrays_too_long_to_address_give_einval(void **state)
{
	(void)state;
	expect_refused(FERRY_MAX_SLOTS + 1, 0, 0);
	expect_refused(1UL << 57, 0, 0);
	expect_refused(1UL << 58, 0, 0); /* times 64 is 0 in a word */
	expect_refused((1UL << 58) + 1, 0, 0);
	expect_refused(1UL << 63, 0, 0);
	expect_refused(ULONG_MAX, 0, 64);
}

static void an_array_of_the_longest_length_runs_what_is_mapped(void **state)
{
	struct guarded batch = guarded_new(130, AT_END);
	long results[130];
	int i;

	(void)state;
	for (i = 0; i < 130; i++) {
		batch.calls[i] = result_of(i);
		results[i] = i;
	}
	expect_equal(run_batch(batch.rets, batch.calls, FERRY_MAX_SLOTS), 129);
	expect_rets(&batch, results);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(all_six_arguments_reach_the_call_in_order),
	cmocka_unit_test(arguments_are_whole_words),
	cmocka_unit_test(argc_up_to_6_is_no_limit_on_the_arguments),
	cmocka_unit_test(argc_over_6_gives_enosys),
	cmocka_unit_test(a_slot_with_a_bad_argc_does_nothing),
	cmocka_unit_test(the_reserved_byte_and_from_are_ignored_without_bit_7),
	cmocka_unit_test(unknown_flags_give_einval),
	cmocka_unit_test(sizes_but_0_and_64_give_einval),
	cmocka_unit_test(sizes_0_and_64_run),
	cmocka_unit_test(the_query_answers_version_and_features),
	cmocka_unit_test(a_query_with_anything_else_gives_einval),
	cmocka_unit_test(arrays_too_long_to_address_give_einval),
	cmocka_unit_test(an_array_of_the_longest_length_runs_what_is_mapped),
};

GROUP(arguments_group, tests);
