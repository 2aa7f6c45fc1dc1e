// SPDX-License-Identifier: MIT
/* ferry check: the mistakes of a program, without running it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "common/file.h"
#include "common/messages.h"
#include "common/output.h"
#include "program_file.h"

/* What is wrong with a program, in the order of its slots. */
struct findings {
	const struct loaded *loaded;
	struct finding *list;
	size_t count;
	size_t errors;
};

struct finding {
	unsigned long slot;
	bool is_error;
	char reason[200];
};

static const char *severity_of(const struct finding *finding)
{
	return finding->is_error ? "error" : "warning";
}

/* ---- looking ---- */

static void add(struct findings *findings, unsigned long slot, bool is_error, const char *reason)
{
	struct finding *finding = &findings->list[findings->count++];

	finding->slot = slot;
	finding->is_error = is_error;
	snprintf(finding->reason, sizeof(finding->reason), "%s", reason);
	findings->errors += is_error;
}

/* COUNT problems of the batch as such, in PROBLEMS, and the problems of its text. */
static void merge(struct findings *findings, const struct ferry_problem problems[], size_t count)
{
	const struct loaded *loaded = findings->loaded;
	struct slot_warnings warnings;
	unsigned long slot;
	size_t next = 0, i;

	for (slot = 0; slot < loaded->ncall; slot++) {
		for (; next < count && problems[next].slot == slot; next++)
			add(findings, slot, problems[next].severity == FERRY_ERROR,
			    problems[next].reason);
		image_check_slot(loaded->image, slot, &warnings);
		for (i = 0; i < warnings.count; i++)
			add(findings, slot, false, warnings.reason[i]);
	}
}

static size_t count_warnings(const struct loaded *loaded)
{
	struct slot_warnings warnings;
	unsigned long slot;
	size_t count = 0;

	for (slot = 0; slot < loaded->ncall; slot++) {
		image_check_slot(loaded->image, slot, &warnings);
		count += warnings.count;
	}
	return count;
}

/* 0 or -ENOMEM; free(findings->list) in any case. */
static int find(const struct loaded *loaded, struct findings *findings)
{
	long count = ferry_check(loaded->slots, loaded->ncall, NULL, 0);
	struct ferry_problem *problems;

	*findings = (struct findings){ .loaded = loaded };
	if (count < 0)
		return -ENOMEM;
	problems = calloc((size_t)count + 1, sizeof(*problems));
	findings->list =
		calloc((size_t)count + count_warnings(loaded) + 1, sizeof(*findings->list));
	if (problems && findings->list)
		count = ferry_check(loaded->slots, loaded->ncall, problems, (size_t)count);
	if (!problems || !findings->list || count < 0) {
		free(problems);
		return -ENOMEM;
	}
	merge(findings, problems, (size_t)count);
	free(problems);
	return 0;
}

/* ---- printing ---- */

static const char *call_of(const struct findings *findings, const struct finding *finding,
			   char name[CALL_NAME_SIZE])
{
	return call_name(findings->loaded->slots[finding->slot].nr, name);
}

static void print_count(unsigned long count, const char *what, const char *after)
{
	printf("%lu %s%s%s", count, what, count == 1 ? "" : "s", after);
}

static void print_as_text(const char *path, const struct findings *findings)
{
	const struct finding *finding = findings->list;
	char name[CALL_NAME_SIZE];

	for (; finding < findings->list + findings->count; finding++)
		printf("%s:%u: slot %lu (%s): %s: %s\n", display_name(path),
		       image_slot_line(findings->loaded->image, finding->slot), finding->slot,
		       call_of(findings, finding, name), severity_of(finding), finding->reason);
	printf("%s: ", display_name(path));
	print_count(findings->loaded->ncall, "slot", ", ");
	print_count(findings->errors, "error", ", ");
	print_count(findings->count - findings->errors, "warning", "\n");
}

static void print_as_json(const struct findings *findings)
{
	const struct finding *finding = findings->list;
	json_t *list = json_array();
	char name[CALL_NAME_SIZE];

	for (; finding < findings->list + findings->count; finding++)
		json_array_append_new(
			list,
			json_pack(
				"{s:I, s:s, s:I, s:s, s:s}", "slot", (json_int_t)finding->slot,
				"call", call_of(findings, finding, name), "line",
				(json_int_t)image_slot_line(findings->loaded->image, finding->slot),
				"severity", severity_of(finding), "reason", finding->reason));
	print_json(json_pack("{s:i, s:I, s:o}", "version", 1, "slots",
			     (json_int_t)findings->loaded->ncall, "problems", list));
}

static int check(const char *path, const struct loaded *loaded, bool json)
{
	struct findings findings;
	int status = EXIT_USAGE;

	if (find(loaded, &findings)) {
		complain("check: out of memory");
	} else {
		if (json)
			print_as_json(&findings);
		else
			print_as_text(path, &findings);
		status = findings.errors ? EXIT_FOUND : EXIT_OK;
	}
	free(findings.list);
	return status;
}

static int run(int argc, char *argv[])
{
	struct loaded loaded;
	struct image *image;
	const char *path = "-";
	bool json = false;
	int status = parse_json_and_file(&check_command, argc, argv, &json, &path);

	if (status >= 0)
		return status;
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
		"Looks for mistakes in the batch program in FILE, or standard input, and runs\n"
		"nothing: jumps and forwarded results that cannot work, calls that a batch may "
		"not\n"
		"make, arguments that are too few or too many, and lengths beyond their "
		"buffers.\n\n"
		"  -j, --json  print the problems as JSON\n"
		"  -h, --help  print this help\n\n"
		"Exit status: 0 without errors (there may be warnings), 1 with errors, 2 for a "
		"text\n"
		"that does not assemble or other bad input.\n"
		"Example: ferry check cat.ferry\n",
	.run = run,
};
