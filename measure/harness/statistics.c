// SPDX-License-Identifier: MIT
/* Medians, lines, and how far to trust them. */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "random.h"

#define UNSETTLED 0.05 /* from the least time of one half to that of the other */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double values[], size_t count)
{
	qsort(values, count, sizeof(values[0]), by_value);
}

double quantile(const double sorted[], size_t count, double fraction)
{
	double place = fraction * (double)(count - 1);
	size_t below = (size_t)place;
	double part = place - (double)below;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

static double *sorted_copy(const double values[], size_t count)
{
	double *copy = allocate(count, sizeof(*copy));

	memcpy(copy, values, count * sizeof(*copy));
	sort_values(copy, count);
	return copy;
}

/* NAN of none. */
static double quantile_of(const double values[], size_t count, double fraction)
{
	double *sorted, found;

	if (!count)
		return NAN;
	sorted = sorted_copy(values, count);
	found = quantile(sorted, count, fraction);
	free(sorted);
	return found;
}

double median_of(const double values[], size_t count)
{
	return quantile_of(values, count, 0.5);
}

size_t count_outliers(const double values[], size_t count)
{
	double low = quantile_of(values, count, 0.25), high = quantile_of(values, count, 0.75);
	double reach = 3 * (high - low);
	size_t outliers = 0, i;

	for (i = 0; i < count; i++)
		outliers += values[i] < low - reach || values[i] > high + reach;
	return outliers;
}

static double mean_of(const double values[], size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* With COUNT - 1; NAN of a single pair. */
static double covariance(const double x[], const double y[], size_t count)
{
	double mean_x = mean_of(x, count), mean_y = mean_of(y, count), sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += (x[i] - mean_x) * (y[i] - mean_y);
	return count < 2 ? NAN : sum / (double)(count - 1);
}

static double standard_deviation(const double values[], size_t count)
{
	return sqrt(covariance(values, values, count));
}

/* The standard deviation of the medians of resampled values. */
static double median_scatter(const double values[], size_t count, struct bootstrap bootstrap)
{
	struct random random = { bootstrap.seed };
	double *drawn = allocate(count, sizeof(*drawn));
	double *medians = allocate(bootstrap.resamples, sizeof(*medians));
	double scatter;
	size_t i, k;

	for (i = 0; i < bootstrap.resamples; i++) {
		for (k = 0; k < count; k++)
			drawn[k] = values[random_below(&random, count)];
		sort_values(drawn, count);
		medians[i] = quantile(drawn, count, 0.5);
	}
	scatter = standard_deviation(medians, bootstrap.resamples);
	free(medians);
	free(drawn);
	return scatter;
}

/* A median, or a coefficient of a line. */
struct resampled {
	double all, first, second; /* from all trials, and from each half of them */
	double *drawn;		   /* from trials drawn anew, the same ones for one seed */
};

/* How the errors of two of them go together, as far as the halves of the trials show. */
static double drift_between(const struct resampled *x, const struct resampled *y)
{
	return ((x->first - x->all) * (y->first - y->all) +
		(x->second - x->all) * (y->second - y->all)) /
	       2;
}

double drift_of(const double trials[], size_t count)
{
	return median_of(trials + count / 2, count - count / 2) / median_of(trials, count / 2) - 1;
}

static double least_value(const double values[], size_t count)
{
	double least = INFINITY;
	size_t i;

	for (i = 0; i < count; i++)
		least = fmin(least, values[i]);
	return least;
}

bool is_settled(const double trials[], size_t count)
{
	double first = least_value(trials, count / 2);
	double second = least_value(trials + count / 2, count - count / 2);

	return count < 2 || fmax(first, second) <= (1 + UNSETTLED) * fmin(first, second);
}

struct summary summarize(const double trials[], size_t count, struct bootstrap bootstrap)
{
	double *sorted = sorted_copy(trials, count);
	struct summary summary = {
		.mean = mean_of(trials, count),
		.sd = standard_deviation(trials, count),
		.min = sorted[0],
		.quartile_low = quantile(sorted, count, 0.25),
		.median = quantile(sorted, count, 0.5),
		.quartile_high = quantile(sorted, count, 0.75),
		.max = sorted[count - 1],
		.se = NAN,
		.settled = is_settled(trials, count),
	};

	free(sorted);
	if (count >= 4) {
		const struct resampled medians = {
			.all = summary.median,
			.first = median_of(trials, count / 2),
			.second = median_of(trials + count / 2, count - count / 2),
		};

		summary.se = hypot(median_scatter(trials, count, bootstrap),
				   sqrt(drift_between(&medians, &medians)));
	}
	return summary;
}

/* Weighted least squares over COUNT points, two or more x among them. */
static struct line fit_line(const double x[], const double y[], const double weights[],
			    size_t count)
{
	double w = 0, mean_x = 0, mean_y = 0, sxx = 0, sxy = 0;
	struct line line;
	size_t i;

	for (i = 0; i < count; i++) {
		w += weights[i];
		mean_x += weights[i] * x[i];
		mean_y += weights[i] * y[i];
	}
	mean_x /= w;
	mean_y /= w;
	for (i = 0; i < count; i++) {
		sxx += weights[i] * (x[i] - mean_x) * (x[i] - mean_x);
		sxy += weights[i] * (x[i] - mean_x) * (y[i] - mean_y);
	}
	line.b = sxy / sxx;
	line.a = mean_y - line.b * mean_x;
	return line;
}

/* The least of each size in COUNT trials from FIRST on, or as many drawn from them. */
static void least_in(const struct trials *trials, size_t first, size_t count, struct random *random,
		     double least[])
{
	size_t columns = trials->times.columns, t, k;

	for (k = 0; k < columns; k++)
		least[k] = INFINITY;
	for (t = 0; t < count; t++) {
		size_t trial = first + (random ? random_below(random, count) : t);
		const double *values = trials->times.values + trial * columns;

		for (k = 0; k < columns; k++)
			least[k] = fmin(least[k], values[k]);
	}
}

void least_of(const struct trials *trials, double least[])
{
	least_in(trials, 0, trials->times.rows, NULL, least);
}

/* The line through these. */
static struct line line_of(const struct trials *trials, size_t first, size_t count,
			   struct random *random)
{
	double least[MAX_SIZES], weights[MAX_SIZES];
	size_t k;

	least_in(trials, first, count, random, least);
	for (k = 0; k < trials->times.columns; k++)
		weights[k] = 1 / (least[k] * least[k]);
	return fit_line(trials->sizes, least, weights, trials->times.columns);
}

struct lines {
	struct resampled a, b;
};

/* The caller frees a.drawn, which holds b.drawn as well. */
static struct lines lines_of(const struct trials *trials, struct bootstrap bootstrap)
{
	size_t rows = trials->times.rows, half = rows / 2, i;
	struct line all = line_of(trials, 0, rows, NULL);
	struct line first = line_of(trials, 0, half, NULL);
	struct line second = line_of(trials, half, rows - half, NULL);
	double *drawn = allocate(2 * bootstrap.resamples, sizeof(*drawn));
	struct lines lines = {
		.a = { all.a, first.a, second.a, drawn },
		.b = { all.b, first.b, second.b, drawn + bootstrap.resamples },
	};
	struct random random = { bootstrap.seed };

	for (i = 0; i < bootstrap.resamples; i++) {
		struct line line = line_of(trials, 0, rows, &random);

		lines.a.drawn[i] = line.a;
		lines.b.drawn[i] = line.b;
	}
	return lines;
}

static double misfit(struct line line, const struct trials *trials)
{
	double least[MAX_SIZES];
	double sum = 0;
	size_t k;

	least_of(trials, least);
	for (k = 0; k < trials->times.columns; k++) {
		double off = least[k] / (line.a + line.b * trials->sizes[k]) - 1;

		sum += off * off;
	}
	return sqrt(sum / (double)trials->times.columns);
}

struct line_fit fit_least(const struct trials *trials, struct bootstrap bootstrap)
{
	struct lines lines = lines_of(trials, bootstrap);
	const struct resampled *a = &lines.a, *b = &lines.b;
	struct line line = { a->all, b->all };
	struct line_fit fit = {
		.line = line,
		.misfit = misfit(line, trials),
		.a_scatter = standard_deviation(a->drawn, bootstrap.resamples),
		.b_scatter = standard_deviation(b->drawn, bootstrap.resamples),
		.a_drift = sqrt(drift_between(a, a)),
		.b_drift = sqrt(drift_between(b, b)),
		.covariance =
			covariance(a->drawn, b->drawn, bootstrap.resamples) + drift_between(a, b),
	};

	fit.a_se = hypot(fit.a_scatter, fit.a_drift);
	fit.b_se = hypot(fit.b_scatter, fit.b_drift);
	if (fit.a_se > 0 && fit.b_se > 0)
		fit.correlation = fit.covariance / (fit.a_se * fit.b_se);
	free(lines.a.drawn);
	return fit;
}

struct estimate break_even(const struct line_fit *fit, const struct line_fit *other)
{
	double above = fit->line.a - other->line.a; /* at the start */
	double gain = other->line.b - fit->line.b;  /* with each slot */
	double x = above / gain;
	double variance;

	if (gain <= 0)
		return (struct estimate){ NAN, NAN };
	/* x = above / gain, to first order; the errors of a and b of one fit go together. */
	variance = fit->a_se * fit->a_se + other->a_se * other->a_se +
		   x * x * (fit->b_se * fit->b_se + other->b_se * other->b_se) +
		   2 * x * (fit->covariance + other->covariance);
	return (struct estimate){ x, sqrt(fmax(0, variance)) / gain };
}

/*
 * The probability that K or fewer of COUNT values are below the median: binomial, whatever their
 * distribution.
 */
static double at_most(size_t k, size_t count)
{
	double term = pow(0.5, (double)count), sum = 0;
	size_t i;

	for (i = 0; i <= k; i++) {
		sum += term;
		term *= (double)(count - i) / (double)(i + 1);
	}
	return sum;
}

/* The K-th least and the K-th largest enclose the median but for twice the chance of fewer than K.
 */
struct interval median_interval(const double values[], size_t count)
{
	struct interval interval = { NAN, NAN, NAN };
	double *sorted;
	size_t k = 0;

	while (2 * at_most(k, count) <= 0.05)
		k++;
	if (!k)
		return interval;
	sorted = sorted_copy(values, count);
	interval = (struct interval){ sorted[k - 1], sorted[count - k],
				      1 - 2 * at_most(k - 1, count) };
	free(sorted);
	return interval;
}

/* ---- one figure beside another ---- */

#define GROUPS 10	     /* of trials that follow each other, for the error of a slope */
#define FAMILY 0.05	     /* how likely one of all comparisons may be significant by chance */
#define NEARLY_NORMAL 1000.0 /* degrees of freedom */

/* Abramowitz and Stegun, 26.7.3 and 26.7.4: the terms of a finite series. */
double two_sided(double t, double freedom)
{
	double angle = atan(fabs(t) / sqrt(freedom)), square = cos(angle) * cos(angle);
	bool odd = fmod(freedom, 2) == 1;
	double term = odd ? cos(angle) : 1, sum = 0;
	long k;

	if (isnan(t) || freedom < 1)
		return NAN;
	if (freedom > NEARLY_NORMAL)
		return erfc(fabs(t) / M_SQRT2);
	for (k = odd ? 3 : 2; (double)k <= freedom; k += 2) {
		sum += term;
		term *= square * (double)(k - 1) / (double)k;
	}
	if (odd)
		return fmax(0, 1 - (angle + sin(angle) * sum) * M_2_PI);
	return fmax(0, 1 - sin(angle) * sum);
}

/* The T that |T| exceeds with a probability of 5 %. */
static double critical(double freedom)
{
	double low = 1, high = 20, middle = 0;
	int i;

	for (i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (two_sided(middle, freedom) > 0.05)
			low = middle;
		else
			high = middle;
	}
	return middle;
}

/* A ratio whose error comes from COUNT trials. */
static struct comparison compare_estimate(double ratio, double se, size_t count)
{
	double freedom = (double)count - 1;
	struct comparison c = { .ratio = ratio, .se = se, .p = NAN };

	c.low = c.high = c.quartile_low = c.quartile_high = NAN;
	if (isnan(ratio) || isnan(se) || count < 2)
		return c;
	c.low = ratio - critical(freedom) * se;
	c.high = ratio + critical(freedom) * se;
	/* Counts of instructions may all be the same. */
	c.p = se > 0 ? two_sided((ratio - 1) / se, freedom) : ratio == 1;
	return c;
}

struct comparison compare_slopes(const struct trials *one, const struct trials *other)
{
	const size_t rows = one->times.rows;
	const size_t groups = rows >= 2 * GROUPS ? GROUPS : rows < 4 ? 1 : rows / 2;
	double ratios[GROUPS];
	size_t i;

	for (i = 0; i < groups; i++) {
		size_t first = i * rows / groups, count = (i + 1) * rows / groups - first;

		ratios[i] =
			line_of(other, first, count, NULL).b / line_of(one, first, count, NULL).b;
	}
	return compare_estimate(mean_of(ratios, groups),
				standard_deviation(ratios, groups) / sqrt((double)groups), groups);
}

struct numbers ratios_of(const struct numbers *trials, const struct numbers *base)
{
	size_t count = trials->count < base->count ? trials->count : base->count, i;
	struct numbers ratios = { keep(count, sizeof(double)), count };

	for (i = 0; i < count; i++)
		ratios.of[i] = base->of[i] / trials->of[i];
	return ratios;
}

/* By their median. */
static struct comparison compare_ratios(const struct numbers *ratios, struct bootstrap bootstrap)
{
	struct summary summary;
	struct comparison comparison;

	if (!ratios->count)
		return compare_estimate(NAN, NAN, 0);
	summary = summarize(ratios->of, ratios->count, bootstrap);
	comparison = compare_estimate(summary.median, summary.se, ratios->count);
	comparison.quartile_low = summary.quartile_low;
	comparison.quartile_high = summary.quartile_high;
	return comparison;
}

static size_t count_below(const struct numbers *values, double limit)
{
	size_t below = 0, i;

	for (i = 0; i < values->count; i++)
		below += values->of[i] < limit;
	return below;
}

/*
 * How likely the least values of two equal sides, made trial by trial, lie so far apart.  Either
 * side may be the lower one in each trial, so that K values below all of the other side's are of
 * K trials, with a probability of 1 / 2^K for each side.
 */
static double separation(const struct numbers *trials, const struct numbers *base)
{
	size_t own = count_below(trials, least_value(base->of, base->count));
	size_t other = count_below(base, least_value(trials->of, trials->count));

	return fmin(1, pow(0.5, (double)(own > other ? own : other) - 1));
}

struct comparison compare_in_turn(const struct numbers *trials, const struct numbers *base,
				  const struct numbers *ratios, struct bootstrap bootstrap)
{
	struct comparison c = compare_ratios(ratios, bootstrap);
	double apart = separation(trials, base);

	if (isnan(c.p))
		return c;
	if (c.p > FAMILY && 2 * apart <= FAMILY) {
		c.ratio =
			least_value(base->of, base->count) / least_value(trials->of, trials->count);
		c.se = c.low = c.high = NAN;
	}
	/* Of two tests, either may be wrong. */
	c.p = fmin(1, 2 * fmin(c.p, apart));
	return c;
}

/* Both tails of a binomial distribution with even chances. */
static double sign_test(const struct numbers *ratios)
{
	size_t below = 0, above = 0, i;

	for (i = 0; i < ratios->count; i++) {
		below += ratios->of[i] < 1;
		above += ratios->of[i] > 1;
	}
	return fmin(1, 2 * at_most(below < above ? below : above, below + above));
}

struct comparison compare_signs(const struct numbers *ratios, double *confidence)
{
	struct interval interval = median_interval(ratios->of, ratios->count);
	struct comparison comparison = {
		.ratio = median_of(ratios->of, ratios->count),
		.se = NAN,
		.low = interval.low,
		.high = interval.high,
		.quartile_low = quantile_of(ratios->of, ratios->count, 0.25),
		.quartile_high = quantile_of(ratios->of, ratios->count, 0.75),
		.p = sign_test(ratios),
	};

	*confidence = interval.confidence;
	return comparison;
}

static int by_p(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return (x->p > y->p) - (x->p < y->p);
}

void judge(struct comparison *const comparisons[], size_t count)
{
	struct comparison **known = allocate(count, sizeof(struct comparison *));
	size_t known_count = 0, i;
	double least = 0; /* a larger difference is no less significant than a smaller one */

	for (i = 0; i < count; i++) {
		comparisons[i]->significant = false;
		if (!isnan(comparisons[i]->p))
			known[known_count++] = comparisons[i];
	}
	qsort(known, known_count, sizeof(struct comparison *), by_p);
	for (i = 0; i < known_count; i++) {
		least = fmax(least, fmin(1, known[i]->p * (double)(known_count - i)));
		known[i]->p = least;
		known[i]->significant = least <= FAMILY;
	}
	free(known);
}
