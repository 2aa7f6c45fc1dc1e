/* SPDX-License-Identifier: MIT */
/*
 * What threads do again and again.
 *
 * Calls of one kind in a row are a run.  A sequence is a series of up to SEQUENCE_RUNS runs
 * without a border (no end of it is also its beginning): so its occurrences never overlap, and a
 * loop is found as one turn of it.  Of all sequences the one that would save most crossings is
 * chosen, its occurrences are taken out, and so on: the greedy choice of off-line dictionary
 * compression (Larsson and Moffat, "Off-line dictionary-based compression", 2000).
 */
#ifndef TRACE_SEQUENCES_H
#define TRACE_SEQUENCES_H

#include "windows.h"

#define SEQUENCE_RUNS 8
#define SEQUENCES_MAX 8
#define NO_SEQUENCE (-1)

struct run_of_calls {
	short nr;
	bool failed;
	signed char sequence; /* that has it, or NO_SEQUENCE */
	unsigned short first, count;
};

/* A window as runs. */
struct line {
	const struct window *window;
	struct run_of_calls *runs;
	size_t count;
};

/* Where a sequence occurs. */
struct place {
	unsigned int line, run;
};

struct sequence {
	size_t length; /* in runs */
	struct place *places;
	size_t count; /* of the places */
	long calls;   /* in all places */
	size_t followers[SEQUENCES_MAX +
			 1]; /* what comes right after it; the last: anything else */
};

struct sequences {
	struct line *lines;
	size_t line_count;
	long calls; /* in all lines */
	struct sequence of[SEQUENCES_MAX];
	size_t count;
};

/** The sequences of WINDOWS, which must outlive them; kept. */
struct sequences *sequences_find(const struct windows *windows);

/** Run STEP of the sequence at PLACE. */
const struct run_of_calls *sequence_run(const struct sequences *sequences, struct place place,
					size_t step);

/** Call N of that run; counted from the end if negative. */
const struct traced_call *sequence_call(const struct sequences *sequences, struct place place,
					size_t step, int n);

#endif /* TRACE_SEQUENCES_H */
