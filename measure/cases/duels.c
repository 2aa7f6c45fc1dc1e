// SPDX-License-Identifier: MIT
/* Pairs of runs, and conclusions from them. */
#include "duels.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/memory.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/turns.h"

/* ---- measuring ---- */

struct stage {
	struct run *run;
	struct duel *duel;
	const char *(*time)(void *context, size_t side, double *ns);
	void *context;
};

/* Of this process and of its children that have ended, ns. */
static double cpu_time(void)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage usage;
	double seconds = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		getrusage(whose[i], &usage);
		seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
		seconds += (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	}
	return seconds * 1e9;
}

/* The first trials are not kept: they warm up. */
static int time_side(void *context, size_t side, size_t trial, double *value)
{
	struct stage *stage = context;
	struct duel *duel = stage->duel;
	double ns = NAN, cpu = cpu_time();

	if (!duel->missing)
		duel->missing = stage->time(stage->context, side, &ns);
	if (duel->missing || trial < (size_t)stage->run->settings->warmup)
		return 0;
	if (duel->counts_cpu && !interrupted())
		duel->cpu_times[side].of[duel->cpu_times[side].count++] = cpu_time() - cpu;
	note_duration(stage->run, ns);
	*value = ns;
	return 0;
}

bool duel_measure(struct run *run, struct duel *duel,
		  const char *(*time)(void *context, size_t side, double *ns), void *context)
{
	struct contestant *sides = share(2 * sizeof(*sides));
	struct stage stage = { run, duel, time, context };
	const struct duel_settings *settings = (const struct duel_settings *)run->settings;
	const struct turns turns = {
		.what = keep_text("%s: %s, %s", duel->app, duel->side, duel->against),
		.contestants = sides,
		.count = 2,
		.size = sizeof(*sides),
		.trials = (size_t)(settings->warmup + settings->pairs),
		.block = 2,
		.run = time_side,
		.context = &stage,
	};
	size_t side;

	for (side = 0; side < 2 && duel->counts_cpu; side++)
		duel->cpu_times[side].of = keep(turns.trials, sizeof(double));
	if (!duel->missing && !interrupted())
		take_turns(&turns);
	duel->times[0] = sides[0].trials;
	duel->times[1] = sides[1].trials;
	/* Half a pair, which a signal has cut short, does not count. */
	if (duel->times[0].count > duel->times[1].count)
		duel->times[0].count = duel->times[1].count;
	duel->times[1].count = duel->times[0].count;
	return duel->missing || duel->times[0].count;
}

/* ---- programs ---- */

struct programs {
	struct duel *duel;
	struct process sides[2];
	const char *(*prepare)(void *context);
	void *context;
};

/* An exit status of 1 says that some file could not be read, and that the rest was done. */
static const char *run_side(void *context, size_t side, double *ns)
{
	struct programs *programs = context;
	const char *name = programs->sides[side].argv[0];
	const char *missing = programs->prepare ? programs->prepare(programs->context) : NULL;
	struct outcome outcome;

	if (missing)
		return missing;
	outcome = process_run(&programs->sides[side]);
	*ns = outcome.ns;
	if (outcome.status == 0 || outcome.status == 1 || interrupted())
		return NULL;
	if (outcome.status == -ENOENT)
		return keep_text("%s is not installed", name);
	if (outcome.status < 0)
		return keep_text("%s cannot be run: %s", name, strerror(-outcome.status));
	return keep_text("%s ended with status %d", name, outcome.status);
}

static bool same_contents(int one, int other)
{
	static char mine[1 << 16], its[1 << 16];
	ssize_t length, place = 0;

	do {
		length = pread(one, mine, sizeof(mine), place);
		if (length < 0 || pread(other, its, sizeof(its), place) != length ||
		    memcmp(mine, its, (size_t)length) != 0)
			return false;
		place += length;
	} while (length);
	return true;
}

