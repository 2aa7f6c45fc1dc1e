// SPDX-License-Identifier: MIT
/*
 * flexsc under load, in separate parts:
 *
 *	stress calls N [SEED]	N calls, by user-level threads and by single calls of several kernel
 *				threads, with results that identify their call
 *	stress restarts N	N starts and stops, with calls in progress in between
 *	stress kills N [SEED]	N children that are killed at a random moment
 *	stress differential N [SEED]	N random calls, made plainly and posted
 *	stress threads N	N user-level threads at once; where each stack takes mappings
 *				of its own, no more than these allow
 *	stress blocked N	N calls that block at once, more than there are stand-ins
 *
 * Exit status 0, or 1 after a sentence on standard error.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry/rawcall.h>
#include <ferry_flexsc.h>

#define KERNEL_THREADS 3
#define USER_THREADS 100

/* For lseek(), whose result is its argument and so identifies the call. */
static int file;
static struct ferry_flexsc *flexsc;

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15; /* SplitMix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static struct ferry_flexsc *start(const struct ferry_flexsc_options *options)
{
	struct ferry_flexsc *new;
	int error = ferry_flexsc_start(&new, options);

	if (error)
		errx(1, "flexsc does not start: %s", strerror(-error));
	return new;
}

static void stop(void)
{
	if (ferry_flexsc_stop(flexsc))
		errx(1, "flexsc does not stop");
}

/* ---- calls ---- */

struct caller {
	long calls;
	uint64_t random;
};

static void check(long result, long expected)
{
	if (result != expected)
		errx(1, "a call returned %ld instead of %ld", result, expected);
}

static long offset_for(struct caller *caller)
{
	return (long)(random_next(&caller->random) >> 2);
}

static void *call_in_thread(void *argument)
{
	struct caller *caller = argument;
	long offset;

	while (caller->calls--) {
		offset = offset_for(caller);
		check(ferry_thread_call3(SYS_lseek, file, offset, SEEK_SET), offset);
		if (!(offset & 0xfff))
			ferry_thread_yield();
	}
	return NULL;
}

static void run_user_threads(struct caller *caller)
{
	struct ferry_thread *threads[USER_THREADS];
	struct caller callers[USER_THREADS];
	int i, error;

	for (i = 0; i < USER_THREADS; i++) {
		callers[i].calls = caller->calls / USER_THREADS;
		callers[i].random = random_next(&caller->random);
		error = ferry_thread_spawn(&threads[i], flexsc, call_in_thread, &callers[i]);
		if (error)
			errx(1, "no user-level thread: %s", strerror(-error));
	}
	for (i = 0; i < USER_THREADS; i++)
		ferry_thread_join(threads[i], NULL);
}

/* Several in progress at a time, collected in a different order than posted. */
static void run_single_calls(struct caller *caller)
{
	long tickets[8], offsets[8], left = caller->calls;
	int i;

	for (; left > 0; left -= 8) {
		for (i = 0; i < 8; i++) {
			offsets[i] = offset_for(caller);
			do
				tickets[i] = ferry_flexsc_post(
					flexsc, SYS_lseek,
					(const long[]){ file, offsets[i], SEEK_SET }, 3);
			while (tickets[i] == -EAGAIN);
		}
		for (i = 8; i--;)
			check(ferry_flexsc_wait(flexsc, tickets[i]), offsets[i]);
	}
}

static void *run_user_threads_there(void *caller)
{
	run_user_threads(caller);
	return NULL;
}

static void *run_single_calls_there(void *caller)
{
	run_single_calls(caller);
	return NULL;
}

static void calls(long count, uint64_t seed)
{
	/* User-level threads make 19 of 20 calls, because the others are that much slower. */
	struct caller callers[KERNEL_THREADS + 1] = {
		{ count / 20 * 9, seed + 1 },
		{ count / 20 * 10, seed + 2 },
		{ count / 40, seed + 3 },
		{ count / 40, seed + 4 },
	};
	static const struct ferry_flexsc_options two = { .runners = 2, .entries = 256 };
	pthread_t threads[KERNEL_THREADS];
	int i;

	file = memfd_create("stress", MFD_CLOEXEC);
	flexsc = start(&two);
	pthread_create(&threads[0], NULL, run_user_threads_there, &callers[1]);
	pthread_create(&threads[1], NULL, run_single_calls_there, &callers[2]);
	pthread_create(&threads[2], NULL, run_single_calls_there, &callers[3]);
	run_user_threads(&callers[0]);
	for (i = 0; i < KERNEL_THREADS; i++)
		pthread_join(threads[i], NULL);
	stop();
}

