/* SPDX-License-Identifier: MIT */
/* What the batches of `ferry bench batch` hold: one call over and over, or a program. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>

#include "lib/text/text.h"

struct workload {
	const char *name;   /* of a call, or the path of a program */
	const char *label;  /* for people */
	unsigned long body; /* slots that one copy has */
	struct loaded loaded;
	struct image *image; /* of a program, or NULL */
	bool whole;	     /* forwards arguments, copies words or jumps: not for every side */
	int fd;		     /* that its calls work on, or -1 */
	const char *file;    /* that was made for it, or NULL */
};

/**
 * COPIES of the call NAME, which --call takes: 0, or -errno after complaining.  Calls on files take
 * a new one in DIRECTORY, unless that is NULL.
 */
int workload_open(struct workload *workload, const char *name, unsigned long copies,
		  const char *directory);

/** COPIES of the program in the file PATH: 0, or -errno after complaining. */
int workload_load(struct workload *workload, const char *path, unsigned long copies);

void workload_close(struct workload *workload);

/** To be called before batches are timed: goes back to the start of the file. */
void workload_rewind(const struct workload *workload);

/* What became of a batch. */
enum outcome_of_batch {
	BATCH_WORKED,
	BATCH_FAILED,	 /* which was complained about */
	BATCH_FILTERED,	 /* it worked: a filter refused the unimplemented call */
	BATCH_FORBIDDEN, /* a filter refused a call that should work */
};

/** What became of a batch of SIZE copies: LAST is what it returned. */
enum outcome_of_batch workload_outcome(const struct workload *workload, unsigned long size,
				       long last);

#endif /* WORKLOAD_H */
