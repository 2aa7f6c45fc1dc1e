// SPDX-License-Identifier: MIT
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "interrupt.h"
#include "json.h"
#include "memory.h"
#include "progress.h"
#include "trials.h"

/* The kinds, and what was measured of them: in shared memory, written by children. */
struct session {
	struct run *run;
	const struct kind *kinds;
	const char *const *missing; /* of each kind why it is, or NULL */
	size_t kind_count;
	size_t trial;	/* that is being made */
	size_t *counts; /* of the trials of each kind that were finished */
	double *trials; /* ns per call: kind by kind, trial by trial */
};

static double *trials_of(const struct session *session, size_t kind)
{
	return session->trials + kind * (size_t)session->run->settings->trials;
}

static double time_calls(struct run *run, const struct kind *kind)
{
	unsigned long calls = (unsigned long)run->settings->calls;
	double start, taken;

	kind->run((unsigned long)run->settings->warmup);
	start = now_ns();
	kind->run(calls);
	taken = now_ns() - start;
	note_duration(run, taken);
	return taken / (double)calls;
}

static int measure_trial(void *context)
{
	struct session *session = context;
	size_t k;

	for (k = 0; k < session->kind_count && !interrupted(); k++) {
		double ns =
			session->missing[k] ? NAN : time_calls(session->run, &session->kinds[k]);

		/* A trial that a signal cut short is none. */
		if (!session->missing[k] && !interrupted())
			trials_of(session, k)[session->counts[k]++] = ns;
		progress_at(session->trial * session->kind_count + k + 1);
	}
	return 0;
}

static json_t *measured_row(const struct session *session, size_t kind)
{
	const struct run *run = session->run;
	const double *trials = trials_of(session, kind);
	size_t count = session->counts[kind];
	struct summary s = summarize(trials, count, run->settings->bootstrap);
	double cycles = s.median * tsc_rate(run->start) / 1e9;

	return json_pack("{s:s, s:s, s:b, s:n, s:I, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:o}",
			 "name", session->kinds[kind].name, "label", session->kinds[kind].label,
			 "available", 1, "reason", "calls", (json_int_t)run->settings->calls,
			 "trials_ns", json_numbers(trials, count), "mean", s.mean, "min", s.min,
			 "max", s.max, "sd", s.sd, "median", s.median, "se", json_number(s.se),
			 "cycles", json_number(cycles));
}

static json_t *missing_row(const struct kind *kind, const char *reason)
{
	return json_pack("{s:s, s:s, s:b, s:s}", "name", kind->name, "label", kind->label,
			 "available", 0, "reason", reason);
}

static json_t *rows_of(const struct session *session)
{
	json_t *rows = json_array();
	size_t k;

	for (k = 0; k < session->kind_count; k++) {
		if (session->missing[k])
			json_array_append_new(rows,
					      missing_row(&session->kinds[k], session->missing[k]));
		else if (session->counts[k])
			json_array_append_new(rows, measured_row(session, k));
	}
	return rows;
}

int measure_rows(struct run *run, const struct kind kinds[], size_t count, json_t **rows)
{
	size_t trials_size = count * (size_t)run->settings->trials * sizeof(double);
	const char **missing = allocate(count, sizeof(*missing));
	struct session session = {
		.run = run,
		.kinds = kinds,
		.missing = missing,
		.kind_count = count,
		.counts = share(count * sizeof(*session.counts)),
		.trials = share(trials_size),
	};
	int status;
	size_t k;

	for (k = 0; k < count; k++)
		missing[k] = kinds[k].missing ? kinds[k].missing() : NULL;
	status = run_trials(run, "trial and row", count, &session.trial, measure_trial, &session);
	*rows = rows_of(&session);
	unshare_memory(session.trials, trials_size);
	unshare_memory(session.counts, count * sizeof(*session.counts));
	free(missing);
	return status;
}

json_t *find_row(const json_t *rows, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!strcmp(json_string_at(row, "name", ""), name))
			return json_true_at(row, "available") ? row : NULL;
	}
	return NULL;
}

void set_ratios(const json_t *rows, const char *name)
{
	double base = json_number_at(find_row(rows, name), "median");
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		double ratio = json_number_at(row, "median") / base;

		if (json_true_at(row, "available"))
			json_object_set_new(row, "ratio", json_number(ratio));
	}
}