/* ---- restarts ---- */

static long running_threads(void)
{
	char line[128];
	long threads = 0;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Threads: %ld", &threads) == 1)
			break;
	if (status)
		fclose(status);
	return threads;
}

/* Not pages that are only mapped: libc keeps the stacks of ended threads. */
static long pages_in_use(void)
{
	long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (statm && fscanf(statm, "%*d %ld", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages;
}

static void restart(void)
{
	static const struct ferry_flexsc_options two = { .runners = 2 };
	struct caller caller = { USER_THREADS * 2, 1 };
	int i;

	flexsc = start(&two);
	run_user_threads(&caller);
	for (i = 0; i < 10; i++)
		ferry_flexsc_post(flexsc, SYS_getpid, NULL, 0);
	stop();
}

static void restarts(long count)
{
	long i, pages, threads = running_threads();

	file = memfd_create("stress", MFD_CLOEXEC);
	for (i = 0; i < 10; i++)
		restart();
	pages = pages_in_use();
	for (i = 0; i < count; i++)
		restart();
	if (running_threads() > threads + 1) /* TSan starts one */
		errx(1, "threads are left over");
	if (pages_in_use() > pages + 1024)
		errx(1, "%ld pages more are in use after %ld restarts", pages_in_use() - pages,
		     count);
}

/* ---- kills ---- */

static void call_for_ever(uint64_t seed)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		calls(100000, seed);
}

static void kill_one(uint64_t *random)
{
	long us = (long)(random_next(random) % 5000);
	struct timespec while_ns = { 0, us * 1000 };
	int status;
	pid_t child = fork();

	if (child < 0)
		err(1, "no child");
	if (!child)
		call_for_ever(*random);
	nanosleep(&while_ns, NULL);
	kill(child, SIGKILL);
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGKILL)
		errx(1, "a child ended by itself, with status %#x, before %ld us were over",
		     (unsigned int)status, us);
}

static void kills(long count, uint64_t seed)
{
	while (count--)
		kill_one(&seed);
}

/* ---- differential ---- */

#define PARTS 16
#define PART 64

struct world {
	int fd;
	unsigned char data[PARTS * PART];
};

struct action {
	long nr, arg[6];
};

static void open_world(struct world *world)
{
	world->fd = memfd_create("world", MFD_CLOEXEC);
	memset(world->data, 0x55, sizeof(world->data));
}

/* A call that reads or writes memory, the file or its offset, and may fail. */
static struct action random_action(uint64_t *random, const struct world *world)
{
	static const long numbers[] = { SYS_read,   SYS_write,	SYS_pread64, SYS_pwrite64,
					SYS_lseek,  SYS_getpid, SYS_close,   SYS_ftruncate,
					SYS_getcwd, SYS_fcntl,	SYS_uname,   -1 };
	uint64_t r = random_next(random);
	long fd = r % 8 ? world->fd : -1;
	struct action action = { .nr = numbers[random_next(random) % 12] };

	action.arg[0] = fd;
	action.arg[1] = (long)&world->data[random_next(random) % (PARTS - 8) * PART];
	action.arg[2] = (long)(random_next(random) % (8 * PART));
	action.arg[3] = (long)(random_next(random) % 256) - 8;
	if (action.nr == SYS_lseek)
		action.arg[1] = action.arg[3];
	if (action.nr == SYS_lseek)
		action.arg[2] = (long)(r >> 8) % 4;
	if (action.nr == SYS_close)
		action.arg[0] = -1;
	if (action.nr == SYS_ftruncate)
		action.arg[1] = action.arg[3];
	if (action.nr == SYS_fcntl)
		action.arg[1] = F_GETFL;
	if (action.nr == SYS_getcwd || action.nr == SYS_uname)
		action.arg[0] = action.arg[1];
	if (action.nr == SYS_getcwd)
		action.arg[1] = action.arg[2];
	return action;
}

