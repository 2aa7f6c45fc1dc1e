// SPDX-License-Identifier: MIT
#include "count.h"

#include <time.h>

#define SPINS 1000
#define TRIES 100

/* Instructions.  Longer runs would often meet the kernel's tick, which comes after millions. */
#define LONG_RUN 500000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
#include <x86intrin.h>

/* Ticks that SPINS loops of two instructions take. */
static __attribute__((noinline)) uint64_t spin(unsigned long spins)
{
	uint64_t start = __rdtsc();

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(spins) : : "cc");
	return __rdtsc() - start;
}

/* No real CPU takes exactly two ticks longer per loop, five times in a row. */
static bool counter_counts_instructions(void)
{
	int i;

	for (i = 0; i < 5; i++)
		if (spin(2 * SPINS) - spin(SPINS) != 2 * SPINS)
			return false;
	return true;
}

static uint64_t counter(void)
{
	return __rdtsc();
}
#else
static bool counter_counts_instructions(void)
{
	return false;
}

static uint64_t counter(void)
{
	return 0;
}
#endif

bool count_is_exact(void)
{
	static int known; /* 1: instructions, -1: nanoseconds */

	if (!known)
		known = counter_counts_instructions() ? 1 : -1;
	return known > 0;
}

uint64_t count_now(void)
{
	return count_is_exact() ? counter() : now_ns();
}

const char *count_unit(void)
{
	return count_is_exact() ? "instructions" : "ns";
}

/* What count_now() itself adds to a difference of two: the least of many. */
static uint64_t own_cost(void)
{
	static uint64_t least;
	int i;

	for (i = 0; !least && i < TRIES; i++)
		count_now();
	for (i = 0; i < TRIES; i++) {
		uint64_t start = count_now();
		uint64_t cost = count_now() - start;

		if (!least || cost < least)
			least = cost;
	}
	return least;
}

/* Returns right behind a tick, when this clock moves. */
static void wait_for_tick(void)
{
	struct timespec before, now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &before);
	do
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	while (now.tv_nsec == before.tv_nsec);
}

uint64_t count_least(void (*run)(void *context), void (*before)(void *context), void *context,
		     int repeats)
{
	uint64_t own = own_cost(), least = UINT64_MAX;
	int i;

	for (i = 0; i < repeats; i++) {
		uint64_t start, cost;

		if (i && least > LONG_RUN && count_is_exact())
			wait_for_tick();
		if (before)
			before(context);
		start = count_now();
		run(context);
		cost = count_now() - start;
		if (cost < least)
			least = cost;
	}
	return least > own ? least - own : 0;
}
