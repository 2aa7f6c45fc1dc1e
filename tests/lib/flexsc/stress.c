// SPDX-License-Identifier: MIT
/*
 * flexsc under load, in separate parts:
 *
 *	stress calls N [SEED]	N calls of several threads, with results that identify their call
 *	stress restarts N	N starts and stops, with calls in progress in between
 *	stress kills N [SEED]	N children that are killed at a random moment
 *	stress differential N [SEED]	N random calls, made plainly and posted
 *	stress blocked N	N calls that block at once, twice as many as there may be stand-ins
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

#define THREADS 4

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

static void *run_single_calls_there(void *caller)
{
	run_single_calls(caller);
	return NULL;
}

static void calls(long count, uint64_t seed)
{
	static const struct ferry_flexsc_options two = { .runners = 2, .entries = 256 };
	struct caller callers[THREADS];
	pthread_t threads[THREADS];
	uint64_t i;

	file = memfd_create("stress", MFD_CLOEXEC);
	flexsc = start(&two);
	for (i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){ count / THREADS, seed + i };
		pthread_create(&threads[i], NULL, run_single_calls_there, &callers[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ferry_flexsc_stop(flexsc);
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
	struct caller caller = { 200, 1 };
	int i;

	flexsc = start(&two);
	run_single_calls(&caller);
	for (i = 0; i < 10; i++)
		ferry_flexsc_post(flexsc, SYS_getpid, NULL, 0);
	ferry_flexsc_stop(flexsc);
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

static void differential(long count, uint64_t seed)
{
	static struct world worlds[2];
	uint64_t random[2] = { seed, seed };
	struct action plain, posted;
	long i, result;

	flexsc = start(NULL);
	open_world(&worlds[0]);
	open_world(&worlds[1]);
	for (i = 0; i < count; i++) {
		plain = random_action(&random[0], &worlds[0]);
		posted = random_action(&random[1], &worlds[1]);
		result = act_plainly(&plain);
		compare(i, &posted, result, ferry_flexsc_call(flexsc, posted.nr, posted.arg, 6),
			worlds);
	}
	ferry_flexsc_stop(flexsc);
}

/* ---- blocked ---- */

/* Of one file: only the first, which is of another open, can hold the lock. */
static int locked, waiting;

static void open_lock(void)
{
	char path[] = "/tmp/ferry-lock-XXXXXX";

	locked = mkstemp(path);
	waiting = open(path, O_RDWR | O_CLOEXEC);
	if (locked < 0 || waiting < 0 || flock(locked, LOCK_EX))
		err(1, "no lock");
	unlink(path);
}

/* Collects finished calls, and returns how many are left. */
static long poll_locks(long tickets[], long count, long left)
{
	long i, result;

	for (i = 0; i < count; i++) {
		if (tickets[i] < 0 || !ferry_flexsc_poll(flexsc, tickets[i], &result))
			continue;
		check(result, 0);
		tickets[i] = -1;
		left--;
	}
	return left;
}

static void blocked(long count)
{
	const struct ferry_flexsc_options options = { .entries = 4096,
						      .standins = (unsigned int)count / 2 };
	long *tickets = calloc((size_t)count, sizeof(*tickets)), left = count, i;

	if (!tickets)
		err(1, "no memory");
	open_lock();
	flexsc = start(&options);
	for (i = 0; i < count; i++) {
		tickets[i] =
			ferry_flexsc_post(flexsc, SYS_flock, (const long[]){ waiting, LOCK_SH }, 2);
		if (tickets[i] < 0)
			errx(1, "call %ld is not posted: %s", i, strerror((int)-tickets[i]));
	}
	/* Calls behind a blocked one move while there are stand-ins, and stay where they are then.
	 */
	while (running_threads() < count / 2)
		check(poll_locks(tickets, count, left), left);
	check(poll_locks(tickets, count, left), left);
	flock(locked, LOCK_UN);
	while (left)
		left = poll_locks(tickets, count, left);
	free(tickets);
	ferry_flexsc_stop(flexsc);
}

int main(int argc, char *argv[])
{
	const char *part = argc > 2 ? argv[1] : "";
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);

	if (count < 1 || !strstr("calls restarts kills differential blocked", part)) {
		fprintf(stderr,
			"Usage: stress calls|restarts|kills|differential|blocked COUNT [SEED]\n");
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
	else if (!strcmp(part, "blocked"))
		blocked(count);
	else
		differential(count, seed);
	return 0;
}
