// SPDX-License-Identifier: MIT
/* ferry bench batch: what a crossing costs, and what each call in it, by batch size. */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "cli/messages.h"
#include "batch_contest.h"
#include "measure/harness/child.h"
#include "measure/harness/memory.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/progress.h"

#define PROCESSES 10 /* that share the trials of a workload */

static const struct json_column csv_columns[] = {
	{ NULL, "call", TEXT, 0 },
	{ NULL, "engine", TEXT, 0 },
	{ NULL, "fit.a_ns", NUMBER, 0 },
	{ NULL, "fit.a_se", NUMBER, 0 },
	{ NULL, "fit.b_ns", NUMBER, 0 },
	{ NULL, "fit.b_se", NUMBER, 0 },
	{ NULL, "fit.correlation", NUMBER, 0 },
	{ NULL, "fit.misfit", NUMBER, 0 },
};

size_t batch_size(const struct run *run, size_t index)
{
	return (size_t)run->settings->sizes.of[index];
}

double *contest_values(const struct contest *contest, size_t engine)
{
	const struct settings *settings = contest->run->settings;

	return contest->values + engine * (size_t)settings->trials * settings->sizes.count;
}

/* One batch, in nanoseconds; NAN after a signal. */
static double time_batches(struct run *run, struct contest *contest, enum ferry_engine engine,
			   unsigned long ncall)
{
	const struct loaded *loaded = &contest->workload.loaded;
	long repeats = run->settings->slots / (long)ncall;
	double start, taken;
	long i;

	repeats = repeats ? repeats : 1;
	for (i = 0; i < run->settings->warmup; i++)
		ferry_batch_on(engine, loaded->rets, loaded->slots, ncall, 0, 0);
	start = now_ns();
	for (i = 0; i < repeats; i++)
		ferry_batch_on(engine, loaded->rets, loaded->slots, ncall, 0, 0);
	taken = now_ns() - start;
	note_duration(run, taken);
	return interrupted() ? NAN : taken / (double)repeats;
}

/* The engine that is ENGINE-th in this trial: the order turns about each time. */
static size_t turn(size_t trial, size_t engine, size_t engines)
{
	return trial % 2 ? engines - 1 - engine : engine;
}

static void measure_trial(struct contest *contest, size_t trial)
{
	struct run *run = contest->run;
	size_t sizes = run->settings->sizes.count;
	size_t s, e;

	for (s = 0; s < sizes; s++) {
		unsigned long ncall = batch_size(run, s) * contest->workload.body;

		for (e = 0; e < contest->engine_count && !interrupted(); e++) {
			size_t which = turn(trial, e, contest->engine_count);

			contest_values(contest, which)[trial * sizes + s] =
				time_batches(run, contest, contest->engines[which], ncall);
		}
	}
}

static int open_workload(struct contest *contest)
{
	const struct settings *settings = contest->run->settings;
	unsigned long copies = batch_size(contest->run, settings->sizes.count - 1);

	if (contest->is_program)
		return workload_load(&contest->workload, contest->source, copies);
	return workload_open(&contest->workload, contest->source, copies);
}

/* The next tenth of the trials, with memory of its own. */
static int measure_some_trials(void *context)
{
	struct contest *contest = context;
	size_t trials = (size_t)contest->run->settings->trials;
	size_t end = *contest->trials + (trials + PROCESSES - 1) / PROCESSES;

	workload_close(&contest->workload);
	if (open_workload(contest))
		return EXIT_FOUND;
	while (*contest->trials < end && *contest->trials < trials) {
		measure_trial(contest, *contest->trials);
		if (interrupted())
			break;
		progress_at(++*contest->trials);
	}
	return 0;
}

/* Whether ENGINE does what it should with a batch of SIZE; not asked after a signal. */
static bool works(const struct contest *contest, enum ferry_engine engine, unsigned long size)
{
	const struct loaded *loaded = &contest->workload.loaded;
	long last;

	if (interrupted())
		return true;
	last = ferry_batch_on(engine, loaded->rets, loaded->slots, size * contest->workload.body, 0,
			      0);
	return interrupted() || workload_worked(&contest->workload, size, last);
}

