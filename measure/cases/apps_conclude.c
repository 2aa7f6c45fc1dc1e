// SPDX-License-Identifier: MIT
/* What pairs of runs of programs say. */
#include "apps.h"

#include <math.h>

#include "common/memory.h"

static void compare_sides(struct run *run, struct duel *duel)
{
	size_t count = duel->times[0].count, i;
	double *pairs = keep(2 * count, sizeof(*pairs));
	int side;

	duel->ratios = (struct numbers){ keep(count, sizeof(double)), count };
	for (i = 0; i < count; i++) {
		pairs[2 * i] = duel->times[0].of[i];
		pairs[2 * i + 1] = duel->times[1].of[i];
		duel->ratios.of[i] = duel->times[1].of[i] / duel->times[0].of[i];
	}
	duel->pairs = (struct matrix){ pairs, count, 2 };
	for (side = 0; side < 2; side++) {
		duel->median[side] = median_of(duel->times[side].of, count);
		note_trials(run, duel->times[side].of, count);
	}
	duel->medians = (struct numbers){ duel->median, 2 };
	duel->ratio = compare_signs(duel->times[0].of, duel->times[1].of, count, &duel->confidence);
	add_comparison(run, &duel->ratio);
}

static void say(struct run *run, const struct duel *duel)
{
	const struct comparison *ratio = &duel->ratio;

	if (isnan(ratio->low))
		add_finding(run, duel->app,
			    "%s on %s against %s: %.2f times as fast, by too few pairs to tell how "
			    "sure that is.",
			    duel->app, duel->side, duel->against, ratio->ratio);
	else if (ratio->significant)
		add_finding(run, duel->app,
			    "%s on %s against %s: %.2f times as fast (%.2f to %.2f).", duel->app,
			    duel->side, duel->against, ratio->ratio, ratio->low, ratio->high);
	else
		add_finding(run, duel->app,
			    "%s on %s against %s: noise could explain the difference (%.2f "
			    "times as fast, %.2f to %.2f).",
			    duel->app, duel->side, duel->against, ratio->ratio, ratio->low,
			    ratio->high);
	if (duel->same_output && !duel->equal)
		add_warning(run, "outputs-differ", "%s on %s and %s gave different outputs.",
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

void apps_conclude(struct run *run, struct duel duels[], size_t count)
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
			run, "ratio",
			(struct estimate){ duel->ratio.ratio, (duel->ratio.high - duel->ratio.low) /
								      (2 * SIGNIFICANT) },
			"%s %s against %s", duel->app, duel->side, duel->against);
	}
	add_records(run, "comparisons", fields, COUNT_OF(fields), duels, count, sizeof(*duels));
}
