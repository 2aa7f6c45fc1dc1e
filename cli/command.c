// SPDX-License-Identifier: MIT
#include "command.h"

#include <getopt.h>
#include <stdio.h>

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
		return too_many_arguments(command->name, argv[optind + 1]);
	if (optind < argc)
		*file = argv[optind];
	return -1;
}
