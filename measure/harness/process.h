/* SPDX-License-Identifier: MIT */
/* Running another program, timed from its start to its end. */
#ifndef PROCESS_H
#define PROCESS_H

#include <sys/types.h>

struct process {
	char *const *argv;  /* argv[0] is a path, or a name to be found in PATH */
	const char *engine; /* for FERRY_ENGINE, or NULL */
	int input;	    /* its standard input */
	int output;	    /* its standard output */
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

#endif /* PROCESS_H */
