// SPDX-License-Identifier: MIT
/*
 * The library's use of memory and errno: failed allocations leave programs unchanged,
 * running allocates nothing, and errno is never touched.
 *
 * Linked with --wrap for each allocating function that the library calls.
 */
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>

#include "tests/unit.h"

/* ---- the wrapped allocator ---- */

static long allocations; /* since the test last set it to 0 */
static long fail_at;	 /* the allocation to fail, counted from 1; 0: none */

static bool fails(void)
{
	allocations++;
	if (allocations != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__real_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
	return fails() ? NULL : __real_tsearch(key, root, compare);
}

/* ---- failed allocations ---- */

/* All steps that can allocate, in an order that grows the array three times. */
static int step(struct ferry_program *program, int number)
{
	const char label[2] = { (char)('a' + number / 6), 0 };

	switch (number % 6) {
	case 0:
		return ferry_goto(program, label);
	case 3:
		return ferry_jump_to(program, (int)ferry_program_length(program) - 1, FERRY_ALWAYS,
				     label);
	case 5:
		return ferry_label(program, label);
	default:
		return ferry_call(program, SYS_getpid, number);
	}
}

#define STEPS (6 * 26)

struct snapshot {
	unsigned long length;
	const char *missing;
	const struct batch_slot *slots;
};

static struct snapshot take(struct ferry_program *program)
{
	return (struct snapshot){ ferry_program_length(program),
				  ferry_program_missing_label(program),
				  ferry_program_slots(program) };
}

static void assert_unchanged(struct ferry_program *program, const struct snapshot *before)
{
	struct snapshot now = take(program);

	assert_int_equal(now.length, before->length);
	assert_ptr_equal(now.missing, before->missing);
	assert_ptr_equal(now.slots, before->slots);
}

/* Builds; allocation number FAILING fails and its step is repeated.  Returns the failures. */
static int build(struct ferry_program *program, long failing)
{
	struct snapshot before;
	int failures = 0;
	int result;

	allocations = 0;
	fail_at = failing;
	for (int i = 0; i < STEPS; i++) {
		before = take(program);
		result = step(program, i);
		if (result >= 0)
			continue;
		assert_int_equal(result, -ENOMEM);
		assert_unchanged(program, &before);
		failures++;
		i--;
	}
	fail_at = 0;
	return failures;
}

TEST(failed_allocation_leaves_the_program_as_it_was)
{
	struct ferry_program *expected = ferry_program_new();
	long total;

	assert_non_null(expected);
	assert_int_equal(build(expected, 0), 0);
	total = allocations;
	assert_true(total > 2 * 26);
	for (long failing = 1; failing <= total; failing++) {
		struct ferry_program *program = ferry_program_new();

		assert_non_null(program);
		assert_int_equal(build(program, failing), 1);
		assert_int_equal(ferry_program_length(program), ferry_program_length(expected));
		assert_memory_equal(ferry_program_slots(program), ferry_program_slots(expected),
				    ferry_program_length(expected) * sizeof(struct batch_slot));
		ferry_program_free(program);
	}
	ferry_program_free(expected);
}

TEST(new_program_fails_cleanly_without_memory)
{
	struct ferry_program *program = NULL;

	for (fail_at = 1; !program; fail_at++) {
		allocations = 0;
		program = ferry_program_new();
		assert_true(fail_at < 10);
	}
	fail_at = 0;
	ferry_program_free(program);
}

TEST(check_reports_that_memory_ran_out)
{
	static const struct batch_slot slot = { .nr = SYS_getpid };

	allocations = 0;
	fail_at = 1;
	assert_int_equal(ferry_check(&slot, 1, NULL, 0), -ENOMEM);
	fail_at = 0;
	assert_int_equal(allocations, 1);
	assert_int_equal(ferry_check(&slot, 1, NULL, 0), 0);
}

/* ---- running ---- */

#define WRITES 64

static struct ferry_program *writes_to_a_pipe(int fd)
{
	struct ferry_program *program = ferry_program_new();

	assert_non_null(program);
	for (int i = 0; i < WRITES; i++)
		assert_int_equal(ferry_call(program, SYS_write, fd, "x", 1), i);
	return program;
}

TEST(running_allocates_nothing_after_the_first_run)
{
	int pipe_fds[2];
	struct ferry_program *program;
	long rets[WRITES];

	assert_int_equal(pipe(pipe_fds), 0);
	program = writes_to_a_pipe(pipe_fds[1]);
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++) {
		if (ferry_engine_use(engine))
			continue;
		assert_int_equal(ferry_run(program, rets), WRITES - 1);
		allocations = 0;
		for (int i = 0; i < 100; i++) {
			assert_int_equal(ferry_run(program, rets), WRITES - 1);
			assert_int_equal(
				ferry_batch(rets, ferry_program_slots(program), WRITES, 0, 0),
				WRITES - 1);
			assert_int_equal(rets[WRITES - 1], 1);
		}
		assert_int_equal(allocations, 0);
	}
	ferry_program_free(program);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* ---- errno ---- */

#define MARK 4242

static void build_and_check_with_errors(void)
{
	struct ferry_program *program = ferry_program_new();
	struct ferry_problem problem;

	ferry_call(program, 1L << 20);
	ferry_goto(program, "x");
	ferry_goto(program, "");
	ferry_jump_to(program, 5, FERRY_ALWAYS, "x");
	ferry_run(program, NULL);
	ferry_label(program, "x");
	ferry_label(program, "x");
	ferry_forward(program, 0, 0, 0);
	ferry_check(ferry_program_slots(program), 1, &problem, 1);
	ferry_check(NULL, ULONG_MAX, NULL, 0);
	ferry_program_free(program);
}

static void run_with_errors(enum ferry_engine engine)
{
	struct batch_slot calls[WRITES];
	long rets[WRITES];

	for (int i = 0; i < WRITES; i++)
		calls[i] = (struct batch_slot){ .nr = SYS_write,
						.argc = 3,
						.arg = { -1, (long)"x", 1 } };
	calls[0] = (struct batch_slot){ .nr = SYS_exit };
	calls[1] = (struct batch_slot){ .nr = SYS_openat, .argc = 3, .arg = { -1, (long)"x", 0 } };
	ferry_engine_probe(engine, NULL);
	ferry_engine_use(engine);
	ferry_engine_in_use();
	ferry_engine_auto(NULL);
	ferry_batch(rets, calls, WRITES, 0, 0);
	ferry_batch_on(engine, rets, calls, WRITES, 0, 0);
	ferry_batch_on(engine, rets, NULL, 1, 0, 0);
	ferry_batch_on(engine, rets, calls, ULONG_MAX, 0, 0);
}

TEST(errno_is_left_alone)
{
	struct ferry_program *program;

	errno = MARK;
	build_and_check_with_errors();
	assert_int_equal(errno, MARK);
	for (int engine = FERRY_AUTO; engine <= FERRY_ENGINES; engine++) {
		run_with_errors(engine);
		assert_int_equal(errno, MARK);
	}
	program = ferry_program_new();
	assert_non_null(program);
	errno = MARK;
	assert_int_equal(build(program, 3), 1);
	new_program_fails_cleanly_without_memory(NULL);
	check_reports_that_memory_ran_out(NULL);
	assert_int_equal(errno, MARK);
	ferry_program_free(program);
}

TEST_MAIN
