/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A batch with known results, to check that an engine still works. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>

/**
 * Runs a batch of getpid, getppid, writes, reads and forwarding on FD, which is
 * /dev/null opened for both.  True if every result was right.  Any thread may call it.
 */
bool workload_right(int null);

/** Fails unless workload_right() with NULL_FD, an open /dev/null. */
void run_writes_on(int null);

/** Like run_writes_on(), with its own /dev/null. */
void run_writes(void);

/** A child_fn: calls the child_fn ARG, given NULL, in a new thread and waits for it. */
void in_new_thread(void *arg);

/** Runs BODY in a child that inherits the engine, and in one that starts it anew. */
void expect_everywhere(child_fn body);

#endif /* WORKLOAD_H */
