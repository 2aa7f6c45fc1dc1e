/* SPDX-License-Identifier: MIT */
/* Messages on standard error and exit statuses, the same for every subcommand. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <ferry.h>

/* Exit statuses, the same for every subcommand. */
enum {
	EXIT_OK = 0,
	EXIT_FOUND = 1, /* it ran, and the answer is no: check found errors, run could not start */
	EXIT_USAGE = 2, /* bad options or bad input */
};

/** Prints "ferry: " and the message on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same in a return statement: complaining gives an exit status. */
#define bad_input(...) (complain(__VA_ARGS__), EXIT_USAGE)
#define failed(...) (complain(__VA_ARGS__), EXIT_FOUND)

/** Complains about EXTRA, which the subcommand COMMAND does not take.  Returns EXIT_USAGE. */
int too_many_arguments(const char *command, const char *extra);

/** The names of all engines, with blanks between them, kept. */
const char *engine_names(void);

/** The engine called NAME, or -EINVAL after complaining with the names there are. */
int parse_engine(const char *name);

#endif /* MESSAGES_H */
