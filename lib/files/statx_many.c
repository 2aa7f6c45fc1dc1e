// SPDX-License-Identifier: MIT
/* ferry_statx_many(): pieces of the array by plain calls, or each in one crossing. */
#include <errno.h>
#include <string.h>

#include <ferry_files.h>

#include "calls.h"
#include "range.h"
#include "statx_batch.h"

/* Waking a helper costs about as much as 100 calls. */
#define WORTH_A_THREAD 128

struct job {
	struct crew crew;
	struct range names;
	struct statx_batch request;
	atomic_size_t failed;
};

static size_t count_failed(const int errors[], struct piece piece)
{
	size_t failed = 0, i;

	for (i = piece.first; i < piece.end; i++)
		failed += errors[i] != 0;
	return failed;
}

static void one_by_one(struct member *member, const struct statx_batch *request, struct piece piece)
{
	struct statx unwanted;
	size_t i;

	for (i = piece.first; i < piece.end; i++)
		request->errors[i] = (int)ferry__call_statx(
			member, request->dir, request->names[i], request->flags, request->mask,
			request->stats ? &request->stats[i] : &unwanted);
}

static void work(struct member *member)
{
	struct job *job = (struct job *)member->crew;
	struct piece piece;

	while (!ferry__crew_stopped(member) && ferry__range_take(&job->names, &piece)) {
		if (!ferry__statx_batch(&job->request, piece))
			one_by_one(member, &job->request, piece);
		atomic_fetch_add_explicit(&job->failed, count_failed(job->request.errors, piece),
					  memory_order_relaxed);
		ferry__crew_did(member, piece.end - piece.first);
	}
	ferry__calls_end(member);
}

static long finish(struct job *job)
{
	size_t i;

	if (!atomic_load(&job->crew.stopped))
		return (long)job->failed;
	for (i = job->names.next; i < job->names.count; i++)
		job->request.errors[i] = -ECANCELED;
	return -ECANCELED;
}

long ferry_statx_many(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[],
		      const struct ferry_files_options *options)
{
	struct job job = {
		.names = { .count = count, .piece = STATX_BATCH_MOST },
		.request = { dir, names, flags, mask, stats, errors, FERRY_LOOP },
	};
	int saved = errno;

	if (!count)
		return 0;
	if (!names || !errors)
		return -EINVAL;
	ferry__crew_init(&job.crew, work, options);
	if (count >= STATX_BATCH_WORTH && !job.crew.options->timeout_ms)
		job.request.engine = ferry__engine_of_one_crossing();
	ferry__range_run(&job.crew, &job.names, WORTH_A_THREAD);
	errno = saved;
	return finish(&job);
}
