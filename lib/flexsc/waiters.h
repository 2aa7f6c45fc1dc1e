/* SPDX-License-Identifier: MIT */
/* User-level threads that wait for one of their own kernel thread, with or without a time limit. */
#ifndef FLEXSC_WAITERS_H
#define FLEXSC_WAITERS_H

#include <limits.h>
#include <stdbool.h>

#include <ferry_flexsc.h>

#include "scheduler.h"

#define NO_LIMIT LONG_MAX

/** Waits to be woken, until UNTIL (ns of clock_ns()) at most: false if that time has come first. */
bool ferry__waiters_wait(struct scheduler *scheduler, struct ferry_waiters *waiters, long until);

/** Wakes the thread that has waited longest, and returns it, or NULL if none waits. */
struct ferry_thread *ferry__waiters_wake(struct scheduler *scheduler,
					 struct ferry_waiters *waiters);

/** The time NS from now, which may be NO_LIMIT. */
long ferry__time_after(long ns);

#endif /* FLEXSC_WAITERS_H */
