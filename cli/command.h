/* SPDX-License-Identifier: MIT */
/* A subcommand of ferry: one per file, cmd_*.c. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "common/messages.h"

struct command {
	const char *name;
	const char *summary;
	const char *help; /* printed by --help */
	bool replaces;	  /* a program of this name, whose messages are as that program's */
	int (*run)(int argc, char *argv[]);
	void (*complete)(char *words[],
			 int count); /* see complete.h; or NULL: options of the help */
};

extern const struct command probe_command;
extern const struct command run_command;
extern const struct command check_command;
extern const struct command bench_command;
extern const struct command report_command;
extern const struct command du_command;
extern const struct command trace_command;
extern const struct command threads_command;
extern const struct command cc_command;
extern const struct command cxx_command;

/**
 * Reads the command line of COMMAND, which takes --json, --help and, unless FILE is NULL, a file:
 * -1 to go on, or the exit status.  *FILE stays as it is when there is none.
 */
int parse_json_and_file(const struct command *command, int argc, char *argv[], bool *json,
			const char **file);

#endif /* COMMAND_H */
