/* SPDX-License-Identifier: MIT */
/*
 * Kinds of calls that are timed in turn: the rows of ferry-bench(5).  A case lists its kinds, calls
 * measure_rows(), concludes from the rows, and hands them over with add_rows().
 */
#ifndef ROWS_H
#define ROWS_H

#include "bench.h"

struct kind {
	const char *name;  /* a word that stays the same */
	const char *label; /* for people */

	/* Makes so many calls. */
	void (*run)(unsigned long calls);

	/* Why it cannot be called here, as a constant sentence, or NULL; may itself be NULL. */
	const char *(*missing)(void);

	/* In place of RUN: what one call takes, measured by something other than this clock. */
	double (*cost)(void);

	bool compared; /* with the first kind */
};

struct row {
	struct contestant;
	const char *label;
	long calls;
	double cycles;	     /* the median in ticks of the TSC, or NAN */
	double instructions; /* in user space, per call, or NAN */
	double times;	     /* its median by that of another row, or NAN */
	double kernel_share; /* 0 to 1, or NAN */
};

/**
 * Times the kinds in turn, CALLS calls of each in every trial.  *ROWS, which are kept, are those
 * that have a trial, all of them unless it was interrupted or failed, and those that are missing.
 * Returns 0, or an exit status after complaining.
 */
int measure_rows(struct run *run, const struct kind kinds[], size_t count, long calls,
		 struct row **rows, size_t *row_count);

/** The row called NAME where it has been measured, or NULL. */
const struct row *find_row(const struct row rows[], size_t count, const char *name);

/** Divides the median of each row by that of the row called NAME, where there is one. */
void set_times(struct row rows[], size_t count, const char *name);

/** Adds them to the document as "rows", with a figure for each. */
void add_rows(struct run *run, const struct row rows[], size_t count);

#endif /* ROWS_H */
