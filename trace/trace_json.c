// SPDX-License-Identifier: MIT
/* The report for programs. */
#include "common/json.h"
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

json_t *trace_as_json(const struct trace *trace)
{
	const struct collected *collected = &trace->collected;

	return json_pack("{s:i, s:o, s:s, s:o, s:I, s:I, s:o, s:o, s:b, s:o, s:o}", "version", 1,
			 "program", json_text(trace->name), "method", "ptrace", "traced_ns",
			 json_number(collected->ns), "total", (json_int_t)trace->totals.calls,
			 "threads", (json_int_t)collected->threads, "status",
			 collected->ended ? json_integer(collected->status) : json_null(),
			 "crossing_ns", figure(trace->costs.crossing), "goes_on", collected->let_go,
			 "time", time_as_json(trace), "calls", calls_as_json(&trace->totals));
}
