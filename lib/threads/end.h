/* SPDX-License-Identifier: MIT */
/* The end of the layer in a process that goes on: all threads are at home for good. */
#ifndef THREADS_END_H
#define THREADS_END_H

#include <stdbool.h>

enum end { NOT_OVER, OVER, NO_CARRIERS };

extern int end_state __attribute__((visibility("hidden")));

/* No thread leaves its home any more. */
static inline bool is_over(void)
{
	return __builtin_expect(__atomic_load_n(&end_state, __ATOMIC_SEQ_CST) != NOT_OVER, 0);
}

/* Carriers without a thread end, and so does the monitor. */
static inline bool carriers_end(void)
{
	return __builtin_expect(__atomic_load_n(&end_state, __ATOMIC_RELAXED) == NO_CARRIERS, 0);
}

/**
 * Ends the layer, before a call that changes every kernel thread of the process.  The caller is at
 * home for good.  On return, the layer has no kernel threads but carriers that are held: these
 * are changed like the threads on them.  REASON is a literal.
 */
void end_layer(const char *reason);

/* Counts a kernel thread of the layer, which begins or ends. */
void end_count(int change);

/* After fork(), in the child. */
void end_reset(void);

#endif /* THREADS_END_H */
