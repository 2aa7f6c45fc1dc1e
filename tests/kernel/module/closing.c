// SPDX-License-Identifier: MIT
/*
 * The descriptor is closed, or replaced by another file, at the worst moments.  A task
 * that shares its descriptors with no other uses a file without a reference, so the module
 * has to hold one.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sys/resource.h>

#include "device.h"

#define FIRST 3

static struct batch_slot close_all(void)
{
	return SLOT(SYS_close_range, FIRST, ~0U, 0);
}

/* A task that was preempted leaves the ioctl for its restartable sequence, and finds no device. */
static long run_through(int fd, struct batch_args *args)
{
	long result = device_run(fd, args);
	int again;

	while (result == -EBADF && args->position) {
		fd = device_open();
		again = fcntl(fd, F_DUPFD, 100); /* a number that no slot names */
		close(fd);
		result = device_run(again, args);
		close(again);
	}
	return result;
}

TEST(a_batch_outlives_its_descriptor)
{
	int fd = device_open();
	const struct batch_slot calls[] = {
		SLOT(SYS_close, fd),
		SLOT(SYS_close, fd),
		SLOT(SYS_dup2, 0, fd),
		SLOT(SYS_getpid),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 4);

	expect_equal(run_through(fd, &args), 3);
	expect_equal(rets[0], 0);
	expect_equal(rets[1], -EBADF);
	expect_equal(rets[2], fd);
	expect_equal(rets[3], getpid());
}

/* The restarted ioctl finds no device; the state is in the arguments. */
TEST(the_state_survives_the_descriptor)
{
	int fd = device_open();
	const struct batch_slot calls[] = {
		SLOT(SYS_close, fd),
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_getpid),
	};
	long rets[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 3);

	count_signals();
	expect_equal(device_run(fd, &args), -EBADF);
	if (args.position != 1) /* where the task was preempted; see run_through() */
		expect_equal(args.position, 2);
	expect_equal(args.state, BATCH_BEGIN);
	expect_equal(rets[2], UNTOUCHED);
	fd = device_open();
	expect_equal(device_run(fd, &args), 2);
	expect_equal(rets[2], getpid());
	expect_equal(signals_seen, 1);
}

static long run_on_library(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return ferry_batch_on(FERRY_DEVICE, rets, calls, ncall, 0, 0);
}

/* Each write happens once, whatever happens to the descriptor. */
static void run_with_signals(struct batch_slot undo)
{
	int file = memory_file();
	struct batch_slot calls[] = {
		SLOT(SYS_write, 1, "x", 1), undo, SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_write, 1, "x", 1), undo, SLOT(SYS_write, 1, "x", 1),
	};
	long rets[6];
	int i;

	count_signals();
	dup2(file, 1);
	for (i = 0; i < 3; i++)
		expect_equal(run_on_library(rets, calls, 6), 5);
	expect_equal(lseek(1, 0, SEEK_END), 9);
	expect_equal(signals_seen, 3);
}

TEST(the_library_goes_on_where_a_batch_closed_everything)
{
	run_with_signals(close_all());
}

TEST(the_library_goes_on_where_its_number_is_another_file)
{
	run_with_signals(SLOT(SYS_dup2, 0, 1000));
}

TEST(the_library_loops_where_no_descriptor_is_free)
{
	const struct rlimit none = { FIRST, FIRST };
	const struct batch_slot calls[] = {
		SLOT(SYS_prlimit64, 0, RLIMIT_NOFILE, &none, 0),
		close_all(),
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_getpid),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };

	count_signals();
	expect_equal(run_on_library(rets, calls, 4), 3);
	expect_equal(rets[3], getpid());
	expect_equal(run_on_library(rets, calls, 4), 3);
	expect_equal(rets[3], getpid());
}

static void *close_it_again_and_again(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
		close(1000);
		dup2(0, 1000);
		close(1000);
		sched_yield();
	}
	return NULL;
}

TEST(batches_run_while_another_thread_closes_the_descriptor)
{
	pthread_t thread;
	int stop = 0;
	int i;

	expect(!pthread_create(&thread, NULL, close_it_again_and_again, &stop));
	for (i = 0; i < 2000; i++)
		expect_library_runs();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	expect(!pthread_join(thread, NULL));
}
