// SPDX-License-Identifier: MIT
/* ferry_call_many(): one system call for each name, by plain calls, or many in one crossing. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <ferry_files.h>

#include <ferry/rawcall.h>

#include "calls.h"
#include "lib/engine/engine.h"
#include "range.h"

/* Waking a helper costs about as much as 30 calls. */
#define WORTH_A_THREAD 32
#define PIECE 32
#define BATCH_WORTH 4

#define ARGUMENTS 5 /* the most */

struct job {
	int dir;
	const char *const *names;
	const struct ferry_name_work *work;
	long *results;
	enum ferry_engine engine; /* FERRY_LOOP: none runs a batch in one crossing */
};

/* A job for a crew. */
struct large_job {
	struct range names;
	const struct job *job;
};

/* ---- the calls ---- */

/* Where the result of name I goes: an address, as results without room need no memory. */
static long memory_for(const struct ferry_name_work *work, size_t i)
{
	return (long)work->memory + (long)(i * work->room);
}

static struct proxy_call xattr_call(const struct job *job, size_t i)
{
	const struct ferry_name_work *work = job->work;
	const bool is_link = work->flags & AT_SYMLINK_NOFOLLOW;

	return (struct proxy_call){
		.nr = is_link ? SYS_lgetxattr : SYS_getxattr,
		.args = { (long)job->names[i], (long)work->attribute, memory_for(work, i),
			  (long)work->room },
		.names = 1U << 0 | 1U << 1,
		.output = 2,
		.output_size = work->room,
	};
}

/* The call for name I. */
static struct proxy_call call_for(const struct job *job, size_t i)
{
	const struct ferry_name_work *work = job->work;
	const long name = (long)job->names[i];
	struct proxy_call call = { .args = { job->dir, name }, .names = 1U << 1 };

	switch (work->call) {
	case FERRY_NAME_OPEN:
		call.nr = SYS_openat;
		call.args[2] = work->flags;
		call.args[3] = (long)work->mode;
		break;
	case FERRY_NAME_READLINK:
		call.nr = SYS_readlinkat;
		call.args[2] = memory_for(work, i);
		call.args[3] = (long)work->room;
		call.output = 2;
		call.output_size = work->room;
		break;
	case FERRY_NAME_GETXATTR:
		return xattr_call(job, i);
	case FERRY_NAME_UNLINK:
		call.nr = SYS_unlinkat;
		call.args[2] = work->flags;
		break;
	case FERRY_NAME_MKDIR:
		call.nr = SYS_mkdirat;
		call.args[2] = (long)work->mode;
		break;
	default:
		call.nr = SYS_linkat;
		call.args[2] = work->other_dir;
		call.args[3] = (long)work->others[i];
		call.args[4] = work->flags;
		call.names |= 1U << 3;
	}
	return call;
}

/* ---- names relative to a directory, for calls without such an argument ---- */

static bool needs_path(const struct job *job)
{
	return job->work->call == FERRY_NAME_GETXATTR && job->dir != AT_FDCWD;
}

static long call_by_path(struct member *member, const struct job *job, size_t i)
{
	struct proxy_call call = call_for(job, i);
	char path[PATH_MAX];

	if (job->names[i] && job->names[i][0] != '/') {
		if (snprintf(path, sizeof(path), "/proc/thread-self/fd/%d/%s", job->dir,
			     job->names[i]) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		call.args[0] = (long)path;
	}
	return ferry__call_any(member, &call);
}

/* ---- pieces ---- */

static void one_by_one(struct member *member, const struct job *job, struct piece piece)
{
	struct proxy_call call;
	size_t i;

	for (i = piece.first; i < piece.end; i++) {
		if (needs_path(job)) {
			job->results[i] = call_by_path(member, job, i);
			continue;
		}
		call = call_for(job, i);
		job->results[i] = ferry__call_any(member, &call);
	}
}

/* Returns false if that has to be done one by one. */
static bool in_batch(const struct job *job, struct piece piece)
{
	struct batch_slot slots[PIECE];
	size_t count = piece.end - piece.first, i;
	struct proxy_call call;
	int argument;

	if (job->engine == FERRY_LOOP || count < BATCH_WORTH || needs_path(job))
		return false;
	for (i = 0; i < count; i++) {
		call = call_for(job, piece.first + i);
		slots[i] = (struct batch_slot){ .nr = (int)call.nr, .argc = ARGUMENTS };
		for (argument = 0; argument < ARGUMENTS; argument++)
			slots[i].arg[argument] = call.args[argument];
	}
	return ferry_batch_on(job->engine, job->results + piece.first, slots, count, 0,
			      sizeof(*slots)) == (long)count - 1;
}

static size_t do_names(struct member *member, const struct job *job, struct piece piece)
{
	size_t failed = 0, i;

	if (!in_batch(job, piece))
		one_by_one(member, job, piece);
	for (i = piece.first; i < piece.end; i++)
		failed += job->results[i] < 0;
	return failed;
}

static size_t do_piece(struct member *member, struct piece piece)
{
	return do_names(member, ((struct large_job *)member->crew)->job, piece);
}

/* ---- the call ---- */

static long call_by_crew(const struct job *job, size_t count,
			 const struct ferry_files_options *options)
{
	struct large_job large = { .job = job };
	long failed;
	size_t i;

	ferry__range_init(&large.names, count, PIECE, do_piece, options);
	failed = ferry__range_run(&large.names, WORTH_A_THREAD);
	if (failed == -ECANCELED)
		for (i = large.names.next; i < count; i++)
			job->results[i] = -ECANCELED;
	return failed;
}

static bool is_valid(const struct ferry_name_work *work)
{
	switch (work->call) {
	case FERRY_NAME_READLINK:
		return work->memory || !work->room;
	case FERRY_NAME_GETXATTR:
		return work->attribute && (work->memory || !work->room) &&
		       !(work->flags & ~AT_SYMLINK_NOFOLLOW);
	case FERRY_NAME_LINK:
		return work->others;
	default:
		return (unsigned int)work->call < FERRY_NAME_CALLS;
	}
}

long ferry_call_many(int dir, const char *const names[], size_t count,
		     const struct ferry_name_work *work, long results[],
		     const struct ferry_files_options *options)
{
	struct job job = { dir, names, work, results, FERRY_LOOP };
	int saved = errno;
	long failed;

	if (!count)
		return 0;
	if (!names || !results || !work || !is_valid(work))
		return -EINVAL;
	if (!(options && options->timeout_ms))
		job.engine = ferry__engine_of_one_crossing();
	if (!options && count <= PIECE)
		failed = (long)do_names(NULL, &job, (struct piece){ 0, count });
	else
		failed = call_by_crew(&job, count, options);
	errno = saved;
	return failed;
}
