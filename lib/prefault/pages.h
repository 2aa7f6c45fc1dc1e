/* SPDX-License-Identifier: MIT */
/* A range of whole pages, and how it is mapped. */
#ifndef PREFAULT_PAGES_H
#define PREFAULT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pages {
	uintptr_t start, end;
	size_t page; /* bytes */
	bool write;
};

static inline size_t ferry__pages_size(const struct pages *pages)
{
	return pages->end - pages->start;
}

/** Whether the kernel has MADV_POPULATE_READ or MADV_POPULATE_WRITE, as PAGES needs it. */
bool ferry__can_populate(const struct pages *pages);

/** Maps PAGES by that advice: 0 or -errno. */
int ferry__populate(const struct pages *pages);

#endif /* PREFAULT_PAGES_H */
