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
 * Makes a process that becomes the program ARGV, whose standard output is OUTPUT, once
 * start_program() says so.  Before this process needs much memory: what the kernel copies of it
 * now, and gives back at execve(2), is CPU time of the program.  Returns 0, or -errno after
 * complaining.
 */
int hold_program(char *const argv[], int output);

/** Ends the process that was held and has not been started, if there is one. */
void drop_program(void);

/** What the process had used before it was the program. */
const struct rusage *used_while_held(void);

/**
 * Starts the program that is held, with the signals of block_signals() as they were.  Before its
 * execve(2), ATTACH is called with CONTEXT and its id; an error, -errno, ends it.  Returns its id,
 * and in *FAILED what check_start() takes; or -errno after ATTACH complained.
 */
pid_t start_program(int (*attach)(void *context, pid_t child), void *context, int *failed);

/**
 * Whether the program ARGV that has ended was executed at all, as BEGAN says: 0, or -errno after
 * complaining.
 */
int check_start(char *const argv[], bool began, int failed);

/**
 * Blocks the signals that end a trace of TARGET or ask for a report, and SIGCHLD; a parent that
 * ignored SIGCHLD has no influence.
 */
void block_signals(const struct target *target);

/** Those that block_signals() has blocked. */
const sigset_t *blocked_signals(void);

/** Whether one that ends a trace has come. */
bool is_interrupted(void);

/** From now on SIGALRM comes after the seconds of TARGET, and SIGUSR1 at its intervals. */
void start_timers(const struct target *target);

/** Unblocks them.  After one of them, the others are ignored: they must not end the report. */
void unblock_signals(const struct collected *collected);

/**
 * What a signal for this process means for the program ROOT, if not 0.  The first is for the
 * program, unless it has ended: one from the terminal went there as well, and another is passed
 * on.  Returns false where the target is to be let go.
 */
bool pass_on(struct collected *collected, pid_t root, const siginfo_t *info);

/** For start_program(): traces CHILD, to be killed if this process ends, as one of THREADS. */
int trace_child(void *threads, pid_t child);

/**
 * Calls VISIT for process PID, then for its children, and theirs.  A child that starts others is
 * visited before its own children are looked up, so that VISIT can see to it that none is missed.
 * Returns what VISIT returned for PID; an error for a child, which is complained of unless it has
 * ended, leaves out that child's own children only.
 */
int visit_family(pid_t pid, int (*visit)(void *context, pid_t process), void *context);

/**
 * Adds every thread of the processes of TARGET and of their children to THREADS with ptrace(2);
 * each will stop soon.  Returns 0, or -errno after complaining.
 */
int attach_to(const struct target *target, struct threads *threads);

/** Why process PID could not be traced, after ptrace(2) failed with ERROR: a sentence that is kept.
 */
const char *why_not_traced(pid_t pid, int error);

#endif /* TRACE_ATTACH_H */
