// SPDX-License-Identifier: MIT
#include "document.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "json.h"

void add_finding(struct run *run, const char *about, const char *format, ...)
{
	char sentence[512];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	json_array_append_new(json_object_get(run->document, "findings"),
			      json_pack("{s:o, s:o}", "about",
					about ? json_text(about) : json_null(), "text",
					json_text(sentence)));
}

void add_warning(struct run *run, const char *id, const char *format, ...)
{
	char sentence[512];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	json_array_append_new(json_object_get(run->document, "warnings"),
			      json_pack("{s:s, s:o}", "id", id, "text", json_text(sentence)));
}

void note_duration(struct run *run, double ns)
{
	*run->shortest_ns = fmin(*run->shortest_ns, ns);
}

struct beginning beginning_now(int cpu)
{
	struct beginning beginning = { .cpu = cpu, .use = cpu_use(cpu), .time = time(NULL) };

	if (getloadavg(&beginning.load, 1) != 1)
		beginning.load = NAN;
	return beginning;
}

json_t *document_new(const struct bench *bench, json_t *command)
{
	return json_pack("{s:s, s:i, s:s, s:O, s:s, s:[], s:[]}", "schema", SCHEMA, "version",
			 SCHEMA_VERSION, "bench", bench->name, "command", command, "ferry",
			 FERRY_PROJECT_VERSION, "warnings", "findings");
}

static json_t *json_integer_or_null(long value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *machine_as_json(const struct machine *machine, const struct beginning *beginning)
{
	char governor[64];
	int smt = cpu_smt();

	cpu_governor(beginning->cpu, governor, sizeof(governor));
	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:b, s:s?, s:o, s:o}", "cpu", machine->cpu,
			 "architecture", machine->kernel.machine, "cpus", (json_int_t)machine->cpus,
			 "cpu_pinned", json_integer_or_null(beginning->cpu), "smt",
			 smt < 0 ? json_null() : json_boolean(smt), "virtual_machine",
			 machine->hypervisor, "governor", governor[0] ? governor : NULL, "load",
			 json_number(beginning->load), "others",
			 json_number(cpu_others(beginning->cpu, &beginning->use)));
}

static json_t *integers(const double values[], size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)values[i]));
	return list;
}

/* Adds the setting of an option that the bench takes. */
static void set(json_t *json, const struct bench *bench, char option, const char *key,
		json_t *value)
{
	if (strchr(bench->options, option))
		json_object_set_new(json, key, value);
	else
		json_decref(value);
}

static json_t *settings_as_json(const struct bench *bench, const struct settings *s)
{
	json_t *json =
		json_pack("{s:o, s:I, s:I, s:I}", "cpu", json_integer_or_null(s->cpu), "warmup",
			  (json_int_t)s->warmup, "seed", (json_int_t)s->bootstrap.seed, "resamples",
			  (json_int_t)s->bootstrap.resamples);

	set(json, bench, 't', "trials", json_integer(s->trials));
	set(json, bench, 'n', "calls", json_integer(s->calls));
	set(json, bench, 's', "sizes", integers(s->sizes, s->size_count));
	set(json, bench, 'b', "slots", json_integer(s->slots));
	set(json, bench, 'e', "engines", json_texts(s->engines.of, s->engines.count));
	set(json, bench, 'r', "pairs", json_integer(s->pairs));
	set(json, bench, 'k', "work_ns", integers(s->work, s->work_count));
	set(json, bench, 'k', "calls_made", json_texts(s->workloads.of, s->workloads.count));
	set(json, bench, 'f', "threads", integers(s->threads, s->thread_count));
	set(json, bench, 'o', "runners", s->runners ? json_integer(s->runners) : json_null());
	set(json, bench, 'm', "memory_mib", s->memory ? json_integer(s->memory) : json_null());
	set(json, bench, 'd', "directory", json_text(s->directory ? s->directory : ""));
	return json;
}

static json_t *time_as_json(time_t time)
{
	char text[32];
	struct tm parts;

	gmtime_r(&time, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return json_string(text);
}

void document_finish(struct run *run, const struct bench *bench, const struct beginning *beginning,
		     bool complete)
{
	double took = now_ns() / 1e9 - beginning->use.elapsed;
	struct clock clock = clock_measure();
	json_t *document = run->document;
	struct machine machine;

	clock.tsc_hz = tsc_rate(run->start);
	machine_read(&machine);
	json_object_set_new(document, "started", time_as_json(beginning->time));
	json_object_set_new(document, "seconds", json_number(took));
	json_object_set_new(document, "complete", json_boolean(complete));
	json_object_set_new(document, "machine", machine_as_json(&machine, beginning));
	json_object_set_new(document, "kernel",
			    json_pack("{s:s, s:s}", "release", machine.kernel.release, "version",
				      machine.kernel.version));
	json_object_set_new(document, "mitigations", machine_mitigations());
	json_object_set_new(document, "clock", clock_as_json(&clock));
	json_object_set_new(document, "settings", settings_as_json(bench, run->settings));
}
