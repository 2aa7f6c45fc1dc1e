// SPDX-License-Identifier: MIT
/* Running out of memory at every single allocation. */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "support.h"

static long until_failure; /* allocations that still succeed; negative: all do */

static bool fails(void)
{
	return until_failure >= 0 && until_failure-- == 0;
}

/* The linker sends the library's allocations here. */
#define WRAP(type, name, parameters, arguments) \
	type __real_##name parameters;          \
	type __wrap_##name parameters;          \
	type __wrap_##name parameters           \
	{                                       \
		if (fails())                    \
			return NULL;            \
		return __real_##name arguments; \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))

void *__real_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fails())
		return MAP_FAILED;
	return __real_mmap(where, size, protection, flags, fd, offset);
}

static int assemble_and_load(const char *text)
{
	struct text_errors errors;
	struct loaded loaded = { 0 };
	struct image *image = NULL;
	int result = image_assemble(text, strlen(text), &image, &errors);

	result = result ? result : image_load(image, &loaded);
	image_unload(&loaded);
	image_free(image);
	return result;
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
	char *text = read_source(PROGRAMS, "constructs.ferry");
	long allowed = 0;
	int result;

	do {
		until_failure = allowed++;
		result = assemble_and_load(text);
		/* Until the failure is past the last allocation. */
		if (until_failure < 0)
			assert_int_equal(result, -ENOMEM);
	} while (until_failure < 0);
	assert_int_equal(result, 0);
	assert_true(allowed > 30);
	until_failure = -1;
	free(text);
}

int main(void)
{
	until_failure = -1;
	return run_unit_tests("tests");
}
