// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Word copies: what they may read and write, their results and jumps. */
#include "suite.h"

TEST(a_word_is_copied)
{
	static long words[3];
	struct batch_slot calls[] = { WORD_COPY(&words[1], &words[0]) };

	words[0] = 0x123456789abcdef0;
	words[1] = -1;
	words[2] = -1;
	expect_pure(calls, 0, 0);
	expect_equal(words[1], words[0]);
	expect_equal(words[2], -1);
}

TEST(a_word_copy_gives_0_whatever_the_word)
{
	static const long values[] = { 0, 1, -1, -EFAULT, LONG_MIN };
	long word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		struct batch_slot calls[] = { jumping(WORD_COPY(&word, &values[i]), -1, 1, -1),
					      result_of(2), result_of(3) };

		expect_pure(calls, 2, 0, UNTOUCHED, 3);
		expect_equal(word, values[i]);
	}
}

TEST(a_word_copy_needs_no_alignment)
{
	unsigned char from[16] = "abcdefghijklmno";
	unsigned char to[17];
	unsigned char want[17];
	size_t i;

	for (i = 0; i < 8; i++) {
		struct batch_slot calls[] = { WORD_COPY(to + i, from + 7 - i) };

		memset(to, '.', sizeof(to));
		memset(want, '.', sizeof(want));
		memcpy(want + i, from + 7 - i, 8);
		expect_pure(calls, 0, 0);
		expect_bytes(to, want, sizeof(to));
	}
}

TEST(a_word_copy_reads_overlapping_words_before_it_writes)
{
	int distance;

	for (distance = -7; distance <= 7; distance++) {
		unsigned char bytes[] = "0123456789abcdefghijklmn";
		unsigned char want[] = "0123456789abcdefghijklmn";
		struct batch_slot calls[] = { WORD_COPY(bytes + 8 + distance, bytes + 8) };

		memmove(want + 8 + distance, want + 8, 8);
		expect_batch(calls, 0, 0);
		expect_bytes(bytes, want, sizeof(bytes));
	}
}

TEST(a_word_copy_may_straddle_pages)
{
	unsigned char *map =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const long value = 0x0102030405060708;
	struct batch_slot calls[] = { WORD_COPY(map + PAGE - 3, &value),
				      WORD_COPY(map, map + PAGE - 3) };

	expect(map != MAP_FAILED);
	expect_batch(calls, 1, 0, 0);
	expect_bytes(map, &value, 8);
	munmap(map, 2 * PAGE);
}

TEST(a_result_flows_into_a_later_argument)
{
	struct guarded batch = guarded_new(3, AT_END);
	const long results[] = { 99, 0, 99 };

	batch.calls[0] = result_of(99);
	batch.calls[1] = WORD_COPY(&batch.calls[2].arg[1], &batch.rets[0]);
	batch.calls[2] = result_of(0);
	expect_equal(run_batch(batch.rets, batch.calls, 3), 2);
	expect_rets(&batch, results);
	expect_equal(batch.calls[2].arg[1], 99);
}

TEST(a_later_header_can_be_replaced)
{
	struct guarded batch = guarded_new(5, AT_END);
	const long head = head_word(jumping(SLOT(SYS_getpid), 0, 0, 1));
	const long results[] = { 0, getpid(), UNTOUCHED, 4, 5 };

	batch.calls[0] = WORD_COPY(&batch.calls[1], &head);
	batch.calls[1] = SLOT(-1);
	batch.calls[2] = result_of(3);
	batch.calls[3] = result_of(4);
	batch.calls[4] = result_of(5);
	expect_equal(run_batch(batch.rets, batch.calls, 5), 4);
	expect_rets(&batch, results);
}

TEST(a_later_argc_and_operands_can_be_replaced)
{
	struct guarded batch = guarded_new(3, AT_END);
	struct batch_slot slot = forwarding(result_of(1), 1, 2);
	const long results[] = { 55, 0, 55 };

	batch.calls[0] = result_of(55);
	batch.calls[1] = WORD_COPY(&batch.calls[2].argc, &slot.argc);
	batch.calls[2] = result_of(2);
	expect_equal(run_batch(batch.rets, batch.calls, 3), 2);
	expect_rets(&batch, results);
}

/* A later slot, between writes, that becomes a write. */
TEST(a_header_replaced_within_a_run_of_writes_is_honoured)
{
	struct guarded batch = guarded_new(200, AT_END);
	const long head = head_word(SLOT(SYS_getpid));
	int file = memory_file();
	long results[200];
	int i;

	for (i = 0; i < 200; i++) {
		batch.calls[i] = SLOT(SYS_write, file, pattern(256) + i, 1);
		results[i] = 1;
	}
	batch.calls[50] = WORD_COPY(&batch.calls[51], &head);
	batch.calls[52] = WORD_COPY(&batch.calls[180], &head);
	results[50] = 0;
	results[51] = getpid();
	results[52] = 0;
	results[180] = getpid();
	expect_equal(run_batch(batch.rets, batch.calls, 200), 199);
	expect_rets(&batch, results);
	expect_equal(lseek(file, 0, SEEK_CUR), 196);
	close(file);
}

