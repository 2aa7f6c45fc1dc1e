// SPDX-License-Identifier: MIT
#include "app_contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/harness/interrupt.h"
#include "measure/harness/json.h"
#include "measure/harness/memory.h"

static void give_up(struct contest *contest, const char *side, const char *why)
{
	snprintf(contest->reason, sizeof(contest->reason), "%s %s", side, why);
}

static const char *side_name(const struct contest *contest, int side)
{
	return side ? contest->against : contest->app;
}

/* An exit status of 1 says that some file could not be read, and that the rest was done. */
static bool run_side(struct contest *contest, int side, double *ns)
{
	struct outcome outcome = process_run(&contest->side[side]);
	char why[64];

	*ns = outcome.ns;
	if (outcome.status == 0 || outcome.status == 1 || interrupted())
		return true;
	if (outcome.status < 0)
		snprintf(why, sizeof(why), "cannot be run: %s", strerror(-outcome.status));
	else
		snprintf(why, sizeof(why), "ended with status %d", outcome.status);
	give_up(contest, side_name(contest, side), why);
	return false;
}

static off_t length_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? -1 : status.st_size;
}

static bool same_contents(int one, int other)
{
	off_t length = length_of(one);
	const size_t size = (size_t)length;
	void *maps[2];
	bool same;

	if (length < 0 || length != length_of(other))
		return false;
	if (!length)
		return true;
	maps[0] = mmap(NULL, size, PROT_READ, MAP_SHARED, one, 0);
	maps[1] = mmap(NULL, size, PROT_READ, MAP_SHARED, other, 0);
	same = maps[0] != MAP_FAILED && maps[1] != MAP_FAILED && !memcmp(maps[0], maps[1], size);
	if (maps[0] != MAP_FAILED)
		munmap(maps[0], size);
	if (maps[1] != MAP_FAILED)
		munmap(maps[1], size);
	return same;
}

/* Runs both sides once, their output kept, and compares it. */
static void compare_outputs(struct contest *contest)
{
	int timed_output[2], outputs[2] = { -1, -1 };
	bool ran = true;
	double ns;
	int side;

	for (side = 0; side < 2 && ran; side++) {
		timed_output[side] = contest->side[side].output;
		outputs[side] = memfd_create("ferry-bench", MFD_CLOEXEC);
		contest->side[side].output = outputs[side];
		ran = run_side(contest, side, &ns);
		contest->side[side].output = timed_output[side];
	}
	contest->equal = ran && same_contents(outputs[0], outputs[1]);
	for (side = 0; side < 2; side++)
		if (outputs[side] >= 0)
			close(outputs[side]);
}

/* Both sides once, SIDE first: false when one failed or a signal came. */
static bool run_pair(struct contest *contest, int first, double ns[2])
{
	return run_side(contest, first, &ns[first]) && !interrupted() &&
	       run_side(contest, !first, &ns[!first]) && !interrupted();
}

static void run_pairs(struct run *run, struct contest *contest)
{
	long warmup = run->settings->warmup, i;
	double ns[2];

	for (i = -warmup; i < run->settings->pairs; i++) {
		if (!run_pair(contest, i & 1, ns))
			return;
		if (i < 0)
			continue;
		contest->pairs[0][i] = ns[0];
		contest->pairs[1][i] = ns[1];
		contest->count++;
		note_duration(run, fmin(ns[0], ns[1]));
	}
}

/* ---- what came of it ---- */

static json_t *ratio_as_json(const struct contest *contest, bool *significant)
{
	double *ratios = allocate(contest->count, sizeof(*ratios));
	struct interval interval;
	json_t *json;
	size_t i;

	for (i = 0; i < contest->count; i++)
		ratios[i] = contest->pairs[1][i] / contest->pairs[0][i];
	interval = median_interval(ratios, contest->count);
	sort_values(ratios, contest->count);
	*significant = interval.low > 1 || interval.high < 1;
	json = json_pack("{s:f, s:o, s:o, s:o, s:f, s:f}", "median",
			 quantile(ratios, contest->count, 0.5), "low", json_number(interval.low),
			 "high", json_number(interval.high), "confidence",
			 json_number(interval.confidence), "quartile_low",
			 quantile(ratios, contest->count, 0.25), "quartile_high",
			 quantile(ratios, contest->count, 0.75));
	free(ratios);
	return json;
}

