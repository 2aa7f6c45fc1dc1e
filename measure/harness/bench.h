/* SPDX-License-Identifier: MIT */
/*
 * A bench of `ferry bench`: one per file in measure/cases, which measures and reports what it
 * found.
 *
 * A case fills in a `struct bench` and is listed in cli/cmd_bench.c.  Its measure() times
 * contestants with take_turns() or take_trials() (turns.h), keeps the results in structures of its
 * own, and hands them over with add_records() or add_contestants(), add_table(), add_figure(),
 * add_finding() and add_warning().  Nothing reads the JSON back: tables and conclusions are made of
 * the structures.
 * It declares the rows of its options (options.h) and the structure that they fill in.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clock.h"
#include "common/memory.h"
#include "common/table.h"
#include "statistics.h"

#define MAX_NAMES 64
#define MAX_SETS 8

struct names {
	const char *of[MAX_NAMES];
	size_t count;
};

struct sizes {
	double of[MAX_SIZES];
	size_t count;
};

/*
 * The settings that the harness reads.  The settings of each case begin with these members:
 *
 *	struct my_settings { struct settings; long calls; };
 */
struct settings {
	long cpu; /* or -1: any */
	long warmup;
	long trials;
	struct bootstrap bootstrap;
};

struct option_row;

struct option_rows {
	const struct option_row *of;
	size_t count;
};

struct sentence {
	const char *missing;
	const char *about; /* of a finding: a row, call, program or order; of a warning: its id */
	const char *text;
};

struct sentences {
	struct sentence *of;
	size_t count;
};

/* A figure with a name, which another run can be compared with. */
struct figure {
	const char *missing;
	const char *what, *unit;
	double value, se;
	long trials; /* that it comes from */
};

#define NO_BASE SIZE_MAX

/*
 * What is timed in turn with others.  The records of most cases begin with its members:
 *
 *	struct row { struct contestant; const char *label; };
 */
struct contestant {
	const char *missing; /* why it cannot be measured, or NULL */
	const char *name;
	size_t base;	       /* the index of the one it is compared with, or NO_BASE */
	struct numbers trials; /* ns per call */

	/* Filled in by compare_contestants(). */
	struct summary summary;
	struct comparison ratio; /* times as fast as the base */
	struct numbers ratios;	 /* of single trials */
};

/** The contestant INDEX of records that are SIZE bytes apart. */
static inline struct contestant *contestant_at(void *first, size_t index, size_t size)
{
	return (struct contestant *)((char *)first + index * size);
}

/* A run in progress. */
struct run {
	const struct bench *bench;
	const struct settings *settings;
	double *shortest; /* the shortest time measured; shared memory */
	struct clock_stamp start;

	/* The results. */
	struct records sets[MAX_SETS]; /* the first one is the main table */
	size_t set_count;
	struct records more; /* a single record: further fields of the document */
	struct sentences findings, warnings;
	struct table **tables;
	struct figure *figures;
	struct comparison **comparisons;
	size_t table_count, figure_count, comparison_count;

	/* Counted by note_trials(). */
	size_t rows, outliers, drifting, unsettled;

	/*
	 * Why the run gives no verdict, or NULL; and what finds a reason, before the run and when
	 * it is judged, or NULL.
	 */
	const char *withheld;
	const char *(*find_reason)(void);
};

struct bench {
	const char *name;
	const char *summary;
	struct option_rows options;
	const void *defaults; /* its settings, of settings_size bytes */
	size_t settings_size;

	/*
	 * Completes the settings, or complains about a setting that it cannot work with: 0, or
	 * EXIT_USAGE.  May be NULL.
	 */
	int (*check)(struct settings *settings);

	/* About how long it takes, s, when a system call takes CALL_NS. */
	double (*seconds)(const struct settings *settings, double call_ns);

	/*
	 * Measures, and adds what it found to the run.  Ends early once interrupted().
	 * Returns 0, or an exit status after complaining.
	 */
	int (*measure)(struct run *run);

	const char *example; /* what to type after "ferry bench" */
};

/** Adds records to the document, where they must have a key.  They must stay allocated. */
void add_records(struct run *run, struct records records);

/** Adds the fields of one record, which must stay allocated, to the document itself. */
void add_fields(struct run *run, struct records record);

/** Adds a table to fill with table_add(), after judge_run(); the title is a format. */
#define add_table(run, columns, note, ...) \
	new_table(run, columns, COUNT_OF(columns), note, keep_text(__VA_ARGS__))

/** The same with all of RECORDS. */
#define add_table_of(run, records, columns, note, ...) \
	table_add_all(add_table(run, columns, note, __VA_ARGS__), records)

struct table *new_table(struct run *run, const struct column columns[], size_t column_count,
			const char *note, const char *title);

/** Adds a sentence to the findings.  ABOUT names the row, call, program or order, or is NULL. */
#define add_finding(run, about, ...) add_sentence(&(run)->findings, about, keep_text(__VA_ARGS__))

/** Adds a warning; ID is a word that stays the same. */
#define add_warning(run, id, ...) add_sentence(&(run)->warnings, id, keep_text(__VA_ARGS__))

void add_sentence(struct sentences *sentences, const char *about, const char *text);

/** Adds a figure for --against; WHAT is kept, UNIT is clock_unit() or "ratio", SE may be NAN. */
void add_figure(struct run *run, const char *what, const char *unit, struct estimate estimate,
		size_t trials);

/** Adds a comparison, which must stay allocated; judge_run() judges all of them together. */
void add_comparison(struct run *run, struct comparison *comparison);

/**
 * How many times as fast TRIALS are as those of BASE: returns the ratios of single trials, kept.
 * *COMPARISON must stay allocated, for judge_run().
 */
struct numbers compare_trials(struct run *run, const struct numbers *trials,
			      const struct numbers *base, struct comparison *comparison);

/**
 * Summarizes COUNT contestants, which are SIZE bytes apart, and compares them with their bases, for
 * judge_run() to decide.  Those that have neither a trial nor a reason are dropped, and the indices
 * of the bases are void.  Returns how many are left.
 */
size_t compare_contestants(struct run *run, void *contestants, size_t count, size_t size);

/** The same for contestants, with a figure for each that has been measured. */
void add_contestants(struct run *run, struct records contestants);

/**
 * Decides which comparisons are significant, once all have been added: none of them is where the
 * verdict is withheld.
 */
void judge_run(struct run *run);

/** Without a verdict, no sentence draws a conclusion: one says why in place of them. */
void withhold_findings(struct run *run);

/** Checks the trials of one row for outliers and drift, about which the run warns once. */
void note_trials(struct run *run, const struct numbers *trials);

/** Notes a measured time: the run warns if the shortest is not much longer than a tick. */
void note_duration(struct run *run, double ns);

#endif /* BENCH_H */
