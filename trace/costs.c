// SPDX-License-Identifier: MIT
#include "costs.h"

#include <ferry/rawcall.h>

#include "measure/cases/empty.h"
#include "measure/harness/clock.h"
#include "measure/harness/statistics.h"

#define TRIALS 40
#define CALLS 2000 /* in a trial: 0.2 to 1 ms */

static void cross(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		ferry_rawcall(UNIMPLEMENTED, 0, 0, 0, 0, 0, 0);
}

/* ns per call of RUN, which makes CALLS of them. */
static struct figure cost_of(void (*run)(void))
{
	const struct bootstrap bootstrap = { .seed = 1, .resamples = 200 };
	double trials[TRIALS];
	struct summary summary;
	int i;

	run();
	for (i = 0; i < TRIALS; i++) {
		double start = now_ns();

		run();
		trials[i] = (now_ns() - start) / CALLS;
	}
	summary = summarize(trials, TRIALS, bootstrap);
	return (struct figure){ summary.median, summary.se };
}

struct costs measure_costs(void)
{
	return (struct costs){ .crossing = cost_of(cross) };
}
