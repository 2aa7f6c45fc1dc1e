/* SPDX-License-Identifier: MIT */
/*
 * Which slots the uring engine may send together, judging by the program alone.  A run is
 * the same read or write call on the same descriptor, slot after slot, with no jump before its
 * last slot and no operand that comes from within it.
 */
#ifndef URING_PLAN_H
#define URING_PLAN_H

#include <stdbool.h>

#include <linux/ferry.h>

/* Shorter runs do not recover the cost of a submission. */
#define URING_MIN_RUN 32UL

/* The most slots of one submission: more gain nothing and overflow the first-level cache. */
#define URING_MAX_RUN 126UL

struct uring_run {
	unsigned long first;
	unsigned long length; /* 0: no run, and first is where the search ended */
	bool confines;	      /* it ended at a call that may restrict the thread's calls */
};

/*
 * Finds the first run from FIRST on that is worth a submission, and at most URING_MAX_RUN
 * slots of it.  Reads no slot from END on.
 */
struct uring_run ferry__uring_plan_next(const struct ferry_slot calls[], unsigned long first,
					unsigned long end);

#endif /* URING_PLAN_H */
