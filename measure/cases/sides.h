/* SPDX-License-Identifier: MIT */
/* Builds of the echo server side by side: a thread for each connection, and epoll. */
#ifndef SIDES_H
#define SIDES_H

#include "measure/harness/bench.h"

enum build { BY_PTHREADS, BY_EVENTS, BUILDS };

/* Called "echo 1 of 8, pthreads"; trials are ns per request, and the base is that on pthreads. */
struct side {
	struct contestant;
	const char *server; /* "echo 1 of 8" */
	enum build build;
	const char *build_name; /* "pthreads" or "epoll" */
	double cpu;		/* time of the server's, ns per request, mean of the trials */

	/* Filled in by sides_compare(). */
	double rate;	  /* requests per second */
	double cpu_ratio; /* to that of pthreads */
};

/** The sides of COUNT servers, the BUILDS sides of each in a row; shared, and kept. */
struct side *sides_of(const char *const servers[], size_t count);

/** Lets COUNT sides take turns.  RUN_TRIAL is that of turns.h; it also adds to the side's cpu. */
int sides_measure(struct run *run, struct side sides[], size_t count,
		  int (*run_trial)(void *context, size_t side, size_t trial, double *ns),
		  void *context);

/** Compares them; for judge_run() to decide on. */
void sides_compare(struct run *run, struct side sides[], size_t count);

/** After judge_run(): compares in words, and adds the records "servers", a table and figures. */
void sides_conclude(struct run *run, struct side sides[], size_t count);

#endif /* SIDES_H */
