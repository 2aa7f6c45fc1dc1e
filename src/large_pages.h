/* SPDX-License-Identifier: MIT */
/* Which large pages of anonymous memory this system has for those who ask. */
#ifndef LARGE_PAGES_H
#define LARGE_PAGES_H

#include <stdint.h>
#include <stddef.h>

#define LARGE_PAGES "/sys/kernel/mm/transparent_hugepage"

/**
 * The size of the largest page that MADV_HUGEPAGE brings, and of which one, aligned as it has to
 * be, fits between START and END; 0 where there is none, or where the kernel uses one that large
 * without advice.  SETTINGS is LARGE_PAGES, or in tests a directory like it.
 */
size_t advised_large_page(const char *settings, uintptr_t start, uintptr_t end);

#endif /* LARGE_PAGES_H */
