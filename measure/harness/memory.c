// SPDX-License-Identifier: MIT
#include "memory.h"

#include <err.h>
#include <stdlib.h>

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		errx(2, "out of memory");
	return memory;
}
