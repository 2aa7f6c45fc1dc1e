// SPDX-License-Identifier: MIT
/* Warnings about what makes the figures of a run less reliable. */
#include <math.h>
#include <string.h>

#include "document.h"
#include "interrupt.h"

#define BUSY 0.02   /* of the CPU, to others */
#define COARSE 0.01 /* of the shortest time, for the clock's step and cost */

static void warn_of_others(struct run *run, const struct circumstances *at)
{
	const struct others *others = &at->others;

	if (others->stolen > BUSY)
		add_warning(run, "busy",
			    "The host took %.0f %% of the measured CPU away from this virtual "
			    "machine: repeat when it is quiet.",
			    100 * others->stolen);
	if (others->of_cpu - fmax(0, others->stolen) > BUSY || others->of_all > BUSY)
		add_warning(run, "busy",
			    "Others took %.0f %% of the measured CPU and %.0f %% of all CPUs "
			    "during the run, which lost its CPU to them %ld times: repeat on a "
			    "quiet machine.",
			    100 * fmax(0, others->of_cpu), 100 * fmax(0, others->of_all),
			    others->preempted);
	else if (isnan(others->of_all) && at->runnable > 1)
		add_warning(run, "busy",
			    "%ld other tasks could run when the run began: repeat on a quiet "
			    "machine.",
			    at->runnable - 1);
}

static void warn_of_machine(struct run *run, const struct circumstances *at)
{
	if (at->governor && strcmp(at->governor, "performance") != 0)
		add_warning(
			run, "frequency-scaling",
			"The governor '%s' changes the CPU's frequency; 'performance' does not.",
			at->governor);
	if (at->cpu < 0)
		add_warning(run, "not-pinned",
			    "The kernel did not let the process stay on one CPU.");
	warn_of_others(run, at);
	if (at->smt == 1)
		add_warning(run, "smt",
			    "CPUs share cores: what runs on the sibling of the measured CPU slows "
			    "it down.");
	if (at->machine.user_mode)
		add_warning(run, "user-mode-linux",
			    "This is user-mode Linux, where a crossing is a switch between two "
			    "processes of the host: it costs many times as much as on other "
			    "kernels, and ratios from here do not hold there.");
	else if (at->machine.hypervisor)
		add_warning(run, "virtual-machine",
			    "This is a virtual machine: its host may take the CPU away and change "
			    "its frequency, and neither can be seen from here.");
}

static void warn_of_clock(struct run *run, const struct circumstances *at)
{
	double worth = at->clock.resolution_ns + at->clock.overhead_ns;

	if (!at->clock.vdso)
		add_warning(run, "slow-clock",
			    "A reading of the clock takes %.0f ns, as long as a system call: the "
			    "clock source %s is not read through the vDSO.",
			    at->clock.overhead_ns,
			    at->clock.source ? at->clock.source : "of this kernel");
	if (isfinite(*run->shortest) && worth > COARSE * *run->shortest)
		add_warning(run, "coarse-clock",
			    "The shortest time is %.0f ns, and the clock is accurate to %.0f ns: "
			    "time more calls at once.",
			    *run->shortest, worth);
}

static void warn_of_rows(struct run *run)
{
	if (run->outliers)
		add_warning(
			run, "outliers",
			"In %zu of %zu rows more than one trial in ten is an outlier. Something "
			"disturbed them; medians and least times suffer least.",
			run->outliers, run->rows);
	if (run->unsettled)
		add_warning(run, "unsettled",
			    "In %zu of %zu rows even the least times of the two halves differ by "
			    "more than 5 %%: repeat on a quiet machine.",
			    run->unsettled, run->rows);
	if (run->drifting)
		add_warning(run, "drift",
			    "In %zu of %zu rows the two halves of the trials differ by more than "
			    "5 %%: the machine changed its speed.",
			    run->drifting, run->rows);
}

void add_warnings(struct run *run, const struct circumstances *at)
{
	if (interrupted())
		add_warning(run, "interrupted",
			    "The run was interrupted: only completed measurements are shown.");
	if (run->withheld)
		add_warning(run, "watched", "This run gives no verdict: %s.", run->withheld);
	/* Nothing that slows a machine down changes a count of instructions. */
	if (clock_counts_instructions())
		return;
	warn_of_machine(run, at);
	warn_of_clock(run, at);
	warn_of_rows(run);
}