/* Runs both sides once, their output kept, and compares it. */
static void compare_outputs(struct programs *programs)
{
	struct duel *duel = programs->duel;
	int outputs[2] = { -1, -1 };
	double ns;
	size_t side;

	for (side = 0; side < 2 && !duel->missing; side++) {
		int timed = programs->sides[side].output;

		outputs[side] = memfd_create("ferry-bench", MFD_CLOEXEC);
		programs->sides[side].output = outputs[side];
		duel->missing = run_side(programs, side, &ns);
		programs->sides[side].output = timed;
	}
	duel->equal =
		duel->same_output ? !duel->missing && same_contents(outputs[0], outputs[1]) : -1;
	for (side = 0; side < 2; side++)
		if (outputs[side] >= 0)
			close(outputs[side]);
}

bool duel_of_programs(struct run *run, struct duel *duel, const struct process sides[2],
		      const char *(*prepare)(void *context), void *context)
{
	struct programs programs = { duel, { sides[0], sides[1] }, prepare, context };

	duel->argv[0] = sides[0].argv;
	duel->argv[1] = sides[1].argv;
	compare_outputs(&programs);
	return duel_measure(run, duel, run_side, &programs);
}

/* ---- concluding ---- */

static void set_cpu(struct duel *duel)
{
	int side;

	duel->cpu[0] = duel->cpu[1] = NAN;
	if (!duel->cpu_times[0].count || !duel->cpu_times[1].count)
		return;
	for (side = 0; side < 2; side++)
		duel->cpu[side] = median_of(duel->cpu_times[side].of, duel->cpu_times[side].count);
	duel->cpus = (struct numbers){ duel->cpu, 2 };
}

static void compare_sides(struct run *run, struct duel *duel)
{
	size_t count = duel->times[0].count, i;
	double *pairs = keep(2 * count, sizeof(*pairs));
	int side;

	for (i = 0; i < count; i++) {
		pairs[2 * i] = duel->times[0].of[i];
		pairs[2 * i + 1] = duel->times[1].of[i];
	}
	duel->pairs = (struct matrix){ pairs, count, 2 };
	for (side = 0; side < 2; side++) {
		duel->median[side] = median_of(duel->times[side].of, count);
		note_trials(run, &duel->times[side]);
	}
	duel->medians = (struct numbers){ duel->median, 2 };
	set_cpu(duel);
	duel->ratios = ratios_of(&duel->times[0], &duel->times[1]);
	duel->ratio = compare_signs(&duel->ratios, &duel->confidence);
	add_comparison(run, &duel->ratio);
}

static void say(struct run *run, const struct duel *duel)
{
	const struct comparison *ratio = &duel->ratio;
	const char *as = duel->as ? duel->as : "as fast as";

	if (isnan(ratio->low))
		add_finding(run, duel->app,
			    "%s: %s is %.2f times %s %s, but too few pairs were run to say "
			    "how certain that is.",
			    duel->app, duel->side, ratio->ratio, as, duel->against);
	else if (ratio->significant)
		add_finding(run, duel->app, "%s: %s is %.2f times %s %s (%.2f to %.2f).", duel->app,
			    duel->side, ratio->ratio, as, duel->against, ratio->low, ratio->high);
	else
		add_finding(run, duel->app,
			    "%s: noise could explain the difference between %s and %s (a ratio "
			    "of %.2f, %.2f to %.2f).",
			    duel->app, duel->side, duel->against, ratio->ratio, ratio->low,
			    ratio->high);
	if (duel->same_output && !duel->equal)
		add_warning(run, "outputs-differ", "%s: %s and %s gave different outputs.",
			    duel->app, duel->side, duel->against);
}

#define DUEL(member) offsetof(struct duel, member)

