/* SPDX-License-Identifier: MIT */
/* Two programs that run in turn, as `ferry bench apps` compares them. */
#ifndef APP_CONTEST_H
#define APP_CONTEST_H

#include <stdbool.h>

#include "measure/harness/bench.h"
#include "measure/harness/process.h"

/* Two sides: 0 is an application on an engine, 1 what it is compared with. */
struct contest {
	const char *app;
	const char *against; /* an engine, or what people call the other program */
	const char *what;
	bool same_output; /* it has to be */
	struct process side[2];
	double *pairs[2]; /* ns */
	size_t count;	  /* pairs that were finished */
	bool equal;
	char reason[128]; /* why there is no result, or empty */
};

/**
 * Runs both sides of CONTEST, its first five fields filled in, in pairs.  Adds what came of it
 * to the comparisons of the document.
 */
void contest_measure(struct run *run, struct contest *contest);

#endif /* APP_CONTEST_H */
