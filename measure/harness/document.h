/* SPDX-License-Identifier: MIT */
/* The frame of ferry-bench(5) around what a bench found. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "bench.h"
#include "cpu.h"

#define SCHEMA "ferry-bench"
#define SCHEMA_VERSION 2

/* What is noted at the start, to be told at the end. */
struct beginning {
	int cpu; /* pinned to, or -1 */
	struct cpu_use use;
	double load; /* average of the minute before */
	time_t time;
};

struct beginning beginning_now(int cpu);

/** A new document for BENCH, started by the words of COMMAND, an array. */
json_t *document_new(const struct bench *bench, json_t *command);

/** Adds machine, clock and settings, how long it took and whether it is complete. */
void document_finish(struct run *run, const struct bench *bench, const struct beginning *beginning,
		     bool complete);

#endif /* DOCUMENT_H */
