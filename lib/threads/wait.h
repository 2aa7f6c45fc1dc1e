/* SPDX-License-Identifier: MIT */
/* Waiting: for an edge of a descriptor, for a place in the parking lot, or for a time. */
#ifndef THREADS_WAIT_H
#define THREADS_WAIT_H

#include "lock.h"
#include "thread.h"

/*
 * Threads that wait for the same kind of event.  seq counts events: a waiter reads it before its
 * last try, and does not park if it has changed since.
 */
struct wait_list {
	struct lock lock;
	unsigned int seq;
	struct link waits;
};

/* One thing that a thread waits for; on its stack. */
struct wait {
	struct link link;
	struct wait_list *list;
	const void *key; /* of the parking lot: the address */
	struct thread *thread;
	unsigned int seq; /* of the list, before the last try */
	unsigned int fired;
	bool linked;
	bool exclusive; /* one of these is enough for an event */
};

#define ANY_KEY ((const void *)-1L) /* a key: that of every wait */

enum claim { NOT_CLAIMED, CLAIMED_LINKING, CLAIMED_PARKED };

/* Ends a wait for the reason WHY, unless it has ended. */
enum claim wait_claim(struct thread *thread, enum wait_state why);

/* Continues a thread whose wait was claimed when it was parked; those linked by next. */
void wait_resume(struct thread *thread);
void wait_resume_all(struct thread *threads);

/**
 * Waits until one of COUNT waits fires, or until DEADLINE, in ns by CLOCK_MONOTONIC; negative:
 * without limit.  Also for threads that are at home.  Returns why it ended, from WAIT_FIRED on.
 */
enum wait_state wait_for(struct wait *waits, int count, int64_t deadline);

/**
 * Fires at most MOST waits of LIST for KEY, with the bits FIRED; of the exclusive ones at most one
 * if MOST_EXCLUSIVE is 1.  Returns how many.
 */
int wait_wake(struct wait_list *list, const void *key, int most, int most_exclusive,
	      unsigned int fired);

static inline unsigned int wait_seq(const struct wait_list *list)
{
	return __atomic_load_n(&list->seq, __ATOMIC_ACQUIRE);
}

/* Lets the carrier's other threads run. */
void wait_yield(void);

#endif /* THREADS_WAIT_H */
