// SPDX-License-Identifier: MIT
/* The report for people. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/show.h"
#include "indirect.h"
#include "show_sequences.h"
#include "stacks/sites.h"
#include "trace.h"

/* ---- the first line ---- */

static double share_of(const struct trace *trace, double ns)
{
	return 100 * ns / trace->shares.cpu_ns;
}

static void show_best(const struct trace *trace)
{
	const struct findings *findings = &trace->findings;

	if (findings->count && finding_is_notable(findings->of))
		show_heading("%s: %s", trace->name, finding_sentence(findings->of));
	else
		show_heading("%s: nothing worth changing.", trace->name);
}

static const char *text_of_indirect(const struct trace *trace)
{
	const struct figure indirect = trace->indirect;

	if (!(indirect.value > 0))
		return "";
	if (!indirect_is_known(indirect))
		return "What calls evict from the CPU\'s caches cannot be told from the noise "
		       "here.";
	if (trace->shares.missing)
		return keep_text("What the calls evict takes up to %.3f ms (error %.3f) more.",
				 indirect.value / 1e6, indirect.error / 1e6);
	return keep_text("What the calls evict takes up to %.1f %% (error %.1f) more.",
			 fmin(100, share_of(trace, indirect.value)),
			 share_of(trace, indirect.error));
}

static void show_bound(const struct trace *trace)
{
	const struct figure crossings = trace->shares.crossings;
	const char *direct = keep_text("%.3f ms", (double)trace->totals.calls *
							  trace->costs.crossing.value / 1e6);

	if (!trace->shares.missing)
		direct = keep_text("%.1f %% (error %.1f)", share_of(trace, crossings.value),
				   share_of(trace, crossings.error));
	show_paragraph("",
		       keep_text("Its crossings take %s of its CPU time: the most that batching "
				 "saves directly. %s",
				 direct, text_of_indirect(trace)));
}

/* ---- findings ---- */

#define FINDINGS_SHOWN 10
#define LEAST_SHOWN 0.001 /* of the program's time */

#define SITES_SHOWN 3
#define LEAST_OF_CALLS 0.01

static void show_sites(const struct sites *sites)
{
	size_t i;

	for (i = 0; i < sites->count && i < SITES_SHOWN && sites->of[i].share >= LEAST_OF_CALLS;
	     i++)
		show_entry(keep_text("    %3.0f %%", 100 * sites->of[i].share), 11,
			   site_text(&sites->of[i]));
}

static void show_findings(const struct trace *trace)
{
	const struct findings *findings = &trace->findings;
	size_t i, shown = 0;

	for (i = 0; i < findings->count && shown < FINDINGS_SHOWN; i++)
		if (!(findings->of[i].share < LEAST_SHOWN)) {
			show_entry(keep_text("%zu.", ++shown), 4,
				   finding_sentence(&findings->of[i]));
			show_sites(&findings->of[i].sites);
		}
	if (shown)
		putchar('\n');
}

/* ---- waiting ---- */

#define WAITS_SHOWN 6

static void show_waits(const struct trace *trace)
{
	static const struct column columns[] = {
		{ "SLEPT IN", F_TEXT, offsetof(struct wait, call), 0 },
		{ "FOR", F_TEXT, offsetof(struct wait, file), 0 },
		{ "TIMES", F_COUNT, offsetof(struct wait, times), 0 },
		{ "MS", F_MILLISECONDS, offsetof(struct wait, ns), 3 },
		{ "MEAN", F_MILLISECONDS, offsetof(struct wait, mean), 3 },
		{ "P99", F_MILLISECONDS, offsetof(struct wait, p99), 3 },
		{ "ON CPU", F_MILLISECONDS, offsetof(struct wait, cpu_ns), 3 },
	};
	struct records records = {
		NULL, NULL, 0, trace->waits, trace->wait_count, sizeof(struct wait)
	};

	if (records.count > WAITS_SHOWN)
		records.count = WAITS_SHOWN;
	if (!records.count)
		return;
	show_records(columns, COUNT_OF(columns), &records);
	putchar('\n');
}

/* ---- the time ---- */

struct share_row {
	const char *missing;
	const char *name;
	double ns, error, share;
};

static void show_time(const struct trace *trace)
{
	static const struct column columns[] = {
		{ "TIME", F_TEXT, offsetof(struct share_row, name), 0 },
		{ "MS", F_MILLISECONDS, offsetof(struct share_row, ns), 3 },
		{ "ERROR", F_MILLISECONDS, offsetof(struct share_row, error), 3 },
		{ "OF CPU", F_PERCENT, offsetof(struct share_row, share), 1 },
	};
	const struct shares *s = &trace->shares;
	struct share_row rows[] = {
		{ NULL, "user code", s->user.value, s->user.error, s->user.value / s->cpu_ns },
		{ NULL, "crossings", s->crossings.value, s->crossings.error,
		  s->crossings.value / s->cpu_ns },
		{ NULL, "kernel work", s->kernel.value, s->kernel.error,
		  s->kernel.value / s->cpu_ns },
		{ NULL, "waiting", s->waiting_ns, NAN, NAN },
	};
	const struct records records = { NULL, NULL, 0, rows, COUNT_OF(rows), sizeof(*rows) };

	if (s->missing) {
		show_paragraph("", keep_text("Shares of time are missing: %s.", s->missing));
		return;
	}
	show_records(columns, COUNT_OF(columns), &records);
	if (s->undivided)
		show_paragraph("", keep_text("How much is user code is not known: %.3f ms of CPU "
					     "time are less than ten ticks of the kernel's clock.",
					     s->cpu_ns / 1e6));
	show_paragraph("", "Waiting is the wall time less the CPU time of all threads.");
}

