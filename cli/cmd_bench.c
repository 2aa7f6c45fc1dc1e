// SPDX-License-Identifier: MIT
/* ferry bench: measures what crossings cost here. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "command.h"
#include "common/file.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/show.h"
#include "common/suggest.h"
#include "measure/cases/cases.h"
#include "measure/harness/against.h"
#include "measure/harness/bench.h"
#include "measure/harness/document.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/options.h"
#include "measure/harness/watch.h"

#define LONG_RUN 60.0 /* s: what takes longer is announced */

static const struct bench *const benches[] = {
	&crossing_bench, &batch_bench,	&dispatch_bench,  &chain_bench,	  &apps_bench,
	&files_bench,	 &flexsc_bench, &pagefault_bench, &threads_bench, NULL,
};
#define BENCHES (COUNT_OF(benches) - 1)

/* With blanks between them, in a text that is kept. */
static const char *names_of_benches(void)
{
	const char *names = benches[0]->name;
	size_t i;

	for (i = 1; i < BENCHES; i++)
		names = keep_text("%s %s", names, benches[i]->name);
	return names;
}

static const struct bench *find(const char *name)
{
	size_t i;

	for (i = 0; i < BENCHES; i++)
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	complain("bench: there is no bench '%s'%s; there are %s", name,
		 did_you_mean(name, names_of_benches()), keep_list(names_of_benches(), " and "));
	return NULL;
}

