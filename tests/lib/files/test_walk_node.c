// SPDX-License-Identifier: MIT
/* Tests the paths of a walk's directories. */
#include <string.h>

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

TEST_MAIN
