/* SPDX-License-Identifier: MIT */
/* The measurements of `ferry bench batch` of a workload, and its conclusions. */
#ifndef BATCH_H
#define BATCH_H

#include "measure/harness/bench.h"

struct batch_settings {
	struct settings;
	long slots; /* about this many are timed at once */
	struct sizes sizes;
	struct names engines, beside; /* BESIDE: what else the batches run on */
	struct names calls, programs;
	const char *directory;
};

static inline const struct batch_settings *batch_settings(const struct run *run)
{
	return (const struct batch_settings *)run->settings;
}

/* One engine on one workload. */
struct series {
	const char *missing;
	const char *call, *label; /* the name of a call or the path of a program; for people */
	const char *engine;
	long body;	      /* slots that one copy has */
	double handler;	      /* what the call takes within the kernel, or NAN */
	struct matrix trials; /* a time for each size of the settings, in rows of a trial */

	/* Filled in by batch_conclude(). */
	const char *unit; /* "slot" or "copy" */
	struct numbers sizes, least;
	bool fitted, straight;
	struct line_fit fit;
	double overhead;		/* of a slot, beyond the handler; or NAN */
	struct numbers line, low, high; /* of the fit at each size: its 95 % band */
};

/**
 * Fits a line to each of COUNT series, compares those of a workload, which are neighbours, with the
 * first of them, and adds records, tables, findings and figures to the run.
 */
void batch_conclude(struct run *run, struct series series[], size_t count);

#endif /* BATCH_H */
