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
	int option, most;

	while ((option = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		if (option == 'h') {
			fputs(command->help, stdout);
			return EXIT_OK;
		}
		*json = true;
	}
	most = optind + (file ? 1 : 0);
	if (argc > most)
		return too_many_arguments(command->name, argv[most]);
	if (optind < argc)
		*file = argv[optind];
	return -1;
}
