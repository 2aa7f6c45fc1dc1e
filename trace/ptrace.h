/* SPDX-License-Identifier: MIT */
/* The collector that works everywhere: ptrace(2), which stops a thread twice in each call. */
#ifndef TRACE_PTRACE_H
#define TRACE_PTRACE_H

#include <stdbool.h>

#include "call.h"

/* What is traced: a program to start, or a process. */
struct target {
	char *const *argv; /* NULL: PID */
	int output;	   /* the program's standard output */
	pid_t pid;
};

struct collected {
	double ns;	     /* how long it was traced */
	int status;	     /* the program's exit status, or 128 and the signal that ended it */
	bool ended;	     /* STATUS is known */
	int interrupted;     /* by this signal; 0: the target ended */
	bool let_go;	     /* the target goes on, untraced */
	long threads;	     /* that were seen */
	long refused_ptrace; /* calls of ptrace(2) by the target that failed: it traces itself */
};

/**
 * Traces TARGET with all threads and children until it ends, or until SIGINT or SIGTERM.  A
 * program that was started gets the signal, too; the second one leaves it to itself.  Returns 0, or
 * -errno after complaining.
 */
int collect_with_ptrace(const struct target *target, const struct observer *observer,
			struct collected *collected);

#endif /* TRACE_PTRACE_H */
