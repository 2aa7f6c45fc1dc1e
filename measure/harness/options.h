/* SPDX-License-Identifier: MIT */
/*
 * From the command line to the settings of a bench.  Each case declares the rows of its options;
 * they drive parsing, help, completion and the document's "settings", and a test compares the
 * manual with them.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bench.h"

enum option_kind {
	NUMBER_OPTION,	/* long */
	NUMBERS_OPTION, /* struct sizes: a list with commas, sorted */
	NAMES_OPTION,	/* struct names: a list with commas */
	CALL_OPTION,	/* the same: the words of a call, which may be equal */
	FILES_OPTION,	/* struct names: may be repeated */
	TEXT_OPTION,	/* const char * */
	DIR_OPTION,	/* the same, of a directory that can be entered */
	FLAG_OPTION,	/* bool, without an argument */
};

/* Rows of several benches may share a letter: they then have the same name. */
struct option_row {
	char letter;
	enum option_kind kind;
	const char *name, *argument;
	const char *key; /* in the document's settings, or NULL */
	size_t offset;	 /* in the structure that it fills in */
	const char *help;
	long min, max;	    /* of numbers; a default below MIN is null in the document */
	const char *values; /* the names that it accepts, with blanks between them */
	const char *(*list_values)(void); /* the same where they must be asked for, or NULL */
	bool condition;			  /* figures of runs that differ in it are not alike */
};

#define OPTION_ROWS(rows)              \
	{                              \
		(rows), COUNT_OF(rows) \
	}

/* The members of a struct bench that say what it can be told. */
#define BENCH_SETTINGS(rows, settings) \
	.options = OPTION_ROWS(rows), .defaults = &(settings), .settings_size = sizeof(settings)

/* Rows that several cases have. */
#define TRIALS_OPTION                                                                           \
	{                                                                                       \
		't', NUMBER_OPTION, "trials", "N", "trials", offsetof(struct settings, trials), \
			"trials of every figure", 1, 10000                                      \
	}
#define WARMUP_OPTION                                                                           \
	{                                                                                       \
		'w', NUMBER_OPTION, "warmup", "N", "warmup", offsetof(struct settings, warmup), \
			"calls, batches, pairs or passes to run untimed first", 0, 1000000000   \
	}
#define CALLS_OPTION(at)                                                                \
	{                                                                               \
		'n', NUMBER_OPTION, "calls", "N", "calls", at, "calls in one trial", 1, \
			1000000000, .condition = true                                   \
	}
#define PAIRS_OPTION(at)                                                           \
	{                                                                          \
		'r', NUMBER_OPTION, "pairs", "N", "pairs", at, "pairs of runs", 1, \
			MAX_INTERVAL_COUNT                                         \
	}
#define DIRECTORY_OPTION(at)                                                      \
	{                                                                         \
		'd', DIR_OPTION, "directory", "DIR", "directory", at,             \
			"the tree to work on; where to make files for the calls", \
			.condition = true                                         \
	}
#define EXAMPLES_OPTION(at)                                                                     \
	{                                                                                       \
		'x', TEXT_OPTION, "examples", "DIR", NULL, at, "where the example programs are" \
	}

struct given_setting {
	int letter;
	const char *name;
	char *text; /* or NULL; applying it cuts a list at its commas */
};

/* The command line; its settings are interpreted once the bench is known. */
struct given {
	struct given_setting *of; /* in their order */
	size_t count;
	const char *bench, *json, *csv; /* or NULL */
	struct names against;
	bool help, all;
};

/** Reads ARGV, which getopt_long() reorders: 0, or EXIT_USAGE after complaining. */
int options_read(int argc, char *argv[], const struct bench *const benches[], struct given *given);

/** The settings of BENCH with what was given, kept; or NULL after complaining. */
struct settings *options_apply(const struct bench *bench, const struct given *given);

/** Whether WANTED contains NAME, or nothing at all. */
bool is_wanted(const struct names *wanted, const char *name);

/**
 * The example NAME, in DIRECTORY or, where that is NULL, beside this program, kept; or NULL after
 * complaining.
 */
char *example_of(const char *directory, const char *name);

/** The options of BENCH, or of all BENCHES, which NULL ends, for NULL, as --help lists them. */
void options_help(const struct bench *const benches[], const struct bench *bench);

/** For the shell: the same options, one per line, with a tab and their help. */
void options_complete(const struct bench *const benches[], const struct bench *bench);

/**
 * For the shell: the values of OPTION ("--engine"), one per line, each after the part of WORD up to
 * its last comma.  False when they are not known.
 */
bool options_complete_values(const struct bench *bench, const char *option, const char *word);

/** The settings of BENCH, as ferry-bench(5) describes them. */
json_t *settings_as_json(const struct bench *bench, const struct settings *settings);

#endif /* OPTIONS_H */
