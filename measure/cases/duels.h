/* SPDX-License-Identifier: MIT */
/* Two ways of doing a job, run in turn: `ferry bench apps`, `files` and `threads`. */
#ifndef DUELS_H
#define DUELS_H

#include "measure/harness/bench.h"
#include "measure/harness/process.h"

/* The settings of a case with duels begin with these members. */
struct duel_settings {
	struct settings;
	long pairs;
};

/* Side 0 is what the bench is about, side 1 what it is compared with. */
struct duel {
	const char *missing;
	const char *app;	    /* what both do: a word that --app may name */
	const char *side, *against; /* side: an engine, say; against: that or another program */
	const char *what;	    /* a sentence: what both did */
	const char *as;		    /* how a finding compares them; NULL: "as fast as" */
	bool same_output;	    /* the outputs must be equal */
	bool counts_cpu;	    /* whether CPU time is measured, too */
	int equal;		    /* whether they were, -1 when they need not be */
	char *const *argv[2];
	struct numbers times[2];     /* as many of each */
	struct numbers cpu_times[2]; /* likewise, ns of CPU time, or empty */
	double rate[2];		     /* requests per second, median, of servers */
	struct numbers rates;	     /* the same as a list, empty without servers */
	double late[2]; /* ns within which 99 of 100 requests are answered, median, of servers */
	struct numbers lates;

	/* Filled in by duels_conclude(). */
	struct matrix pairs;
	double median[2], cpu[2]; /* ns */
	struct comparison ratio;
	double confidence;
	struct numbers medians, cpus, ratios;
};

/**
 * Lets the sides take turns.  TIME runs one of them and stores how long that took; it returns why
 * it could not be run, kept, or NULL.  Returns false when there is nothing to report.
 */
bool duel_measure(struct run *run, struct duel *duel,
		  const char *(*time)(void *context, size_t side, double *ns), void *context);

/**
 * The same with two programs, whose outputs are compared first.  PREPARE, if not NULL, is called
 * before each run; it returns why there can be none, or NULL.
 */
bool duel_of_programs(struct run *run, struct duel *duel, const struct process sides[2],
		      const char *(*prepare)(void *context), void *context);

/** Compares the sides of each duel, and adds records, findings and figures to the run. */
void duels_conclude(struct run *run, struct duel duels[], size_t count);

/**
 * Adds a table of the records, with headings for what both sides do and for side 0, and the CPU
 * time if WITH_CPU.
 */
void duels_tabulate(struct run *run, const char *app, const char *side, const char *title,
		    bool with_cpu);

#endif /* DUELS_H */
