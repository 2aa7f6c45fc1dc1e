/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one element at a time. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_FIRST_ROOM 8 /* a power of two */

/*
 * Room for one more than COUNT elements of SIZE bytes: OLD itself, or OLD moved,
 * or NULL when out of memory, with OLD unchanged.  The room is always the next power
 * of two, so nothing has to store it.
 */
static inline void *array_grow(void *old, size_t count, size_t size)
{
	if (!count)
		return reallocarray(old, ARRAY_FIRST_ROOM, size);
	if (count < ARRAY_FIRST_ROOM || count & (count - 1))
		return old;
	return reallocarray(old, 2 * count, size);
}

/* A new zeroed element at the end of ARRAY, or NULL when out of memory. */
#define array_add(array, count)                                                   \
	({                                                                        \
		void *grown_ = array_grow(array, count, sizeof(*(array)));        \
		if (grown_)                                                       \
			(array) = grown_;                                         \
		grown_ ? memset(&(array)[(count)++], 0, sizeof(*(array))) : NULL; \
	})

#endif /* ARRAY_H */
