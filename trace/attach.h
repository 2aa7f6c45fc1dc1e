/* SPDX-License-Identifier: MIT */
/* How tracing with ptrace(2) begins: with a new program, or with a running one. */
#ifndef TRACE_ATTACH_H
#define TRACE_ATTACH_H

#include <signal.h>
#include <sys/types.h>

#include "threads.h"

/**
 * Starts the program ARGV, whose standard output is OUTPUT and which blocks the signals of
 * MASK, and adds it to THREADS.  It is traced from its execve(2) on, and killed if this process
 * ends first.  Returns its id, and in *FAILED what error_of_start() takes and the caller closes; or
 * -errno after complaining.
 */
pid_t start_traced(char *const argv[], int output, const sigset_t *mask, struct threads *threads,
		   int *failed);

/** The error of the execve(2) of a program that has ended without one, or 0. */
int error_of_start(int failed);

/**
 * Adds every thread of process PID to THREADS; each will stop soon.  Returns 0, or -errno after
 * complaining.
 */
int attach_to(pid_t pid, struct threads *threads);

/** Why process PID could not be traced, after ptrace(2) failed with ERROR: a sentence that is kept.
 */
const char *why_not_traced(pid_t pid, int error);

#endif /* TRACE_ATTACH_H */
