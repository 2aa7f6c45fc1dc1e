/* SPDX-License-Identifier: MIT */
/*
 * Memory that cannot run out quietly: every function here ends the program with a message
 * when there is none.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/** COUNT zeroed objects of SIZE bytes, to free(). */
void *allocate(size_t count, size_t size);

/** MEMORY of allocate(), with room for COUNT objects; what is new is not zeroed. */
void *reallocate(void *memory, size_t count, size_t size);

/** As allocate(), for results: they live as long as the process, and nobody frees them. */
void *keep(size_t count, size_t size);

/** ARRAY, which keep_more() made of NULL and which has COUNT objects, with room for another. */
void *keep_more(void *array, size_t count, size_t size);

/** A text that is kept. */
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** WORDS, which have blanks between them, as a list that is kept: "a, b and c" for LAST " and ". */
const char *keep_list(const char *words, const char *last);

/** SIZE zeroed bytes that children share with this process; to unshare_memory(). */
void *share(size_t size);

void unshare_memory(void *memory, size_t size);

#endif /* MEMORY_H */
