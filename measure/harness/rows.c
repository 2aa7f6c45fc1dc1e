// SPDX-License-Identifier: MIT
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "turns.h"

struct session {
	struct run *run;
	const struct kind *kinds;
};

static int time_calls(void *context, size_t kind, size_t trial, double *ns)
{
	const struct session *session = context;
	const struct settings *settings = session->run->settings;
	double start, taken;

	(void)trial;
	if (session->kinds[kind].cost) {
		*ns = session->kinds[kind].cost();
		return 0;
	}
	session->kinds[kind].run((unsigned long)settings->warmup);
	start = clock_now();
	session->kinds[kind].run((unsigned long)settings->calls);
	taken = clock_now() - start;
	note_duration(session->run, taken);
	*ns = taken / (double)settings->calls;
	return 0;
}

static struct row measured_row(struct run *run, const struct kind *kind, struct numbers trials)
{
	struct row row = {
		.name = kind->name,
		.label = kind->label,
		.calls = run->settings->calls,
		.trials = trials,
		.summary = summarize(trials.of, trials.count, run->settings->bootstrap),
		.quartile_low = quantile_of(trials.of, trials.count, 0.25),
		.quartile_high = quantile_of(trials.of, trials.count, 0.75),
		.instructions = NAN,
		.ratio = NAN,
		.kernel_share = NAN,
	};

	row.cycles = row.summary.median * tsc_rate(run->start) / 1e9;
	note_trials(run, trials.of, trials.count);
	return row;
}

int measure_rows(struct run *run, const struct kind kinds[], size_t count, struct row **rows,
		 size_t *row_count)
{
	struct numbers *times = allocate(count, sizeof(*times));
	struct row *all = keep(count, sizeof(*all));
	struct session session = { run, kinds };
	const struct turns turns = {
		.what = "trial and row",
		.contestants = count,
		.trials = (size_t)run->settings->trials,
		.per_child = 1,
		.run = time_calls,
		.records = all,
		.record_size = sizeof(*all),
		.context = &session,
	};
	int status;
	size_t k;

	for (k = 0; k < count; k++)
		all[k] = (struct row){ .missing = kinds[k].missing ? kinds[k].missing() : NULL,
				       .name = kinds[k].name,
				       .label = kinds[k].label };
	status = take_turns(&turns, times);
	*rows = all;
	*row_count = 0;
	for (k = 0; k < count; k++) {
		if (all[k].missing)
			all[(*row_count)++] = all[k];
		else if (times[k].count)
			all[(*row_count)++] = measured_row(run, &kinds[k], times[k]);
	}
	free(times);
	return status;
}

const struct row *find_row(const struct row rows[], size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].missing ? NULL : &rows[i];
	return NULL;
}

void set_ratios(struct row rows[], size_t count, const char *name)
{
	const struct row *base = find_row(rows, count, name);
	size_t i;

	for (i = 0; base && i < count; i++)
		rows[i].ratio = rows[i].summary.median / base->summary.median;
}

static const struct field fields[] = {
	{ "name", F_TEXT, offsetof(struct row, name), CSV | ALWAYS },
	{ "label", F_TEXT, offsetof(struct row, label), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	{ "calls", F_COUNT, offsetof(struct row, calls), 0 },
	TRIAL_FIELDS(struct row),
	{ "quartile_low", F_NUMBER, offsetof(struct row, quartile_low), CSV },
	{ "quartile_high", F_NUMBER, offsetof(struct row, quartile_high), CSV },
	{ "cycles", F_NUMBER, offsetof(struct row, cycles), CSV },
	{ "instructions", F_NUMBER, offsetof(struct row, instructions), CSV },
	{ "ratio", F_NUMBER, offsetof(struct row, ratio), CSV },
	{ "kernel_share", F_NUMBER, offsetof(struct row, kernel_share), CSV },
};

void add_rows(struct run *run, const struct row rows[], size_t count)
{
	size_t i;

	add_records(run, "rows", fields, COUNT_OF(fields), rows, count, sizeof(*rows));
	for (i = 0; i < count; i++)
		if (!rows[i].missing)
			add_median(run, rows[i].name, &rows[i].summary);
}
