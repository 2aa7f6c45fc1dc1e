/* SPDX-License-Identifier: MIT */
/* What each way of doing the same work would save. */
#ifndef TRACE_SAVINGS_H
#define TRACE_SAVINGS_H

#include "costs.h"
#include "flow.h"
#include "totals.h"
#include "untraced.h"

struct saving {
	const char *missing; /* why there is nothing to gain, or NULL */
	const char *name;    /* a word that stays the same */
	const char *what;    /* for people */
	double calls;	     /* that it applies to */
	double ns, error;
	double share; /* of the CPU time, or NAN */
};

#define SAVINGS 5

struct findings {
	const struct sequences *sequences;
	struct plan plans[SEQUENCES_MAX];
	double scale;	    /* calls for each that is in a window */
	double scale_error; /* relative */
	struct saving savings[SAVINGS];
	const char *hindrance; /* what kept a call for many files from saving more, or NULL */
};

/** CPU_NS is that of the whole program, or NAN. */
struct findings conclude(const struct windows *windows, const struct totals *totals,
			 const struct costs *costs, const struct times *times, double cpu_ns);

#endif /* TRACE_SAVINGS_H */
