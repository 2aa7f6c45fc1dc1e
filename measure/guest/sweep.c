// SPDX-License-Identifier: MIT
#include "sweep.h"

#include <math.h>
#include <stdio.h>

#include "count.h"

#define REPEATS 5

struct one_run {
	const struct side *side;
	void (*before)(void);
	unsigned long slots;
};

static void run(void *context)
{
	const struct one_run *one = context;

	one->side->run(one->side->context, one->slots);
}

static void before(void *context)
{
	const struct one_run *one = context;

	if (one->before)
		one->before();
}

/* The line through COSTS of 1, 2, 4 ... times TIMES slots, by least squares. */
static struct line fit(const double costs[SWEEP_SIZES], unsigned long times)
{
	double x_mean = 0, y_mean = 0, xy = 0, xx = 0;
	struct line line = { 0 };
	int i;

	for (i = 0; i < SWEEP_SIZES; i++) {
		x_mean += (double)(times << i) / SWEEP_SIZES;
		y_mean += costs[i] / SWEEP_SIZES;
	}
	for (i = 0; i < SWEEP_SIZES; i++) {
		double x = (double)(times << i) - x_mean;

		xy += x * (costs[i] - y_mean);
		xx += x * x;
	}
	line.slot = xy / xx;
	line.crossing = y_mean - line.slot * x_mean;
	for (i = 0; i < SWEEP_SIZES; i++)
		line.residual = fmax(line.residual, fabs(costs[i] - line.crossing -
							 line.slot * (double)(times << i)));
	return line;
}

static void sweep_once(struct side *sides[], int count, int pass, void (*before_each)(void))
{
	double costs[count][SWEEP_SIZES];
	struct one_run one = { .before = before_each };
	int i, size;

	for (size = 0; size < SWEEP_SIZES; size++)
		for (i = 0; i < count; i++) {
			one.side = sides[i];
			one.slots = sides[i]->times << size;
			costs[i][size] = (double)count_least(run, before, &one, REPEATS);
		}
	for (i = 0; i < count; i++)
		sides[i]->lines[pass] = fit(costs[i], sides[i]->times);
}

void sweep(struct side *sides[], int count, int passes, void (*before_each)(void))
{
	int pass;

	sweep_once(sides, count, 0, before_each); /* warms up; the next one overwrites it */
	for (pass = 0; pass < passes; pass++)
		sweep_once(sides, count, pass, before_each);
}

void print_lines(const struct line lines[], bool one_crossing, int passes)
{
	int i;

	printf("\"slot\":[");
	for (i = 0; i < passes; i++)
		printf("%s%.6f", i ? "," : "", lines[i].slot);
	printf("],\"crossing\":[");
	for (i = 0; one_crossing && i < passes; i++)
		printf("%s%.6f", i ? "," : "", lines[i].crossing);
	printf("],\"residual\":[");
	for (i = 0; i < passes; i++)
		printf("%s%.6f", i ? "," : "", lines[i].residual);
	printf("]");
}
