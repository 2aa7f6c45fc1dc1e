// SPDX-License-Identifier: MIT
#include "against.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/messages.h"
#include "document.h"
#include "options.h"

/* Of FIRST, the first of the earlier runs, or NULL: whether RUN can be used beside it. */
static int check_earlier(const json_t *run, const json_error_t *error, const char *path,
			 const json_t *first)
{
	const char *bench = json_string_at(run, "bench", NULL);

	if (!run)
		complain("%s:%d: it is cut short or not JSON: %s", path, error->line, error->text);
	else if (strcmp(json_string_at(run, "schema", ""), SCHEMA) != 0)
		complain("%s: not a document of 'ferry bench --json'", path);
	else if (json_number_at(run, "version") != SCHEMA_VERSION)
		complain("%s: it has version %g of the schema, and this ferry reads version %d",
			 path, json_number_at(run, "version"), SCHEMA_VERSION);
	else if (!bench)
		complain("%s: the name of the bench is missing", path);
	else if (first && strcmp(bench, json_string_at(first, "bench", "")) != 0)
		complain("%s: it is of the bench %s, and other earlier runs are of %s", path, bench,
			 json_string_at(first, "bench", ""));
	else
		return 0;
	return EXIT_USAGE;
}

int against_read(struct against *against, const char *path)
{
	json_error_t error;
	json_t *run;
	size_t length;
	void *bytes;

	if (read_file(path, &bytes, &length))
		return EXIT_USAGE;
	run = json_loadb(bytes, length, 0, &error);
	free(bytes);
	path = display_name(path);
	if (check_earlier(run, &error, path,
			  against->run_count ? against->runs[0].document : NULL)) {
		json_decref(run);
		return EXIT_USAGE;
	}
	against->runs = keep_more(against->runs, against->run_count, sizeof(*against->runs));
	against->runs[against->run_count++] = (struct earlier){
		.file = path, .document = run, .started = json_string_at(run, "started", "")
	};
	return 0;
}

void against_free(struct against *against)
{
	size_t i;

	for (i = 0; i < against->run_count; i++)
		json_decref(against->runs[i].document);
	against->run_count = 0;
}

static const json_t *find_figure(const json_t *figures, const struct figure *wanted)
{
	const json_t *figure;
	size_t i;

	json_array_foreach(figures, i, figure) {
		if (!strcmp(json_string_at(figure, "what", ""), wanted->what) &&
		    !strcmp(json_string_at(figure, "unit", ""), wanted->unit) &&
		    !isnan(json_number_at(figure, "value")))
			return figure;
	}
	return NULL;
}

/* ---- judging ---- */

/*
 * What equal runs differ by, relative, where only one earlier run is there to show it.  Measured:
 * the standard deviation of 24 equal runs of `ferry bench batch` was 0.001 to 0.026 of each figure,
 * on an AMD EPYC with 20 runnable tasks beside them.
 */
#define BETWEEN_RUNS 0.03

/* Of the difference between this run and the earlier ones. */
struct error {
	double variance, freedom;
};

/* Errors within the runs add to what is assumed; the degrees of freedom are Welch's. */
static struct error error_beside_one(const struct pair *pair)
{
	const double between = clock_counts_instructions() ? 0 : BETWEEN_RUNS;
	const double before = pair->before_se * pair->before_se, now = pair->now_se * pair->now_se;
	const double both = pair->before * pair->before + pair->now * pair->now;
	const double variance = before + now + between * between * both;

	return (struct error){ variance, variance * variance /
						 (before * before / pair->before_freedom +
						  now * now / pair->now_freedom) };
}

/* Equal runs scatter by what is within and between them, and this one is one more of them. */
static struct error error_beside_many(const struct pair *pair, size_t runs)
{
	const double scatter = pair->before_se * pair->before_se;
	const double own = clock_counts_instructions() ? 0 : pair->now_se * pair->now_se;

	return (struct error){ scatter / (double)runs + fmax(scatter, own), (double)runs - 1 };
}

/* How likely the errors alone make such a difference. */
static double p_of(const struct pair *pair, size_t runs)
{
	const struct error error =
		runs > 1 ? error_beside_many(pair, runs) : error_beside_one(pair);
	const double difference = pair->now - pair->before;

	if (isnan(error.variance))
		return NAN;
	if (!(error.variance > 0))
		return difference == 0;
	return two_sided(difference / sqrt(error.variance), fmax(1, floor(error.freedom)));
}

static void judge_pairs(struct against *against)
{
	struct comparison **list = allocate(against->count, sizeof(struct comparison *));
	size_t i;

	for (i = 0; i < against->count; i++)
		list[i] = &against->pairs[i].judged;
	judge(list, against->count);
	for (i = 0; i < against->count; i++)
		against->pairs[i].different =
			against->withheld ? -1 : against->pairs[i].judged.significant;
	free(list);
}

/* The figure in all earlier runs, or false where one of them lacks it. */
static bool find_pair(const struct against *against, const struct figure *now, struct pair *pair)
{
	double *values = keep(against->run_count, sizeof(*values));
	struct summary summary;
	size_t i;

	for (i = 0; i < against->run_count; i++) {
		const json_t *document = against->runs[i].document;
		const json_t *before = find_figure(json_object_get(document, "figures"), now);

		if (!before)
			return false;
		values[i] = json_number_at(before, "value");
		pair->before_se = json_number_at(before, "se");
		pair->before_freedom = json_number_at(before, "trials") - 1;
	}
	summary = summarize(values, i, (struct bootstrap){ .resamples = 2 });
	pair->before = summary.mean;
	if (i > 1)
		pair->before_se = summary.sd;
	pair->ratio = pair->now / pair->before;
	return true;
}

