/* SPDX-License-Identifier: MIT */
/* Mapping a range in pieces, by several threads where that is faster. */
#ifndef PREFAULT_FAULT_IN_H
#define PREFAULT_FAULT_IN_H

#include "pages.h"

/* How a range is to be mapped, and what was done. */
struct fault_in {
	struct pages pages;
	int (*map)(const struct pages *piece); /* 0 or -errno */
	size_t piece;			       /* bytes, a power of 2 */
	bool alone;			       /* by the calling thread only */
	unsigned int threads;		       /* that mapped something */
	unsigned long faults;		       /* of these threads */
};

/**
 * Maps the range: 0, -ENOMEM before memory runs out, or another error of job->map().  May change
 * errno.
 */
int ferry__fault_in(struct fault_in *job);

#endif /* PREFAULT_FAULT_IN_H */
