// SPDX-License-Identifier: MIT
/* ferry bench: measures what crossings cost here. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/harness/against.h"
#include "measure/harness/bench.h"
#include "measure/harness/child.h"
#include "measure/harness/cpu.h"
#include "measure/harness/document.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/json.h"
#include "measure/harness/options.h"
#include "measure/harness/warnings.h"
#include "command.h"
#include "report.h"

static const struct bench *const benches[] = {
	&crossing_bench, &batch_bench,	&dispatch_bench,
	&apps_bench,	 &flexsc_bench, &pagefault_bench,
};
#define BENCHES (sizeof(benches) / sizeof(benches[0]))

static const struct bench *find(const char *name)
{
	size_t i;

	for (i = 0; i < BENCHES; i++)
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	complain("bench: there is no bench '%s'; there are crossing, batch, dispatch, apps, flexsc "
		 "and pagefault",
		 name);
	return NULL;
}

/* The bench that was named, or else the one of the earlier run. */
static const struct bench *choose(const struct given *given, const json_t *before)
{
	const char *earlier = json_string_at(before, "bench", NULL);

	if (!given->bench && !earlier) {
		complain("bench: which one? There are crossing, batch, dispatch, apps, flexsc and "
			 "pagefault");
		return NULL;
	}
	if (!given->bench)
		return find(earlier);
	if (earlier && strcmp(earlier, given->bench) != 0 && find(given->bench)) {
		complain("bench: %s is of the bench %s, not of %s", given->value['a'], earlier,
			 given->bench);
		return NULL;
	}
	return find(given->bench);
}

static bool to_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int check_outputs(const struct given *given)
{
	const char *json = given->value['j'], *csv = given->value['v'];

	if (to_stdout(json) && to_stdout(csv)) {
		complain("bench: --json and --csv cannot both go to standard output");
		return EXIT_USAGE;
	}
	if (json && csv && !strcmp(json, csv)) {
		complain("bench: --json and --csv are the same file, %s", json);
		return EXIT_USAGE;
	}
	return (json && check_writable(json)) || (csv && check_writable(csv)) ? EXIT_USAGE : 0;
}

static void print_machine(const json_t *document)
{
	double cpu = json_number_at(document, "machine.cpu_pinned");

	printf("Linux %s, %s%s", json_string_at(document, "kernel.release", "?"),
	       json_string_at(document, "machine.cpu", "?"),
	       json_true_at(document, "machine.virtual_machine") ? ", in a virtual machine" : "");
	if (!isnan(cpu))
		printf(", on CPU %.0f", cpu);
	printf("; clock %s\n\n", json_string_at(document, "clock.source", "unknown"));
}

static void print_sentences(const json_t *document)
{
	const bool colour = in_colour();
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(document, "findings"), i, item) {
		if (!i)
			putchar('\n');
		print_paragraph("* ", json_string_at(item, "text", ""));
	}
	json_array_foreach(json_object_get(document, "warnings"), i, item) {
		if (!i)
			putchar('\n');
		fputs(colour ? "\033[33m" : "", stdout);
		print_paragraph("warning: ", json_string_at(item, "text", ""));
		fputs(colour ? "\033[0m" : "", stdout);
	}
}

static void print_run(const struct bench *bench, const json_t *document, const json_t *before)
{
	print_machine(document);
	bench->print(document);
	if (before) {
		print_comparison(json_object_get(document, "against"));
		print_differences(before, document);
	}
	print_sentences(document);
}

static int write_text(const char *path, char *text, size_t length)
{
	int error;

	if (!text) {
		complain("bench: out of memory");
		return EXIT_USAGE;
	}
	fflush(stdout);
	error = write_file(path, text, length);
	free(text);
	return error ? EXIT_USAGE : 0;
}

static int write_json(const char *path, const json_t *document)
{
	char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	char *line = NULL;
	int length = text ? asprintf(&line, "%s\n", text) : 0;

	free(text);
	return write_text(path, line, (size_t)length);
}

static int write_csv(const char *path, const struct bench *bench, const json_t *document)
{
	size_t length = 0;
	char *text = csv_of(&bench->csv, json_object_get(document, bench->rows), &length);

	return write_text(path, text, length);
}

static int tell(const struct bench *bench, const struct given *given, const json_t *document,
		const json_t *before)
{
	const char *json = given->value['j'], *csv = given->value['v'];
	int status = 0;

	if (!to_stdout(json) && !to_stdout(csv))
		print_run(bench, document, before);
	if (json)
		status = write_json(json, document);
	if (csv && write_csv(csv, bench, document))
		status = EXIT_USAGE;
	return status;
}

/* The CPU that the process stays on, -1 when it moves about, or -EINVAL after complaining. */
static int choose_cpu(int asked_for)
{
	int cpu = cpu_stay(asked_for);
	char online[256];

	if (cpu >= 0 || asked_for < 0)
		return cpu < 0 ? -1 : cpu;
	cpu_online(online, sizeof(online));
	complain("bench: CPU %d is not to be had; online here are %s", asked_for, online);
	return -EINVAL;
}

/* Measures, on the CPU asked for.  Returns an exit status; the document may be empty. */
static int measure(const struct bench *bench, struct run *run)
{
	int cpu = choose_cpu(run->settings->cpu);
	struct beginning beginning;
	int status;

	if (cpu < -1)
		return EXIT_USAGE;
	interrupt_catch();
	beginning = beginning_now(cpu);
	run->start = clock_stamp();
	status = bench->measure(run);
	document_finish(run, bench, &beginning, !status && !interrupted());
	add_warnings(run);
	return status;
}

