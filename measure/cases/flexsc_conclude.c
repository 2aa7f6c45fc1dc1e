// SPDX-License-Identifier: MIT
/* Where flexsc wins: the region, the break-even, and who pays. */
#include "flexsc.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

#define USUAL_THREADS 64 /* the findings describe the cells nearest to these */
#define USUAL_WORK 150

/* A range of W in which flexsc is ahead of plain calls, by straight lines between its cells. */
struct gain {
	const char *missing;
	const char *call;
	long threads, runners;
	double from, to;		 /* ns */
	bool from_measured, to_measured; /* the first or last W measured, no break-even */
};

struct results {
	struct cell *cells;
	size_t count;
	struct gain *gains;
	size_t gain_count;
	long threads; /* that the findings describe */
	double work;
};

static double nearest(const struct sizes *sizes, double wanted)
{
	double best = sizes->of[0];
	size_t i;

	for (i = 1; i < sizes->count; i++)
		if (fabs(sizes->of[i] - wanted) < fabs(best - wanted))
			best = sizes->of[i];
	return best;
}

static const struct cell *find_cell(const struct results *results, const char *call, enum way way,
				    long threads, long runners, double work)
{
	size_t i;

	for (i = 0; i < results->count; i++) {
		const struct cell *cell = &results->cells[i];

		if (!strcmp(cell->call, call) && cell->way == way && cell->work == work &&
		    cell->threads == threads && cell->runners == runners && !cell->missing)
			return cell;
	}
	return NULL;
}

/* The cell of flexsc with one runner and the usual number of threads. */
static const struct cell *cell_at(const struct results *results, const char *call, double work)
{
	return find_cell(results, call, FLEXSC, results->threads, 1, work);
}

/* The cell of another way, with the usual number of threads if it has several. */
static const struct cell *way_at(const struct results *results, const char *call, enum way way,
				 double work)
{
	if (way == FLEXSC)
		return cell_at(results, call, work);
	return find_cell(results, call, way, way_has_threads(way) ? results->threads : 0, 0, work);
}

/* ---- where it is ahead ---- */

/* Where the ratio crosses 1 between two cells. */
static double crossing_of(const struct cell *one, const struct cell *other)
{
	double share = (1 - one->ratio.ratio) / (other->ratio.ratio - one->ratio.ratio);

	return one->work + share * (other->work - one->work);
}

static void find_gains(struct results *results, const struct sizes *works, const char *call,
		       long runners)
{
	const struct cell *cell, *before = NULL;
	struct gain *gain = NULL; /* the one that goes on */
	size_t w;

	for (w = 0; w < works->count; w++, before = cell) {
		cell = find_cell(results, call, FLEXSC, results->threads, runners, works->of[w]);
		if (!cell)
			return;
		if (cell->ratio.ratio > 1 && !gain) {
			gain = &results->gains[results->gain_count++];
			*gain = (struct gain){ .call = cell->call,
					       .threads = cell->threads,
					       .runners = cell->runners,
					       .from = before ? crossing_of(before, cell) :
								cell->work,
					       .from_measured = !before };
		} else if (cell->ratio.ratio <= 1 && gain) {
			gain->to = crossing_of(before, cell);
			gain->to_measured = false;
			gain = NULL;
		}
		if (gain) {
			gain->to = cell->work;
			gain->to_measured = true;
		}
	}
}

static void find_all_gains(struct run *run, struct results *results)
{
	const struct flexsc_settings *s = flexsc_settings(run);
	long most = 0, runners;
	size_t i;

	for (i = 0; i < results->count; i++)
		most = results->cells[i].runners > most ? results->cells[i].runners : most;
	results->gains =
		keep(s->calls_made.count * (size_t)most * s->work.count, sizeof(*results->gains));
	for (i = 0; i < s->calls_made.count; i++)
		for (runners = 1; runners <= most; runners++)
			find_gains(results, &s->work, s->calls_made.of[i], runners);
}

/* ---- in words ---- */

