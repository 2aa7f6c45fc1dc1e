/* SPDX-License-Identifier: MIT */
/* Hashes that tell calls, paths and files apart; whoever chooses paths can make two of them alike.
 */
#ifndef TRACE_HASH_H
#define TRACE_HASH_H

#include <stdint.h>

static inline uint64_t hash_number(uint64_t number, uint64_t seed)
{
	uint64_t z = (seed ^ number) + 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/** FNV-1a. */
static inline uint64_t hash_text(const char *text, uint64_t seed)
{
	uint64_t hash = 0xcbf29ce484222325 ^ seed;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

#endif /* TRACE_HASH_H */
