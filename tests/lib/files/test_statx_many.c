// SPDX-License-Identifier: MIT
/* ferry_statx_many() gives what one statx() for each name gives. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry_files.h>

#include "tests/unit.h"
#include "lib/files/statx_batch.h"
#include "tests/lib/unit/child.h"
#include "capability.h"
#include "tree.h"

#define NOBODY 65534
#define MANY 5000
#define IN_BATCH 1000

static const char *const *constant(char **names)
{
	return (const char *const *)names;
}

/* ---- the same as plain calls ---- */

static void assert_same(const struct statx *a, const struct statx *b)
{
	assert_int_equal(a->stx_mask, b->stx_mask);
	assert_int_equal(a->stx_ino, b->stx_ino);
	assert_int_equal(a->stx_size, b->stx_size);
	assert_int_equal(a->stx_blocks, b->stx_blocks);
	assert_int_equal(a->stx_mode, b->stx_mode);
	assert_int_equal(a->stx_nlink, b->stx_nlink);
	assert_int_equal(a->stx_mtime.tv_sec, b->stx_mtime.tv_sec);
	assert_int_equal(a->stx_mtime.tv_nsec, b->stx_mtime.tv_nsec);
}

/* Returns how many fail. */
static long compare(int dir, const char *const names[], size_t count, int flags,
		    const struct ferry_files_options *options)
{
	struct statx *stats = malloc((count + 1) * sizeof(*stats)), one;
	int *errors = malloc((count + 1) * sizeof(*errors));
	long failed = ferry_statx_many(dir, names, count, flags, STATX_BASIC_STATS, stats, errors,
				       options);
	long expected = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		/* Not by the C library's function, which no name may be NULL for. */
		int error = syscall(SYS_statx, dir, names[i], flags, STATX_BASIC_STATS, &one) ?
				    -errno :
				    0;

		assert_int_equal(errors[i], error);
		if (!error)
			assert_same(&stats[i], &one);
		expected += error != 0;
	}
	assert_int_equal(failed, expected);
	free(stats);
	free(errors);
	return failed;
}

static char long_name[257], long_path[5000];

static void make_every_kind(void)
{
	memset(long_name, 'n', 255);
	make_file(long_name, 3);
	memset(long_path, '/', sizeof(long_path) - 1);
	make_file("file", 10);
	make_directory("directory");
	make_link("file", "link");
	make_link("loop", "loop");
	make_link("nowhere", "dangling");
	assert_int_equal(mkfifo("fifo", 0600), 0);
}

TREE_TEST(test_every_kind_and_error)
{
	char too_long[257];
	const char *names[] = {
		"file",	     "directory", "link", "dangling",	"loop",	  "fifo",
		"missing",   "file/x",	  "",	  long_name,	too_long, long_path,
		"/dev/null", ".",	  "..",	  "directory/", "file/",  (const char *)1,
	};
	size_t count = sizeof(names) / sizeof(*names);

	make_every_kind();
	memset(too_long, 'n', 256);
	too_long[256] = '\0';
	assert_int_equal(compare(AT_FDCWD, names, count, 0, NULL), 9);
	assert_int_equal(compare(AT_FDCWD, names, count, AT_SYMLINK_NOFOLLOW, NULL), 7);
	assert_int_equal(compare(-1, names, 3, 0, NULL), 3);
	assert_int_equal(compare(STDIN_FILENO, names, 1, 1 << 30, NULL), 1);
	assert_int_equal(compare(AT_FDCWD, names, 0, 0, NULL), 0);
	assert_int_equal(compare(AT_FDCWD, names, 1, 0, NULL), 0);
}

static char **make_many(void)
{
	char **names = make_names("many", MANY);
	size_t i;

	for (i = 0; i < MANY; i++)
		if (i % 3)
			make_file(names[i], i % 7);
	return names;
}

TREE_TEST(test_many_with_any_number_of_threads)
{
	const struct ferry_files_options two = { .threads = 2 }, eight = { .threads = 8 };
	const struct ferry_files_options one = { .threads = 1 }, timed = { .timeout_ms = 60000 };
	const struct ferry_files_options *all[] = { NULL, &one, &two, &eight, &timed };
	char **names = make_many();
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_int_equal(compare(dir, constant(names), MANY, 0, all[i]), MANY / 3 + 1);
	close(dir);
	free_names(names, MANY);
}

/* Since Linux 6.11, NULL means the descriptor itself. */
TREE_TEST(test_no_name)
{
	const struct ferry_files_options timed = { .timeout_ms = 60000 };
	const char *names[] = { NULL, "" };

	compare(STDIN_FILENO, names, 2, AT_EMPTY_PATH, NULL);
	compare(STDIN_FILENO, names, 2, AT_EMPTY_PATH, &timed);
}

