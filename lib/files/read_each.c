// SPDX-License-Identifier: MIT
/*
 * ferry_read_each(): each member of the crew reads some files into a chunk of memory, and puts that
 * into the queue.  One member at a time passes on what is in the queue while the others go on
 * reading, as long as there are free chunks: their number limits the memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <ferry_files.h>

#include "calls.h"
#include "clock.h"
#include "contents.h"
#include "read_piece.h"

/* Waking a helper costs about as much as reading a few small files, or a part of a large one. */
#define WORTH_A_THREAD 16
#define MOST_AT_FIRST 1024U
#define LARGE ((size_t)256 << 10)

#define DEFAULT_MEMORY ((size_t)16 << 20)
#define CHUNKS 32
#define SMALLEST_CHUNK ((size_t)64 << 10)
#define LARGEST_CHUNK ((size_t)1 << 20)

/* How often a member that waits for a chunk checks whether the job has ended. */
#define LOOK_NSEC (50 * NSEC_PER_MSEC)

/* A descriptor that others use should be free soon: attempts, a millisecond apart. */
#define ATTEMPTS 100

struct chunk {
	struct chunk *next;
	size_t first, count; /* names */
	bool is_too_large;   /* the only file, which is read when it is its turn */
	struct ferry_file files[READ_BATCH_MOST];
	struct shared_arena arena;
	char memory[] __attribute__((aligned(16)));
};

struct job {
	struct crew crew;
	struct read_job files; /* those of a chunk differ in names, files and arena */
	size_t count, chunk_size, most_chunks;
	int (*each)(void *context, const struct ferry_contents *contents);
	void *context;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	size_t next;	  /* the first name that nobody has taken */
	size_t next_turn; /* the first name that has not been passed on, if they are in order */
	struct chunk *free, *ready;
	size_t chunks;	 /* that there are */
	bool is_passing; /* a member passes on what is ready */
	size_t failed;
	int result;
};

static bool is_in_order(const struct job *job)
{
	return job->files.flags & FERRY_READ_IN_ORDER;
}

/* ---- chunks ---- */

static void wait_for_change(struct job *job)
{
	ferry__wait_until(&job->changed, &job->lock, ferry__now() + LOOK_NSEC);
}

static struct chunk *new_chunk(struct job *job)
{
	struct chunk *chunk = malloc(sizeof(*chunk) + job->chunk_size);

	job->chunks += chunk != NULL;
	return chunk;
}

/* Whether all others wait until the files from FIRST on have been passed on: none frees a chunk. */
static bool is_awaited(const struct job *job, size_t first)
{
	return is_in_order(job) && first == job->next_turn;
}

/* A chunk for the files from FIRST on, or NULL when the job has ended.  With the lock. */
static struct chunk *take_chunk(struct job *job, struct member *member, size_t first)
{
	struct chunk *chunk;
	bool stopped;

	for (;;) {
		chunk = job->free;
		if (chunk) {
			job->free = chunk->next;
			return chunk;
		}
		if (job->chunks < job->most_chunks || is_awaited(job, first))
			chunk = new_chunk(job);
		if (chunk)
			return chunk;
		if (!job->chunks || is_awaited(job, first)) {
			job->result = -ENOMEM;
			ferry__crew_stop(&job->crew);
			return NULL;
		}
		wait_for_change(job);
		pthread_mutex_unlock(&job->lock);
		stopped = ferry__crew_stopped(member);
		ferry__crew_forgive(member);
		pthread_mutex_lock(&job->lock);
		if (stopped)
			return NULL;
	}
}

static void give_chunk(struct job *job, struct chunk *chunk)
{
	chunk->next = job->free;
	job->free = chunk;
	pthread_cond_broadcast(&job->changed);
}

/* Puts CHUNK where its first file belongs, or at the end. */
static void make_ready(struct job *job, struct chunk *chunk)
{
	struct chunk **place = &job->ready;

	while (*place && (!is_in_order(job) || (*place)->first < chunk->first))
		place = &(*place)->next;
	chunk->next = *place;
	*place = chunk;
}

/* ---- passing on ---- */

/* The parts of a file that is too large for a chunk. */
struct parts {
	struct job *job;
	struct member *member;
	size_t index, end; /* of the file; of the last part */
};

/* Returns false when the job has ended. */
static bool pass(struct job *job, const struct ferry_contents *contents)
{
	int result;

	result = job->each(job->context, contents);
	if (!result)
		return true;
	pthread_mutex_lock(&job->lock);
	if (!job->result)
		job->result = result;
	pthread_mutex_unlock(&job->lock);
	ferry__crew_stop(&job->crew);
	return false;
}

