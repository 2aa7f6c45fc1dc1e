/* SPDX-License-Identifier: MIT */
/* The items of an array, which members of a crew take in pieces. */
#ifndef FILES_RANGE_H
#define FILES_RANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "crew.h"

#define MOST_AT_FIRST 1024U

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

/** Runs CREW on RANGE, with a thread for each WORTH items at first. */
static inline void ferry__range_run(struct crew *crew, const struct range *range, size_t worth)
{
	size_t threads = range->count / worth;

	if (range->count <= range->piece)
		ferry__crew_run_alone(crew);
	else if (threads < 2)
		ferry__crew_run(crew, 1);
	else
		ferry__crew_run(crew,
				threads > MOST_AT_FIRST ? MOST_AT_FIRST : (unsigned int)threads);
}

#endif /* FILES_RANGE_H */
