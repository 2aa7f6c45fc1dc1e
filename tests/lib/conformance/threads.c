// SPDX-License-Identifier: MIT
/* Threads: many at once, many in sequence, and their remains. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#include "contract/suite.h"
#include "contract/workload.h"

#define THREADS 16
#define BATCHES 200

static pthread_barrier_t start;
static int null_fd;

static void *run_many(void *arg)
{
	int i;

	(void)arg;
	pthread_barrier_wait(&start);
	for (i = 0; i < BATCHES; i++)
		if (!workload_right(null_fd))
			return "wrong";
	return NULL;
}

TEST(many_threads_run_batches_at_once)
{
	pthread_t threads[THREADS];
	void *wrong;
	int i;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	expect(!pthread_barrier_init(&start, NULL, THREADS));
	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, run_many, NULL));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		expect(!wrong);
	}
	pthread_barrier_destroy(&start);
	close(null_fd);
}

/* Each thread moves its own bytes through its own files. */
static void *run_own_files(void *arg)
{
	long mark = (long)arg;
	int file = memory_file();
	struct batch_slot calls[128];
	long rets[128];
	long values[64];
	long got[64];
	int round;
	int i;

	for (i = 0; i < 64; i++) {
		values[i] = mark * 1000 + i;
		calls[i] = SLOT(SYS_pwrite64, file, &values[i], 8, 8 * i);
		calls[64 + i] = SLOT(SYS_pread64, file, &got[i], 8, 8 * i);
	}
	for (round = 0; round < 50; round++) {
		memset(got, 0, sizeof(got));
		if (run_batch(rets, calls, 128) != 127 || memcmp(got, values, sizeof(got)) != 0)
			return "wrong";
	}
	close(file);
	return NULL;
}

TEST(threads_do_not_mix_their_files)
{
	pthread_t threads[THREADS];
	void *wrong;
	long i;

	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, run_own_files, (void *)(i + 1)));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		expect(!wrong);
	}
}

/* ---- what is left behind ---- */

static long count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	long count = 0;

	expect(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static long count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	long count = 0;
	int c;

	expect(maps);
	while ((c = getc(maps)) != EOF)
		count += c == '\n';
	fclose(maps);
	return count;
}

static void *run_once(void *arg)
{
	(void)arg;
	return workload_right(null_fd) ? NULL : "wrong";
}

static void come_and_go(int times)
{
	pthread_t thread;
	void *wrong;

	while (times--) {
		expect(!pthread_create(&thread, NULL, run_once, NULL));
		pthread_join(thread, &wrong);
		expect(!wrong);
	}
}

TEST(threads_that_exit_leave_nothing_behind)
{
	long descriptors;
	long mappings;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* The C library keeps stacks and heaps of its first threads. */
	come_and_go(20);
	descriptors = count_descriptors();
	mappings = count_mappings();
	come_and_go(500);
	expect_equal(count_descriptors(), descriptors);
	if (!SANITIZED)
		expect_equal(count_mappings(), mappings);
}

/* ---- fork in a program of many threads ---- */

static volatile int stop;

static void *run_until_stopped(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		if (!workload_right(null_fd))
			return "wrong";
	return NULL;
}

static void run_in_child(void *arg)
{
	(void)arg;
	run_writes_on(null_fd);
	run_writes();
}

static void fork_among_threads(void *arg)
{
	pthread_t threads[4];
	void *wrong;
	int i;

	(void)arg;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < 4; i++)
		expect(!pthread_create(&threads[i], NULL, run_until_stopped, NULL));
	for (i = 0; i < 30; i++) {
		run_writes();
		expect_child(run_in_child, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		expect(!wrong);
	}
}

TEST(a_child_of_many_threads_runs_batches)
{
	expect_child(fork_among_threads, NULL);
	expect_child(in_new_thread, fork_among_threads);
}

/* ---- a thread that no longer shares the process's descriptors ---- */

static void unshare_descriptors(void *arg)
{
	int other = memory_file();
	int file = *(int *)arg;
	struct batch_slot calls[48];
	long results[48];
	int i;

	run_writes();
	for (i = 0; i < 48; i++) {
		calls[i] = SLOT(SYS_write, file, "t", 1);
		results[i] = 1;
	}
	calls[16] = SLOT(SYS_unshare, CLONE_FILES);
	calls[17] = SLOT(SYS_dup3, other, file, 0);
	results[16] = 0;
	results[17] = file;
	expect_run(calls, 48, results);
	expect_equal(lseek(other, 0, SEEK_END), 30);
	run_writes();
}

static int shared_file;

static void unshare_shared_file(void *arg)
{
	(void)arg;
	unshare_descriptors(&shared_file);
}

TEST(a_thread_may_unshare_its_descriptors)
{
	shared_file = memory_file();
	run_writes();
	in_new_thread(unshare_shared_file);
	expect_equal(lseek(shared_file, 0, SEEK_END), 16);
	run_writes();
}

/* ---- cancellation ---- */

static int batch_of_cancelled = -1;

/* Neither a raw call nor a batch is a cancellation point: the thread ends after it. */
static void *run_cancelled(void *arg)
{
	(void)arg;
	pthread_cancel(pthread_self());
	batch_of_cancelled = workload_right(null_fd);
	pthread_testcancel();
	return NULL;
}

TEST(a_cancelled_thread_ends_after_its_batch)
{
	pthread_t thread;
	void *end;

	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	expect(!pthread_create(&thread, NULL, run_cancelled, NULL));
	pthread_join(thread, &end);
	expect(end == PTHREAD_CANCELED);
	expect_equal(batch_of_cancelled, 1);
}
