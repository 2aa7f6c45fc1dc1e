// SPDX-License-Identifier: MIT
/* ferry_walk() finds what fts(3) finds, and keeps the order and the limits it promises. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "tests/lib/unit/child.h"
#include "tree.h"

#define MOST 200000

/* ---- what was found: a line for each entry and each error ---- */

struct found {
	char *lines[MOST];
	size_t count;
	bool overflowed;
	int root_error;
	const char *prune;  /* the name of directories to stay out of */
	atomic_int passing; /* callbacks at this moment */
};

static struct found *new_found(void)
{
	return calloc(1, sizeof(struct found));
}

static void add(struct found *found, const char *path, const char *what, unsigned long size)
{
	char *line = NULL;

	if (found->count == MOST || asprintf(&line, "%s %s %lu", path, what, size) < 0) {
		found->overflowed = true;
		return;
	}
	found->lines[found->count++] = line;
}

static void free_found(struct found *found)
{
	while (found->count)
		free(found->lines[--found->count]);
	free(found);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_found(struct found *found)
{
	qsort(found->lines, found->count, sizeof(*found->lines), by_text);
}

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode) ? "directory" :
	       S_ISLNK(mode) ? "link" :
	       S_ISREG(mode) ? "file" :
			       "other";
}

static bool equal_found(const struct found *a, const struct found *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++) {
		if (!strcmp(a->lines[i], b->lines[i]))
			continue;
		fprintf(stderr, "'%s' is not '%s'\n", a->lines[i], b->lines[i]);
		return false;
	}
	return a->count == b->count && !a->overflowed && !b->overflowed;
}

static void add_entry(struct found *found, const struct ferry_block *block,
		      struct ferry_walk_entry *entry)
{
	bool is_root = !block->path_length;
	bool slash = !is_root && block->path[block->path_length - 1] == '/';
	mode_t mode = DTTOIF(entry->type);
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", block->path, is_root || slash ? "" : "/", entry->name) < 0)
		abort();
	if (entry->error)
		add(found, path, "error", (unsigned long)-entry->error);
	else
		add(found, path, kind_of(mode),
		    entry->stat && S_ISREG(mode) ? entry->stat->stx_size : 0);
	if (found->prune && !strcmp(entry->name, found->prune))
		entry->prune = 1;
	entry->context = (void *)(uintptr_t)(block->depth + 1);
	free(path);
}

static int note(void *context, struct ferry_block *block)
{
	struct found *found = context;
	size_t i;

	REQUIRE(atomic_fetch_add(&found->passing, 1) == 0);
	REQUIRE(strlen(block->path) == block->path_length);
	REQUIRE((uintptr_t)block->context == block->depth);
	if (block->error)
		add(found, block->path, "unreadable", (unsigned long)-block->error);
	if (block->depth == 0)
		found->root_error = block->entries[0].error;
	if (block->depth == 1 && block->error)
		found->root_error = block->error;
	for (i = 0; i < block->count; i++)
		add_entry(found, block, &block->entries[i]);
	atomic_fetch_sub(&found->passing, 1);
	return 0;
}

static struct found *walk(const char *path, unsigned int flags, unsigned int mask,
			  const struct ferry_files_options *options)
{
	struct found *found = new_found();

	REQUIRE(ferry_walk(AT_FDCWD, path, flags, mask, note, found, options) == found->root_error);
	return found;
}

/* ---- what fts finds ---- */

static void add_fts(struct found *found, const FTSENT *entry, bool sizes)
{
	switch (entry->fts_info) {
	case FTS_DP:
		break;
	case FTS_NS:
		add(found, entry->fts_path, "error", (unsigned long)entry->fts_errno);
		break;
	case FTS_DNR:
		add(found, entry->fts_path, "directory", 0);
		add(found, entry->fts_path, "unreadable", (unsigned long)entry->fts_errno);
		break;
	case FTS_DC:
		add(found, entry->fts_path, "directory", 0);
		add(found, entry->fts_path, "unreadable", ELOOP);
		break;
	default:
		add(found, entry->fts_path, kind_of(entry->fts_statp->st_mode),
		    sizes && S_ISREG(entry->fts_statp->st_mode) ?
			    (unsigned long)entry->fts_statp->st_size :
			    0);
	}
}