TREE_TEST(test_errors_alone)
{
	const char *names[] = { "here", "missing" };
	int errors[2] = { 1, 1 };

	make_file("here", 0);
	assert_int_equal(ferry_statx_many(AT_FDCWD, names, 2, 0, 0, NULL, errors, NULL), 1);
	assert_int_equal(errors[0], 0);
	assert_int_equal(errors[1], -ENOENT);
}

/* Without the module, the device engine is the loop, which shows that the slots are right. */
TREE_TEST(test_a_batch_gives_the_same)
{
	const char *names[IN_BATCH];
	struct statx stats[IN_BATCH], one;
	int errors[IN_BATCH], error;
	const struct statx_batch batch = { AT_FDCWD, names,  0,		  STATX_BASIC_STATS,
					   stats,    errors, FERRY_DEVICE };
	size_t failed, i;

	make_file("here", 7);
	for (i = 0; i < IN_BATCH; i++)
		names[i] = i % 2 ? "here" : "missing";
	assert_true(ferry__statx_batch(&batch, (struct piece){ 0, IN_BATCH }, &failed));
	assert_int_equal(failed, IN_BATCH / 2);
	for (i = 0; i < IN_BATCH; i++) {
		error = statx(AT_FDCWD, names[i], 0, STATX_BASIC_STATS, &one) ? -errno : 0;
		assert_int_equal(errors[i], error);
		if (!error)
			assert_same(&stats[i], &one);
	}
}

/* ---- mistakes, ending early ---- */

TREE_TEST(test_mistakes)
{
	const char *names[] = { "x" };
	int errors[1];

	errno = 77;
	assert_int_equal(ferry_statx_many(AT_FDCWD, NULL, 1, 0, 0, NULL, errors, NULL), -EINVAL);
	assert_int_equal(ferry_statx_many(AT_FDCWD, names, 1, 0, 0, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_statx_many(AT_FDCWD, NULL, 0, 0, 0, NULL, NULL, NULL), 0);
	assert_int_equal(ferry_statx_many(AT_FDCWD, names, 1, 0, 0, NULL, errors, NULL), 1);
	assert_int_equal(errno, 77);
}

TEST(test_cancelled_before_it_starts)
{
	const int cancel = 1;
	const struct ferry_files_options options = { .cancel = &cancel };
	const char *names[] = { ".", "." };
	int errors[2] = { 5, 5 };

	assert_int_equal(ferry_statx_many(AT_FDCWD, names, 2, 0, 0, NULL, errors, &options),
			 -ECANCELED);
	assert_int_equal(errors[0], -ECANCELED);
	assert_int_equal(errors[1], -ECANCELED);
}

struct calls_of_progress {
	pthread_t caller;
	size_t last;
	int count;
};

static int end_at_second(void *context, size_t done)
{
	struct calls_of_progress *calls = context;

	assert_true(pthread_equal(calls->caller, pthread_self()));
	assert_true(done >= calls->last);
	calls->last = done;
	return ++calls->count == 2;
}

TEST(test_progress_can_end_the_call)
{
	const size_t count = 50000000; /* seconds */
	struct calls_of_progress calls = { .caller = pthread_self() };
	const struct ferry_files_options options = {
		.progress = end_at_second,
		.context = &calls,
	};
	const char **names = malloc(count * sizeof(*names));
	int *errors = malloc(count * sizeof(*errors));
	size_t i, reached = 0;

	for (i = 0; i < count; i++)
		names[i] = ".";
	assert_int_equal(ferry_statx_many(AT_FDCWD, names, count, 0, 0, NULL, errors, &options),
			 -ECANCELED);
	assert_int_equal(calls.count, 2);
	for (i = 0; i < count; i++) {
		reached += errors[i] == 0;
		assert_true(errors[i] == 0 || errors[i] == -ECANCELED);
	}
	assert_in_range(reached, calls.last, count - 1);
	free(names);
	free(errors);
}

/* ---- threads that are kept ---- */

static long count_threads(void)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	long count = -1;

	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "Threads: %ld", &count) == 1)
			break;
	fclose(status);
	return count;
}

static void stat_many(char **names)
{
	const struct ferry_files_options two = { .threads = 2 };
	int errors[MANY];

	CHILD_ASSERT(ferry_statx_many(AT_FDCWD, constant(names), MANY, 0, 0, NULL, errors, &two) >=
		     0);
}

static char **kept_names;

/* The threads are kept: many calls do not make many of them. */
static void use_threads(void)
{
	const long before = count_threads(); /* a sanitizer may have one, too */
	int i;

	for (i = 0; i < 20; i++)
		stat_many(kept_names);
	CHILD_ASSERT(count_threads() <= before + 1);
}

