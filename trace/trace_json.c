// SPDX-License-Identifier: MIT
/* The report for programs. */
#include "common/json.h"
#include "common/record.h"
#include "names.h"
#include "stacks/sites.h"
#include "trace.h"

static json_t *figure(struct figure figure)
{
	return json_pack("{s:o, s:o}", "value", json_number(figure.value), "error",
			 json_number(figure.error));
}

static json_t *time_as_json(const struct trace *trace)
{
	const struct shares *shares = &trace->shares;

	if (shares->missing)
		return json_pack("{s:s}", "missing", shares->missing);
	return json_pack("{s:n, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "missing", "cpu_ns",
			 json_number(shares->cpu_ns), "user_ns", figure(shares->user),
			 "crossings_ns", figure(shares->crossings), "kernel_ns",
			 figure(shares->kernel), "waiting_ns", json_number(shares->waiting_ns),
			 "wall_ns", json_number(trace->times.wall_ns), "page_faults",
			 (json_int_t)trace->times.page_faults);
}

static json_t *calls_as_json(const struct totals *totals)
{
	static const struct field fields[] = {
		{ "call", F_TEXT, offsetof(struct total, name), 0 },
		{ "number", F_COUNT, offsetof(struct total, nr), 0 },
		{ "calls", F_COUNT, offsetof(struct total, calls), 0 },
		{ "failed", F_COUNT, offsetof(struct total, failed), 0 },
		{ "wall_ns", F_NUMBER, offsetof(struct total, wall_ns), 0 },
		{ "cpu_ns", F_NUMBER, offsetof(struct total, cpu_ns), 0 },
	};
	struct records records = RECORDS("calls", fields, (struct total *)NULL, 0);

	records.first = totals_sort(totals, &records.count);
	return records_as_json(&records);
}

static json_t *arguments_as_json(const struct step *step)
{
	static const char *const sources[] = { "constant", "before", "result", "buffer", "user" };
	json_t *list = json_array();
	int k;

	for (k = 0; k < step->arg_count; k++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "source",
						      sources[step->args[k].source], "step",
						      step->args[k].from < 0 ?
							      json_null() :
							      json_integer(step->args[k].from)));
	return list;
}

static json_t *steps_as_json(const struct plan *plan)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < plan->length; i++) {
		const struct step *step = &plan->steps[i];

		json_array_append_new(
			list, json_pack("{s:s, s:b, s:o, s:b, s:b, s:s?, s:o}", "call",
					name_of_call(step->nr), "failed", step->failed, "calls",
					json_number(step->calls), "begins_batch",
					i == 0 || step->begins_batch, "alone", step->alone, "why",
					step->why, "arguments", arguments_as_json(step)));
	}
	return list;
}

static json_t *followers_as_json(const struct sequence *sequence)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i <= SEQUENCES_MAX; i++)
		if (sequence->followers[i])
			json_array_append_new(
				list, json_pack("{s:o, s:I}", "sequence",
						i < SEQUENCES_MAX ? json_integer((json_int_t)i) :
								    json_null(),
						"times", (json_int_t)sequence->followers[i]));
	return list;
}

static json_t *sequences_as_json(const struct conclusions *conclusions)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < conclusions->sequences->count; i++) {
		const struct plan *plan = &conclusions->plans[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:s, s:s?, s:o, s:o}", "turns",
					json_number(plan->turns), "calls", json_number(plan->calls),
					"batches", json_number(plan->batches), "verdict",
					verdict_name(plan->verdict), "why", plan->why, "steps",
					steps_as_json(plan), "followers",
					followers_as_json(&conclusions->sequences->of[i])));
	}
	return list;
}

static json_t *savings_as_json(const struct conclusions *conclusions)
{
	static const struct field fields[] = {
		{ "name", F_TEXT, offsetof(struct saving, name), ALWAYS },
		{ "what", F_TEXT, offsetof(struct saving, what), ALWAYS },
		{ "missing", F_REASON, 0, ALWAYS },
		{ "calls", F_NUMBER, offsetof(struct saving, calls), ALWAYS },
		{ "saved_ns.value", F_NUMBER, offsetof(struct saving, ns), ALWAYS },
		{ "saved_ns.error", F_NUMBER, offsetof(struct saving, error), ALWAYS },
		{ "share", F_NUMBER, offsetof(struct saving, share), ALWAYS },
	};
	const struct records records = RECORDS("savings", fields, conclusions->savings, SAVINGS);

	return records_as_json(&records);
}

