// SPDX-License-Identifier: MIT
/* ferry check: the mistakes of a program, without running it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "program_file.h"
#include "report.h"

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char *severity_name(enum ferry_severity severity)
{
	return severity == FERRY_ERROR ? "error" : "warning";
}

static void print_problem(const char *path, const struct loaded *loaded,
			  const struct ferry_problem *problem)
{
	unsigned int line = image_slot_line(loaded->image, problem->slot);
	char name[CALL_NAME_SIZE];

	printf("%s:", path);
	if (line)
		printf("%u:", line);
	printf(" slot %lu (%s): %s: %s\n", problem->slot,
	       call_name(loaded->slots[problem->slot].nr, name), severity_name(problem->severity),
	       problem->reason);
}

static json_t *problem_as_json(const struct loaded *loaded, const struct ferry_problem *problem)
{
	char name[CALL_NAME_SIZE];

	return json_pack("{s:I, s:s, s:I, s:s, s:s}", "slot", (json_int_t)problem->slot, "call",
			 call_name(loaded->slots[problem->slot].nr, name), "line",
			 (json_int_t)image_slot_line(loaded->image, problem->slot), "severity",
			 severity_name(problem->severity), "reason", problem->reason);
}

static void print_as_json(const struct loaded *loaded, const struct ferry_problem problems[],
			  long count)
{
	json_t *list = json_array();
	long i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, problem_as_json(loaded, &problems[i]));
	print_json(json_pack("{s:i, s:I, s:o}", "version", 1, "slots", (json_int_t)loaded->ncall,
			     "problems", list));
}

static int report(const char *path, const struct loaded *loaded,
		  const struct ferry_problem problems[], long count, bool json)
{
	long errors = 0;
	long i;

	for (i = 0; i < count; i++)
		errors += problems[i].severity == FERRY_ERROR;
	if (json) {
		print_as_json(loaded, problems, count);
		return errors ? EXIT_FOUND : EXIT_OK;
	}
	for (i = 0; i < count; i++)
		print_problem(path, loaded, &problems[i]);
	printf("%s: %lu slots, %ld errors, %ld warnings\n", path, loaded->ncall, errors,
	       count - errors);
	return errors ? EXIT_FOUND : EXIT_OK;
}

static int check(const char *path, const struct loaded *loaded, bool json)
{
	long count = ferry_check(loaded->slots, loaded->ncall, NULL, 0);
	struct ferry_problem *problems;
	int status;

	problems = count < 0 ? NULL : calloc(count + 1, sizeof(*problems));
	if (problems)
		count = ferry_check(loaded->slots, loaded->ncall, problems, count);
	if (!problems || count < 0) {
		complain("check: out of memory");
		free(problems);
		return EXIT_USAGE;
	}
	status = report(path, loaded, problems, count, json);
	free(problems);
	return status;
}

static int run(int argc, char *argv[])
{
	struct loaded loaded;
	struct image *image;
	const char *path;
	bool json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(check_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return too_many_arguments(&check_command, argv[optind + 1]);
	path = optind < argc ? argv[optind] : "-";
	image = load_program(path, &loaded);
	if (!image)
		return EXIT_USAGE;
	status = check(path, &loaded, json);
	image_unload(&loaded);
	image_free(image);
	return status;
}

const struct command check_command = {
	.name = "check",
	.summary = "find a program's mistakes without running it",
	.help = "Usage: ferry check [--json] [FILE]\n"
		"Looks for every mistake that the batch ABI can express in the program in FILE\n"
		"(text or object, or standard input), and runs nothing.\n\n"
		"  -j, --json  the problems as JSON\n"
		"  -h, --help  this text\n\n"
		"Exit status: 0 without errors (warnings may be there), 1 with, 2 for bad input.\n"
		"Example: ferry check cat.ferry\n",
	.run = run,
};
