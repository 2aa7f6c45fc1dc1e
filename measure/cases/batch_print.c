// SPDX-License-Identifier: MIT
/* The tables of `ferry bench batch`, from its document alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "batch_contest.h"
#include "measure/harness/json.h"

static const struct json_column fit_columns[] = {
	{ "CALL", "label", TEXT, 0 },
	{ "ENGINE", "engine", TEXT, 0 },
	{ "CROSSING a", "fit.a_ns", NUMBER, 1 },
	{ "+-", "fit.a_se", NUMBER, 1 },
	{ "CALL b", "fit.b_ns", NUMBER, 2 },
	{ "+-", "fit.b_se", NUMBER, 2 },
	{ "CORR", "fit.correlation", NUMBER, 2 },
	{ "MISFIT", "fit.misfit", PERCENT, 0 },
};

static const struct json_column ratio_columns[] = {
	{ "CALL", "call", TEXT, 0 },
	{ "ENGINE", "engine", TEXT, 0 },
	{ "AGAINST", "against", TEXT, 0 },
	{ "TIMES AS FAST", "ratio", NUMBER, 4 },
	{ "+-", "se", NUMBER, 4 },
	{ "SIGNIFICANT", "significant", YES_NO, 0 },
	{ "BREAK-EVEN", "break_even", NUMBER, 1 },
	{ "FASTER FROM", "first_faster", NUMBER, 0 },
	{ "IN THE LARGEST", "at_largest", NUMBER, 3 },
};

/* The least time of each size per slot: {"size": 4, "loop": 88.1, ...} for one call. */
static json_t *sizes_of_call(const json_t *document, const char *call)
{
	json_t *rows = json_array();
	const json_t *series, *trial;
	size_t i, t, s;

	json_array_foreach(json_object_get(document, "series"), i, series) {
		const json_t *sizes = json_object_get(series, "sizes");
		const char *engine = json_string_at(series, "engine", "");

		if (strcmp(json_string_at(series, "call", ""), call) != 0)
			continue;
		for (s = 0; s < json_array_size(sizes); s++) {
			double size = json_number_value(json_array_get(sizes, s));
			double least = INFINITY;

			json_array_foreach(json_object_get(series, "trials_ns"), t, trial)
				least = fmin(least, json_number_value(json_array_get(trial, s)));
			if (s >= json_array_size(rows))
				json_array_append_new(rows, json_pack("{s:f}", "size", size));
			json_object_set_new(json_array_get(rows, s), engine,
					    json_number(least / size));
		}
	}
	return rows;
}

static void print_sizes(const json_t *document, const char *call)
{
	struct json_column columns[1 + MAX_ENGINES] = { { "SIZE", "size", NUMBER, 0 } };
	struct table table = { columns, 1 };
	const char *unit = "slot";
	const json_t *series;
	json_t *rows;
	size_t i;

	json_array_foreach(json_object_get(document, "series"), i, series) {
		const char *engine = json_string_at(series, "engine", "");

		if (strcmp(json_string_at(series, "call", ""), call) != 0)
			continue;
		columns[table.column_count++] = (struct json_column){ engine, engine, NUMBER, 1 };
		if (json_number_at(series, "body") > 1)
			unit = "copy";
	}
	rows = sizes_of_call(document, call);
	print_heading("\n%s by batch size: least ns per %s", call, unit);
	print_table(&table, rows);
	json_decref(rows);
}

void batch_print(const json_t *document)
{
	static const struct table fits = { fit_columns,
					   sizeof(fit_columns) / sizeof(fit_columns[0]) };
	static const struct table ratios = { ratio_columns,
					     sizeof(ratio_columns) / sizeof(ratio_columns[0]) };
	const char *before = "";
	const json_t *series;
	size_t i;

	print_heading("What a batch of N slots costs, in ns: a + b N");
	print_table(&fits, json_object_get(document, "series"));
	if (json_array_size(json_object_get(document, "ratios"))) {
		print_heading("\nThe engines against each other, per slot");
		print_table(&ratios, json_object_get(document, "ratios"));
	}
	json_array_foreach(json_object_get(document, "series"), i, series) {
		const char *call = json_string_at(series, "call", "");

		if (strcmp(call, before) != 0)
			print_sizes(document, call);
		before = call;
	}
}