enum verdict { UNKNOWN, LOSES, DRAWS, MAY_WIN /* or the noise did */, WINS };

static enum verdict verdict_of(const struct cell *cell)
{
	if (!cell)
		return UNKNOWN;
	if (cell->ratio.ratio > 1)
		return cell->ratio.significant ? WINS : MAY_WIN;
	return cell->ratio.significant ? LOSES : DRAWS;
}

/* "1, 8 and 64", in a text that is kept. */
static const char *joined(const struct sizes *numbers)
{
	const char *words = "";
	size_t i;

	for (i = 0; i < numbers->count; i++)
		words = keep_text("%s%s%.0f", words, i ? " " : "", numbers->of[i]);
	return keep_list(words, " and ");
}

/* The W whose cells have VERDICT. */
static struct sizes works_where(const struct results *results, const char *call,
				const struct sizes *works, enum verdict verdict)
{
	struct sizes found = { .count = 0 };
	size_t w;

	for (w = 0; w < works->count; w++)
		if (verdict_of(cell_at(results, call, works->of[w])) == verdict)
			found.of[found.count++] = works->of[w];
	return found;
}

static void say_break_even(struct run *run, const struct results *results, const char *call)
{
	size_t i;

	for (i = 0; i < results->gain_count; i++) {
		const struct gain *gain = &results->gains[i];

		if (strcmp(gain->call, call) != 0 || gain->runners != 1 || gain->from_measured)
			continue;
		add_finding(run, call, "%s: it breaks even at about W = %.0f ns.", call,
			    gain->from);
		return;
	}
}

static void say_region(struct run *run, const struct results *results, const char *call)
{
	struct sizes won = works_where(results, call, &flexsc_settings(run)->work, WINS);
	const struct cell *best = NULL, *cell;
	size_t w;

	for (w = 0; w < won.count; w++) {
		cell = cell_at(results, call, won.of[w]);
		if (!best || cell->ratio.ratio > best->ratio.ratio)
			best = cell;
	}
	if (!best) {
		add_finding(run, call,
			    "%s: with %ld threads and one runner flexsc wins at no W "
			    "that was measured by more than the noise.",
			    call, results->threads);
		return;
	}
	add_finding(run, call,
		    "%s: with %ld threads and one runner flexsc wins where the work "
		    "between calls is W = %s ns%s: %.2f times the throughput of plain calls.",
		    call, results->threads, joined(&won),
		    won.count > 1 ? keep_text(", most at %.0f ns", best->work) : "",
		    best->ratio.ratio);
	say_break_even(run, results, call);
}

static void say_doubts(struct run *run, const struct results *results, const char *call)
{
	struct sizes doubtful = works_where(results, call, &flexsc_settings(run)->work, MAY_WIN);

	if (doubtful.count)
		add_finding(run, call, "%s: noise could explain its gain at W = %s ns.", call,
			    joined(&doubtful));
}

/* The cells in which plain calls are the better choice. */
static void say_where_plain_wins(struct run *run, const struct results *results, const char *call)
{
	const struct flexsc_settings *s = flexsc_settings(run);
	struct sizes work = works_where(results, call, &s->work, LOSES), threads = { .count = 0 };
	size_t i;

	for (i = 0; i < s->threads.count; i++)
		if (verdict_of(find_cell(results, call, FLEXSC, (long)s->threads.of[i], 1,
					 results->work)) == LOSES)
			threads.of[threads.count++] = s->threads.of[i];
	if (work.count)
		add_finding(run, call,
			    "%s: with %ld threads and one runner plain calls win at W "
			    "= %s ns: there the runner is the slower side, or the call is a small "
			    "part of the work.",
			    call, results->threads, joined(&work));
	if (threads.count)
		add_finding(run, call,
			    "%s: at W = %.0f ns plain calls win with these numbers of threads: %s.",
			    call, results->work, joined(&threads));
}