static void small_job_has_no_thread(void)
{
	const long before = count_threads();
	int errors[10];

	CHILD_ASSERT(ferry_statx_many(AT_FDCWD, constant(kept_names), 10, 0, 0, NULL, errors,
				      NULL) >= 0);
	CHILD_ASSERT(count_threads() == before);
}

static void fork_with_threads(void)
{
	int status;
	pid_t child;

	stat_many(kept_names);
	child = fork();
	if (!child) {
		stat_many(kept_names);
		_exit(0);
	}
	CHILD_ASSERT(waitpid(child, &status, 0) == child && !status);
	stat_many(kept_names);
}

/* A thread made before must not look with more rights than the caller has now. */
static void lower_rights(void)
{
	int errors[MANY];
	const struct ferry_files_options two = { .threads = 2 };
	size_t i;

	stat_many(kept_names);
	CHILD_ASSERT(!chmod(".", 0700));
	setfsgid(NOBODY);
	setfsuid(NOBODY);
	CHILD_ASSERT(ferry_statx_many(AT_FDCWD, constant(kept_names), MANY, 0, 0, NULL, errors,
				      &two) == MANY);
	for (i = 0; i < MANY; i++)
		CHILD_ASSERT(errors[i] == -EACCES);
}

/* Landlock and unprivileged filters need no_new_privs: such a thread's helpers are its own. */
static void confined_threads_end(void)
{
	const long before = count_threads();
	int tries;

	stat_many(kept_names);
	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	for (tries = 0; tries < 20; tries++)
		stat_many(kept_names);
	for (tries = 0; tries < 1000 && count_threads() > before + 1; tries++)
		usleep(1000);
	CHILD_ASSERT(count_threads() <= before + 1);
}

TREE_TEST(test_threads)
{
	const bool was_capable = have_threads_kept();

	kept_names = make_many();
	ASSERT_IN_CHILD(small_job_has_no_thread);
	ASSERT_IN_CHILD(fork_with_threads);
	ASSERT_IN_CHILD(confined_threads_end);
	if (!getuid())
		ASSERT_IN_CHILD(lower_rights);
	ASSERT_IN_CHILD(use_threads);
	free_names(kept_names, MANY);
	if (was_capable)
		set_capability(CAP_SYS_ADMIN, true);
}

/* A call with a time limit waits, where a thread can be cancelled. */
static void *call_when_cancelled(void *returned)
{
	const struct ferry_files_options hour = { .timeout_ms = 3600000 };
	const char *names[] = { "." };
	int error = -1, before = -1;

	pthread_cancel(pthread_self());
	ferry_statx_many(AT_FDCWD, names, 1, 0, 0, NULL, &error, &hour);
	/* ASan takes a thread that ends by cancellation for a mistake. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	*(bool *)returned = !error && before == PTHREAD_CANCEL_ENABLE;
	return NULL;
}

/* Helpers use the stack of a caller. */
TEST(test_a_call_is_not_cancelled)
{
	bool returned = false;
	pthread_t caller;

	assert_int_equal(pthread_create(&caller, NULL, call_when_cancelled, &returned), 0);
	assert_int_equal(pthread_join(caller, NULL), 0);
	assert_true(returned);
}

/* ---- while the tree changes ---- */

static atomic_bool stop_changing;

static void *change(void *unused)
{
	unsigned int seed = 1;
	char name[32];

	while (!atomic_load(&stop_changing)) {
		snprintf(name, sizeof(name), "changing%d", rand_r(&seed) % 200);
		switch (rand_r(&seed) % 4) {
		case 0:
			close(open(name, O_WRONLY | O_CREAT, 0644));
			break;
		case 1:
			unlink(name);
			break;
		case 2:
			mkdir(name, 0755);
			break;
		default:
			rmdir(name);
		}
	}
	return unused;
}

TREE_TEST(test_while_names_come_and_go)
{
	const struct ferry_files_options four = { .threads = 4 };
	char **names = make_names("changing", 1000);
	struct statx stats[1000];
	int errors[1000], round, i;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	for (round = 0; round < 200; round++) {
		assert_in_range(ferry_statx_many(AT_FDCWD, constant(names), 1000, 0, STATX_TYPE,
						 stats, errors, &four),
				800, 1000);
		for (i = 0; i < 1000; i++) {
			assert_true(errors[i] == 0 || errors[i] == -ENOENT);
			if (!errors[i])
				assert_true(S_ISREG(stats[i].stx_mode) ||
					    S_ISDIR(stats[i].stx_mode));
		}
	}
	atomic_store(&stop_changing, true);
	pthread_join(thread, NULL);
	free_names(names, 1000);
}

TEST_MAIN
