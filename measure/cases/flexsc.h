/* SPDX-License-Identifier: MIT */
/* The cells of `ferry bench flexsc`, and its conclusions from them. */
#ifndef FLEXSC_H
#define FLEXSC_H

#include "flexsc_ways.h"
#include "measure/harness/bench.h"

struct flexsc_settings {
	struct settings;
	long calls; /* in a trial */
	struct names calls_made;
	struct sizes work;    /* ns between two calls */
	struct sizes threads; /* POSIX threads */
	long runners;	      /* at most; 0: as many as there are CPUs */
};

static inline const struct flexsc_settings *flexsc_settings(const struct run *run)
{
	return (const struct flexsc_settings *)run->settings;
}

/* A call that is made in one way, with work after each.  The base makes it plainly. */
struct cell {
	struct contestant;
	const char *call;
	enum way way;
	const char *way_name;
	long threads;	       /* of PTHREADS and FLEXSC, else 0 */
	long runners;	       /* of FLEXSC, else 0 */
	double work;	       /* ns */
	long calls;	       /* in a trial */
	double caller, others; /* CPU time of all callers and of others, ns per call, means */
	double latency[4];     /* 50 %, 90 %, 99 %, longest, ns */
};

/* What was measured of a runner by itself. */
struct runner {
	const char *missing;
	bool in_kernel;		    /* the kernel makes the calls, not a thread of the library */
	double idle_cpu;	    /* ns of CPU time that it uses in a second without calls */
	double caller_instructions; /* of a posted write, in user space; or NAN */
};

/**
 * Compares the cells with the plain calls' cells, and adds records, tables, findings and figures to
 * the run.  Cells that have neither a trial nor a reason are left out.
 */
void flexsc_conclude(struct run *run, struct cell cells[], size_t count,
		     const struct runner *runner);

#endif /* FLEXSC_H */
