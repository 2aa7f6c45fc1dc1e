/* SPDX-License-Identifier: MIT */
/* Two programs that ran in turn, as `ferry bench apps` compares them. */
#ifndef APPS_H
#define APPS_H

#include "measure/harness/bench.h"
#include "measure/harness/process.h"

/* Side 0 is an application on an engine, side 1 what it is compared with. */
struct duel {
	const char *missing;
	const char *app, *side, *against; /* side: an engine; against: that or another program */
	const char *what;		  /* a sentence: what both did */
	bool same_output;		  /* the outputs must be equal */
	int equal;			  /* whether they were, -1 when they need not be */
	char **argv[2];
	struct numbers times[2]; /* as many of each */

	/* Filled in by apps_conclude(). */
	struct matrix pairs;
	double median[2];
	struct comparison ratio;
	double confidence;
	struct numbers medians, ratios;
};

/** Compares the sides of each duel, and adds records, findings and figures to the run. */
void apps_conclude(struct run *run, struct duel duels[], size_t count);

#endif /* APPS_H */
