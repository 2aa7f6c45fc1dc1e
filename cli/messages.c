// SPDX-License-Identifier: MIT
/* Messages on standard error and common options, the same for every subcommand. */
#include "messages.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

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

int too_many_arguments(const struct command *command, const char *extra)
{
	complain("%s: unexpected argument '%s'; see 'ferry %s --help'", command->name, extra,
		 command->name);
	return EXIT_USAGE;
}

int parse_json_and_file(const struct command *command, int argc, char *argv[], bool *json,
			const char **file)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		if (option == 'h') {
			fputs(command->help, stdout);
			return EXIT_OK;
		}
		*json = true;
	}
	if (argc - optind > 1)
		return too_many_arguments(command, argv[optind + 1]);
	if (optind < argc)
		*file = argv[optind];
	return -1;
}

int parse_engine(const char *name)
{
	int engine = ferry_engine_by_name(name);

	if (engine < 0)
		complain("there is no engine '%s'; the engines are auto, loop, uring, device and "
			 "syscall",
			 name);
	return engine;
}
