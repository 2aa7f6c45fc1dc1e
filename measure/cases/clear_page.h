/* SPDX-License-Identifier: MIT */
/* Clearing a page as the kernel does. */
#ifndef CLEAR_PAGE_H
#define CLEAR_PAGE_H

#include <stddef.h>

/** Clears SIZE bytes by the instruction that this CPU's kernels clear pages with. */
void clear_page(char *page, size_t size);

#endif /* CLEAR_PAGE_H */
