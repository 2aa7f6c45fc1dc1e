/* SPDX-License-Identifier: MIT */
/*
 * A small random generator: splitmix64, the same everywhere.  Changes of a generator's words make
 * a similar sequence: what is made of it begins like the original, or differs in one word.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* Of a generator, from word AT on. */
struct change {
	uint64_t at;
	uint64_t value; /* the state from there on; or that word alone */
	bool is_word;
};

struct random {
	uint64_t state;
	uint64_t drawn;			 /* words until now */
	const struct change *next, *end; /* those to come, by AT */
};

static inline uint64_t random_word(struct random *random)
{
	const struct change *change = NULL;
	uint64_t z;

	if (random->next < random->end && random->next->at == random->drawn)
		change = random->next++;
	random->drawn++;
	if (change && !change->is_word)
		random->state = change->value;
	z = random->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return change && change->is_word ? change->value : z ^ z >> 31;
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
	struct random random = { .state = seed };

	random.state = random_word(&random) + index;
	random.state = random_word(&random);
	random.drawn = 0;
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
