/* SPDX-License-Identifier: MIT */
/* How tracing begins: with a new program, or with a running one. */
#ifndef TRACE_ATTACH_H
#define TRACE_ATTACH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "collect.h"
#include "threads.h"

/**
 * Starts the program ARGV, whose standard output is OUTPUT and which blocks the signals of MASK.
 * Before its execve(2), ATTACH is called with CONTEXT and its id; an error, -errno, ends it.
 * *USED, shared memory unless it is NULL, becomes what it has used before it is the program.
 * Returns its id, and in *FAILED what check_start() takes; or -errno after complaining, which
 * ATTACH does for its own errors.
 */
pid_t start_program(char *const argv[], int output, const sigset_t *mask,
		    int (*attach)(void *context, pid_t child), void *context, struct rusage *used,
		    int *failed);

/**
 * Whether the program ARGV that has ended was executed at all, as BEGAN says: 0, or -errno after
 * complaining.
 */
int check_start(char *const argv[], bool began, int failed);

/**
 * Blocks the SIGNALS that end a trace, and SIGCHLD; *BEFORE is what was blocked.  A parent that
 * ignored SIGCHLD has no influence.
 */
void block_signals(sigset_t *signals, sigset_t *before);

/**
 * What a signal for this process means for the program ROOT, if not 0.  The first is for the
 * program, unless it has ended: one from the terminal went there as well, and another is passed
 * on.  Returns false where the target is to be let go.
 */
bool pass_on(struct collected *collected, pid_t root, const siginfo_t *info);

/** For start_program(): traces CHILD, to be killed if this process ends, as one of THREADS. */
int trace_child(void *threads, pid_t child);

/**
 * Adds every thread of process PID to THREADS with ptrace(2); each will stop soon.  Returns 0, or
 * -errno after complaining.
 */
int attach_to(pid_t pid, struct threads *threads);

/** Why process PID could not be traced, after ptrace(2) failed with ERROR: a sentence that is kept.
 */
const char *why_not_traced(pid_t pid, int error);

#endif /* TRACE_ATTACH_H */
