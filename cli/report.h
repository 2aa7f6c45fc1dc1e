/* SPDX-License-Identifier: MIT */
/* What every subcommand does with words: complaints, options, output. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>
#include <ferry.h>

#include "command.h"

/** Prints "ferry: " and the message on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Whether DESCRIPTOR is a terminal that moves its cursor when it is told to. */
bool is_terminal(int descriptor);

/** Flushes standard output; complains and returns -errno when something was lost. */
int finish_output(void);

/** Complains about argument INDEX beyond what COMMAND takes.  Returns EXIT_USAGE. */
int too_many_arguments(const struct command *command, const char *extra);

/** Prints JSON on standard output, indented, with a newline at the end, and frees it. */
void print_json(json_t *json);

/** The engine called NAME, or -EINVAL after complaining with the names there are. */
int parse_engine(const char *name);

/**
 * Writes LENGTH bytes to the file PATH, or to standard output for NULL or "-".  A regular
 * file is replaced at once or not at all.  Returns 0, or -errno after complaining.
 */
int write_file(const char *path, const void *bytes, size_t length);

/** Whether write_file() could begin with PATH now: 0, or -errno after complaining. */
int check_writable(const char *path);

/** All of the file PATH, or of standard input for "-": 0 and malloc'ed bytes, or -errno after
 * complaining. */
int read_file(const char *path, void **bytes, size_t *length);

#endif /* REPORT_H */
