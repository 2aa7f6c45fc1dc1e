// SPDX-License-Identifier: MIT
/* What follows from trials of batches: lines, ratios, and where one engine overtakes another. */
#include "batch.h"

#include <math.h>
#include <string.h>

#include <ferry.h>

#include "common/memory.h"

#define BENT 0.02 /* a line with a larger misfit means little */

/* Two engines on one workload, by their slopes. */
struct pairing {
	const char *missing;
	const struct series *one, *other;
	const char *call, *engine, *against;
	bool alike; /* one engine by two names */
	struct comparison slopes;
	struct estimate even;
	long first_faster, largest;
	double at_largest; /* times as fast, by the least times alone */
};

/* Two engines in batches of one size. */
struct at_size {
	const char *missing;
	const char *call, *engine, *against;
	long size;
	double own, other; /* least times of a slot or copy */
	struct comparison pairs;
};

struct results {
	const struct series *series;
	struct pairing *pairings;
	struct at_size *at_sizes;
	size_t series_count, pairing_count, at_size_count;
};

static struct numbers room_for(size_t count)
{
	return (struct numbers){ keep(count, sizeof(double)), count };
}

static struct trials trials_of(const struct series *series)
{
	return (struct trials){ series->sizes.of, series->trials };
}

/* ---- lines ---- */

static void set_band(struct series *series)
{
	const struct line_fit *fit = &series->fit;
	size_t s;

	series->line = room_for(series->sizes.count);
	series->low = room_for(series->sizes.count);
	series->high = room_for(series->sizes.count);
	for (s = 0; s < series->sizes.count; s++) {
		double n = series->sizes.of[s], line = fit->line.a + fit->line.b * n;
		double variance = fit->a_se * fit->a_se + 2 * fit->covariance * n +
				  fit->b_se * fit->b_se * n * n;
		double half = SIGNIFICANT * sqrt(fmax(0, variance));

		series->line.of[s] = line;
		series->low.of[s] = line - half;
		series->high.of[s] = line + half;
	}
}

static void fit_series(struct run *run, struct series *series)
{
	const struct sizes *sizes = &batch_settings(run)->sizes;
	struct trials trials;

	series->unit = series->body > 1 ? "copy" : "slot";
	series->overhead = NAN;
	series->sizes = room_for(sizes->count);
	memcpy(series->sizes.of, sizes->of, sizes->count * sizeof(double));
	trials = trials_of(series);
	series->least = room_for(sizes->count);
	least_of(&trials, series->least.of);
	series->fitted = series->trials.rows >= 2 && sizes->count >= 2;
	if (!series->fitted)
		return;
	series->fit = fit_least(&trials, run->settings->bootstrap);
	series->straight = series->fit.misfit <= BENT;
	series->overhead = series->fit.line.b - series->handler;
	set_band(series);
}

static struct numbers column_of(const struct matrix *trials, size_t column)
{
	struct numbers values = room_for(trials->rows);
	size_t t;

	for (t = 0; t < trials->rows; t++)
		values.of[t] = trials->values[t * trials->columns + column];
	return values;
}

static void note_series(struct run *run, const struct series *series)
{
	size_t s;

	for (s = 0; s < series->sizes.count; s++) {
		struct numbers values = column_of(&series->trials, s);

		note_trials(run, &values);
	}
}

/* ---- engine against engine ---- */

/* What runs batches that are given to NAME. */
static const char *engine_behind(const char *name)
{
	return strcmp(name, "auto") ? name : ferry_engine_name(ferry_engine_auto(NULL));
}

static bool run_the_same(const struct series *one, const struct series *other)
{
	return !strcmp(engine_behind(one->engine), engine_behind(other->engine));
}

static void add_at_sizes(struct run *run, struct results *results, const struct series *one,
			 const struct series *other)
{
	size_t s;

	for (s = 0; s < one->sizes.count; s++) {
		struct at_size *at = &results->at_sizes[results->at_size_count++];
		struct numbers own = column_of(&one->trials, s);
		struct numbers base = column_of(&other->trials, s);
		struct numbers ratios = ratios_of(&own, &base);
		double size = one->sizes.of[s];

		*at = (struct at_size){
			.call = one->call,
			.engine = one->engine,
			.against = other->engine,
			.size = (long)size,
			.own = one->least.of[s] / size,
			.other = other->least.of[s] / size,
		};
		at->pairs = compare_in_turn(&own, &base, &ratios, run->settings->bootstrap);
		if (!run_the_same(one, other))
			add_comparison(run, &at->pairs);
	}
}

