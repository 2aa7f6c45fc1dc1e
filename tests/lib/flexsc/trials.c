// SPDX-License-Identifier: MIT
/*
 * Short programs whose calls might hang.  `trials PART SEED` runs one, with sizes and delays that
 * the seed chooses; hangs.py runs each many times.
 *
 *	blocked		calls block until others, which were posted later, are made
 *	polled		calls behind one that blocks, which are polled
 *	shared		threads wait for calls that others have posted, some behind one that blocks
 *	standins	calls that do not block take no other runners
 *	events		an event loop waits for calls of which some block
 *
 * Exit status 0, or 1 after a sentence on standard error.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "tests/lib/unit/thread_count.h"

#define MOST 100

static struct ferry_flexsc *flexsc;
static uint64_t state;

/* From 0 to LIMIT - 1. */
static long choose(long limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (long)(state >> 33) % limit;
}

static void start(unsigned int flags, unsigned int runners)
{
	struct ferry_flexsc_options options = { .flags = flags,
						.runners = runners,
						.entries = 256 };

	if (ferry_flexsc_start(&flexsc, &options))
		errx(1, "flexsc does not start");
}

static void expect(long result, long expected)
{
	if (result != expected)
		errx(1, "a call returned %ld instead of %ld", result, expected);
}

static void pause_us(long us)
{
	const struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

static long post(long nr, long a, long b, long c)
{
	long ticket = ferry_flexsc_post(flexsc, nr, (const long[]){ a, b, c }, 3);

	if (ticket < 0)
		errx(1, "a post failed: %s", strerror((int)-ticket));
	return ticket;
}

/* ---- calls that block ---- */

/* What a call waits for: a byte in a pipe, or a lock, which cannot be polled. */
struct obstacle {
	int fds[2];
	int is_lock;
	char byte;
};

static void put_up(struct obstacle *obstacle, int is_lock)
{
	char path[] = "/tmp/ferry-trial-XXXXXX";

	obstacle->is_lock = is_lock;
	if (!is_lock) {
		if (pipe2(obstacle->fds, O_CLOEXEC))
			err(1, "no pipe");
		return;
	}
	obstacle->fds[1] = mkstemp(path);
	obstacle->fds[0] = open(path, O_RDWR | O_CLOEXEC);
	if (obstacle->fds[0] < 0 || flock(obstacle->fds[1], LOCK_EX))
		err(1, "no lock");
	unlink(path);
}

/* The result of the call is 1 for a pipe and 0 for a lock. */
static long post_wait(struct obstacle *obstacle)
{
	if (obstacle->is_lock)
		return post(SYS_flock, obstacle->fds[0], LOCK_SH, 0);
	return post(SYS_read, obstacle->fds[0], (long)&obstacle->byte, 1);
}

static long post_removal(const struct obstacle *obstacle)
{
	if (obstacle->is_lock)
		return post(SYS_flock, obstacle->fds[1], LOCK_UN, 0);
	return post(SYS_write, obstacle->fds[1], (long)"x", 1);
}

static void remove_it(const struct obstacle *obstacle)
{
	if (obstacle->is_lock ? flock(obstacle->fds[1], LOCK_UN) :
				write(obstacle->fds[1], "x", 1) != 1)
		err(1, "nothing removed");
}

/* Whether TICKET, which becomes -1, is of a call that is over with EXPECTED. */
static int collected(long *ticket, long expected)
{
	long result;

	if (*ticket < 0 || !ferry_flexsc_poll(flexsc, *ticket, &result))
		return 0;
	expect(result, expected);
	*ticket = -1;
	return 1;
}

static void blocked(void)
{
	static struct obstacle obstacle[MOST];
	long waits[MOST], removals[MOST], count = 1 + choose(MOST), i;

	start(0, 1 + (unsigned int)choose(2));
	for (i = 0; i < count; i++) {
		put_up(&obstacle[i], !choose(4));
		waits[i] = post_wait(&obstacle[i]);
	}
	pause_us(choose(2000));
	for (i = 0; i < count; i++)
		removals[i] = post_removal(&obstacle[i]);
	for (i = 0; i < count; i++) {
		expect(ferry_flexsc_wait(flexsc, removals[i]), !obstacle[i].is_lock);
		expect(ferry_flexsc_wait(flexsc, waits[i]), !obstacle[i].is_lock);
	}
}

static void polled(void)
{
	struct obstacle obstacle;
	long tickets[20], lock, left = 1 + choose(20), count = left, i;

	start(0, 1);
	put_up(&obstacle, 1);
	lock = post_wait(&obstacle);
	for (i = 0; i < count; i++)
		tickets[i] = post(SYS_getpid, 0, 0, 0);
	while (left)
		left -= collected(&tickets[choose(count)], getpid());
	remove_it(&obstacle);
	expect(ferry_flexsc_wait(flexsc, lock), 0);
}

static void *wait_for_pid(void *ticket)
{
	expect(ferry_flexsc_wait(flexsc, (long)ticket), getpid());
	return NULL;
}

static void shared(void)
{
	pthread_t threads[20];
	struct obstacle obstacle;
	long lock, count = 1 + choose(20), i;

	start(0, 1 + (unsigned int)choose(2));
	put_up(&obstacle, 1);
	lock = post_wait(&obstacle);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, wait_for_pid,
				   (void *)post(SYS_getpid, 0, 0, 0)))
			errx(1, "no thread");
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	remove_it(&obstacle);
	expect(ferry_flexsc_wait(flexsc, lock), 0);
}

/* ---- calls that do not block ---- */

static void standins(void)
{
	long tickets[MOST], count = 1 + choose(MOST), left, i, rounds;

	start(0, 1);
	for (rounds = 1 + choose(50); rounds; rounds--) {
		for (i = 0; i < count; i++)
			tickets[i] = post(SYS_getpid, 0, 0, 0);
		for (left = count; left;)
			left -= collected(&tickets[choose(count)], getpid());
		pause_us(choose(200));
	}
	if (threads_of_process() > 2)
		errx(1, "%d threads, although no call blocks", threads_of_process());
}

/* ---- an event loop ---- */

/* The calls behind the first, which blocks, are all done before it. */
static void events(void)
{
	struct obstacle obstacle;
	long tickets[MOST], lock, left = 1 + choose(MOST), count = left, i;
	struct pollfd event;
	uint64_t counter;

	start(0, 1);
	event = (struct pollfd){ ferry_flexsc_eventfd(flexsc), POLLIN, 0 };
	put_up(&obstacle, 1);
	lock = post_wait(&obstacle);
	for (i = 0; i < count; i++)
		tickets[i] = post(SYS_getpid, 0, 0, 0);
	while (left) {
		if (poll(&event, 1, -1) != 1 ||
		    read(event.fd, &counter, sizeof(counter)) != sizeof(counter))
			err(1, "no event");
		for (i = 0; i < count; i++)
			left -= collected(&tickets[i], getpid());
	}
	remove_it(&obstacle);
	expect(ferry_flexsc_wait(flexsc, lock), 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "blocked", blocked },	  { "polled", polled }, { "shared", shared },
	{ "standins", standins }, { "events", events },
};

int main(int argc, char *argv[])
{
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && argc == 3; i++) {
		if (strcmp(parts[i].name, argv[1]) != 0)
			continue;
		state = strtoull(argv[2], NULL, 10);
		parts[i].run();
		ferry_flexsc_stop(flexsc);
		return 0;
	}
	fprintf(stderr, "Usage: trials PART SEED\n");
	return 2;
}
