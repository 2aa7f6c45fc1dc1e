// SPDX-License-Identifier: MIT
/* Programs that are rewritten by their own calls and results. */
#include "contract/suite.h"

/* A file that contains SLOTS. */
static int file_of(const struct batch_slot slots[], size_t count)
{
	int file = disk_file();

	expect_equal(pwrite(file, slots, count * sizeof(*slots), 0), count * sizeof(*slots));
	return file;
}

TEST(a_read_over_its_own_slot_keeps_the_jumps_it_was_fetched_with)
{
	const struct batch_slot over = jumping(SLOT(-1, 1, 2, 3), -1, -1, -1);
	int file = file_of(&over, 1);
	struct guarded batch = guarded_new(4, AT_END);
	const long results[] = { 64, UNTOUCHED, UNTOUCHED, 3 };

	batch.calls[0] = jumping(SLOT(SYS_pread64, file, batch.calls, 64, 0), -1, -1, 2);
	batch.calls[1] = result_of(1);
	batch.calls[2] = result_of(2);
	batch.calls[3] = result_of(3);
	expect_equal(run_batch(batch.rets, batch.calls, 4), 3);
	expect_rets(&batch, results);
	expect_bytes(&batch.calls[0], &over, sizeof(over));
	close(file);
}

TEST(a_read_over_a_later_slot_is_honoured)
{
	const struct batch_slot over = jumping(result_of(77), 0, 0, 1);
	int file = file_of(&over, 1);
	struct guarded batch = guarded_new(5, AT_END);
	const long results[] = { 64, 1, 77, UNTOUCHED, 4 };

	batch.calls[0] = SLOT(SYS_pread64, file, &batch.calls[2], 64, 0);
	batch.calls[1] = result_of(1);
	batch.calls[2] = SLOT(SYS_exit_group, 1);
	batch.calls[3] = result_of(3);
	batch.calls[4] = result_of(4);
	expect_equal(run_batch(batch.rets, batch.calls, 5), 4);
	expect_rets(&batch, results);
	close(file);
}

TEST(a_read_over_a_header_alone_is_honoured)
{
	const struct batch_slot over = jumping(SLOT(SYS_getpid), 0, 0, -1);
	int file = file_of(&over, 1);
	struct guarded batch = guarded_new(3, AT_END);
	const long results[] = { 8, getpid(), UNTOUCHED };

	batch.calls[0] = SLOT(SYS_pread64, file, &batch.calls[1], 8, 0);
	batch.calls[1] = SLOT(-1);
	batch.calls[2] = result_of(2);
	expect_equal(run_batch(batch.rets, batch.calls, 3), 1);
	expect_rets(&batch, results);
	close(file);
}

TEST(a_program_can_be_read_from_a_pipe)
{
	struct batch_slot rest[63];
	struct guarded batch = guarded_new(64, AT_END);
	long results[64];
	int ends[2];
	int i;

	for (i = 0; i < 63; i++) {
		rest[i] = result_of(i);
		results[i + 1] = i;
	}
	results[0] = sizeof(rest);
	expect(!pipe2(ends, O_CLOEXEC));
	expect_equal(write(ends[1], rest, sizeof(rest)), sizeof(rest));
	batch.calls[0] = SLOT(SYS_read, ends[0], &batch.calls[1], sizeof(rest));
	expect_equal(run_batch(batch.rets, batch.calls, 64), 63);
	expect_rets(&batch, results);
	close(ends[0]);
	close(ends[1]);
}

/* A run of preads of one file; slot AT overwrites slot TARGET. */
struct rewriting {
	int (*new_file)(void);
	unsigned long at;
	unsigned long target;
};

