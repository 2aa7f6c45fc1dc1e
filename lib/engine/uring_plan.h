/* SPDX-License-Identifier: MIT */
/*
 * Which slots the uring engine may send out together, as far as the program
 * tells.  A run is the same read or write call on the same descriptor, slot after slot,
 * with no jump before its last slot and no operand that comes from within it.
 */
#ifndef URING_PLAN_H
#define URING_PLAN_H

#include <stdbool.h>

#include <linux/ferry.h>

/* Shorter runs do not win back what a submission costs (measure/uring_vs_loop). */
#define URING_MIN_RUN 32UL

/* One submission: larger ones gain nothing and leave the first-level cache. */
#define URING_MAX_RUN 126UL

struct uring_run {
	unsigned long first;
	unsigned long length; /* 0: there is none, and first is where the search ended */
	bool confines;	      /* it ended at a call that may restrict the thread's calls */
};

/*
 * The run worth a submission that starts earliest among the slots from FIRST on,
 * at most URING_MAX_RUN slots of it; looks at no slot from END on.
 */
struct uring_run ferry__uring_plan_next(const struct ferry_slot calls[], unsigned long first,
					unsigned long end);

#endif /* URING_PLAN_H */