static bool pass_part(void *context, const char *data, size_t size, size_t offset)
{
	struct parts *parts = context;
	const struct ferry_contents contents = {
		.index = parts->index,
		.data = data,
		.length = size,
		.offset = offset,
	};

	parts->end = offset + size;
	return pass(parts->job, &contents) && !ferry__crew_stopped(parts->member);
}

static void pass_in_parts(struct job *job, struct member *member, struct chunk *chunk)
{
	struct parts parts = { job, member, chunk->first, 0 };
	struct ferry_contents end = { .index = chunk->first, .is_last = true };
	const char *name = job->files.names[chunk->first];

	end.error = ferry__contents_in_parts(member, job->files.dir, name, job->files.flags,
					     chunk->memory, job->chunk_size, pass_part, &parts);
	end.offset = parts.end;
	chunk->files[0].error = end.error;
	if (!ferry__crew_stopped(member))
		pass(job, &end);
}

static bool pass_file(struct job *job, const struct chunk *chunk, size_t i)
{
	const struct ferry_contents contents = {
		.index = chunk->first + i,
		.data = chunk->files[i].data,
		.length = chunk->files[i].length,
		.is_last = true,
		.error = chunk->files[i].error,
	};

	return pass(job, &contents);
}

/* Returns how many files failed. */
static size_t pass_chunk(struct job *job, struct member *member, struct chunk *chunk)
{
	size_t failed = 0, i;

	if (chunk->is_too_large)
		pass_in_parts(job, member, chunk);
	else
		for (i = 0; i < chunk->count; i++)
			if (ferry__crew_stopped(member) || !pass_file(job, chunk, i))
				break;
	for (i = 0; i < chunk->count; i++)
		failed += chunk->files[i].error != 0;
	return failed;
}

static bool can_pass(const struct job *job)
{
	return job->ready && (!is_in_order(job) || job->ready->first == job->next_turn);
}

/* Returns false when the job has ended.  Without the lock meanwhile. */
static bool pass_and_give(struct job *job, struct member *member, struct chunk *chunk)
{
	size_t failed;
	bool stopped;

	pthread_mutex_unlock(&job->lock);
	failed = pass_chunk(job, member, chunk);
	/* A callback that takes long is not a disk that needs more requests. */
	ferry__crew_forgive(member);
	stopped = ferry__crew_stopped(member);
	pthread_mutex_lock(&job->lock);
	job->failed += failed;
	job->next_turn = chunk->first + chunk->count;
	give_chunk(job, chunk);
	return !stopped;
}

/* With the lock. */
static void pass_ready(struct job *job, struct member *member)
{
	struct chunk *chunk;
	bool go_on = true;

	if (job->is_passing)
		return;
	job->is_passing = true;
	while (go_on && can_pass(job)) {
		chunk = job->ready;
		job->ready = chunk->next;
		go_on = pass_and_give(job, member, chunk);
	}
	job->is_passing = false;
}

/* ---- reading ---- */

static void read_again(struct member *member, const struct read_job *files, size_t i)
{
	static const struct timespec millisecond = { .tv_nsec = 1000000 };
	int attempts;

	for (attempts = 0; attempts < ATTEMPTS; attempts++) {
		if (!ferry__lacked_descriptor(&files->files[i]) || ferry__crew_stopped(member))
			return;
		nanosleep(&millisecond, NULL);
		ferry__read_piece(member, files, (struct piece){ i, i + 1 });
	}
}

/* Reads COUNT files from FIRST on into CHUNK, and returns how many had room. */
static size_t fill(struct job *job, struct member *member, struct chunk *chunk, size_t first,
		   size_t count)
{
	struct read_job files = job->files;
	size_t i;

	files.names += first;
	files.files = chunk->files;
	files.arena = &chunk->arena;
	chunk->arena = (struct shared_arena){ chunk->memory, job->chunk_size, 0 };
	for (i = 0; i < count; i++)
		chunk->files[i] = (struct ferry_file){ 0 };
	ferry__read_piece(member, &files, (struct piece){ 0, count });
	for (i = 0; i < count && chunk->files[i].error != -ENOBUFS; i++)
		read_again(member, &files, i);
	chunk->first = first;
	chunk->is_too_large = !i;
	chunk->count = i ? i : 1;
	return i;
}

/* Takes up to MOST names.  With the lock. */
static struct piece take_names(struct job *job, size_t most)
{
	struct piece piece = { job->next, job->next + most };

	if (piece.end > job->count)
		piece.end = job->count;
	job->next = piece.end;
	return piece;
}

