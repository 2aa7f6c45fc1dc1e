// SPDX-License-Identifier: MIT
/* ferry bench flexsc: posted calls beside plain ones, batches and io_uring. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cases.h"
#include "flexsc_cells.h"
#include "measure/harness/json.h"

static const struct json_column by_work[] = {
	{ "W", "work_ns", NUMBER, 0 },	   { "PLAIN", "plain", NUMBER, 1 },
	{ "BATCH", "batch", NUMBER, 1 },   { "URING", "uring", NUMBER, 1 },
	{ "SQPOLL", "sqpoll", NUMBER, 1 }, { "FLEXSC", "flexsc", NUMBER, 1 },
	{ "RATIO", "ratio", NUMBER, 2 },   { "CPU", "cpu", NUMBER, 2 },
};

static const struct json_column by_threads[] = {
	{ "THREADS", "threads", NUMBER, 0 },	   { "RUNNERS", "runners", NUMBER, 0 },
	{ "FLEXSC", "median", NUMBER, 1 },	   { "RATIO", "ratio", NUMBER, 2 },
	{ "P50", "latency_ns.p50", NUMBER, 0 },	   { "P99", "latency_ns.p99", NUMBER, 0 },
	{ "CLAIM", "phases_ns.claim", NUMBER, 0 }, { "FIND", "phases_ns.find", NUMBER, 0 },
	{ "RUN", "phases_ns.run", NUMBER, 0 },	   { "SEE", "phases_ns.see", NUMBER, 0 },
};

static const struct json_column csv_columns[] = {
	{ NULL, "name", TEXT, 0 },
	{ NULL, "call", TEXT, 0 },
	{ NULL, "way", TEXT, 0 },
	{ NULL, "threads", NUMBER, 0 },
	{ NULL, "runners", NUMBER, 0 },
	{ NULL, "work_ns", NUMBER, 0 },
	{ NULL, "available", YES_NO, 0 },
	{ NULL, "mean", NUMBER, 0 },
	{ NULL, "min", NUMBER, 0 },
	{ NULL, "max", NUMBER, 0 },
	{ NULL, "sd", NUMBER, 0 },
	{ NULL, "median", NUMBER, 0 },
	{ NULL, "se", NUMBER, 0 },
	{ NULL, "ratio", NUMBER, 0 },
	{ NULL, "ratio_se", NUMBER, 0 },
	{ NULL, "caller_cpu_ns", NUMBER, 0 },
	{ NULL, "other_cpu_ns", NUMBER, 0 },
	{ NULL, "latency_ns.p50", NUMBER, 0 },
	{ NULL, "latency_ns.p99", NUMBER, 0 },
	{ NULL, "phases_ns.claim", NUMBER, 0 },
	{ NULL, "phases_ns.find", NUMBER, 0 },
	{ NULL, "phases_ns.run", NUMBER, 0 },
	{ NULL, "phases_ns.see", NUMBER, 0 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int check(const struct settings *settings)
{
	size_t i;

	for (i = 0; i < settings->workloads.count; i++) {
		if (!strcmp(settings->workloads.of[i], "write") ||
		    !strcmp(settings->workloads.of[i], "getpid"))
			continue;
		complain("bench: flexsc measures write and getpid, not '%s'",
			 settings->workloads.of[i]);
		return EXIT_USAGE;
	}
	return 0;
}

static int measure(struct run *run)
{
	json_t *cells;
	int status = measure_cells(run, &cells);

	conclude_cells(run, cells);
	json_object_set_new(run->document, "cells", cells);
	return status;
}

/* ---- tables ---- */

static double cpu_of(const json_t *cell)
{
	return json_number_at(cell, "caller_cpu_ns") + json_number_at(cell, "other_cpu_ns");
}

/* The threads that the document says most about. */
static long threads_of(const json_t *document)
{
	const json_t *list = json_at(document, "settings.threads");
	long threads = 0, best = 0;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		threads = (long)json_integer_value(json_array_get(list, i));
		if (!best || labs(threads - 64) < labs(best - 64))
			best = threads;
	}
	return best;
}

