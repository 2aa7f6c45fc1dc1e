/* SPDX-License-Identifier: MIT */
/* Other programs, timed from their start to their end, and measuring in children. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct process {
	char *const *argv;  /* argv[0] is a path, or a name to be found in PATH */
	const char *engine; /* for FERRY_ENGINE, or NULL */
	int input, output;  /* its standard streams, or -1: /dev/null */
	off_t from;	    /* where it begins to read its input, if that is a file */
};

struct outcome {
	double ns;  /* wall time */
	int status; /* exit status, 128 and the signal that ended it, or -errno: it did not start */
};

/** The exit status, or 128 and the signal that ended it, of what waitpid(2) stored. */
int exit_status_of(int status);

/** Runs it to its end.  Its standard error is /dev/null.  One thread at a time may. */
struct outcome process_run(const struct process *process);

/*
 * Where the kernel places a process's memory and its own data for it changes what calls cost, by
 * more than the trials of one process differ; so trials are spread over several children.
 */

/**
 * Runs WORK in a child, which ends with this process at the latest.  Once interrupted()
 * here, the child is too.  Returns 0, or EXIT_FOUND when WORK did not return 0, which it has
 * complained about, or died, which this complains about.
 */
int run_in_child(int (*work)(void *context), void *context);

/**
 * Waits until CHILD has ended, and returns how, as in waitpid(2).  Once interrupted() here, even
 * before this was called, CHILD gets signal NUMBER; 0 stands for the one that came.  For the main
 * thread of a process without others.
 */
int wait_for_child(pid_t child, int number);

/** Whether CHILD is gone, or ended and has yet to be waited for. */
bool child_has_ended(pid_t child);

#endif /* PROCESS_H */
