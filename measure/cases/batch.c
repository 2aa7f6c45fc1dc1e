// SPDX-License-Identifier: MIT
/* ferry bench batch: the cost of a crossing and of each call in it, by batch size. */
#include "batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch_sides.h"
#include "batch_uring.h"
#include "cases.h"
#include "common/memory.h"
#include "common/messages.h"
#include "engines.h"
#include "measure/harness/options.h"
#include "measure/harness/process.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/turns.h"
#include "test_module.h"
#include "workload.h"

#define PROCESSES 10 /* that share the trials of a workload */

/* A workload that is being measured. */
struct session {
	struct run *run;
	const char *source; /* the name of a call, or the path of a program */
	bool is_program;
	struct workload workload;
	struct side sides[MAX_SIDES];
	size_t side_count;
	enum outcome_of_batch *outcome; /* shared: the worst one when they were tried */
	struct series *series;		/* of all workloads so far */
	size_t count;
};

static unsigned long size_at(const struct session *session, size_t index)
{
	return (unsigned long)batch_settings(session->run)->sizes.of[index];
}

static unsigned long largest(const struct session *session)
{
	return size_at(session, batch_settings(session->run)->sizes.count - 1);
}

static int open_workload(struct session *session)
{
	if (session->is_program)
		return workload_load(&session->workload, session->source, largest(session));
	return workload_open(&session->workload, session->source, largest(session),
			     batch_settings(session->run)->directory);
}

/* In each child again, so that it has memory of its own. */
static int begin(void *context, size_t trial)
{
	struct session *session = context;

	(void)trial;
	workload_close(&session->workload);
	return open_workload(session) ? EXIT_FOUND : 0;
}

/* Contestants are sides within sizes. */
static int time_batches(void *context, size_t contestant, size_t trial, double *value)
{
	const struct session *session = context;
	const struct batch_settings *settings = batch_settings(session->run);
	const struct loaded *loaded = &session->workload.loaded;
	const struct side *side = &session->sides[contestant % session->side_count];
	unsigned long ncall =
		size_at(session, contestant / session->side_count) * session->workload.body;
	long repeats = settings->slots / (long)ncall, i;
	double start, taken;

	(void)trial;
	repeats = repeats ? repeats : 1;
	workload_rewind(&session->workload);
	for (i = 0; i < settings->warmup; i++)
		side_run(side, loaded->rets, loaded->slots, ncall);
	workload_rewind(&session->workload);
	start = clock_now();
	for (i = 0; i < repeats; i++)
		side_run(side, loaded->rets, loaded->slots, ncall);
	taken = clock_now() - start - clock_cost();
	note_duration(session->run, taken);
	*value = taken / (double)repeats;
	return 0;
}

/* ---- whether it works ---- */

/* Judges no batch that a signal has cut short. */
static void try_batch(const struct session *session, const struct side *side, unsigned long size)
{
	const struct loaded *loaded = &session->workload.loaded;
	enum outcome_of_batch outcome;
	long last;

	if (interrupted())
		return;
	last = side_run(side, loaded->rets, loaded->slots, size * session->workload.body);
	if (interrupted() || (side->does == NOTHINGS && last == (long)size - 1))
		return;
	outcome = workload_outcome(&session->workload, size, last);
	if (outcome != BATCH_WORKED)
		*session->outcome = outcome;
}

