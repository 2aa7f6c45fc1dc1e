/* SPDX-License-Identifier: MIT */
/* What the parts of the fuzzer share. */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coverage.h"
#include "line.h"
#include "subject.h"

#define MOST_LINES 20000
#define HANG_SECONDS 150 /* of a program; emulated processors are slow */

struct entry {
	struct line line;
	uint64_t words; /* that its program took */
	bool is_kept;	/* it reached a place before all others */
};

/* In memory that this process and its workers share. */
struct shared {
	struct coverage all;
	struct coverage again; /* what the kept lines reach, for finding those that add nothing */
	struct entry entries[MOST_LINES];
	unsigned int count;
	struct line current;
	uint64_t words;
	int may_die; /* the signal that may end the current program, or 0 */
	atomic_ulong programs;
};

extern struct shared *shared;
extern FILE *why; /* of a program that fails */
extern char directory[PATH_MAX];
extern volatile sig_atomic_t stopped; /* the signal that asked for the end, or 0 */

struct options {
	const char *keep, *reached;
	const struct subject *only;
	uint64_t seed;
	double seconds;
};

/* Reads the options, and the lines that they name into shared.  Exits if one is wrong. */
void parse(struct options *options, int argc, char **argv);

enum task {
	REPLAY, /* runs the entries, and marks those that add a place, in their order */
	FUZZ,	/* runs new lines, and keeps those that reach something new */
	REDUCE, /* runs the kept entries, the latest first: they often reach what led to them */
};

/* Does TASK for a subject, FUZZ until END, and exits: 1 if a program failed. */
_Noreturn void work(enum task task, unsigned int subject, struct random random, double end);

/* Runs the corpus, then new lines.  False if a program failed, which is printed. */
bool run_campaign(const struct options *options);

/* Unmarks entries that add no place to those after them. */
bool reduce_entries(const struct options *options);

/* Exits if a result cannot be written to PATH, before a run of hours. */
void check_place(const char *path);

/* Whole files, or none. */
void write_kept(const char *path);
void write_reached(const char *path);

/* Says what errno holds of PATH, and exits. */
_Noreturn void fail_on(const char *path);

double now(void); /* seconds */

#endif /* CAMPAIGN_H */
