// SPDX-License-Identifier: MIT
/* Tests ferry_read_each(): every file is passed on once, whole, in any order or in the given one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "tests/lib/unit/child.h"
#include "tree.h"

#define MANY 2000
#define SMALLEST_MEMORY ((size_t)128 << 10)

/* ---- what was passed on ---- */

struct seen {
	char **names;
	size_t count;
	bool in_order;
	bool concurrent;
	atomic_int inside, most_inside;
	atomic_size_t next;		/* in order: the index that comes next */
	atomic_size_t *lengths, *parts; /* of each file */
	atomic_int *errors;
	atomic_size_t finished;
	atomic_size_t stop_after; /* files; 0: never */
	int slow_us;
};

static struct seen new_seen(char **names, size_t count)
{
	struct seen seen = { .names = names, .count = count };

	seen.lengths = calloc(count, sizeof(*seen.lengths));
	seen.parts = calloc(count, sizeof(*seen.parts));
	seen.errors = calloc(count, sizeof(*seen.errors));
	REQUIRE(seen.lengths && seen.parts && seen.errors);
	return seen;
}

static void free_seen(struct seen *seen)
{
	free(seen->lengths);
	free(seen->parts);
	free(seen->errors);
}

static int take(void *context, const struct ferry_contents *contents)
{
	struct seen *seen = context;
	size_t index = contents->index;
	int inside = atomic_fetch_add(&seen->inside, 1) + 1;

	REQUIRE(seen->concurrent || inside == 1);
	if (inside > atomic_load(&seen->most_inside))
		atomic_store(&seen->most_inside, inside);
	REQUIRE(index < seen->count);
	if (seen->in_order)
		REQUIRE(index == atomic_load(&seen->next));
	REQUIRE(contents->offset == atomic_load(&seen->lengths[index]));
	if (contents->is_last && !contents->offset && !contents->error)
		REQUIRE(is_content(seen->names[index], contents->data, contents->length));
	REQUIRE(!contents->error || (contents->is_last && !contents->length));
	atomic_fetch_add(&seen->lengths[index], contents->length);
	atomic_fetch_add(&seen->parts[index], 1);
	atomic_store(&seen->errors[index], contents->error);
	if (seen->slow_us)
		usleep((useconds_t)seen->slow_us);
	if (contents->is_last) {
		atomic_store(&seen->next, index + 1);
		atomic_fetch_add(&seen->finished, 1);
	}
	atomic_fetch_sub(&seen->inside, 1);
	return seen->stop_after && atomic_load(&seen->finished) >= seen->stop_after ? -EXDEV : 0;
}

static long read_each(struct seen *seen, unsigned int flags, size_t memory,
		      const struct ferry_files_options *options)
{
	seen->in_order = flags & FERRY_READ_IN_ORDER;
	seen->concurrent = flags & FERRY_READ_CONCURRENT;
	return ferry_read_each(AT_FDCWD, (const char *const *)seen->names, seen->count, flags,
			       memory, take, seen, options);
}

/* ---- many files ---- */

static size_t size_of(size_t i)
{
	return i % 97 == 50 ? i * 300 : i % 11 ? i * 37 % 9000 : 0;
}

static void read_many(char **names, unsigned int flags, size_t memory,
		      const struct ferry_files_options *options)
{
	struct seen seen = new_seen(names, MANY);
	size_t i;

	assert_int_equal(read_each(&seen, flags, memory, options), MANY / 10);
	assert_int_equal(seen.finished, MANY);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(seen.errors[i], i % 10 ? 0 : -ENOENT);
		assert_int_equal(seen.lengths[i], i % 10 ? size_of(i) : 0);
	}
	free_seen(&seen);
}

