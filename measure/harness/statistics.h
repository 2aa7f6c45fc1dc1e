/* SPDX-License-Identifier: MIT */
/*
 * What is concluded from trials.  tests/measure compares all of it with NumPy and SciPy.
 * Nothing here keeps state: any thread may call it.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record.h"

#define MAX_SIZES 64
#define SIGNIFICANT 1.96 /* standard errors: 95 in 100 for a normal distribution */

/* How trials are drawn anew, with replacement. */
struct bootstrap {
	uint64_t seed;
	size_t resamples; /* 2 or more */
};

/* ---- one figure ---- */

void sort_values(double values[], size_t count);

/** The quantile FRACTION, 0 to 1, of COUNT > 0 sorted values; linear between neighbours. */
double quantile(const double sorted[], size_t count, double fraction);

/** Of COUNT values in any order; NAN of none. */
double median_of(const double values[], size_t count);

struct summary {
	double mean, min, max;
	double sd; /* with COUNT - 1; NAN for a single value */
	double quartile_low, median, quartile_high;
	double se; /* of the median: scatter and drift together; NAN for fewer than 4 values */
	bool settled;
};

/** Of COUNT > 0 trials in the order they were made. */
struct summary summarize(const double trials[], size_t count, struct bootstrap bootstrap);

/** The median of the second half of 2 or more trials, over that of the first, - 1. */
double drift_of(const double trials[], size_t count);

/**
 * Whether the least of either half of the trials is the same within 5 %.  Disturbances only
 * add to a time, so that the least one hardly depends on how busy the machine is, unless no trial
 * was left alone.
 */
bool is_settled(const double trials[], size_t count);

/** How many values lie outside of the quartiles by more than 3 times their distance (Tukey). */
size_t count_outliers(const double values[], size_t count);

/* ---- one figure beside another ---- */

/* How many times as fast one thing is as another. */
struct comparison {
	double ratio;
	double se;			    /* NAN when not known, like all that follows from it */
	double low, high;		    /* 95 % by itself */
	double quartile_low, quartile_high; /* of the ratios of single trials; NAN without any */

	/*
	 * How likely the noise alone makes so large a difference from 1.  After judge() it is
	 * corrected for the number of comparisons.
	 */
	double p;
	bool significant; /* set by judge() */
};

/** The probability that |T| is T or more, for Student's T with so many degrees of freedom. */
double two_sided(double t, double freedom);

/**
 * How many times as fast each of TRIALS is as that of BASE, as far as both go; kept.  Trial by
 * trial, because the machine may be slower in one of them.
 */
struct numbers ratios_of(const struct numbers *trials, const struct numbers *base);

/**
 * TRIALS and BASE trial by trial: by the median of their RATIOS, or where only the least times
 * separate, by the ratio of these, whose error is not known.  Disturbances only add to a time, so
 * that the least ones separate even where more than half of the trials were disturbed.  With fewer
 * than 4 trials there is a ratio, but no error.
 */
struct comparison compare_in_turn(const struct numbers *trials, const struct numbers *base,
				  const struct numbers *ratios, struct bootstrap bootstrap);

/**
 * The same for 1 to MAX_INTERVAL_COUNT ratios whose distribution is unknown: the interval comes
 * from their order, and the probability from how many lie on either side of 1.  Without an
 * interval (fewer than 6 ratios) its ends are NAN.  CONFIDENCE becomes that of the interval.
 */
struct comparison compare_signs(const struct numbers *ratios, double *confidence);

/**
 * Decides which of COUNT comparisons are significant: with at most 5 % probability one of all of
 * them is so by the noise alone (Holm).
 */
void judge(struct comparison *const comparisons[], size_t count);

/* ---- a line ---- */

struct line {
	double a, b; /* y = a + b x */
};

/* Trials of several sizes. */
struct trials {
	const double *sizes;
	struct matrix times; /* a row for each trial, with a column for each of 2 .. MAX_SIZES */
};

/** The least value of each size, in LEAST[], as long as a row. */
void least_of(const struct trials *trials, double least[]);

/*
 * The line through the least value of each size, weighted by 1 / value^2, so that the
 * relative error counts: a small batch and a large one are known equally well.
 *
 * A minimum is not an average: resampling alone would understate its error, for the least of the
 * resampled trials is mostly the same one.  So a stated error has two parts, added as
 * squares: the scatter of the bootstrap, and how far the lines through each half of the trials
 * lie from the line through all.  The latter shows drift as well.
 */
struct line_fit {
	struct line line;
	double a_scatter, b_scatter;
	double a_drift, b_drift;
	double a_se, b_se;
	double covariance; /* of the errors of a and b */
	double correlation;
	double misfit; /* root mean square of (least / line - 1) */
};

/**
 * How many times as steep the line of OTHER is as that of ONE, from as many trials of the same
 * sizes, made in turn: the mean of the ratios in up to 10 groups of trials that follow each other,
 * judged by Student's t, so that the machine may change its speed from group to group.  Without an
 * error with fewer than 4 trials.
 */
struct comparison compare_slopes(const struct trials *one, const struct trials *other);

/** With 2 trials or more. */
struct line_fit fit_least(const struct trials *trials, struct bootstrap bootstrap);

struct estimate {
	double value;
	double se; /* NAN when not known */
};

/**
 * The x from which on the line of FIT is below that of OTHER: 0 or less when it always is,
 * NAN when it never is.  Errors are independent between the fits.
 */
struct estimate break_even(const struct line_fit *fit, const struct line_fit *other);

/* An interval for the median of a population, from the order of the values alone. */
struct interval {
	double low, high;
	double confidence; /* 0.95 or a little more; NAN, like the ends, with fewer than 6 values */
};

#define MAX_INTERVAL_COUNT 1000

/** Of COUNT values, up to MAX_INTERVAL_COUNT. */
struct interval median_interval(const double values[], size_t count);

#endif /* STATISTICS_H */
