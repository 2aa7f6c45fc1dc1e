/* SPDX-License-Identifier: MIT */
/* How much memory `ferry bench pagefault` may touch, and the origin of the limit. */
#ifndef PAGEFAULT_MEMORY_H
#define PAGEFAULT_MEMORY_H

#include <stddef.h>

struct memory_room {
	size_t bytes;
	const char *limit; /* a constant that names the limit */
};

/**
 * The memory that this process can have now: the least of what is free, what the memory
 * cgroups have left, and the limits of the process.
 */
struct memory_room memory_room(void);

#endif /* PAGEFAULT_MEMORY_H */
