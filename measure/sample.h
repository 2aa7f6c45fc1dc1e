/* SPDX-License-Identifier: MIT */
/* Pairs of timings taken in turn, and what they say. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>

struct quartiles {
	double low, median, high;
};

/** The quartiles of COUNT > 0 values, which are sorted by it. */
struct quartiles quartiles_of(double values[], size_t count);

/**
 * COUNT times both sides, in alternating order: side(0, context) and side(1, context)
 * return a time each.  ratio is the time of side 0 divided by that of side 1, pair by pair.
 */
struct duel {
	struct quartiles side[2];
	struct quartiles ratio;
};

#define MAX_PAIRS 2001

/** PAIRS is at most MAX_PAIRS. */
struct duel compare(double (*side)(int which, void *context), void *context, size_t pairs);

#endif /* SAMPLE_H */
