// SPDX-License-Identifier: MIT
#include "clock.h"

#include <math.h>
#include <stdbool.h>

#include "machine.h"
#include "json.h"

#define READINGS 10000

#if defined(__x86_64__)

#include <cpuid.h>

/* Bit 8 of EDX in leaf 0x80000007: it ticks at one rate, whatever the core does. */
static bool has_invariant_tsc(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx >> 8 & 1;
}

static uint64_t read_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#else

static bool has_invariant_tsc(void)
{
	return false;
}

static uint64_t read_ticks(void)
{
	return 0;
}

#endif

struct clock_stamp clock_stamp(void)
{
	return (struct clock_stamp){ now_ns(), read_ticks() };
}

double tsc_rate(struct clock_stamp start)
{
	struct clock_stamp end = clock_stamp();

	if (!has_invariant_tsc())
		return NAN;
	return (double)(end.ticks - start.ticks) / (end.ns - start.ns) * 1e9;
}

struct clock clock_measure(void)
{
	struct clock clock = { .resolution_ns = INFINITY, .tsc_hz = NAN };
	double start = now_ns(), before = start, now = start;
	int i;

	for (i = 0; i < READINGS; i++) {
		now = now_ns();
		if (now > before)
			clock.resolution_ns = fmin(clock.resolution_ns, now - before);
		before = now;
	}
	clock.overhead_ns = (now - start) / READINGS;
	return clock;
}

json_t *clock_as_json(const struct clock *clock)
{
	char source[64];

	read_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
			sizeof(source));
	return json_pack("{s:s, s:s?, s:o, s:o, s:o}", "name", "CLOCK_MONOTONIC", "source",
			 source[0] ? source : NULL, "resolution_ns",
			 json_number(clock->resolution_ns), "overhead_ns",
			 json_number(clock->overhead_ns), "tsc_hz", json_number(clock->tsc_hz));
}
