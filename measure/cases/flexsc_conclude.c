// SPDX-License-Identifier: MIT
/* Where flexsc wins, in words: the region, the break-even, and who pays. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flexsc_cells.h"
#include "measure/harness/json.h"

static double nearest(const double values[], size_t count, double wanted)
{
	double best = values[0];
	size_t i;

	for (i = 1; i < count; i++)
		if (fabs(values[i] - wanted) < fabs(best - wanted))
			best = values[i];
	return best;
}

long usual_threads(const struct settings *settings)
{
	return (long)nearest(settings->threads.of, settings->threads.count, 64);
}

double usual_work(const struct settings *settings)
{
	return nearest(settings->work.of, settings->work.count, 150);
}

static bool wins(const json_t *cell)
{
	return json_number_at(cell, "ratio") > 1 && json_true_at(cell, "significant");
}

static bool loses(const json_t *cell)
{
	return json_number_at(cell, "ratio") < 1 && json_true_at(cell, "significant");
}

/* A gain in the table that may be none. */
static bool may_win(const json_t *cell)
{
	return json_number_at(cell, "ratio") > 1 && !json_true_at(cell, "significant");
}

/* Numbers that a sentence lists. */
struct number_list {
	double of[MAX_SIZES];
	size_t count;
};

static void add_number(struct number_list *numbers, double number)
{
	numbers->of[numbers->count++] = number;
}

/* "1, 8 and 64", in LINE; what does not fit is cut off. */
static const char *joined(const struct number_list *numbers, char *line, size_t size)
{
	size_t i, length = 0;

	for (i = 0; i < numbers->count && length < size; i++)
		length += (size_t)snprintf(line + length, size - length, "%s%.0f",
					   !i			   ? "" :
					   i == numbers->count - 1 ? " and " :
								     ", ",
					   numbers->of[i]);
	return line;
}

/* Long enough for MAX_SIZES numbers. */
#define LIST_SIZE (MAX_SIZES * 16)

/* The cells of flexsc with one runner and the usual number of threads, by W. */
static const json_t *cell_at(const json_t *cells, const char *call, const struct settings *s,
			     double work)
{
	return find_cell(cells, call, "flexsc", usual_threads(s), 1, work);
}

/* The W at which JUDGE finds the cell to be so. */
static struct number_list works_where(bool (*judge)(const json_t *cell), const json_t *cells,
				      const char *call, const struct settings *s)
{
	struct number_list found = { 0 };
	size_t w;

	for (w = 0; w < s->work.count; w++)
		if (judge(cell_at(cells, call, s, s->work.of[w])))
			add_number(&found, s->work.of[w]);
	return found;
}

static const json_t *best_of(const struct number_list *works, const json_t *cells, const char *call,
			     const struct settings *s)
{
	const json_t *cell, *best = NULL;
	size_t w;

	for (w = 0; w < works->count; w++) {
		cell = cell_at(cells, call, s, works->of[w]);
		if (!best || json_number_at(cell, "ratio") > json_number_at(best, "ratio"))
			best = cell;
	}
	return best;
}

/* Where the ratio crosses 1 between two neighbours: the first W with a gain, or NAN. */
static double break_even_work(const json_t *cells, const char *call, const struct settings *s)
{
	double ratio, before = NAN, work_before = 0;
	size_t w;

	for (w = 0; w < s->work.count; w++) {
		ratio = json_number_at(cell_at(cells, call, s, s->work.of[w]), "ratio");
		if (ratio > 1 && before <= 1)
			return work_before +
			       (s->work.of[w] - work_before) * (1 - before) / (ratio - before);
		before = ratio;
		work_before = s->work.of[w];
	}
	return NAN;
}

static void say_break_even(struct run *run, const json_t *cells, const char *call)
{
	double work = break_even_work(cells, call, run->settings);

	if (!isnan(work))
		add_finding(run, call, "%s: it breaks even at about W = %.0f ns.", call, work);
}

