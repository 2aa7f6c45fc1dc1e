/* SPDX-License-Identifier: MIT */
/* The ways in which `ferry bench flexsc` makes the same calls, with the same work in between. */
#ifndef FLEXSC_WAYS_H
#define FLEXSC_WAYS_H

#include <stdbool.h>
#include <stddef.h>

enum way { PLAIN, BATCH, URING, SQPOLL, PTHREADS, FLEXSC, WAYS };

/**
 * "plain", "batch", "uring", "sqpoll", "pthreads" (POSIX threads that make plain calls) or "flexsc"
 * (POSIX threads that post).
 */
const char *way_name(enum way way);

/* Runners of flexsc, to be kept from cell to cell. */
struct ferry_flexsc;

/* Whether a way has several threads. */
static inline bool way_has_threads(enum way way)
{
	return way >= PTHREADS;
}

/* Calls that a thread has posted and not collected, at most. */
#define POSTED_AT_ONCE 16

/* Calls to make; each is followed by the work. */
struct job {
	const char *call; /* "write" or "getpid" */
	long calls;
	long loops;   /* of the work: see work_loops() */
	long threads; /* of PTHREADS and FLEXSC */
	struct ferry_flexsc *flexsc;
	int cpu, other_cpu; /* the caller's; for the thread of SQPOLL and half of PTHREADS, or -1 */

	/* Latencies of the calls go to samples[calls], ns, unless it is NULL: slower. */
	double *samples;

	/* What all calls took, ns: by the clock, in CPU time of the callers, and of other threads.
	 */
	double taken, callers, others;
};

/** Why this way cannot make the call here, as a constant sentence, or NULL. */
const char *way_missing(enum way way, const char *call);

/**
 * Makes the calls and times them; complains and returns false when one fails.  Ends early once
 * interrupted(): where the runner has no CPU of its own, a trial may take a minute.
 */
bool way_run(enum way way, struct job *job);

/** Opens what the calls need, once in a process. */
void ways_open(void);

/**
 * Waits until the threads that a way has started are gone, a tenth of a second at most.  io_uring
 * takes a ring down after it was closed, and its thread spins until then, on the CPU that the
 * next runner is to have.
 */
void ways_wait_until_alone(void);

/** The loops of work that take NS nanoseconds, and how long a loop takes. */
long work_loops(double ns);

#endif /* FLEXSC_WAYS_H */
