/* SPDX-License-Identifier: MIT */
/* What is fuzzed: each subject makes a program of random words, runs it and compares. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include <stdio.h>

#include "coverage.h"
#include "tests/lib/differential/random.h"

/* One of the elements of ARRAY. */
#define PICK(random, array) ((array)[random_below(random, sizeof(array) / sizeof((array)[0]))])

struct subject {
	const char *name;

	/* Once in the process that runs programs, which may write to DIRECTORY only. */
	void (*begin)(const char *directory);

	/*
	 * Makes a program of the words of RANDOM, and runs it.  False if it did not do what calls
	 * one by one do; how goes to WHY.
	 */
	bool (*run)(struct random *random, FILE *why);

	/* run() is to have a process of its own, which begins as recorder 0. */
	bool forks;

	/* Adds to ALL what run() has reached, if that was in another program. */
	struct news (*take)(struct coverage *all);
};

extern const struct subject *const subjects[]; /* NULL is the end */

extern const struct subject batches, arguments, sets, pages, storms;

/* From here on SIGNAL may end the process of this run; 0: none may. */
void subject_may_die(int signal);

#endif /* SUBJECT_H */
