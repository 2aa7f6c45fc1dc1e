/* SPDX-License-Identifier: MIT */
/* In which calls threads waited, and how long. */
#ifndef TRACE_FINDINGS_WAITS_H
#define TRACE_FINDINGS_WAITS_H

#include "evidence.h"

struct wait {
	const char *missing; /* NULL: it is a record */
	const char *call, *file;
	long times;	      /* that a thread slept in it */
	double ns, mean, p99; /* on the wall */
	double cpu_ns;	      /* of the calls that waited; or NAN */
	double spread;	      /* half of the distance of the quartiles, relative to the mean */
};

/** The kinds of call and file that threads waited in, the longest first; kept. */
struct wait *waits_of(const struct evidence *evidence, size_t *count);

/** The wait of the calls in GROUP: all on one file. */
struct wait wait_of(const struct evidence *evidence, const struct member *group, size_t size);

/** A time as text with its unit, kept. */
const char *duration(double ns);

#endif /* TRACE_FINDINGS_WAITS_H */