static void deliver(struct job *job, struct member *member, struct chunk *chunk)
{
	if (job->files.flags & FERRY_READ_CONCURRENT) {
		pass_and_give(job, member, chunk);
	} else {
		make_ready(job, chunk);
		pass_ready(job, member);
	}
}

/* Reads and passes on the files of PIECE.  Returns the most that had room in a chunk. */
static size_t do_names(struct job *job, struct member *member, struct chunk *chunk,
		       struct piece piece)
{
	size_t most = 1, fitting;

	while (chunk) {
		pthread_mutex_unlock(&job->lock);
		fitting = fill(job, member, chunk, piece.first, piece.end - piece.first);
		most = fitting > most ? fitting : most;
		piece.first += chunk->count;
		ferry__crew_did(member, chunk->count);
		if (chunk->is_too_large || chunk->arena.used >= LARGE)
			ferry__crew_add_for_cpu(&job->crew);
		pthread_mutex_lock(&job->lock);
		deliver(job, member, chunk);
		if (piece.first == piece.end)
			return most;
		chunk = take_chunk(job, member, piece.first);
	}
	return most;
}

/* Takes the next names, up to MOST, and returns false when there are none. */
static bool do_next(struct job *job, struct member *member, size_t *most)
{
	struct chunk *chunk = NULL;
	struct piece piece;

	pthread_mutex_lock(&job->lock);
	if (job->next < job->count)
		chunk = take_chunk(job, member, job->count);
	if (chunk && job->next == job->count) {
		give_chunk(job, chunk);
		chunk = NULL;
	}
	if (chunk) {
		piece = take_names(job, *most);
		/* Names that are taken but have no room are read twice: take as many as fit. */
		*most = 2 * do_names(job, member, chunk, piece);
		if (*most > READ_BATCH_MOST)
			*most = READ_BATCH_MOST;
	}
	pthread_mutex_unlock(&job->lock);
	return chunk;
}

static void work(struct member *member)
{
	struct job *job = (struct job *)member->crew;
	size_t most = READ_BATCH_MOST;

	while (!ferry__crew_stopped(member) && do_next(job, member, &most))
		;
	ferry__calls_end(member);
}

/* ---- the call ---- */

static void free_chunks(struct chunk *chunk)
{
	struct chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

static void choose_chunks(struct job *job, size_t memory)
{
	memory = memory ? memory : DEFAULT_MEMORY;
	job->chunk_size = memory / CHUNKS;
	if (job->chunk_size < SMALLEST_CHUNK)
		job->chunk_size = SMALLEST_CHUNK;
	if (job->chunk_size > LARGEST_CHUNK)
		job->chunk_size = LARGEST_CHUNK;
	job->most_chunks = memory / job->chunk_size;
	if (job->most_chunks < 2)
		job->most_chunks = 2;
}

static long run(struct job *job)
{
	size_t threads = job->count / WORTH_A_THREAD;

	if (threads > MOST_AT_FIRST)
		threads = MOST_AT_FIRST;
	pthread_mutex_init(&job->lock, NULL);
	ferry__condition_init(&job->changed);
	if (job->count <= READ_BATCH_MOST)
		ferry__crew_run_alone(&job->crew);
	else
		ferry__crew_run(&job->crew, threads ? (unsigned int)threads : 1);
	free_chunks(job->free);
	free_chunks(job->ready);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->lock);
	if (job->result)
		return job->result;
	return atomic_load(&job->crew.stopped) ? -ECANCELED : (long)job->failed;
}

long ferry_read_each(int dir, const char *const names[], size_t count, unsigned int flags,
		     size_t memory,
		     int (*each)(void *context, const struct ferry_contents *contents),
		     void *context, const struct ferry_files_options *options)
{
	const unsigned int all = FERRY_READ_DEVICES | FERRY_READ_OPEN_FIRST | FERRY_READ_IN_ORDER |
				 FERRY_READ_CONCURRENT | FERRY_READ_NOFOLLOW;
	struct job job = {
		.files = { .dir = dir, .names = names, .flags = flags },
		.count = count,
		.each = each,
		.context = context,
	};
	int saved = errno;
	long result;

	if (!each || flags & ~all ||
	    (flags & FERRY_READ_IN_ORDER && flags & FERRY_READ_CONCURRENT) || (count && !names))
		return -EINVAL;
	if (!count)
		return 0;
	ferry__crew_init(&job.crew, work, options);
	ferry__read_job_choose(&job.files, count, options);
	choose_chunks(&job, memory);
	result = run(&job);
	errno = saved;
	return result;
}
