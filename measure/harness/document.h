/* SPDX-License-Identifier: MIT */
/* The document of a run, ferry-bench(5): made once, from the structures, at the end. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <time.h>

#include "bench.h"
#include "machine.h"

#define SCHEMA "ferry-bench"
#define SCHEMA_VERSION 2

/* The machine and the conditions of a run; circumstances_begin() fills in the first fields. */
struct circumstances {
	const char *missing;
	struct cpu_use use;
	time_t time;
	struct machine machine;
	struct clock clock;
	const char *architecture, *governor;
	long cpu;      /* pinned to, or -1 */
	int smt;       /* 1, 0, or -1: not known */
	double load;   /* average of the minute before */
	long runnable; /* tasks of the machine when the run began, this one included */
	struct others others;
	double seconds; /* duration of the run */
	bool complete;
};

struct circumstances circumstances_begin(int cpu);

/** Fills in the rest. */
void circumstances_end(struct circumstances *at, const struct run *run, bool complete);

/** Adds warnings about anything that makes the figures less reliable. */
void add_warnings(struct run *run, const struct circumstances *at);

/** The document, started by the words of COMMAND, an array.  The caller's to decref. */
json_t *run_as_json(const struct run *run, const struct circumstances *at, json_t *command);

#endif /* DOCUMENT_H */
