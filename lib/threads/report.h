/* SPDX-License-Identifier: MIT */
/* What `ferry threads --report` prints when the program ends. */
#ifndef THREADS_REPORT_H
#define THREADS_REPORT_H

enum count {
	COUNT_CARRIED, /* threads that were carried */
	COUNT_LOOKS,   /* at the epoll instance */
	COUNT_KICKS,   /* of idle carriers */
	COUNT_STUCK,   /* carriers that were replaced */
	COUNT_RESTS,   /* times in which all threads waited at home */
	COUNTS,
};

void report_count(enum count count);

/* A trip home, and a thread that is at home for good.  REASON is a literal. */
void report_home(const char *reason);
void report_bound(const char *reason);

/* After fork(), in the child. */
void report_reset(void);

/* Prints it when the process exits, if FERRY_THREADS_REPORT is set. */
void report_at_exit(void);

#endif /* THREADS_REPORT_H */