static struct found *walk_fts(const char *path, int options, bool sizes)
{
	struct found *found = new_found();
	char *paths[] = { (char *)path, NULL };
	FTS *fts = fts_open(paths, options | FTS_NOCHDIR, NULL);
	FTSENT *entry, *before = NULL;

	REQUIRE(fts);
	while ((entry = fts_read(fts))) {
		/* A directory that cannot be read is found as one that can be, before. */
		if (entry->fts_info == FTS_DNR && before == entry) {
			free(found->lines[--found->count]);
			found->lines[found->count] = NULL;
		}
		add_fts(found, entry, sizes);
		before = entry;
	}
	fts_close(fts);
	return found;
}

static bool is_as_fts_with(const char *path, unsigned int flags, int fts_flags, unsigned int mask,
			   const struct ferry_files_options *options)
{
	struct found *ours = walk(path, flags, mask, options);
	struct found *theirs = walk_fts(path, fts_flags, mask);
	bool same;

	sort_found(ours);
	sort_found(theirs);
	same = equal_found(ours, theirs);
	free_found(ours);
	free_found(theirs);
	return same;
}

static bool is_as_fts(const char *path, unsigned int flags, int fts_flags,
		      const struct ferry_files_options *options)
{
	return is_as_fts_with(path, flags, fts_flags, 0, options) &&
	       is_as_fts_with(path, flags, fts_flags, STATX_SIZE, options);
}

TREE_TEST(test_random_trees_as_fts)
{
	const struct ferry_files_options one = { .threads = 1 }, four = { .threads = 4 };
	const struct ferry_files_options timed = { .timeout_ms = 60000 };
	const struct ferry_files_options *options[] = { NULL, &one, &four, &timed };
	unsigned int seed;
	char name[32];
	int i;

	for (seed = 0; seed < 8; seed++) {
		snprintf(name, sizeof(name), "tree%u", seed);
		make_random_tree(name, 300 * seed, seed);
		for (i = 0; i < 4; i++) {
			assert_true(is_as_fts(name, 0, FTS_PHYSICAL, options[i]));
			assert_true(is_as_fts(name, FERRY_WALK_SORTED, FTS_PHYSICAL, options[i]));
			assert_true(is_as_fts(name, FERRY_WALK_XDEV, FTS_PHYSICAL | FTS_XDEV,
					      options[i]));
		}
	}
}

/* Links lead up and around, so the same directory is found on many paths. */
TREE_TEST(test_links_as_fts)
{
	make_directory("tree");
	make_directory("tree/a");
	make_directory("tree/b");
	make_directory("outside");
	make_file("outside/file", 10);
	make_file("tree/a/file", 20);
	make_link("../..", "tree/a/up");
	make_link("../../outside", "tree/b/out");
	make_link("../a/file", "tree/b/file");
	make_link("nowhere", "tree/b/dangling");
	make_link("self", "tree/self");
	make_link("tree", "link");
	make_link("missing", "broken");
	assert_true(is_as_fts("tree", FERRY_WALK_FOLLOW, FTS_LOGICAL, NULL));
	assert_true(is_as_fts("tree", FERRY_WALK_FOLLOW | FERRY_WALK_SORTED, FTS_LOGICAL, NULL));
	assert_true(is_as_fts("tree", 0, FTS_PHYSICAL, NULL));
	assert_true(is_as_fts("link", 0, FTS_PHYSICAL, NULL));
	assert_true(is_as_fts("link/", 0, FTS_PHYSICAL, NULL));
	assert_true(is_as_fts("link", FERRY_WALK_FOLLOW_ROOT, FTS_PHYSICAL | FTS_COMFOLLOW, NULL));
	assert_true(is_as_fts("link", FERRY_WALK_FOLLOW, FTS_LOGICAL, NULL));
	assert_true(
		is_as_fts("broken", FERRY_WALK_FOLLOW_ROOT, FTS_PHYSICAL | FTS_COMFOLLOW, NULL));
	assert_true(is_as_fts("outside/file", 0, FTS_PHYSICAL, NULL));
	assert_true(is_as_fts("missing", 0, FTS_PHYSICAL, NULL));
	assert_true(is_as_fts("/proc/self/fdinfo/", 0, FTS_PHYSICAL, NULL));
}

