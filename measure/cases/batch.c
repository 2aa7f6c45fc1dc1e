// SPDX-License-Identifier: MIT
/* ferry bench batch: what a crossing costs, and what each call in it, by batch size. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "cli/messages.h"
#include "measure/harness/child.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/memory.h"
#include "measure/harness/turns.h"
#include "workload.h"

#define PROCESSES 10 /* that share the trials of a workload */

/* A workload that is being measured. */
struct session {
	struct run *run;
	const char *source; /* the name of a call, or the path of a program */
	bool is_program;
	struct workload workload;
	enum ferry_engine engines[FERRY_ENGINES];
	size_t engine_count;
	enum outcome_of_batch *outcome; /* shared: the worst one when they were tried */
};

static unsigned long size_at(const struct session *session, size_t index)
{
	return (unsigned long)session->run->settings->sizes.of[index];
}

static unsigned long largest(const struct session *session)
{
	return size_at(session, session->run->settings->sizes.count - 1);
}

static int open_workload(struct session *session)
{
	if (session->is_program)
		return workload_load(&session->workload, session->source, largest(session));
	return workload_open(&session->workload, session->source, largest(session));
}

/* In every child anew, for memory of its own. */
static int begin(void *context, size_t trial)
{
	struct session *session = context;

	(void)trial;
	workload_close(&session->workload);
	return open_workload(session) ? EXIT_FOUND : 0;
}

/* Contestants are engines within sizes. */
static int time_batches(void *context, size_t contestant, size_t trial, double *value)
{
	const struct session *session = context;
	const struct settings *settings = session->run->settings;
	const struct loaded *loaded = &session->workload.loaded;
	enum ferry_engine engine = session->engines[contestant % session->engine_count];
	unsigned long ncall =
		size_at(session, contestant / session->engine_count) * session->workload.body;
	long repeats = settings->slots / (long)ncall, i;
	double start, taken;

	(void)trial;
	repeats = repeats ? repeats : 1;
	for (i = 0; i < settings->warmup; i++)
		ferry_batch_on(engine, loaded->rets, loaded->slots, ncall, 0, 0);
	start = clock_now();
	for (i = 0; i < repeats; i++)
		ferry_batch_on(engine, loaded->rets, loaded->slots, ncall, 0, 0);
	taken = clock_now() - start;
	note_duration(session->run, taken);
	*value = taken / (double)repeats;
	return 0;
}

/* ---- whether it works ---- */

/* Not asked after a signal. */
static void try_batch(const struct session *session, enum ferry_engine engine, unsigned long size)
{
	const struct loaded *loaded = &session->workload.loaded;
	enum outcome_of_batch outcome;
	long last;

	if (interrupted())
		return;
	last = ferry_batch_on(engine, loaded->rets, loaded->slots, size * session->workload.body, 0,
			      0);
	if (interrupted())
		return;
	outcome = workload_outcome(&session->workload, size, last);
	if (outcome != BATCH_WORKED)
		*session->outcome = outcome;
}

/* Every engine, with the smallest and the largest batch. */
static int try_engines(void *context)
{
	const struct session *session = context;
	size_t e;

	for (e = 0; e < session->engine_count && *session->outcome != BATCH_FAILED; e++) {
		try_batch(session, session->engines[e], size_at(session, 0));
		try_batch(session, session->engines[e], largest(session));
	}
	return *session->outcome == BATCH_FAILED ? EXIT_FOUND : 0;
}

/* Whether there is something to measure. */
static bool passes_filters(const struct session *session)
{
	if (*session->outcome == BATCH_FILTERED)
		add_warning(session->run, "filter",
			    "A filter of system calls answers the unimplemented call with EPERM: "
			    "its times hold the filter's work.");
	if (*session->outcome == BATCH_FORBIDDEN)
		add_warning(session->run, "filter",
			    "A filter of system calls forbids %s (EPERM): it is left out.",
			    session->source);
	return *session->outcome != BATCH_FORBIDDEN;
}

/* ---- measuring ---- */

