// SPDX-License-Identifier: MIT
#include "against.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "document.h"
#include "json.h"

json_t *read_run(const char *path)
{
	json_error_t error;
	json_t *run;
	size_t length;
	void *bytes;

	if (read_file(path, &bytes, &length))
		return NULL;
	run = json_loadb(bytes, length, 0, &error);
	free(bytes);
	if (!run)
		complain("%s:%d: it is cut short or no JSON: %s", path, error.line, error.text);
	else if (strcmp(json_string_at(run, "schema", ""), SCHEMA) != 0)
		complain("%s: it is not what 'ferry bench --json' writes", path);
	else if (json_number_at(run, "version") != SCHEMA_VERSION)
		complain("%s: it has version %g of the schema, and this ferry reads version %d",
			 path, json_number_at(run, "version"), SCHEMA_VERSION);
	else if (!json_is_string(json_object_get(run, "bench")))
		complain("%s: it does not say which bench it is of", path);
	else
		return run;
	json_decref(run);
	return NULL;
}

/* ---- the figures of a run, by name ---- */

static void add_figure(json_t *figures, const char *what, const char *unit,
		       struct estimate estimate)
{
	if (isfinite(estimate.value))
		json_object_set_new(figures, what,
				    json_pack("{s:s, s:f, s:o}", "unit", unit, "value",
					      estimate.value, "se", json_number(estimate.se)));
}

static void add_rows(json_t *figures, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		add_figure(figures, json_string_at(row, "name", "?"), "ns",
			   (struct estimate){ json_number_at(row, "median"),
					      json_number_at(row, "se") });
}

static void add_series(json_t *figures, const json_t *all)
{
	const json_t *series;
	char what[4096];
	size_t i;

	json_array_foreach(all, i, series) {
		const char *engine = json_string_at(series, "engine", "?");
		const char *call = json_string_at(series, "call", "?");

		snprintf(what, sizeof(what), "%s %s a", engine, call);
		add_figure(figures, what, "ns",
			   (struct estimate){ json_number_at(series, "fit.a_ns"),
					      json_number_at(series, "fit.a_se") });
		snprintf(what, sizeof(what), "%s %s b", engine, call);
		add_figure(figures, what, "ns",
			   (struct estimate){ json_number_at(series, "fit.b_ns"),
					      json_number_at(series, "fit.b_se") });
	}
}

static void add_ratios(json_t *figures, const json_t *ratios)
{
	const json_t *row;
	char what[4096];
	size_t i;

	json_array_foreach(ratios, i, row) {
		snprintf(what, sizeof(what), "%s %s against %s", json_string_at(row, "engine", "?"),
			 json_string_at(row, "call", "?"), json_string_at(row, "against", "?"));
		add_figure(figures, what, "ratio",
			   (struct estimate){ json_number_at(row, "ratio"),
					      json_number_at(row, "se") });
	}
}

static void add_comparisons(json_t *figures, const json_t *comparisons)
{
	const json_t *row;
	char what[4096];
	size_t i;

	json_array_foreach(comparisons, i, row) {
		double width = json_number_at(row, "ratio.high") - json_number_at(row, "ratio.low");

		snprintf(what, sizeof(what), "%s %s against %s", json_string_at(row, "app", "?"),
			 json_string_at(row, "side", "?"), json_string_at(row, "against", "?"));
		add_figure(figures, what, "ratio",
			   (struct estimate){ json_number_at(row, "ratio.median"),
					      width / (2 * SIGNIFICANT) });
	}
}

/* {"stat": {"unit": "ns", "value": 480, "se": 2}, ...} */
static json_t *figures_of(const json_t *run)
{
	json_t *figures = json_object();

	add_rows(figures, json_object_get(run, "rows"));
	add_rows(figures, json_object_get(run, "cells"));
	add_rows(figures, json_object_get(run, "touches"));
	add_series(figures, json_object_get(run, "series"));
	add_ratios(figures, json_object_get(run, "ratios"));
	add_comparisons(figures, json_object_get(run, "comparisons"));
	return figures;
}

/* ---- side by side ---- */

static json_t *pair(const char *what, const json_t *before, const json_t *now)
{
	struct estimate one = { json_number_at(before, "value"), json_number_at(before, "se") };
	struct estimate other = { json_number_at(now, "value"), json_number_at(now, "se") };

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "what", what, "unit",
			 json_string_at(now, "unit", ""), "before", json_number(one.value),
			 "before_se", json_number(one.se), "now", json_number(other.value),
			 "now_se", json_number(other.se), "ratio",
			 json_number(other.value / one.value), "different", differ(one, other));
}

json_t *compare_runs(const char *path, const json_t *before, const json_t *now)
{
	json_t *earlier = figures_of(before), *later = figures_of(now);
	json_t *rows = json_array();
	const char *what;
	json_t *figure;

	json_object_foreach(later, what, figure) {
		if (json_object_get(earlier, what))
			json_array_append_new(rows,
					      pair(what, json_object_get(earlier, what), figure));
	}
	json_decref(earlier);
	json_decref(later);
	return json_pack("{s:o, s:s, s:o}", "file", json_text(path), "started",
			 json_string_at(before, "started", ""), "rows", rows);
}

static const struct column columns[] = {
	{ "FIGURE", "what", TEXT, 0 },	      { "UNIT", "unit", TEXT, 0 },
	{ "BEFORE", "before", NUMBER, 2 },    { "+-", "before_se", NUMBER, 2 },
	{ "NOW", "now", NUMBER, 2 },	      { "+-", "now_se", NUMBER, 2 },
	{ "NOW/BEFORE", "ratio", NUMBER, 3 }, { "DIFFERENT", "different", YES_NO, 0 },
};

void print_comparison(const json_t *against)
{
	static const struct table table = { columns, sizeof(columns) / sizeof(columns[0]) };
	const json_t *rows = json_object_get(against, "rows");
	size_t different = 0, i;
	const json_t *row;

	json_array_foreach(rows, i, row)
		different += json_true_at(row, "different");
	print_heading("\nAgainst %s (%s)", json_string_at(against, "file", ""),
		      json_string_at(against, "started", ""));
	print_table(&table, rows);
	printf("%zu of %zu figures differ by more than the errors of both allow.\n", different,
	       json_array_size(rows));
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

void print_differences(const json_t *before, const json_t *now)
{
	static const char *const paths[] = {
		"machine.cpu",	      "machine.cpus",	"machine.virtual_machine",
		"machine.governor",   "kernel.release", "mitigations",
		"clock.source",	      "settings.calls", "settings.sizes",
		"settings.directory", "complete",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		print_difference(paths[i], before, now);
}
