/* SPDX-License-Identifier: MIT */
/* The cells of `ferry bench flexsc`, and what it concludes from them. */
#ifndef FLEXSC_H
#define FLEXSC_H

#include "flexsc_ways.h"
#include "measure/harness/bench.h"

/* A call that is made in one way, with work after each. */
struct cell {
	const char *missing;
	const char *name, *call;
	enum way way;
	const char *way_name;
	long threads, runners; /* of FLEXSC, else 0 */
	double work;	       /* ns */
	size_t base;	       /* the index of the plain cell of the same call and work */
	long calls;	       /* in a trial */
	struct numbers trials; /* ns per call */
	double caller, others; /* CPU time, ns per call, means of the trials */
	double latency[4];     /* 50 %, 90 %, 99 %, most, ns */
	double phases[PHASES]; /* ns per call */

	/* Filled in by flexsc_conclude(). */
	struct summary summary;
	struct comparison ratio; /* to the plain cell */
	struct numbers ratios;	 /* of single trials */
	bool has_phases;
};

/* What is known of a runner by itself. */
struct runner {
	const char *missing;
	bool in_kernel;		    /* the kernel makes the calls, not a thread of the library */
	double idle_cpu;	    /* ns of CPU time that it uses in a second without calls */
	double caller_instructions; /* of a posted write, in user space; or NAN */
};

/**
 * Compares the cells with those of plain calls, and adds records, findings and figures to the run.
 * Cells that have neither a trial nor a reason are left out.  CALLER_INSTRUCTIONS, or NAN, are what
 * the caller of a posted write takes for it.
 */
void flexsc_conclude(struct run *run, struct cell cells[], size_t count,
		     const struct runner *runner);

/** Prints the tables of a run of which flexsc_conclude() was called. */
void flexsc_print(const struct run *run);

#endif /* FLEXSC_H */
