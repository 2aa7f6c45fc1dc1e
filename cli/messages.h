/* SPDX-License-Identifier: MIT */
/* Messages on standard error, the same for every subcommand. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <ferry.h>

#include "command.h"

/** Prints "ferry: " and the message on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Complains about the argument EXTRA, which COMMAND does not take.  Returns EXIT_USAGE. */
int too_many_arguments(const struct command *command, const char *extra);

/** The engine called NAME, or -EINVAL after complaining with the names there are. */
int parse_engine(const char *name);

#endif /* MESSAGES_H */
