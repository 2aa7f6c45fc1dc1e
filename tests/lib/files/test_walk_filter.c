// SPDX-License-Identifier: MIT
/* Tests ferry_walk_filtered(): what is left out is what git ignores, and what the filter names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "lib/files/patterns.h"
#include "tests/lib/unit/child.h"
#include "tree.h"

#define MOST 20000

struct found {
	char *paths[MOST];
	size_t count;
	bool files_only;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int note(void *context, struct ferry_block *block)
{
	struct found *found = context;
	char path[8192];
	size_t i;

	for (i = 0; i < block->count; i++) {
		if (!block->depth || (found->files_only && block->entries[i].type == DT_DIR))
			continue;
		ferry_walk_entry_path(block, &block->entries[i], path, sizeof(path));
		REQUIRE(found->count < MOST);
		found->paths[found->count++] = strdup(path);
	}
	return 0;
}

static struct found *new_found(bool files_only)
{
	struct found *found = calloc(1, sizeof(*found));

	REQUIRE(found);
	found->files_only = files_only;
	return found;
}

static void free_found(struct found *found)
{
	while (found->count)
		free(found->paths[--found->count]);
	free(found);
}

static void sort(struct found *found)
{
	qsort((void *)found->paths, found->count, sizeof(char *), by_text);
}

static struct found *walk(const char *path, unsigned int flags,
			  const struct ferry_walk_filter *filter, bool files_only,
			  const struct ferry_files_options *options)
{
	struct found *found = new_found(files_only);

	REQUIRE(!ferry_walk_filtered(AT_FDCWD, path, flags, 0, filter, note, found, options));
	sort(found);
	return found;
}

/* EXPECTED has blanks between paths. */
static void assert_found(unsigned int flags, const struct ferry_walk_filter *filter,
			 const char *expected)
{
	struct found *found = walk("tree", flags, filter, false, NULL);
	char text[1000] = "";
	size_t i;

	for (i = 0; i < found->count; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", found->paths[i]);
	assert_string_equal(text, expected);
	free_found(found);
}

static void make_tree(void)
{
	make_directory("tree");
	make_directory("tree/.git");
	make_directory("tree/a");
	make_directory("tree/a/b");
	make_file("tree/.git/x.c", 1);
	make_file("tree/x.c", 1);
	make_file("tree/a/y.c", 1);
	make_file("tree/a/.h", 1);
	make_file("tree/a/b/z.h", 1);
	make_link("a", "tree/link");
}

TREE_TEST(test_each_part_of_a_filter)
{
	const char *c[] = { "*.c", NULL }, *a[] = { "/a/b", ".git/", NULL }, *none[] = { NULL };
	unsigned int flags;

	make_tree();
	for (flags = 0; flags <= FERRY_WALK_SORTED; flags += FERRY_WALK_SORTED) {
		assert_found(flags, &(struct ferry_walk_filter){ .max_depth = 1 },
			     "tree/.git tree/a tree/link tree/x.c");
		assert_found(flags, &(struct ferry_walk_filter){ .max_depth = 2, .hide = 1 },
			     "tree/a tree/a/b tree/a/y.c tree/link tree/x.c");
		assert_found(flags, &(struct ferry_walk_filter){ .include = c, .hide = 1 },
			     "tree/a tree/a/b tree/a/y.c tree/x.c");
		assert_found(flags, &(struct ferry_walk_filter){ .exclude = a },
			     "tree/a tree/a/.h tree/a/y.c tree/link tree/x.c");
		assert_found(flags, &(struct ferry_walk_filter){ .include = none, .exclude = none },
			     "tree/.git tree/a tree/a/b");
		assert_found(flags | FERRY_WALK_FOLLOW,
			     &(struct ferry_walk_filter){ .include = c, .exclude = a },
			     "tree/a tree/a/y.c tree/link tree/link/b tree/link/y.c tree/x.c");
	}
}

TREE_TEST(test_a_root_with_any_name)
{
	const char *excluded[] = { "/a", "tree", ".*", NULL };
	const struct ferry_walk_filter filter = { .exclude = excluded };
	const char *const roots[] = { "tree", "tree/", "./tree", "." };
	static const size_t counts[] = { 2, 2, 2, 0 };
	struct found *found;
	size_t i;

	make_tree();
	for (i = 0; i < 4; i++) {
		found = walk(roots[i], 0, &filter, false, NULL);
		assert_int_equal(found->count, counts[i]);
		free_found(found);
	}
}

/* ---- as git ---- */

static const char *const rules[] = {
	"*.c",	 "*.o",	   "f1*",      "/f2*",	    "!f1?",	"!*.c",		 "d*/",
	"/d1*/", "**/f3*", "d2/**",    "d*/**/f4*", "a/b",	"\\#x",		 "# comment",
	"",	 "f5*  ",  "f6\\ ",    "[a-f]7*",   "f[!0-9]*", "f[[:digit:]]8", "!/d3*",
	"d4/*",	 "!d4/f*", "**",       "!*/",	    "/*",	"!/f*",		 "f9*/",
	"*\\",	 "f[",	   "**/d5/**", "d?*/*9",
};
#define RULES (sizeof(rules) / sizeof(*rules))

static void write_rules(const char *dir, unsigned int *seed)
{
	char path[300];
	size_t count = (size_t)rand_r(seed) % 5 + 1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/.gitignore", dir);
	file = fopen(path, "w");
	REQUIRE(file);
	while (count--)
		fprintf(file, "%s%s", rules[(size_t)rand_r(seed) % RULES],
			rand_r(seed) % 10 ? "\n" : "\r\n");
	fclose(file);
}

static void fill(unsigned int seed)
{
	char dirs[40][300] = { "repository" }, path[300];
	static const char *const endings[] = { "", ".c", ".o", "9", " " };
	unsigned int i;
	size_t count = 1, parent;

	make_directory("repository");
	write_rules("repository", &seed);
	for (i = 0; i < 150; i++) {
		parent = (size_t)rand_r(&seed) % count;
		snprintf(path, sizeof(path), "%.150s/%c%u%s", dirs[parent],
			 "fd"[rand_r(&seed) % 4 == 0], (unsigned int)rand_r(&seed) % 99,
			 endings[rand_r(&seed) % 5]);
		if (!access(path, F_OK))
			continue;
		if (rand_r(&seed) % 4 || count == 40) {
			make_file(path, 0);
			continue;
		}
		make_directory(path);
		if (rand_r(&seed) % 3 == 0)
			write_rules(path, &seed);
		snprintf(dirs[count++], sizeof(dirs[0]), "%s", path);
	}
}

/* The files that git would add. */
static struct found *ask_git(void)
{
	struct found *found = new_found(true);
	char *name = NULL, path[8192];
	size_t room = 0;
	FILE *pipe = popen("cd repository && git init -q . && git -c core.excludesFile=/dev/null "
			   "ls-files -z -o --exclude-per-directory=.gitignore",
			   "r");

	REQUIRE(pipe);
	while (getdelim(&name, &room, '\0', pipe) > 0) {
		snprintf(path, sizeof(path), "repository/%s", name);
		found->paths[found->count++] = strdup(path);
	}
	free(name);
	REQUIRE(!pclose(pipe));
	sort(found);
	return found;
}

static void assert_equal_found(const struct found *ours, const struct found *theirs)
{
	size_t i;

	for (i = 0; i < ours->count && i < theirs->count; i++)
		assert_string_equal(ours->paths[i], theirs->paths[i]);
	assert_int_equal(ours->count, theirs->count);
}

static void compare_with_git(unsigned int seed)
{
	const char *excluded[] = { ".git/", NULL };
	const struct ferry_walk_filter filter = {
		.exclude = excluded,
		.ignore_file = ".gitignore",
	};
	const struct ferry_files_options four = { .threads = 4 };
	struct found *theirs, *ours;
	unsigned int flags;

	printf("seed %u\n", seed);
	fill(seed);
	theirs = ask_git();
	for (flags = 0; flags <= FERRY_WALK_SORTED; flags += FERRY_WALK_SORTED) {
		ours = walk("repository", flags, &filter, true, &four);
		assert_equal_found(ours, theirs);
		free_found(ours);
	}
	free_found(theirs);
	REQUIRE(!system("rm -rf repository"));
}

TREE_TEST(test_as_git)
{
	unsigned int seed;

	if (system("git --version > /dev/null 2>&1"))
		skip();
	for (seed = 1; seed <= 60; seed++)
		compare_with_git(seed);
}

/* ---- files with patterns ---- */

static void write_patterns(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	REQUIRE(file && fputs(text, file) >= 0 && !fclose(file));
}

static const struct ferry_walk_filter as_git = { .ignore_file = ".gitignore" };

TREE_TEST(test_a_mark_before_patterns)
{
	make_directory("tree");
	make_file("tree/x", 1);
	write_patterns("tree/.gitignore", "\xef\xbb\xbfx\n");
	assert_found(0, &as_git, "tree/.gitignore");
}

/* The first MiB is read, which ends after the x here. */
TREE_TEST(test_a_line_that_is_cut_off_is_no_pattern)
{
	static char text[(1 << 20) + 20];

	memset(text, '#', 1 << 20);
	memcpy(text + (1 << 20) - 4, "\ny\nxyz\n", 8);
	make_directory("tree");
	make_file("tree/x", 1);
	make_file("tree/y", 1);
	write_patterns("tree/.gitignore", text);
	assert_found(0, &as_git, "tree/.gitignore tree/x");
}

static void leave_descriptors(int count)
{
	const int next = dup(0);
	const struct rlimit few = { (rlim_t)(next + count), (rlim_t)(next + count) };

	close(next);
	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
}

static void walk_with_three_descriptors(void)
{
	leave_descriptors(3);
	assert_found(0, &as_git, "tree/a tree/a/b tree/a/b/.gitignore tree/a/b/x");
}

static int look_for_secret(void *context, struct ferry_block *block)
{
	size_t i;

	*(int *)context += block->error == -EMFILE;
	for (i = 0; i < block->count; i++)
		CHILD_ASSERT(strcmp(block->entries[i].name, "secret"));
	return 0;
}

static void walk_with_two_descriptors(void)
{
	int errors = 0;

	leave_descriptors(2);
	CHILD_ASSERT(!ferry_walk_filtered(AT_FDCWD, "tree", 0, 0, &as_git, look_for_secret, &errors,
					  NULL));
	CHILD_ASSERT(errors == 1);
}

/* The walk keeps one for the root, and one for a directory. */
TREE_TEST(test_no_descriptor_left_for_patterns)
{
	make_directory("tree");
	make_directory("tree/a");
	make_directory("tree/a/b");
	make_file("tree/a/b/x", 1);
	make_file("tree/a/b/secret", 1);
	write_patterns("tree/a/b/.gitignore", "secret\n");
	ASSERT_IN_CHILD(walk_with_three_descriptors);
	ASSERT_IN_CHILD(walk_with_two_descriptors);
}

/* ---- hostile patterns ---- */

/* Time that grows with a power of the stars would not end. */
TEST(test_many_stars)
{
	struct patterns patterns = { 0 };
	char text[600], path[4000];
	size_t i;

	for (i = 0; i < 200; i++)
		memcpy(text + 2 * i, "*a", 3);
	text[399] = 'b';
	assert_true(ferry__patterns_add(&patterns, text, strlen(text)));
	for (i = 0; i < 100; i++)
		memcpy(text + 5 * i, "**/a/", 6);
	text[498] = 'b';
	assert_true(ferry__patterns_add(&patterns, text, 499));
	memset(path, 'a', 255);
	path[255] = '\0';
	assert_int_equal(ferry__patterns_match(&patterns, path, false), NOT_MATCHED);
	for (i = 0; i < 1999; i++)
		memcpy(path + 2 * i, "a/", 3);
	path[3997] = '\0';
	assert_int_equal(ferry__patterns_match(&patterns, path, false), NOT_MATCHED);
	ferry__patterns_free(&patterns);
}

TREE_TEST(test_files_with_patterns_that_are_no_files)
{
	const struct ferry_walk_filter filter = { .ignore_file = ".gitignore" };

	make_directory("tree");
	make_directory("tree/.gitignore");
	make_file("tree/x", 1);
	assert_found(0, &filter, "tree/.gitignore tree/x");
	assert_int_equal(rmdir("tree/.gitignore"), 0);
	assert_int_equal(mkfifo("tree/.gitignore", 0600), 0);
	assert_found(0, &filter, "tree/.gitignore tree/x");
	assert_int_equal(unlink("tree/.gitignore"), 0);
	assert_int_equal(symlink("/dev/zero", "tree/.gitignore"), 0);
	assert_found(0, &filter, "tree/.gitignore tree/x");
}

TEST_MAIN