/* Every side, with the smallest and the largest batch. */
static int try_sides(void *context)
{
	const struct session *session = context;
	size_t e;

	for (e = 0; e < session->side_count && *session->outcome != BATCH_FAILED; e++) {
		try_batch(session, &session->sides[e], size_at(session, 0));
		try_batch(session, &session->sides[e], largest(session));
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
static struct matrix matrix_of(const struct session *session, const struct contestant all[],
			       size_t engine, size_t trials)
{
	size_t sizes = batch_settings(session->run)->sizes.count, t, s;
	double *values = keep(trials * sizes, sizeof(*values));

	for (t = 0; t < trials; t++)
		for (s = 0; s < sizes; s++)
			values[t * sizes + s] = all[s * session->side_count + engine].trials.of[t];
	return (struct matrix){ values, trials, sizes };
}

/* With a file of its own: the children's files replaced the one that was opened here. */
static double handler_of(struct session *session)
{
	workload_close(&session->workload);
	if (session->is_program || open_workload(session))
		return NAN;
	workload_rewind(&session->workload);
	return handler_cost(&session->workload.loaded.slots[0]);
}

/* A series for each side, unless no trial was finished. */
static void add_series(struct session *session, const struct contestant all[], size_t count)
{
	const struct series common = { .call = keep_text("%s", session->workload.name),
				       .label = keep_text("%s", session->workload.label),
				       .body = (long)session->workload.body,
				       .handler = handler_of(session) };
	size_t trials = all[0].trials.count, i;

	for (i = 0; i < count; i++)
		trials = all[i].trials.count < trials ? all[i].trials.count : trials;
	for (i = 0; trials && i < session->side_count; i++) {
		struct series *series = &session->series[session->count++];

		*series = common;
		series->engine = session->sides[i].name;
		series->trials = matrix_of(session, all, i, trials);
	}
}

static int measure_trials(struct session *session)
{
	const struct batch_settings *settings = batch_settings(session->run);
	size_t count = settings->sizes.count * session->side_count;
	struct contestant *all = share(count * sizeof(*all));
	const struct turns turns = {
		.what = session->source,
		.contestants = all,
		.count = count,
		.size = sizeof(*all),
		.trials = (size_t)settings->trials,
		.per_child = ((size_t)settings->trials + PROCESSES - 1) / PROCESSES,
		.block = session->side_count,
		.begin = begin,
		.run = time_batches,
		.context = session,
	};
	int status = take_turns(&turns);

	add_series(session, all, count);
	return status;
}

/* Whether SIDE can run the workload; says so where the reason is not plain. */
static bool can_run(const struct session *session, const struct side *side)
{
	const struct workload *workload = &session->workload;

	if (side->does == PROGRAMS)
		return true;
	if (side->does != REQUESTS)
		return !workload->whole;
	if (!workload->whole && uring_has(&workload->loaded.slots[0]))
		return true;
	add_warning(session->run, "left-out", "%s: io_uring has no request for it: %s is left out.",
		    workload->name, side->name);
	return false;
}

/* Chooses the sides that can run the workload. */
static void choose_sides(struct session *session)
{
	const struct names *engines = &batch_settings(session->run)->engines;
	const struct names *beside = &batch_settings(session->run)->beside;
	size_t i;

	for (i = 0; i < engines->count; i++)
		session->sides[session->side_count++] = side_of_engine(engines->of[i]);
	for (i = 0; i < beside->count; i++) {
		const struct side *side = find_other_side(beside->of[i]);

		if (can_run(session, side))
			session->sides[session->side_count++] = *side;
	}
}

static int measure_workload(struct session *session)
{
	int status;

	if (open_workload(session))
		return session->is_program ? EXIT_USAGE : EXIT_FOUND;
	choose_sides(session);
	session->outcome = share(sizeof(*session->outcome));
	status = run_in_child(try_sides, session);
	if (!status && passes_filters(session))
		status = measure_trials(session);
	unshare_memory(session->outcome, sizeof(*session->outcome));
	workload_close(&session->workload);
	return status;
}

static int measure(struct run *run)
{
	const struct batch_settings *settings = batch_settings(run);
	size_t calls = settings->calls.count, all = calls + settings->programs.count, i;
	struct series *series = keep(all * MAX_SIDES, sizeof(*series));
	size_t count = 0;
	int status = 0;

	for (i = 0; i < all && !status && !interrupted(); i++) {
		struct session session = {
			.run = run,
			.source = i < calls ? settings->calls.of[i] :
					      settings->programs.of[i - calls],
			.is_program = i >= calls,
			.series = series,
			.count = count,
		};

		status = measure_workload(&session);
		count = session.count;
	}
	batch_conclude(run, series, count);
	if (count || status || interrupted())
		return status;
	return failed("bench: a filter of system calls forbids everything that was to be measured");
}

static double seconds(const struct settings *common, double call_ns)
{
	const struct batch_settings *settings = (const struct batch_settings *)common;
	double slots = 0;
	size_t s;

	for (s = 0; s < settings->sizes.count; s++)
		slots += fmax((double)settings->slots, settings->sizes.of[s]) +
			 (double)settings->warmup * settings->sizes.of[s];
	return slots * (double)settings->trials *
	       (double)(settings->engines.count + settings->beside.count) *
	       (double)(settings->calls.count + settings->programs.count) * 2 * call_ns / 1e9;
}

/* Before anything is measured, which may take long. */
static int check_program(const struct batch_settings *settings, const char *path)
{
	unsigned long copies = (unsigned long)settings->sizes.of[settings->sizes.count - 1];
	struct workload workload;

	if (!strcmp(path, "-"))
		return bad_input(
			"bench: --program takes a file: every process reads it anew, which "
			"standard input does not allow");
	if (workload_load(&workload, path, copies))
		return EXIT_USAGE;
	workload_close(&workload);
	return 0;
}

static bool powers_of_two(const struct sizes *sizes)
{
	unsigned long size;
	size_t i;

	for (i = 0; i < sizes->count; i++) {
		size = (unsigned long)sizes->of[i];
		if (size & (size - 1) || size > MOST_REQUESTS)
			return false;
	}
	return true;
}

static int check_beside(const struct batch_settings *settings, const char *name)
{
	const struct side *side = find_other_side(name);
	const char *why = NULL;

	if ((side->does == NOTHINGS || side->does == REQUESTS) && !powers_of_two(&settings->sizes))
		return bad_input("bench: %s takes --sizes that are powers of two, up to %d", name,
				 MOST_REQUESTS);
	if (side->missing)
		why = side->missing();
	return why ? bad_input("bench: %s is not available: %s", name, why) : 0;
}

static int check(struct settings *common)
{
	struct batch_settings *settings = (struct batch_settings *)common;
	size_t i;

	if (complete_engines(&settings->engines))
		return EXIT_USAGE;
	if (!settings->calls.count && !settings->programs.count)
		settings->calls = (struct names){ { "unimplemented" }, 1 };
	for (i = 0; i < settings->beside.count; i++)
		if (check_beside(settings, settings->beside.of[i]))
			return EXIT_USAGE;
	for (i = 0; i < settings->programs.count; i++)
		if (check_program(settings, settings->programs.of[i]))
			return EXIT_USAGE;
	return 0;
}

#define AT(member) offsetof(struct batch_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	ENGINE_OPTION(AT(engines)),
	{ 'l', NAMES_OPTION, "beside", "NAME,...", "beside", AT(beside),
	  "other ways to run the batches, for comparison",
	  .values = "bare-syscall bare-device naive raw nops nops-linked uring "
		    "uring-linked" },
	{ 'c', NAMES_OPTION, "call", "NAME,...", "calls_made", AT(calls),
	  "the calls to make; --program times any other",
	  .values = "unimplemented within jumps forwarded word_copy getppid read pread pread_page "
		    "write openat close fstat lstat statx" },
	{ 'p', FILES_OPTION, "program", "FILE", "programs", AT(programs),
	  "batches of the program in FILE" },
	{ 's', NUMBERS_OPTION, "sizes", "N,...", "sizes", AT(sizes),
	  "slots of a batch, or copies of a program", 1, 1L << 20, .condition = true },
	{ 'b', NUMBER_OPTION, "slots", "N", "slots", AT(slots),
	  "about so many slots are timed at once", 1, 100000000 },
	DIRECTORY_OPTION(AT(directory)),
};

static const struct batch_settings defaults = {
	.warmup = 2,
	.trials = 100,
	.slots = 4096,
	.sizes = { { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }, 11 }
};

const struct bench batch_bench = {
	.name = "batch",
	.summary = "the cost of a batch and of each call in it, by size and engine",
	BENCH_SETTINGS(options, defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "batch --call write,statx --beside uring",
};