/* Every engine, with the smallest and the largest batch. */
static int try_engines(void *context)
{
	const struct contest *contest = context;
	const struct run *run = contest->run;
	size_t largest = batch_size(run, run->settings->sizes.count - 1);
	size_t e;

	for (e = 0; e < contest->engine_count; e++)
		if (!works(contest, contest->engines[e], batch_size(run, 0)) ||
		    !works(contest, contest->engines[e], largest))
			return EXIT_FOUND;
	return 0;
}

static int measure_trials(struct contest *contest)
{
	size_t trials = (size_t)contest->run->settings->trials;
	int status = 0;

	progress_begin(contest->source, trials);
	while (*contest->trials < trials && !status && !interrupted())
		status = run_in_child(measure_some_trials, contest);
	progress_end();
	return status;
}

static void choose_engines(struct contest *contest)
{
	const struct names *names = &contest->run->settings->engines;
	size_t i;

	for (i = 0; i < names->count; i++)
		contest->engines[i] = (enum ferry_engine)ferry_engine_by_name(names->of[i]);
	contest->engine_count = names->count;
}

static int measure_contest(struct contest *contest)
{
	const struct settings *settings = contest->run->settings;
	size_t size = settings->engines.count * (size_t)settings->trials * settings->sizes.count *
		      sizeof(double);
	int status;

	if (open_workload(contest))
		return contest->is_program ? EXIT_USAGE : EXIT_FOUND;
	choose_engines(contest);
	contest->trials = share(sizeof(*contest->trials));
	contest->values = share(size);
	status = run_in_child(try_engines, contest);
	if (!status)
		status = measure_trials(contest);
	if (*contest->trials)
		contest_conclude(contest);
	unshare_memory(contest->values, size);
	unshare_memory(contest->trials, sizeof(*contest->trials));
	workload_close(&contest->workload);
	return status;
}

static int measure(struct run *run)
{
	const struct settings *settings = run->settings;
	int status = 0;
	size_t i;

	json_object_set_new(run->document, "series", json_array());
	json_object_set_new(run->document, "ratios", json_array());
	for (i = 0; i < settings->workloads.count && !status && !interrupted(); i++) {
		struct contest contest = { .run = run, .source = settings->workloads.of[i] };

		status = measure_contest(&contest);
	}
	for (i = 0; i < settings->programs.count && !status && !interrupted(); i++) {
		struct contest contest = { .run = run,
					   .source = settings->programs.of[i],
					   .is_program = true };

		status = measure_contest(&contest);
	}
	return status;
}

static int check_call(const char *name)
{
	if (is_workload(name))
		return 0;
	complain("bench: there is no call '%s' to time; there are %s, and --program for any other",
		 name, workload_names());
	return EXIT_USAGE;
}

/* Before anything is measured, which may take long. */
static int check_program(const struct settings *settings, const char *path)
{
	unsigned long copies = (unsigned long)settings->sizes.of[settings->sizes.count - 1];
	struct workload workload;

	if (!strcmp(path, "-")) {
		complain("bench: --program takes a file: every process reads it anew, which "
			 "standard input does not allow");
		return EXIT_USAGE;
	}
	if (workload_load(&workload, path, copies))
		return EXIT_USAGE;
	workload_close(&workload);
	return 0;
}

static int check(const struct settings *settings)
{
	size_t i;

	for (i = 0; i < settings->workloads.count; i++)
		if (check_call(settings->workloads.of[i]))
			return EXIT_USAGE;
	for (i = 0; i < settings->programs.count; i++)
		if (check_program(settings, settings->programs.of[i]))
			return EXIT_USAGE;
	return 0;
}

const struct bench batch_bench = {
	.name = "batch",
	.summary = "what a crossing costs and what each call, by batch size and engine",
	.rows = "series",
	.csv = { csv_columns, sizeof(csv_columns) / sizeof(csv_columns[0]) },
	.defaults = { .warmup = 2,
		      .trials = 100,
		      .slots = 4096,
		      .sizes = { { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }, 11 } },
	.check = check,
	.measure = measure,
	.example = "batch --call write,statx --engine loop,uring",
	.print_document = batch_print,
};