static int run_bench(const struct bench *bench, const struct given *given, json_t *command,
		     const json_t *before)
{
	struct settings settings;
	struct run run = { .settings = &settings };
	int status = options_apply(bench, given, &settings);

	if (status || check_outputs(given))
		return EXIT_USAGE;
	run.document = document_new(bench, command);
	run.shortest_ns = share(sizeof(*run.shortest_ns));
	*run.shortest_ns = INFINITY;
	status = measure(bench, &run);
	if (before)
		json_object_set_new(run.document, "against",
				    compare_runs(given->value['a'], before, run.document));
	if (json_array_size(json_object_get(run.document, bench->rows))) {
		int told = tell(bench, given, run.document, before);

		status = told ? told : status;
	} else if (interrupted()) {
		complain("bench: interrupted before anything was finished");
	}
	json_decref(run.document);
	unshare_memory(run.shortest_ns, sizeof(*run.shortest_ns));
	return interrupted() && status != EXIT_USAGE ? 128 + interrupted() : status;
}

/* As it was typed: getopt_long() reorders ARGV, and lists in it are cut. */
static json_t *command_line(int argc, char *argv[])
{
	json_t *words = json_pack("[s]", "ferry");
	int i;

	for (i = 0; i < argc; i++)
		json_array_append_new(words, json_text(argv[i]));
	return words;
}

static int run(int argc, char *argv[])
{
	json_t *command = command_line(argc, argv);
	struct given given = { 0 };
	int status = options_read(argc, argv, bench_command.help, &given);
	const struct bench *bench;
	json_t *before = NULL;

	if (status < 0 && given.value['a'])
		before = read_run(given.value['a']);
	if (status < 0 && given.value['a'] && !before)
		status = EXIT_USAGE;
	if (status < 0) {
		bench = choose(&given, before);
		status = bench ? run_bench(bench, &given, command, before) : EXIT_USAGE;
	}
	json_decref(before);
	json_decref(command);
	return status;
}

const struct command bench_command = {
	.name = "bench",
	.summary = "measure what crossings, batches and programs cost here",
	.help = "Usage: ferry bench [BENCH] [OPTION...]\n"
		"Measures on one CPU, in trials that take turns, and says what the figures mean.\n"
		"BENCH is one of\n\n"
		"  crossing  what one call costs, and how much of it is the crossing\n"
		"  batch     what a crossing costs and what each call, by batch size and engine\n"
		"  dispatch  what the loop adds to each slot\n"
		"  apps      programs that batch, engine against engine and against the usual "
		"ones\n"
		"  flexsc    posted calls beside plain ones, batches and io_uring\n"
		"  pagefault what the first touch of memory costs, and what saves most of it\n\n"
		"  -t, --trials N         trials of every figure (not apps)\n"
		"  -w, --warmup N         calls, batches, pairs or passes before, which are not "
		"timed\n"
		"  -n, --calls N          crossing, dispatch, flexsc: calls in one trial\n"
		"  -e, --engine E,...     batch, apps: the engines; all that are here by default\n"
		"  -c, --call NAME,...    batch: unimplemented (the default), getppid, read, "
		"write,\n"
		"                         fstat, lstat, statx; flexsc: write,getpid\n"
		"  -p, --program FILE     batch: copies of the batch program in FILE; may be "
		"repeated\n"
		"  -s, --sizes N,...      batch: batch sizes, or copies; 1 to 1024 by default;\n"
		"                         pagefault: pages that a fault maps; 1 to 512 by default\n"
		"  -b, --slots N          batch: about so many slots are timed at once\n"
		"  -r, --pairs N          apps: pairs of runs\n"
		"  -d, --directory DIR    apps: the tree to work on, /usr/share by default\n"
		"  -f, --threads N,...    flexsc: user-level threads; 1 to 10000 by default\n"
		"  -o, --runners N        flexsc: runners at most; as many as CPUs by default\n"
		"  -k, --work NS,...      flexsc: work between two calls; 0 to 2000 by default\n"
		"  -m, --memory MIB       pagefault: memory to touch; 2048 by default, or less\n"
		"  -x, --examples DIR     apps: where the example programs are\n"
		"  -u, --cpu N            the CPU to measure on\n"
		"  -i, --seed N           of the random numbers that the errors are estimated "
		"with\n"
		"  -j, --json FILE        write all of it there as JSON; - is standard output\n"
		"  -v, --csv FILE         write the main table there as CSV; - is standard output\n"
		"  -a, --against FILE     compare with an earlier run's JSON; BENCH may be left "
		"out\n"
		"  -h, --help             this text\n\n"
		"Ctrl-C ends the measurement; what was finished is still printed and written.\n"
		"Exit status: 0; 1 when a measurement failed; 2 for bad input; 130 after Ctrl-C.\n"
		"Example: ferry bench crossing\n"
		"Example: ferry bench batch --call write,statx --engine loop,uring --json "
		"now.json\n"
		"Example: ferry bench flexsc --call write --threads 64 --work 0,75,150,300\n"
		"Example: ferry bench pagefault --memory 256\n"
		"Example: ferry bench --against now.json\n",
	.run = run,
};
