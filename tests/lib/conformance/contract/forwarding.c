// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Operands forwarded from earlier results. */
#include <sys/stat.h>

#include "suite.h"

#define POISON 0x6b6b6b6b6b6b6b6bL

TEST(each_argument_can_be_forwarded)
{
	unsigned int arg;

	for (arg = 0; arg < 6; arg++) {
		int from = memory_file();
		int to = memory_file();
		off_t from_at = 2;
		off_t to_at = 1;
		unsigned char got[5];
		struct batch_slot copy =
			SLOT(SYS_copy_file_range, from, &from_at, to, &to_at, 4, 0);
		struct batch_slot calls[] = { result_of(copy.arg[arg]), SLOT(-1), copy };

		calls[2].arg[arg] = POISON;
		calls[2] = forwarding(calls[2], arg, 2);
		expect_equal(pwrite(from, "abcdefgh", 8, 0), 8);
		expect_batch(calls, 2, copy.arg[arg], -ENOSYS, 4);
		expect_equal(pread(to, got, 5, 0), 5);
		expect_bytes(got, "\0cdef", 5);
		close(from);
		close(to);
	}
}

TEST(all_arguments_can_be_forwarded_at_once)
{
	int from = memory_file();
	int to = memory_file();
	off_t at = 0;
	const long args[] = { from, (long)&at, to, 0, 3, 0 };
	struct batch_slot calls[7];
	unsigned int k;

	expect_equal(pwrite(from, "abc", 3, 0), 3);
	calls[6] = SLOT(SYS_copy_file_range, POISON, POISON, POISON, POISON, POISON, POISON);
	for (k = 0; k < 6; k++) {
		calls[k] = result_of(args[k]);
		calls[6] = forwarding(calls[6], k, (unsigned char)(6 - k));
	}
	expect_batch(calls, 6, from, (long)&at, to, 0, 3, 0, 3);
	expect_equal(at, 3);
	expect_equal(lseek(to, 0, SEEK_END), 3);
	close(from);
	close(to);
}

TEST(a_descriptor_flows_through_a_chain)
{
	char path[] = "/tmp/conformance.XXXXXX";
	int made = mkstemp(path);
	int out = memory_file();
	char buffer[16] = "";
	char got[16] = "";
	struct batch_slot calls[] = {
		jumping(SLOT(SYS_openat, AT_FDCWD, path, O_RDONLY), -1, 0, 0),
		forwarding(SLOT(SYS_read, POISON, buffer, sizeof(buffer)), 0, 1),
		forwarding(SLOT(SYS_write, out, buffer, POISON), 2, 1),
		forwarding(SLOT(SYS_close, POISON), 0, 3),
	};
	long rets[4];

	expect_equal(write(made, "flow", 4), 4);
	expect_equal(run_batch(rets, calls, 4), 3);
	expect(rets[0] >= 0);
	expect_equal(rets[1], 4);
	expect_equal(rets[2], 4);
	expect_equal(rets[3], 0);
	expect_equal(fcntl((int)rets[0], F_GETFD), -1);
	expect_equal(pread(out, got, sizeof(got), 0), 4);
	expect_bytes(got, "flow", 4);
	close(made);
	close(out);
	unlink(path);
}

TEST(distances_go_from_1_to_255)
{
	static const int distances[] = { 1, 2, 3, 64, 127, 128, 129, 254, 255 };
	struct batch_slot calls[256];
	long results[256];
	size_t k;
	int i;

	for (k = 0; k < ARRAY_SIZE(distances); k++) {
		for (i = 0; i < 256; i++) {
			calls[i] = result_of(1000 + i);
			results[i] = 1000 + i;
		}
		calls[255] = forwarding(calls[255], 1, (unsigned char)distances[k]);
		results[255] = 1000 + 255 - distances[k];
		expect_run(calls, 256, results);
	}
}

TEST(a_distance_beyond_slot_0_gives_einval)
{
	unsigned int arg;

	for (arg = 0; arg < 6; arg++) {
		struct batch_slot calls[] = { result_of(1), result_of(2),
					      jumping(result_of(3), 1, -1, -1), result_of(4),
					      result_of(5) };

		calls[2] = forwarding(calls[2], arg, 3);
		expect_pure(calls, 4, 1, 2, -EINVAL, UNTOUCHED, 5);
		calls[2].from[arg] = 255;
		expect_pure(calls, 4, 1, 2, -EINVAL, UNTOUCHED, 5);
	}
}

TEST(slot_0_has_nothing_to_forward)
{
	struct batch_slot calls[] = { forwarding(result_of(1), 0, 1), result_of(2) };

	expect_pure(calls, 1, -EINVAL, 2);
}

TEST(a_distance_counts_slots_of_the_array_not_slots_that_ran)
{
	struct batch_slot calls[] = { jumping(result_of(11), 0, 0, 2), result_of(22), result_of(33),
				      forwarding(result_of(44), 1, 3) };

	expect_pure(calls, 3, 11, UNTOUCHED, UNTOUCHED, 11);
}