static void walk_without_rights(void)
{
	CHILD_ASSERT(!setgid(65534) && !setuid(65534));
	/* Without a mask nothing shows that names can be listed but not looked up. */
	CHILD_ASSERT(is_as_fts_with("tree", 0, FTS_PHYSICAL, STATX_SIZE, NULL));
	CHILD_ASSERT(is_as_fts_with("tree", FERRY_WALK_SORTED, FTS_PHYSICAL, STATX_SIZE, NULL));
}

TREE_TEST(test_permissions_as_fts)
{
	struct found *found;

	if (getuid())
		skip();
	make_directory("tree");
	make_directory("tree/closed");
	make_file("tree/closed/file", 1);
	make_directory("tree/listed");
	make_file("tree/listed/file", 1);
	make_directory("tree/open");
	make_file("tree/open/file", 1);
	assert_int_equal(chmod("tree/closed", 0), 0);
	assert_int_equal(chmod("tree/listed", 0744), 0);
	ASSERT_IN_CHILD(walk_without_rights);
	found = walk("tree", 0, STATX_SIZE, NULL);
	assert_int_equal(found->count, 7);
	free_found(found);
}

/* ---- mounts ---- */

static void make_mounts_private(void)
{
	CHILD_ASSERT(!unshare(CLONE_NEWNS));
	CHILD_ASSERT(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static void walk_mounts(void)
{
	struct found *found;

	make_mounts_private();
	CHILD_ASSERT(!mount("none", "tree/mount", "tmpfs", 0, "size=1m"));
	make_file("tree/mount/file", 5);
	CHILD_ASSERT(is_as_fts("tree", FERRY_WALK_XDEV, FTS_PHYSICAL | FTS_XDEV, NULL));
	CHILD_ASSERT(is_as_fts("tree", FERRY_WALK_XDEV | FERRY_WALK_SORTED, FTS_PHYSICAL | FTS_XDEV,
			       NULL));
	CHILD_ASSERT(is_as_fts("tree", 0, FTS_PHYSICAL, NULL));
	found = walk("tree", FERRY_WALK_XDEV, 0, NULL);
	CHILD_ASSERT(found->count == 3);
	free_found(found);
	CHILD_ASSERT(!umount("tree/mount"));
	/* A mount of a directory below itself is a loop. */
	CHILD_ASSERT(!mount("tree", "tree/mount", NULL, MS_BIND, NULL));
	CHILD_ASSERT(is_as_fts("tree", 0, FTS_PHYSICAL, NULL));
}

TREE_TEST(test_mounts_as_fts)
{
	if (getuid())
		skip();
	make_directory("tree");
	make_directory("tree/mount");
	make_file("tree/file", 3);
	if (child_status(make_mounts_private))
		skip();
	ASSERT_IN_CHILD(walk_mounts);
}

/* ---- without statx() ---- */

/* What sandboxes (EPERM) and old kernels (ENOSYS) do. */
static void refuse(unsigned int call, unsigned int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void walk_without_statx(unsigned int error)
{
	const struct ferry_files_options timed = { .timeout_ms = 60000 };

	refuse(SYS_statx, error);
	CHILD_ASSERT(is_as_fts("tree", 0, FTS_PHYSICAL, NULL));
	CHILD_ASSERT(is_as_fts("tree", FERRY_WALK_SORTED, FTS_PHYSICAL, &timed));
	CHILD_ASSERT(is_as_fts("tree", FERRY_WALK_XDEV, FTS_PHYSICAL | FTS_XDEV, NULL));
	CHILD_ASSERT(is_as_fts("tree", FERRY_WALK_FOLLOW, FTS_LOGICAL, NULL));
}

static void walk_without_statx_known(void)
{
	walk_without_statx(ENOSYS);
}

static void walk_without_statx_allowed(void)
{
	walk_without_statx(EPERM);
}

TREE_TEST(test_statx_is_refused)
{
	make_random_tree("tree", 1000, 3);
	ASSERT_IN_CHILD(walk_without_statx_known);
	ASSERT_IN_CHILD(walk_without_statx_allowed);
}

/* ---- order, pruning, the end ---- */

static int count_blocks(void *context, struct ferry_block *block)
{
	size_t *blocks = context;

	blocks[block->count ? 1 : 0]++;
	return 0;
}

TREE_TEST(test_a_sorted_walk_passes_empty_directories)
{
	size_t blocks[2] = { 0 };

	make_directory("tree");
	make_directory("tree/empty");
	make_directory("tree/full");
	make_file("tree/full/file", 1);
	assert_int_equal(
		ferry_walk(AT_FDCWD, "tree", FERRY_WALK_SORTED, 0, count_blocks, blocks, NULL), 0);
	assert_int_equal(blocks[0], 1);
	assert_int_equal(blocks[1], 3);
}

static void walk_a_closed_root(void)
{
	struct found *found;

	CHILD_ASSERT(!setgid(65534) && !setuid(65534));
	found = walk("closed", 0, 0, NULL);
	CHILD_ASSERT(found->root_error == -EACCES && found->count == 2);
	free_found(found);
}

TREE_TEST(test_an_error_of_the_root_is_returned)
{
	struct found *found = walk("missing", 0, 0, NULL);

	assert_int_equal(found->root_error, -ENOENT);
	assert_int_equal(found->count, 1);
	free_found(found);
	if (getuid())
		skip();
	make_directory("closed");
	assert_int_equal(chmod("closed", 0), 0);
	ASSERT_IN_CHILD(walk_a_closed_root);
}

TREE_TEST(test_sorted_order)
{
	static const char *const expected[] = {
		"tree directory 0",   "tree/a directory 0",   "tree/b file 0",
		"tree/c directory 0", "tree/a/x directory 0", "tree/a/y file 0",
		"tree/a/x/1 file 0",  "tree/c/z file 0",
	};
	struct found *found;
	size_t i;

	make_directory("tree");
	make_directory("tree/c");
	make_directory("tree/a");
	make_directory("tree/a/x");
	make_file("tree/c/z", 0);
	make_file("tree/a/y", 0);
	make_file("tree/a/x/1", 0);
	make_file("tree/b", 0);
	found = walk("tree", FERRY_WALK_SORTED, 0, NULL);
	assert_int_equal(found->count, 8);
	for (i = 0; i < 8; i++)
		assert_string_equal(found->lines[i], expected[i]);
	free_found(found);
}

TREE_TEST(test_sorted_walks_are_alike_with_any_number_of_threads)
{
	const struct ferry_files_options one = { .threads = 1 }, eight = { .threads = 8 };
	struct found *a, *b;

	make_random_tree("tree", 5000, 5);
	a = walk("tree", FERRY_WALK_SORTED, STATX_SIZE, &one);
	b = walk("tree", FERRY_WALK_SORTED, STATX_SIZE, &eight);
	assert_true(equal_found(a, b));
	free_found(a);
	free_found(b);
}

TREE_TEST(test_pruning)
{
	unsigned int flags;

	make_directory("tree");
	make_directory("tree/in");
	make_file("tree/in/file", 0);
	make_directory("tree/out");
	make_file("tree/out/file", 0);
	for (flags = 0; flags <= FERRY_WALK_SORTED; flags += FERRY_WALK_SORTED) {
		struct found *found = new_found();

		found->prune = "out";
		assert_int_equal(ferry_walk(AT_FDCWD, "tree", flags, 0, note, found, NULL), 0);
		assert_int_equal(found->count, 4);
		free_found(found);
	}
}

static int end_at_depth_2(void *context, struct ferry_block *block)
{
	int *count = context;

	++*count;
	return block->depth == 2 ? -EXDEV : 0;
}

TREE_TEST(test_the_callback_ends_the_walk)
{
	const struct ferry_files_options four = { .threads = 4 };
	unsigned int flags;
	int count, round;

	make_random_tree("tree", 5000, 9);
	for (round = 0; round < 20; round++)
		for (flags = 0; flags <= FERRY_WALK_SORTED; flags += FERRY_WALK_SORTED) {
			count = 0;
			assert_int_equal(ferry_walk(AT_FDCWD, "tree", flags, STATX_SIZE,
						    end_at_depth_2, &count, &four),
					 -EXDEV);
			assert_in_range(count, 3, 20);
		}
}

/* ---- ends of directories ---- */

/* Sizes summed up in the end events alone, by contexts that are freed there. */
struct sum {
	struct sum *parent;
	size_t entries;
	int blocks_after; /* must stay 0: the end is the last event of a directory */
	bool ended;
};

struct sums {
	size_t made, ended, total;
	struct sum *root;
	bool sorted;
	char last_path[8192];
};

static struct sum *new_sum(struct sums *sums, struct sum *parent)
{
	struct sum *sum = calloc(1, sizeof(*sum));

	REQUIRE(sum);
	sum->parent = parent;
	sums->made++;
	return sum;
}

static int sum_up(void *context, struct ferry_block *block)
{
	struct sums *sums = context;
	struct sum *sum = block->context;
	size_t i;

	if (block->is_end) {
		REQUIRE(!block->count && !block->error && !sum->ended);
		sums->ended++;
		if (sum->parent)
			sum->parent->entries += sum->entries;
		else
			sums->total = sum->entries;
		free(sum);
		return 0;
	}
	if (sum)
		sum->entries += block->count;
	for (i = 0; i < block->count; i++)
		if (block->entries[i].type == DT_DIR && !block->entries[i].error)
			block->entries[i].context = new_sum(sums, sum);
	return 0;
}

static void check_ends(const char *path, unsigned int flags,
		       const struct ferry_files_options *options)
{
	struct sums sums = { 0 };
	struct found *found = walk(path, flags & FERRY_WALK_FOLLOW, 0, options);

	assert_int_equal(
		ferry_walk(AT_FDCWD, path, flags | FERRY_WALK_ENDS, 0, sum_up, &sums, options), 0);
	assert_int_equal(sums.ended, sums.made);
	assert_int_equal(sums.total, found->count - 1);
	free_found(found);
}

TREE_TEST(test_ends_come_after_all_below)
{
	const struct ferry_files_options one = { .threads = 1 }, eight = { .threads = 8 };
	unsigned int round;

	for (round = 0; round < 5; round++) {
		char name[32];

		snprintf(name, sizeof(name), "tree%u", round);
		make_random_tree(name, 2000 * round + 1, round);
		check_ends(name, 0, NULL);
		check_ends(name, 0, &one);
		check_ends(name, 0, &eight);
		check_ends(name, FERRY_WALK_SORTED, &one);
		check_ends(name, FERRY_WALK_SORTED, &eight);
	}
}

static int list_events(void *context, struct ferry_block *block)
{
	char *text = context, path[100];
	size_t length, i;

	if (block->is_end)
		sprintf(text + strlen(text), "end %s\n", block->path);
	for (i = 0; i < block->count; i++) {
		length = ferry_walk_entry_path(block, &block->entries[i], path, sizeof(path));
		assert_int_equal(length, strlen(path));
		sprintf(text + strlen(text), "%s\n", path);
	}
	return 0;
}

TREE_TEST(test_ends_of_a_sorted_walk)
{
	char text[1000] = "";

	make_directory("t");
	make_directory("t/a");
	make_directory("t/a/b");
	make_directory("t/c");
	make_file("t/c/d", 1);
	assert_int_equal(ferry_walk(AT_FDCWD, "t/", FERRY_WALK_SORTED | FERRY_WALK_ENDS, 0,
				    list_events, text, NULL),
			 0);
	assert_string_equal(text, "t/\nt/a\nt/c\nt/a/b\nend t/a/b\nend t/a\nt/c/d\nend t/c\n"
				  "end t/\n");
	text[0] = '\0';
	assert_int_equal(ferry_walk(AT_FDCWD, "t/c/d", FERRY_WALK_ENDS, 0, list_events, text, NULL),
			 0);
	assert_string_equal(text, "t/c/d\n");
}

TEST(test_paths_of_entries)
{
	const struct ferry_block root = { .path = "" };
	const struct ferry_block below = { .path = "a/b", .path_length = 3 };
	const struct ferry_walk_entry entry = { .name = "name" };
	char path[10], expected[10];
	size_t room;

	assert_int_equal(ferry_walk_entry_path(&root, &entry, path, sizeof(path)), 4);
	assert_string_equal(path, "name");
	assert_int_equal(ferry_walk_entry_path(&below, &entry, NULL, 0), 8);
	for (room = 1; room <= sizeof(path); room++) {
		snprintf(expected, room, "a/b/name");
		memset(path, 'x', sizeof(path));
		assert_int_equal(ferry_walk_entry_path(&below, &entry, path, room), 8);
		assert_string_equal(path, expected);
		assert_true(room == sizeof(path) || path[room] == 'x');
	}
}

static int cancel_now(void *context, struct ferry_block *block)
{
	(void)block;
	__atomic_store_n((int *)context, 1, __ATOMIC_RELAXED);
	return 0;
}

TREE_TEST(test_cancelling_and_mistakes)
{
	int cancel = 0;
	const struct ferry_files_options options = { .cancel = &cancel };

	make_random_tree("tree", 1000, 2);
	errno = 77;
	assert_int_equal(ferry_walk(AT_FDCWD, "tree", 0, 0, cancel_now, &cancel, &options),
			 -ECANCELED);
	assert_int_equal(ferry_walk(AT_FDCWD, NULL, 0, 0, note, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_walk(AT_FDCWD, "tree", 0, 0, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_walk(AT_FDCWD, "tree", 0x1000, 0, note, NULL, NULL), -EINVAL);
	assert_int_equal(errno, 77);
}

/* ---- sizes ---- */

struct counts {
	size_t entries, errors;
	unsigned int depth;
	size_t longest;
};

static int count(void *context, struct ferry_block *block)
{
	struct counts *counts = context;

	counts->entries += block->count;
	counts->errors += block->error != 0;
	if (block->depth > counts->depth)
		counts->depth = block->depth;
	if (block->path_length > counts->longest)
		counts->longest = block->path_length;
	return 0;
}

static void walk_a_chain_with_few_descriptors(size_t levels)
{
	const struct rlimit few = { 20, 20 };
	unsigned int flags;

	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
	for (flags = 0; flags <= FERRY_WALK_SORTED; flags++) {
		struct counts counts = { 0 };

		CHILD_ASSERT(
			!ferry_walk(AT_FDCWD, "tree", flags, STATX_SIZE, count, &counts, NULL));
		CHILD_ASSERT(counts.entries == 2 * levels + 2);
		CHILD_ASSERT(!counts.errors);
		CHILD_ASSERT(counts.longest >= levels * strlen("/directory"));
	}
}

/* Siblings are opened by their whole path. */
static void make_long_chain(int levels)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);

	make_directory("tree");
	REQUIRE(!chdir("tree"));
	while (levels--) {
		make_directory("directory");
		make_directory("also");
		REQUIRE(!chdir("directory"));
	}
	make_file("last", 0);
	REQUIRE(!fchdir(here));
	close(here);
}

static void walk_20_kib(void)
{
	walk_a_chain_with_few_descriptors(2000);
}

TREE_TEST(test_deeper_than_paths_can_be)
{
	make_long_chain(2000);
	ASSERT_IN_CHILD(walk_20_kib);
}

static void walk_5_kib_in_a_sandbox(void)
{
	refuse(SYS_openat2, EPERM);
	walk_a_chain_with_few_descriptors(500);
}

TREE_TEST(test_deeper_than_paths_can_be_in_a_sandbox)
{
	make_long_chain(500);
	ASSERT_IN_CHILD(walk_5_kib_in_a_sandbox);
}

static void walk_without_descriptors(void)
{
	const struct rlimit none = { 4, 4 };
	struct found *found;

	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &none));
	found = walk("tree", 0, 0, NULL);
	CHILD_ASSERT(found->count == 3);
	CHILD_ASSERT(!strcmp(found->lines[2], "tree/below unreadable 24"));
}

TREE_TEST(test_no_descriptors_left)
{
	make_directory("tree");
	make_directory("tree/below");
	assert_int_equal(EMFILE, 24);
	ASSERT_IN_CHILD(walk_without_descriptors);
}

TREE_TEST(test_one_large_directory)
{
	const struct ferry_files_options four = { .threads = 4 };
	struct found *ours, *theirs;
	char name[300];
	int i;

	make_directory("tree");
	for (i = 0; i < 6000; i++) {
		snprintf(name, sizeof(name), "tree/%d", i);
		make_file(name, 0);
		snprintf(name, sizeof(name), "tree/%0255d", i);
		if (i % 20 == 0)
			make_directory(name);
	}
	assert_true(is_as_fts("tree", 0, FTS_PHYSICAL, &four));
	ours = walk("tree", FERRY_WALK_SORTED, STATX_SIZE, &four);
	theirs = walk_fts("tree", FTS_PHYSICAL, true);
	sort_found(theirs);
	sort_found(ours);
	assert_true(equal_found(ours, theirs));
	free_found(ours);
	free_found(theirs);
}

/* ---- while the tree changes ---- */

static atomic_bool stop_changing;

static void *change(void *unused)
{
	unsigned int seed = 1;
	char name[64], other[96];

	while (!atomic_load(&stop_changing)) {
		snprintf(name, sizeof(name), "tree/d%d", rand_r(&seed) % 20);
		snprintf(other, sizeof(other), "%s/e%d", name, rand_r(&seed) % 20);
		switch (rand_r(&seed) % 7) {
		case 0:
		case 1:
			mkdir(name, 0755);
			mkdir(other, 0755);
			break;
		case 2:
			rmdir(other);
			rmdir(name);
			break;
		case 3:
			rename(name, "tree/moved");
			break;
		case 4:
			unlink(name);
			/* A link that leads out is never followed. */
			if (symlink("/proc/self/task", name))
				break;
			break;
		default:
			close(open(other, O_WRONLY | O_CREAT, 0644));
		}
	}
	return unused;
}

static int check_changing(void *context, struct ferry_block *block)
{
	size_t i;

	(void)context;
	REQUIRE(block->path_length == 0 || !strncmp(block->path, "tree", 4));
	REQUIRE(block->error == 0 || block->error == -ENOENT || block->error == -ENOTDIR ||
		block->error == -ELOOP);
	for (i = 0; i < block->count; i++) {
		REQUIRE(block->entries[i].error == 0 || block->entries[i].error == -ENOENT);
		/* Only /proc has names that are numbers. */
		REQUIRE(!(block->entries[i].name[0] >= '0' && block->entries[i].name[0] <= '9'));
	}
	return 0;
}

TREE_TEST(test_while_the_tree_changes)
{
	const struct ferry_files_options four = { .threads = 4 };
	pthread_t thread;
	int round;

	make_directory("tree");
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	for (round = 0; round < 2000; round++)
		assert_int_equal(ferry_walk(AT_FDCWD, "tree", round % 2 ? FERRY_WALK_SORTED : 0,
					    round % 4 < 2 ? STATX_SIZE : 0, check_changing, NULL,
					    &four),
				 0);
	atomic_store(&stop_changing, true);
	pthread_join(thread, NULL);
}

/* ---- links that replace directories ---- */

struct swap {
	bool done;
	int outside, refused; /* entries of the tree that the link leads to; directories */
};

/* Once the walk is in one of the two directories, it has to open the other by its path. */
static int replace_by_link(void *context, struct ferry_block *block)
{
	struct swap *swap = context;
	size_t i;

	swap->refused += block->error == -ELOOP || block->error == -ENOTDIR;
	for (i = 0; i < block->count; i++)
		swap->outside += !strcmp(block->entries[i].name, "secret");
	if (swap->done || block->depth < 3)
		return 0;
	REQUIRE(!rename("tree/in", "moved"));
	make_link("../outside", "tree/in");
	swap->done = true;
	return 0;
}

static void put_back(void)
{
	REQUIRE(!unlink("tree/in"));
	REQUIRE(!rename("moved", "tree/in"));
}

static bool stays_inside(const struct ferry_files_options *options)
{
	struct swap swap = { 0 };

	REQUIRE(!ferry_walk(AT_FDCWD, "tree", 0, 0, replace_by_link, &swap, options));
	put_back();
	return swap.done && !swap.outside && swap.refused == 1;
}

static void replace_a_directory(void)
{
	const struct ferry_files_options one = { .threads = 1 };
	const struct ferry_files_options timed = { .threads = 1, .timeout_ms = 60000 };

	CHILD_ASSERT(stays_inside(&one));
	CHILD_ASSERT(stays_inside(&timed));
}

static void replace_a_directory_in_a_sandbox(void)
{
	refuse(SYS_openat2, EPERM);
	replace_a_directory();
}

static void replace_a_directory_on_an_old_kernel(void)
{
	refuse(SYS_openat2, ENOSYS);
	replace_a_directory();
}

TREE_TEST(test_a_link_that_replaces_a_directory)
{
	make_directory("tree");
	make_directory("tree/in");
	make_directory("tree/in/a");
	make_directory("tree/in/a/below");
	make_directory("tree/in/b");
	make_directory("tree/in/b/below");
	make_directory("outside");
	make_directory("outside/a");
	make_file("outside/a/secret", 0);
	make_directory("outside/b");
	make_file("outside/b/secret", 0);
	ASSERT_IN_CHILD(replace_a_directory);
	ASSERT_IN_CHILD(replace_a_directory_in_a_sandbox);
	ASSERT_IN_CHILD(replace_a_directory_on_an_old_kernel);
}

TEST_MAIN
