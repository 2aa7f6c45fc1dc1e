/* SPDX-License-Identifier: MIT */
/* The clock of all measurements, CLOCK_MONOTONIC, and what it is worth. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#include <jansson.h>

/** Nanoseconds since some start. */
static inline double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A moment on the clock and on the time-stamp counter, to tell the rate of the latter. */
struct clock_stamp {
	double ns;
	uint64_t ticks;
};

struct clock {
	double resolution_ns; /* the smallest step that was seen; a reading's own cost hides less */
	double overhead_ns;   /* one reading */
	double tsc_hz;	      /* NAN where there is no invariant TSC */
};

struct clock_stamp clock_stamp(void);

/** Measures the clock: takes some milliseconds. */
struct clock clock_measure(void);

/** The ticks of an invariant TSC per second, from START until now; NAN where there is none. */
double tsc_rate(struct clock_stamp start);

/** The clock as ferry-bench(5) has it. */
json_t *clock_as_json(const struct clock *clock);

#endif /* CLOCK_H */
