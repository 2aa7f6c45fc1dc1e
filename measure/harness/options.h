/* SPDX-License-Identifier: MIT */
/* From the command line to the settings of a bench. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bench.h"

/* What getopt() found, to be understood once the bench is known. */
struct given {
	char *value[128]; /* by the option's letter, or NULL; lists are cut at their commas */
	struct names programs;
	const char *bench; /* or NULL */
};

/**
 * Reads ARGV, which getopt_long() reorders.  Returns -1 to go on, or an exit status: after --help,
 * or after complaining.
 */
int options_read(int argc, char *argv[], const char *help, struct given *given);

/** The settings of BENCH with what was given: 0, or EXIT_USAGE after complaining. */
int options_apply(const struct bench *bench, const struct given *given, struct settings *settings);

#endif /* OPTIONS_H */
