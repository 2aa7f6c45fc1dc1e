// SPDX-License-Identifier: GPL-2.0
/*
 * What a handler costs by itself: the time-stamp counter is read before and
 * after one call through the table, with the arguments prepared.  The same with
 * no call in between is taken off.  What is left is the call, the handler and
 * its return, to the instruction where the counter counts instructions.  The
 * least of many calls is one without an interrupt.
 */
#include <linux/minmax.h>
#include <linux/timex.h>

#include "internal.h"

static noinline unsigned long cost_of_reading(void)
{
	unsigned long start = get_cycles();

	barrier();
	return get_cycles() - start;
}

static noinline unsigned long cost_of_call(unsigned long nr, const struct prepared *prepared,
					   long *result)
{
	unsigned long start = get_cycles();

	*result = call(nr, prepared);
	return get_cycles() - start;
}

long measure_direct(struct ferry_bench_direct *direct)
{
	unsigned long least = ULONG_MAX, empty = ULONG_MAX, i;
	bool counters = direct->nr == FERRY_BENCH_COUNTERS;
	struct prepared prepared = {};

	if (!direct->rounds || (counters ? !has_counters() : direct->nr >= NR_CALLS))
		return -EINVAL;
	prepare(&prepared, direct->arg);
	for (i = 0; i < direct->rounds; i++) {
		empty = min(empty, cost_of_reading());
		if (counters)
			least = min(least, cost_of_counters());
		else
			least = min(least, cost_of_call(direct->nr, &prepared, &direct->result));
	}
	direct->least = least - empty;
	return 0;
}
