/* SPDX-License-Identifier: MIT */
/* A batch with right answers to run wherever an engine might have lost its footing. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>

/**
 * Runs a batch of getpid, getppid, writes, reads and forwarding on FD, which is
 * /dev/null opened for both.  True when every result was right.  Any thread may call it.
 */
bool workload_right(int null);

/** Fails unless workload_right(), on the open /dev/null NULL_FD. */
void run_writes_on(int null);

/** run_writes_on() a /dev/null of its own. */
void run_writes(void);

/** A child_fn: calls the child_fn ARG, given NULL, in a new thread and waits for it. */
void in_new_thread(void *arg);

#endif /* WORKLOAD_H */
