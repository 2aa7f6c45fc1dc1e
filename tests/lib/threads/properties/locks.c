// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- objects that are not the layer's ---- */

static pthread_mutex_t odd;

static void *die_with_it(void *argument)
{
	pthread_mutex_lock(&odd);
	nap();
	return argument;
}

static void *take_over(void *argument)
{
	const int error = pthread_mutex_lock(&odd);

	(void)argument;
	if (error == EOWNERDEAD)
		pthread_mutex_consistent(&odd);
	pthread_mutex_unlock(&odd);
	return (void *)(long)error;
}

void robust_mutex(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&odd, &attributes);
	in_thread(die_with_it, NULL);
	printf("%ld %ld\n", in_thread(take_over, NULL), in_thread(take_over, NULL));
}

static long counter;

static void *add(void *argument)
{
	pthread_mutex_t *lock = argument;
	int i;

	for (i = 0; i < 300; i++) {
		pthread_mutex_lock(lock);
		counter++;
		if (i % 10 == 0)
			usleep(10);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

static void add_by_four(pthread_mutex_t *lock)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(add, lock);
	for (i = 0; i < 4; i++)
		join(threads[i]);
	printf("%ld\n", counter);
}

void priority_inheriting_mutex(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&odd, &attributes);
	add_by_four(&odd);
}

void plain_mutex(void)
{
	add_by_four(&mutex);
}

static void *try_kinds(void *argument)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t lock;

	(void)argument;
	nap();
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&lock, &attributes);
	printf("%d ", pthread_mutex_lock(&lock));
	printf("%d %d ", pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock));
	printf("%d ", pthread_mutex_unlock(&lock));
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	printf("%d ", pthread_mutex_lock(&lock));
	printf("%d %d ", pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock));
	printf("%d\n", pthread_mutex_unlock(&lock));
	return NULL;
}

void kinds_of_mutexes(void)
{
	in_thread(try_kinds, NULL);
}

struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	sem_t semaphore;
	int value;
};

static void *wait_shared(void *argument)
{
	struct shared *shared = argument;

	pthread_mutex_lock(&shared->mutex);
	while (!shared->value)
		pthread_cond_wait(&shared->condition, &shared->mutex);
	pthread_mutex_unlock(&shared->mutex);
	sem_wait(&shared->semaphore);
	return (void *)(long)shared->value;
}

void shared_between_processes(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_condition;
	pthread_t thread;

	pthread_mutexattr_init(&of_mutex);
	pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &of_mutex);
	pthread_condattr_init(&of_condition);
	pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->condition, &of_condition);
	sem_init(&shared->semaphore, 1, 0);
	thread = start(wait_shared, shared);
	nap();
	if (!fork()) {
		pthread_mutex_lock(&shared->mutex);
		shared->value = 7;
		pthread_cond_signal(&shared->condition);
		pthread_mutex_unlock(&shared->mutex);
		sem_post(&shared->semaphore);
		_exit(0);
	}
	printf("%ld\n", join(thread));
}

/* ---- objects of the parking lot ---- */

static sem_t ready, done;

static void *consume(void *argument)
{
	long sum = 0;
	int i;

	for (i = 0; i < 200; i++) {
		sem_wait(&ready);
		pthread_mutex_lock(&mutex);
		sum += counter;
		pthread_mutex_unlock(&mutex);
		sem_post(&done);
	}
	(void)argument;
	return (void *)sum;
}

void semaphores(void)
{
	pthread_t thread;
	int i;

	sem_init(&ready, 0, 0);
	sem_init(&done, 0, 0);
	thread = start(consume, NULL);
	for (i = 1; i <= 200; i++) {
		pthread_mutex_lock(&mutex);
		counter = i;
		pthread_mutex_unlock(&mutex);
		sem_post(&ready);
		sem_wait(&done);
	}
	printf("%ld\n", join(thread));
}

