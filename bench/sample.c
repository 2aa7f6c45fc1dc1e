// SPDX-License-Identifier: MIT
/* Interleaved timing: what disturbs one side disturbs the other as well. */
#include "sample.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void stay_on_this_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	if (cpu < 0)
		return;
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Linear between the two values next to it. */
static double quantile(const double sorted[], size_t count, double fraction)
{
	double place = fraction * (double)(count - 1);
	size_t below = (size_t)place;
	double part = place - (double)below;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

struct quartiles quartiles_of(double values[], size_t count)
{
	qsort(values, count, sizeof(values[0]), by_value);
	return (struct quartiles){
		.low = quantile(values, count, 0.25),
		.median = quantile(values, count, 0.5),
		.high = quantile(values, count, 0.75),
	};
}

struct comparison compare(double (*side)(int which, void *context), void *context, size_t pairs)
{
	static double times[2][MAX_PAIRS], ratios[MAX_PAIRS];
	struct comparison result;
	size_t i;

	for (i = 0; i < pairs; i++) {
		int first = (int)(i % 2);

		times[first][i] = side(first, context);
		times[!first][i] = side(!first, context);
		ratios[i] = times[0][i] / times[1][i];
	}
	result.ratio = quartiles_of(ratios, pairs);
	result.side[0] = quartiles_of(times[0], pairs);
	result.side[1] = quartiles_of(times[1], pairs);
	return result;
}