/* The times of an engine, a row for each trial that all contestants finished. */
static struct matrix matrix_of(const struct session *session, const struct numbers times[],
			       size_t engine, size_t trials)
{
	size_t sizes = session->run->settings->sizes.count, t, s;
	double *values = keep(trials * sizes, sizeof(*values));

	for (t = 0; t < trials; t++)
		for (s = 0; s < sizes; s++)
			values[t * sizes + s] = times[s * session->engine_count + engine].of[t];
	return (struct matrix){ values, trials, sizes };
}

static struct contest contest_of(const struct session *session, const struct numbers times[],
				 size_t contestants)
{
	struct contest contest = {
		.call = keep_text("%s", session->workload.name),
		.label = keep_text("%s", session->workload.label),
		.body = (long)session->workload.body,
		.engine_count = session->engine_count,
	};
	size_t trials = times[0].count, i;

	for (i = 0; i < contestants; i++)
		trials = times[i].count < trials ? times[i].count : trials;
	for (i = 0; i < session->engine_count; i++) {
		contest.engines[i] = ferry_engine_name(session->engines[i]);
		contest.trials[i] = matrix_of(session, times, i, trials);
	}
	return contest;
}

static int measure_trials(struct session *session, struct contest *contest)
{
	const struct settings *settings = session->run->settings;
	size_t contestants = settings->sizes.count * session->engine_count;
	struct numbers *times = allocate(contestants, sizeof(*times));
	const struct turns turns = {
		.what = session->source,
		.contestants = contestants,
		.trials = (size_t)settings->trials,
		.per_child = ((size_t)settings->trials + PROCESSES - 1) / PROCESSES,
		.block = session->engine_count,
		.begin = begin,
		.run = time_batches,
		.context = session,
	};
	int status = take_turns(&turns, times);

	*contest = contest_of(session, times, contestants);
	free(times);
	return status;
}

static void choose_engines(struct session *session)
{
	const struct names *names = &session->run->settings->engines;
	size_t i;

	for (i = 0; i < names->count; i++)
		session->engines[i] = (enum ferry_engine)ferry_engine_by_name(names->of[i]);
	session->engine_count = names->count;
}

/* *CONTEST has no trials when nothing was finished. */
static int measure_contest(struct session *session, struct contest *contest)
{
	int status;

	if (open_workload(session))
		return session->is_program ? EXIT_USAGE : EXIT_FOUND;
	choose_engines(session);
	session->outcome = share(sizeof(*session->outcome));
	status = run_in_child(try_engines, session);
	if (!status && passes_filters(session))
		status = measure_trials(session, contest);
	unshare_memory(session->outcome, sizeof(*session->outcome));
	workload_close(&session->workload);
	return status;
}

static int measure(struct run *run)
{
	const struct settings *settings = run->settings;
	size_t calls = settings->workloads.count, all = calls + settings->programs.count, i;
	struct contest *contests = keep(all, sizeof(*contests));
	size_t count = 0;
	int status = 0;

	for (i = 0; i < all && !status && !interrupted(); i++) {
		struct session session = {
			.run = run,
			.source = i < calls ? settings->workloads.of[i] :
					      settings->programs.of[i - calls],
			.is_program = i >= calls,
		};

		status = measure_contest(&session, &contests[count]);
		count += contests[count].trials[0].rows > 0;
	}
	batch_conclude(run, contests, count);
	if (count || status || interrupted())
		return status;
	complain("bench: a filter of system calls forbids everything that was to be measured");
	return EXIT_FOUND;
}

static double seconds(const struct settings *settings, double call_ns)
{
	double slots = 0;
	size_t s;

	for (s = 0; s < settings->sizes.count; s++)
		slots += fmax((double)settings->slots, settings->sizes.of[s]) +
			 (double)settings->warmup * settings->sizes.of[s];
	return slots * (double)settings->trials * (double)settings->engines.count *
	       (double)(settings->workloads.count + settings->programs.count) * 2 * call_ns / 1e9;
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
	.defaults = { .warmup = 2,
		      .trials = 100,
		      .slots = 4096,
		      .sizes = { { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }, 11 } },
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.print = batch_print,
	.example = "batch --call write,statx --engine loop,uring",
};
