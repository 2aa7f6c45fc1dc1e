/* SPDX-License-Identifier: MIT */
/* For loops that look at the time: the clock, and a pause between two looks. */
#ifndef FLEXSC_SPIN_H
#define FLEXSC_SPIN_H

#include <time.h>

static inline long ns_of(const struct timespec *time)
{
	return time->tv_sec * 1000000000L + time->tv_nsec;
}

static inline struct timespec timespec_of(long ns)
{
	return (struct timespec){ ns / 1000000000L, ns % 1000000000L };
}

static inline long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__riscv)
	__asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010"); /* pause: older assemblers lack it */
#endif
}

#endif /* FLEXSC_SPIN_H */
