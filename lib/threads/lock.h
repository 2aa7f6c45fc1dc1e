/* SPDX-License-Identifier: MIT */
/*
 * A lock of the layer's own: it spins, then sleeps.  It is held for a few instructions, and never
 * across a switch.  sched_yield() is no way to wait: it costs a preempted carrier whole slices.
 */
#ifndef THREADS_LOCK_H
#define THREADS_LOCK_H

#include "cpu.h"
#include "raw.h"

struct lock {
	int word; /* 0: free, 1: held, 2: held, and somebody may sleep */
};

#define LOCK_SPINS 100

static inline void lock_take(struct lock *lock)
{
	int i, expected;

	for (i = 0; i < LOCK_SPINS; i++) {
		expected = 0;
		if (__atomic_compare_exchange_n(&lock->word, &expected, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		relax();
	}
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE))
		futex_wait(&lock->word, 2, -1);
}

static inline void lock_give(struct lock *lock)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&lock->word, 1);
}

#endif /* THREADS_LOCK_H */
