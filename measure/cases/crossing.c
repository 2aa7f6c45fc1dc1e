// SPDX-License-Identifier: MIT
/* ferry bench crossing: what one call costs, and how much of it is the crossing. */
#include <math.h>
#include <string.h>

#include "measure/harness/bench.h"
#include "crossing_calls.h"
#include "measure/harness/json.h"

static const struct column columns[] = {
	{ "CALL", "label", TEXT, 0 },
	{ "MEAN", "mean", NUMBER, 2 },
	{ "MIN", "min", NUMBER, 2 },
	{ "MAX", "max", NUMBER, 2 },
	{ "SD", "sd", NUMBER, 2 },
	{ "MEDIAN", "median", NUMBER, 2 },
	{ "CYCLES", "cycles", NUMBER, 0 },
	{ "RATIO", "ratio", NUMBER, 2 },
	{ "BEYOND", "kernel_share", PERCENT, 0 },
};

static const struct column csv_columns[] = {
	{ NULL, "name", TEXT, 0 },	  { NULL, "label", TEXT, 0 },
	{ NULL, "available", YES_NO, 0 }, { NULL, "mean", NUMBER, 0 },
	{ NULL, "min", NUMBER, 0 },	  { NULL, "max", NUMBER, 0 },
	{ NULL, "sd", NUMBER, 0 },	  { NULL, "median", NUMBER, 0 },
	{ NULL, "se", NUMBER, 0 },	  { NULL, "cycles", NUMBER, 0 },
	{ NULL, "ratio", NUMBER, 0 },	  { NULL, "kernel_share", NUMBER, 0 },
};

/* The rows that do not enter the kernel. */
static bool stays_outside(const json_t *row)
{
	const char *name = json_string_at(row, "name", "");

	return !strcmp(name, "function") || strstr(name, "_vdso");
}

static const json_t *bare_crossing(const json_t *rows)
{
	const json_t *null = find_row(rows, "null");

	return null ? null : find_row(rows, "unimplemented");
}

static void set_kernel_shares(const json_t *rows)
{
	double bare = json_number_at(bare_crossing(rows), "median");
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		double beyond = fmax(0, 1 - bare / json_number_at(row, "median"));

		if (json_true_at(row, "available"))
			json_object_set_new(row, "kernel_share",
					    isnan(bare) || stays_outside(row) ?
						    json_null() :
						    json_number(beyond));
	}
}

static double median(const json_t *rows, const char *name)
{
	return json_number_at(find_row(rows, name), "median");
}

static void say_crossing(struct run *run, const json_t *rows)
{
	const json_t *bare = bare_crossing(rows);

	if (bare && find_row(rows, "function"))
		add_finding(run, json_string_at(bare, "name", ""),
			    "A bare crossing (%s) takes %.1f ns, as long as %.0f calls of a "
			    "function.",
			    json_string_at(bare, "label", ""), json_number_at(bare, "median"),
			    json_number_at(bare, "ratio"));
}

static void say_vdso(struct run *run, const json_t *rows)
{
	double vdso = median(rows, "gettimeofday_vdso"), trap = median(rows, "gettimeofday_trap");
	double ratio = trap / vdso;

	if (isnan(ratio))
		return;
	if (ratio < 1.2)
		add_finding(run, "gettimeofday_vdso",
			    "The vDSO saves nothing here: gettimeofday takes %.1f ns through it "
			    "and %.1f ns by trap, so it has to ask the kernel.",
			    vdso, trap);
	else
		add_finding(run, "gettimeofday_vdso",
			    "Through the vDSO gettimeofday takes %.1f ns and stays out of the "
			    "kernel: %.1f times as fast as by trap, %.1f ns.",
			    vdso, ratio, trap);
}

static void say_share(struct run *run, const json_t *rows, const char *name)
{
	const json_t *row = find_row(rows, name);
	double share = json_number_at(row, "kernel_share");

	if (isnan(share))
		return;
	add_finding(run, name,
		    "Of the %.1f ns of %s, %.0f %% are the crossing and %.0f %% its work.",
		    json_number_at(row, "median"), json_string_at(row, "label", ""),
		    100 * (1 - share), 100 * share);
}

static void say_kstats(struct run *run, const json_t *rows)
{
	if (find_row(rows, "kstats"))
		add_finding(
			run, "kstats",
			"kstats adds up what each CPU counts by itself, processes, runnable tasks "
			"and context switches: it takes longer the more CPUs there are.");
}

static void say_what_it_means(struct run *run, const json_t *rows)
{
	say_crossing(run, rows);
	say_vdso(run, rows);
	say_share(run, rows, "kstats");
	say_kstats(run, rows);
	say_share(run, rows, "write");
	say_share(run, rows, "stat");
	add_finding(run, NULL,
		    "The loop around each call takes %.2f ns by itself; no row has it subtracted.",
		    json_number_at(run->document, "loop_ns"));
}

/* The empty loop is measured as a row, and told as a number. */
static void take_out_loop(struct run *run, json_t *rows)
{
	json_object_set_new(run->document, "loop_ns", json_number(median(rows, "loop")));
	if (find_row(rows, "loop"))
		json_array_remove(rows, 0);
}

static int measure(struct run *run)
{
	json_t *rows;
	int status;

	open_crossing_files();
	status = measure_rows(run, crossing_kinds, crossing_kind_count, &rows);
	close_crossing_files();
	take_out_loop(run, rows);
	set_ratios(rows, "function");
	set_kernel_shares(rows);
	say_what_it_means(run, rows);
	json_object_set_new(run->document, "rows", rows);
	return status;
}

static void print(const json_t *document)
{
	static const struct table table = { columns, sizeof(columns) / sizeof(columns[0]) };

	print_heading("What a call costs, in ns");
	print_table(&table, json_object_get(document, "rows"));
	print_paragraph("",
			"RATIO: to the function call. BEYOND: the part of the call that is beyond "
			"the bare crossing. CYCLES: ticks of the time-stamp counter.");
}

const struct bench crossing_bench = {
	.name = "crossing",
	.summary = "what one call costs, and how much of it is the crossing",
	.options = "twn",
	.rows = "rows",
	.csv = { csv_columns, sizeof(csv_columns) / sizeof(csv_columns[0]) },
	.defaults = { .warmup = 100, .trials = 10, .calls = 100000 },
	.measure = measure,
	.print = print,
};
