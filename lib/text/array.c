// SPDX-License-Identifier: MIT
/* Arrays that grow by one element at a time. */
#include <stdlib.h>

#include "array.h"

#define FIRST_ROOM 8 /* a power of two */

/* The room is FIRST_ROOM or the count's power of two, so nobody needs to store it. */
void *array_grow(void *old, size_t count, size_t size)
{
	if (!count)
		return reallocarray(old, FIRST_ROOM, size);
	if (count < FIRST_ROOM || count & (count - 1))
		return old;
	return reallocarray(old, 2 * count, size);
}
