/* SPDX-License-Identifier: MIT */
/* A bench of `ferry bench`: one per file, which measures and says what it found. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "clock.h"
#include "statistics.h"
#include "table.h"

#define MAX_NAMES 64

struct names {
	const char *of[MAX_NAMES];
	size_t count;
};

/* What was asked for; what was not is the bench's own default, or 0. */
struct settings {
	int cpu; /* or -1: any */
	long warmup;
	long trials;
	long calls; /* in a trial */
	long slots; /* about so many are timed at once */
	long pairs;
	double sizes[MAX_SIZES];
	size_t size_count;
	double work[MAX_SIZES]; /* ns between two calls */
	size_t work_count;
	double threads[MAX_SIZES]; /* user-level ones */
	size_t thread_count;
	long runners; /* at most; 0: as many as there are CPUs */
	struct names engines;
	bool engines_named; /* by the user; otherwise they are all that are here */
	struct names workloads;
	struct names programs;
	long memory; /* MiB; 0: as much as is good */
	const char *directory;
	const char *examples;
	struct bootstrap bootstrap;
};

/* A measurement on its way. */
struct run {
	const struct settings *settings;
	json_t *document;    /* ferry-bench(5) */
	double *shortest_ns; /* the shortest time that was taken off the clock; shared memory */
	struct clock_stamp start;
};

struct bench {
	const char *name;
	const char *summary;
	const char *options; /* the letters of the options that it takes, beside the common ones */
	const char *rows;    /* the key of its rows in the document */
	struct table csv;    /* of these rows */
	struct settings defaults;

	/* Complains about settings that it cannot work with: 0, or EXIT_USAGE. */
	int (*check)(const struct settings *settings);

	/*
	 * Fills in the document: its rows, and what it found.  Ends early once interrupted().
	 * Returns 0, or an exit status after complaining.
	 */
	int (*measure)(struct run *run);

	/* Prints the tables. */
	void (*print)(const json_t *document);
};

extern const struct bench crossing_bench;
extern const struct bench batch_bench;
extern const struct bench dispatch_bench;
extern const struct bench apps_bench;
extern const struct bench flexsc_bench;
extern const struct bench pagefault_bench;

/** Adds a sentence to the findings.  ABOUT names the row, call, program or order, or is NULL. */
void add_finding(struct run *run, const char *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Adds a warning; ID is a word that stays the same. */
void add_warning(struct run *run, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Notes that a time was taken off the clock: all of them should be much longer than a tick. */
void note_duration(struct run *run, double ns);

#endif /* BENCH_H */
