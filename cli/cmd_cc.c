// SPDX-License-Identifier: MIT
/* ferry cc and ferry c++: clang with ferry's plugin. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/own_directory.h"
#include "common/record.h"
#include "trace/costs.h"
#include "unfit.h"

enum { NEWEST = 19, OLDEST = 14 }; /* versions of LLVM */
enum { NOT_EXECUTABLE = 126 };

struct arguments {
	const struct command *command;
	const char *json; /* the file for JSON, "-": standard output; NULL: remarks */
	bool explain;
	double crossing; /* ns; 0: to be measured */
	long llvm;	 /* 0: the newest */
	char **rest;	 /* of clang */
};

/* What follows NAME and '=' in WORD, "" where WORD is NAME alone; NULL: it is another. */
static const char *value_of(const char *word, const char *name)
{
	const size_t length = strlen(name);

	if (strncmp(word, name, length) != 0)
		return NULL;
	return word[length] == '=' ? word + length + 1 : !word[length] ? "" : NULL;
}

static int parse_explain(struct arguments *arguments, const char *value)
{
	arguments->explain = true;
	arguments->json = NULL;
	if (!*value)
		return -1;
	if (!strcmp(value, "json"))
		arguments->json = "-";
	else if (!strncmp(value, "json:", 5) && value[5])
		arguments->json = value + 5;
	else
		return bad_input("%s: --explain may be followed by =json or =json:FILE, not '%s'",
				 arguments->command->name, value);
	return -1;
}

static int parse_crossing(struct arguments *arguments, const char *value)
{
	char *end;

	arguments->crossing = strtod(value, &end);
	if (end == value || *end || !(arguments->crossing > 0 && arguments->crossing < 1e9))
		return bad_input("%s: --crossing is a number of ns above 0, not '%s'",
				 arguments->command->name, value);
	return -1;
}

static int parse_llvm(struct arguments *arguments, const char *value)
{
	if (!read_number(value, OLDEST, NEWEST, &arguments->llvm))
		return bad_input("%s: --llvm is a version from %d to %d, not '%s'",
				 arguments->command->name, OLDEST, NEWEST, value);
	return -1;
}

static int parse(struct arguments *arguments, char *argv[])
{
	static const struct {
		const char *name;
		int (*parse)(struct arguments *arguments, const char *value);
	} options[] = {
		{ "--explain", parse_explain },
		{ "--crossing", parse_crossing },
		{ "--llvm", parse_llvm },
	};
	int status = -1;
	size_t i;

	for (arguments->rest = argv + 1; *arguments->rest && status < 0; arguments->rest++) {
		const char *value = NULL;

		if (!strcmp(*arguments->rest, "--help")) {
			fputs(arguments->command->help, stdout);
			return EXIT_OK;
		}
		for (i = 0; i < COUNT_OF(options) && !value; i++)
			value = value_of(*arguments->rest, options[i].name);
		if (!value)
			break; /* the first word of clang */
		status = options[i - 1].parse(arguments, value);
	}
	return status;
}

/* FILE in one of two directories: of the build tree, or where it is installed; NULL: in neither. */
static const char *find_part(const char *built, const char *installed, const char *name)
{
	const char *const places[] = { built, installed };
	size_t i;

	for (i = 0; i < COUNT_OF(places); i++) {
		const char *file = beside(keep_text("%s/%s", places[i], name));

		if (file && !access(file, R_OK))
			return file;
	}
	return NULL;
}

static const char *find_plugin(long llvm)
{
	return find_part("../compiler", "../" FERRY_LIB_DIR "/ferry",
			 keep_text("ferry-cc-%ld.so", llvm));
}

/* The newest clang with a plugin: its version, or 0.  The names of both are kept. */
static long find_clang(const struct arguments *arguments, const char **clang, const char **plugin)
{
	const char *const name = strcmp(arguments->command->name, "cc") ? "clang++" : "clang";
	const long newest = arguments->llvm ? arguments->llvm : NEWEST;
	const long oldest = arguments->llvm ? arguments->llvm : OLDEST;
	long llvm;

	for (llvm = newest; llvm >= oldest; llvm--) {
		*plugin = find_plugin(llvm);
		*clang = *plugin ? find_executable(keep_text("%s-%ld", name, llvm)) : NULL;
		if (*clang)
			return llvm;
	}
	return 0;
}

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* The plugin reads the environment: clang has no other words for plugins of the pass manager. */
static void set_environment(const struct arguments *arguments)
{
	set_or_unset("FERRY_CC_EXPLAIN", arguments->explain ? "1" : NULL);
	set_or_unset("FERRY_CC_JSON", arguments->json);
	if (arguments->explain)
		setenv("FERRY_CC_CROSSING",
		       keep_text("%.3g", arguments->crossing > 0 ? arguments->crossing :
								   measure_crossing().value),
		       1);
}

