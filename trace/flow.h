/* SPDX-License-Identifier: MIT */
/*
 * Where the arguments of a sequence come from, as far as its occurrences show, and so which of its
 * calls could be made in one crossing.  What cannot be known from outside, such as what a program
 * does with what it has read, is taken to be needed.
 */
#ifndef TRACE_FLOW_H
#define TRACE_FLOW_H

#include "sequences.h"

enum source {
	SOURCE_CONSTANT, /* the same in all turns */
	SOURCE_BEFORE,	 /* differs, and is known before the first call */
	SOURCE_RESULT,	 /* the result of the step FROM */
	SOURCE_BUFFER,	 /* the buffer that the step FROM filled */
	SOURCE_USER,	 /* the program computes it from what the step FROM returned */
};

struct argument {
	char kind; /* of shapes.h */
	enum source source;
	int from; /* a step, which may be the step itself: an earlier call of its run */
};

struct step {
	int nr;
	bool failed;
	double calls; /* per turn */
	struct argument args[6];
	int arg_count;
	bool begins_batch; /* it cannot be in a batch with the step before */
	bool alone;	   /* each of its calls is a crossing of its own */
	const char *why;   /* of either */
};

enum verdict { BATCH_ENTIRELY, BATCH_IN_PARTS, BATCH_NOT };

struct plan {
	struct step steps[SEQUENCE_RUNS];
	size_t length;
	double turns;	/* in the whole trace */
	double calls;	/* per turn */
	double batches; /* per turn, single calls included; below 1 if turns share one */
	enum verdict verdict;
	const char *why; /* of what is not BATCH_ENTIRELY */
};

/** The plan for a sequence; SCALE is the number of calls for each that is in a window. */
struct plan plan_of(const struct sequences *sequences, const struct sequence *sequence,
		    double scale);

/** "entirely", "in parts" or "not". */
const char *verdict_name(enum verdict verdict);

#endif /* TRACE_FLOW_H */
