/* SPDX-License-Identifier: MIT */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/** COUNT zeroed objects of SIZE bytes, to free(); the program ends with a message without. */
void *allocate(size_t count, size_t size);

#endif /* MEMORY_H */
