// SPDX-License-Identifier: MIT
/*
 * Each function, when the first, the second, ... allocation fails, and when all from then on do:
 * it ends, says so or does the whole job, and loses no memory, which ASan checks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "tree.h"

#define FILES 200
#define FILE_SIZE 9000
#define MOST_SECONDS 120

/* ---- allocations that fail ---- */

static atomic_long allocations, fails_at = -1;
static bool fails_from_then_on;

static bool fails(void)
{
	const long at = atomic_load(&fails_at), now = atomic_fetch_add(&allocations, 1);

	return at >= 0 && (now == at || (fails_from_then_on && now > at));
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

/* ---- jobs: each returns what its function does, and in ITEMS how many it has done ---- */

static char **names;
static const struct ferry_files_options four = { .threads = 4 };
static const struct ferry_files_options timed = { .threads = 2, .timeout_ms = 60000 };

static int count_entries(void *context, struct ferry_block *block)
{
	*(size_t *)context += block->count;
	return block->error;
}

static long walk(unsigned int flags, const struct ferry_files_options *options, size_t *items)
{
	const char *excluded[] = { "*.no", NULL };
	const struct ferry_walk_filter filter = { .exclude = excluded, .ignore_file = ".ignore" };

	return ferry_walk_filtered(AT_FDCWD, "tree", flags | FERRY_WALK_ENDS, STATX_SIZE, &filter,
				   count_entries, items, options);
}

static long walk_plain(size_t *items)
{
	return walk(0, &four, items);
}

static long walk_sorted(size_t *items)
{
	return walk(FERRY_WALK_SORTED, &four, items);
}

static long walk_with_a_limit(size_t *items)
{
	return walk(0, &timed, items);
}

static int count_files(void *context, const struct ferry_contents *contents)
{
	*(size_t *)context += contents->is_last && !contents->error;
	return 0;
}

static long read_each(unsigned int flags, const struct ferry_files_options *options, size_t *items)
{
	return ferry_read_each(AT_FDCWD, (const char *const *)names, FILES, flags, 1, count_files,
			       items, options);
}

static long read_in_order(size_t *items)
{
	return read_each(FERRY_READ_IN_ORDER, &four, items);
}

static long read_in_any_order(size_t *items)
{
	return read_each(0, &four, items);
}

static long read_with_a_limit(size_t *items)
{
	return read_each(0, &timed, items);
}

static long read_files(size_t *items)
{
	static char memory[FILES * (FILE_SIZE + 16)];
	static struct ferry_file files[FILES];
	struct ferry_arena arena = { .memory = memory, .size = sizeof(memory) };
	long failed;
	size_t i;

	memset(files, 0, sizeof(files));
	failed = ferry_read_files(AT_FDCWD, (const char *const *)names, FILES, 0, files, &arena,
				  &four);
	for (i = 0; i < FILES; i++)
		*items += !files[i].error && files[i].length == FILE_SIZE;
	return failed;
}

static const struct {
	const char *name;
	long (*run)(size_t *items);
} jobs[] = {
	{ "walk", walk_plain },
	{ "sorted walk", walk_sorted },
	{ "walk with a time limit", walk_with_a_limit },
	{ "read in order", read_in_order },
	{ "read in any order", read_in_any_order },
	{ "read with a time limit", read_with_a_limit },
	{ "read files", read_files },
};

/* ---- the test ---- */

/* Runs JOB without allocation AT.  Returns whether it needs no such one. */
static bool run_without(size_t job, long at, size_t all)
{
	size_t items = 0;
	long result;

	atomic_store(&allocations, 0);
	atomic_store(&fails_at, at);
	alarm(MOST_SECONDS);
	result = jobs[job].run(&items);
	alarm(0);
	atomic_store(&fails_at, -1);
	/* A call without its thread fails alone, with EAGAIN. */
	if (result >= 0)
		assert_int_equal(items + (size_t)result, all);
	else
		assert_true(result == -ENOMEM || result == -EAGAIN);
	return atomic_load(&allocations) <= at;
}

static void fail_each(size_t job)
{
	size_t all = 0;
	long at;

	assert_int_equal(jobs[job].run(&all), 0);
	assert_true(all >= FILES);
	for (at = 0; !run_without(job, at, all); at++)
		;
	print_message("%s: %ld allocations\n", jobs[job].name, at);
}

TREE_TEST(test_each_allocation_may_fail)
{
	FILE *patterns;
	size_t i;

	make_random_tree("tree", 300, 1);
	patterns = fopen("tree/.ignore", "w");
	REQUIRE(patterns && fputs("*.no\n", patterns) >= 0 && !fclose(patterns));
	names = make_names("file", FILES);
	for (i = 0; i < FILES; i++)
		make_file(names[i], FILE_SIZE);
	for (i = 0; i < 2 * sizeof(jobs) / sizeof(*jobs); i++) {
		fails_from_then_on = i % 2;
		fail_each(i / 2);
	}
	free_names(names, FILES);
}

TEST_MAIN
