/* SPDX-License-Identifier: MIT */
/* A job on the items of an array, which the members of a crew take in pieces. */
#ifndef FILES_RANGE_H
#define FILES_RANGE_H

#include <stdatomic.h>
#include <stddef.h>

#include "crew.h"

struct piece {
	size_t first, end;
};

/* The first member of a job's own structure, which do_piece() finds from the crew. */
struct range {
	struct crew crew;
	size_t (*do_piece)(struct member *member, struct piece piece); /* returns how many failed */
	size_t count;						       /* items */
	size_t piece;						       /* the most items at once */
	atomic_size_t next;					       /* may pass the end */
	atomic_size_t failed;
};

/** Items are done in pieces of up to PIECE.  OPTIONS may be NULL. */
void ferry__range_init(struct range *range, size_t count, size_t piece,
		       size_t (*do_piece)(struct member *member, struct piece piece),
		       const struct ferry_files_options *options);

/**
 * Does the job, with a thread for each WORTH items at first.  Returns how many items failed, or
 * -ECANCELED: those from range->next on were not reached.
 */
long ferry__range_run(struct range *range, size_t worth);

#endif /* FILES_RANGE_H */
