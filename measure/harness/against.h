/* SPDX-License-Identifier: MIT */
/* A run beside earlier ones. */
#ifndef AGAINST_H
#define AGAINST_H

#include "bench.h"

/* A figure of all runs. */
struct pair {
	const char *missing;
	const char *what, *unit;
	double before;	  /* mean of the earlier runs */
	double before_se; /* how it scatters from run to run; the error that a single run states */
	double now, now_se, ratio;
	double before_freedom, now_freedom; /* of the errors that single runs state */
	struct comparison judged;	    /* only p */
	int different;			    /* 1, 0, or -1: the verdict is withheld */
};

struct earlier {
	const char *missing;
	const char *file, *started;
	json_t *document;
};

/* Begins as zeroes. */
struct against {
	struct earlier *runs;
	size_t run_count;
	const char *withheld; /* why the run gives no verdict, or NULL */
	struct pair *pairs;
	size_t count;
};

/**
 * Adds the earlier run in the file PATH, of the same bench as the others: 0, or EXIT_USAGE after
 * complaining.
 */
int against_read(struct against *against, const char *path);

void against_free(struct against *against);

/** Fills in the figures that all runs have, and adds a table of them to the run. */
void against_compare(struct against *against, struct run *run);

json_t *against_as_json(const struct against *against);

/** Prints what makes the runs hard to compare, or impossible; NOW is the document of this one. */
void against_print_conditions(const struct against *against, const struct bench *bench,
			      const json_t *now);

#endif /* AGAINST_H */
