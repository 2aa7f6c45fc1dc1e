/* SPDX-License-Identifier: MIT */
/* Kinds of calls timed in turn: the rows of ferry-bench(5). */
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
};

/**
 * Times the kinds, in turn within each trial.  *ROWS are those that have a trial, all of them
 * unless it was interrupted or failed, and those that are missing.  Returns 0, or an exit
 * status after complaining.
 */
int measure_rows(struct run *run, const struct kind kinds[], size_t count, json_t **rows);

/** The row called NAME where it has been measured, or NULL. */
json_t *find_row(const json_t *rows, const char *name);

/** Divides the median of each row by that of the row called NAME, where there is one. */
void set_ratios(const json_t *rows, const char *name);

#endif /* ROWS_H */
