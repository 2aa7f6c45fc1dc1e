/* SPDX-License-Identifier: MIT */
/* For loops that wait awake: the time, and the pause between two looks. */
#ifndef FLEXSC_SPIN_H
#define FLEXSC_SPIN_H

#include <time.h>

static inline long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif /* FLEXSC_SPIN_H */
