// SPDX-License-Identifier: MIT
/* ferry_read_files(): pieces of the array by plain calls, or in two crossings each. */
#include <errno.h>

#include <ferry_files.h>

#include "calls.h"
#include "contents.h"
#include "range.h"
#include "read_piece.h"

/* Waking a helper costs about as much as reading a few small files. */
#define WORTH_A_THREAD 16

/* A job for a crew. */
struct large_job {
	struct range names;
	const struct read_job *job;
};

static void cancel(struct ferry_file files[], struct piece piece)
{
	size_t i;

	for (i = piece.first; i < piece.end; i++)
		ferry__contents_none(&files[i], -ECANCELED);
}

static size_t do_piece(struct member *member, struct piece piece)
{
	return ferry__read_piece(member, ((struct large_job *)member->crew)->job, piece);
}

static void read_again(struct member *member)
{
	struct large_job *large = (struct large_job *)member->crew;
	const struct read_job *job = large->job;
	size_t i;

	for (i = 0; i < large->names.count && !ferry__crew_stopped(member); i++)
		if (ferry__lacked_descriptor(&job->files[i]))
			large->names.failed -=
				!ferry__read_piece(member, job, (struct piece){ i, i + 1 });
	ferry__calls_end(member);
}

static long read_by_crew(const struct read_job *job, size_t count,
			 const struct ferry_files_options *options)
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
	const unsigned int all =
		FERRY_READ_DEVICES | FERRY_READ_OPEN_FIRST | FERRY_READ_NOFOLLOW | FERRY_READ_PART;
	struct shared_arena shared;
	struct read_job job = {
		.dir = dir,
		.names = names,
		.flags = flags,
		.files = files,
	};
	int saved = errno;
	long failed;

	if (flags & ~all || !is_usable(arena))
		return -EINVAL;
	if (!count)
		return 0;
	if (!names || !files)
		return -EINVAL;
	if (arena) {
		shared = (struct shared_arena){ arena->memory, arena->size, arena->used };
		job.arena = &shared;
	}
	ferry__read_job_choose(&job, count, options);
	/* Setting up a crew takes a good part of the time that one file takes. */
	if (!options && count <= READ_BATCH_MOST)
		failed = (long)ferry__read_piece(NULL, &job, (struct piece){ 0, count });
	else
		failed = read_by_crew(&job, count, options);
	if (arena)
		arena->used = shared.used;
	errno = saved;
	return failed;
}
