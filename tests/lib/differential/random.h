/* SPDX-License-Identifier: MIT */
/* A small random generator: splitmix64, one word of state, the same everywhere. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_word(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A seed that nobody chose, short enough to be typed. */
static inline uint64_t any_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	return seed;
}

/* The generator of program INDEX of SEED. */
static inline struct random random_for(uint64_t seed, uint64_t index)
{
	struct random random = { seed };

	random.state = random_word(&random) + index;
	random.state = random_word(&random);
	return random;
}

/* 0 .. LIMIT - 1. */
static inline unsigned long random_below(struct random *random, unsigned long limit)
{
	return random_word(random) % limit;
}

static inline bool random_percent(struct random *random, unsigned int percent)
{
	return random_below(random, 100) < percent;
}

#endif /* RANDOM_H */
