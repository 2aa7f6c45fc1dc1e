/* SPDX-License-Identifier: MIT */
/* What `ferry bench batch` measured of a workload, and what it concludes from that. */
#ifndef BATCH_H
#define BATCH_H

#include "batch_sides.h"
#include "measure/harness/bench.h"

/* A workload on several engines. */
struct contest {
	const char *call, *label; /* the name of a call or the path of a program; for people */
	long body;		  /* slots that one copy has */
	double handler;		  /* what the call takes within the kernel, or NAN */
	size_t engine_count;
	const char *engines[MAX_SIDES];	 /* the others are compared with the first */
	struct matrix trials[MAX_SIDES]; /* a time for each size, in rows of a trial */
};

/**
 * Fits a line to each engine of each contest, compares the engines, and adds records, findings and
 * figures to the run.  The sizes are those of the settings.
 */
void batch_conclude(struct run *run, const struct contest contests[], size_t count);

/** Prints the tables of a run of which batch_conclude() was called. */
void batch_print(const struct run *run);

#endif /* BATCH_H */