static struct estimate slope_of(const struct series *series)
{
	return (struct estimate){ series->fit.line.b, series->fit.b_se };
}

static void add_pairing(struct run *run, struct results *results, const struct series *one,
			const struct series *other)
{
	struct trials trials = trials_of(one), first = trials_of(other);
	struct pairing *pairing = &results->pairings[results->pairing_count++];
	size_t last = one->sizes.count - 1;

	*pairing = (struct pairing){
		.one = one,
		.other = other,
		.call = one->call,
		.engine = one->engine,
		.against = other->engine,
		.alike = run_the_same(one, other),
		.slopes = compare_slopes(&trials, &first),
		.even = { NAN, NAN },
		.largest = (long)one->sizes.of[last],
		.at_largest = other->least.of[last] / one->least.of[last],
	};
	if (!pairing->alike)
		add_comparison(run, &pairing->slopes);
}

/* Parallel lines never meet, and bent series have no line. */
static void set_even(struct pairing *pairing)
{
	const struct series *one = pairing->one, *other = pairing->other;

	if (!pairing->slopes.significant || !one->straight || !other->straight)
		return;
	pairing->even = break_even(&one->fit, &other->fit);
	if (pairing->even.value < 1)
		pairing->even = (struct estimate){ 1, NAN };
}

/* The smallest size from which on every size shows a gain beyond the noise, or 0. */
static long first_faster(const struct at_size at[], size_t count)
{
	size_t s = count;

	while (s && at[s - 1].pairs.significant && at[s - 1].pairs.ratio > 1)
		s--;
	return s < count ? at[s].size : 0;
}

/* ---- in words ---- */

static void say_fit(struct run *run, const struct series *series)
{
	const char *unit = clock_unit();

	if (!series->fitted)
		return;
	add_finding(run, series->call,
		    "%s on %s: %.1f +- %.1f %s per batch and %.2f +- %.2f %s per %s.", series->call,
		    series->engine, series->fit.line.a, series->fit.a_se, unit, series->fit.line.b,
		    series->fit.b_se, unit, series->body > 1 ? "copy" : "call");
	if (!series->straight)
		add_finding(run, series->call,
			    "%s on %s follows no straight line (which misses the times by %.0f "
			    "%%): look at the sizes rather than at a and b.",
			    series->call, series->engine, 100 * series->fit.misfit);
	if (series->fit.b_drift > 0.05 * fabs(series->fit.line.b))
		add_warning(run, "drift",
			    "%s on %s: the lines through the first and the second half of the "
			    "trials are far apart (%.1f of %.1f %s per call): the machine changed "
			    "its speed.",
			    series->call, series->engine, series->fit.b_drift, series->fit.line.b,
			    unit);
}

static void say_sizes(struct run *run, const struct pairing *pairing)
{
	if (pairing->first_faster)
		add_finding(run, pairing->call,
			    "%s: %s was faster than %s in batches of %ld or more, by more than the "
			    "noise.",
			    pairing->call, pairing->engine, pairing->against,
			    pairing->first_faster);
}

static void say_pairing(struct run *run, const struct pairing *pairing)
{
	const char *call = pairing->call, *engine = pairing->engine, *against = pairing->against;
	const struct comparison *slopes = &pairing->slopes;

	if (pairing->alike) {
		add_finding(run, call, "%s: %s and %s are one engine here: differences are noise.",
			    call, engine, against);
		return;
	}
	if (!slopes->significant) {
		add_finding(run, call,
			    "%s: this run cannot tell whether %s or %s is faster per call "
			    "(%.4f%s times as fast): noise could explain the difference.",
			    call, engine, against, slopes->ratio,
			    isnan(slopes->se) ? "" : keep_text(" +- %.4f", slopes->se));
		return;
	}
	add_finding(run, call,
		    "%s: by the slopes %s is %.4f +- %.4f times as fast as %s; in batches of %ld "
		    "it was %.3f times as fast.",
		    call, engine, slopes->ratio, slopes->se, against, pairing->largest,
		    pairing->at_largest);
	if (!isnan(pairing->even.value))
		add_finding(run, call, "%s: %s breaks even with %s at batches of %.1f.", call,
			    engine, against, pairing->even.value);
}

