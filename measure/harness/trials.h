/* SPDX-License-Identifier: MIT */
/* Trials of rows that take turns, each trial in a process of its own. */
#ifndef TRIALS_H
#define TRIALS_H

#include <stddef.h>

#include <jansson.h>

#include "bench.h"

/**
 * Runs TRIAL in a child for each trial from *NUMBER on, which counts them.  Shows the progress in
 * units called WHAT, of which a trial has ROWS.  Returns as run_in_child().
 */
int run_trials(const struct run *run, const char *what, size_t rows, size_t *number,
	       int (*trial)(void *context), void *context);

/**
 * Puts into JSON how many times as fast COUNT trials are as those of BASE: "ratio" and "ratio_se",
 * and whether that is "significant".  Trial by trial, for the machine may be slower in one of them.
 */
void set_paired_ratio(json_t *json, const struct run *run, const double *trials, const double *base,
		      size_t count);

#endif /* TRIALS_H */