/* The throughput is not stated where the noise could have made it. */
static void say_who_pays(struct run *run, const struct results *results, const char *call)
{
	const struct cell *plain = find_cell(results, call, PLAIN, 0, 0, results->work);
	const struct cell *cell = cell_at(results, call, results->work);
	const char *gain = "";

	if (!plain || !cell)
		return;
	if (cell->ratio.significant)
		gain = keep_text(" for %.2f times the throughput", cell->ratio.ratio);
	add_finding(run, call,
		    "%s at W = %.0f ns: a call and its work take %.0f ns of CPU time by flexsc "
		    "(%.0f the caller's, %.0f the runner's), %.0f by plain calls: %.2f times as "
		    "much CPU%s.",
		    call, results->work, cell->caller + cell->others, cell->caller, cell->others,
		    plain->caller, (cell->caller + cell->others) / plain->caller, gain);
}

/* Names the fastest of all ways, at the usual work. */
static void say_best(struct run *run, const struct results *results, const char *call)
{
	static const char *const words[WAYS] = { "plain calls",
						 "batches",
						 "io_uring",
						 "io_uring with a polling thread",
						 "plain calls of several threads on two CPUs",
						 "flexsc" };
	const struct cell *flexsc = cell_at(results, call, results->work), *best = flexsc, *cell;
	enum way way;

	for (way = PLAIN; way < FLEXSC; way++) {
		cell = way_at(results, call, way, results->work);
		if (cell && best && cell->summary.median < best->summary.median)
			best = cell;
	}
	if (best)
		add_finding(
			run, call,
			"%s at W = %.0f ns: the fastest way is %s, at %.0f %s for a call and its "
			"work%s.",
			call, results->work, words[best->way], best->summary.median, clock_unit(),
			best == flexsc ? "" :
					 keep_text("; flexsc takes %.0f", flexsc->summary.median));
}

static void say_everything(struct run *run, const struct results *results)
{
	const struct names *calls = &flexsc_settings(run)->calls_made;
	size_t c;

	for (c = 0; c < calls->count; c++) {
		say_region(run, results, calls->of[c]);
		say_doubts(run, results, calls->of[c]);
		say_where_plain_wins(run, results, calls->of[c]);
		say_who_pays(run, results, calls->of[c]);
		say_best(run, results, calls->of[c]);
	}
}

/* ---- records ---- */

#define CELL(member) offsetof(struct cell, member)

