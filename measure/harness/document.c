// SPDX-License-Identifier: MIT
#include "document.h"

#include <math.h>
#include <stdlib.h>

#include "common/json.h"
#include "options.h"

struct circumstances circumstances_begin(int cpu)
{
	struct circumstances at = {
		.cpu = cpu, .use = cpu_use(cpu), .time = time(NULL), .runnable = runnable_tasks()
	};

	if (getloadavg(&at.load, 1) != 1)
		at.load = NAN;
	return at;
}

void circumstances_end(struct circumstances *at, const struct run *run, bool complete)
{
	at->seconds = now_ns() / 1e9 - at->use.elapsed;
	at->others = cpu_others((int)at->cpu, &at->use);
	at->complete = complete;
	at->smt = cpu_smt();
	at->clock = clock_measure();
	at->clock.tsc_hz = tsc_rate(run->start);
	machine_read(&at->machine);
	at->architecture = at->machine.kernel.machine;
	at->governor = cpu_governor((int)at->cpu);
}

static const struct field machine_fields[] = {
	{ "cpu", F_TEXT, offsetof(struct circumstances, machine.cpu), 0 },
	{ "architecture", F_TEXT, offsetof(struct circumstances, architecture), 0 },
	{ "cpus", F_COUNT, offsetof(struct circumstances, machine.cpus), 0 },
	{ "cpu_pinned", F_INDEX, offsetof(struct circumstances, cpu), 0 },
	{ "smt", F_MAYBE, offsetof(struct circumstances, smt), 0 },
	{ "virtual_machine", F_YES_NO, offsetof(struct circumstances, machine.hypervisor), 0 },
	{ "user_mode", F_YES_NO, offsetof(struct circumstances, machine.user_mode), 0 },
	{ "governor", F_TEXT, offsetof(struct circumstances, governor), 0 },
	{ "load", F_NUMBER, offsetof(struct circumstances, load), 0 },
	{ "runnable", F_OPTIONAL, offsetof(struct circumstances, runnable), 0 },
	{ "others", F_NUMBER, offsetof(struct circumstances, others.of_cpu), 0 },
	{ "others_of_all", F_NUMBER, offsetof(struct circumstances, others.of_all), 0 },
	{ "stolen", F_NUMBER, offsetof(struct circumstances, others.stolen), 0 },
	{ "preempted", F_COUNT, offsetof(struct circumstances, others.preempted), 0 },
};

static const struct field clock_fields[] = {
	{ "name", F_TEXT, offsetof(struct clock, name), 0 },
	{ "source", F_TEXT, offsetof(struct clock, source), 0 },
	{ "resolution_ns", F_NUMBER, offsetof(struct clock, resolution_ns), 0 },
	{ "overhead_ns", F_NUMBER, offsetof(struct clock, overhead_ns), 0 },
	{ "vdso", F_YES_NO, offsetof(struct clock, vdso), 0 },
	{ "tsc_hz", F_NUMBER, offsetof(struct clock, tsc_hz), 0 },
};

static const struct field finding_fields[] = {
	{ "about", F_TEXT, offsetof(struct sentence, about), 0 },
	{ "text", F_TEXT, offsetof(struct sentence, text), 0 },
};

static const struct field warning_fields[] = {
	{ "id", F_TEXT, offsetof(struct sentence, about), 0 },
	{ "text", F_TEXT, offsetof(struct sentence, text), 0 },
};

static const struct field figure_fields[] = {
	{ "what", F_TEXT, offsetof(struct figure, what), 0 },
	{ "unit", F_TEXT, offsetof(struct figure, unit), 0 },
	{ "value", F_NUMBER, offsetof(struct figure, value), 0 },
	{ "se", F_NUMBER, offsetof(struct figure, se), 0 },
	{ "trials", F_COUNT, offsetof(struct figure, trials), 0 },
};

static json_t *time_as_json(time_t time)
{
	char text[32];
	struct tm parts;

	gmtime_r(&time, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return json_string(text);
}

static json_t *tables_as_json(const struct run *run)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < run->table_count; i++)
		if (!table_is_empty(run->tables[i]))
			json_array_append_new(list, table_as_json(run->tables[i]));
	return list;
}

json_t *run_as_json(const struct run *run, const struct circumstances *at, json_t *command)
{
	const struct records machine = RECORDS(NULL, machine_fields, at, 1);
	const struct records clock = RECORDS(NULL, clock_fields, &at->clock, 1);
	const struct records lists[] = {
		RECORDS("warnings", warning_fields, run->warnings.of, run->warnings.count),
		RECORDS("findings", finding_fields, run->findings.of, run->findings.count),
		RECORDS("figures", figure_fields, run->figures, run->figure_count),
	};
	json_t *document = json_pack(
		"{s:s, s:i, s:s, s:O, s:s, s:s, s:o, s:f, s:b, s:s?, s:o, s:{s:s, s:s}, s:o, s:o, "
		"s:o}",
		"schema", SCHEMA, "version", SCHEMA_VERSION, "bench", run->bench->name, "command",
		command, "ferry", FERRY_PROJECT_VERSION, "unit", clock_unit(), "started",
		time_as_json(at->time), "seconds", at->seconds, "complete", at->complete,
		"withheld", run->withheld, "machine", record_as_json(&machine, at), "kernel",
		"release", at->machine.kernel.release, "version", at->machine.kernel.version,
		"mitigations", machine_mitigations(), "clock", record_as_json(&clock, &at->clock),
		"settings", settings_as_json(run->bench, run->settings));
	size_t i;

	for (i = 0; i < COUNT_OF(lists); i++)
		json_object_set_new(document, lists[i].key, records_as_json(&lists[i]));
	json_object_set_new(document, "tables", tables_as_json(run));
	for (i = 0; i < run->set_count; i++)
		json_object_set_new(document, run->sets[i].key, records_as_json(&run->sets[i]));
	if (run->more.first) {
		json_t *more = record_as_json(&run->more, run->more.first);

		json_object_update(document, more);
		json_decref(more);
	}
	return document;
}
