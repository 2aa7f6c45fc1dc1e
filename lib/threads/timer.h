/* SPDX-License-Identifier: MIT */
/* The time limits of carried threads, by CLOCK_MONOTONIC. */
#ifndef THREADS_TIMER_H
#define THREADS_TIMER_H

#include "thread.h"

void timer_add(struct thread *thread);
void timer_cancel(struct thread *thread);

/* Ends the waits whose time is over. */
void timer_expire(void);

/* The next deadline, or -1. */
int64_t timer_next(void);

/* After fork(), in the child. */
void timer_reset(void);

#endif /* THREADS_TIMER_H */
