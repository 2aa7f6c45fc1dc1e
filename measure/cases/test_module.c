// SPDX-License-Identifier: MIT
#include "test_module.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>

#include "measure/guest-module/ferry_bench.h"
#include "measure/harness/clock.h"

#define ROUNDS 50 /* of which the module reports the cheapest */

int test_module(void)
{
	static int descriptor = -2; /* not tried yet */

	if (descriptor == -2)
		descriptor = open(FERRY_BENCH_DEVICE, O_RDWR | O_CLOEXEC);
	return descriptor;
}

double handler_cost(const struct ferry_slot *slot)
{
	struct ferry_bench_direct direct = { .nr = (unsigned long)slot->nr, .rounds = ROUNDS };

	memcpy(direct.arg, slot->arg, sizeof(direct.arg));
	if (!clock_counts_instructions() || test_module() < 0 ||
	    ioctl(test_module(), FERRY_BENCH_DIRECT, &direct))
		return NAN;
	return (double)direct.least;
}

double counters_cost(void)
{
	struct ferry_bench_counters counters = { .rounds = ROUNDS };

	if (!clock_counts_instructions() || test_module() < 0 ||
	    ioctl(test_module(), FERRY_BENCH_COUNTERS, &counters))
		return NAN;
	return (double)counters.least;
}
