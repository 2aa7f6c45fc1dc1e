// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "helpers.h"
#include "properties.h"

/* ---- time limits ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *run_out(void *argument)
{
	struct timespec until = soon(CLOCK_REALTIME), start_time, end;
	struct timeval limit = { 0, 20000 };
	struct pollfd poll_one = { .fd = pair[0], .events = POLLIN };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	fd_set set;
	sem_t semaphore;
	char byte;

	(void)argument;
	clock_gettime(CLOCK_MONOTONIC, &start_time);
	sem_init(&semaphore, 0, 0);
	printf("%d %s\n", sem_timedwait(&semaphore, &until), strerror(errno));
	pthread_mutex_lock(&lock);
	until = soon(CLOCK_REALTIME);
	printf("%d ", pthread_cond_timedwait(&condition, &lock, &until));
	until = soon(CLOCK_MONOTONIC);
	printf("%d\n", pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &until));
	printf("%d ", poll(&poll_one, 1, 20));
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	printf("%d %d\n", select(pair[0] + 1, &set, NULL, NULL, &limit), FD_ISSET(pair[0], &set));
	limit = (struct timeval){ 0, 20000 };
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	printf("%zd %s\n", recv(pair[0], &byte, 1, 0), strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%d\n",
	       (end.tv_sec - start_time.tv_sec) * 1000000000L + end.tv_nsec - start_time.tv_nsec >=
		       118000000);
	return NULL;
}

void time_limits(void)
{
	in_thread(run_out, NULL);
}

#define PAIRS 8192 /* of one condition and many mutexes: some share a bucket of the parking lot */

static void *wait_with_many_mutexes(void *argument)
{
	pthread_mutex_t *mutexes = calloc(PAIRS, sizeof(*mutexes));
	struct timespec past = { 0 };
	long early = 0;
	int i;

	(void)argument;
	for (i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(&mutexes[i]);
		clock_gettime(CLOCK_MONOTONIC, &past);
		past.tv_nsec += past.tv_nsec < 999000000 ? 10000 : 0;
		early += !pthread_cond_clockwait(&condition, &mutexes[i], CLOCK_MONOTONIC, &past);
		pthread_mutex_unlock(&mutexes[i]);
	}
	free(mutexes);
	return (void *)early;
}

void a_condition_waits_with_any_mutex(void)
{
	printf("%ld\n", in_thread(wait_with_many_mutexes, NULL));
}

static void *lock_timed(void *argument)
{
	struct timespec until = soon(CLOCK_REALTIME);

	return (void *)(long)(pthread_mutex_timedlock(argument, &until) +
			      1000 * pthread_rwlock_timedrdlock(&rwlock, &until));
}

void time_limits_of_locks(void)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	printf("%ld\n", in_thread(lock_timed, &mutex));
}

/* ---- times that 64 bits of nanoseconds do not hold, and those that are none ---- */

static const struct timespec far = { LONG_MAX / 1000, 0 };

static void *wait_long_for_condition(void *argument)
{
	int error = 0;

	(void)argument;
	pthread_mutex_lock(&mutex);
	while (!flag && !error)
		error = pthread_cond_timedwait(&condition, &mutex, &far);
	pthread_mutex_unlock(&mutex);
	return (void *)(long)error;
}

static void *sleep_long(void *argument)
{
	(void)argument;
	return (void *)(long)(nanosleep(&far, NULL) ? errno : 0);
}

static void *wait_long_for_semaphore(void *argument)
{
	(void)argument;
	return (void *)(long)(sem_timedwait(&turn, &far) ? errno : 0);
}

static long select_for(long seconds)
{
	struct timeval limit = { seconds, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	return select(pair[1] + 1, &set, NULL, NULL, &limit);
}

static void *select_long(void *argument)
{
	(void)argument;
	return (void *)select_for(far.tv_sec);
}

static void *poll_long(void *argument)
{
	struct pollfd poll = { pair[1], POLLIN, 0 };

	(void)argument;
	return (void *)(long)ppoll(&poll, 1, &far, NULL);
}

static void *wait_for_no_time(void *argument)
{
	const struct timespec wrong = { 1, 2000000000 }, before = { -1, 0 };
	struct pollfd poll = { pair[1], POLLIN, 0 };

	printf("%ld", select_for(-1));
	printf(" %d", errno);
	printf(" %d", ppoll(&poll, 1, &wrong, NULL));
	printf(" %d\n", errno);
	printf("%d", ppoll(&poll, 1, &before, NULL));
	printf(" %d\n", errno);
	return argument;
}

void far_times(void)
{
	pthread_t thread;

	sem_init(&turn, 0, 0);
	handle(SIGUSR1, 0);
	thread = start(wait_long_for_condition, NULL);
	nap();
	pthread_mutex_lock(&mutex);
	flag = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	printf("%ld\n", join(thread));
	thread = start(wait_long_for_semaphore, NULL);
	nap();
	sem_post(&turn);
	printf("%ld\n", join(thread));
	thread = start(sleep_long, NULL);
	printf("%ld\n", interrupt(thread));
	in_thread(wait_for_no_time, NULL);
	thread = start(select_long, NULL);
	nap();
	send(pair[0], "x", 1, 0);
	printf("%ld\n", join(thread));
	printf("%ld\n", in_thread(poll_long, NULL));
}
