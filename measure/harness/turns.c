// SPDX-License-Identifier: MIT
#include "turns.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "process.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/output.h"
#include "interrupt.h"

/* ---- one line on standard error that shows how far a measurement is; on a terminal only ---- */

#define BAR 24
#define BETWEEN_NS 1e8

static struct {
	const char *what;
	size_t total;
	double started;
	double shown; /* when it was last written, ns */
} progress;

/* Writes at most ten times a second. */
static void progress_at(size_t done)
{
	static const char full[] = "########################", rest[] = "........................";
	double now = now_ns(), left;
	int filled;

	if (!progress.total || (done && now - progress.shown < BETWEEN_NS))
		return;
	progress.shown = now;
	filled = (int)(BAR * done / progress.total);
	left = (now - progress.started) / 1e9 * (double)(progress.total - done);
	fprintf(stderr, "\r%s  [%.*s%.*s]  %zu of %zu", progress.what, filled, full, BAR - filled,
		rest, done, progress.total);
	if (done)
		fprintf(stderr, ", %.0f s left", left / (double)done);
	fputs("\033[K", stderr);
}

static void progress_begin(const char *what, size_t total)
{
	progress.what = what;
	progress.total = is_terminal(STDERR_FILENO) ? total : 0;
	progress.started = progress.shown = now_ns();
	progress_at(0);
}

static void progress_end(void)
{
	if (progress.total)
		fputs("\r\033[K", stderr);
	progress.total = 0;
}

/* ---- trials ---- */

struct session {
	const struct turns *turns;
	size_t *trial; /* shared: the next one */
};

/* The contestant whose turn is PLACE in this trial. */
static size_t whose_turn(const struct turns *turns, size_t trial, size_t place)
{
	size_t block = turns->block, first, length;

	if (!block || trial % 2 == 0)
		return place;
	first = place - place % block;
	length = turns->count - first < block ? turns->count - first : block;
	return first + length - 1 - place % block;
}

static int run_one(const struct turns *turns, size_t index, size_t trial)
{
	struct contestant *one = contestant_at(turns->contestants, index, turns->size);
	double value = NAN;
	int status;

	if (one->missing)
		return 0;
	status = turns->run(turns->context, index, trial, &value);
	if (!status && !interrupted() && !isnan(value))
		one->trials.of[one->trials.count++] = value;
	return status;
}

static int run_trial(const struct turns *turns, size_t trial)
{
	size_t place;
	int status = 0;

	for (place = 0; place < turns->count && !status && !interrupted(); place++) {
		status = run_one(turns, whose_turn(turns, trial, place), trial);
		progress_at(trial * turns->count + place + 1);
	}
	return status;
}

static int run_some(void *context)
{
	struct session *session = context;
	const struct turns *turns = session->turns;
	size_t most = turns->per_child ? turns->per_child : turns->trials;
	size_t end = *session->trial + most;
	int status = turns->begin ? turns->begin(turns->context, *session->trial) : 0;

	while (*session->trial < end && *session->trial < turns->trials && !status &&
	       !interrupted()) {
		status = run_trial(turns, *session->trial);
		++*session->trial;
	}
	return status;
}

static int make_progress(struct session *session)
{
	size_t before = *session->trial;
	int status =
		session->turns->per_child ? run_in_child(run_some, session) : run_some(session);

	if (status || interrupted() || *session->trial > before)
		return status;
	return failed("bench: a process that was to measure ended without a trial");
}

int take_turns(const struct turns *turns)
{
	struct session session = { turns, share(sizeof(size_t)) };
	double *values = share(turns->count * turns->trials * sizeof(double));
	int status = 0;
	size_t i;

	for (i = 0; i < turns->count; i++)
		contestant_at(turns->contestants, i, turns->size)->trials.of =
			values + i * turns->trials;
	progress_begin(turns->what, turns->trials * turns->count);
	while (*session.trial < turns->trials && !status && !interrupted())
		status = make_progress(&session);
	progress_end();
	unshare_memory(session.trial, sizeof(size_t));
	return status;
}

int take_trials(struct run *run, struct turns turns, void *contestants, size_t count, size_t size)
{
	turns.contestants = contestants;
	turns.count = count;
	turns.size = size;
	turns.trials = (size_t)run->settings->trials;
	turns.per_child = 1;
	return take_turns(&turns);
}
