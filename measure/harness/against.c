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
	*against = (struct against){ .file = path,
				     .document = run,
				     .started = json_string_at(run, "started", "") };
	if (!run)
		complain("%s:%d: it is cut short or not JSON: %s", path, error.line, error.text);
	else if (strcmp(json_string_at(run, "schema", ""), SCHEMA) != 0)
		complain("%s: it is not what 'ferry bench --json' writes", path);
	else if (json_number_at(run, "version") != SCHEMA_VERSION)
		complain("%s: it has version %g of the schema, and this ferry reads version %d",
			 path, json_number_at(run, "version"), SCHEMA_VERSION);
	else if (!json_is_string(json_object_get(run, "bench")))
		complain("%s: it does not say which bench it is of", path);
	else
		return 0;
	json_decref(run);
	return EXIT_USAGE;
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

/* How likely the errors alone make such a difference. */
static double p_of(const struct pair *pair)
{
	double difference = pair->now - pair->before, error = hypot(pair->before_se, pair->now_se);

	if (error > 0)
		return two_sided(difference / error, INFINITY);
	return isnan(error) ? NAN : difference == 0;
}

static void judge_pairs(struct against *against)
{
	struct comparison **list = allocate(against->count, sizeof(struct comparison *));
	size_t i;

	for (i = 0; i < against->count; i++) {
		against->pairs[i].judged.p = p_of(&against->pairs[i]);
		list[i] = &against->pairs[i].judged;
	}
	judge(list, against->count);
	free(list);
}

static const struct column columns[] = {
	{ "FIGURE", F_TEXT, offsetof(struct pair, what), 0 },
	{ "UNIT", F_TEXT, offsetof(struct pair, unit), 0 },
	{ "BEFORE", F_NUMBER, offsetof(struct pair, before), 2 },
	{ "+-", F_NUMBER, offsetof(struct pair, before_se), 2 },
	{ "NOW", F_NUMBER, offsetof(struct pair, now), 2 },
	{ "+-", F_NUMBER, offsetof(struct pair, now_se), 2 },
	{ "RATIO", F_NUMBER, offsetof(struct pair, ratio), 3 },
	{ "DIFFER", F_YES_NO, offsetof(struct pair, judged.significant), 0 },
};

static void tabulate(const struct against *against, struct run *run)
{
	struct table *table;
	size_t different = 0, i;

	for (i = 0; i < against->count; i++)
		different += against->pairs[i].judged.significant;
	table = add_table(run, columns,
			  keep_text("%zu of %zu figures differ by more than the errors of both "
				    "allow.",
				    different, against->count),
			  "Against %s (%s)", against->file, against->started);
	for (i = 0; i < against->count; i++)
		table_add(table, &against->pairs[i]);
}

void against_compare(struct against *against, struct run *run)
{
	const json_t *figures = json_object_get(against->document, "figures");
	size_t i;

	against->pairs = keep(run->figure_count, sizeof(*against->pairs));
	for (i = 0; i < run->figure_count; i++) {
		const struct figure *now = &run->figures[i];
		const json_t *before = find_figure(figures, now);
		struct pair pair = {
			.what = now->what,
			.unit = now->unit,
			.before = json_number_at(before, "value"),
			.before_se = json_number_at(before, "se"),
			.now = now->value,
			.now_se = now->se,
		};

		pair.ratio = pair.now / pair.before;
		if (before)
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
	{ "different", F_YES_NO, offsetof(struct pair, judged.significant), 0 },
};

json_t *against_as_json(const struct against *against)
{
	const struct records pairs = RECORDS("rows", fields, against->pairs, against->count);

	return json_pack("{s:o, s:s, s:o}", "file", json_text(against->file), "started",
			 against->started, "rows", records_as_json(&pairs));
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
	size_t i;

	if (!against->count)
		printf("%s has none of the figures of this run.\n", against->file);
	for (i = 0; i < COUNT_OF(paths); i++)
		print_difference(paths[i], against->document, now);
	for (i = 0; i < bench->options.count; i++)
		if (bench->options.of[i].condition)
			print_difference(keep_text("settings.%s", bench->options.of[i].key),
					 against->document, now);
}
