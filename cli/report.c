// SPDX-License-Identifier: MIT
/* Complaints, JSON and option values, the same for every subcommand. */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("ferry: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

bool is_terminal(int descriptor)
{
	const char *kind = getenv("TERM");

	return isatty(descriptor) && !(kind && !strcmp(kind, "dumb"));
}

int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	complain("standard output: %s", strerror(errno));
	return -errno;
}

int too_many_arguments(const struct command *command, const char *extra)
{
	complain("%s: '%s' is one argument too many; see 'ferry %s --help'", command->name, extra,
		 command->name);
	return EXIT_USAGE;
}

void print_json(json_t *json)
{
	if (!json) {
		complain("out of memory");
		exit(EXIT_USAGE);
	}
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

int parse_engine(const char *name)
{
	int engine = ferry_engine_by_name(name);

	if (engine < 0)
		complain("there is no engine '%s'; there are auto, loop, uring, device and syscall",
			 name);
	return engine;
}