static void say_why_no_line(struct run *run, const struct results *results)
{
	if (!results->series_count || results->series[0].fitted)
		return;
	if (batch_settings(run)->sizes.count < 2)
		add_finding(run, NULL,
			    "One size gives no line: give two or more --sizes to see what a batch "
			    "and what a call costs.");
	else
		add_finding(run, NULL,
			    "One trial gives no line with errors: give two or more "
			    "--trials.");
}

/* ---- records ---- */

#define SERIES(member) offsetof(struct series, member)

static const struct field series_fields[] = {
	{ "call", F_TEXT, SERIES(call), CSV },
	{ "engine", F_TEXT, SERIES(engine), CSV },
	{ "label", F_TEXT, SERIES(label), 0 },
	{ "sizes", F_INTEGERS, SERIES(sizes), 0 },
	{ "body", F_COUNT, SERIES(body), 0 },
	{ "trials_ns", F_MATRIX, SERIES(trials), 0 },
	{ "least_ns", F_NUMBERS, SERIES(least), 0 },
	{ "straight", F_YES_NO, SERIES(straight), 0 },
	{ "handler", F_NUMBER, SERIES(handler), CSV },
	{ "overhead", F_NUMBER, SERIES(overhead), CSV },
	{ "fit", F_OBJECT, SERIES(fitted), 0 },
	{ "fit.a_ns", F_NUMBER, SERIES(fit.line.a), CSV },
	{ "fit.a_se", F_NUMBER, SERIES(fit.a_se), CSV },
	{ "fit.b_ns", F_NUMBER, SERIES(fit.line.b), CSV },
	{ "fit.b_se", F_NUMBER, SERIES(fit.b_se), CSV },
	{ "fit.correlation", F_NUMBER, SERIES(fit.correlation), CSV },
	{ "fit.a_scatter", F_NUMBER, SERIES(fit.a_scatter), 0 },
	{ "fit.b_scatter", F_NUMBER, SERIES(fit.b_scatter), 0 },
	{ "fit.a_drift", F_NUMBER, SERIES(fit.a_drift), 0 },
	{ "fit.b_drift", F_NUMBER, SERIES(fit.b_drift), 0 },
	{ "fit.misfit", F_NUMBER, SERIES(fit.misfit), CSV },
	{ "fit.line_ns", F_NUMBERS, SERIES(line), 0 },
	{ "fit.low_ns", F_NUMBERS, SERIES(low), 0 },
	{ "fit.high_ns", F_NUMBERS, SERIES(high), 0 },
};

#define PAIRING(member) offsetof(struct pairing, member)

static const struct field pairing_fields[] = {
	{ "call", F_TEXT, PAIRING(call), 0 },
	{ "engine", F_TEXT, PAIRING(engine), 0 },
	{ "against", F_TEXT, PAIRING(against), 0 },
	{ "ratio", F_NUMBER, PAIRING(slopes.ratio), 0 },
	{ "se", F_NUMBER, PAIRING(slopes.se), 0 },
	{ "low", F_NUMBER, PAIRING(slopes.low), 0 },
	{ "high", F_NUMBER, PAIRING(slopes.high), 0 },
	{ "p", F_NUMBER, PAIRING(slopes.p), 0 },
	{ "significant", F_YES_NO, PAIRING(slopes.significant), 0 },
	{ "break_even", F_NUMBER, PAIRING(even.value), 0 },
	{ "break_even_se", F_NUMBER, PAIRING(even.se), 0 },
	{ "first_faster", F_OPTIONAL, PAIRING(first_faster), 0 },
	{ "at_largest", F_NUMBER, PAIRING(at_largest), 0 },
};

#define AT_SIZE(member) offsetof(struct at_size, member)

