/* SPDX-License-Identifier: MIT */
/*
 * From the command line to the settings of a bench.  One table in options.c declares every option;
 * it drives parsing, help, completion and the document's "settings", and a test compares the manual
 * with it.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bench.h"

/* The command line, to be interpreted once the bench is known. */
struct given {
	char *value[128]; /* by the option's letter, or NULL; lists are cut at their commas */
	struct names programs;
	const char *bench; /* or NULL */
	bool help;
	bool all;
};

/** Reads ARGV, which getopt_long() reorders: 0, or EXIT_USAGE after complaining. */
int options_read(int argc, char *argv[], struct given *given);

/** The settings of BENCH with what was given: 0, or EXIT_USAGE after complaining. */
int options_apply(const struct bench *bench, const struct given *given, struct settings *settings);

/** Whether --app names NAME, or nothing. */
bool is_wanted(const struct settings *settings, const char *name);

/** The example NAME, in --examples or else beside this program, kept; or NULL after complaining. */
char *example_of(const struct settings *settings, const char *name);

/** The options of BENCH, or of all benches for NULL, as --help lists them. */
void options_help(const struct bench *bench);

/** For the shell: the options of BENCH, one per line, with a tab and their help. */
void options_complete(const struct bench *bench);

/**
 * For the shell: the values of OPTION ("--engine"), one per line, each after the part of WORD up to
 * its last comma.  False when they are not known.
 */
bool options_complete_values(const struct bench *bench, const char *option, const char *word);

/** The settings of BENCH, as ferry-bench(5) describes them. */
json_t *settings_as_json(const struct bench *bench, const struct settings *settings);

#endif /* OPTIONS_H */