static const struct column columns[] = {
	{ "FIGURE", F_TEXT, offsetof(struct pair, what), 0 },
	{ "UNIT", F_TEXT, offsetof(struct pair, unit), 0 },
	{ "BEFORE", F_NUMBER, offsetof(struct pair, before), 2 },
	{ "+-", F_NUMBER, offsetof(struct pair, before_se), 2 },
	{ "NOW", F_NUMBER, offsetof(struct pair, now), 2 },
	{ "+-", F_NUMBER, offsetof(struct pair, now_se), 2 },
	{ "RATIO", F_NUMBER, offsetof(struct pair, ratio), 3 },
	{ "DIFFER", F_MAYBE, offsetof(struct pair, different), 0 },
};

static const char *note_of(const struct against *against)
{
	size_t different = 0, i;

	if (against->withheld)
		return keep_text("Verdict withheld: %s.", against->withheld);
	for (i = 0; i < against->count; i++)
		different += against->pairs[i].different == 1;
	if (against->run_count > 1)
		return keep_text("%zu of %zu figures differ by more than %zu equal runs would: the "
				 "first +- is how these differ by themselves.",
				 different, against->count, against->run_count);
	return keep_text("%zu of %zu figures differ by more than the errors of both allow, and by "
			 "more than the %.0f %% that equal runs are assumed to differ by: one "
			 "earlier run cannot show that. Give --against for each of several.",
			 different, against->count, 100 * BETWEEN_RUNS);
}

static void tabulate(const struct against *against, struct run *run)
{
	const struct earlier *last = &against->runs[against->run_count - 1];
	struct table *table;
	size_t i;

	if (against->run_count > 1)
		table = add_table(run, columns, note_of(against), "Against %zu runs, up to %s (%s)",
				  against->run_count, last->file, last->started);
	else
		table = add_table(run, columns, note_of(against), "Against %s (%s)", last->file,
				  last->started);
	for (i = 0; i < against->count; i++)
		table_add(table, &against->pairs[i]);
}

/* Of the earlier runs, or of this one; or NULL. */
static const char *why_withheld(const struct against *against, const struct run *run)
{
	size_t i;

	for (i = 0; i < against->run_count; i++) {
		const char *why = json_string_at(against->runs[i].document, "withheld", NULL);

		if (why)
			return keep_text("in %s %s", against->runs[i].file, why);
	}
	return run->withheld;
}

void against_compare(struct against *against, struct run *run)
{
	size_t i;

	against->withheld = why_withheld(against, run);
	against->pairs = keep(run->figure_count, sizeof(*against->pairs));
	for (i = 0; i < run->figure_count; i++) {
		const struct figure *now = &run->figures[i];
		struct pair pair = {
			.what = now->what,
			.unit = now->unit,
			.now = now->value,
			.now_se = now->se,
			.now_freedom = (double)now->trials - 1,
		};

		if (!find_pair(against, now, &pair))
			continue;
		pair.judged.p = p_of(&pair, against->run_count);
		against->pairs[against->count++] = pair;
	}
	judge_pairs(against);
	tabulate(against, run);
}

static const struct field fields[] = {
	{ "what", F_TEXT, offsetof(struct pair, what), 0 },
	{ "unit", F_TEXT, offsetof(struct pair, unit), 0 },
	{ "before", F_NUMBER, offsetof(struct pair, before), 0 },
	{ "before_se", F_NUMBER, offsetof(struct pair, before_se), 0 },
	{ "now", F_NUMBER, offsetof(struct pair, now), 0 },
	{ "now_se", F_NUMBER, offsetof(struct pair, now_se), 0 },
	{ "ratio", F_NUMBER, offsetof(struct pair, ratio), 0 },
	{ "p", F_NUMBER, offsetof(struct pair, judged.p), 0 },
	{ "different", F_MAYBE, offsetof(struct pair, different), 0 },
};

json_t *against_as_json(const struct against *against)
{
	const struct records pairs = RECORDS("rows", fields, against->pairs, against->count);
	const struct earlier *last = &against->runs[against->run_count - 1];

	return json_pack("{s:o, s:s, s:I, s:s?, s:o}", "file", json_text(last->file), "started",
			 last->started, "runs", (json_int_t)against->run_count, "withheld",
			 against->withheld, "rows", records_as_json(&pairs));
}

static void print_difference(const char *path, const json_t *before, const json_t *now)
{
	const json_t *one = json_at(before, path), *other = json_at(now, path);
	char *texts[2];

	if (!one || !other || json_equal(one, other))
		return;
	texts[0] = json_dumps(one, JSON_ENCODE_ANY);
	texts[1] = json_dumps(other, JSON_ENCODE_ANY);
	printf("Not alike: %s was %s and is %s.\n", path, texts[0] ? texts[0] : "?",
	       texts[1] ? texts[1] : "?");
	free(texts[0]);
	free(texts[1]);
}

void against_print_conditions(const struct against *against, const struct bench *bench,
			      const json_t *now)
{
	static const char *const paths[] = {
		"machine.cpu",	    "machine.cpus",   "machine.virtual_machine",
		"machine.governor", "kernel.release", "mitigations",
		"clock.source",	    "complete",	      "unit",
	};
	const json_t *before;
	size_t r, i;

	if (!against->count)
		printf("%s has none of the figures of this run.\n", against->runs[0].file);
	for (r = 0; r < against->run_count; r++) {
		before = against->runs[r].document;
		for (i = 0; i < COUNT_OF(paths); i++)
			print_difference(paths[i], before, now);
		for (i = 0; i < bench->options.count; i++)
			if (bench->options.of[i].condition)
				print_difference(keep_text("settings.%s", bench->options.of[i].key),
						 before, now);
	}
}
