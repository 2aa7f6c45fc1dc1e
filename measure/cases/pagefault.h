/* SPDX-License-Identifier: MIT */
/* The rows of `ferry bench pagefault`, and its conclusions from them. */
#ifndef PAGEFAULT_H
#define PAGEFAULT_H

#include "measure/harness/bench.h"
#include "pagefault_ways.h"

struct pagefault_settings {
	struct settings;
	struct sizes sizes; /* pages that a fault maps */
	long memory;	    /* MiB; 0: a suitable amount */
};

static inline const struct pagefault_settings *pagefault_settings(const struct run *run)
{
	return (const struct pagefault_settings *)run->settings;
}

/* One way to map pages, in one order of touching them.  The base has a fault for each page; trials
 * are ns for the first touch of a page. */
struct touched {
	struct contestant;
	const char *label, *access, *order, *way; /* words for TOUCH */
	struct touch touch;
	struct numbers later;	 /* ns for the second touch */
	double pages;		 /* that are touched */
	double mapping;		 /* of a first touch: its part of mapping and populating */
	double faults;		 /* that the kernel counted */
	double exceptions;	 /* of the CPU, NAN where they cannot be counted */
	double mapped;		 /* pages */
	double resident, wasted; /* bytes, NAN where not known */

	/* Filled in by pagefault_conclude(). */
	double later_median;
	double beyond_clearing;	  /* of a touch: what is neither clearing pages nor the touch itself
				   */
	struct comparison beside; /* to MADV_POPULATE, of what is an alternative to it */
};

struct pagefault {
	const char *missing;
	long memory, page; /* bytes */
	struct touched *rows;
	size_t count;
};

/**
 * Compares the rows, and adds records, tables, findings and figures to the run.  Rows that have
 * neither a trial nor a reason are left out.
 */
void pagefault_conclude(struct run *run, struct pagefault *pagefault);

#endif /* PAGEFAULT_H */