TREE_TEST(test_every_file_once)
{
	static const unsigned int flags[] = { 0, FERRY_READ_OPEN_FIRST, FERRY_READ_IN_ORDER,
					      FERRY_READ_IN_ORDER | FERRY_READ_OPEN_FIRST,
					      FERRY_READ_CONCURRENT };
	const struct ferry_files_options one = { .threads = 1 }, eight = { .threads = 8 };
	const struct ferry_files_options timed = { .timeout_ms = 60000 };
	const struct ferry_files_options *options[] = { NULL, &one, &eight, &timed };
	char **names = make_files(MANY, size_of);
	size_t i, j;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		for (j = 0; j < 4; j++) {
			read_many(names, flags[i], 0, options[j]);
			read_many(names, flags[i], SMALLEST_MEMORY, options[j]);
		}
	free_names(names, MANY);
}

/* ---- large files ---- */

/* Each byte is passed on once: the parts of a file, one after the other, give its contents. */
struct whole {
	char *data;
	size_t length, parts;
	int ended;
};

static int collect(void *context, const struct ferry_contents *contents)
{
	struct whole *whole = (struct whole *)context + contents->index;

	REQUIRE(contents->offset == whole->length && !contents->error && !whole->ended);
	if (contents->length)
		memcpy(whole->data + whole->length, contents->data, contents->length);
	whole->length += contents->length;
	whole->parts++;
	whole->ended = contents->is_last;
	return 0;
}

TREE_TEST(test_large_files_come_in_parts)
{
	static const size_t sizes[] = { 65535, 65536, 65537, 300000, 3, 5000000, 100, 131072, 0 };
	static const unsigned int flags[] = { 0, FERRY_READ_IN_ORDER, FERRY_READ_CONCURRENT };
	const struct ferry_files_options four = { .threads = 4 };
	char **names = make_names("large", 9);
	struct whole wholes[9];
	size_t i, j;

	for (i = 0; i < 9; i++)
		make_file(names[i], sizes[i]);
	for (j = 0; j < 6; j++) {
		for (i = 0; i < 9; i++)
			wholes[i] = (struct whole){ .data = malloc(sizes[i] + 1) };
		assert_int_equal(ferry_read_each(AT_FDCWD, (const char *const *)names, 9,
						 flags[j / 2], j % 2 ? SMALLEST_MEMORY : 0, collect,
						 wholes, &four),
				 0);
		for (i = 0; i < 9; i++) {
			assert_true(wholes[i].ended);
			assert_int_equal(wholes[i].length, sizes[i]);
			assert_true(is_content(names[i], wholes[i].data, sizes[i]));
			assert_true(!(j % 2) || sizes[i] <= 65536 || wholes[i].parts > 1);
			free(wholes[i].data);
		}
	}
	free_names(names, 9);
}

static int count_bytes(void *context, const struct ferry_contents *contents)
{
	size_t *bytes = context;

	*bytes += contents->length;
	return *bytes > ((size_t)4 << 20) ? -EFBIG : 0;
}

TEST(test_an_endless_file_until_the_callback_ends_it)
{
	const char *name = "/dev/zero";
	size_t bytes = 0;

	assert_int_equal(ferry_read_each(AT_FDCWD, &name, 1, FERRY_READ_DEVICES, 0, count_bytes,
					 &bytes, NULL),
			 -EFBIG);
	bytes = 0;
	assert_int_equal(ferry_read_each(AT_FDCWD, &name, 1, 0, 0, count_bytes, &bytes, NULL), 1);
	assert_int_equal(bytes, 0);
}

TEST(test_files_of_the_kernel)
{
	const char *name = "/proc/self/status";
	size_t bytes = 0;

	assert_int_equal(ferry_read_each(AT_FDCWD, &name, 1, 0, 0, count_bytes, &bytes, NULL), 0);
	assert_in_range(bytes, 100, 10000);
}

