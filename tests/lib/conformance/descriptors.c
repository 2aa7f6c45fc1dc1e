// SPDX-License-Identifier: MIT
/* Descriptor numbers: an engine uses none that the program would get, and needs none. */
#include <dirent.h>
#include <sys/resource.h>

#include "contract/suite.h"
#include "contract/workload.h"

static void expect_lowest_numbers(void)
{
	struct batch_slot calls[14];
	long results[14];
	int i;

	for (i = 0; i < 10; i++) {
		calls[i] = SLOT(SYS_dup, 0);
		results[i] = 3 + i;
	}
	calls[10] = SLOT(SYS_close, 5);
	calls[11] = SLOT(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
	calls[12] = SLOT(SYS_fcntl, 0, F_DUPFD, 7);
	calls[13] = SLOT(SYS_dup3, 0, 14, 0);
	results[10] = 0;
	results[11] = 5;
	results[12] = 13;
	results[13] = 14;
	expect_run(calls, 14, results);
	closefrom(3);
}

static void number_descriptors(void *arg)
{
	(void)arg;
	closefrom(3);
	expect_lowest_numbers();
	run_writes();
	expect_lowest_numbers();
	run_writes();
	expect_lowest_numbers();
}

TEST(new_descriptors_get_the_lowest_free_numbers)
{
	expect_child(number_descriptors, NULL);
	expect_child(in_new_thread, number_descriptors);
}

/* A program that closes all unknown descriptors, as daemons do. */
static void close_all_within_a_batch(void *arg)
{
	struct batch_slot calls[101];
	long results[101];
	int null;
	int i;

	(void)arg;
	run_writes();
	closefrom(3);
	run_writes();
	null = open("/dev/null", O_WRONLY);
	for (i = 0; i < 101; i++) {
		calls[i] = SLOT(SYS_write, null, "x", 1);
		results[i] = i < 50 ? 1 : -EBADF;
	}
	calls[50] = SLOT(SYS_close_range, 3, ~0U, 0);
	results[50] = 0;
	expect_run(calls, 101, results);
	run_writes();
}

TEST(a_batch_may_close_every_descriptor)
{
	expect_child(close_all_within_a_batch, NULL);
	expect_child(in_new_thread, close_all_within_a_batch);
}

/* The engine does not mistake a file for its own descriptor if both have the same number. */
static void reuse_numbers(void *arg)
{
	int file;
	int i;

	(void)arg;
	run_writes();
	closefrom(3);
	file = memory_file();
	for (i = 0; i < 40; i++)
		dup(file);
	run_writes();
	expect_equal(lseek(file, 0, SEEK_END), 0);
}

TEST(an_engine_does_not_touch_a_file_at_a_number_that_it_once_used)
{
	expect_child(reuse_numbers, NULL);
	expect_child(in_new_thread, reuse_numbers);
}

static void allow_no_descriptor(void *arg)
{
	const struct rlimit none = { 0, 0 };
	struct batch_slot calls[] = { SLOT(SYS_dup, 0),
				      SLOT(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY),
				      SLOT(SYS_write, -1, "x", 1), SLOT(SYS_getpid) };

	(void)arg;
	expect(!setrlimit(RLIMIT_NOFILE, &none));
	expect_batch(calls, 3, -EMFILE, -EMFILE, -EBADF, getpid());
}

static void exhaust_descriptors(void *arg)
{
	int null = open("/dev/null", O_RDWR);

	allow_no_descriptor(arg);
	run_writes_on(null);
}

TEST(batches_run_without_a_free_descriptor)
{
	expect_child(exhaust_descriptors, NULL);
	expect_child(in_new_thread, exhaust_descriptors);
}

static void leave_one_descriptor(void *arg)
{
	const struct rlimit five = { 5, 5 };
	struct batch_slot calls[] = { SLOT(SYS_dup, 0), SLOT(SYS_close, 4), SLOT(SYS_dup, 0),
				      SLOT(SYS_dup, 0), SLOT(SYS_close, 4) };
	int null;

	(void)arg;
	closefrom(3);
	null = open("/dev/null", O_RDWR);
	expect(!setrlimit(RLIMIT_NOFILE, &five));
	expect_batch(calls, 4, 4, 0, 4, -EMFILE, 0);
	run_writes_on(null);
	expect_batch(calls, 4, 4, 0, 4, -EMFILE, 0);
}

TEST(an_engine_takes_no_descriptor_from_a_program_at_its_limit)
{
	expect_child(leave_one_descriptor, NULL);
	expect_child(in_new_thread, leave_one_descriptor);
}
