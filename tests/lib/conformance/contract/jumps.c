// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Which slot runs next, when a batch ends, and what it returns. */
#include "suite.h"

TEST(empty_batch_returns_0_and_touches_nothing)
{
	struct guarded batch = guarded_new(1, AT_END);
	const long untouched[] = { UNTOUCHED };
	void *nowhere = (void *)strtoul("8", NULL, 0); /* gcc warns of one that it knows */

	expect_equal(run_batch(NULL, NULL, 0), 0);
	expect_equal(run_batch(nowhere, nowhere, 0), 0);
	batch.calls[0] = SLOT(SYS_getppid);
	expect_equal(run_batch(batch.rets, batch.calls, 0), 0);
	expect_rets(&batch, untouched);
}

TEST(slots_run_in_order_without_jumps)
{
	struct batch_slot calls[] = { result_of(7), result_of(0), result_of(-5), result_of(8) };

	expect_pure(calls, 3, 7, 0, -5, 8);
}

TEST(one_slot_returns_0)
{
	struct batch_slot calls[] = { SLOT(SYS_getpid) };

	expect_pure(calls, 0, getpid());
}

/* Slot 0 has the result VALUE.  It skips 1 slot after a failure, 2 after 0, 3 otherwise. */
static void expect_kind(long value, int skipped)
{
	struct batch_slot calls[6];
	long results[6];
	int i;

	calls[0] = jumping(result_of(value), 1, 2, 3);
	results[0] = value;
	for (i = 1; i < 6; i++) {
		calls[i] = result_of(i);
		results[i] = i <= skipped ? UNTOUCHED : i;
	}
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, 6, 5, results, 6);
}