/* ---- memory ---- */

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* A slow callback does not let the others read everything ahead. */
static void read_with_little_memory(void)
{
	char **names = make_names("file", 200);
	struct seen seen = new_seen(names, 200);
	const struct ferry_files_options eight = { .threads = 8 };
	unsigned int flags;
	long before;
	size_t i;

	for (i = 0; i < 200; i++)
		make_file(names[i], 250000);
	for (flags = 0; flags <= FERRY_READ_IN_ORDER; flags += FERRY_READ_IN_ORDER) {
		before = resident_kib();
		seen.slow_us = 200;
		memset(seen.lengths, 0, 200 * sizeof(*seen.lengths));
		seen.next = 0;
		CHILD_ASSERT(read_each(&seen, flags, (size_t)1 << 20, &eight) == 0);
		CHILD_ASSERT(resident_kib() - before < 12 << 10);
	}
	free_seen(&seen);
	free_names(names, 200);
}

TREE_TEST(test_memory_is_bounded)
{
	ASSERT_IN_CHILD(read_with_little_memory);
}

/* ---- ends and mistakes ---- */

TREE_TEST(test_the_callback_ends_it)
{
	const struct ferry_files_options four = { .threads = 4 };
	char **names = make_files(MANY, size_of);
	unsigned int flags;

	for (flags = 0; flags <= FERRY_READ_CONCURRENT; flags += FERRY_READ_IN_ORDER) {
		struct seen seen = new_seen(names, MANY);

		seen.stop_after = 100;
		assert_int_equal(read_each(&seen, flags, 0, &four), -EXDEV);
		assert_in_range(seen.finished, 100, 110);
		free_seen(&seen);
	}
	free_names(names, MANY);
}

static int cancel_at_once(void *context, const struct ferry_contents *contents)
{
	(void)contents;
	__atomic_store_n((int *)context, 1, __ATOMIC_RELAXED);
	return 0;
}

TREE_TEST(test_mistakes_and_cancelling)
{
	int cancel = 0;
	const struct ferry_files_options options = { .cancel = &cancel };
	const char *names[] = { "a", "a", "a", NULL };
	size_t bytes = 0;

	make_file("a", 10);
	errno = 77;
	assert_int_equal(ferry_read_each(AT_FDCWD, NULL, 1, 0, 0, count_bytes, &bytes, NULL),
			 -EINVAL);
	assert_int_equal(ferry_read_each(AT_FDCWD, names, 1, 0, 0, NULL, &bytes, NULL), -EINVAL);
	assert_int_equal(ferry_read_each(AT_FDCWD, names, 1, 0x10000, 0, count_bytes, &bytes, NULL),
			 -EINVAL);
	assert_int_equal(ferry_read_each(AT_FDCWD, names, 1,
					 FERRY_READ_IN_ORDER | FERRY_READ_CONCURRENT, 0,
					 count_bytes, &bytes, NULL),
			 -EINVAL);
	assert_int_equal(ferry_read_each(AT_FDCWD, NULL, 0, 0, 0, count_bytes, &bytes, NULL), 0);
	assert_int_equal(ferry_read_each(AT_FDCWD, names, 4, 0, 0, count_bytes, &bytes, NULL), 1);
	assert_int_equal(bytes, 30);
	assert_int_equal(
		ferry_read_each(AT_FDCWD, names, 3, 0, 0, cancel_at_once, &cancel, &options),
		-ECANCELED);
	assert_int_equal(errno, 77);
}

/* As a loop of plain calls, which needs no more. */
static void read_with_one_descriptor(void)
{
	const struct rlimit few = { 16, 16 };
	const struct ferry_files_options eight = { .threads = 8 };
	char **names = make_names("file", 500);
	struct seen seen = new_seen(names, 500);
	int last = -1, fd;
	size_t i;

	for (i = 0; i < 500; i++)
		make_file(names[i], i);
	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
	while ((fd = open("file0", O_RDONLY | O_CLOEXEC)) >= 0)
		last = fd;
	close(last);
	CHILD_ASSERT(read_each(&seen, 0, 0, &eight) == 0);
	free_seen(&seen);
	free_names(names, 500);
}

TREE_TEST(test_no_descriptors_left)
{
	ASSERT_IN_CHILD(read_with_one_descriptor);
}

TEST_MAIN