static const struct field fields[] = {
	{ "name", F_TEXT, CELL(name), CSV | ALWAYS },
	{ "call", F_TEXT, CELL(call), CSV | ALWAYS },
	{ "way", F_TEXT, CELL(way_name), CSV | ALWAYS },
	{ "threads", F_OPTIONAL, CELL(threads), CSV | ALWAYS },
	{ "runners", F_OPTIONAL, CELL(runners), CSV | ALWAYS },
	{ "work_ns", F_NUMBER, CELL(work), CSV | ALWAYS },
	{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
	{ "reason", F_REASON, 0, ALWAYS },
	{ "calls", F_COUNT, CELL(calls), 0 },
	TRIAL_FIELDS(struct cell),
	{ "ratios", F_NUMBERS, CELL(ratios), 0 },
	RATIO_FIELDS(struct cell),
	{ "caller_cpu_ns", F_NUMBER, CELL(caller), CSV },
	{ "other_cpu_ns", F_NUMBER, CELL(others), CSV },
	{ "latency_ns.p50", F_NUMBER, CELL(latency[0]), CSV },
	{ "latency_ns.p90", F_NUMBER, CELL(latency[1]), 0 },
	{ "latency_ns.p99", F_NUMBER, CELL(latency[2]), CSV },
	{ "latency_ns.max", F_NUMBER, CELL(latency[3]), 0 },
};

static const struct field gain_fields[] = {
	{ "call", F_TEXT, offsetof(struct gain, call), 0 },
	{ "threads", F_COUNT, offsetof(struct gain, threads), 0 },
	{ "runners", F_COUNT, offsetof(struct gain, runners), 0 },
	{ "from_ns", F_NUMBER, offsetof(struct gain, from), 0 },
	{ "to_ns", F_NUMBER, offsetof(struct gain, to), 0 },
	{ "from_measured", F_YES_NO, offsetof(struct gain, from_measured), 0 },
	{ "to_measured", F_YES_NO, offsetof(struct gain, to_measured), 0 },
};

static const struct field run_fields[] = {
	{ "in_kernel", F_YES_NO, offsetof(struct runner, in_kernel), 0 },
	{ "idle_cpu_ns", F_NUMBER, offsetof(struct runner, idle_cpu), 0 },
	{ "caller_instructions", F_NUMBER, offsetof(struct runner, caller_instructions), 0 },
};

/* ---- tables ---- */

/* All ways at one W. */
struct work_line {
	const char *missing;
	double work, ways[WAYS], ratio, cpu;
};

#define LINE(member) offsetof(struct work_line, member)

static const struct column by_work[] = {
	{ "W", F_NUMBER, LINE(work), 0 },
	{ "PLAIN", F_NUMBER, LINE(ways[PLAIN]), 1 },
	{ "BATCH", F_NUMBER, LINE(ways[BATCH]), 1 },
	{ "URING", F_NUMBER, LINE(ways[URING]), 1 },
	{ "SQPOLL", F_NUMBER, LINE(ways[SQPOLL]), 1 },
	{ "PTHREADS", F_NUMBER, LINE(ways[PTHREADS]), 1 },
	{ "FLEXSC", F_NUMBER, LINE(ways[FLEXSC]), 1 },
	{ "RATIO", F_NUMBER, LINE(ratio), 2 },
	{ "CPU", F_NUMBER, LINE(cpu), 2 },
};

static const struct column by_threads[] = {
	{ "WAY", F_TEXT, CELL(way_name), 0 },	     { "THREADS", F_COUNT, CELL(threads), 0 },
	{ "RUNNERS", F_OPTIONAL, CELL(runners), 0 }, { "TIME", F_NUMBER, CELL(summary.median), 1 },
	{ "RATIO", F_NUMBER, CELL(ratio.ratio), 2 }, { "P50", F_NUMBER, CELL(latency[0]), 0 },
	{ "P99", F_NUMBER, CELL(latency[2]), 0 },
};

/* What the page has besides: every cell. */
static const struct column throughput[] = {
	{ "CALL", F_TEXT, CELL(call), 0 },
	{ "WAY", F_TEXT, CELL(way_name), 0 },
	{ "THREADS", F_OPTIONAL, CELL(threads), 0 },
	{ "RUNNERS", F_OPTIONAL, CELL(runners), 0 },
	{ "W", F_NUMBER, CELL(work), 0 },
	{ "TIME", F_NUMBER, CELL(summary.median), 1 },
	{ "+-", F_NUMBER, CELL(summary.se), 2 },
	{ "RATIO", F_NUMBER, CELL(ratio.ratio), 2 },
	{ "+-", F_NUMBER, CELL(ratio.se), 3 },
	{ "SURE", F_YES_NO, CELL(ratio.significant), 0 },
	{ "CPU", F_NUMBER, CELL(caller), 1 },
	{ "OTHERS", F_NUMBER, CELL(others), 1 },
};

static const char throughput_note[] =
	"TIME: of a call and its work. RATIO: throughput to that of plain calls. SURE: by more "
	"than the noise. CPU: CPU time of the callers. OTHERS: that of the runners, or of the "
	"thread of io_uring.";

static const struct column latencies[] = {
	{ "CALL", F_TEXT, CELL(call), 0 },
	{ "WAY", F_TEXT, CELL(way_name), 0 },
	{ "THREADS", F_OPTIONAL, CELL(threads), 0 },
	{ "RUNNERS", F_OPTIONAL, CELL(runners), 0 },
	{ "W", F_NUMBER, CELL(work), 0 },
	{ "P50", F_NUMBER, CELL(latency[0]), 0 },
	{ "P90", F_NUMBER, CELL(latency[1]), 0 },
	{ "P99", F_NUMBER, CELL(latency[2]), 0 },
	{ "MAX", F_NUMBER, CELL(latency[3]), 0 },
};

static const char note[] = "PTHREADS: threads that make plain calls, on two CPUs. FLEXSC: as many "
			   "threads that post, on "
			   "one CPU, and a runner on the other. RATIO: throughput to that of plain "
			   "calls. CPU: CPU time "
			   "of both sides to that of plain calls. P50, P99: latency of a call; of "
			   "a posted one, until its "
			   "thread collects it.";

static struct work_line line_of(const struct results *results, const char *call, double work)
{
	struct work_line line = { .work = work, .ratio = NAN, .cpu = NAN };
	const struct cell *cell, *plain = find_cell(results, call, PLAIN, 0, 0, work);
	enum way way;

	for (way = PLAIN; way < WAYS; way++) {
		cell = way_at(results, call, way, work);
		line.ways[way] = cell ? cell->summary.median : NAN;
	}
	cell = cell_at(results, call, work);
	if (cell && plain) {
		line.ratio = cell->ratio.ratio;
		line.cpu = (cell->caller + cell->others) / (plain->caller + plain->others);
	}
	return line;
}

static void tabulate_by_work(struct run *run, const struct results *results, const char *call)
{
	const struct sizes *works = &flexsc_settings(run)->work;
	struct table *table = add_table(
		run, by_work, note, "%s and W ns of work, in %s; flexsc: %ld thread%s, 1 runner",
		call, clock_unit(), results->threads, results->threads == 1 ? "" : "s");
	struct work_line line;
	size_t w;

	for (w = 0; w < works->count; w++) {
		line = line_of(results, call, works->of[w]);
		table_add(table, &line);
	}
}

static void tabulate_by_threads(struct run *run, const struct results *results, const char *call)
{
	struct table *table = add_table(run, by_threads, note, "%s by threads with W = %.0f, in %s",
					call, results->work, clock_unit());
	size_t i;

	for (i = 0; i < results->count; i++) {
		const struct cell *cell = &results->cells[i];

		if (!strcmp(cell->call, call) && cell->threads && cell->work == results->work)
			table_add(table, cell);
	}
}

static void tabulate(struct run *run, const struct results *results)
{
	const struct names *calls = &flexsc_settings(run)->calls_made;
	const struct records *cells = &run->sets[0];
	struct table *table;
	size_t i;

	for (i = 0; i < calls->count; i++) {
		tabulate_by_work(run, results, calls->of[i]);
		tabulate_by_threads(run, results, calls->of[i]);
	}
	table = add_table(run, throughput, throughput_note,
			  "Throughput and CPU time, in %s per call, its work included",
			  clock_unit());
	table->page_only = true;
	table_add_all(table, cells);
	table = add_table(run, latencies, note, "Latency of a call, in %s", clock_unit());
	table->page_only = true;
	table_add_all(table, cells);
}

void flexsc_conclude(struct run *run, struct cell cells[], size_t count,
		     const struct runner *runner)
{
	struct results results;

	count = compare_contestants(run, cells, count, sizeof(*cells));
	judge_run(run);
	results = (struct results){
		.cells = cells,
		.count = count,
		.threads = (long)nearest(&flexsc_settings(run)->threads, USUAL_THREADS),
		.work = nearest(&flexsc_settings(run)->work, USUAL_WORK),
	};
	find_all_gains(run, &results);
	say_everything(run, &results);
	if (!isnan(runner->caller_instructions))
		add_finding(run, NULL,
			    "From one posted write to the next the caller takes %.0f instructions, "
			    "collecting an earlier one and the loop around both included.",
			    runner->caller_instructions);
	add_finding(run, NULL, "A runner without calls uses %.0f ns of CPU time in a second.",
		    runner->idle_cpu);
	add_fields(run, RECORDS(NULL, run_fields, runner, 1));
	add_contestants(run, RECORDS("cells", fields, cells, count));
	add_records(run, RECORDS("gains", gain_fields, results.gains, results.gain_count));
	tabulate(run, &results);
}
