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

static double cost_of(struct ferry_bench_direct direct)
{
	direct.rounds = ROUNDS;
	if (!clock_counts_instructions() || test_module() < 0 ||
	    ioctl(test_module(), FERRY_BENCH_DIRECT, &direct))
		return NAN;
	return (double)direct.least;
}

double handler_cost(const struct batch_slot *slot)
{
	struct ferry_bench_direct direct = { .nr = (unsigned long)slot->nr };

	memcpy(direct.arg, slot->arg, sizeof(direct.arg));
	return cost_of(direct);
}

double counters_cost(void)
{
	return cost_of((struct ferry_bench_direct){ .nr = FERRY_BENCH_COUNTERS });
}
