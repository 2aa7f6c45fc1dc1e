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
 *	struct turns turns = { .what = "trial and row", .run = time_one, .context = &mine };
 *	int status = take_trials(run, turns, rows, count, sizeof(*rows));
 *
 * The contestants, and anything else that RUN stores, must be in memory from share(), because it
 *runs in a child.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stddef.h>

#include "bench.h"

struct turns {
	const char *what;   /* a step, for the progress line */
	void *contestants;  /* shared records, each of which begins with a struct contestant */
	size_t count, size; /* how many, and bytes from one to the next */
	size_t trials;

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

	void *context;
};

/**
 * Makes the trials, which are kept.  After an interruption or a failure the contestants have what
 * was finished; those that are missing take no part.  Returns 0, or an exit status after
 * complaining.
 */
int take_turns(const struct turns *turns);

/** The same with COUNT contestants, as often as the settings say, each trial in a child. */
int take_trials(struct run *run, struct turns turns, void *contestants, size_t count, size_t size);

#endif /* TURNS_H */
