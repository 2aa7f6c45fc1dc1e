/* SPDX-License-Identifier: MIT */
/* statx() for several names in one crossing, on the engines that can do that. */
#ifndef FILES_STATX_BATCH_H
#define FILES_STATX_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/engine/engine.h"
#include "range.h"
#include "statx.h"

#define STATX_BATCH_WORTH 4 /* fewer are as fast one by one */

/* The arguments of ferry_statx_many(). */
struct statx_batch {
	int dir;
	const char *const *names;
	int flags;
	unsigned int mask;
	struct statx *stats;
	int *errors;
	enum ferry_engine engine; /* FERRY_LOOP: none runs a batch in one crossing */
};

/**
 * Stores the attributes and errors of the names of PIECE, and in FAILED how many are errors.
 * Returns false if that has to be done one by one.
 */
bool ferry__statx_batch(const struct statx_batch *batch, struct piece piece, size_t *failed);

#endif /* FILES_STATX_BATCH_H */
