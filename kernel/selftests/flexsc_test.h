/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of flexsc: sets, posting, a runner.  The user's side of the
 * protocol here uses a full fence wherever one may be needed.
 */
#ifndef FLEXSC_TEST_H
#define FLEXSC_TEST_H

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <linux/ferry_flexsc.h>
#include <linux/futex.h>
#include <linux/membarrier.h>

#include "ferry_test.h"

#define COUNT 64
#define SET_SIZE(count) (sizeof(struct ferry_flexsc_set) + (count) * sizeof(struct ferry_entry))

#define NO_FLEXSC "no flexsc_serve(): is CONFIG_FERRY_FLEXSC set?"

static inline long own_call(long nr, long a, long b, long c, long d)
{
	long arg[FERRY_MAX_ARGS] = { a, b, c, d };

	return raw_call(nr, arg);
}

static inline long flexsc_register(void *set, size_t size)
{
	return own_call(FERRY_NR_FLEXSC_REGISTER, P(set), size, 0, 0);
}

static inline long flexsc_serve(void *set)
{
	return own_call(FERRY_NR_FLEXSC_SERVE, P(set), 0, 0, 0);
}

static inline bool have_flexsc(void)
{
	return flexsc_register(NULL, 0) != -ENOSYS;
}

static inline bool register_fence(void)
{
	return !own_call(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0);
}

/* A set of COUNT entries in pages of its own. */
static inline struct ferry_flexsc_set *new_set(unsigned int flags)
{
	struct ferry_flexsc_set *set = mmap(NULL, SET_SIZE(COUNT), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (set == MAP_FAILED)
		abort();
	set->version = FERRY_FLEXSC_VERSION;
	set->count = COUNT;
	set->flags = flags;
	set->eventfd = -1;
	set->spin_ns = 50000;
	return set;
}

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_SEQ_CST)
#define STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_SEQ_CST)

static inline void wake_runner(struct ferry_flexsc_set *set)
{
	unsigned int asleep = FERRY_RUNNER_ASLEEP;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&set->runner, &asleep, FERRY_RUNNER_RUNNING, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		own_call(__NR_futex, P(&set->runner), FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

/* Tells the runner to leave. */
static inline void close_gate(struct ferry_flexsc_set *set)
{
	STORE(set->gate, FERRY_GATE_STOP);
	wake_runner(set);
}

/* ENTRY(nr, arguments...) is a call of this thread that has not been posted. */
#define ENTRY(number, ...)						\
	((struct ferry_entry){ .nr = (number), .argc = FERRY_MAX_ARGS,	\
			       .result = own_call(__NR_gettid, 0, 0, 0, 0),	\
			       .arg = { __VA_ARGS__ } })

static inline struct ferry_entry *post(struct ferry_flexsc_set *set, int i,
				       struct ferry_entry call)
{
	struct ferry_entry *entry = &set->entry[i];

	entry->nr = call.nr;
	entry->argc = call.argc;
	entry->result = call.result;
	memcpy(entry->arg, call.arg, sizeof(entry->arg));
	STORE(entry->status, FERRY_ENTRY_SUBMITTED);
	wake_runner(set);
	return entry;
}

/* Waits until the entry is DONE or REFUSED; returns which. */
static inline unsigned int wait_for(struct ferry_entry *entry)
{
	wait_while(LOAD(entry->status) == FERRY_ENTRY_SUBMITTED);
	return LOAD(entry->status);
}

/* What collect() returns for a call that the runner may not make: no call here returns it. */
#define REFUSED 0x7efe5edL

/* Waits for the result, and frees the entry. */
static inline long collect(struct ferry_entry *entry)
{
	unsigned int status = wait_for(entry);

	STORE(entry->status, FERRY_ENTRY_FREE);
	return status == FERRY_ENTRY_DONE ? entry->result : REFUSED;
}

static inline long made(struct ferry_flexsc_set *set, struct ferry_entry call)
{
	return collect(post(set, 0, call));
}

/* A thread that serves a set. */
struct runner {
	struct ferry_flexsc_set *set;
	long (*prepare)(void); /* in the thread, before it serves, or NULL */
	pthread_t thread;
	pid_t tid;
	long answer; /* of flexsc_serve(), or of PREPARE if that fails */
};

static inline void *runner_main(void *argument)
{
	struct runner *runner = argument;

	runner->answer = runner->prepare ? runner->prepare() : 0;
	STORE(runner->tid, (pid_t)own_call(__NR_gettid, 0, 0, 0, 0));
	if (!runner->answer)
		runner->answer = flexsc_serve(runner->set);
	return NULL;
}

static inline void start(struct runner *runner, struct ferry_flexsc_set *set,
			 long (*prepare)(void))
{
	runner->set = set;
	runner->prepare = prepare;
	runner->tid = 0;
	if (pthread_create(&runner->thread, NULL, runner_main, runner))
		abort();
	wait_while(!LOAD(runner->tid));
}

static inline long end_of(struct runner *runner)
{
	pthread_join(runner->thread, NULL);
	return runner->answer;
}

static inline long stop(struct runner *runner)
{
	close_gate(runner->set);
	return end_of(runner);
}

/* Waits until the runner sleeps in the call of ENTRY. */
static inline void wait_until_blocked(const struct runner *runner, struct ferry_entry *entry)
{
	wait_while(!LOAD(entry->begun) || state_of(runner->tid) != 'S');
}

/* Waits until the runner sleeps because it has nothing to do. */
static inline void wait_until_idle(const struct runner *runner)
{
	wait_while(LOAD(runner->set->runner) != FERRY_RUNNER_ASLEEP ||
		   state_of(runner->tid) != 'S');
}

#endif /* FLEXSC_TEST_H */
