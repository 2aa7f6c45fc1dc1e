/* SPDX-License-Identifier: MIT */
/*
 * Random batches whose outcome is determined, or one of few, whatever happens to the thread
 * meanwhile; and the check of what came of one.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/ferry.h>

#include "tests/lib/differential/random.h"

#define SLOTS 24
#define WORDS 8

/* What a filter answers to getppid(), once one is installed. */
#define FILTERED_ERRNO 77
#define FILTERED_RESULT 88 /* by the handler of its SIGSYS */

/* A thread's program, and what only its batches use. */
struct program {
	struct batch_slot calls[SLOTS];
	long rets[SLOTS + 1];
	long words[WORDS]; /* what word copies write */
	unsigned long ncall;
	int memory;  /* its lseek() returns any value */
	int event;   /* a nonblocking eventfd */
	bool is_set; /* the event */
	int pid, parent, tid;
};

/* Opens what the batches of the calling thread use.  Ends the process if that fails. */
void program_open(struct program *program);

/* Makes the next batch, with results that say which slots ran. */
void program_make(struct program *program, struct random *random);

/*
 * Whether PROGRAM, which returned LAST, did what a loop of calls can have done.  Prints why
 * not to OUT.
 */
bool program_check(struct program *program, long last, FILE *out);

#endif /* PROGRAM_H */