static json_t *pairs_as_json(const struct contest *contest)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < contest->count; i++)
		json_array_append_new(
			list, json_pack("[f, f]", contest->pairs[0][i], contest->pairs[1][i]));
	return list;
}

/* The command line, what is very long in it cut. */
static json_t *command_as_json(char *const argv[])
{
	json_t *list = json_array();
	char shown[256];
	size_t i;

	for (i = 0; argv[i] && i < 16; i++) {
		size_t length = strlen(argv[i]);

		snprintf(shown, sizeof(shown), "%.200s%s", argv[i], length > 200 ? "..." : "");
		json_array_append_new(list, json_text(shown));
	}
	if (argv[i])
		json_array_append_new(list, json_string("..."));
	return list;
}

static json_t *missing_as_json(const struct contest *contest)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "app", contest->app, "side",
			 contest->side[0].engine, "against", contest->against, "what",
			 contest->what, "available", 0, "reason", contest->reason);
}

static json_t *contest_as_json(const struct contest *contest)
{
	bool significant;
	json_t *ratio = ratio_as_json(contest, &significant);

	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:n, s:[o, o], s:o, s:[f, f], s:o, s:b, s:o}",
			 "app", contest->app, "side", contest->side[0].engine, "against",
			 contest->against, "what", contest->what, "available", 1, "reason",
			 "commands", command_as_json(contest->side[0].argv),
			 command_as_json(contest->side[1].argv), "pairs_ns", pairs_as_json(contest),
			 "median_ns", median_of(contest->pairs[0], contest->count),
			 median_of(contest->pairs[1], contest->count), "ratio", ratio,
			 "significant", significant, "equal",
			 contest->same_output ? json_boolean(contest->equal) : json_null());
}

static void say(struct run *run, const struct contest *contest, const json_t *row)
{
	const char *app = contest->app, *engine = contest->side[0].engine;
	double median = json_number_at(row, "ratio.median");
	double low = json_number_at(row, "ratio.low"), high = json_number_at(row, "ratio.high");

	if (isnan(low))
		add_finding(run, app,
			    "%s on %s against %s: %.2f times as fast, by too few pairs to tell how "
			    "sure that is.",
			    app, engine, contest->against, median);
	else if (json_true_at(row, "significant"))
		add_finding(run, app, "%s on %s against %s: %.2f times as fast (%.2f to %.2f).",
			    app, engine, contest->against, median, low, high);
	else
		add_finding(run, app,
			    "%s on %s against %s: the noise could have made the difference "
			    "(%.2f times as fast, %.2f to %.2f).",
			    app, engine, contest->against, median, low, high);
	if (contest->same_output && !contest->equal)
		add_warning(run, "outputs-differ", "%s on %s and %s gave different outputs.", app,
			    engine, contest->against);
}

static void conclude(struct run *run, const struct contest *contest)
{
	json_t *list = json_object_get(run->document, "comparisons");
	json_t *row;

	if (contest->reason[0]) {
		json_array_append_new(list, missing_as_json(contest));
		return;
	}
	if (!contest->count)
		return;
	row = contest_as_json(contest);
	say(run, contest, row);
	json_array_append_new(list, row);
}

void contest_measure(struct run *run, struct contest *contest)
{
	size_t pairs = (size_t)run->settings->pairs;
	int side;

	for (side = 0; side < 2; side++)
		contest->pairs[side] = allocate(pairs, sizeof(double));
	for (side = 0; side < 2 && !contest->reason[0]; side++)
		if (!is_program(contest->side[side].argv[0]))
			give_up(contest, contest->side[side].argv[0], "is not here");
	if (!contest->reason[0])
		compare_outputs(contest);
	if (!contest->reason[0] && !interrupted())
		run_pairs(run, contest);
	conclude(run, contest);
	for (side = 0; side < 2; side++)
		free(contest->pairs[side]);
}
