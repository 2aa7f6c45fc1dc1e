/* SPDX-License-Identifier: MIT */
/* A run that nothing slows down, for the times that ptrace(2) distorts. */
#ifndef TRACE_UNTRACED_H
#define TRACE_UNTRACED_H

#include <stdbool.h>
#include <sys/types.h>

struct times {
	const char *missing; /* why there are none, or NULL */
	double wall_ns;
	double user_ns, system_ns; /* CPU time, of all children, too */
	long page_faults;	   /* that took no reading from the disk */
};

/**
 * Runs the program ARGV once more, to its end.  What it prints is thrown away.  READS_INPUT: it
 * reads its standard input, which can be read again only if it is a file: from INPUT, where the
 * traced run began.
 */
struct times run_untraced(char *const argv[], bool reads_input, off_t input);

#endif /* TRACE_UNTRACED_H */
