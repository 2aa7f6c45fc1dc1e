// SPDX-License-Identifier: MIT
/* ferry bench chain: the calls that a program makes for each small file, in one crossing or not. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/rawcall.h>

#include "cases.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/bench.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/options.h"
#include "measure/harness/turns.h"
#include "slot.h"

struct chain_settings {
	struct settings;
	const char *directory;
};

#define MAX_ROWS 16
#define REPEATS 50 /* of which a trial keeps the least */
#define CALLS 5	   /* in a chain, about */
#define DIRECTORY "/dev/shm"

#define FILE_NAME "ferry-bench-chain" /* in the current directory */
#define FILE_SIZE 4096

struct chain;

/* Makes the calls once, on ENGINE where they are a batch.  The bytes of the file, or -errno. */
typedef long chain_function(const struct chain *chain, enum ferry_engine engine);

struct chain {
	const char *calls;
	bool stats; /* asks for the attributes of the file */
	chain_function *by_batch, *by_hand;
	chain_function *by_uring; /* NULL: io_uring lacks one of the calls */
};

/* Filling in slots and requests is timed as well, because a program does it for each file. */

#define OPEN_FILE CALL(SYS_openat, AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC)

static struct stat status;
static struct statx statx_status;
static char data[FILE_SIZE];
static long mapped; /* address of the last mapping, 0 when there is none */

