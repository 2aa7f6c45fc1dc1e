/* SPDX-License-Identifier: MIT */
/* ferry trace: the calls of a program and the savings of batches, from collector to report. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <jansson.h>

#include "collect.h"
#include "costs.h"
#include "savings.h"
#include "totals.h"
#include "untraced.h"
#include "windows.h"

/* Where the time goes: with ptrace of the untraced run, with BPF of the traced one less its cost.
 */
struct shares {
	const char *missing;		       /* why they are not known, or NULL */
	double cpu_ns;			       /* the first three together */
	struct figure user, crossings, kernel; /* ns */
	double waiting_ns;		       /* the wall time less the CPU time */
};

struct trace {
	const char *name; /* of the program */
	bool by_bpf;
	const char *why_not_bpf; /* a sentence without its end, or NULL */
	struct figure tracing;	 /* ns: what BPF cost the program, with all threads */
	struct collected collected;
	struct totals totals;
	struct windows windows;
	struct costs costs;
	struct times times;
	struct shares shares;
	struct findings findings;
};

/**
 * Traces TARGET; with AGAIN, a program that ptrace(2) slowed down is run once more for the times.
 * Returns 0, or -errno after complaining.
 */
int trace_run(const struct target *target, bool again, struct trace *trace);

/** Prints it for people. */
void trace_show(const struct trace *trace);

/** The same for programs, as ferry-trace(1) describes it. */
json_t *trace_as_json(const struct trace *trace);

#endif /* TRACE_TRACE_H */
