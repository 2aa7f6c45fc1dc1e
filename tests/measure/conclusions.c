// SPDX-License-Identifier: MIT
/*
 * The conclusions of ferry bench for tests in Python: reads one request with made-up trials from
 * standard input, {"bench": ..., ...}, and writes what is concluded from them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "measure/cases/batch.h"
#include "measure/cases/cases.h"
#include "measure/cases/crossing.h"
#include "measure/cases/duels.h"
#include "measure/cases/flexsc.h"
#include "measure/harness/against.h"
#include "measure/harness/document.h"
#include "conclude_pagefault.h"
#include "numbers.h"

/* {"sizes": [...], "engines": {"loop": [one time for each trial and size], ...}} */
static void conclude_batch(struct run *run, struct batch_settings *settings, const json_t *request)
{
	struct numbers sizes = numbers_at(request, "sizes");
	json_t *engines = json_object_get(request, "engines"), *trials;
	struct series *series = keep(json_object_size(engines), sizeof(*series));
	const char *engine;
	size_t count = 0;

	memcpy(settings->sizes.of, sizes.of, sizes.count * sizeof(double));
	settings->sizes.count = sizes.count;
	json_object_foreach(engines, engine, trials) {
		struct numbers values = numbers_at(engines, engine);

		series[count++] = (struct series){
			.call = "write",
			.label = "write",
			.engine = engine,
			.body = 1,
			.trials = { values.of, values.count / sizes.count, sizes.count },
		};
	}
	batch_conclude(run, series, count);
}

/* {"calls": 100, "rows": {"function": [...], ...}} */
static void conclude_crossing(struct run *run, const json_t *request)
{
	struct crossing *crossing = keep(1, sizeof(*crossing));
	json_t *rows = json_object_get(request, "rows"), *trials;
	const char *name;

	crossing->rows = keep(json_object_size(rows), sizeof(struct row));
	json_object_foreach(rows, name, trials) {
		struct numbers values = numbers_at(rows, name);

		crossing->rows[crossing->count++] = (struct row){
			.name = name,
			.label = name,
			.calls = (long)json_number_at(request, "calls"),
			.trials = values,
			.summary = summarize(values.of, values.count, run->settings->bootstrap),
			.times = NAN,
			.kernel_share = NAN,
		};
	}
	crossing_conclude(run, crossing);
	add_rows(run, crossing->rows, crossing->count);
}

/* {"duels": [{"side": [...], "against": [...]}, ...]} */
static void conclude_apps(struct run *run, const json_t *request)
{
	const json_t *list = json_object_get(request, "duels"), *each;
	struct duel *duels = keep(json_array_size(list), sizeof(*duels));
	static char *words[] = { NULL };
	size_t i;

	json_array_foreach(list, i, each) {
		duels[i] = (struct duel){
			.app = "app",
			.side = "loop",
			.against = keep_text("other %zu", i),
			.what = "",
			.equal = -1,
			.argv = { words, words },
			.times = { numbers_at(each, "side"), numbers_at(each, "against") },
		};
	}
	duels_conclude(run, duels, json_array_size(list));
}

/* {"work": [...], "plain": [[trials at each W], ...], "flexsc": [[...], ...]} */
static void conclude_flexsc(struct run *run, struct flexsc_settings *settings,
			    const json_t *request)
{
	static const struct runner unknown = { .caller_instructions = NAN };
	struct numbers work = numbers_at(request, "work");
	struct cell *cells = keep(2 * work.count, sizeof(*cells));
	size_t w;

	memcpy(settings->work.of, work.of, work.count * sizeof(double));
	settings->work.count = work.count;
	settings->threads = (struct sizes){ { 64 }, 1 };
	settings->calls_made = (struct names){ { "write" }, 1 };
	for (w = 0; w < work.count; w++) {
		const char *ways[] = { "plain", "flexsc" };
		size_t way;

		for (way = 0; way < 2; way++) {
			json_t *trials = json_array_get(json_object_get(request, ways[way]), w);
			json_t *holder = json_pack("{s:O}", "of", trials);

			cells[2 * w + way] = (struct cell){
				.name = keep_text("write %s W%.0f", ways[way], work.of[w]),
				.call = "write",
				.way = way ? FLEXSC : PLAIN,
				.way_name = ways[way],
				.threads = way ? 64 : 0,
				.runners = (long)way,
				.work = work.of[w],
				.base = 2 * w,
				.trials = numbers_at(holder, "of"),
				.caller = 100,
			};
			json_decref(holder);
		}
	}
	flexsc_conclude(run, cells, 2 * work.count, &unknown);
}

