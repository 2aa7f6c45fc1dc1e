/* SPDX-License-Identifier: MIT */
/* One workload on several engines, as `ferry bench batch` measures it and concludes from it. */
#ifndef BATCH_CONTEST_H
#define BATCH_CONTEST_H

#include <stdbool.h>

#include <ferry.h>

#include "measure/harness/bench.h"
#include "workload.h"

#define MAX_ENGINES FERRY_ENGINES

struct contest {
	struct run *run;
	const char *source; /* the name of a call, or the path of a program */
	bool is_program;
	struct workload workload;
	enum ferry_engine engines[MAX_ENGINES];
	size_t engine_count;

	/* In shared memory, written by children. */
	size_t *trials; /* that were finished */
	double *values; /* ns: engine by engine, trial by trial, size by size */
};

/** The size at INDEX of the settings. */
size_t batch_size(const struct run *run, size_t index);

/** The values of an engine, trial by trial, size by size. */
double *contest_values(const struct contest *contest, size_t engine);

/** Adds the fits of all engines, and their ratios to the first, to the document. */
void contest_conclude(const struct contest *contest);

/** Prints the tables of a document. */
void batch_print(const json_t *document);

#endif /* BATCH_CONTEST_H */
