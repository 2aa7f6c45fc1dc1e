/* SPDX-License-Identifier: MIT */
/*
 * Rest: all threads wait at home, by libc's functions.  Carriers can lose: they have no other
 * thread to run when one waits, or other programs keep the CPUs busy, of which a few carriers get
 * less than many threads.  And fewer carriers than CPUs can gain: they share no locks and caches,
 * and leave a CPU to the clients.  So these ways are measured from time to time, and the best one
 * is kept.
 */
#ifndef THREADS_REST_H
#define THREADS_REST_H

#include "thread.h"

enum { RESTING, ALL_CARRIERS }; /* the first ways; the others are numbers of carriers */

extern int rest_way __attribute__((visibility("hidden")));

static inline bool is_rest(void)
{
	return __builtin_expect(__atomic_load_n(&rest_way, __ATOMIC_RELAXED) == RESTING, 0);
}

/* Changes the way if another one is better, at NOW by CLOCK_MONOTONIC, in ns.  Only the monitor
 * calls it. */
void rest_judge(int64_t now);

/* When rest_judge() has to be called, in ns by CLOCK_MONOTONIC; -1: when threads wait. */
int64_t rest_due(void);

/* After fork(), in the child. */
void rest_reset(void);

#endif /* THREADS_REST_H */