static const struct field at_size_fields[] = {
	{ "call", F_TEXT, AT_SIZE(call), 0 },
	{ "engine", F_TEXT, AT_SIZE(engine), 0 },
	{ "against", F_TEXT, AT_SIZE(against), 0 },
	{ "size", F_COUNT, AT_SIZE(size), 0 },
	{ "ratio", F_NUMBER, AT_SIZE(pairs.ratio), 0 },
	{ "ratio_se", F_NUMBER, AT_SIZE(pairs.se), 0 },
	{ "low", F_NUMBER, AT_SIZE(pairs.low), 0 },
	{ "high", F_NUMBER, AT_SIZE(pairs.high), 0 },
	{ "quartile_low", F_NUMBER, AT_SIZE(pairs.quartile_low), 0 },
	{ "quartile_high", F_NUMBER, AT_SIZE(pairs.quartile_high), 0 },
	{ "p", F_NUMBER, AT_SIZE(pairs.p), 0 },
	{ "significant", F_YES_NO, AT_SIZE(pairs.significant), 0 },
};

static void add_figures(struct run *run, const struct results *results)
{
	size_t i;

	for (i = 0; i < results->series_count; i++) {
		const struct series *series = &results->series[i];

		if (!series->fitted)
			continue;
		add_figure(run, keep_text("%s %s a", series->engine, series->call), clock_unit(),
			   (struct estimate){ series->fit.line.a, series->fit.a_se },
			   series->trials.rows);
		add_figure(run, keep_text("%s %s b", series->engine, series->call), clock_unit(),
			   slope_of(series), series->trials.rows);
	}
	for (i = 0; i < results->pairing_count; i++) {
		const struct pairing *pairing = &results->pairings[i];

		add_figure(run,
			   keep_text("%s %s against %s", pairing->engine, pairing->call,
				     pairing->against),
			   "ratio", (struct estimate){ pairing->slopes.ratio, pairing->slopes.se },
			   pairing->one->trials.rows);
	}
}

static void say_everything(struct run *run, struct results *results)
{
	size_t sizes = batch_settings(run)->sizes.count, i;

	for (i = 0; i < results->pairing_count; i++) {
		struct pairing *pairing = &results->pairings[i];

		set_even(pairing);
		pairing->first_faster = first_faster(&results->at_sizes[i * sizes], sizes);
		say_pairing(run, pairing);
		say_sizes(run, pairing);
	}
	for (i = 0; i < results->series_count; i++)
		say_fit(run, &results->series[i]);
	say_why_no_line(run, results);
}

/* ---- tables ---- */

static const struct column fit_columns[] = {
	{ "CALL", F_TEXT, SERIES(label), 0 },
	{ "ENGINE", F_TEXT, SERIES(engine), 0 },
	{ "BATCH a", F_NUMBER, SERIES(fit.line.a), 1 },
	{ "+-", F_NUMBER, SERIES(fit.a_se), 1 },
	{ "CALL b", F_NUMBER, SERIES(fit.line.b), 2 },
	{ "+-", F_NUMBER, SERIES(fit.b_se), 2 },
	{ "CORR", F_NUMBER, SERIES(fit.correlation), 2 },
	{ "MISFIT", F_PERCENT, SERIES(fit.misfit), 0 },
};

static const struct column handler_columns[] = {
	{ "CALL", F_TEXT, SERIES(label), 0 },	       { "ENGINE", F_TEXT, SERIES(engine), 0 },
	{ "SLOT", F_NUMBER, SERIES(fit.line.b), 2 },   { "HANDLER", F_NUMBER, SERIES(handler), 2 },
	{ "OVERHEAD", F_NUMBER, SERIES(overhead), 2 },
};

static const struct column ratio_columns[] = {
	{ "CALL", F_TEXT, PAIRING(call), 0 },
	{ "ENGINE", F_TEXT, PAIRING(engine), 0 },
	{ "AGAINST", F_TEXT, PAIRING(against), 0 },
	{ "RATIO", F_NUMBER, PAIRING(slopes.ratio), 4 },
	{ "+-", F_NUMBER, PAIRING(slopes.se), 4 },
	{ "SURE", F_YES_NO, PAIRING(slopes.significant), 0 },
	{ "EVEN", F_NUMBER, PAIRING(even.value), 1 },
	{ "+-", F_NUMBER, PAIRING(even.se), 2, PAGE_ONLY },
	{ "FROM", F_OPTIONAL, PAIRING(first_faster), 0 },
	{ "LARGEST", F_NUMBER, PAIRING(at_largest), 3 },
};

