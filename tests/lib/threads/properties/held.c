// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- a thread computes until the rest of the program is idle, then wakes another ---- */

static void compute_for(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Goes on to compute until the other has run, or waits for it. */
static void *compute_and_post(void *computes)
{
	int i;

	for (i = 0; i < 2; i++) {
		compute_for(100);
		if (i)
			nap();
		sem_post(&turn);
		while (computes && !__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
			;
		sem_wait(&answer);
		flag = 0;
	}
	return NULL;
}

static void *answer_posts(void *argument)
{
	int i;

	for (i = 0; i < 4; i++) {
		sem_wait(&turn);
		__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
		sem_post(&answer);
	}
	return argument;
}

void who_computed_wakes_others(void)
{
	pthread_t thread;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	thread = start(answer_posts, NULL);
	in_thread(compute_and_post, NULL);
	in_thread(compute_and_post, "computes");
	join(thread);
	puts("all were answered");
}

/* ---- a thread yields, computes, and wakes another, while a third waits ---- */

static void *compute_and_wait(void *argument)
{
	compute_for(30);
	sem_wait(&answer);
	return argument;
}

static void *yield_and_post(void *argument)
{
	int i;

	for (i = 0; i < 100; i++) {
		compute_for(1);
		sched_yield();
	}
	compute_for(50);
	sem_post(&turn);
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return argument;
}

static void *set_flag_in_turn(void *argument)
{
	sem_wait(&turn);
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	sem_post(&answer);
	return argument;
}

void who_yielded_wakes_others(void)
{
	pthread_t threads[3];
	int i;

	sem_init(&turn, 0, 0);
	sem_init(&answer, 0, 0);
	threads[0] = start(set_flag_in_turn, NULL);
	threads[1] = start(compute_and_wait, NULL);
	threads[2] = start(yield_and_post, NULL);
	for (i = 0; i < 3; i++)
		join(threads[i]);
	puts("all were woken");
}

/* ---- a wait that holds a carrier, where /proc is not to be seen ---- */

static void *read_stream(void *argument)
{
	return (void *)(long)fgetc(argument);
}

static void *write_later(void *argument)
{
	usleep(20000);
	return (void *)write((int)(long)argument, "A", 1);
}

void streams_in_a_chroot(void)
{
	int pipes[2];
	pthread_t reader, writer;

	if (pipe(pipes))
		return;
	if (chroot("/etc"))
		perror("chroot: the test is without"); /* not root */
	reader = start(read_stream, fdopen(pipes[0], "r"));
	nap();
	writer = start(write_later, (void *)(long)pipes[1]);
	printf("%ld\n", join(reader));
	printf("%ld\n", join(writer));
}
