// SPDX-License-Identifier: MIT
/* Where flexsc wins, in words: the region, the break-even, and who pays. */
#include <math.h>
#include <string.h>

#include "flexsc_cells.h"
#include "json.h"

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
	return (long)nearest(settings->threads, settings->thread_count, 64);
}

double usual_work(const struct settings *settings)
{
	return nearest(settings->work, settings->work_count, 150);
}

static bool wins(const json_t *cell)
{
	return json_number_at(cell, "ratio") > 1 && json_true_at(cell, "significant");
}

static bool loses(const json_t *cell)
{
	return json_number_at(cell, "ratio") < 1 && json_true_at(cell, "significant");
}

/* Where the ratio crosses 1 between two neighbours: the first W with a gain, or NAN. */
static double break_even_work(const json_t *cells, const char *call, const struct settings *s)
{
	double ratio, before = NAN, work_before = 0;
	size_t w;

	for (w = 0; w < s->work_count; w++) {
		ratio = json_number_at(
			find_cell(cells, call, "flexsc", usual_threads(s), 1, s->work[w]), "ratio");
		if (ratio > 1 && !w)
			return s->work[0];
		if (ratio > 1 && before <= 1)
			return work_before +
			       (s->work[w] - work_before) * (1 - before) / (ratio - before);
		before = ratio;
		work_before = s->work[w];
	}
	return NAN;
}

static void say_region(struct run *run, const json_t *cells, const char *call)
{
	const struct settings *s = run->settings;
	long threads = usual_threads(s);
	double first = NAN, last = NAN, best = 0, best_work = 0, ratio;
	const json_t *cell;
	size_t w;

	for (w = 0; w < s->work_count; w++) {
		cell = find_cell(cells, call, "flexsc", threads, 1, s->work[w]);
		ratio = json_number_at(cell, "ratio");
		if (!wins(cell))
			continue;
		first = isnan(first) ? s->work[w] : first;
		last = s->work[w];
		if (ratio > best) {
			best = ratio;
			best_work = s->work[w];
		}
	}
	if (isnan(first)) {
		add_finding(run,
			    "%s: with %ld user-level threads and one runner flexsc wins at no W "
			    "that was measured by more than the noise.",
			    call, threads);
		return;
	}
	add_finding(run,
		    "%s: with %ld user-level threads and one runner flexsc wins where the work "
		    "between calls is W = %.0f to %.0f ns, most at %.0f ns: %.2f times the "
		    "throughput of plain calls. It breaks even at W = %.0f ns.",
		    call, threads, first, last, best_work, best, break_even_work(cells, call, s));
}

/* The cells in which plain calls are the better choice. */
static void say_where_plain_wins(struct run *run, const json_t *cells, const char *call)
{
	const struct settings *s = run->settings;
	double work = usual_work(s), lost_up_to = NAN;
	long fewest = 0;
	size_t i;

	for (i = 0; i < s->work_count; i++)
		if (loses(find_cell(cells, call, "flexsc", usual_threads(s), 1, s->work[i])))
			lost_up_to = s->work[i];
	if (!isnan(lost_up_to))
		add_finding(run,
			    "%s: plain calls win with one runner and %ld threads at some W up to "
			    "%.0f ns; there the runner is the slower side, or the work hides all.",
			    call, usual_threads(s), lost_up_to);
	for (i = 0; i < s->thread_count; i++)
		if (loses(find_cell(cells, call, "flexsc", (long)s->threads[i], 1, work)))
			fewest = (long)s->threads[i];
	if (fewest)
		add_finding(run,
			    "%s: at W = %.0f ns plain calls win with up to %ld user-level "
			    "threads: too few to go on with while a call is under way, or more "
			    "than the caches hold.",
			    call, work, fewest);
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
	add_finding(run,
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
		say_where_plain_wins(run, cells, calls->of[c]);
		say_who_pays(run, cells, calls->of[c]);
	}
}
