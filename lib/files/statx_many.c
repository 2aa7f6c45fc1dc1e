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
	struct range names;
	struct statx_batch request;
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

static size_t do_piece(struct member *member, struct piece piece)
{
	const struct statx_batch *request = &((struct job *)member->crew)->request;

	if (!ferry__statx_batch(request, piece))
		one_by_one(member, request, piece);
	return count_failed(request->errors, piece);
}

long ferry_statx_many(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[],
		      const struct ferry_files_options *options)
{
	struct job job = {
		.request = { dir, names, flags, mask, stats, errors, FERRY_LOOP },
	};
	int saved = errno;
	long failed;
	size_t i;

	if (!count)
		return 0;
	if (!names || !errors)
		return -EINVAL;
	ferry__range_init(&job.names, count, STATX_BATCH_MOST, do_piece, options);
	if (count >= STATX_BATCH_WORTH && !job.names.crew.options->timeout_ms)
		job.request.engine = ferry__engine_of_one_crossing();
	failed = ferry__range_run(&job.names, WORTH_A_THREAD);
	if (failed == -ECANCELED)
		for (i = job.names.next; i < count; i++)
			errors[i] = -ECANCELED;
	errno = saved;
	return failed;
}
