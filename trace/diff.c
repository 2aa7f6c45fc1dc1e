// SPDX-License-Identifier: MIT
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/show.h"
#include "findings/finding.h"

#define SURE 1.96      /* errors of the difference */
#define FEW_CALLS 0.01 /* of all: a kind of call with fewer is not compared */

/* ---- reading ---- */

static int read_trace(const char *path, json_t **trace)
{
	json_error_t why;
	size_t length;
	void *bytes;
	int error = read_file(path, &bytes, &length);

	if (error)
		return error;
	*trace = json_loadb(bytes, length, 0, &why);
	free(bytes);
	if (*trace && !strcmp(json_string_at(*trace, "schema", ""), "ferry-trace"))
		return 0;
	complain("trace: %s is no report of 'ferry trace --json'", display_name(path));
	json_decref(*trace);
	return -EINVAL;
}

/* ---- rows ---- */

struct row {
	const char *missing;
	const char *what;
	double before, after, change; /* the last relative */
};

struct rows {
	struct row *of; /* kept */
	size_t count;
	double threshold; /* relative */
	bool worse;
};

/* Where both are known, and differ by more than the threshold and their errors. */
static void compare(struct rows *rows, const char *what, struct figure before, struct figure after)
{
	const double more = after.value - before.value;
	const double error =
		hypot(isnan(before.error) ? 0 : before.error, isnan(after.error) ? 0 : after.error);

	if (isnan(more) || fabs(more) <= rows->threshold * before.value ||
	    fabs(more) <= SURE * error)
		return;
	rows->of = keep_more(rows->of, rows->count, sizeof(*rows->of));
	rows->of[rows->count++] =
		(struct row){ NULL, what, before.value, after.value, more / before.value };
	rows->worse |= more > 0;
}

static struct figure exact(double value)
{
	return (struct figure){ value, 0 };
}

static struct figure scaled(struct figure figure, double by)
{
	return (struct figure){ figure.value * by, figure.error * by };
}

/* ---- calls ---- */

static double calls_of(const json_t *trace, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(trace, "calls"), i, row)
		if (!strcmp(json_string_at(row, "call", ""), name))
			return json_number_at(row, "calls");
	return 0;
}

static bool is_rare(const json_t *trace, const char *name)
{
	return calls_of(trace, name) < FEW_CALLS * json_number_at(trace, "total");
}

static void compare_call(struct rows *rows, const json_t *before, const json_t *after,
			 const char *name)
{
	if (!is_rare(before, name) || !is_rare(after, name))
		compare(rows, keep_text("calls of %s", name), exact(calls_of(before, name)),
			exact(calls_of(after, name)));
}

static void compare_calls(struct rows *rows, const json_t *before, const json_t *after)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(before, "calls"), i, row)
		compare_call(rows, before, after, json_string_at(row, "call", ""));
	json_array_foreach(json_object_get(after, "calls"), i, row)
		if (!calls_of(before, json_string_at(row, "call", "")))
			compare_call(rows, before, after, json_string_at(row, "call", ""));
}

/* ---- findings ---- */

/* What the best cure of a kind would save, or 0, in ms. */
static struct figure waste_of(const json_t *trace, const char *kind)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(trace, "findings"), i, finding)
		if (!strcmp(json_string_at(finding, "kind", ""), kind))
			return scaled((struct figure){ json_number_at(finding, "saved_ns.value"),
						       json_number_at(finding, "saved_ns.error") },
				      1e-6);
	return exact(0);
}

static bool is_first_of_kind(const json_t *findings, size_t at, const char *kind)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (!strcmp(json_string_at(json_array_get(findings, i), "kind", ""), kind))
			return false;
	return true;
}

/* Waste that is too little to matter is no change for the worse. */
static bool is_notable(const json_t *finding)
{
	const struct finding read = {
		.saved = { json_number_at(finding, "saved_ns.value"), 0 },
		.share = json_number_at(finding, "share"),
	};

	return finding_is_notable(&read);
}

static const char *name_of_waste(const char *kind)
{
	return keep_text("waste, %s, ms", kind);
}

static bool is_known(const struct rows *rows, const char *kind)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (!strcmp(rows->of[i].what, name_of_waste(kind)))
			return true;
	return false;
}

static void compare_findings(struct rows *rows, const json_t *before, const json_t *after,
			     const json_t *trace)
{
	const json_t *findings = json_object_get(trace, "findings"), *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		const char *kind = json_string_at(finding, "kind", "");

		if (!is_notable(finding) || !is_first_of_kind(findings, i, kind))
			continue;
		if (trace == after && is_known(rows, kind))
			continue;
		compare(rows, name_of_waste(kind), waste_of(before, kind), waste_of(after, kind));
	}
}

/* ---- the whole ---- */

static void compare_all(struct rows *rows, const json_t *before, const json_t *after)
{
	compare(rows, "calls", exact(json_number_at(before, "total")),
		exact(json_number_at(after, "total")));
	compare(rows, "CPU time, ms", exact(json_number_at(before, "time.cpu_ns") / 1e6),
		exact(json_number_at(after, "time.cpu_ns") / 1e6));
	compare_calls(rows, before, after);
	compare_findings(rows, before, after, before);
	compare_findings(rows, before, after, after);
}

static void show(const struct rows *rows)
{
	static const struct column columns[] = {
		{ "WHAT", F_TEXT, offsetof(struct row, what), 0 },
		{ "BEFORE", F_NUMBER, offsetof(struct row, before), 1 },
		{ "AFTER", F_NUMBER, offsetof(struct row, after), 1 },
		{ "CHANGE", F_PERCENT, offsetof(struct row, change), 0 },
	};
	const struct records records = { NULL, NULL, 0, rows->of, rows->count, sizeof(struct row) };

	if (rows->count)
		show_records(columns, COUNT_OF(columns), &records);
	else
		show_paragraph("", keep_text("Nothing differs by more than %.0f %% and its error.",
					     100 * rows->threshold));
}

int diff_traces(const char *before, const char *after, double percent, bool *worse)
{
	struct rows rows = { .threshold = percent / 100 };
	json_t *first, *second;
	int error = read_trace(before, &first);

	if (error)
		return error;
	error = read_trace(after, &second);
	if (!error) {
		compare_all(&rows, first, second);
		show(&rows);
		*worse = rows.worse;
		json_decref(second);
	}
	json_decref(first);
	return error;
}
