// SPDX-License-Identifier: MIT
/* The report for programs. */
#include "common/json.h"
#include "names.h"
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
	json_t *list = json_array();
	size_t count, i;
	const struct total *sorted = totals_sort(totals, &count);

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:s, s:i, s:I, s:I}", "call",
						      sorted[i].name, "number", sorted[i].nr,
						      "calls", (json_int_t)sorted[i].calls,
						      "failed", (json_int_t)sorted[i].failed));
	return list;
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

static json_t *sequences_as_json(const struct findings *findings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < findings->sequences->count; i++) {
		const struct plan *plan = &findings->plans[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:s, s:s?, s:o, s:o}", "turns",
					json_number(plan->turns), "calls", json_number(plan->calls),
					"batches", json_number(plan->batches), "verdict",
					verdict_name(plan->verdict), "why", plan->why, "steps",
					steps_as_json(plan), "followers",
					followers_as_json(&findings->sequences->of[i])));
	}
	return list;
}

static json_t *savings_as_json(const struct findings *findings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < SAVINGS; i++) {
		const struct saving *saving = &findings->savings[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o}", "name", saving->name,
					"what", saving->what, "missing", saving->missing, "calls",
					json_number(saving->calls), "saved_ns",
					figure((struct figure){ saving->ns, saving->error }),
					"share", json_number(saving->share)));
	}
	return list;
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
		"{s:s, s:i, s:o, s:o, s:I, s:I, s:o, s:o, s:b, s:s?, s:f, s:o, s:o, s:o, s:o}",
		"schema", "ferry-trace", "version", 1, "program", json_text(trace->name),
		"traced_ns", json_number(collected->ns), "total", (json_int_t)trace->totals.calls,
		"threads", (json_int_t)collected->threads, "status",
		collected->ended ? json_integer(collected->status) : json_null(), "crossing_ns",
		figure(trace->costs.crossing), "goes_on", collected->let_go, "watched",
		trace->costs.watched, "busy_cpus", trace->costs.busy_cpus, "time",
		time_as_json(trace), "calls", calls_as_json(&trace->totals), "sequences",
		sequences_as_json(&trace->findings), "savings", savings_as_json(&trace->findings));

	json_object_update_new(document, method_as_json(trace));
	return document;
}
