// SPDX-License-Identifier: MIT
#include "turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void show(size_t done, double now)
{
	static const char full[] = "########################", rest[] = "........................";
	int filled = (int)(BAR * done / progress.total);
	double left = (now - progress.started) / 1e9 * (double)(progress.total - done);

	fprintf(stderr, "\r%s  [%.*s%.*s]  %zu of %zu", progress.what, filled, full, BAR - filled,
		rest, done, progress.total);
	if (done)
		fprintf(stderr, ", %.0f s left", left / (double)done);
	fputs("\033[K", stderr);
}

/* Writes at most ten times a second. */
static void progress_at(size_t done)
{
	double now;

	if (!progress.total)
		return;
	now = now_ns();
	if (done && now - progress.shown < BETWEEN_NS)
		return;
	progress.shown = now;
	show(done, now);
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

/* Children write to shared memory. */
struct session {
	const struct turns *turns;
	const void *records; /* of the contestants, RECORD_SIZE bytes apart, or NULL */
	size_t record_size;
	size_t *trial;	/* shared: the next one */
	size_t *counts; /* shared: values of each contestant */
	double *values; /* shared: contestant by contestant */
};

/* The contestant whose turn is PLACE in this trial. */
static size_t whose_turn(const struct turns *turns, size_t trial, size_t place)
{
	size_t block = turns->block, first, length;

	if (!block || trial % 2 == 0)
		return place;
	first = place - place % block;
	length = turns->contestants - first < block ? turns->contestants - first : block;
	return first + length - 1 - place % block;
}

static int run_one(struct session *session, size_t contestant)
{
	const struct turns *turns = session->turns;
	double value = NAN;
	int status;

	if (session->records &&
	    missing_of((const char *)session->records + contestant * session->record_size))
		return 0;
	status = turns->run(turns->context, contestant, *session->trial, &value);
	if (!status && !interrupted() && !isnan(value))
		session->values[contestant * turns->trials + session->counts[contestant]++] = value;
	return status;
}

static int run_trial(struct session *session)
{
	const struct turns *turns = session->turns;
	size_t place;
	int status = 0;

	for (place = 0; place < turns->contestants && !status && !interrupted(); place++) {
		status = run_one(session, whose_turn(turns, *session->trial, place));
		progress_at(*session->trial * turns->contestants + place + 1);
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
		status = run_trial(session);
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
	complain("bench: a process that was to measure ended without a trial");
	return EXIT_FOUND;
}

static void keep_values(const struct session *session, struct numbers times[])
{
	size_t trials = session->turns->trials, c;

	for (c = 0; c < session->turns->contestants; c++) {
		times[c].count = session->counts[c];
		times[c].of = keep(times[c].count, sizeof(double));
		memcpy(times[c].of, session->values + c * trials, times[c].count * sizeof(double));
	}
}

static int take(const struct turns *turns, const void *records, size_t record_size,
		struct numbers times[])
{
	size_t counts_size = turns->contestants * sizeof(size_t);
	size_t values_size = turns->contestants * turns->trials * sizeof(double);
	struct session session = {
		.turns = turns,
		.records = records,
		.record_size = record_size,
		.trial = share(sizeof(size_t)),
		.counts = share(counts_size),
		.values = share(values_size),
	};
	int status = 0;

	progress_begin(turns->what, turns->trials * turns->contestants);
	while (*session.trial < turns->trials && !status && !interrupted())
		status = make_progress(&session);
	progress_end();
	keep_values(&session, times);
	unshare_memory(session.values, values_size);
	unshare_memory(session.counts, counts_size);
	unshare_memory(session.trial, sizeof(size_t));
	return status;
}

int take_turns(const struct turns *turns, struct numbers times[])
{
	return take(turns, NULL, 0, times);
}

int take_trials(struct run *run, struct turns turns, void *records, size_t count, size_t size)
{
	struct numbers *times = allocate(count, sizeof(*times));
	char *record = records;
	int status;
	size_t c;

	turns.contestants = count;
	turns.trials = (size_t)run->settings->trials;
	turns.per_child = 1;
	status = take(&turns, records, size, times);
	for (c = 0; c < count; c++, record += size)
		((struct contestant *)record)->trials = times[c];
	free(times);
	return status;
}