static void rewrite_slot(void *arg)
{
	const struct rewriting *rewriting = arg;
	const unsigned long at = rewriting->at;
	const unsigned long target = rewriting->target;
	const struct batch_slot over = SLOT(-9);
	int file = rewriting->new_file();
	struct guarded batch = guarded_new(120, AT_END);
	static unsigned char buffer[120];
	long results[120];
	unsigned long i;

	expect_equal(write(file, &over, sizeof(over)), sizeof(over));
	for (i = 0; i < 120; i++) {
		batch.calls[i] = SLOT(SYS_pread64, file, &buffer[i], 1, 8);
		results[i] = 1;
	}
	batch.calls[at] = SLOT(SYS_pread64, file, &batch.calls[target], 64, 0);
	results[at] = 64;
	if (target > at)
		results[target] = -ENOSYS;
	expect_equal(run_batch(batch.rets, batch.calls, 120), 119);
	expect_rets(&batch, results);
	expect_bytes(&batch.calls[target], &over, sizeof(over));
}

TEST(preads_into_the_slots_of_their_own_run_are_honoured)
{
	static const struct rewriting cases[] = {
		{ memory_file, 10, 60 }, { disk_file, 0, 1 },	{ disk_file, 0, 119 },
		{ disk_file, 10, 11 },	 { disk_file, 10, 60 }, { disk_file, 60, 119 },
		{ disk_file, 60, 60 },	 { disk_file, 60, 3 },	{ disk_file, 119, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		expect_child(rewrite_slot, (void *)&cases[i]);
}

/* A pread that stores an argument of a later slot of its run: the file offset. */
static void rewrite_arguments(void *arg)
{
	struct guarded batch = guarded_new(90, AT_END);
	static unsigned char buffer[90];
	const long offset = 4;
	long results[90];
	int file = file_kinds[*(int *)arg]();
	int i;

	expect_equal(pwrite(file, &offset, 8, 0), 8);
	for (i = 0; i < 90; i++) {
		batch.calls[i] = SLOT(SYS_pread64, file, &buffer[i], 1, 0);
		results[i] = 1;
	}
	batch.calls[20] = SLOT(SYS_pread64, file, &batch.calls[21].arg[3], 8, 0);
	batch.calls[40] = SLOT(SYS_pread64, file, &batch.calls[80].arg[3], 8, 0);
	results[20] = 8;
	results[40] = 8;
	expect_equal(run_batch(batch.rets, batch.calls, 90), 89);
	expect_rets(&batch, results);
	expect_equal(buffer[19], 4);
	expect_equal(buffer[21], 0);
	expect_equal(buffer[80], 0);
}

TEST(preads_into_later_arguments_are_honoured)
{
	int kind;

	for (kind = 0; kind < FILE_KINDS; kind++)
		expect_child(rewrite_arguments, &kind);
}

static void rewrite_results(void *arg)
{
	struct guarded batch = guarded_new(60, AT_END);
	static unsigned char buffer[60];
	long words[60];
	long results[60];
	int file = file_kinds[*(int *)arg]();
	int i;

	for (i = 0; i < 60; i++) {
		words[i] = 100 + i;
		batch.calls[i] = SLOT(SYS_pread64, file, &buffer[i], 1, 0);
		results[i] = i < 30 ? words[i] : 1;
	}
	expect_equal(pwrite(file, words, sizeof(words), 0), sizeof(words));
	/* Slot 30 overwrites every result, its own too; those from 30 on are stored later. */
	batch.calls[30] = SLOT(SYS_pread64, file, batch.rets, sizeof(words), 0);
	results[30] = sizeof(words);
	expect_equal(run_batch(batch.rets, batch.calls, 60), 59);
	expect_rets(&batch, results);
}

TEST(preads_into_results_are_overwritten_by_later_slots_only)
{
	int kind;

	for (kind = 0; kind < FILE_KINDS; kind++)
		expect_child(rewrite_results, &kind);
}

TEST(writes_of_results_take_them_as_they_are_then)
{
	struct guarded batch = guarded_new(64, AT_END);
	long results[64];
	long got[64];
	int file = memory_file();
	int i;

	/* Each slot writes the result of the one before it; slot 0 writes a later result. */
	for (i = 0; i < 64; i++) {
		batch.calls[i] = SLOT(SYS_write, file, &batch.rets[i ? i - 1 : 63], 8);
		results[i] = 8;
	}
	expect_equal(run_batch(batch.rets, batch.calls, 64), 63);
	expect_rets(&batch, results);
	expect_equal(pread(file, got, sizeof(got), 0), sizeof(got));
	expect_equal(got[0], UNTOUCHED);
	for (i = 1; i < 64; i++)
		expect_equal(got[i], 8);
	close(file);
}

TEST(writes_of_slots_take_them_as_they_are_then)
{
	struct guarded batch = guarded_new(40, AT_END);
	const long marker = 0x1122334455667788;
	long got;
	long results[40];
	int file = memory_file();
	int i;

	for (i = 0; i < 40; i++) {
		batch.calls[i] = SLOT(SYS_write, file, &batch.calls[0].arg[5], 8);
		results[i] = 8;
	}
	batch.calls[20] = WORD_COPY(&batch.calls[0].arg[5], &marker);
	results[20] = 0;
	expect_equal(run_batch(batch.rets, batch.calls, 40), 39);
	expect_rets(&batch, results);
	expect_equal(pread(file, &got, 8, 19L * 8), 8);
	expect_equal(got, 0);
	expect_equal(pread(file, &got, 8, 20L * 8), 8);
	expect_equal(got, marker);
	close(file);
}

/* rets[] overlaps a later slot: the result becomes its header. */
TEST(results_stored_over_a_later_slot_are_honoured)
{
	struct guarded batch = guarded_new(4, AT_END);
	const long head = head_word(jumping(SLOT(SYS_getpid), 0, 0, -1));

	batch.calls[0] = result_of(head);
	batch.calls[1] = SLOT(-1);
	batch.calls[2] = result_of(2);
	batch.calls[3] = result_of(3);
	/* rets[1] overlaps an argument of slot 1 itself. */
	expect_equal(run_batch((long *)&batch.calls[1], batch.calls, 4), 1);
	expect_equal(head_word(batch.calls[1]), head);
	expect_equal(((long *)&batch.calls[1])[1], getpid());
	expect_guards(__FILE__, __LINE__, &batch);
}

enum { CHANGED = 40, RUN = 64, UNKNOWN = 512 };

/* An engine that looks ahead must not plan the run before slot 0 changes it. */
TEST(a_slot_may_change_where_the_run_behind_it_ends)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct guarded batch = guarded_new(1 + RUN, AT_END);
	struct batch_slot write_and_end = jumping(SLOT(SYS_write, null, "x", 1), -1, -1, -1);
	long results[1 + RUN] = { 0 };
	int i;

	for (i = 1; i <= RUN; i++) {
		batch.calls[i] = SLOT(SYS_write, null, "x", 1);
		results[i] = i <= CHANGED ? 1 : UNTOUCHED;
	}
	batch.calls[0] = WORD_COPY(&batch.calls[CHANGED], &write_and_end);
	expect_equal(run_batch(batch.rets, batch.calls, 1 + RUN), CHANGED);
	expect_rets(&batch, results);
	close(null);
}

/*
 * rets[] overlaps slot 40 of a run: the result 512 of slots 0, 8, 16, 24 and 32 becomes
 * the number of slots 40 to 44, and -ENOSYS of slot 40 the header of slot 45, which ends
 * the batch.
 */
TEST(results_stored_over_a_run_are_honoured)
{
	static const char text[UNKNOWN];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct guarded batch = guarded_new(RUN, AT_END);
	int i;

	for (i = 0; i < RUN; i++)
		batch.calls[i] = SLOT(SYS_write, null, text, UNKNOWN);
	expect_equal(run_batch((long *)&batch.calls[CHANGED], batch.calls, RUN), CHANGED + 5);
	expect_guards(__FILE__, __LINE__, &batch);
	close(null);
}
