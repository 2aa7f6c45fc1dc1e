/* SPDX-License-Identifier: MIT */
/* Costs over the length of a batch: a line's slope is per slot, its intercept per crossing. */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>

#define SWEEP_SLOTS 1024 /* the longest; the others are the powers of two below it */
#define SWEEP_SIZES 11
#define SWEEP_FAR 32 /* times as long where a crossing's noise exceeds the cost of 1,024 slots */
#define MAX_PASSES 100

struct line {
	double slot, crossing;
	double residual; /* the farthest that a point is from the line */
};

/* What is measured: RUN(CONTEXT, n) does n slots. */
struct side {
	const char *name;
	void (*run)(const void *context, unsigned long n);
	const void *context;
	unsigned long times;	       /* as long as the sizes above: 1 or SWEEP_FAR */
	struct line lines[MAX_PASSES]; /* of each pass */
};

/**
 * Fills the lines of all sides, PASSES times in turn, of minima.  BEFORE, when not NULL,
 * is called before each run and not counted.
 */
void sweep(struct side *sides[], int count, int passes, void (*before)(void));

/**
 * Prints the members "slot", "crossing" and "residual" of a JSON object, values per pass.
 * A line has no crossing of its own unless ONE_CROSSING: what it starts with means nothing.
 */
void print_lines(const struct line lines[], bool one_crossing, int passes);

#endif /* SWEEP_H */
