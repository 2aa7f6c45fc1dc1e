/* SPDX-License-Identifier: MIT */
/* A run beside an earlier one. */
#ifndef AGAINST_H
#define AGAINST_H

#include "bench.h"

/* A figure of both runs. */
struct pair {
	const char *missing;
	const char *what, *unit;
	double before, before_se, now, now_se, ratio;
	struct comparison
		judged; /* only whether they differ by more than the errors of both allow */
};

struct against {
	const char *missing;
	const char *file, *started;
	struct pair *pairs;
	size_t count;
	json_t *document; /* the earlier run */
};

/** Reads the earlier run in the file PATH: 0, or EXIT_USAGE after complaining. */
int against_read(struct against *against, const char *path);

/** Fills in the figures that both runs have, and adds a table of them to the run. */
void against_compare(struct against *against, struct run *run);

json_t *against_as_json(const struct against *against);

/** Prints what makes the runs hard to compare, or impossible; NOW is the document of this one. */
void against_print_conditions(const struct against *against, const struct bench *bench,
			      const json_t *now);

#endif /* AGAINST_H */
