/* SPDX-License-Identifier: MIT */
/* Which large pages this system gives to anonymous memory on advice. */
#ifndef LARGE_PAGES_H
#define LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define LARGE_PAGES_SETTINGS "/sys/kernel/mm/transparent_hugepage"

enum large_pages {
	NO_LARGE_PAGES, /* the kernel has none of that size */
	LARGE_PAGES_NEVER,
	LARGE_PAGES_ADVISED, /* with MADV_HUGEPAGE only */
	LARGE_PAGES_ALWAYS,
};

/** The setting in force for pages of SIZE bytes, a power of two. */
enum large_pages ferry__large_pages_setting(const char *settings, size_t size);

/* The largest and smallest sizes that any kernel has for anonymous memory, in bytes. */
#define LARGEST_LARGE_PAGE ((size_t)512 << 20)
#define SMALLEST_LARGE_PAGE ((size_t)8 << 10)

/**
 * The size of the largest page that MADV_HUGEPAGE enables and that fits, aligned, between START
 * and END.  0 if there is none, or if the kernel uses pages that large without advice.  SETTINGS
 * is LARGE_PAGES_SETTINGS; tests pass a directory of their own.
 */
size_t ferry__advised_large_page(const char *settings, uintptr_t start, uintptr_t end);

#endif /* LARGE_PAGES_H */