static json_t *frames_as_json(const struct site *site)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < site->count; i++) {
		const struct frame *frame = &site->of[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:I, s:o, s:o, s:o}", "module", json_text(frame->module),
				  "offset", (json_int_t)frame->offset, "function",
				  frame->function ? json_text(frame->function) : json_null(),
				  "source", frame->source ? json_text(frame->source) : json_null(),
				  "line", frame->source ? json_integer(frame->line) : json_null()));
	}
	return list;
}

static json_t *sites_as_json(const struct sites *sites)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < sites->count; i++)
		json_array_append_new(list,
				      json_pack("{s:f, s:o, s:o}", "share", sites->of[i].share,
						"site", json_text(site_text(&sites->of[i])),
						"frames", frames_as_json(&sites->of[i])));
	return list;
}

static json_t *findings_as_json(const struct findings *findings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->of[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
				  "kind", finding->kind, "sentence",
				  json_text(finding_sentence(finding)), "what",
				  json_text(finding->what), "cure", json_text(finding->cure),
				  "calls", json_number(finding->calls), "cost_ns",
				  figure(finding->cost), "saved_ns", figure(finding->saved),
				  "indirect_ns", figure(finding->indirect), "between_ns",
				  json_number(finding->between_ns), "waits", finding->waits,
				  "share", json_number(finding->share), "sites",
				  sites_as_json(&finding->sites)));
	}
	return list;
}

static json_t *waits_as_json(const struct trace *trace)
{
	static const struct field fields[] = {
		{ "call", F_TEXT, offsetof(struct wait, call), 0 },
		{ "file", F_TEXT, offsetof(struct wait, file), 0 },
		{ "times", F_COUNT, offsetof(struct wait, times), 0 },
		{ "ns", F_NUMBER, offsetof(struct wait, ns), 0 },
		{ "mean_ns", F_NUMBER, offsetof(struct wait, mean), 0 },
		{ "p99_ns", F_NUMBER, offsetof(struct wait, p99), 0 },
		{ "cpu_ns", F_NUMBER, offsetof(struct wait, cpu_ns), 0 },
	};
	const struct records records = RECORDS("waits", fields, trace->waits, trace->wait_count);

	return records_as_json(&records);
}

static json_t *method_as_json(const struct trace *trace)
{
	const struct collected *collected = &trace->collected;

	if (!trace->by_bpf)
		return json_pack("{s:s, s:s?, s:n, s:i, s:i, s:i}", "method", "ptrace",
				 "why_not_bpf", trace->why_not_bpf, "tracing_ns", "lost_calls", 0,
				 "lost_threads", 0, "uncounted", 0);
	return json_pack(
		"{s:s, s:n, s:o, s:I, s:I, s:I}", "method", "bpf", "why_not_bpf", "tracing_ns",
		figure(trace->tracing), "lost_calls", (json_int_t)collected->lost, "lost_threads",
		(json_int_t)collected->not_followed, "uncounted", (json_int_t)collected->uncounted);
}

json_t *trace_as_json(const struct trace *trace)
{
	const struct collected *collected = &trace->collected;
	json_t *document = json_pack(
		"{s:s, s:i, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:b, s:s?, s:f, s:o, s:o, s:o, "
		"s:o, "
		"s:o, "
		"s:o}",
		"schema", "ferry-trace", "version", 1, "report", (json_int_t)trace->number,
		"indirect_ns", figure(trace->indirect), "program", json_text(trace->name),
		"traced_ns", json_number(collected->ns), "total", (json_int_t)trace->totals.calls,
		"threads", (json_int_t)collected->threads, "status",
		collected->ended ? json_integer(collected->status) : json_null(), "crossing_ns",
		figure(trace->costs.crossing), "goes_on", collected->let_go || trace->is_interim,
		"watched", trace->costs.watched, "busy_cpus", trace->costs.busy_cpus, "time",
		time_as_json(trace), "calls", calls_as_json(&trace->totals), "findings",
		findings_as_json(&trace->findings), "waits", waits_as_json(trace), "sequences",
		sequences_as_json(&trace->conclusions), "savings",
		savings_as_json(&trace->conclusions));

	json_object_update_new(document, method_as_json(trace));
	return document;
}
