/* SPDX-License-Identifier: MIT */
/*
 * Servers of the same kind side by side: on user-level threads, on a thread for each connection,
 * and on epoll.  `ferry bench servers` and the echo server of `ferry bench flexsc` are such.
 */
#ifndef SIDES_H
#define SIDES_H

#include "measure/harness/bench.h"

enum build { BY_FLEXSC, BY_PTHREADS, BY_EVENTS, BUILDS };

/* Called "http, pthreads"; trials are ns per request, and the base is that on pthreads. */
struct side {
	struct contestant;
	const char *server; /* "http" */
	enum build build;
	const char *build_name; /* "flexsc", "pthreads" or "epoll" */
	double cpu;		/* time of the server's, ns per request, mean of the trials */

	/* Filled in by sides_compare(). */
	double rate;		    /* requests per second */
	struct comparison to_epoll; /* throughput to that of events */
	double cpu_ratio;	    /* to that of pthreads */
};

/** The sides of COUNT servers, the BUILDS sides of each in a row; shared, and kept. */
struct side *sides_of(const char *const servers[], size_t count);

/** Lets COUNT sides take turns.  RUN_TRIAL is that of turns.h; it also adds to the side's cpu. */
int sides_measure(struct run *run, struct side sides[], size_t count,
		  int (*run_trial)(void *context, size_t side, size_t trial, double *ns),
		  void *context);

/** Compares them; for judge_run() to decide on. */
void sides_compare(struct run *run, struct side sides[], size_t count);

/** After judge_run(): says which is best, and adds the records "servers", a table and figures. */
void sides_conclude(struct run *run, struct side sides[], size_t count);

#endif /* SIDES_H */
