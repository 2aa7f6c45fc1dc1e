/* SPDX-License-Identifier: MIT */
#ifndef MEASURE_MONOTONIC_H
#define MEASURE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/** The time in ns: instructions in a guest that counts them. */
static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif /* MEASURE_MONOTONIC_H */