static const struct field fields[] = {
	{ "app", F_TEXT, DUEL(app), CSV | ALWAYS },
	{ "side", F_TEXT, DUEL(side), CSV | ALWAYS },
	{ "against", F_TEXT, DUEL(against), CSV | ALWAYS },
	{ "what", F_TEXT, DUEL(what), ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	{ "commands", F_WORD_LISTS, DUEL(argv), 0 },
	{ "pairs_ns", F_MATRIX, DUEL(pairs), 0 },
	{ "ratios", F_NUMBERS, DUEL(ratios), 0 },
	{ "median_ns", F_NUMBERS, DUEL(medians), 0 },
	{ "median_cpu_ns", F_NUMBERS, DUEL(cpus), 0 },
	{ "requests_per_s", F_NUMBERS, DUEL(rates), 0 },
	{ "p99_ns", F_NUMBERS, DUEL(lates), 0 },
	{ "median_ns.0", F_NUMBER, DUEL(median[0]), CSV | CSV_ONLY },
	{ "median_ns.1", F_NUMBER, DUEL(median[1]), CSV | CSV_ONLY },
	{ "ratio.median", F_NUMBER, DUEL(ratio.ratio), CSV },
	{ "ratio.low", F_NUMBER, DUEL(ratio.low), CSV },
	{ "ratio.high", F_NUMBER, DUEL(ratio.high), CSV },
	{ "ratio.confidence", F_NUMBER, DUEL(confidence), CSV },
	{ "ratio.quartile_low", F_NUMBER, DUEL(ratio.quartile_low), 0 },
	{ "ratio.quartile_high", F_NUMBER, DUEL(ratio.quartile_high), 0 },
	{ "ratio.p", F_NUMBER, DUEL(ratio.p), 0 },
	{ "significant", F_YES_NO, DUEL(ratio.significant), CSV },
	{ "equal", F_MAYBE, DUEL(equal), CSV },
};

void duels_conclude(struct run *run, struct duel duels[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!duels[i].missing)
			compare_sides(run, &duels[i]);
	judge_run(run);
	for (i = 0; i < count; i++) {
		const struct duel *duel = &duels[i];

		if (duel->missing)
			continue;
		say(run, duel);
		add_figure(
			run, keep_text("%s %s against %s", duel->app, duel->side, duel->against),
			"ratio",
			(struct estimate){ duel->ratio.ratio, (duel->ratio.high - duel->ratio.low) /
								      (2 * SIGNIFICANT) },
			duel->ratios.count);
	}
	add_records(run, RECORDS("comparisons", fields, duels, count));
}

static const struct column columns[] = {
	{ "", F_TEXT, DUEL(app), 0 },
	{ "", F_TEXT, DUEL(side), 0 },
	{ "AGAINST", F_TEXT, DUEL(against), 0 },
	{ "ms", F_MILLISECONDS, DUEL(median[0]), 2 },
	{ "ITS ms", F_MILLISECONDS, DUEL(median[1]), 2 },
	{ "RATIO", F_NUMBER, DUEL(ratio.ratio), 3 },
	{ "FROM", F_NUMBER, DUEL(ratio.low), 2 },
	{ "TO", F_NUMBER, DUEL(ratio.high), 2 },
	{ "QUARTILE", F_NUMBER, DUEL(ratio.quartile_low), 2, PAGE_ONLY },
	{ "QUARTILE", F_NUMBER, DUEL(ratio.quartile_high), 2, PAGE_ONLY },
	{ "SURE", F_YES_NO, DUEL(ratio.significant), 0 },
	{ "SAME OUTPUT", F_MAYBE, DUEL(equal), 0, PAGE_ONLY },
	{ "CPU ms", F_MILLISECONDS, DUEL(cpu[0]), 2 },
	{ "ITS CPU", F_MILLISECONDS, DUEL(cpu[1]), 2 },
};

#define CPU_COLUMNS 2 /* the last ones */

static const char note[] =
	"RATIO: times as fast. FROM and TO: the interval for its median, at 95 % or a little "
	"more. SURE: by more than the noise, all rows judged together.";

void duels_tabulate(struct run *run, const char *app, const char *side, const char *title,
		    bool with_cpu)
{
	struct column *shown = keep(COUNT_OF(columns), sizeof(*shown));
	size_t count = COUNT_OF(columns) - (with_cpu ? 0 : CPU_COLUMNS);

	memcpy(shown, columns, sizeof(columns));
	shown[0].heading = app;
	shown[1].heading = side;
	if (clock_counts_instructions()) {
		shown[3].heading = "MILLIONS";
		shown[4].heading = "ITS MILLIONS";
	}
	table_add_all(new_table(run, shown, count, note, title), &run->sets[0]);
}
