/* SPDX-License-Identifier: MIT */
/*
 * The runner of all trials: contestants take turns within each trial, so that what slows the
 * machine for a while slows all of them.  Every bench uses it:
 *
 *	static int time_one(void *context, size_t contestant, size_t trial, double *value)
 *	{
 *		double start = clock_now();
 *		... what is measured ...
 *		*value = clock_now() - start;
 *		return 0;
 *	}
 *
 *	struct turns turns = { .what = "trial and row", .contestants = rows, .trials = trials,
 *			       .per_child = 1, .run = time_one, .context = &mine };
 *	struct numbers *times = allocate(rows, sizeof(*times));
 *	int status = take_turns(&turns, times);
 *
 * Anything else that RUN stores must be in memory from share(), because it runs in a child.
 * Records that begin with a struct contestant keep their trials themselves: take_trials().
 */
#ifndef TURNS_H
#define TURNS_H

#include <stddef.h>

#include "bench.h"

struct turns {
	const char *what; /* a step, for the progress line */
	size_t contestants, trials;

	/* Trials that a child makes before the next one does the rest; 0: no child makes any. */
	size_t per_child;

	/*
	 * In every other trial, each block of so many neighbours goes in reverse order, so that
	 * what one leaves behind helps both alike.  0: never.
	 */
	size_t block;

	/* In each child, before its first trial; or NULL.  Returns 0, or an exit status. */
	int (*begin)(void *context, size_t trial);

	/*
	 * Makes one trial: 0, or an exit status after complaining.  *VALUE is NAN to begin with;
	 * when it stays so, this was no trial.  One that a signal cut short is not counted.
	 */
	int (*run)(void *context, size_t contestant, size_t trial, double *value);

	/*
	 * The contestants' records, record_size bytes apart: those that are missing take no part.
	 * Where they come from share(), RUN may store more in them.
	 */
	void *records;
	size_t record_size;

	void *context;
};

/**
 * Makes the trials.  TIMES[contestants] are kept; after an interruption or a failure they hold
 * what was finished.  Returns 0, or an exit status after complaining.
 */
int take_turns(const struct turns *turns, struct numbers times[]);

/** The same, but the records, each of which begins with a struct contestant, get the trials. */
int take_trials(const struct turns *turns);

#endif /* TURNS_H */
