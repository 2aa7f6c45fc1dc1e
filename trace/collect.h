/* SPDX-License-Identifier: MIT */
/* What a collector is asked for, and what it reports besides the calls. */
#ifndef TRACE_COLLECT_H
#define TRACE_COLLECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "costs.h"
#include "untraced.h"

enum method { METHOD_AUTO, METHOD_BPF, METHOD_PTRACE };

/* What is traced: a program to start, or a process. */
struct target {
	enum method method;
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

	/* with BPF: */
	struct times times; /* of the target, what tracing cost it included */
	struct figure crossing, crossing_in_sample; /* a traced one, in ns */
	long in_sample;				    /* calls that were sent, or lost */
	long lost;	   /* calls of the sample that the ring had no room for */
	long not_followed; /* threads that the table had no room for */
	long uncounted;	   /* at most so many calls, of any process, were missed by the kernel */
};

#endif /* TRACE_COLLECT_H */
