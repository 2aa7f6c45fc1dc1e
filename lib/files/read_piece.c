// SPDX-License-Identifier: MIT
#include "read_piece.h"

#include <errno.h>

#include "calls.h"
#include "contents.h"
#include "read_batch.h"
#include "statx_batch.h"

/* The attributes of a piece's files, and in files[].error why one cannot be read. */
static void look(struct member *member, const struct read_job *job, struct piece piece,
		 struct statx stats[READ_BATCH_MOST])
{
	int errors[READ_BATCH_MOST] = { 0 };
	const struct statx_batch request = {
		job->dir,
		job->names + piece.first,
		ferry__contents_look_flags(job->flags),
		CONTENTS_MASK,
		stats,
		errors,
		job->engine,
	};
	size_t count = piece.end - piece.first, failed, i;
	bool in_batch = ferry__statx_batch(&request, (struct piece){ 0, count }, &failed);

	for (i = 0; i < count; i++) {
		if (!in_batch)
			errors[i] = (int)ferry__call_statx(member, job->dir,
							   job->names[piece.first + i],
							   request.flags, CONTENTS_MASK, &stats[i]);
		if (!errors[i])
			errors[i] = ferry__contents_allowed(&stats[i], job->flags);
		ferry__contents_none(&job->files[piece.first + i], errors[i]);
	}
}

static void read_in_batch(const struct read_job *job, struct read_request requests[], size_t count)
{
	if (job->engine != FERRY_LOOP && count >= READ_BATCH_WORTH)
		ferry__read_batch(job->engine, job->dir, job->flags, requests, count, job->arena);
}

static void look_and_read(struct member *member, const struct read_job *job, struct piece piece)
{
	struct statx stats[READ_BATCH_MOST];
	struct read_request requests[READ_BATCH_MOST], *request;
	size_t count = 0, i;

	look(member, job, piece, stats);
	for (i = piece.first; i < piece.end; i++)
		if (!job->files[i].error)
			requests[count++] = (struct read_request){
				job->names[i],
				&stats[i - piece.first],
				&job->files[i],
				false,
			};
	read_in_batch(job, requests, count);
	for (request = requests; request < requests + count; request++)
		if (!request->done)
			ferry__contents_read(member, job->dir, request->name, job->flags,
					     request->stat, request->file, job->arena);
}

static void open_and_read(struct member *member, const struct read_job *job, size_t i)
{
	if (job->flags & FERRY_READ_OPEN_FIRST)
		ferry__contents_open_first(member, job->dir, job->names[i], job->flags,
					   &job->files[i], job->arena);
	else if (!ferry__contents_open_regular(member, job->dir, job->names[i], job->flags,
					       &job->files[i], job->arena))
		look_and_read(member, job, (struct piece){ i, i + 1 });
}

void ferry__read_job_choose(struct read_job *job, size_t count,
			    const struct ferry_files_options *options)
{
	job->engine = FERRY_LOOP;
	if (count >= READ_BATCH_WORTH && !(options && options->timeout_ms))
		job->engine = ferry__engine_of_one_crossing();
	/* Where it takes one crossing, asking for a whole piece at once costs little. */
	job->opens_first = job->engine == FERRY_LOOP && (job->flags & FERRY_READ_OPEN_FIRST ||
							 ferry__contents_can_open_regular());
}

size_t ferry__read_piece(struct member *member, const struct read_job *job, struct piece piece)
{
	size_t failed = 0, i;

	if (job->opens_first)
		for (i = piece.first; i < piece.end; i++)
			open_and_read(member, job, i);
	else
		look_and_read(member, job, piece);
	for (i = piece.first; i < piece.end; i++)
		failed += job->files[i].error != 0;
	return failed;
}
