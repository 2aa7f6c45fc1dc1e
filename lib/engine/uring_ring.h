/* SPDX-License-Identifier: MIT */
/* Each thread's ring: made on first use, freed when the thread ends, never inherited. */
#ifndef URING_RING_H
#define URING_RING_H

#include <stdbool.h>

#include <liburing.h>

#include "uring_plan.h"
#include "watched.h"

/* Devices whose files refused to be read without blocking. */
#define URING_REFUSED_DEVICES 4

struct uring_ring {
	struct io_uring io;
	struct tracer_check tracer;
	dev_t refused[URING_REFUSED_DEVICES];
	unsigned int next_refused;
	unsigned int runs_to_skip; /* runs that the loop gets after ones that fell short */
	unsigned int penalty;	   /* runs_to_skip of the next time */
};

/*
 * The calling thread's ring, or NULL when it cannot have one, must not use it now
 * (see watched.h), or is using it: a signal handler may have interrupted the use.
 * Give it back with ferry__uring_ring_release().
 */
struct uring_ring *ferry__uring_ring_acquire(void);
void ferry__uring_ring_release(struct uring_ring *ring);

/*
 * Gives back a ring that the kernel refused, and frees it: the thread never gets another.  A child
 * of vfork() is always refused: the ring is its parent's, and stays as it was.
 */
void ferry__uring_ring_abandon(struct uring_ring *ring);

/*
 * Keeps the calling thread from using a ring ever again.  A thread that is about to install a
 * filter calls this, because the filter may not allow the calls that a ring needs, not even
 * those that look for a filter.
 */
void ferry__uring_ring_forswear(void);

/* 0 when the calling thread can use a ring; else -errno and why, a constant sentence. */
int ferry__uring_ring_probe(const char **why);

#endif /* URING_RING_H */
