// SPDX-License-Identifier: MIT
#include "memory.h"

#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>

#define EXIT_NO_MEMORY 2

/* What is kept stays reachable, so that leak checkers do not take it for lost. */
static struct block {
	struct block *next;
	max_align_t memory[];
} * kept;

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		errx(EXIT_NO_MEMORY, "out of memory");
	return memory;
}

void *reallocate(void *memory, size_t count, size_t size)
{
	void *more = reallocarray(memory, count ? count : 1, size);

	if (!more)
		errx(EXIT_NO_MEMORY, "out of memory");
	return more;
}

void *keep(size_t count, size_t size)
{
	struct block *block = allocate(1, sizeof(*block) + count * size);

	block->next = kept;
	kept = block;
	return block->memory;
}

/* The room doubles at the powers of two. */
void *keep_more(void *array, size_t count, size_t size)
{
	void *larger;

	if (count & (count - 1))
		return array;
	larger = keep(count ? 2 * count : 1, size);
	if (count)
		memcpy(larger, array, count * size);
	return larger;
}

char *keep_text(const char *format, ...)
{
	char *text, *copy;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		errx(EXIT_NO_MEMORY, "out of memory");
	copy = keep((size_t)length + 1, 1);
	memcpy(copy, text, (size_t)length);
	free(text);
	return copy;
}

const char *keep_list(const char *words, const char *last)
{
	const char *list = "";
	size_t length;

	for (; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		list = keep_text("%s%s%.*s", list,
				 !*list	       ? "" :
				 words[length] ? ", " :
						 last,
				 (int)length, words);
	}
	return list;
}

void *share(size_t size)
{
	void *memory = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(EXIT_NO_MEMORY, "no shared memory");
	return memory;
}

void unshare_memory(void *memory, size_t size)
{
	munmap(memory, size ? size : 1);
}
