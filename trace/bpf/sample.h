/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which calls are in the sample that sequences are looked for in: the kernel decides as we do. */
#ifndef TRACE_SAMPLE_H
#define TRACE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_CALLS 256

/**
 * Whether window ID is kept when a half of all was taken HALVINGS times: by the finalizer of
 * SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), so that the same calls give the same sample.
 */
static inline bool is_in_sample(uint64_t id, unsigned int halvings)
{
	uint64_t z = id + 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return !(z & ((UINT64_C(1) << halvings) - 1));
}

#endif /* TRACE_SAMPLE_H */
