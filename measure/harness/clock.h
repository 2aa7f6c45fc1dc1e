/* SPDX-License-Identifier: MIT */
/*
 * The clock of all measurements, and its accuracy.  It counts nanoseconds of CLOCK_MONOTONIC,
 * or instructions under an emulator whose time-stamp counter counts them (QEMU with -icount
 * shift=0).  The first use detects which.
 *
 * Cases take the time with clock_now() and print clock_unit(); now_ns() is for how long the
 * measuring itself takes.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** What a clock of clock_gettime(2) shows, ns. */
static inline double clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/** Nanoseconds since some start. */
static inline double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/** Whether the clock counts instructions, which is exact. */
bool clock_counts_instructions(void);

/** "instructions" or "ns". */
const char *clock_unit(void);

/** The clock, in its unit, since some start. */
double clock_now(void);

/** What clock_now() itself adds to a difference of two. */
double clock_cost(void);

/**
 * Where the clock counts instructions, returns just after a tick of the kernel, so that what
 * follows meets the same number of ticks each time.
 */
void clock_align(void);

/**
 * The least that RUN(CONTEXT) took in REPEATS tries, since whatever disturbs one only adds to it.
 * The clock's own cost is taken off.  BEFORE, when not NULL, is called before each try and not
 * counted.
 */
double clock_least(void (*run)(void *context), void (*before)(void *context), void *context,
		   int repeats);

/* A moment on the clock and on the time-stamp counter, to find the rate of the latter. */
struct clock_stamp {
	double ns;
	uint64_t ticks;
};

struct clock {
	const char *missing; /* NULL: it is a record */
	const char *name, *source;
	double resolution_ns; /* the smallest step seen; the cost of a reading hides smaller ones */
	double overhead_ns;   /* one reading, the least of many */
	bool vdso;	      /* a reading does not enter the kernel */
	double tsc_hz;	      /* NAN where there is no invariant TSC */
};

struct clock_stamp clock_stamp(void);

/** Measures the clock: takes some milliseconds. */
struct clock clock_measure(void);

/** The ticks of an invariant TSC per second, from START until now; NAN where there is none. */
double tsc_rate(struct clock_stamp start);

#endif /* CLOCK_H */
