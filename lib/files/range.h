/* SPDX-License-Identifier: MIT */
/* The items of an array, which members of a crew take in pieces. */
#ifndef FILES_RANGE_H
#define FILES_RANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct range {
	atomic_size_t next; /* may pass the end */
	size_t count;
	size_t piece; /* the most items at once */
};

struct piece {
	size_t first, end;
};

/** Takes the next items, if any are left. */
static inline bool ferry__range_take(struct range *range, struct piece *piece)
{
	piece->first = atomic_fetch_add_explicit(&range->next, range->piece, memory_order_relaxed);
	if (piece->first >= range->count)
		return false;
	piece->end = range->count - piece->first < range->piece ? range->count :
								  piece->first + range->piece;
	return true;
}

/** Threads that are of use if each is to have WORTH items. */
static inline unsigned int ferry__range_threads(const struct range *range, size_t worth)
{
	size_t threads = range->count / worth;

	return threads < 1 ? 1 : threads > 1024 ? 1024 : (unsigned int)threads;
}

#endif /* FILES_RANGE_H */
