// SPDX-License-Identifier: MIT
/* What ferry du counts where files change their sizes during the walk. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "cli/du_count.h"

typedef int (*take_block)(void *context, struct ferry_block *block);

/* The walk of a test, and the call of ferry_walk() that it takes the place of. */
static void (*walk)(take_block take, void *context);

int __wrap_ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
		      take_block take, void *context, const struct ferry_files_options *options);

int __wrap_ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
		      take_block take, void *context, const struct ferry_files_options *options)
{
	(void)dir;
	(void)path;
	(void)flags;
	(void)mask;
	(void)options;
	walk(take, context);
	return 0;
}

/* Passes an entry of DIRECTORY at DEPTH.  Returns what counting has stored in it. */
static void *pass(take_block take, void *context, unsigned int depth, void *directory,
		  const char *name, unsigned char type, const struct statx *stat)
{
	struct ferry_walk_entry entry = { .name = name, .type = type, .stat = stat };
	struct ferry_block block = {
		.path = "",
		.context = directory,
		.entries = &entry,
		.count = 1,
		.depth = depth,
	};

	assert_int_equal(take(context, &block), 0);
	return entry.context;
}

static void keep_largest(void *largest, const struct du_item *item)
{
	if (item->sum.amount > *(du_bytes *)largest)
		*(du_bytes *)largest = item->sum.amount;
}

/* The largest number that ferry du would show after WALKED. */
static du_bytes largest_after(void (*walked)(take_block take, void *context),
			      unsigned int max_depth)
{
	const struct du_options options = { .counted = DU_SIZES, .max_depth = max_depth };
	const struct du_arguments arguments = du_arguments_of(NULL, 0);
	struct du_tree tree;
	du_bytes largest = 0;

	walk = walked;
	du_tree_init(&tree);
	assert_true(du_count(&tree, &options, &arguments));
	du_sum_up(&tree, false);
	du_visit(&tree, keep_largest, &largest);
	du_tree_free(&tree);
	return largest;
}

/* ---- a file with two links ---- */

static void walk_over_growing_file(take_block take, void *context)
{
	const struct statx directory = { .stx_ino = 1 };
	const struct statx before = { .stx_ino = 2, .stx_nlink = 2, .stx_size = 1000 };
	const struct statx after = { .stx_ino = 2, .stx_nlink = 2, .stx_size = 5000 };
	void *root = pass(take, context, 0, NULL, ".", DT_DIR, &directory);
	void *second = pass(take, context, 1, root, "second", DT_DIR, &directory);
	void *first = pass(take, context, 1, root, "first", DT_DIR, &directory);

	pass(take, context, 2, second, "file", DT_REG, &before);
	pass(take, context, 2, first, "file", DT_REG, &after);
}

TEST(a_file_that_grows_counts_once)
{
	assert_int_equal(largest_after(walk_over_growing_file, UINT_MAX), 1000);
}

/* ---- sizes that a uint64_t cannot add ---- */

static void walk_over_huge_files(take_block take, void *context)
{
	const struct statx directory = { .stx_ino = 1 };
	const struct statx huge = { .stx_ino = 2, .stx_nlink = 1, .stx_size = UINT64_MAX };
	void *root = pass(take, context, 0, NULL, ".", DT_DIR, &directory);

	pass(take, context, 1, root, "a", DT_REG, &huge);
	pass(take, context, 1, root, "b", DT_REG, &huge);
}

TEST(sums_do_not_wrap)
{
	assert_true(largest_after(walk_over_huge_files, UINT_MAX) == 2 * (du_bytes)UINT64_MAX);
}

/* ---- a directory that is mounted in itself ---- */

static char mounted[] = "du_count.XXXXXX";

static void walk_over_growing_mount(take_block take, void *context)
{
	const struct statx before = { .stx_size = 1000 };
	void *root = pass(take, context, 0, NULL, ".", DT_DIR, &before);
	struct ferry_block loop = {
		.path = mounted,
		.context = pass(take, context, 1, root, mounted, DT_DIR, &before),
		.depth = 2,
		.error = -ELOOP,
	};

	assert_int_equal(take(context, &loop), 0);
}

TEST(a_mount_that_grows_takes_no_more_than_there_is)
{
	int file = mkstemp(mounted);

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 5000), 0);
	assert_int_equal(largest_after(walk_over_growing_mount, 0), 0);
	close(file);
	unlink(mounted);
}

TEST_MAIN
