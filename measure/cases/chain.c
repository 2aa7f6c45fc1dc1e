// SPDX-License-Identifier: MIT
/* ferry bench chain: the calls that a program makes for each small file, in one crossing or not. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "chain_calls.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/show.h"
#include "measure/harness/bench.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/turns.h"

#define MAX_ROWS 16
#define REPEATS 50 /* of which a trial keeps the least */
#define CALLS 5	   /* in a chain, about */
#define DIRECTORY "/dev/shm"

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
	{ "MIN", F_NUMBER, offsetof(struct row, summary.min), 1 },
	{ "SD", F_NUMBER, offsetof(struct row, summary.sd), 1 },
	{ "RATIO", F_NUMBER, offsetof(struct row, ratio.ratio), 3 },
};

/* ---- the rows ---- */

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
		row->missing = chain_uring_missing();
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
	complain("bench: chain: cannot enter %s: %s", chain->directory, strerror(errno));
	return EXIT_FOUND;
}

static void run_row(void *context)
{
	const struct row *row = context;

	row->run(row->chain, row->on);
}

static void unmap(void *context)
{
	(void)context;
	chain_unmap();
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
	if (length != CHAIN_FILE_SIZE && !interrupted()) {
		complain("bench: chain: %s: the file has %d bytes, and %ld were read", row->name,
			 CHAIN_FILE_SIZE, length);
		return EXIT_FOUND;
	}
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
	const char *directory = run->settings->directory;
	struct chain_run chain = { .run = run,
				   .directory = directory,
				   .rows = keep(MAX_ROWS, sizeof(struct row)) };
	const struct turns turns = { .what = "trial and row",
				     .begin = enter_directory,
				     .run = time_row,
				     .context = &chain };
	const char *path = keep_text("%s/" CHAIN_FILE, directory);
	static const char page[CHAIN_FILE_SIZE];
	int status;
	size_t i;

	if (write_file(path, page, sizeof(page)))
		return EXIT_USAGE;
	for (i = 0; i < chain_count; i++)
		add_chain(&chain, &chains[i]);
	status = take_trials(run, turns, chain.rows, chain.count, sizeof(*chain.rows));
	unlink(path);
	chain.count = compare_contestants(run, chain.rows, chain.count, sizeof(*chain.rows));
	judge_run(run);
	for (i = 0; i < chain.count; i++)
		say_row(run, &chain.rows[i]);
	add_contestants(run, RECORDS("chains", fields, chain.rows, chain.count));
	return status;
}

static double seconds(const struct settings *settings, double call_ns)
{
	return (double)settings->trials * MAX_ROWS * REPEATS * CALLS * call_ns / 1e9;
}

static void print(const struct run *run)
{
	show_heading("What the calls on one small file take, in %s", clock_unit());
	show_records(columns, COUNT_OF(columns), &run->sets[0]);
	show_paragraph("", "MEDIAN: of the trials, each the least of 50 tries. RATIO: times as "
			   "fast as the loop, which makes one crossing for each call. raw: the "
			   "calls by hand, without slots.");
}

const struct bench chain_bench = {
	.name = "chain",
	.summary = "the calls on one small file, in one crossing or not",
	.defaults = { .warmup = 2, .trials = 10, .directory = DIRECTORY },
	.seconds = seconds,
	.measure = measure,
	.print = print,
	.example = "chain --directory /tmp",
};