static const char ratio_note[] =
	"RATIO: of the slopes, times as fast. SURE: by more than the noise. EVEN: where the lines "
	"meet. FROM: the least size from which on every size was faster. LARGEST: times as fast "
	"in the largest batch.";

static const struct column size_columns[] = {
	{ "SIZE", F_COUNT, AT_SIZE(size), 0 },
	{ "ENGINE", F_TEXT, AT_SIZE(engine), 0 },
	{ "LEAST", F_NUMBER, AT_SIZE(own), 1 },
	{ "AGAINST", F_TEXT, AT_SIZE(against), 0 },
	{ "LEAST", F_NUMBER, AT_SIZE(other), 1 },
	{ "RATIO", F_NUMBER, AT_SIZE(pairs.ratio), 3 },
	{ "+-", F_NUMBER, AT_SIZE(pairs.se), 3, PAGE_ONLY },
	{ "QUARTILE", F_NUMBER, AT_SIZE(pairs.quartile_low), 3 },
	{ "QUARTILE", F_NUMBER, AT_SIZE(pairs.quartile_high), 3 },
	{ "SURE", F_YES_NO, AT_SIZE(pairs.significant), 0 },
};

static void tabulate_fits(struct run *run, const struct results *results)
{
	struct table *fits =
		add_table(run, fit_columns, NULL, "What a batch of N slots costs, in %s: a + b N",
			  clock_unit());
	struct table *handlers = add_table(
		run, handler_columns, NULL,
		"What a slot takes beyond the call's handler in the kernel, in %s", clock_unit());
	size_t i;

	for (i = 0; i < results->series_count; i++) {
		const struct series *series = &results->series[i];

		if (series->fitted)
			table_add(fits, series);
		if (!isnan(series->overhead))
			table_add(handlers, series);
	}
}

/* The sizes of one series that has nothing to be compared with: the first columns. */
static void add_sizes_alone(struct table *table, const struct series *series)
{
	size_t s;

	table->column_count = 3;
	for (s = 0; s < series->sizes.count; s++)
		table_add(table,
			  &(struct at_size){ .engine = series->engine,
					     .size = (long)series->sizes.of[s],
					     .own = series->least.of[s] / series->sizes.of[s] });
}

static void tabulate_sizes(struct run *run, const struct results *results,
			   const struct series *series)
{
	struct table *table =
		add_table(run, size_columns, NULL, "%s by batch size: least %s per %s",
			  series->call, clock_unit(), series->unit);
	size_t i;

	for (i = 0; i < results->at_size_count; i++)
		if (!strcmp(results->at_sizes[i].call, series->call))
			table_add(table, &results->at_sizes[i]);
	if (table_is_empty(table))
		add_sizes_alone(table, series);
}

static void tabulate(struct run *run, const struct results *results)
{
	const char *before = "";
	size_t i;

	tabulate_fits(run, results);
	add_table_of(run, &run->sets[1], ratio_columns, ratio_note,
		     "The engines against each other, per slot");
	for (i = 0; i < results->series_count; i++) {
		if (strcmp(results->series[i].call, before) != 0)
			tabulate_sizes(run, results, &results->series[i]);
		before = results->series[i].call;
	}
}

void batch_conclude(struct run *run, struct series series[], size_t count)
{
	const struct series *first = series;
	struct results results = {
		.series = series,
		.series_count = count,
		.pairings = keep(count, sizeof(*results.pairings)),
		.at_sizes =
			keep(count * batch_settings(run)->sizes.count, sizeof(*results.at_sizes)),
	};
	size_t i;

	for (i = 0; i < count; i++) {
		fit_series(run, &series[i]);
		note_series(run, &series[i]);
		if (strcmp(series[i].call, first->call) != 0)
			first = &series[i];
		if (&series[i] == first)
			continue;
		add_at_sizes(run, &results, &series[i], first);
		if (series[i].fitted)
			add_pairing(run, &results, &series[i], first);
	}
	judge_run(run);
	say_everything(run, &results);
	add_figures(run, &results);
	add_records(run, RECORDS("series", series_fields, results.series, results.series_count));
	add_records(run,
		    RECORDS("ratios", pairing_fields, results.pairings, results.pairing_count));
	add_records(run,
		    RECORDS("at_sizes", at_size_fields, results.at_sizes, results.at_size_count));
	tabulate(run, &results);
}