static long act_plainly(const struct action *action)
{
	const long *a = action->arg;

	if (action->nr < 0)
		return -ENOSYS;
	return ferry_rawcall(action->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void compare(long step, const struct action *action, long plain, long posted,
		    const struct world worlds[])
{
	if (plain != posted)
		errx(1, "call %ld, number %ld: plainly %ld, posted %ld", step, action->nr, plain,
		     posted);
	if (memcmp(worlds[0].data, worlds[1].data, sizeof(worlds[0].data)) != 0)
		errx(1, "call %ld, number %ld leaves other memory when posted", step, action->nr);
}

static struct differential {
	long count;
	uint64_t seed;
	bool in_thread;
} differential_run;

static void *compare_calls(void *argument)
{
	static struct world worlds[2];
	struct differential *run = argument;
	uint64_t random[2] = { run->seed, run->seed };
	struct action plain, posted;
	long i, result, with_flexsc;
	const long *a;

	open_world(&worlds[0]);
	open_world(&worlds[1]);
	for (i = 0; i < run->count; i++) {
		plain = random_action(&random[0], &worlds[0]);
		posted = random_action(&random[1], &worlds[1]);
		result = act_plainly(&plain);
		a = posted.arg;
		if (run->in_thread)
			with_flexsc =
				ferry_thread_call(posted.nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		else
			with_flexsc = ferry_flexsc_call(flexsc, posted.nr, a, 6);
		compare(i, &posted, result, with_flexsc, worlds);
	}
	close(worlds[0].fd);
	close(worlds[1].fd);
	return NULL;
}

static void differential(long count, uint64_t seed)
{
	struct ferry_thread *thread;

	flexsc = start(NULL);
	differential_run = (struct differential){ count / 2, seed, false };
	compare_calls(&differential_run);
	differential_run.in_thread = true;
	ferry_thread_spawn(&thread, flexsc, compare_calls, &differential_run);
	ferry_thread_join(thread, NULL);
	stop();
}

/* ---- threads ---- */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

static bool guards_split_mappings(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool split = madvise(page, size, MADV_GUARD_INSTALL);

	munmap(page, size);
	return split;
}

static void *call_once(void *argument)
{
	check(ferry_getpid(), getpid());
	return argument;
}

static void threads(long count)
{
	struct ferry_thread **all;
	long i;
	int error;
	void *value;

	if (guards_split_mappings() && count > 30000)
		count = 30000;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	all = calloc((size_t)count, sizeof(*all));
	if (!all)
		err(1, "no memory");
	flexsc = start(NULL);
	for (i = 0; i < count; i++) {
		error = ferry_thread_spawn(&all[i], flexsc, call_once, (void *)i);
		if (error)
			errx(1, "no user-level thread %ld: %s", i, strerror(-error));
	}
	for (i = 0; i < count; i++) {
		ferry_thread_join(all[i], &value);
		check((long)value, i);
	}
	free(all);
	stop();
}

/* ---- blocked ---- */

/* Of one file: only the first, which is of another open, can hold the lock. */
static int locked, waiting;

static void *take_lock(void *argument)
{
	check(ferry_thread_call3(SYS_flock, waiting, LOCK_SH, 0), 0);
	return argument;
}

static void open_lock(void)
{
	char path[] = "/tmp/ferry-lock-XXXXXX";

	locked = mkstemp(path);
	waiting = open(path, O_RDWR | O_CLOEXEC);
	if (locked < 0 || waiting < 0 || flock(locked, LOCK_EX))
		err(1, "no lock");
	unlink(path);
}

static void blocked(long count)
{
	static const struct ferry_flexsc_options two = {
		.runners = 2,
		.standins = FERRY_FLEXSC_MAX_STANDINS,
	};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	struct ferry_thread **threads = calloc((size_t)count, sizeof(*threads));
	long i;

	if (!threads)
		err(1, "no memory");
	open_lock();
	flexsc = start(&two);
	for (i = 0; i < count; i++)
		if (ferry_thread_spawn(&threads[i], flexsc, take_lock, NULL))
			errx(1, "no user-level thread");
	/* Other threads still run meanwhile, and while calls wait for a stand-in. */
	while (running_threads() < FERRY_FLEXSC_MAX_STANDINS)
		ferry_thread_sleep(1000000);
	ferry_thread_sleep(20000000);
	flock(locked, LOCK_UN);
	for (i = 0; i < count; i++)
		ferry_thread_join(threads[i], NULL);
	free(threads);
	stop();
}

int main(int argc, char *argv[])
{
	const char *part = argc > 2 ? argv[1] : "";
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);

	if (count < 1 || !strstr("calls restarts kills differential threads blocked", part)) {
		fprintf(stderr,
			"Usage: stress calls|restarts|kills|differential|threads|blocked COUNT"
			" [SEED]\n");
		return 2;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	if (!strcmp(part, "calls"))
		calls(count, seed);
	else if (!strcmp(part, "restarts"))
		restarts(count);
	else if (!strcmp(part, "kills"))
		kills(count, seed);
	else if (!strcmp(part, "threads"))
		threads(count);
	else if (!strcmp(part, "blocked"))
		blocked(count);
	else
		differential(count, seed);
	return 0;
}
