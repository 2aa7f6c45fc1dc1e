/* SPDX-License-Identifier: MIT */
/* Messages on standard error and common options, the same for every subcommand. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>

#include <ferry.h>

#include "command.h"

/** Prints "ferry: " and the message on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Complains about the argument EXTRA, which COMMAND does not take.  Returns EXIT_USAGE. */
int too_many_arguments(const struct command *command, const char *extra);

/**
 * Reads the command line of COMMAND, which takes --json, --help and a FILE: -1 to go on, or the
 * exit status.  *FILE stays as it is when there is none.
 */
int parse_json_and_file(const struct command *command, int argc, char *argv[], bool *json,
			const char **file);

/** The engine called NAME, or -EINVAL after complaining with the names there are. */
int parse_engine(const char *name);

#endif /* MESSAGES_H */
