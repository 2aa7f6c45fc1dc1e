// SPDX-License-Identifier: MIT
#include "warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "json.h"
#include "memory.h"

#define BUSY 0.02	  /* of the CPU, to others */
#define COARSE 0.01	  /* of the shortest time, for the clock's step and cost */
#define MUCH_DRIFT 0.05	  /* of a median, from the first half to the second */
#define MANY_OUTLIERS 0.1 /* of the trials */

static void warn_of_machine(struct run *run)
{
	const json_t *document = run->document;
	const char *governor = json_string_at(document, "machine.governor", "performance");
	double others = json_number_at(document, "machine.others");
	double load = json_number_at(document, "machine.load");
	double cpus = json_number_at(document, "machine.cpus");

	if (strcmp(governor, "performance") != 0)
		add_warning(
			run, "frequency-scaling",
			"The governor '%s' changes the CPU's frequency; 'performance' keeps it.",
			governor);
	if (json_is_null(json_at(document, "machine.cpu_pinned")))
		add_warning(run, "not-pinned",
			    "The kernel did not let the process stay on one CPU.");
	if (others > BUSY)
		add_warning(run, "busy",
			    "Others took %.0f %% of the measured CPU during the run; stop them, or "
			    "choose another with --cpu.",
			    100 * others);
	else if (isnan(others) && load > cpus / 2)
		add_warning(run, "busy", "The machine was busy: %.1f runnable tasks on %.0f CPUs.",
			    load, cpus);
	if (json_true_at(document, "machine.smt"))
		add_warning(run, "smt",
			    "CPUs share cores: what runs on the sibling of the measured CPU slows "
			    "it down.");
	if (json_true_at(document, "machine.virtual_machine"))
		add_warning(run, "virtual-machine",
			    "This is a virtual machine: its host may take the CPU away and change "
			    "its frequency, and neither can be seen from here.");
}

/* A clock that enters the kernel costs as much as what is measured. */
static void warn_of_clock(struct run *run)
{
	double step = json_number_at(run->document, "clock.resolution_ns");
	double cost = json_number_at(run->document, "clock.overhead_ns");

	if (cost > 200)
		add_warning(run, "slow-clock",
			    "A reading of the clock takes %.0f ns: the clock source %s is not read "
			    "through the vDSO.",
			    cost, json_string_at(run->document, "clock.source", "of this kernel"));
	if (isfinite(*run->shortest_ns) && step + cost > COARSE * *run->shortest_ns)
		add_warning(
			run, "coarse-clock",
			"The shortest time taken is %.0f ns, and the clock is good for %.0f ns: "
			"time more calls at once.",
			*run->shortest_ns, step + cost);
}

static double *numbers_of(const json_t *list, size_t *count)
{
	double *numbers;
	size_t i;

	*count = json_array_size(list);
	numbers = allocate(*count, sizeof(*numbers));
	for (i = 0; i < *count; i++)
		numbers[i] = json_number_value(json_array_get(list, i));
	return numbers;
}

/* Rows whose trials have outliers, and whose speed changed. */
static void warn_of_rows(struct run *run, const char *key)
{
	const json_t *row;
	size_t outliers = 0, drifting = 0, count, i;

	json_array_foreach(json_object_get(run->document, key), i, row) {
		double *trials = numbers_of(json_object_get(row, "trials_ns"), &count);
		struct summary summary;

		if (count >= 4) {
			summary = summarize(trials, count, run->settings->bootstrap);
			outliers += (double)count_outliers(trials, count) >
				    MANY_OUTLIERS * (double)count;
			drifting += fabs(summary.drift) > MUCH_DRIFT;
		}
		free(trials);
	}
	if (outliers)
		add_warning(run, "outliers",
			    "Rows with outliers in more than one trial in ten: %zu. Something "
			    "disturbed them; the median suffers least.",
			    outliers);
	if (drifting)
		add_warning(run, "drift",
			    "Rows in which the first and the second half of the trials differ by "
			    "more than 5 %%: %zu. The machine changed its speed.",
			    drifting);
}

/* The trials of one size, a column of a series. */
static double *column_of(const json_t *trials, size_t size, size_t *count)
{
	double *values;
	size_t i;

	*count = json_array_size(trials);
	values = allocate(*count, sizeof(*values));
	for (i = 0; i < *count; i++)
		values[i] = json_number_value(json_array_get(json_array_get(trials, i), size));
	return values;
}

static void warn_of_series(struct run *run)
{
	const json_t *series;
	size_t outliers = 0, all = 0, i, s, count;

	json_array_foreach(json_object_get(run->document, "series"), i, series) {
		double drift = json_number_at(series, "fit.b_drift");
		double slope = json_number_at(series, "fit.b_ns");

		for (s = 0; s < json_array_size(json_object_get(series, "sizes")); s++) {
			double *values = column_of(json_object_get(series, "trials_ns"), s, &count);

			outliers += count ? count_outliers(values, count) : 0;
			all += count;
			free(values);
		}
		if (drift > MUCH_DRIFT * slope)
			add_warning(
				run, "drift",
				"%s on %s: the lines through the first and the second half of "
				"the trials are far apart (%.1f of %.1f ns per call): the machine "
				"changed its speed.",
				json_string_at(series, "call", ""),
				json_string_at(series, "engine", ""), drift, slope);
	}
	if ((double)outliers > MANY_OUTLIERS * (double)all)
		add_warning(run, "outliers",
			    "%zu of %zu times are outliers: something disturbed the run. The least "
			    "times suffer little from it.",
			    outliers, all);
}

static void warn_of_comparisons(struct run *run)
{
	const json_t *row;
	size_t outliers = 0, all = 0, i, side, count;

	json_array_foreach(json_object_get(run->document, "comparisons"), i, row) {
		for (side = 0; side < 2; side++) {
			double *times = column_of(json_object_get(row, "pairs_ns"), side, &count);

			outliers += count ? count_outliers(times, count) : 0;
			all += count;
			free(times);
		}
	}
	if ((double)outliers > MANY_OUTLIERS * (double)all)
		add_warning(run, "outliers",
			    "%zu of %zu times are outliers: something disturbed the run.", outliers,
			    all);
}

void add_warnings(struct run *run)
{
	if (interrupted())
		add_warning(run, "interrupted",
			    "The run was interrupted: only what was finished is here.");
	warn_of_machine(run);
	warn_of_clock(run);
	warn_of_rows(run, "rows");
	warn_of_rows(run, "cells");
	warn_of_rows(run, "touches");
	warn_of_series(run);
	warn_of_comparisons(run);
}