static double work_of(const json_t *document)
{
	const json_t *list = json_at(document, "settings.work_ns");
	double work, best = -1;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		work = json_number_value(json_array_get(list, i));
		if (best < 0 || fabs(work - 150) < fabs(best - 150))
			best = work;
	}
	return best;
}

static json_t *row_of_work(const json_t *cells, const char *call, long threads, double work)
{
	static const char *const ways[] = { "plain", "batch", "uring", "sqpoll" };
	const json_t *flexsc = find_cell(cells, call, "flexsc", threads, 1, work);
	json_t *row = json_pack("{s:f}", "work_ns", work);
	size_t i;

	for (i = 0; i < COUNT(ways); i++)
		json_object_set_new(
			row, ways[i],
			json_number(json_number_at(find_cell(cells, call, ways[i], 0, 0, work),
						   "median")));
	json_object_set_new(row, "flexsc", json_number(json_number_at(flexsc, "median")));
	json_object_set_new(row, "ratio", json_number(json_number_at(flexsc, "ratio")));
	json_object_set_new(
		row, "cpu",
		json_number(cpu_of(flexsc) / cpu_of(find_cell(cells, call, "plain", 0, 0, work))));
	return row;
}

static void print_by_work(const json_t *document, const char *call)
{
	static const struct table table = { by_work, COUNT(by_work) };
	const json_t *list = json_at(document, "settings.work_ns");
	long threads = threads_of(document);
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		json_array_append_new(rows,
				      row_of_work(json_object_get(document, "cells"), call, threads,
						  json_number_value(json_array_get(list, i))));
	print_heading("%s and W ns of work, in ns; flexsc: %ld threads, 1 runner", call, threads);
	print_table(&table, rows);
	json_decref(rows);
}

static void print_by_threads(const json_t *document, const char *call)
{
	static const struct table table = { by_threads, COUNT(by_threads) };
	double work = work_of(document);
	json_t *rows = json_array(), *cell;
	size_t i;

	json_array_foreach(json_object_get(document, "cells"), i, cell) {
		if (!strcmp(json_string_at(cell, "call", ""), call) &&
		    !strcmp(json_string_at(cell, "way", ""), "flexsc") &&
		    json_number_at(cell, "work_ns") == work)
			json_array_append(rows, cell);
	}
	print_heading("\n%s by flexsc with W = %.0f, in ns", call, work);
	print_table(&table, rows);
	json_decref(rows);
}

static void print(const json_t *document)
{
	const json_t *calls = json_at(document, "settings.calls_made"), *call;
	size_t i;

	json_array_foreach(calls, i, call) {
		if (i)
			putchar('\n');
		print_by_work(document, json_string_value(call));
		print_by_threads(document, json_string_value(call));
	}
	print_paragraph(
		"", "RATIO: throughput to that of plain calls. CPU: CPU time of both sides to "
		    "that of plain calls. P50, P99: latency of a call. CLAIM, FIND, RUN, SEE: its "
		    "phases until there is an entry, until the runner finds it, until it is made, "
		    "until the caller goes on; taking these times is part of them.");
}

const struct bench flexsc_bench = {
	.name = "flexsc",
	.summary = "posted calls beside plain ones, batches and io_uring",
	.rows = "cells",
	.csv = { csv_columns, COUNT(csv_columns) },
	.defaults = { .warmup = 1000,
		      .trials = 5,
		      .calls = 5000,
		      .workloads = { { "write", "getpid" }, 2 },
		      .work = { { 0, 75, 150, 300, 700, 2000 }, 6 },
		      .threads = { { 1, 8, 64, 512, 10000 }, 5 } },
	.check = check,
	.measure = measure,
	.example = "flexsc --call write --threads 64 --work 0,75,150,300",
	.print_document = print,
};
