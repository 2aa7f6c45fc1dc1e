/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of flexsc: sets, posting, a runner.  The user's side of the
 * protocol here uses a full fence wherever one may be needed.
 */
#ifndef FLEXSC_TEST_H
#define FLEXSC_TEST_H

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <linux/flexsc.h>
#include <linux/futex.h>
#include <linux/membarrier.h>

#include "subcall_test.h"

#define COUNT 64
#define SET_SIZE(count) (sizeof(struct flexsc_set) + (count) * sizeof(struct flexsc_entry))

/*
 * Waits as long as CONDITION holds, which other threads end.  One that only
 * yields keeps others out: there may be fewer CPUs than threads, and in
 * user-mode Linux the threads of a process take turns, in no fair order.
 */
#define wait_while(condition)						\
	do {								\
		int looks_;						\
									\
		for (looks_ = 0; condition; looks_++) {			\
			if (looks_ < 100)				\
				sched_yield();				\
			else						\
				usleep(100);				\
		}							\
	} while (0)

#define NO_FLEXSC "no flexsc_serve(): is CONFIG_SUBCALL_FLEXSC set?"

static inline long own_call(long nr, long a, long b, long c, long d)
{
	long arg[BATCH_MAX_ARGS] = { a, b, c, d };

	return raw_call(nr, arg);
}

static inline long flexsc_register(void *set, size_t size)
{
	return own_call(__NR_flexsc_register, P(set), size, 0, 0);
}

static inline long flexsc_serve(void *set)
{
	return own_call(__NR_flexsc_serve, P(set), 0, 0, 0);
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
static inline struct flexsc_set *new_set(unsigned int flags)
{
	struct flexsc_set *set = mmap(NULL, SET_SIZE(COUNT), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (set == MAP_FAILED)
		abort();
	set->version = FLEXSC_VERSION;
	set->count = COUNT;
	set->flags = flags;
	set->eventfd = -1;
	set->spin_ns = 50000;
	return set;
}

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_SEQ_CST)
#define STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_SEQ_CST)

static inline void wake_runner(struct flexsc_set *set)
{
	unsigned int asleep = FLEXSC_RUNNER_ASLEEP;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&set->runner, &asleep, FLEXSC_RUNNER_RUNNING, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		own_call(__NR_futex, P(&set->runner), FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

/* Tells the runner to leave. */
static inline void close_gate(struct flexsc_set *set)
{
	STORE(set->gate, FLEXSC_GATE_STOP);
	wake_runner(set);
}

/* ENTRY(nr, arguments...) is a call of this thread that has not been posted. */
#define ENTRY(number, ...)						\
	((struct flexsc_entry){ .nr = (number), .argc = BATCH_MAX_ARGS,	\
			       .result = own_call(__NR_gettid, 0, 0, 0, 0),	\
			       .arg = { __VA_ARGS__ } })

static inline struct flexsc_entry *post(struct flexsc_set *set, int i,
					struct flexsc_entry call)
{
	struct flexsc_entry *entry = &set->entry[i];

	entry->nr = call.nr;
	entry->argc = call.argc;
	entry->result = call.result;
	memcpy(entry->arg, call.arg, sizeof(entry->arg));
	STORE(entry->status, FLEXSC_ENTRY_SUBMITTED);
	wake_runner(set);
	return entry;
}

/* Waits until the entry is DONE or REFUSED; returns which. */
static inline unsigned int wait_for(struct flexsc_entry *entry)
{
	wait_while(LOAD(entry->status) == FLEXSC_ENTRY_SUBMITTED);
	return LOAD(entry->status);
}

/* What collect() returns for a call that the runner may not make: no call here returns it. */
#define REFUSED 0x7efe5edL

/* Waits for the result, and frees the entry. */
static inline long collect(struct flexsc_entry *entry)
{
	unsigned int status = wait_for(entry);

	STORE(entry->status, FLEXSC_ENTRY_FREE);
	return status == FLEXSC_ENTRY_DONE ? entry->result : REFUSED;
}

static inline long made(struct flexsc_set *set, struct flexsc_entry call)
{
	return collect(post(set, 0, call));
}

/* A thread that serves a set. */
struct runner {
	struct flexsc_set *set;
	long (*prepare)(void); /* in the thread, before it serves, or NULL */
	pthread_t thread;
	pid_t tid;
	long answer; /* of flexsc_serve(), or of PREPARE if that fails */
};

/* A handler has ended the call that is begun. */
static inline void end_begun_call(struct flexsc_set *set)
{
	struct flexsc_entry *entry = set->entry;

	while (!LOAD(entry->begun))
		entry++;
	entry->result = -EINTR;
	STORE(entry->status, FLEXSC_ENTRY_DONE);
	STORE(entry->begun, 0);
}

static inline void *runner_main(void *argument)
{
	struct runner *runner = argument;

	runner->answer = runner->prepare ? runner->prepare() : 0;
	STORE(runner->tid, (pid_t)own_call(__NR_gettid, 0, 0, 0, 0));
	if (runner->answer)
		return NULL;
	while ((runner->answer = flexsc_serve(runner->set)) == -EINTR)
		end_begun_call(runner->set);
	return NULL;
}

static inline void start(struct runner *runner, struct flexsc_set *set,
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
static inline void wait_until_blocked(const struct runner *runner, struct flexsc_entry *entry)
{
	wait_while(!LOAD(entry->begun) || state_of(runner->tid) != 'S');
}

/* Waits until the runner sleeps because it has nothing to do. */
static inline void wait_until_idle(const struct runner *runner)
{
	wait_while(LOAD(runner->set->runner) != FLEXSC_RUNNER_ASLEEP ||
		   state_of(runner->tid) != 'S');
}

#endif /* FLEXSC_TEST_H */
