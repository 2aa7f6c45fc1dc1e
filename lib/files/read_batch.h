/* SPDX-License-Identifier: MIT */
/* Opening, reading and closing several files in one crossing. */
#ifndef FILES_READ_BATCH_H
#define FILES_READ_BATCH_H

#include "lib/engine/engine.h"
#include "place.h"
#include "statx.h"

#define READ_BATCH_MOST 16 /* files in one batch */
#define READ_BATCH_WORTH 2

/* A regular file that may be read. */
struct read_request {
	const char *name;
	const struct statx *stat;
	struct ferry_file *file;
	bool done; /* set by ferry__read_batch() */
};

/**
 * Reads the COUNT files, at most READ_BATCH_MOST, on ENGINE.  Files whose contents do not match
 * their STAT are not done: they must be read one by one.
 */
void ferry__read_batch(enum ferry_engine engine, int dir, unsigned int flags,
		       struct read_request requests[], size_t count, struct shared_arena *arena);

#endif /* FILES_READ_BATCH_H */
