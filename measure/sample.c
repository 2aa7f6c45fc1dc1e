// SPDX-License-Identifier: MIT
/* Interleaved timing: what disturbs one side disturbs the other as well. */
#include "sample.h"

#include "measure/harness/statistics.h"

struct quartiles quartiles_of(double values[], size_t count)
{
	sort_values(values, count);
	return (struct quartiles){
		.low = quantile(values, count, 0.25),
		.median = quantile(values, count, 0.5),
		.high = quantile(values, count, 0.75),
	};
}

struct duel compare(double (*side)(int which, void *context), void *context, size_t pairs)
{
	static double times[2][MAX_PAIRS], ratios[MAX_PAIRS];
	struct duel result;
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
