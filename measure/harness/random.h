/* SPDX-License-Identifier: MIT */
/* Random numbers for resampling: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state; /* at first the seed */
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/** 0 to COUNT - 1, for counts far below 2^32: the bias is COUNT / 2^32. */
static inline size_t random_below(struct random *random, size_t count)
{
	return (size_t)((random_next(random) >> 32) * count >> 32);
}

#endif /* RANDOM_H */