/* The bench that was named, or else the one of the earlier run. */
static const struct bench *choose(const struct given *given, const struct against *against)
{
	const struct earlier *run = against->runs;
	const char *earlier = run ? json_string_at(run->document, "bench", NULL) : NULL;

	if (!given->bench && !earlier) {
		complain("bench: name one of %s", keep_list(names_of_benches(), " and "));
		return NULL;
	}
	if (!given->bench)
		return find(earlier);
	if (earlier && strcmp(earlier, given->bench) != 0 && find(given->bench)) {
		complain("bench: %s is of the bench %s, not of %s", run->file, earlier,
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
	const char *json = given->json, *csv = given->csv;

	if (to_stdout(json) && to_stdout(csv))
		return bad_input("bench: --json and --csv cannot both go to standard output");
	if (json && csv && !strcmp(json, csv))
		return bad_input("bench: --json and --csv are the same file, %s", json);
	return (json && check_writable(json)) || (csv && check_writable(csv)) ? EXIT_USAGE : 0;
}

/* ---- for people ---- */

static void print_circumstances(const struct circumstances *at)
{
	const char *where = at->machine.user_mode  ? ", user-mode Linux" :
			    at->machine.hypervisor ? ", in a virtual machine" :
						     "";
	char line[512], cpu[32] = "";

	if (at->cpu >= 0)
		snprintf(cpu, sizeof(cpu), ", on CPU %ld", at->cpu);
	snprintf(line, sizeof(line), "Linux %s, %s%s%s; clock %s", at->machine.kernel.release,
		 at->machine.cpu, where, cpu,
		 clock_counts_instructions() ? "counts instructions" :
		 at->clock.source	     ? at->clock.source :
					       "unknown");
	show_paragraph("", line);
	putchar('\n');
}

static void print_sentences(const struct run *run)
{
	const bool colour = in_colour();
	size_t i;

	for (i = 0; i < run->findings.count; i++) {
		if (!i)
			putchar('\n');
		show_paragraph("* ", run->findings.of[i].text);
	}
	for (i = 0; i < run->warnings.count; i++) {
		if (!i)
			putchar('\n');
		fputs(colour ? "\033[33m" : "", stdout);
		show_paragraph("warning: ", run->warnings.of[i].text);
		fputs(colour ? "\033[0m" : "", stdout);
	}
}

/* ---- output ---- */

static int write_text(const char *path, char *text, size_t length)
{
	int error;

	if (!text)
		return bad_input("bench: out of memory");
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

static int write_csv(const char *path, const struct run *run)
{
	size_t length = 0;
	char *text = records_as_csv(&run->sets[0], &length);

	return write_text(path, text, length);
}

/* Whether there is anything to report. */
static bool has_results(const struct run *run)
{
	return run->set_count && run->sets[0].count;
}

static int report(const struct run *run, const struct given *given, const json_t *document,
		  const struct circumstances *at, const struct against *against)
{
	const char *json = given->json, *csv = given->csv;
	int status = 0;

	if (!to_stdout(json) && !to_stdout(csv)) {
		print_circumstances(at);
		show_tables(run->tables, run->table_count);
		if (against->run_count)
			against_print_conditions(against, run->bench, document);
		print_sentences(run);
	}
	if (json)
		status = write_json(json, document);
	if (csv && write_csv(csv, run))
		status = EXIT_USAGE;
	return status;
}

/* ---- measuring ---- */

/* The CPU that the process stays on, -1 when it moves about, or -EINVAL after complaining. */
static int choose_cpu(int asked_for)
{
	int cpu = cpu_stay(asked_for);

	if (cpu >= 0 || asked_for < 0)
		return cpu < 0 ? -1 : cpu;
	complain("bench: CPU %d is not available; online here are %s", asked_for, cpu_online());
	return -EINVAL;
}

static void call_often(void *context)
{
	int i;

	for (i = 0; i < *(const int *)context; i++)
		ferry_rawcall(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static void announce(const struct run *run)
{
	int calls = 50;
	double call_ns = clock_least(call_often, NULL, &calls, 20) / calls;
	double seconds = run->bench->seconds ? run->bench->seconds(run->settings, call_ns) : 0;

	if (seconds > LONG_RUN)
		complain("bench: %s will take about %.0f minutes; Ctrl-C ends it and keeps what is "
			 "finished",
			 run->bench->name, fmax(2, ceil(seconds / 60)));
}

static int measure(struct run *run, struct circumstances *at)
{
	int cpu = choose_cpu((int)run->settings->cpu), status;

	if (cpu < -1)
		return EXIT_USAGE;
	announce(run);
	interrupt_catch(SA_RESETHAND);
	run->find_reason = watch_find;
	run->withheld = watch_find();
	*at = circumstances_begin(cpu);
	run->start = clock_stamp();
	status = run->bench->measure(run);
	circumstances_end(at, run, !status && !interrupted());
	add_warnings(run, at);
	withhold_findings(run);
	return status;
}

static int run_bench(const struct bench *bench, const struct given *given, json_t *command,
		     struct against *against)
{
	struct run run = { .bench = bench, .settings = options_apply(bench, given) };
	struct circumstances at;
	json_t *document;
	int status, reported;

	if (!run.settings || check_outputs(given))
		return EXIT_USAGE;
	run.shortest = share(sizeof(*run.shortest));
	*run.shortest = INFINITY;
	status = measure(&run, &at);
	if (has_results(&run)) {
		if (against->run_count)
			against_compare(against, &run);
		document = run_as_json(&run, &at, command);
		if (against->run_count)
			json_object_set_new(document, "against", against_as_json(against));
		reported = report(&run, given, document, &at, against);
		status = reported ? reported : status;
		json_decref(document);
	} else if (interrupted()) {
		complain("bench: interrupted before anything was finished");
	}
	unshare_memory(run.shortest, sizeof(*run.shortest));
	return interrupted() && status != EXIT_USAGE ? 128 + interrupted() : status;
}

/* ---- all of them ---- */

/* The file of BENCH in a directory, as --all names it. */
static char *file_of(const struct bench *bench, const char *directory)
{
	return directory ? keep_text("%s/%s.json", directory, bench->name) : NULL;
}

/* The earlier runs of BENCH in the directories to compare with; there may be none. */
static int read_earlier(const struct bench *bench, const struct given *given,
			struct against *against)
{
	int status = 0;
	size_t i;

	for (i = 0; i < given->against.count && !status; i++) {
		const char *file = file_of(bench, given->against.of[i]);

		if (!access(file, F_OK))
			status = against_read(against, file);
	}
	return status;
}

/* A bench that this machine cannot run has said why, and does not make the command fail. */
static int run_all(const struct given *given, json_t *command)
{
	const char *directory = given->json;
	int status = 0, found, i;

	if (directory && mkdir(directory, 0777) && errno != EEXIST)
		return bad_input("bench: cannot make %s: %s", directory, strerror(errno));
	for (i = 0; i < (int)BENCHES && !interrupted(); i++) {
		struct given one = *given;
		struct against against = { 0 };

		one.json = file_of(benches[i], directory);
		printf("%s==== %s\n", i ? "\n" : "", benches[i]->name);
		fflush(stdout);
		found = read_earlier(benches[i], &one, &against);
		found = found ? found : run_bench(benches[i], &one, command, &against);
		against_free(&against);
		if (found && found != EXIT_USAGE)
			status = found;
	}
	/* The signal may have come between two benches. */
	return interrupted() ? 128 + interrupted() : status;
}

/* ---- the command line ---- */

static int print_help(const char *name)
{
	const struct bench *bench = name ? find(name) : NULL;
	size_t i;

	if (name && !bench)
		return EXIT_USAGE;
	if (bench) {
		printf("Usage: ferry bench %s [OPTION...]\n", bench->name);
		printf("Measures %s.\n\n", bench->summary);
	} else {
		printf("Usage: ferry bench [BENCH] [OPTION...]\n"
		       "Measures on one CPU, in trials that take turns, and draws conclusions.\n"
		       "BENCH is one of\n\n");
		for (i = 0; i < BENCHES; i++)
			show_entry(keep_text("  %s", benches[i]->name), 13, benches[i]->summary);
		putchar('\n');
	}
	options_help(benches, bench);
	show_paragraph("", "");
	show_paragraph("", "Ctrl-C ends the measurement; what was finished is still printed and "
			   "written.");
	show_paragraph("", "Exit status: 0; 1 when a measurement failed; 2 for bad input; 130 "
			   "after Ctrl-C.");
	show_paragraph("", bench ? "ferry-bench(1) describes the figures." :
				   "'ferry bench BENCH --help' lists the options of one bench.");
	printf("Example: ferry bench %s\n", bench ? bench->example : "crossing --json now.json");
	return EXIT_OK;
}

/* The benches, the options of the bench that was named, and the values that they take. */
static void complete_bench(char *words[], int count)
{
	const char *word = words[count - 1];
	const struct bench *bench = NULL;
	size_t i;

	for (i = 0; i < BENCHES; i++) {
		if (count == 1)
			printf("%s\t%s\n", benches[i]->name, benches[i]->summary);
		else if (!strcmp(benches[i]->name, words[0]))
			bench = benches[i];
	}
	if (bench && options_complete_values(bench, words[count - 2], word))
		return;
	if (*word == '-')
		options_complete(benches, bench);
}

/* As it was typed: argv[0] is for getopt's complaints, and getopt_long() reorders the others. */
static json_t *command_line(int argc, char *argv[])
{
	json_t *words = json_pack("[s, s]", "ferry", "bench");
	int i;

	for (i = 1; i < argc; i++)
		json_array_append_new(words, json_text(argv[i]));
	return words;
}

static int run(int argc, char *argv[])
{
	struct given given = { 0 };
	struct against against = { 0 };
	const struct bench *bench;
	json_t *command;
	size_t i;
	int status;

	command = command_line(argc, argv);
	status = options_read(argc, argv, benches, &given);
	if (!status && given.help) {
		json_decref(command);
		return print_help(given.bench);
	}
	if (!status && given.all) {
		status = run_all(&given, command);
		json_decref(command);
		return status;
	}
	for (i = 0; i < given.against.count && !status; i++)
		status = against_read(&against, given.against.of[i]);
	if (!status) {
		bench = choose(&given, &against);
		status = bench ? run_bench(bench, &given, command, &against) : EXIT_USAGE;
	}
	against_free(&against);
	json_decref(command);
	return status;
}

const struct command bench_command = {
	.name = "bench",
	.summary = "measure the cost of crossings, batches and programs here",
	.run = run,
	.complete = complete_bench,
};