/* It turns the slots after it into a run of writes of the words that it moves. */
TEST(words_moved_between_writes_are_written_as_they_were_then)
{
	struct guarded batch = guarded_new(128, AT_END);
	int file = memory_file();
	long results[128];
	long want[64];
	long got[64];
	long values[64];
	long word = -1;
	int i;

	for (i = 0; i < 64; i++) {
		values[i] = 1000 + i;
		want[i] = i % 2 ? values[i - 1] : values[i];
		/* Every second copy reads from the wrong place and so changes nothing. */
		batch.calls[2 * i] = WORD_COPY(&word, i % 2 ? &word : &values[i]);
		batch.calls[2 * i + 1] = SLOT(SYS_write, file, &word, 8);
		results[2 * i] = 0;
		results[2 * i + 1] = 8;
	}
	expect_equal(run_batch(batch.rets, batch.calls, 128), 127);
	expect_rets(&batch, results);
	expect_equal(pread(file, got, sizeof(got), 0), sizeof(got));
	expect_bytes(got, want, sizeof(got));
	close(file);
}

TEST(a_word_copy_may_overwrite_the_results_of_other_slots)
{
	struct guarded batch = guarded_new(5, AT_END);
	const long value = 4242;
	const long results[] = { 4242, 0, 0, 4242, 5 };

	batch.calls[0] = result_of(1);
	batch.calls[1] = WORD_COPY(&batch.rets[0], &value);
	batch.calls[2] = jumping(WORD_COPY(&batch.rets[3], &value), 0, 1, 0);
	batch.calls[3] = result_of(4);
	batch.calls[4] = result_of(5);
	expect_equal(run_batch(batch.rets, batch.calls, 5), 4);
	expect_rets(&batch, results);
}

TEST(the_result_of_a_word_copy_is_stored_after_the_copy)
{
	struct guarded batch = guarded_new(2, AT_END);
	const long value = 4242;
	const long results[] = { 0, 7 };

	batch.calls[0] = WORD_COPY(&batch.rets[0], &value);
	batch.calls[1] = result_of(7);
	expect_equal(run_batch(batch.rets, batch.calls, 2), 1);
	expect_rets(&batch, results);
}

TEST(a_copy_over_itself_or_slots_that_ran_changes_no_result)
{
	struct guarded batch = guarded_new(4, AT_END);
	const long head = head_word(jumping(SLOT(-1), -1, -1, -1));
	const long results[] = { 1, 0, 0, 4 };

	batch.calls[0] = result_of(1);
	batch.calls[1] = WORD_COPY(&batch.calls[1], &head);
	batch.calls[2] = WORD_COPY(&batch.calls[0], &head);
	batch.calls[3] = result_of(4);
	expect_equal(run_batch(batch.rets, batch.calls, 4), 3);
	expect_rets(&batch, results);
	expect_equal(batch.calls[1].nr, -1);
	expect_equal(batch.calls[0].nr, -1);
}

TEST(a_word_copy_ignores_argc)
{
	long word = 1;
	const long value = 2;
	int argc;

	for (argc = 0; argc <= 6; argc++) {
		struct batch_slot calls[] = { WORD_COPY(&word, &value) };

		word = 1;
		calls[0].argc = (unsigned char)argc;
		expect_pure(calls, 0, 0);
		expect_equal(word, 2);
	}
}

/* ---- bad pointers: -EFAULT, or SIGSEGV where the loop may run ---- */

struct bad_copy {
	long to;
	long from;
};

static void copy_badly(void *arg)
{
	const struct bad_copy *bad = arg;
	struct batch_slot calls[] = { jumping(WORD_COPY(bad->to, bad->from), 1, -1, -1),
				      result_of(2), result_of(3) };

	expect_batch(calls, 2, -EFAULT, UNTOUCHED, 3);
}

static void expect_fault(long to, long from)
{
	struct bad_copy bad = { to, from };
	int status = in_child(copy_badly, &bad);

	if (word_copy_may_fault() && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		return;
	expect(WIFEXITED(status));
	expect_equal(WEXITSTATUS(status), 0);
}

TEST(bad_pointers_of_word_copies_give_efault)
{
	static long word;
	unsigned char *map =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(map != MAP_FAILED);
	expect(!mprotect(map + PAGE, PAGE, PROT_NONE));
	expect_fault((long)&word, 0);
	expect_fault(0, (long)&word);
	expect_fault((long)&word, LONG_MIN); /* the kernel's half */
	expect_fault(LONG_MIN, (long)&word);
	if (!SANITIZED) { /* the sanitizer aborts where a range ends at 0 */
		expect_fault((long)&word, -8);
		expect_fault(-8, (long)&word);
	}
	expect_fault((long)&word, (long)(map + PAGE));
	expect_fault((long)(map + PAGE - 4), (long)&word);
	expect_fault((long)&word, (long)(map + PAGE - 4));
	expect(!mprotect(map, PAGE, PROT_READ));
	expect_fault((long)map, (long)&word);
	expect_equal(word, 0);
	munmap(map, 2 * PAGE);
}
