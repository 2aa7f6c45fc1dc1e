// SPDX-License-Identifier: MIT
#include "clock.h"

#include <math.h>
#include <sys/syscall.h>

#include <ferry/rawcall.h>

#include "common/file.h"

#define READINGS 10000
#define IN_A_ROW 20 /* readings that are timed at once */
#define STAYS_OUT \
	0.6 /* of the time of a system call: a reading that enters the kernel takes all of it */
#define SPINS 1000	/* loops, to find out what the counter counts */
#define TRIES 100	/* to find the least cost of a reading */
#define LONG_RUN 500000 /* instructions; longer runs would often meet the kernel's tick */

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

/* Ticks that so many loops of two instructions take. */
static __attribute__((noinline)) uint64_t spin(unsigned long spins)
{
	uint64_t start = read_ticks();

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(spins) : : "cc");
	return read_ticks() - start;
}

/* No real CPU takes exactly two ticks longer per loop, five times in a row. */
static bool ticks_are_instructions(void)
{
	int i;

	for (i = 0; i < 5; i++)
		if (spin(2 * SPINS) - spin(SPINS) != 2 * SPINS)
			return false;
	return true;
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

static bool ticks_are_instructions(void)
{
	return false;
}

#endif

bool clock_counts_instructions(void)
{
	static int known; /* 1: instructions, -1: nanoseconds */

	if (!known)
		known = ticks_are_instructions() ? 1 : -1;
	return known > 0;
}

const char *clock_unit(void)
{
	return clock_counts_instructions() ? "instructions" : "ns";
}

double clock_now(void)
{
	return clock_counts_instructions() ? (double)read_ticks() : now_ns();
}

double clock_cost(void)
{
	static double least = INFINITY;
	int i;

	if (isfinite(least))
		return least;
	for (i = 0; i < TRIES; i++)
		clock_now();
	for (i = 0; i < TRIES; i++) {
		double start = clock_now();

		least = fmin(least, clock_now() - start);
	}
	return least;
}

/* CLOCK_MONOTONIC_COARSE moves with the tick. */
void clock_align(void)
{
	double before = clock_ns(CLOCK_MONOTONIC_COARSE);

	while (clock_counts_instructions() && clock_ns(CLOCK_MONOTONIC_COARSE) == before)
		;
}

double clock_least(void (*run)(void *context), void (*before)(void *context), void *context,
		   int repeats)
{
	double own = clock_cost(), least = INFINITY;
	int i;

	for (i = 0; i < repeats; i++) {
		double start;

		if (i && least > LONG_RUN)
			clock_align();
		if (before)
			before(context);
		start = clock_now();
		run(context);
		least = fmin(least, clock_now() - start);
	}
	return fmax(0, least - own);
}

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

static void read_in_row(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < IN_A_ROW; i++)
		now_ns();
}

static void enter_in_row(void *unused)
{
	struct timespec now;
	int i;

	(void)unused;
	for (i = 0; i < IN_A_ROW; i++)
		ferry_rawcall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
}

static double cost_of(void (*readings)(void *unused))
{
	return clock_least(readings, NULL, NULL, READINGS / IN_A_ROW) / IN_A_ROW;
}

static double smallest_step(void)
{
	double before = now_ns(), step = INFINITY;
	int i;

	for (i = 0; i < READINGS; i++) {
		double now = now_ns();

		if (now > before)
			step = fmin(step, now - before);
		before = now;
	}
	return step;
}

struct clock clock_measure(void)
{
	struct clock clock = {
		.name = "CLOCK_MONOTONIC",
		.source = first_line(
			"/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		.resolution_ns = smallest_step(),
		.overhead_ns = cost_of(read_in_row),
		.tsc_hz = NAN,
	};

	clock.vdso = clock.overhead_ns < STAYS_OUT * cost_of(enter_in_row);
	return clock;
}
