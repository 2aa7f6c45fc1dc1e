/* SPDX-License-Identifier: MIT */
/*
 * A signal handler may interrupt a thread at home while it holds a lock of the layer, and call
 * sem_post() or pthread_kill().  What these would wake waits until the lock is released.  On a
 * carrier no handler interrupts the layer.
 */
#ifndef THREADS_BUSY_H
#define THREADS_BUSY_H

#include "thread.h"

enum { DEFERRED_LOT = 1, DEFERRED_CALLS = 2 };

static inline bool is_busy(void)
{
	return __atomic_load_n(&ferry_self.busy, __ATOMIC_RELAXED);
}

static inline void busy_begin(void)
{
	ferry_self.busy++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Wakes all that might have been meant: every waiter copes with a wake-up for nothing. */
void busy_catch_up(void);

static inline void busy_end(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ferry_self.busy--;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(ferry_self.deferred, 0) && !ferry_self.busy)
		busy_catch_up();
}

/* From a handler. */
static inline void busy_defer(unsigned int what)
{
	ferry_self.deferred |= what;
}

#endif /* THREADS_BUSY_H */
