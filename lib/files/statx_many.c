// SPDX-License-Identifier: MIT
/* ferry_statx_many(): pieces of the array by plain calls, or each in one crossing. */
#include <errno.h>
#include <string.h>

#include <ferry/rawcall.h>
#include <ferry_files.h>

#include "calls.h"
#include "range.h"
#include "statx_batch.h"

/* Waking a helper costs about as much as 100 calls. */
#define WORTH_A_THREAD 128

#define PIECE 32 /* names, without batches */

/* Names in one crossing, which is all of most directories.  Their slots fit the L2 cache. */
#define BATCH 1024

/* A job for a crew. */
struct large_job {
	struct range names;
	const struct statx_batch *request;
};

static size_t one_by_one(struct member *member, const struct statx_batch *request,
			 struct piece piece)
{
	struct statx unwanted;
	size_t failed = 0, i;

	for (i = piece.first; i < piece.end; i++) {
		request->errors[i] = (int)ferry__call_statx(
			member, request->dir, request->names[i], request->flags, request->mask,
			request->stats ? &request->stats[i] : &unwanted);
		failed += request->errors[i] != 0;
	}
	return failed;
}

/* Names so few that each instruction besides the calls counts. */
static long look_here(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[])
{
	struct statx unwanted, *into;
	long failed = 0, error;
	size_t i;

	for (i = 0; i < count; i++) {
		into = stats ? &stats[i] : &unwanted;
		error = ferry_rawcall(SYS_statx, dir, (long)names[i], flags, mask, (long)into, 0);
		if (ferry__is_refused(error))
			error = ferry__call_statx_again(NULL, dir, names[i], flags, into);
		errors[i] = (int)error;
		failed += error != 0;
	}
	return failed;
}

static size_t look_at(struct member *member, const struct statx_batch *request, struct piece piece)
{
	size_t failed;

	if (ferry__statx_batch(request, piece, &failed))
		return failed;
	return one_by_one(member, request, piece);
}

static size_t do_piece(struct member *member, struct piece piece)
{
	return look_at(member, ((struct large_job *)member->crew)->request, piece);
}

static long look_by_crew(const struct statx_batch *request, size_t count,
			 const struct ferry_files_options *options)
{
	struct large_job job = { .request = request };
	long failed;
	size_t i;

	ferry__range_init(&job.names, count, request->engine == FERRY_LOOP ? PIECE : BATCH,
			  do_piece, options);
	failed = ferry__range_run(&job.names, WORTH_A_THREAD);
	if (failed == -ECANCELED)
		for (i = job.names.next; i < count; i++)
			request->errors[i] = -ECANCELED;
	return failed;
}

long ferry_statx_many(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[],
		      const struct ferry_files_options *options)
{
	struct statx_batch request;
	int saved;
	long failed;

	if (!count)
		return 0;
	if (!names || !errors)
		return -EINVAL;
	if (count < STATX_BATCH_WORTH && !options)
		return look_here(dir, names, count, flags, mask, stats, errors);
	saved = errno;
	request = (struct statx_batch){ dir, names, flags, mask, stats, errors, FERRY_LOOP };
	if (!(options && options->timeout_ms))
		request.engine = ferry__engine_of_one_crossing();
	/* Setting up a crew takes as long as statx() on a name or two. */
	if (!options && count <= (request.engine == FERRY_LOOP ? PIECE : BATCH))
		failed = (long)look_at(NULL, &request, (struct piece){ 0, count });
	else
		failed = look_by_crew(&request, count, options);
	errno = saved;
	return failed;
}
