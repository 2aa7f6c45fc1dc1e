// SPDX-License-Identifier: MIT
/* ferry_read_files(): pieces of the array by plain calls, or in two crossings each. */
#include <errno.h>
#include <fcntl.h>

#include <ferry_files.h>

#include "calls.h"
#include "contents.h"
#include "range.h"
#include "read_batch.h"
#include "statx_batch.h"

/* Waking a helper costs about as much as reading a few small files. */
#define WORTH_A_THREAD 16

struct job {
	int dir;
	const char *const *name;
	unsigned int flags;
	struct ferry_file *files;
	struct shared_arena arena, *arena_or_null;
	enum ferry_engine engine; /* FERRY_LOOP: none runs a batch in one crossing */
	bool opens_first;	  /* each file, to look at its type then */
};

/* A job for a crew. */
struct large_job {
	struct range names;
	struct job *job;
};

/* The attributes of a piece's files, and in files[].error why one cannot be read. */
static void look(struct member *member, struct job *job, struct piece piece,
		 struct statx stats[READ_BATCH_MOST])
{
	int errors[READ_BATCH_MOST] = { 0 };
	const struct statx_batch request = {
		job->dir, job->name + piece.first, 0, CONTENTS_MASK, stats, errors, job->engine,
	};
	size_t count = piece.end - piece.first, failed, i;
	bool in_batch = ferry__statx_batch(&request, (struct piece){ 0, count }, &failed);

	for (i = 0; i < count; i++) {
		if (!in_batch)
			errors[i] =
				(int)ferry__call_statx(member, job->dir, job->name[piece.first + i],
						       0, CONTENTS_MASK, &stats[i]);
		if (!errors[i])
			errors[i] = ferry__contents_allowed(&stats[i], job->flags);
		job->files[piece.first + i].length = 0;
		job->files[piece.first + i].error = errors[i];
	}
}

static void read_in_batch(struct job *job, struct read_request requests[], size_t count)
{
	if (job->engine != FERRY_LOOP && count >= READ_BATCH_WORTH)
		ferry__read_batch(job->engine, job->dir, requests, count, job->arena_or_null);
}

static void look_and_read(struct member *member, struct job *job, struct piece piece)
{
	struct statx stats[READ_BATCH_MOST];
	struct read_request requests[READ_BATCH_MOST], *request;
	size_t count = 0, i;

	look(member, job, piece, stats);
	for (i = piece.first; i < piece.end; i++)
		if (!job->files[i].error)
			requests[count++] = (struct read_request){
				job->name[i],
				&stats[i - piece.first],
				&job->files[i],
				false,
			};
	read_in_batch(job, requests, count);
	for (request = requests; request < requests + count; request++)
		if (!request->done)
			ferry__contents_read(member, job->dir, request->name, request->stat,
					     request->file, job->arena_or_null);
}

static void open_and_read(struct member *member, struct job *job, size_t i)
{
	if (job->flags & FERRY_READ_OPEN_FIRST)
		ferry__contents_open_first(member, job->dir, job->name[i], job->flags,
					   &job->files[i], job->arena_or_null);
	else if (!ferry__contents_open_regular(member, job->dir, job->name[i], &job->files[i],
					       job->arena_or_null))
		look_and_read(member, job, (struct piece){ i, i + 1 });
}

static size_t read_piece(struct member *member, struct job *job, struct piece piece)
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

static void cancel(struct ferry_file files[], struct piece piece)
{
	size_t i;

	for (i = piece.first; i < piece.end; i++) {
		files[i].length = 0;
		files[i].error = -ECANCELED;
	}
}

static size_t do_piece(struct member *member, struct piece piece)
{
	return read_piece(member, ((struct large_job *)member->crew)->job, piece);
}

static bool lacked_descriptor(const struct ferry_file *file)
{
	return file->error == -EMFILE || file->error == -ENFILE;
}

/* One thread may do with fewer descriptors than several. */
static void read_again(struct member *member)
{
	struct large_job *large = (struct large_job *)member->crew;
	struct job *job = large->job;
	size_t i;

	for (i = 0; i < large->names.count && !ferry__crew_stopped(member); i++)
		if (lacked_descriptor(&job->files[i]))
			large->names.failed -= !read_piece(member, job, (struct piece){ i, i + 1 });
	ferry__calls_end(member);
}

static long read_by_crew(struct job *job, size_t count, const struct ferry_files_options *options)
{
	struct large_job large = { .job = job };
	long failed;

	ferry__range_init(&large.names, count, READ_BATCH_MOST, do_piece, options);
	failed = ferry__range_run(&large.names, WORTH_A_THREAD);
	if (failed == -ECANCELED)
		cancel(job->files, (struct piece){ large.names.next, count });
	if (failed <= 0)
		return failed;
	large.names.crew.work = read_again;
	ferry__crew_run_alone(&large.names.crew);
	return atomic_load(&large.names.crew.stopped) ? -ECANCELED : (long)large.names.failed;
}

static bool is_usable(const struct ferry_arena *arena)
{
	return !arena || (arena->used <= arena->size && (arena->memory || !arena->size));
}

long ferry_read_files(int dir, const char *const names[], size_t count, unsigned int flags,
		      struct ferry_file files[], struct ferry_arena *arena,
		      const struct ferry_files_options *options)
{
	struct job job = {
		.dir = dir,
		.name = names,
		.flags = flags,
		.files = files,
		.engine = FERRY_LOOP,
	};
	int saved = errno;
	long failed;

	if (flags & ~(FERRY_READ_DEVICES | FERRY_READ_OPEN_FIRST) || !is_usable(arena))
		return -EINVAL;
	if (!count)
		return 0;
	if (!names || !files)
		return -EINVAL;
	if (arena) {
		job.arena = (struct shared_arena){ arena->memory, arena->size, arena->used };
		job.arena_or_null = &job.arena;
	}
	if (count >= READ_BATCH_WORTH && !(options && options->timeout_ms))
		job.engine = ferry__engine_of_one_crossing();
	/* Where it takes one crossing, asking for a whole piece at once costs little. */
	job.opens_first = job.engine == FERRY_LOOP &&
			  (flags & FERRY_READ_OPEN_FIRST || ferry__contents_can_open_regular());
	/* Setting up a crew takes a good part of the time that one file takes. */
	if (!options && count <= READ_BATCH_MOST)
		failed = (long)read_piece(NULL, &job, (struct piece){ 0, count });
	else
		failed = read_by_crew(&job, count, options);
	if (arena)
		arena->used = job.arena.used;
	errno = saved;
	return failed;
}