static bool may_be_input(const char *word)
{
	return word[0] != '-' || !word[1] || word[1] == 'l';
}

/*
 * Whether clang may link something, with the C library.  A library counts as input, so clang would
 * link for `ferry cc -v` if one were added.
 */
static bool may_link(char *const words[])
{
	static const char *const without[] = { "-r", "-nostdlib", "-nodefaultlibs", "-nolibc" };
	bool has_input = false;
	size_t i;

	for (; *words; words++) {
		for (i = 0; i < COUNT_OF(without); i++)
			if (!strcmp(*words, without[i]))
				return false;
		has_input |= may_be_input(*words);
	}
	return has_input;
}

/* Between words that have clang not complain of what a mere compilation or a mere link ignores. */
static char **command_line(const struct arguments *arguments, const char *clang, const char *plugin,
			   const char *library)
{
	const char *const pattern = arguments->json ? "^$" : "^ferry$";
	char *const before[] = {
		keep_text("%s", clang),
		keep_text("--start-no-unused-arguments"),
		keep_text("-fpass-plugin=%s", plugin),
		/* clang keeps the lines of the source where remarks are wanted. */
		arguments->explain ? keep_text("-Rpass=%s", pattern) : NULL,
		arguments->explain ? keep_text("-Rpass-analysis=%s", pattern) : NULL,
		keep_text("--end-no-unused-arguments"),
	};
	char *const after[] = {
		keep_text("--start-no-unused-arguments"),
		keep_text("-Wl,%s", library),
		keep_text("--end-no-unused-arguments"),
	};
	size_t count = 0, i, at = 0;
	char **line;

	while (arguments->rest[count])
		count++;
	line = keep(COUNT_OF(before) + count + COUNT_OF(after) + 1, sizeof(*line));
	for (i = 0; i < COUNT_OF(before); i++)
		if (before[i])
			line[at++] = before[i];
	for (i = 0; i < count; i++)
		line[at++] = arguments->rest[i];
	for (i = 0; !arguments->explain && may_link(arguments->rest) && i < COUNT_OF(after); i++)
		line[at++] = after[i];
	return line;
}

static int run_as(const struct command *command, char *argv[])
{
	struct arguments arguments = { .command = command };
	const char *clang, *plugin, *library;
	int status = parse(&arguments, argv);

	if (status >= 0)
		return status;
	if (!find_clang(&arguments, &clang, &plugin))
		return failed("%s: there is no clang %s with a plugin of ferry; 'make build' "
			      "makes one for each version whose headers are installed (llvm-dev)",
			      command->name,
			      arguments.llvm ? keep_text("of version %ld", arguments.llvm) :
					       "of version 14 to 19");
	library = find_part("../lib/auto", "../" FERRY_LIB_DIR, "libferry_auto.a");
	if (!library)
		return failed("%s: libferry_auto.a is not installed", command->name);
	set_environment(&arguments);
	fflush(NULL);
	execv(clang, command_line(&arguments, clang, plugin, library));
	complain("%s: cannot run %s: %s", command->name, clang, strerror(errno));
	return NOT_EXECUTABLE;
}

static int run_cc(int argc, char *argv[])
{
	(void)argc;
	return run_as(&cc_command, argv);
}

static int run_cxx(int argc, char *argv[])
{
	(void)argc;
	return run_as(&cxx_command, argv);
}

#define HELP(name, clang, example)                                                              \
	"Usage: ferry " name " [OPTION...] [ARGUMENT...]\n"                                     \
	"Runs " clang " with all ARGUMENTs, and compiles system calls that follow each other\n" \
	"so that one batch makes them on a kernel with ferry's patch series.  Options come\n"   \
	"before the arguments of " clang ".\n\n"                                                \
	"  --explain            add no batches; report each run, the reason for its end, and\n" \
	"                       a change that would extend it, as remarks\n"                    \
	"  --explain=json[:FILE]  the same as JSON, a line each: on standard output, or "       \
	"appended\n"                                                                            \
	"                       to FILE\n"                                                      \
	"  --crossing=NS        the cost of a crossing; by default it is measured\n"            \
	"  --llvm=N             use clang of version N; by default the newest\n"                \
	"  --help               print this help\n\n"                                            \
	"Exit status: clang's; 1 if there is no such clang, 2 for bad options,\n"               \
	"126 if it cannot be run.\n"                                                            \
	"Example: " example "\n"

const struct command cc_command = {
	.name = "cc",
	.summary = "compile C so that batches make runs of its calls, or report these runs",
	.help = HELP("cc", "clang", "make CC='ferry cc --explain'"),
	.run = run_cc,
};

const struct command cxx_command = {
	.name = "c++",
	.summary = "the same for C++",
	.help = HELP("c++", "clang++", "make CXX='ferry c++ --explain'"),
	.run = run_cxx,
};
