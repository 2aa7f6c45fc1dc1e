/* SPDX-License-Identifier: MIT */
/*
 * Two threads, which wait for each other by locks of files: litmus order|volatile.  It exits with
 * 1 if the second thread does not see what the first stored before it let the second go on.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <ferry/auto.h>

static int stored;
static atomic_int stored_atomically;
static int go[2], back[2]; /* a lock each, as the first and the second thread open it */
static int seen;

/* The second lock is the second thread's until it has looked. */
__attribute__((noinline)) static int store(void)
{
	int failed = ftruncate(go[0], 0);

	stored = 1;
	failed |= flock(go[0], LOCK_UN);
	return failed | flock(back[0], LOCK_EX);
}

/* Marked, so that calls order nothing: atomic accesses still do. */
FERRY_INDEPENDENT __attribute__((noinline)) static int store_atomically(void)
{
	int failed = ftruncate(go[0], 0);

	atomic_store_explicit(&stored_atomically, 1, memory_order_relaxed);
	failed |= flock(go[0], LOCK_UN);
	return failed | flock(back[0], LOCK_EX);
}

static void *second(void *unused)
{
	flock(go[1], LOCK_EX);
	seen = stored | atomic_load_explicit(&stored_atomically, memory_order_relaxed);
	flock(back[1], LOCK_UN);
	return unused;
}

static int open_both(int lock[2], const char *name, int owner)
{
	lock[0] = open(name, O_RDWR | O_CREAT, 0600);
	lock[1] = open(name, O_RDWR);
	return lock[1] < 0 || flock(lock[owner], LOCK_EX);
}

int main(int count, char **arguments)
{
	pthread_t thread;
	int failed;

	if (count != 2 || open_both(go, "go", 0) || open_both(back, "back", 1) ||
	    pthread_create(&thread, NULL, second, NULL))
		return 2;
	failed = strcmp(arguments[1], "order") ? store_atomically() : store();
	pthread_join(thread, NULL);
	return failed ? 3 : !seen;
}