TEST(a_skipped_slot_forwards_what_the_caller_left)
{
	struct batch_slot calls[] = { jumping(result_of(11), 0, 0, 1), result_of(22),
				      forwarding(result_of(33), 1, 1) };
	struct guarded batch = guarded_new(3, AT_END);
	const long results[] = { 11, 1234567890123, 1234567890123 };

	expect_pure(calls, 2, 11, UNTOUCHED, UNTOUCHED);
	memcpy(batch.calls, calls, sizeof(calls));
	batch.rets[1] = results[1];
	expect_equal(run_batch(batch.rets, batch.calls, 3), 2);
	expect_rets(&batch, results);
}

TEST(failures_are_forwarded_like_other_results)
{
	struct batch_slot calls[] = { SLOT(SYS_close, -1), forwarding(result_of(1), 1, 1) };

	expect_pure(calls, 1, -EBADF, -EBADF);
}

TEST(a_result_changed_since_is_forwarded_as_it_is_now)
{
	struct guarded batch = guarded_new(3, AT_END);
	const long value = 777;
	const long results[] = { 777, 0, 777 };

	batch.calls[0] = result_of(5);
	batch.calls[1] = WORD_COPY(&batch.rets[0], &value);
	batch.calls[2] = forwarding(result_of(6), 1, 2);
	expect_equal(run_batch(batch.rets, batch.calls, 3), 2);
	expect_rets(&batch, results);
}

TEST(a_reserved_byte_that_is_not_0_gives_einval)
{
	static const unsigned char values[] = { 1, 2, 0x80, 0xff };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		struct batch_slot calls[] = { result_of(1),
					      jumping(forwarding(result_of(2), 1, 1), 1, -1, -1),
					      result_of(3), result_of(4) };

		calls[1].reserved = values[i];
		expect_pure(calls, 3, 1, -EINVAL, UNTOUCHED, 4);
		calls[1].from[1] = 0; /* bit 7 alone is enough */
		expect_pure(calls, 3, 1, -EINVAL, UNTOUCHED, 4);
	}
}

TEST(bit_7_with_no_operand_changes_nothing)
{
	int argc;

	for (argc = 0; argc <= 6; argc++) {
		struct batch_slot calls[] = { result_of(9) };

		calls[0].argc = (unsigned char)(BATCH_ARGC_FORWARD | argc);
		expect_pure(calls, 0, 9);
	}
}

TEST(operands_beyond_argc_are_forwarded_and_checked_too)
{
	struct batch_slot calls[] = { result_of(1), result_of(2) };

	calls[1].argc = BATCH_ARGC_FORWARD;
	calls[1].from[1] = 1;
	expect_pure(calls, 1, 1, 1);
	calls[1].from[5] = 2;
	expect_pure(calls, 1, 1, -EINVAL);
}

/* argc is checked first, then forwarding, then the number. */
TEST(argc_is_checked_before_forwarding_and_forwarding_before_the_number)
{
	struct batch_slot bad = {
		.nr = SYS_exit_group, .argc = BATCH_ARGC_FORWARD | 7, .from = { 255 }, .reserved = 1
	};
	struct batch_slot calls[] = { bad, bad, bad, bad, bad, bad, bad };

	calls[1].argc = BATCH_ARGC_FORWARD;
	calls[2].argc = BATCH_ARGC_FORWARD;
	calls[2].from[0] = 0;
	calls[3].argc = BATCH_ARGC_FORWARD;
	calls[3].reserved = 0;
	calls[4] = calls[3];
	calls[4].nr = -1;
	calls[5] = calls[3];
	calls[5].nr = 32767;
	calls[6] = calls[3];
	calls[6].from[0] = 6;
	expect_pure(calls, 6, -ENOSYS, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -ENOSYS);
}

TEST(a_slot_that_cannot_be_forwarded_to_has_no_effect)
{
	long word = 1;
	long other = 2;
	int file = memory_file();
	struct batch_slot calls[] = { forwarding(SLOT(SYS_write, file, "x", 1), 5, 1),
				      forwarding(WORD_COPY(&word, &other), 3, 2) };

	expect_pure(calls, 1, -EINVAL, -EINVAL);
	expect_equal(word, 1);
	expect_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
}

TEST(a_word_copy_takes_forwarded_addresses)
{
	static long words[2];
	struct batch_slot calls[] = { result_of((long)&words[0]), result_of((long)&words[1]),
				      forwarding(forwarding(WORD_COPY(8, 8), 0, 2), 1, 1) };

	words[0] = 1;
	words[1] = 2;
	expect_batch(calls, 2, (long)&words[0], (long)&words[1], 0);
	expect_equal(words[0], 2);
}

TEST(forwarding_within_a_run_of_writes_is_exact)
{
	struct batch_slot calls[130];
	long results[130];
	int file = memory_file();
	int i;

	/* Each slot writes as many bytes as the one before; every tenth slot writes 3. */
	for (i = 0; i < 130; i++) {
		calls[i] = SLOT(SYS_write, file, pattern(16), 3);
		results[i] = 3;
		if (i % 10)
			calls[i] = forwarding(SLOT(SYS_write, file, pattern(16), POISON), 2, 1);
	}
	expect_run(calls, 130, results);
	expect_equal(lseek(file, 0, SEEK_CUR), 3 * 130);
	close(file);
}
