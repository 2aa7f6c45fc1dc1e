// SPDX-License-Identifier: MIT
/* Tests ferry_call_many(): each call gives what it gives one by one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "tree.h"

#define MANY 1000
#define ROOM 64

static long results[MANY];

static long call(int dir, char **names, size_t count, const struct ferry_name_work *work,
		 const struct ferry_files_options *options)
{
	memset(results, 0x55, sizeof(results));
	return ferry_call_many(dir, (const char *const *)names, count, work, results, options);
}

/* The ways in which a call is made. */
static const struct ferry_files_options one = { .threads = 1 }, four = { .threads = 4 };
static const struct ferry_files_options timed = { .timeout_ms = 60000 };
static const struct ferry_files_options *const all_options[] = { NULL, &one, &four, &timed };

#define EACH_OPTIONS(o) for ((o) = 0; (o) < 4; (o)++)

TREE_TEST(test_a_life_of_many_files)
{
	char **names = make_names("file", MANY), **links = make_names("link", MANY);
	struct ferry_name_work work;
	struct stat stat;
	size_t i, o;

	EACH_OPTIONS(o)
	{
		work = (struct ferry_name_work){ .flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
						 .mode = 0600 };
		assert_int_equal(call(AT_FDCWD, names, 500, &work, all_options[o]), 0);
		for (i = 0; i < 500; i++) {
			assert_int_equal(fstat((int)results[i], &stat), 0);
			assert_int_equal(stat.st_mode, S_IFREG | 0600);
			close((int)results[i]);
		}
		assert_int_equal(call(AT_FDCWD, names, 500, &work, all_options[o]), 500);
		assert_int_equal(results[499], -EEXIST);
		work = (struct ferry_name_work){ .call = FERRY_NAME_LINK,
						 .other_dir = AT_FDCWD,
						 .others = (const char *const *)links };
		assert_int_equal(call(AT_FDCWD, names, MANY, &work, all_options[o]), 500);
		assert_int_equal(lstat("link499", &stat), 0);
		assert_int_equal(stat.st_nlink, 2);
		assert_int_equal(results[500], -ENOENT);
		work = (struct ferry_name_work){ .call = FERRY_NAME_UNLINK };
		assert_int_equal(call(AT_FDCWD, names, MANY, &work, all_options[o]), 500);
		assert_int_equal(call(AT_FDCWD, links, 500, &work, all_options[o]), 0);
		work = (struct ferry_name_work){ .call = FERRY_NAME_MKDIR, .mode = 0700 };
		assert_int_equal(call(AT_FDCWD, names, MANY, &work, all_options[o]), 0);
		assert_int_equal(lstat(names[MANY - 1], &stat), 0);
		assert_int_equal(stat.st_mode, S_IFDIR | 0700);
		work = (struct ferry_name_work){ .call = FERRY_NAME_UNLINK, .flags = AT_REMOVEDIR };
		assert_int_equal(call(AT_FDCWD, names, MANY, &work, all_options[o]), 0);
	}
	free_names(names, MANY);
	free_names(links, MANY);
}

TREE_TEST(test_targets_of_links)
{
	char **names = make_names("link", MANY), expected[ROOM];
	static char memory[MANY * ROOM];
	struct ferry_name_work work = {
		.call = FERRY_NAME_READLINK,
		.memory = memory,
		.room = ROOM,
	};
	size_t i, o;

	for (i = 0; i < MANY; i++) {
		snprintf(expected, sizeof(expected), "target%zu", i * i);
		if (i % 3)
			assert_int_equal(symlink(expected, names[i]), 0);
	}
	EACH_OPTIONS(o)
	{
		memset(memory, 0x77, sizeof(memory));
		assert_int_equal(call(AT_FDCWD, names, MANY, &work, all_options[o]), 334);
		for (i = 0; i < MANY; i++) {
			snprintf(expected, sizeof(expected), "target%zu", i * i);
			if (i % 3)
				assert_memory_equal(memory + i * ROOM, expected, results[i]);
			assert_int_equal(results[i], i % 3 ? (long)strlen(expected) : -ENOENT);
		}
	}
	free_names(names, MANY);
}

