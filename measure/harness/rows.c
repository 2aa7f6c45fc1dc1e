// SPDX-License-Identifier: MIT
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "turns.h"

#define BLOCK_NS 20000 /* a thousand times what a reading of the clock takes */
#define FEWEST_IN_BLOCK 64

struct session {
	struct run *run;
	const struct kind *kinds;
	long calls;
};

static double time_block(const struct kind *kind, unsigned long calls)
{
	double start = clock_now();

	kind->run(calls);
	return clock_now() - start;
}

/* As many calls as take BLOCK_NS, or all. */
static unsigned long block_of(const struct kind *kind, unsigned long calls)
{
	unsigned long block = FEWEST_IN_BLOCK;

	if (clock_counts_instructions())
		return calls;
	while (block < calls && time_block(kind, block) < BLOCK_NS)
		block *= 2;
	return block < calls ? block : calls;
}

/*
 * A trial is the median of blocks that are far shorter than the time for which another task gets
 * the CPU: only some of them are disturbed then, on a busy machine, too.
 */
static double median_block(const struct session *session, const struct kind *kind)
{
	const unsigned long calls = (unsigned long)session->calls, block = block_of(kind, calls);
	const size_t count = calls / block;
	double *times = allocate(count, sizeof(*times)), median;
	size_t i;

	for (i = 0; i < count; i++) {
		times[i] = time_block(kind, block);
		note_duration(session->run, times[i]);
	}
	median = median_of(times, count);
	free(times);
	return fmax(0, median - clock_cost()) / (double)block;
}

static int time_calls(void *context, size_t kind, size_t trial, double *ns)
{
	const struct session *session = context;
	const struct kind *of = &session->kinds[kind];

	(void)trial;
	if (of->cost) {
		*ns = of->cost();
		return 0;
	}
	of->run((unsigned long)session->run->settings->warmup);
	*ns = median_block(session, of);
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
	{ "settled", F_YES_NO, offsetof(struct row, summary.settled), 0 },
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
