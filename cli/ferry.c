// SPDX-License-Identifier: MIT
/* The ferry command: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "complete.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/suggest.h"

static const struct command *const commands[] = {
	&probe_command, &run_command,	&check_command,	  &bench_command, &report_command,
	&du_command,	&trace_command, &threads_command, &cc_command,	  &cxx_command,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	size_t i;

	printf("Usage: ferry COMMAND [OPTION...] [FILE]\n"
	       "Batches of system calls: several calls in one crossing into the kernel.\n\n"
	       "Commands:\n");
	for (i = 0; i < COMMANDS; i++)
		printf("  %-7s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n'ferry COMMAND --help' describes a command, with an example; 'ferry --version' "
	       "prints\nthe version.  The manual is ferry(1).\n");
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static const char *names_of_commands(void)
{
	const char *names = commands[0]->name;
	size_t i;

	for (i = 1; i < COMMANDS; i++)
		names = keep_text("%s %s", names, commands[i]->name);
	return names;
}

/* getopt's complaints begin with argv[0]: "ferry: run" makes them read like ours. */
static int run_command_line(const struct command *command, int argc, char *argv[])
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", command->replaces ? "" : "ferry: ", command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

static int run(int argc, char *argv[])
{
	const struct command *command;

	if (argc < 2) {
		complain("no command given; 'ferry --help' lists the commands");
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ferry %s, batch ABI %d\n", FERRY_PROJECT_VERSION, BATCH_VERSION);
		return EXIT_OK;
	}
	if (argc > 2 && !strcmp(argv[1], "--complete")) {
		complete(commands, COMMANDS, argv + 2, argc - 2);
		return EXIT_OK;
	}
	command = find(argv[1]);
	if (!command) {
		complain("there is no command '%s'%s; 'ferry --help' lists the commands", argv[1],
			 did_you_mean(argv[1], names_of_commands()));
		return EXIT_USAGE;
	}
	return run_command_line(command, argc - 1, argv + 1);
}

int main(int argc, char *argv[])
{
	int status = run(argc, argv);

	return finish_output() ? EXIT_USAGE : status;
}