/* {"rows": {"base": [...], ...}}: each is compared with the first one, as dispatch and chain do. */
static void conclude_rows(struct run *run, const json_t *request)
{
	static const struct field fields[] = {
		{ "name", F_TEXT, offsetof(struct contestant, name), 0 },
		RATIO_FIELDS(struct contestant),
	};
	json_t *rows = json_object_get(request, "rows"), *trials;
	struct contestant *all = keep(json_object_size(rows), sizeof(*all));
	const char *name;
	size_t count = 0;

	json_object_foreach(rows, name, trials) {
		all[count] = (struct contestant){ .name = name,
						  .base = count ? 0 : NO_BASE,
						  .trials = numbers_at(rows, name) };
		count++;
	}
	count = compare_contestants(run, all, count, sizeof(*all));
	judge_run(run);
	add_contestants(run, RECORDS("rows", fields, all, count));
}

/* {"bench": "warnings", "vdso": true, "overhead": 300, "user_mode": false} */
static void conclude_warnings(struct run *run, const json_t *request)
{
	struct circumstances at = {
		.clock = { .vdso = json_is_true(json_object_get(request, "vdso")),
			   .overhead_ns = json_number_at(request, "overhead"),
			   .source = "tsc" },
		.machine = { .user_mode = json_is_true(json_object_get(request, "user_mode")),
			     .cpus = 1 },
		.others = { .of_cpu = NAN, .of_all = NAN, .stolen = NAN },
	};

	add_warnings(run, &at);
}

static void conclude(struct run *run, struct settings *settings, const json_t *request)
{
	const char *bench = json_string_at(request, "bench", "");

	if (!strcmp(bench, "batch"))
		conclude_batch(run, (struct batch_settings *)settings, request);
	else if (!strcmp(bench, "crossing"))
		conclude_crossing(run, request);
	else if (!strcmp(bench, "apps"))
		conclude_apps(run, request);
	else if (!strcmp(bench, "flexsc"))
		conclude_flexsc(run, (struct flexsc_settings *)settings, request);
	else if (!strcmp(bench, "rows"))
		conclude_rows(run, request);
	else if (!strcmp(bench, "pagefault"))
		conclude_pagefault(run, request);
	else
		conclude_warnings(run, request);
	withhold_findings(run);
}

/* {"against": [paths of earlier documents]} */
static void compare_with_earlier(struct run *run, const json_t *request, struct against *against)
{
	const json_t *paths = json_object_get(request, "against"), *path;
	size_t i;

	json_array_foreach(paths, i, path)
		against_read(against, json_string_value(path));
	if (against->run_count)
		against_compare(against, run);
}

static const struct bench *bench_of(const json_t *request)
{
	const char *name = json_string_at(request, "bench", "");

	return !strcmp(name, "batch")	  ? &batch_bench :
	       !strcmp(name, "flexsc")	  ? &flexsc_bench :
	       !strcmp(name, "pagefault") ? &pagefault_bench :
					    &crossing_bench;
}

/* {"withheld": "a reason"} */
static const char *reason;

static const char *why_withheld(void)
{
	return reason;
}

int main(void)
{
	static double shortest = 1e9;
	json_t *request = json_loadf(stdin, 0, NULL), *document;
	const struct bench *bench = bench_of(request);
	struct settings *settings = keep(1, bench->settings_size);
	struct run run = {
		.bench = bench, .settings = settings, .shortest = &shortest, .start = clock_stamp()
	};
	struct circumstances at = circumstances_begin(-1);
	struct against against = { 0 };
	json_t *command = json_array();

	memcpy(settings, bench->defaults, bench->settings_size);
	settings->bootstrap = (struct bootstrap){ .seed = 1, .resamples = 400 };
	run.find_reason = why_withheld;
	reason = json_string_at(request, "withheld", NULL);
	conclude(&run, settings, request);
	compare_with_earlier(&run, request, &against);
	document = run_as_json(&run, &at, command);
	if (against.run_count)
		json_object_set_new(document, "against", against_as_json(&against));
	against_free(&against);
	json_dumpf(document, stdout, JSON_REAL_PRECISION(17));
	json_decref(document);
	json_decref(command);
	json_decref(request);
	return 0;
}
