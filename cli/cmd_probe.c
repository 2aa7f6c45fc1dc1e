// SPDX-License-Identifier: MIT
/* ferry probe: the engines of this machine, and which of them auto chooses. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ferry_flexsc.h>

#include "command.h"
#include "common/json.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/show.h"
#include "lib/text/text.h"
#include "measure/harness/machine.h"
#include "trace/bpf/collect.h"

#define HEADING_WIDTH 13 /* columns */
#define TEXT_MAX 1024	 /* bytes of one entry; more are cut */

/* One entry: its heading in the left column, and its text. */
__attribute__((format(printf, 2, 3))) static void print_entry(const char *heading,
							      const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	show_entry(heading, HEADING_WIDTH, text);
}

static void print_machine(const struct machine *machine, const json_t *mitigations)
{
	const char *name = NULL;
	json_t *state;

	print_entry("kernel", "%s %s %s", machine->kernel.sysname, machine->kernel.release,
		    machine->kernel.machine);
	print_entry("cpu", "%s, %ld online%s", machine->cpu, machine->cpus,
		    machine->hypervisor ? ", in a virtual machine" : "");
	json_object_foreach((json_t *)mitigations, name, state)
		print_entry("mitigation", "%s: %s", name, json_string_value(state));
	putchar('\n');
}

struct engine_row {
	const char *missing;
	const char *name, *here, *why;
};

static void print_engines(void)
{
	static const struct column columns[] = {
		{ "ENGINE", F_TEXT, offsetof(struct engine_row, name), 0 },
		{ "HERE", F_TEXT, offsetof(struct engine_row, here), 0 },
		{ "WHY", F_TEXT, offsetof(struct engine_row, why), 0 },
	};
	struct engine_row rows[FERRY_ENGINES];
	struct records records = { .first = rows, .size = sizeof(*rows) };
	int engine;

	for (engine = FERRY_LOOP; engine < FERRY_ENGINES; engine++) {
		struct engine_row *row = &rows[records.count++];

		*row = (struct engine_row){ .name = ferry_engine_name(engine) };
		row->here = ferry_engine_probe(engine, &row->why) ? "no" : "yes";
	}
	show_records(columns, COUNT_OF(columns), &records);
	putchar('\n');
}

/* What would make ENGINE available, whose probe failed with ERROR. */
static const char *remedy(int engine, int error)
{
	static const struct {
		int engine, error; /* 0: any other */
		const char *text;
	} remedies[] = {
		{ FERRY_DEVICE, -ENOENT,
		  "install ferry-dkms and load the module (modprobe ferry); a container also needs "
		  "--device /dev/ferry" },
		{ FERRY_DEVICE, -EPROTONOSUPPORT, "install the module of this version of ferry" },
		{ FERRY_DEVICE, 0, "be root or a member of the group ferry: see ferry(4)" },
		{ FERRY_SYSCALL, -ENOSYS,
		  "boot a kernel with ferry's patch series: ferry-lab(1) builds one" },
		{ FERRY_SYSCALL, -EPROTONOSUPPORT,
		  "boot a kernel with the series of this version of ferry" },
		{ FERRY_SYSCALL, 0,
		  "run without the filter, on a kernel with ferry's patch series" },
	};
	size_t i = 0;

	while (remedies[i].engine != engine || (remedies[i].error && remedies[i].error != error))
		i++;
	return remedies[i].text;
}

static void print_remedies(void)
{
	bool any = false;
	int engine;

	for (engine = FERRY_LOOP + 1; engine < FERRY_ENGINES; engine++) {
		int error = ferry_engine_probe(engine, NULL);

		if (!error)
			continue;
		print_entry(ferry_engine_name(engine), "to have it here, %s",
			    remedy(engine, error));
		any = true;
	}
	if (any)
		putchar('\n');
}

static void print_auto(void)
{
	const char *why;
	const char *engine = ferry_engine_name(ferry_engine_auto(&why));

	print_entry("auto", "%s: %s", engine, why);
}

static const char *place_in_words(const char *place)
{
	return strcmp(place, "user") == 0 ? "user space" : "the kernel";
}

static void print_runners(void)
{
	const char *why;
	const char *place = ferry_flexsc_place(&why);

	print_entry("flexsc", "runners %s%s: %s", place ? "stay in " : "cannot be started",
		    place ? place_in_words(place) : "", why);
}

static void print_tracing(void)
{
	if (bpf_missing())
		print_entry("trace", "by ptrace only, and not by BPF: %s", bpf_missing());
}

static json_t *runners_as_json(void)
{
	const char *why;
	const char *place = ferry_flexsc_place(&why);

	return json_pack("{s:s?, s:s}", "place", place, "why", why);
}

static json_t *engine_as_json(int engine)
{
	const char *why;
	int error = ferry_engine_probe(engine, &why);

	return json_pack("{s:s, s:b, s:s?, s:s, s:s?, s:s}", "name", ferry_engine_name(engine),
			 "here", !error, "errno", error ? errno_name(error) : NULL, "why", why,
			 "remedy", error ? remedy(engine, error) : NULL, "summary",
			 ferry_engine_summary(engine));
}

static json_t *auto_as_json(void)
{
	const char *why;
	const char *engine = ferry_engine_name(ferry_engine_auto(&why));

	return json_pack("{s:s, s:s}", "engine", engine, "why", why);
}

static json_t *engines_as_json(void)
{
	json_t *list = json_array();
	int engine;

	for (engine = FERRY_LOOP; engine < FERRY_ENGINES; engine++)
		json_array_append_new(list, engine_as_json(engine));
	return list;
}

static json_t *report_as_json(const struct machine *machine, json_t *mitigations)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:I, s:b, s:O, s:o, s:o, s:o}", "version", 2,
			 "kernel", machine->kernel.release, "architecture", machine->kernel.machine,
			 "cpu", machine->cpu, "cpus", (json_int_t)machine->cpus, "virtual_machine",
			 machine->hypervisor, "mitigations", mitigations, "engines",
			 engines_as_json(), "auto", auto_as_json(), "flexsc", runners_as_json());
}

static void report(bool json)
{
	json_t *mitigations = machine_mitigations();
	struct machine machine;

	machine_read(&machine);
	if (json) {
		print_json(report_as_json(&machine, mitigations));
	} else {
		print_machine(&machine, mitigations);
		print_engines();
		print_remedies();
		print_auto();
		print_runners();
		print_tracing();
	}
	json_decref(mitigations);
}

static int run(int argc, char *argv[])
{
	bool json = false;
	int status = parse_json_and_file(&probe_command, argc, argv, &json, NULL);

	if (status >= 0)
		return status;
	report(json);
	return EXIT_OK;
}

const struct command probe_command = {
	.name = "probe",
	.summary = "show which engines are available here, and which one auto chooses",
	.help = "Usage: ferry probe [--json]\n"
		"Shows the kernel, the mitigations, which engines can run batches here and why,\n"
		"which of them auto chooses, and where the runners of flexsc stay.\n\n"
		"  -j, --json  print JSON instead\n"
		"  -h, --help  print this help\n\n"
		"Example: ferry probe --json\n",
	.run = run,
};