static long open_by_hand(void)
{
	return ferry_rawcall(SYS_openat, AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

/* ---- openat, fstat, mmap, close: as in examples/total.c ---- */

enum { OPEN, STAT, COPY_SIZE, MAP, CLOSE, MAP_SLOTS };

static long map_by_batch(const struct chain *chain, enum ferry_engine engine)
{
	long results[MAP_SLOTS];
	struct batch_slot calls[MAP_SLOTS] = {
		[OPEN] = { OPEN_FILE, .jump_fail = -1 },
		[STAT] = { CALL_FORWARDED(SYS_fstat, 0, (long)&status), .from = { STAT - OPEN },
			   .jump_fail = CLOSE - STAT - 1 },
		[COPY_SIZE] = { CALL(BATCH_WDCPY, (long)&calls[MAP].arg[1],
				     (long)&status.st_size) },
		[MAP] = { CALL_FORWARDED(SYS_mmap, 0, 0, PROT_READ, MAP_PRIVATE, 0, 0),
			  .from = { [4] = MAP - OPEN }, .jump_fail = CLOSE - MAP - 1 },
		[CLOSE] = { CALL_FORWARDED(SYS_close, 0), .from = { CLOSE - OPEN } },
	};

	(void)chain;
	ferry_batch_on(engine, results, calls, MAP_SLOTS, 0, 0);
	mapped = results[MAP];
	return status.st_size;
}

static long map_by_hand(const struct chain *chain, enum ferry_engine engine)
{
	long fd = open_by_hand();

	(void)chain;
	(void)engine;
	if (fd < 0)
		return fd;
	if (ferry_rawcall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0)
		return -1;
	mapped = ferry_rawcall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return status.st_size;
}

static void unmap(void *context)
{
	(void)context;
	if (mapped > 0)
		munmap((void *)mapped, FILE_SIZE);
	mapped = 0;
}

/* ---- openat, statx, read, close: io_uring has them all ---- */

/* Without statx, no path is looked up twice. */

#define READ_SLOTS 4

static long read_by_batch(const struct chain *chain, enum ferry_engine engine)
{
	struct batch_slot calls[READ_SLOTS], *read = &calls[chain->stats ? 2 : 1];
	long results[READ_SLOTS];

	calls[0] = (struct batch_slot){ OPEN_FILE, .jump_fail = -1 };
	if (chain->stats)
		calls[1] = (struct batch_slot){ CALL(SYS_statx, AT_FDCWD, (long)FILE_NAME, 0,
						     STATX_BASIC_STATS, (long)&statx_status),
						.jump_fail = 1 };
	read[0] = (struct batch_slot){ CALL_FORWARDED(SYS_read, 0, (long)data, sizeof(data)),
				       .from = { (unsigned char)(read - calls) } };
	read[1] = (struct batch_slot){ CALL_FORWARDED(SYS_close, 0),
				       .from = { (unsigned char)(read + 1 - calls) } };
	ferry_batch_on(engine, results, calls, (unsigned long)(read + 2 - calls), 0, 0);
	return results[read - calls];
}

static long read_by_hand(const struct chain *chain, enum ferry_engine engine)
{
	long fd = open_by_hand();
	long length;

	(void)engine;
	if (fd < 0)
		return fd;
	if (chain->stats && ferry_rawcall(SYS_statx, AT_FDCWD, (long)FILE_NAME, 0,
					  STATX_BASIC_STATS, (long)&statx_status, 0) < 0)
		return -1;
	length = ferry_rawcall(SYS_read, fd, (long)data, sizeof(data), 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return length;
}

/* ---- the same by io_uring ---- */

#define REQUESTS 4 /* with that for the attributes */

enum { OTHER, READ }; /* what a completion is of */

static int ring_open(struct io_uring *ring)
{
	int error = io_uring_queue_init(REQUESTS, ring,
					IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (error)
		return error;
	error = io_uring_register_files_sparse(ring, 1);
	if (error)
		io_uring_queue_exit(ring);
	return error;
}

static const char *uring_missing(void)
{
	struct io_uring ring;

	if (ring_open(&ring))
		return "io_uring with direct descriptors is not available to this process";
	io_uring_queue_exit(&ring);
	return NULL;
}

/* The bytes read, or the first error, of COUNT completions. */
static long reap(struct io_uring *ring, unsigned int count)
{
	struct io_uring_cqe *cqe;
	long length = 0, error = 0;
	unsigned int head;

	io_uring_for_each_cqe(ring, head, cqe)
	{
		if (cqe->res < 0 && !error)
			error = cqe->res;
		if (cqe->user_data == READ)
			length = cqe->res;
	}
	io_uring_cq_advance(ring, count);
	return error ? error : length;
}

static void mark(struct io_uring_sqe *sqe, int what, unsigned char flags)
{
	io_uring_sqe_set_data64(sqe, what);
	sqe->flags |= flags;
}

/*
 * One linked chain that opens a direct descriptor and asks for the attributes by the path, since
 * io_uring has no fstat.  The ring belongs to the process that makes the first call.
 */
static long read_by_uring(const struct chain *chain, enum ferry_engine engine)
{
	static struct io_uring ring;
	static bool ready;
	unsigned int count = chain->stats ? REQUESTS : REQUESTS - 1;
	struct io_uring_sqe *sqe;
	int error = ready ? 0 : ring_open(&ring);

	(void)engine;
	if (error)
		return error;
	ready = true;
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_openat_direct(sqe, AT_FDCWD, FILE_NAME, O_RDONLY, 0, 0);
	mark(sqe, OTHER, IOSQE_IO_LINK);
	if (chain->stats) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_statx(sqe, AT_FDCWD, FILE_NAME, 0, STATX_BASIC_STATS, &statx_status);
		mark(sqe, OTHER, IOSQE_IO_LINK);
	}
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, 0, data, sizeof(data), 0);
	/* A short read would break a soft link, and the file would stay open. */
	mark(sqe, READ, IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_close_direct(sqe, 0);
	mark(sqe, OTHER, 0);
	io_uring_submit_and_wait(&ring, count);
	return reap(&ring, count);
}

static const struct chain chains[] = {
	{ "openat fstat mmap close", true, map_by_batch, map_by_hand, NULL },
	{ "openat statx read close", true, read_by_batch, read_by_hand, read_by_uring },
	{ "openat read close", false, read_by_batch, read_by_hand, read_by_uring },
};

/* ---- the rows ---- */

/* The base is the loop with the same calls, one crossing for each, which has no base itself. */
struct row {
	struct contestant;
	const struct chain *chain;
	const char *calls, *engine;
	chain_function *run;
	enum ferry_engine on;
};

struct chain_run {
	struct run *run;
	const char *directory;
	struct row *rows;
	size_t count;
};

static const struct field fields[] = {
	{ "name", F_TEXT, offsetof(struct row, name), CSV | ALWAYS },
	{ "chain", F_TEXT, offsetof(struct row, calls), CSV | ALWAYS },
	{ "engine", F_TEXT, offsetof(struct row, engine), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	TRIAL_FIELDS(struct row),
	{ "ratio", F_NUMBER, offsetof(struct row, ratio.ratio), CSV },
	{ "ratio_se", F_NUMBER, offsetof(struct row, ratio.se), CSV },
	{ "significant", F_YES_NO, offsetof(struct row, ratio.significant), CSV },
};

static const struct column columns[] = {
	{ "CALLS", F_TEXT, offsetof(struct row, name), 0 },
	{ "MEDIAN", F_NUMBER, offsetof(struct row, summary.median), 1 },
	{ "+-", F_NUMBER, offsetof(struct row, summary.se), 2, PAGE_ONLY },
	{ "MIN", F_NUMBER, offsetof(struct row, summary.min), 1 },
	{ "SD", F_NUMBER, offsetof(struct row, summary.sd), 1 },
	{ "RATIO", F_NUMBER, offsetof(struct row, ratio.ratio), 3 },
	{ "+-", F_NUMBER, offsetof(struct row, ratio.se), 3 },
	{ "SURE", F_YES_NO, offsetof(struct row, ratio.significant), 0 },
};

static const char note[] =
	"MEDIAN: of the trials, each the least of 50 tries. RATIO: times as fast as the loop, "
	"which makes one crossing for each call. SURE: by more than the noise. raw: the calls by "
	"hand, without slots.";

static struct row *add_row(struct chain_run *run_of, const struct chain *chain, const char *engine,
			   chain_function *run, enum ferry_engine on)
{
	struct row *row = &run_of->rows[run_of->count++];

	*row = (struct row){ .name = keep_text("%s, %s", chain->calls, engine),
			     .chain = chain,
			     .calls = chain->calls,
			     .engine = engine,
			     .run = run,
			     .on = on,
			     .base = NO_BASE };
	return row;
}

static void add_chain(struct chain_run *chain, const struct chain *calls)
{
	static const enum ferry_engine engines[] = { FERRY_LOOP, FERRY_SYSCALL, FERRY_DEVICE };
	size_t loop = chain->count, i;
	struct row *row;

	for (i = 0; i < COUNT_OF(engines); i++) {
		row = add_row(chain, calls, ferry_engine_name(engines[i]), calls->by_batch,
			      engines[i]);
		if (!ferry_engine_probe(engines[i], &row->missing))
			row->missing = NULL;
	}
	add_row(chain, calls, "raw", calls->by_hand, FERRY_LOOP);
	if (calls->by_uring) {
		row = add_row(chain, calls, "uring", calls->by_uring, FERRY_LOOP);
		row->missing = uring_missing();
	}
	for (i = loop + 1; i < chain->count; i++)
		chain->rows[i].base = loop;
}

/* ---- measuring ---- */

static int enter_directory(void *context, size_t trial)
{
	const struct chain_run *chain = context;

	(void)trial;
	if (!chdir(chain->directory))
		return 0;
	return failed("bench: chain: cannot enter %s: %s", chain->directory, strerror(errno));
}

static void run_row(void *context)
{
	const struct row *row = context;

	row->run(row->chain, row->on);
}

static int time_row(void *context, size_t index, size_t trial, double *value)
{
	struct chain_run *chain = context;
	struct row *row = &chain->rows[index];
	long length, i;

	(void)trial;
	for (i = 0; i < chain->run->settings->warmup; i++) {
		run_row(row);
		unmap(NULL);
	}
	length = row->run(row->chain, row->on);
	unmap(NULL);
	if (length != FILE_SIZE && !interrupted())
		return failed("bench: chain: %s: the file has %d bytes, and %ld were read",
			      row->name, FILE_SIZE, length);
	*value = clock_least(run_row, unmap, row, REPEATS);
	note_duration(chain->run, *value);
	return 0;
}

/* ---- results ---- */

static void say_row(struct run *run, const struct row *row)
{
	const struct row *loop = row;

	if (row->missing || isnan(row->ratio.ratio))
		return;
	while (loop->base != NO_BASE)
		loop--;
	add_finding(run, row->calls, "%s: %s takes %.0f %s, and one crossing for each call %.0f%s.",
		    row->calls, row->engine, row->summary.median, clock_unit(),
		    loop->summary.median,
		    row->ratio.significant || clock_counts_instructions() ?
			    "" :
			    ": noise could explain the difference");
}

static int measure(struct run *run)
{
	const char *directory = ((const struct chain_settings *)run->settings)->directory;
	struct chain_run chain = { .run = run,
				   .directory = directory,
				   .rows = share(MAX_ROWS * sizeof(struct row)) };
	const struct turns turns = { .what = "trial and row",
				     .begin = enter_directory,
				     .run = time_row,
				     .context = &chain };
	const char *path = keep_text("%s/" FILE_NAME, directory);
	static const char page[FILE_SIZE];
	int status;
	size_t i;

	if (write_file(path, page, sizeof(page)))
		return EXIT_USAGE;
	for (i = 0; i < COUNT_OF(chains); i++)
		add_chain(&chain, &chains[i]);
	status = take_trials(run, turns, chain.rows, chain.count, sizeof(*chain.rows));
	unlink(path);
	chain.count = compare_contestants(run, chain.rows, chain.count, sizeof(*chain.rows));
	judge_run(run);
	for (i = 0; i < chain.count; i++)
		say_row(run, &chain.rows[i]);
	add_contestants(run, RECORDS("chains", fields, chain.rows, chain.count));
	add_table_of(run, &run->sets[0], columns, note,
		     "What the calls on one small file take, in %s", clock_unit());
	return status;
}

static double seconds(const struct settings *settings, double call_ns)
{
	return (double)settings->trials * MAX_ROWS * REPEATS * CALLS * call_ns / 1e9;
}

#define AT(member) offsetof(struct chain_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	DIRECTORY_OPTION(AT(directory)),
};

static const struct chain_settings defaults = { .warmup = 2, .trials = 10, .directory = DIRECTORY };

const struct bench chain_bench = {
	.name = "chain",
	.summary = "the calls on one small file, in one crossing or not",
	BENCH_SETTINGS(options, defaults),
	.seconds = seconds,
	.measure = measure,
	.example = "chain --directory /tmp",
};
