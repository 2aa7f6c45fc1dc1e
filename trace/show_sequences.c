// SPDX-License-Identifier: MIT
#include "show_sequences.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/show.h"
#include "names.h"

#define ARGUMENTS 256

/* ---- the steps of one ---- */

struct step_row {
	const char *missing;
	long step;
	const char *call, *batch, *arguments;
	double calls;
};

static const char *name_of(const struct step *step)
{
	return keep_text("%s%s", name_of_call(step->nr), step->failed ? ", failing" : "");
}

/* "1: result of 1, 2: differs"; what stays the same in all turns is left out. */
static const char *arguments_of(const struct step *step)
{
	static const char *const texts[] = { "", "differs", "result of", "buffer of", "made from" };
	char text[ARGUMENTS] = "";
	size_t used = 0;
	int k;

	for (k = 0; k < step->arg_count && used < sizeof(text); k++) {
		const struct argument *argument = &step->args[k];

		if (argument->source == SOURCE_CONSTANT)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d: %s",
					 used ? ", " : "", k + 1, texts[argument->source]);
		if (argument->source >= SOURCE_RESULT && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d",
						 argument->from + 1);
	}
	return keep_text("%s", text);
}

static void show_steps(const struct plan *plan)
{
	static const struct column columns[] = {
		{ "STEP", F_COUNT, offsetof(struct step_row, step), 0 },
		{ "CALL", F_TEXT, offsetof(struct step_row, call), 0 },
		{ "PER TURN", F_NUMBER, offsetof(struct step_row, calls), 1 },
		{ "BATCH", F_TEXT, offsetof(struct step_row, batch), 0 },
		{ "ARGUMENTS", F_TEXT, offsetof(struct step_row, arguments), 0 },
	};
	struct step_row rows[SEQUENCE_RUNS] = { 0 };
	const struct records records = { NULL, NULL, 0, rows, plan->length, sizeof(*rows) };
	char batch = 'a';
	size_t i;

	for (i = 0; i < plan->length; i++) {
		const struct step *step = &plan->steps[i];

		if (i && (step->begins_batch || plan->steps[i - 1].alone))
			batch++;
		rows[i] = (struct step_row){
			.step = (long)i + 1,
			.call = name_of(step),
			.calls = step->calls,
			.batch = step->alone ? "-" : keep_text("%c", batch),
			.arguments = arguments_of(step),
		};
	}
	show_records(columns, COUNT_OF(columns), &records);
}

static void show_followers(const struct sequence *sequence)
{
	char text[ARGUMENTS] = "";
	size_t used = 0, all = 0, i;

	for (i = 0; i <= SEQUENCES_MAX; i++)
		all += sequence->followers[i];
	for (i = 0; i <= SEQUENCES_MAX && used < sizeof(text); i++) {
		const char *name =
			i < SEQUENCES_MAX ? keep_text("sequence %zu", i + 1) : "other calls";

		if (sequence->followers[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%.0f %%)",
						 used ? ", " : "", name,
						 100 * (double)sequence->followers[i] /
							 (double)all);
	}
	if (all)
		show_paragraph("Then: ", text);
}

static const char *verdict_of(const struct plan *plan)
{
	if (plan->batches < 1)
		return "entirely, and turns that follow each other fit into one batch.";
	if (plan->verdict == BATCH_ENTIRELY)
		return "entirely.";
	return keep_text("%s: %s.  A turn takes %.1f crossings.", verdict_name(plan->verdict),
			 plan->why, plan->batches);
}

void show_sequences(const struct trace *trace)
{
	const struct conclusions *conclusions = &trace->conclusions;
	size_t i;

	if (!conclusions->sequences->count)
		show_paragraph("", "No sequence of calls is frequent enough to gain anything.");
	for (i = 0; i < conclusions->sequences->count; i++) {
		const struct plan *plan = &conclusions->plans[i];

		show_heading("Sequence %zu: %.0f turns of %.1f calls, %.1f %% of all calls", i + 1,
			     plan->turns, plan->calls,
			     100 * plan->turns * plan->calls / (double)trace->totals.calls);
		show_steps(plan);
		show_paragraph("Batch: ", verdict_of(plan));
		show_followers(&conclusions->sequences->of[i]);
		putchar('\n');
	}
}

/* ---- savings ---- */

void show_savings(const struct trace *trace)
{
	static const struct column columns[] = {
		{ "SAVED BY", F_TEXT, offsetof(struct saving, what), 0 },
		{ "CALLS", F_NUMBER, offsetof(struct saving, calls), 0 },
		{ "MS", F_MILLISECONDS, offsetof(struct saving, ns), 3 },
		{ "ERROR", F_MILLISECONDS, offsetof(struct saving, error), 3 },
		{ "OF CPU", F_PERCENT, offsetof(struct saving, share), 1 },
	};
	const struct records records = { NULL,	  NULL,
					 0,	  trace->conclusions.savings,
					 SAVINGS, sizeof(struct saving) };

	show_records(columns, COUNT_OF(columns), &records);
	show_paragraph("", "The ways do not add up: they make the same calls cheaper.");
}
