// SPDX-License-Identifier: MIT
#include "rows.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"
#include "turns.h"

struct session {
	struct run *run;
	const struct kind *kinds;
	long calls;
};

static int time_calls(void *context, size_t kind, size_t trial, double *ns)
{
	const struct session *session = context;
	double start, taken;

	(void)trial;
	if (session->kinds[kind].cost) {
		*ns = session->kinds[kind].cost();
		return 0;
	}
	session->kinds[kind].run((unsigned long)session->run->settings->warmup);
	start = clock_now();
	session->kinds[kind].run((unsigned long)session->calls);
	taken = clock_now() - start;
	note_duration(session->run, taken);
	*ns = taken / (double)session->calls;
	return 0;
}

int measure_rows(struct run *run, const struct kind kinds[], size_t count, long calls,
		 struct row **rows, size_t *row_count)
{
	struct row *all = share(count * sizeof(*all)), *row;
	struct session session = { run, kinds, calls };
	const struct turns turns = { .what = "trial and row",
				     .run = time_calls,
				     .context = &session };
	int status;
	size_t k;

	for (k = 0; k < count; k++)
		all[k] = (struct row){ .missing = kinds[k].missing ? kinds[k].missing() : NULL,
				       .name = kinds[k].name,
				       .base = kinds[k].compared ? 0 : NO_BASE,
				       .label = kinds[k].label,
				       .calls = calls,
				       .instructions = NAN,
				       .times = NAN,
				       .kernel_share = NAN };
	status = take_trials(run, turns, all, count, sizeof(*all));
	*rows = all;
	*row_count = compare_contestants(run, all, count, sizeof(*all));
	for (row = all; row < all + *row_count; row++)
		row->cycles = row->summary.median * tsc_rate(run->start) / 1e9;
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

void set_times(struct row rows[], size_t count, const char *name)
{
	const struct row *base = find_row(rows, count, name);
	size_t i;

	for (i = 0; base && i < count; i++)
		rows[i].times = rows[i].summary.median / base->summary.median;
}

static const struct field fields[] = {
	{ "name", F_TEXT, offsetof(struct row, name), CSV | ALWAYS },
	{ "label", F_TEXT, offsetof(struct row, label), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	{ "calls", F_COUNT, offsetof(struct row, calls), 0 },
	TRIAL_FIELDS(struct row),
	{ "quartile_low", F_NUMBER, offsetof(struct row, summary.quartile_low), CSV },
	{ "quartile_high", F_NUMBER, offsetof(struct row, summary.quartile_high), CSV },
	{ "cycles", F_NUMBER, offsetof(struct row, cycles), CSV },
	{ "instructions", F_NUMBER, offsetof(struct row, instructions), CSV },
	{ "ratio", F_NUMBER, offsetof(struct row, times), CSV },
	{ "kernel_share", F_NUMBER, offsetof(struct row, kernel_share), CSV },
};

void add_rows(struct run *run, const struct row rows[], size_t count)
{
	add_contestants(run, RECORDS("rows", fields, rows, count));
}
