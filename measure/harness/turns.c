// SPDX-License-Identifier: MIT
#include "turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "common/memory.h"
#include "common/messages.h"
#include "interrupt.h"
#include "progress.h"

/* Children write to shared memory. */
struct session {
	const struct turns *turns;
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

	if (turns->records &&
	    missing_of((const char *)turns->records + contestant * turns->record_size))
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

int take_turns(const struct turns *turns, struct numbers times[])
{
	size_t counts_size = turns->contestants * sizeof(size_t);
	size_t values_size = turns->contestants * turns->trials * sizeof(double);
	struct session session = {
		.turns = turns,
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

int take_trials(const struct turns *turns)
{
	struct numbers *times = allocate(turns->contestants, sizeof(*times));
	int status = take_turns(turns, times);
	char *record = turns->records;
	size_t c;

	for (c = 0; c < turns->contestants; c++, record += turns->record_size)
		((struct contestant *)record)->trials = times[c];
	free(times);
	return status;
}
