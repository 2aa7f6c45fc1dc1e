// SPDX-License-Identifier: MIT
/* What a run collects: results, figures, sentences. */
#include <math.h>
#include <string.h>

#include "bench.h"

#define MANY_OUTLIERS 0.1 /* of the trials */
#define MUCH_DRIFT 0.05	  /* of a median, from the first half to the second */

void add_records(struct run *run, struct records records)
{
	run->sets[run->set_count++] = records;
}

void add_fields(struct run *run, struct records record)
{
	run->more = record;
}

struct table *new_table(struct run *run, const struct column columns[], size_t column_count,
			const char *note, const char *title)
{
	struct table *table = keep(1, sizeof(*table));

	*table = (struct table){
		.title = title, .note = note, .columns = columns, .column_count = column_count
	};
	run->tables = keep_more(run->tables, run->table_count, sizeof(*run->tables));
	run->tables[run->table_count++] = table;
	return table;
}

void add_sentence(struct sentences *sentences, const char *about, const char *text)
{
	sentences->of = keep_more(sentences->of, sentences->count, sizeof(*sentences->of));
	sentences->of[sentences->count++] =
		(struct sentence){ .about = about ? keep_text("%s", about) : NULL, .text = text };
}

void add_figure(struct run *run, const char *what, const char *unit, struct estimate estimate,
		size_t trials)
{
	if (!isfinite(estimate.value))
		return;
	run->figures = keep_more(run->figures, run->figure_count, sizeof(*run->figures));
	run->figures[run->figure_count++] =
		(struct figure){ NULL, what, unit, estimate.value, estimate.se, (long)trials };
}

void add_comparison(struct run *run, struct comparison *comparison)
{
	run->comparisons =
		keep_more(run->comparisons, run->comparison_count, sizeof(struct comparison *));
	run->comparisons[run->comparison_count++] = comparison;
}

struct numbers compare_trials(struct run *run, const struct numbers *trials,
			      const struct numbers *base, struct comparison *comparison)
{
	struct numbers ratios = ratios_of(trials, base);

	*comparison = compare_in_turn(trials, base, &ratios, run->settings->bootstrap);
	if (trials != base)
		add_comparison(run, comparison);
	return ratios;
}

/* ---- contestants ---- */

static void compare_contestant(struct run *run, struct contestant *one,
			       const struct contestant *base)
{
	one->summary = summarize(one->trials.of, one->trials.count, run->settings->bootstrap);
	note_trials(run, &one->trials);
	one->ratios = compare_trials(run, &one->trials, &base->trials, &one->ratio);
}

size_t compare_contestants(struct run *run, void *contestants, size_t count, size_t size)
{
	static const struct contestant none;
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		struct contestant *one = contestant_at(contestants, i, size);

		if (one->trials.count)
			compare_contestant(run, one,
					   one->base == NO_BASE ?
						   &none :
						   contestant_at(contestants, one->base, size));
	}
	for (i = 0; i < count; i++) {
		struct contestant *one = contestant_at(contestants, i, size);

		if (one->missing || one->trials.count)
			memmove(contestant_at(contestants, kept++, size), one, size);
	}
	return kept;
}

void add_contestants(struct run *run, struct records contestants)
{
	size_t i;

	add_records(run, contestants);
	for (i = 0; i < contestants.count; i++) {
		const struct contestant *one = record_at(&contestants, i);

		if (!one->missing)
			add_figure(run, one->name, clock_unit(),
				   (struct estimate){ one->summary.median, one->summary.se },
				   one->trials.count);
	}
}

/* ---- judging ---- */

void judge_run(struct run *run)
{
	size_t i;

	judge(run->comparisons, run->comparison_count);
	if (!run->withheld && run->find_reason)
		run->withheld = run->find_reason();
	for (i = 0; run->withheld && i < run->comparison_count; i++)
		run->comparisons[i]->significant = false;
}

void withhold_findings(struct run *run)
{
	if (!run->withheld)
		return;
	run->findings.count = 0;
	add_finding(run, NULL, "Verdict withheld: %s. Repeat when that has ended.", run->withheld);
}

void note_trials(struct run *run, const struct numbers *trials)
{
	size_t count = trials->count;

	if (count < 4)
		return;
	run->rows++;
	run->outliers += (double)count_outliers(trials->of, count) > MANY_OUTLIERS * (double)count;
	run->drifting += fabs(drift_of(trials->of, count)) > MUCH_DRIFT;
	run->unsettled += !is_settled(trials->of, count);
}

void note_duration(struct run *run, double ns)
{
	*run->shortest = fmin(*run->shortest, ns);
}