/* ---- the calls ---- */

static void show_calls(const struct trace *trace, size_t top)
{
	static const struct column columns[] = {
		{ "CALL", F_TEXT, offsetof(struct total, name), 0 },
		{ "CALLS", F_COUNT, offsetof(struct total, calls), 0 },
		{ "FAILED", F_COUNT, offsetof(struct total, failed), 0 },
		{ "OF ALL", F_PERCENT, offsetof(struct total, share), 1 },
		{ "MS", F_MILLISECONDS, offsetof(struct total, wall_ns), 3 },
		{ "ON CPU", F_MILLISECONDS, offsetof(struct total, cpu_ns), 3 },
	};
	struct records records = { NULL, NULL, 0, NULL, 0, sizeof(struct total) };

	records.first = totals_sort(&trace->totals, &records.count);
	if (top && records.count > top)
		records.count = top;
	if (records.count)
		show_records(columns, COUNT_OF(columns), &records);
}

/* ---- how it was found out ---- */

static const char *cost_of_method(const struct trace *trace)
{
	const double calls = (double)trace->totals.calls;
	const char *share = "";

	if (!trace->by_bpf)
		return "which stops a thread twice in each call";
	if (!trace->shares.missing)
		share = keep_text(", %.1f %% of its CPU time",
				  share_of(trace, trace->tracing.value));
	return keep_text("which cost the program %.1f ns (error %.1f) for each call%s",
			 trace->tracing.value / calls, trace->tracing.error / calls, share);
}

static void show_losses(const struct collected *collected)
{
	if (collected->lost)
		show_paragraph("", keep_text("%ld calls of the sample for sequences were lost; the "
					     "counts have them.",
					     collected->lost));
	if (collected->not_followed)
		show_paragraph("", keep_text("Threads that were not followed: %ld. Their calls "
					     "are not counted. Too many were alive at once.",
					     collected->not_followed));
	if (collected->uncounted)
		show_paragraph("", keep_text("The kernel missed %ld calls, perhaps of other "
					     "programs.",
					     collected->uncounted));
}

static void show_method(const struct trace *trace)
{
	const struct collected *collected = &trace->collected;

	show_paragraph("", keep_text("%ld calls by %ld thread%s, counted with %s, %s.  A crossing "
				     "takes %.1f ns here (error %.1f).",
				     trace->totals.calls, collected->threads,
				     collected->threads == 1 ? "" : "s",
				     trace->by_bpf ? "BPF" : "ptrace", cost_of_method(trace),
				     trace->costs.crossing.value, trace->costs.crossing.error));
	if (trace->why_not_bpf)
		show_paragraph("", keep_text("BPF, which costs far less, is not available: %s.",
					     trace->why_not_bpf));
	if (trace->by_bpf || trace->times.missing)
		show_paragraph("", keep_text("The traced run took %.3f s.", collected->ns / 1e9));
	else
		show_paragraph("", keep_text("The traced run took %.3f s, the untraced one for the "
					     "times %.3f s.",
					     collected->ns / 1e9, trace->times.wall_ns / 1e9));
	show_losses(collected);
	if (trace->costs.watched)
		show_paragraph("", keep_text("The costs are too high, because %s.  Repeat when "
					     "that has ended.",
					     trace->costs.watched));
	if (trace->conclusions.hindrance)
		show_paragraph("", keep_text("While one call for many files was measured, %s.",
					     trace->conclusions.hindrance));
}

static void show_end(const struct trace *trace)
{
	const struct collected *collected = &trace->collected;

	if (trace->is_interim)
		show_paragraph("", keep_text("Report %ld; tracing goes on.", trace->number));
	else if (trace->number > 1)
		show_paragraph("", keep_text("Report %ld is the last; it is about the time since "
					     "the one before.",
					     trace->number));
	if (collected->let_go)
		show_paragraph("", "The program goes on without being traced.");
	if (collected->ended && collected->status > 128)
		show_paragraph("", keep_text("The program was ended by signal %d: %s.",
					     collected->status - 128,
					     strsignal(collected->status - 128)));
	else if (collected->ended && collected->status)
		show_paragraph("",
			       keep_text("The program ended with status %d.", collected->status));
	if (collected->refused_ptrace)
		show_paragraph("",
			       "The program traces a process itself, which is not possible while "
			       "it is traced: it may behave differently.");
}

void trace_show(const struct trace *trace, size_t top)
{
	show_best(trace);
	show_bound(trace);
	putchar('\n');
	show_findings(trace);
	show_time(trace);
	putchar('\n');
	show_waits(trace);
	show_calls(trace, top);
	putchar('\n');
	show_sequences(trace);
	show_savings(trace);
	putchar('\n');
	show_method(trace);
	show_end(trace);
}
