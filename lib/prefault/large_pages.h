/* SPDX-License-Identifier: MIT */
/* Which large pages of anonymous memory this system has for those who ask. */
#ifndef LARGE_PAGES_H
#define LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define LARGE_PAGES_SETTINGS "/sys/kernel/mm/transparent_hugepage"

enum large_pages {
	NO_LARGE_PAGES, /* the kernel has none of that size */
	LARGE_PAGES_NEVER,
	LARGE_PAGES_ADVISED, /* for those who ask with MADV_HUGEPAGE */
	LARGE_PAGES_ALWAYS,
};

/** The setting in force for pages of SIZE bytes, a power of two. */
enum large_pages ferry__large_pages_setting(const char *settings, size_t size);

/* No kernel has larger ones for anonymous memory, and none has smaller ones; bytes. */
#define LARGEST_LARGE_PAGE ((size_t)512 << 20)
#define SMALLEST_LARGE_PAGE ((size_t)8 << 10)

/**
 * The size of the largest page that MADV_HUGEPAGE brings, and of which one, aligned as it has to
 * be, fits between START and END; 0 where there is none, or where the kernel uses one that large
 * without advice.  SETTINGS is LARGE_PAGES_SETTINGS, or in tests a directory like it.
 */
size_t ferry__advised_large_page(const char *settings, uintptr_t start, uintptr_t end);

#endif /* LARGE_PAGES_H */