TREE_TEST(test_attributes)
{
	char *names[] = { "with", "without", "link", "missing", NULL };
	char memory[5 * 8];
	struct ferry_name_work work = {
		.call = FERRY_NAME_GETXATTR,
		.attribute = "user.ferry",
		.memory = memory,
		.room = 8,
	};
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	size_t o;

	make_file("with", 1);
	make_file("without", 1);
	make_link("with", "link");
	if (setxattr("with", "user.ferry", "value", 5, 0))
		skip();
	EACH_OPTIONS(o)
	{
		assert_int_equal(call(o % 2 ? dir : AT_FDCWD, names, 5, &work, all_options[o]), 3);
		assert_int_equal(results[0], 5);
		assert_memory_equal(memory, "value", 5);
		assert_int_equal(results[1], -ENODATA);
		assert_int_equal(results[2], 5);
		assert_memory_equal(memory + 16, "value", 5);
		assert_int_equal(results[3], -ENOENT);
		assert_int_equal(results[4], -EFAULT);
	}
	work.flags = AT_SYMLINK_NOFOLLOW;
	assert_int_equal(call(dir, names, 3, &work, NULL), 2);
	assert_true(results[2] < 0);
	work.room = 0;
	assert_int_equal(call(AT_FDCWD, names, 1, &work, &timed), 0);
	assert_int_equal(results[0], 5);
	work.room = 2;
	assert_int_equal(call(dir, names, 1, &work, NULL), 1);
	assert_int_equal(results[0], -ERANGE);
	close(dir);
}

/* In this thread alone, the descriptor is another directory. */
static void *with_own_descriptors(void *directory)
{
	const char *name = "with";
	const struct ferry_name_work work = {
		.call = FERRY_NAME_GETXATTR,
		.attribute = "user.ferry",
	};
	int dir = *(int *)directory, other = open("other", O_RDONLY | O_DIRECTORY);
	long result;

	REQUIRE(!unshare(CLONE_FILES) && dup2(other, dir) == dir);
	REQUIRE(!ferry_call_many(dir, &name, 1, &work, &result, NULL));
	REQUIRE(result == 5);
	return NULL;
}

TREE_TEST(test_attributes_with_descriptors_of_a_thread)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	pthread_t thread;

	make_directory("other");
	make_file("other/with", 1);
	if (setxattr("other/with", "user.ferry", "value", 5, 0))
		skip();
	assert_int_equal(pthread_create(&thread, NULL, with_own_descriptors, &dir), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(dir);
}

TREE_TEST(test_mistakes)
{
	const int cancel = 1;
	const struct ferry_files_options cancelled = { .cancel = &cancel };
	char *names[] = { "a" };
	struct ferry_name_work work = { .call = FERRY_NAME_CALLS };

	errno = 77;
	assert_int_equal(call(AT_FDCWD, names, 1, &work, NULL), -EINVAL);
	work.call = FERRY_NAME_LINK;
	assert_int_equal(call(AT_FDCWD, names, 1, &work, NULL), -EINVAL);
	work.call = FERRY_NAME_GETXATTR;
	assert_int_equal(call(AT_FDCWD, names, 1, &work, NULL), -EINVAL);
	work.call = FERRY_NAME_UNLINK;
	assert_int_equal(call(AT_FDCWD, NULL, 1, &work, NULL), -EINVAL);
	assert_int_equal(call(AT_FDCWD, NULL, 0, &work, NULL), 0);
	assert_int_equal(call(AT_FDCWD, names, 1, &work, &cancelled), -ECANCELED);
	assert_int_equal(results[0], -ECANCELED);
	assert_int_equal(errno, 77);
}

TEST_MAIN
