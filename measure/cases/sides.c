// SPDX-License-Identifier: MIT
#include "sides.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"
#include "measure/harness/turns.h"

struct side *sides_of(const char *const servers[], size_t count)
{
	static const char *const names[BUILDS] = { "pthreads", "epoll" };
	struct side *sides = share(count * BUILDS * sizeof(*sides));
	size_t i;

	for (i = 0; i < count * BUILDS; i++) {
		sides[i].base = i - i % BUILDS + BY_PTHREADS;
		sides[i].server = servers[i / BUILDS];
		sides[i].build = (enum build)(i % BUILDS);
		sides[i].build_name = names[i % BUILDS];
		sides[i].name = keep_text("%s, %s", sides[i].server, sides[i].build_name);
	}
	return sides;
}

/* ---- measuring ---- */

int sides_measure(struct run *run, struct side sides[], size_t count,
		  int (*run_trial)(void *context, size_t side, size_t trial, double *ns),
		  void *context)
{
	const struct turns turns = {
		.what = "trial and server", .block = BUILDS, .run = run_trial, .context = context
	};
	int status = take_trials(run, turns, sides, count, sizeof(*sides));
	size_t i, t;

	for (i = 0; i < count; i++) {
		sides[i].cpu /= (double)sides[i].trials.count;
		for (t = 0; t < sides[i].trials.count; t++)
			note_duration(run, sides[i].trials.of[t] * 1000);
		if (!sides[i].trials.count && !sides[i].missing)
			sides[i].missing = "there was no trial";
	}
	return status;
}

/* ---- comparing ---- */

void sides_compare(struct run *run, struct side sides[], size_t count)
{
	size_t i;

	compare_contestants(run, sides, count, sizeof(*sides));
	for (i = 0; i < count; i++) {
		struct side *side = &sides[i];

		if (side->missing)
			continue;
		side->rate = 1e9 / side->summary.median;
		side->cpu_ratio = side->cpu / sides[side->base].cpu;
	}
}

/* ---- in words ---- */

static void say_ratio(struct run *run, const struct side *side)
{
	if (side->missing || side->build == BY_PTHREADS)
		return;
	add_finding(run, side->server,
		    "%s: %s serves %.2f times as many requests as a thread for each connection%s, "
		    "for %.2f times the CPU time per request.",
		    side->server, side->build_name, side->ratio.ratio,
		    side->ratio.significant ? "" : " (within the noise)", side->cpu_ratio);
}

/* ---- records ---- */

#define SIDE(member) offsetof(struct side, member)

static const struct field fields[] = {
	{ "name", F_TEXT, SIDE(name), CSV | ALWAYS },
	{ "server", F_TEXT, SIDE(server), CSV | ALWAYS },
	{ "build", F_TEXT, SIDE(build_name), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	TRIAL_FIELDS(struct side),
	{ "requests_per_s", F_NUMBER, SIDE(rate), CSV },
	{ "cpu_ns", F_NUMBER, SIDE(cpu), CSV },
	RATIO_FIELDS(struct side),
	{ "cpu_ratio", F_NUMBER, SIDE(cpu_ratio), CSV },
};

static const struct column columns[] = {
	{ "SERVER", F_TEXT, SIDE(server), 0 },
	{ "BUILD", F_TEXT, SIDE(build_name), 0 },
	{ "REQUESTS/S", F_NUMBER, SIDE(rate), 0 },
	{ "NS", F_NUMBER, SIDE(summary.median), 0 },
	{ "+-", F_NUMBER, SIDE(summary.se), 0, PAGE_ONLY },
	{ "/PTHREADS", F_NUMBER, SIDE(ratio.ratio), 2 },
	{ "+-", F_NUMBER, SIDE(ratio.se), 3, PAGE_ONLY },
	{ "SURE", F_YES_NO, SIDE(ratio.significant), 0, PAGE_ONLY },
	{ "CPU NS", F_NUMBER, SIDE(cpu), 0 },
	{ "/PTHREADS", F_NUMBER, SIDE(cpu_ratio), 2 },
};

void sides_conclude(struct run *run, struct side sides[], size_t count)
{
	const struct records records = RECORDS("servers", fields, sides, count);
	size_t i;

	for (i = 0; i < count; i++)
		say_ratio(run, &sides[i]);
	add_contestants(run, records);
	add_table_of(run, &records, columns, NULL,
		     "requests per second, ns between two, and CPU time of the server for one");
}