static void *take_turns(void *argument)
{
	const long me = (long)argument;
	long i;

	for (i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		while (counter % 8 != me)
			pthread_cond_wait(&condition, &mutex);
		counter++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

void conditions(void)
{
	pthread_t threads[8];
	long i;

	for (i = 0; i < 8; i++)
		threads[i] = start(take_turns, (void *)i);
	for (i = 0; i < 8; i++)
		join(threads[i]);
	printf("%ld\n", counter);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_and_write(void *argument)
{
	long seen = 0;
	int i;

	for (i = 0; i < 100; i++) {
		if (i % 4 == 0) {
			pthread_rwlock_wrlock(&rwlock);
			counter++;
			usleep(10);
		} else {
			pthread_rwlock_rdlock(&rwlock);
			seen |= counter < 0;
		}
		pthread_rwlock_unlock(&rwlock);
	}
	(void)argument;
	return (void *)seen;
}

void reader_writer_lock(void)
{
	pthread_t threads[4];
	long seen = 0;
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = start(read_and_write, NULL);
	for (i = 0; i < 4; i++)
		seen |= join(threads[i]);
	printf("%ld %ld\n", counter, seen);
}

static pthread_barrier_t barrier;

static void *meet(void *argument)
{
	long serial = 0;
	int i;

	(void)argument;
	for (i = 0; i < 20; i++)
		serial += pthread_barrier_wait(&barrier) != 0; /* the one that ends it */
	return (void *)serial;
}

void barriers(void)
{
	pthread_t threads[6];
	long serial = 0;
	int i;

	pthread_barrier_init(&barrier, NULL, 6);
	for (i = 0; i < 6; i++)
		threads[i] = start(meet, NULL);
	for (i = 0; i < 6; i++)
		serial += join(threads[i]);
	printf("%ld\n", serial);
}

static int word;

static void *wait_on_word(void *argument)
{
	if (argument)
		while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
			inline_call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0);
	else
		while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void *set_word(void *argument)
{
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return argument;
}

#define WAITERS 300

static void wait_by_many(int count, const void *inlined)
{
	pthread_t threads[WAITERS + 1];
	int i;

	for (i = 0; i < count; i++)
		threads[i] = start(wait_on_word, inlined);
	threads[count] = start(set_word, NULL);
	for (i = 0; i <= count; i++)
		join(threads[i]);
	puts("all");
}

void futexes(void)
{
	wait_by_many(40, NULL);
}

/* Each holds a carrier. */
void inlined_futexes(void)
{
	wait_by_many(WAITERS, "");
}

static void *set_flag(void *argument)
{
	flag = 1;
	return argument;
}

void spinning_threads_do_not_hold_others(void)
{
	pthread_t threads[4] = { start(spin, NULL), start(spin, NULL), start(spin, ""),
				 start(set_flag, NULL) };
	int i;

	for (i = 0; i < 4; i++)
		join(threads[i]);
	puts("all");
}

/* ---- a wake-up of some bits reaches a waiter that has them ---- */

static int bits_word;

static void *wait_for_bits(void *argument)
{
	int seen;

	for (;;) {
		seen = __atomic_load_n(&bits_word, __ATOMIC_SEQ_CST);
		if (seen & (int)(long)argument)
			return argument;
		syscall(SYS_futex, &bits_word, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL,
			(long)argument);
	}
}

void bits_of_futexes(void)
{
	pthread_t threads[2];
	long i;

	for (i = 0; i < 2; i++) {
		threads[i] = start(wait_for_bits, (void *)(i + 1));
		usleep(20000);
	}
	for (i = 2; i; i--) {
		__atomic_fetch_or(&bits_word, i, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &bits_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, i);
		printf("%ld\n", join(threads[i - 1]));
	}
}

/* ---- futexes that the kernel refuses ---- */

static void ask_futex(const void *at, int operation, long value, const struct timespec *time,
		      long bits)
{
	const long result = syscall(SYS_futex, at, operation, value, time, NULL, bits);

	printf("%ld %s\n", result, result < 0 ? strerror(errno) : "");
}

static void *ask_futexes(void *argument)
{
	static int words[2];
	const struct timespec odd_times[] = { { 0, 1000000000 }, { 0, -1 }, { -1, 0 } };
	char *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec soon = { 0, 1000000 };
	int i;

	nap();
	ask_futex(NULL, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex(gone, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex((void *)(1UL << 63), FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex((char *)words + 1, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 0, (void *)gone, 0);
	for (i = 0; i < 3; i++)
		ask_futex(words, FUTEX_WAIT_PRIVATE, 0, &odd_times[i], 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE, 0, &soon, 0);
	ask_futex(words, FUTEX_WAIT_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &soon, 0);
	ask_futex(words, FUTEX_WAIT_BITSET_PRIVATE, 0, &soon, FUTEX_BITSET_MATCH_ANY);
	ask_futex(words, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, 0);
	ask_futex(words, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_WAKE_PRIVATE, 1, NULL, 0);
	ask_futex((char *)words + 1, FUTEX_WAKE_PRIVATE, 1, NULL, 0);
	ask_futex(words, FUTEX_CMP_REQUEUE_PRIVATE, 1, NULL, 1);
	ask_futex(words, 99, 1, NULL, 1);
	ask_futex(words, 99 | FUTEX_PRIVATE_FLAG, 1, NULL, 1);
	return argument;
}

void errors_of_futexes(void)
{
	in_thread(ask_futexes, NULL);
}
