// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The arguments of slots. */
#include "suite.h"

TEST(all_six_arguments_reach_the_call_in_order)
{
	int from = memory_file();
	int to = memory_file();
	off_t from_at = 3;
	off_t to_at = 5;
	unsigned char got[5];
	struct batch_slot calls[] = {
		SLOT(SYS_copy_file_range, from, &from_at, to, &to_at, 4, 0),
		SLOT(SYS_copy_file_range, from, &from_at, to, &to_at, 4, 1), /* flags must be 0 */
	};

	expect_equal(pwrite(from, "abcdefgh", 8, 0), 8);
	expect_batch(calls, 1, 4, -EINVAL);
	expect_equal(from_at, 7);
	expect_equal(to_at, 9);
	expect_equal(pread(to, got, 5, 5), 4);
	expect_bytes(got, "defg", 4);
	close(from);
	close(to);
}

TEST(arguments_are_whole_words)
{
	struct batch_slot calls[] = { result_of(0x123456789abcdef0), result_of(1L << 32),
				      result_of(LONG_MIN) };

	expect_pure(calls, 2, 0x123456789abcdef0, 1L << 32, LONG_MIN);
}

TEST(a_call_gets_six_arguments_whatever_argc_up_to_6)
{
	struct batch_slot calls[7];
	long results[7];
	int i;

	for (i = 0; i < 7; i++) {
		calls[i] = result_of(100 + i);
		calls[i].argc = (unsigned char)i;
		results[i] = 100 + i;
	}
	expect_run(calls, 7, results);
}

TEST(argc_over_6_gives_enosys)
{
	int argc;

	for (argc = 7; argc < 256; argc++) {
		struct batch_slot calls[] = { result_of(5), jumping(result_of(6), 1, -1, -1),
					      result_of(7), result_of(8) };

		if ((argc & ~BATCH_ARGC_FORWARD) <= BATCH_MAX_ARGS)
			continue;
		calls[1].argc = (unsigned char)argc;
		expect_batch(calls, 3, 5, -ENOSYS, UNTOUCHED, 8);
	}
}

TEST(a_slot_with_a_bad_argc_does_nothing)
{
	static const unsigned char argcs[] = { 7, 127, 7 | BATCH_ARGC_FORWARD, 255 };
	long word = 1;
	long other = 2;
	int file = memory_file();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(argcs); i++) {
		struct batch_slot calls[] = { SLOT(SYS_write, file, "x", 1),
					      WORD_COPY(&word, &other) };

		calls[0].argc = argcs[i];
		calls[1].argc = argcs[i];
		expect_pure(calls, 1, -ENOSYS, -ENOSYS);
	}
	expect_equal(word, 1);
	expect_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
}

TEST(the_reserved_byte_and_from_are_ignored_without_bit_7)
{
	struct batch_slot calls[] = { result_of(7), result_of(8) };
	int i;

	for (i = 0; i < 2; i++) {
		memset(calls[i].from, 0xff, sizeof(calls[i].from));
		calls[i].reserved = 0xff;
	}
	expect_pure(calls, 1, 7, 8);
}

TEST(an_array_of_the_longest_length_runs_what_is_mapped)
{
	struct guarded batch = guarded_new(130, AT_END);
	long results[130];
	int i;

	for (i = 0; i < 130; i++) {
		batch.calls[i] = result_of(i);
		results[i] = i;
	}
	expect_equal(run_batch(batch.rets, batch.calls, BATCH_MAX_SLOTS), 129);
	expect_rets(&batch, results);
}
