/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one element at a time. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <string.h>

/*
 * Room for one more than COUNT elements of SIZE bytes: OLD itself, or OLD moved,
 * or NULL when out of memory, with OLD as it was.
 */
void *array_grow(void *old, size_t count, size_t size);

/* A new zeroed element at the end of ARRAY, or NULL when out of memory. */
#define array_add(array, count)                                                   \
	({                                                                        \
		void *grown_ = array_grow(array, count, sizeof(*(array)));        \
		if (grown_)                                                       \
			(array) = grown_;                                         \
		grown_ ? memset(&(array)[(count)++], 0, sizeof(*(array))) : NULL; \
	})

#endif /* ARRAY_H */
