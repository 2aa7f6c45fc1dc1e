/* SPDX-License-Identifier: MIT */
/* The ways in which `ferry bench flexsc` makes the same calls, with the same work in between. */
#ifndef FLEXSC_WAYS_H
#define FLEXSC_WAYS_H

#include <stdbool.h>
#include <stddef.h>

enum way { PLAIN, BATCH, URING, SQPOLL, PAIR, FLEXSC, WAYS };

/** "plain", "batch", "uring", "sqpoll", "pthreads" (two that make plain calls) or "flexsc". */
const char *way_name(enum way way);

/* Runners of flexsc, to be kept from cell to cell. */
struct ferry_flexsc;

/* Calls to make; each is followed by the work. */
struct job {
	const char *call; /* "write" or "getpid" */
	long calls;
	long loops;   /* of the work: see work_loops() */
	long threads; /* user-level ones, of FLEXSC */
	struct ferry_flexsc *flexsc;
	int other_cpu; /* for the thread of SQPOLL, and the second one of PAIR; or -1 */

	/* Latencies of the calls go to samples[calls], ns, unless it is NULL: slower. */
	double *samples;
	double phases[4]; /* of FLEXSC with samples: sums of claim, find, run, see, ns */
};

#define PHASES 4

/** Why this way cannot make the call here, as a constant sentence, or NULL. */
const char *way_missing(enum way way, const char *call);

/** Makes the calls; complains and returns false when one fails. */
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
