/* SPDX-License-Identifier: MIT */
/* ferry trace: the calls of a program and the savings of batches, from collector to report. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <jansson.h>

#include "collect.h"
#include "costs.h"
#include "findings/finding.h"
#include "findings/waits.h"
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
	bool undivided;	   /* too short to know USER and KERNEL, which are NAN */
	double waiting_ns; /* the wall time less the CPU time */
};

struct trace;

/* Prints reports while tracing goes on, each for the time since the one before. */
struct printer {
	void (*print)(void *context, const struct trace *trace);
	void *context;
};

struct trace {
	const char *name; /* of the program */
	bool by_bpf;
	bool stacks;	 /* were taken */
	long number;	 /* of this report, from 1 */
	bool is_interim; /* tracing goes on */
	const struct printer *printer;
	const char *why_not_bpf; /* a sentence without its end, or NULL */
	struct figure tracing;	 /* ns: what BPF cost the program, with all threads */
	struct collected collected;
	struct totals totals;
	struct windows windows;
	struct costs costs;
	struct times times;
	struct shares shares;
	struct figure indirect; /* ns: what the calls and the program evict from each other */
	struct conclusions conclusions;
	struct findings findings;
	struct wait *waits; /* where threads slept, the longest first */
	size_t wait_count;
};

/**
 * Traces TARGET; with AGAIN, a program that ptrace(2) slowed down is run once more for the times.
 * Returns 0, or -errno after complaining.
 */
int trace_run(const struct target *target, bool again, const struct printer *printer,
	      struct trace *trace);

/** Prints it for people, with the TOP most frequent calls, or all for 0. */
void trace_show(const struct trace *trace, size_t top);

/** The same for programs, as ferry-trace(1) describes it. */
json_t *trace_as_json(const struct trace *trace);

#endif /* TRACE_TRACE_H */
