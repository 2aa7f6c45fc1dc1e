/* SPDX-License-Identifier: MIT */
/* Reading some files of an array, by plain calls or in two crossings. */
#ifndef FILES_READ_PIECE_H
#define FILES_READ_PIECE_H

#include <errno.h>

#include "place.h"
#include "range.h"
#include "read_batch.h"

/* What is the same for all files of a call. */
struct read_job {
	int dir;
	const char *const *names;
	unsigned int flags; /* FERRY_READ_* */
	struct ferry_file *files;
	struct shared_arena *arena; /* NULL: each file has a buffer */
	enum ferry_engine engine;   /* FERRY_LOOP: none runs a batch in one crossing */
	bool opens_first;	    /* each file, to look at its type then */
};

/** Chooses how COUNT files are read best. */
void ferry__read_job_choose(struct read_job *job, size_t count,
			    const struct ferry_files_options *options);

/** Reads the files of PIECE, at most READ_BATCH_MOST.  Returns how many failed. */
size_t ferry__read_piece(struct member *member, const struct read_job *job, struct piece piece);

/** Whether a file was not read because others were open.  One thread may do with fewer. */
static inline bool ferry__lacked_descriptor(const struct ferry_file *file)
{
	return file->error == -EMFILE || file->error == -ENFILE;
}

#endif /* FILES_READ_PIECE_H */