static void say_region(struct run *run, const json_t *cells, const char *call)
{
	const struct settings *s = run->settings;
	struct number_list won = works_where(wins, cells, call, s);
	const json_t *best = best_of(&won, cells, call, s);
	char list[LIST_SIZE], most[32] = "";

	if (!best) {
		add_finding(run, call,
			    "%s: with %ld user-level threads and one runner flexsc wins at no W "
			    "that was measured by more than the noise.",
			    call, usual_threads(s));
		return;
	}
	if (won.count > 1)
		snprintf(most, sizeof(most), ", most at %.0f ns", json_number_at(best, "work_ns"));
	add_finding(run, call,
		    "%s: with %ld user-level threads and one runner flexsc wins where the work "
		    "between calls is W = %s ns%s: %.2f times the throughput of plain calls.",
		    call, usual_threads(s), joined(&won, list, sizeof(list)), most,
		    json_number_at(best, "ratio"));
	say_break_even(run, cells, call);
}

static void say_doubts(struct run *run, const json_t *cells, const char *call)
{
	struct number_list doubtful = works_where(may_win, cells, call, run->settings);
	char list[LIST_SIZE];

	if (doubtful.count)
		add_finding(run, call, "%s: the noise could have made what it gains at W = %s ns.",
			    call, joined(&doubtful, list, sizeof(list)));
}

/* The cells in which plain calls are the better choice. */
static void say_where_plain_wins(struct run *run, const json_t *cells, const char *call)
{
	const struct settings *s = run->settings;
	struct number_list work = works_where(loses, cells, call, s), threads = { 0 };
	char list[LIST_SIZE];
	size_t i;

	for (i = 0; i < s->threads.count; i++)
		if (loses(find_cell(cells, call, "flexsc", (long)s->threads.of[i], 1,
				    usual_work(s))))
			add_number(&threads, s->threads.of[i]);
	if (work.count)
		add_finding(run, call,
			    "%s: with %ld user-level threads and one runner plain calls win at W "
			    "= %s ns: there the runner is the slower side, or the call is a small "
			    "part of the work.",
			    call, usual_threads(s), joined(&work, list, sizeof(list)));
	if (threads.count)
		add_finding(run, call,
			    "%s: at W = %.0f ns plain calls win with these numbers of user-level "
			    "threads: %s; they are too few to go on with while a call is under "
			    "way, or more than the caches hold.",
			    call, usual_work(s), joined(&threads, list, sizeof(list)));
}

static void say_who_pays(struct run *run, const json_t *cells, const char *call)
{
	const struct settings *s = run->settings;
	const json_t *plain = find_cell(cells, call, "plain", 0, 0, usual_work(s));
	const json_t *cell = find_cell(cells, call, "flexsc", usual_threads(s), 1, usual_work(s));
	double caller = json_number_at(cell, "caller_cpu_ns");
	double others = json_number_at(cell, "other_cpu_ns");
	double before = json_number_at(plain, "caller_cpu_ns");

	if (!plain || !cell)
		return;
	add_finding(run, call,
		    "%s at W = %.0f ns: a call and its work take %.0f ns of CPU time by flexsc "
		    "(%.0f the caller's, %.0f the runner's), %.0f by plain calls: %.2f times as "
		    "much CPU for %.2f times the throughput.",
		    call, usual_work(s), caller + others, caller, others, before,
		    (caller + others) / before, json_number_at(cell, "ratio"));
}

void conclude_cells(struct run *run, const json_t *cells)
{
	const struct names *calls = &run->settings->workloads;
	size_t c;

	for (c = 0; c < calls->count; c++) {
		say_region(run, cells, calls->of[c]);
		say_doubts(run, cells, calls->of[c]);
		say_where_plain_wins(run, cells, calls->of[c]);
		say_who_pays(run, cells, calls->of[c]);
	}
}
