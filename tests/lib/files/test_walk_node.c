// SPDX-License-Identifier: MIT
/* Tests the directories of a walk: their paths, and loops. */
#include <string.h>
#include <time.h>

#include "tests/unit.h"
#include "lib/files/walk_node.h"

/* Dots are what is left of BEFORE's path. */
static void assert_writes(const struct node *node, const struct node *before, const char *expected)
{
	char path[32];

	memset(path, '.', sizeof(path));
	ferry__node_path(node, path, before);
	assert_string_equal(path, expected);
}

TEST(test_a_path_keeps_what_it_shares_with_the_one_before)
{
	struct node *root = ferry__node_new(NULL, "root");
	struct node *a = ferry__node_new(root, "a"), *below = ferry__node_new(a, "below");
	struct node *b = ferry__node_new(root, "b");

	assert_writes(below, NULL, "root/a/below");
	assert_writes(below, root, "..../a/below");
	assert_writes(below, a, "....../below");
	assert_writes(below, below, "............");
	assert_writes(below, b, "..../a/below");
	assert_writes(b, below, "..../b");
	assert_writes(a, below, "......");
	assert_writes(root, below, "....");
	ferry__node_drop(b);
	ferry__node_drop(below);
	ferry__node_drop(a);
	ferry__node_drop(root);
}

TEST(test_a_path_below_a_slash)
{
	struct node *root = ferry__node_new(NULL, "/");
	struct node *a = ferry__node_new(root, "a"), *b = ferry__node_new(root, "b");

	assert_writes(a, NULL, "/a");
	assert_writes(a, root, ".a");
	assert_writes(b, a, ".b");
	ferry__node_drop(b);
	ferry__node_drop(a);
	ferry__node_drop(root);
}

/* ---- loops ---- */

/* A directory in PARENT, of which it has the only user left. */
static struct node *below(struct node *parent, unsigned long inode)
{
	struct node *node = ferry__node_new(parent, "d");

	assert_non_null(node);
	ferry__node_drop(parent);
	node->inode = inode;
	return node;
}

/* How many levels of a loop of LENGTH pass for new ones. */
static unsigned int levels_of_loop(unsigned int length)
{
	struct node *node = ferry__node_new(NULL, "root");
	unsigned int levels = 0;

	do
		node = below(node, levels % length + 1);
	while (++levels && !ferry__node_is_loop(node));
	ferry__node_drop(node);
	return levels - 1;
}

TEST(test_loops)
{
	assert_int_equal(levels_of_loop(1), 1);
	assert_int_equal(levels_of_loop(100), 100);
	assert_int_equal(levels_of_loop(512), 512);
	assert_in_range(levels_of_loop(513), 513, 513 + 512);
	assert_in_range(levels_of_loop(3000), 3000, 3000 + 512);
}

/* With the square of the depth it would take minutes. */
TEST(test_a_deep_tree_takes_no_long_time)
{
	struct node *node = ferry__node_new(NULL, "root");
	const clock_t begun = clock();
	unsigned long inode;

	for (inode = 1; inode < 300000; inode++) {
		node = below(node, inode);
		assert_false(ferry__node_is_loop(node));
	}
	assert_true(clock() - begun < (clock_t)20 * CLOCKS_PER_SEC);
	ferry__node_drop(node);
}

TEST_MAIN