TEST(failures_are_minus_4095_to_minus_1)
{
	static const long values[] = { -1, -2, -38, -511, -517, -4094, -4095 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		expect_kind(values[i], 1);
}

TEST(only_0_takes_the_jump_for_0)
{
	expect_kind(0, 2);
}

TEST(every_other_result_takes_the_positive_jump)
{
	static const long values[] = {
		1,
		2,
		4095,
		4096,
		32768,
		65536,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000,
		LONG_MAX,
		LONG_MAX - 1,
		-4096,
		-4097,
		-65536,
		INT_MIN,
		LONG_MIN,
		LONG_MIN + 1,
		-0x100000000,
		0x7fffffff00000000,
		-4096000,
		1L << 62,
		(1L << 32) - 4095,
		-(1L << 32) - 1,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		expect_kind(values[i], 3);
}

/* A batch of N slots.  The first, with RESULT, jumps by SKIP; the others do not jump. */
static void expect_skip(long result, short skip, unsigned long n)
{
	struct guarded batch = guarded_new(n, AT_END);
	unsigned long target = skip < 0 ? n : 1 + (unsigned long)skip;
	long *results = malloc(n * sizeof(long));
	unsigned long i;

	expect(results);
	batch.calls[0] = jumping(result_of(result), 0, 0, 0);
	if (result == 0)
		batch.calls[0].jump_zero = skip;
	else if (result > 0)
		batch.calls[0].jump_pos = skip;
	else
		batch.calls[0].jump_fail = skip;
	results[0] = result;
	for (i = 1; i < n; i++) {
		batch.calls[i].nr = -1;
		results[i] = i < target ? UNTOUCHED : -ENOSYS;
	}
	expect_equal(run_batch(batch.rets, batch.calls, n), target < n ? (long)n - 1 : 0);
	expect_rets(&batch, results);
	free(results);
}

TEST(jumps_skip_as_many_slots_as_they_say)
{
	static const long results[] = { -EBADF, 0, 9 };
	static const short skips[] = { 0, 1, 2, 3, 62, 63, 64, 65, 127, 128, 255, 256, 300, 511 };
	size_t r;
	size_t s;

	for (r = 0; r < ARRAY_SIZE(results); r++)
		for (s = 0; s < ARRAY_SIZE(skips); s++)
			expect_skip(results[r], skips[s], 600);
}

TEST(the_longest_jump_skips_32767_slots)
{
	expect_skip(-EBADF, 32767, 32770);
	expect_skip(0, 32767, 32770);
	expect_skip(1, 32767, 32770);
}

TEST(a_jump_to_the_last_slot_runs_it)
{
	expect_skip(1, 3, 5);
	expect_skip(1, 32767, 32769);
}

TEST(a_jump_exactly_to_the_end_ends_the_batch)
{
	expect_skip(1, 4, 5);
	expect_skip(0, 63, 64);
	expect_skip(-1, 32767, 32768);
}

TEST(a_jump_past_the_end_ends_the_batch)
{
	static const short skips[] = { 1, 2, 63, 64, 65, 4096, 32766, 32767 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(skips); i++) {
		expect_skip(-1, skips[i], 1);
		expect_skip(0, skips[i], 1);
		expect_skip(1, skips[i], 1);
		expect_skip(1, skips[i], skips[i] > 1 ? 2 : 1);
	}
}

TEST(negative_jumps_end_the_batch)
{
	static const short skips[] = { -1, -2, -64, -32767, -32768 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(skips); i++) {
		expect_skip(-1, skips[i], 70);
		expect_skip(0, skips[i], 70);
		expect_skip(1, skips[i], 70);
		expect_skip(1, skips[i], 1);
	}
}

TEST(the_last_slot_of_a_batch_may_jump_anywhere)
{
	struct batch_slot calls[] = { result_of(1), result_of(2), result_of(3) };

	calls[2].jump_pos = 32767;
	expect_pure(calls, 2, 1, 2, 3);
	calls[2].jump_pos = -32768;
	expect_pure(calls, 2, 1, 2, 3);
}

TEST(jumps_that_are_not_taken_do_nothing)
{
	struct batch_slot calls[] = { jumping(result_of(0), -1, 0, -1),
				      jumping(result_of(5), -1, -1, 0),
				      jumping(result_of(-5), 0, -1, -1), result_of(6) };

	expect_pure(calls, 3, 0, 5, -5, 6);
}

TEST(a_batch_that_ends_early_returns_the_slot_that_ended_it)
{
	struct batch_slot calls[] = { result_of(1), jumping(result_of(0), 0, -1, 0), result_of(3) };

	expect_pure(calls, 1, 1, 0, UNTOUCHED);
}

TEST(a_slot_that_always_fails_works_as_a_go_to)
{
	struct batch_slot calls[] = { jumping(SLOT(-1), 2, 0, 0), result_of(1), result_of(2),
				      jumping(SLOT(-1), 0, -1, -1), result_of(4) };

	expect_pure(calls, 4, -ENOSYS, UNTOUCHED, UNTOUCHED, -ENOSYS, 4);
}

TEST(a_chain_of_jumps_runs_the_slots_it_lands_on)
{
	struct guarded batch = guarded_new(3000, AT_END);
	static long results[3000];
	unsigned long last = 0;
	unsigned long at = 0;
	unsigned long i;

	for (i = 0; i < 3000; i++) {
		batch.calls[i] = jumping(result_of((long)(i % 3) - 1), (short)(i % 7),
					 (short)(i % 66), (short)(i % 11));
		results[i] = UNTOUCHED;
	}
	while (at < 3000) {
		results[at] = (long)(at % 3) - 1;
		last = at;
		at += 1 + (results[at] < 0 ? at % 7 : results[at] ? at % 11 : at % 66);
	}
	expect_equal(run_batch(batch.rets, batch.calls, 3000), last);
	expect_rets(&batch, results);
}

TEST(a_long_batch_runs_every_slot)
{
	struct guarded batch = guarded_new(10000, AT_START);
	static long results[10000];
	long i;

	for (i = 0; i < 10000; i++) {
		batch.calls[i] = SLOT(i % 2 ? SYS_getpid : -1);
		results[i] = i % 2 ? getpid() : -ENOSYS;
	}
	expect_equal(run_batch(batch.rets, batch.calls, 10000), 9999);
	expect_rets(&batch, results);
}

TEST(the_first_path_that_exists_ends_a_search)
{
	struct batch_slot calls[5];
	static const char *const paths[] = { "/nowhere/a", "/proc/self/fd/x", "/dev/null",
					     "/dev/zero", "/" };
	int i;

	for (i = 0; i < 5; i++)
		calls[i] = jumping(SLOT(SYS_faccessat, AT_FDCWD, paths[i], F_OK), 0, -1, -1);
	expect_pure(calls, 2, -ENOENT, -ENOENT, 0, UNTOUCHED, UNTOUCHED);
}

/* The kernel may put off what follows from a close to the return to user space. */
TEST(a_pipe_ends_with_its_last_writer_before_the_next_slot)
{
	int file = memory_file();
	int closed[2], replaced[2], ranged[2];
	char byte;

	expect(!pipe2(closed, O_CLOEXEC) && !pipe2(replaced, O_CLOEXEC) &&
	       !pipe2(ranged, O_CLOEXEC));

	const struct batch_slot calls[] = {
		SLOT(SYS_close, closed[1]),
		SLOT(SYS_read, closed[0], &byte, 1),
		SLOT(SYS_dup3, file, replaced[1], 0),
		SLOT(SYS_read, replaced[0], &byte, 1),
		SLOT(SYS_close_range, ranged[1], ranged[1], 0),
		SLOT(SYS_read, ranged[0], &byte, 1),
	};

	expect_batch(calls, 5, 0, 0, replaced[1], 0, 0, 0);
}
