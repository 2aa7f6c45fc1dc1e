/* SPDX-License-Identifier: MIT */
/* What a collector is asked for, and what it reports besides the calls. */
#ifndef TRACE_COLLECT_H
#define TRACE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "costs.h"
#include "untraced.h"

enum method { METHOD_AUTO, METHOD_BPF, METHOD_PTRACE };

#define PIDS_MAX 64

/* What is traced: a program to start, or processes. */
struct target {
	enum method method;
	char *const *argv; /* NULL: PIDS */
	int output;	   /* the program's standard output */
	pid_t pids[PIDS_MAX];
	size_t pid_count;
	long seconds;		 /* after which tracing ends, or 0 */
	bool reports;		 /* are wanted while tracing goes on: by SIGUSR1, and */
	long interval;		 /* after so many seconds each, unless it is 0 */
	uint64_t cgroup;	 /* its id, instead of PIDS; 0: none */
	const char *cgroup_path; /* where it is */
	bool stacks;		 /* are taken, for the callers of calls */
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
	struct times times;	  /* of the target, what tracing cost it included */
	struct figure tracing;	  /* ns: what that was */
	struct figure empty_call; /* ns: what a crossing alone took of its time in the sample */
	struct figure
		empty_between; /* ns: what tracing and crossings are of the time between two */
	long in_sample;	       /* calls that were sent, or lost */
	long lost;	       /* calls of the sample that the ring had no room for */
	long not_followed;     /* threads that the table had no room for */
	long uncounted;	  /* at most so many calls, of any process, were missed by the kernel */
	double switches;  /* of threads that went to sleep */
	bool sees_faults; /* of user code: */
	double faults, faults_in_rows, faults_in_long_rows; /* of ROW and of LONG_ROW pages */
	double children, children_cpu_ns; /* processes that ended after little CPU time */
};

#endif /* TRACE_COLLECT_H */
