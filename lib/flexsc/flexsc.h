/* SPDX-License-Identifier: MIT */
/* Runners and their sets, as single calls (flexsc.c) and user-level threads share them. */
#ifndef FLEXSC_H
#define FLEXSC_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ferry_flexsc.h>

#include "kernel.h"
#include "set.h"
#include "stack.h"

#define WORD_BITS 64
#define MAX_WORDS (FERRY_FLEXSC_MAX_ENTRIES / WORD_BITS)

/* Runners at most, with those that stand in for blocked ones. */
#define MAX_RUNNERS (FERRY_FLEXSC_MAX_RUNNERS + 64)

/* So long a runner may be in one call before what waits behind it is taken elsewhere. */
#define HELD_UP_NS 1000000L

struct runner {
	struct ferry_flexsc_set *set;
	unsigned int index; /* in ferry_flexsc.runner */
	int cpu;	    /* or -1 */
	enum flexsc_place place;
	pthread_t thread;
	pthread_mutex_t withdrawing; /* held by who closes the gate */

	/* Bit i of word w: entry 64 w + i is free.  Atomic. */
	unsigned long free[MAX_WORDS] __attribute__((__aligned__(64)));
};

struct ferry_flexsc {
	unsigned int entries; /* of each set */
	unsigned int slots;
	unsigned int flags;	 /* of each set */
	enum flexsc_place place; /* of each runner */
	long spin_ns;
	int cpu[FERRY_FLEXSC_MAX_RUNNERS];

	unsigned int users; /* kernel threads with user-level threads; atomic */

	/* slot[i] is the runner that serves calls for slot i now: atomic, changed under MUTEX. */
	struct runner *slot[FERRY_FLEXSC_MAX_RUNNERS];

	/* All of them.  Entries never change once they are there; count is atomic. */
	struct runner *runner[MAX_RUNNERS];
	unsigned int count;
	struct stack_pool stacks;
	pthread_mutex_t mutex; /* for starting runners, changing slots, and stacks */
};

/** Starts a runner on CPU, or -1.  Returns 0, or -errno.  The mutex is held, or nobody else there.
 */
int runner_start(struct ferry_flexsc *flexsc, int cpu, struct runner **runner);

/** Ends a runner and frees it; in a child it only frees. */
void runner_end(struct ferry_flexsc *flexsc, struct runner *runner);

/** CPU time, ns. */
long runner_cpu_ns(const struct runner *runner);

/** Claims 64 neighbouring entries, aligned, or returns NULL. */
struct ferry_entry *runner_claim_ring(struct ferry_flexsc *flexsc, struct runner *runner);

void runner_free_ring(struct runner *runner, const struct ferry_entry *ring);

/** Claims an entry, or returns NULL. */
struct ferry_entry *runner_claim(struct ferry_flexsc *flexsc, struct runner *runner);

void runner_free(struct runner *runner, const struct ferry_entry *entry);

/** set_withdraw(), by one thread at a time. */
unsigned int runner_withdraw(struct runner *runner, struct ferry_entry *entry, unsigned int count);

/**
 * Puts another runner in the place of BLOCKED, if it still serves SLOT: one that has become
 * idle, or a new one.  Returns 0, or -EAGAIN when there are too many.
 */
int flexsc_replace(struct ferry_flexsc *flexsc, unsigned int slot, const struct runner *blocked);

static inline struct runner *flexsc_slot(struct ferry_flexsc *flexsc, unsigned int slot)
{
	return __atomic_load_n(&flexsc->slot[slot], __ATOMIC_ACQUIRE);
}

/** Fills cpus[] for COUNT runners, -1 for any; returns the number of CPUs that the caller may use.
 */
int flexsc_choose_cpus(int cpus[], unsigned int count);

/* 1 for a call that is direct or blocked.  Constant once main() runs. */
extern unsigned char not_posted[FERRY_BLOCKED_LIMIT];

/** Whether call NR may be made by another thread than the one that asks for it. */
static inline bool may_be_posted(long nr)
{
	if (FERRY_LIKELY((unsigned long)nr < FERRY_BLOCKED_LIMIT))
		return !not_posted[nr];
	return false; /* it exists in no kernel */
}

/** The same of all slots of a batch. */
bool batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall);

/** Makes call NR in the calling thread: -ENOSYS for one that no batch makes. */
static inline long call_here(long nr, const long arg[])
{
	if (nr < 0 || nr > SHRT_MAX)
		return -ENOSYS;
	return ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

#endif /* FLEXSC_H */
